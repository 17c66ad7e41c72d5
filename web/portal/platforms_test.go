package portal_test

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/provider/lti/ltitest"
)

// campus is a school whose portal a learning platform launches.
type campus struct {
	*school
	*ltitest.Platform
	connection, at string
}

func newCampus(t *testing.T, changes ...func(map[string]any)) *campus {
	t.Helper()
	p := ltitest.New(t)
	c := &campus{Platform: p, school: newSchool(t, func(o *apitest.Options) { o.RootCAs = p.Roots() })}
	config := p.Config(c.portalID)
	config["ageBand"], config["frameOrigins"] = "adult", []string{"https://school.example.com"}
	for _, change := range changes {
		change(config)
	}
	var made struct{ ID string }
	c.call(http.MethodPost, "/connections", map[string]any{"kind": "lms", "provider": "lti", "name": "Moodle", "config": config}, &made)
	c.connection, c.at = made.ID, "/lti/"+made.ID
	p.ToolKeys = func() []byte {
		_, body, _ := c.see(&somebody{}, c.at+"/jwks")
		return []byte(body)
	}
	return c
}

// opens has a browser open a link of the platform, and answers what it gets for what is posted then.
func (c *campus) opens(claims func(jwt.MapClaims)) (status int, location, body string, header http.Header) {
	c.Helper()
	c.cookies = nil
	to := c.begins()
	c.Claims = claims
	return c.posts(c.Answer(to))
}

// begins begins a launch.
func (c *campus) begins() string {
	c.Helper()
	status, to, body := c.foreign(c.at+"/login", c.Hint())
	require.Equal(c.school, http.StatusSeeOther, status, body)
	at, err := url.Parse(to)
	require.NoError(c.school, err)
	require.Equal(c.school, c.page+c.at+"/launch", at.Query().Get("redirect_uri"))
	return to
}

// foreign sends a form as a page of the platform does.
func (c *campus) foreign(path string, form url.Values) (status int, location, body string) {
	c.Helper()
	status, location, body, _ = c.fromThere(path, form)
	return status, location, body
}

func (c *campus) posts(form url.Values) (status int, location, body string, header http.Header) {
	c.Helper()
	return c.fromThere(c.at+"/launch", form)
}

func (c *campus) fromThere(path string, form url.Values) (status int, location, body string, header http.Header) {
	c.Helper()
	r, err := http.NewRequestWithContext(c.Context(), http.MethodPost, c.page+path, strings.NewReader(form.Encode()))
	require.NoError(c.school, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "https://school.example.com")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	for _, k := range c.cookies {
		r.AddCookie(k)
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	require.NoError(c.school, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(c.school, err)
	for _, k := range response.Cookies() {
		if k.MaxAge >= 0 {
			c.cookies = append(c.cookies, k)
		}
	}
	return response.StatusCode, response.Header.Get("Location"), string(text), response.Header
}

// learns is somebody whom a launch of the exam let in.
func (c *campus) learns(claims func(jwt.MapClaims)) *somebody {
	c.Helper()
	status, location, body, _ := c.opens(func(k jwt.MapClaims) {
		ltitest.Of(k, c.exam)
		if claims != nil {
			claims(k)
		}
	})
	require.Equal(c.school, http.StatusSeeOther, status, body)
	require.Equal(c.school, c.home+"/talk?subject="+c.exam, location)
	return &somebody{cookies: c.cookies}
}

func TestALinkOfACourseOpensASubject(t *testing.T) {
	t.Parallel()
	c := newCampus(t)
	status, body, _ := c.see(&somebody{}, c.at+"/config.json")
	require.Equal(t, http.StatusOK, status)
	for _, part := range []string{"/login", "/launch", "/jwks"} {
		require.Contains(t, body, `"`+c.page+c.at+part+`"`)
	}
	var tested struct{ OK bool }
	c.call(http.MethodPost, "/connections/"+c.connection+"/test", nil, &tested)
	require.True(t, tested.OK)

	kim := c.learns(nil)
	status, body, header := c.see(kim, "/talk?subject="+c.exam)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "Kim Lee")
	framed := "frame-ancestors https://school.example.com"
	require.True(t, strings.HasSuffix(header.Get("Content-Security-Policy"), framed), header.Get("Content-Security-Policy"))
	_, _, header = c.see(&somebody{}, "")
	require.NotContains(t, header.Get("Content-Security-Policy"), "school.example.com", "the pages of others stay as they are")

	// The browser of somebody else, or one that keeps nothing, is let in to nothing; why not is read in the frame.
	c.cookies = nil
	mine := c.Answer(c.begins())
	c.cookies = nil
	status, _, body, header = c.posts(mine)
	require.Equal(t, http.StatusForbidden, status)
	require.Contains(t, body, "open the activity in a new window")
	require.True(t, strings.HasSuffix(header.Get("Content-Security-Policy"), framed))
	require.Empty(t, c.cookies)
	for _, bad := range []url.Values{{}, {"state": {"x"}, "id_token": mine["id_token"]}, {"id_token": mine["id_token"]}, {"state": mine["state"]}} {
		status, _, _, _ = c.posts(bad)
		require.Equal(t, http.StatusForbidden, status)
	}

	// Where a launch leads is the portal's, whatever the platform names.
	status, location, body, _ := c.opens(func(k jwt.MapClaims) { ltitest.Set(k, "target_link_uri", "https://elsewhere.example.com/") })
	require.Equal(t, http.StatusSeeOther, status, body)
	require.Equal(t, c.home, location)

	for path, want := range map[string]int{
		"/lti": 404, "/lti/x/login": 404, c.at: 404, c.at + "/other": 404, c.at + "/launch": 405, "/lti/con_" + strings.Repeat("0", 21) + "1/jwks": 502,
	} {
		status, _, _ := c.see(&somebody{}, path)
		require.Equal(t, want, status, path)
	}
}

func TestWhatALearningPlatformNeeds(t *testing.T) {
	t.Parallel()
	c := newCampus(t)
	for field, value := range map[string]any{
		"jwksUrl": "https://169.254.169.254/keys", "tokenUrl": "https://10.0.0.1/token", "authorizationUrl": "http://moodle.example.com", "issuer": "moodle",
		"portalId": "por_1", "frameOrigins": []string{"https://a.example.com; script-src *"},
	} {
		config := c.Config(c.portalID)
		config[field] = value
		err := c.api.Call(t.Context(), http.MethodPost, "/connections", map[string]any{"kind": "lms", "provider": "lti", "name": "x", "config": config}, nil)
		refused := "400 invalid_request"
		if field == "portalId" {
			refused = "404 not_found"
		}
		require.ErrorContains(t, err, refused, field)
	}
	var key struct{ Secret string }
	c.call(http.MethodPost, "/keys", map[string]any{"name": "less", "scopes": []string{"connections:write"}}, &key)
	c.api.Key = key.Secret
	err := c.api.Call(t.Context(), http.MethodPost, "/connections", map[string]any{"kind": "lms", "provider": "lti", "name": "x", "config": c.Config(c.portalID)}, nil)
	require.ErrorContains(t, err, "embed:write")
}

var (
	choiceForm = regexp.MustCompile(`name="choice" value="([^"]*)"`)
	picked     = regexp.MustCompile(`name="subject" value="([^"]*)"`)
	chosenJWT  = regexp.MustCompile(`name="JWT" value="([^"]*)"`)
)

func TestWhoTeachesChoosesWhatACourseLinksTo(t *testing.T) {
	t.Parallel()
	c := newCampus(t)
	status, _, body, _ := c.opens(func(k jwt.MapClaims) { c.Linking(k); ltitest.Instructor(k) })
	require.Equal(t, http.StatusOK, status, body)
	require.NotContains(t, body, `name="JWT"`, "nothing is signed that nobody chose")
	choice := html.UnescapeString(choiceForm.FindStringSubmatch(body)[1])
	subjects := picked.FindAllStringSubmatch(body, -1)
	require.NotEmpty(t, subjects)
	graded := 0
	for _, each := range subjects {
		status, _, body, header := c.fromThere(c.at+"/choice", url.Values{"choice": {choice}, "subject": {each[1]}})
		require.Equal(t, http.StatusOK, status, body)
		require.Contains(t, body, `action="`+c.URL+`/chosen"`)
		require.Contains(t, header.Get("Content-Security-Policy"), "form-action 'self' https://school.example.com "+c.URL+";")
		found := chosenJWT.FindAllStringSubmatch(body, -1)
		require.Len(t, found, 1)
		claims, err := c.ToolToken(html.UnescapeString(found[0][1]))
		require.NoError(t, err)
		const lti, dl = "https://purl.imsglobal.org/spec/lti/claim/", "https://purl.imsglobal.org/spec/lti-dl/claim/"
		require.Equal(t, []any{ltitest.ClientID, []any{c.URL}, ltitest.Deployment, "LtiDeepLinkingResponse", "1.3.0", "d-1"},
			[]any{claims["iss"], claims["aud"], claims[lti+"deployment_id"], claims[lti+"message_type"], claims[lti+"version"], claims[dl+"data"]})
		require.NotEmpty(t, claims["nonce"])
		var items []struct {
			Type, URL, Title string
			Custom           map[string]string
			LineItem         *struct{ ScoreMaximum float64 }
		}
		text, err := json.Marshal(claims[dl+"content_items"])
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &items))
		require.Len(t, items, 1)
		require.Equal(t, []any{"ltiResourceLink", c.page + c.at + "/launch", each[1]}, []any{items[0].Type, items[0].URL, items[0].Custom["subject"]})
		require.NotEmpty(t, items[0].Title)
		if items[0].Custom["subject"] == c.exam {
			require.InDelta(t, 100, items[0].LineItem.ScoreMaximum, 0)
			graded++
			// What was chosen is launched with.
			status, location, _, _ := c.opens(func(k jwt.MapClaims) { ltitest.Set(k, "custom", items[0].Custom) })
			require.Equal(t, http.StatusSeeOther, status)
			require.Equal(t, c.home+"/talk?subject="+c.exam, location)
		}
	}
	require.Equal(t, 1, graded)
	status, _, body, _ = c.opens(c.Linking)
	require.Equal(t, http.StatusForbidden, status, body)

	// Nothing else is signed, and nothing for whoever was not asked to choose.
	for _, bad := range []struct {
		form url.Values
		want int
	}{
		{url.Values{"subject": {c.exam}}, http.StatusForbidden},
		{url.Values{"choice": {choice + "A"}, "subject": {c.exam}}, http.StatusForbidden},
		{url.Values{"choice": {choice}}, http.StatusNotFound},
		{url.Values{"choice": {choice}, "subject": {"sub_0000000000000000000001"}}, http.StatusNotFound},
	} {
		status, _, body, _ := c.fromThere(c.at+"/choice", bad.form)
		require.Equal(t, bad.want, status, body)
		require.NotContains(t, body, `name="JWT"`)
	}
	status, _, _ = c.see(&somebody{}, c.at+"/choice")
	require.Equal(t, http.StatusMethodNotAllowed, status)
}
