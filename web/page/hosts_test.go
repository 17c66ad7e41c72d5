package page_test

import (
	"encoding/json"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/web/page"
)

// paired has a duo speak at the sample.
func paired(b *testBundle) {
	faces := avatar.NewLibrary().Faces()
	b.site.Speaker.Hosts = []persona.Host{
		{Seat: "right", Name: `Ben "B"`, Role: "partner", Avatar: faces[1].ID}, {Seat: "left", Name: "Ada", Role: "lead", Avatar: faces[0].ID},
	}
}

type shownHost struct{ Seat, Role, Name, Portrait, Face string }

// requireHosts gets the picture and the face of each host, and none of a seat that there is not.
func requireHosts(t *testing.T, b *testBundle, hosts []shownHost, headers ...string) {
	t.Helper()
	require.Len(t, hosts, 2)
	require.Equal(t, []string{"right", "partner", `Ben "B"`}, []string{hosts[0].Seat, hosts[0].Role, hosts[0].Name})
	pictures := map[string]bool{}
	at := func(path string) string {
		return "https://portal.example.com" + strings.NewReplacer("{side}", "512", "{kind}", "png").Replace(path)
	}
	for _, h := range hosts {
		for _, path := range []string{h.Portrait, h.Face} {
			answer := b.get(at(path), headers...)
			require.Equal(t, http.StatusOK, answer.Code, path)
			pictures[answer.Body.String()] = true
			require.Equal(t, http.StatusNotFound, b.get(at(strings.Replace(path, "/"+h.Seat, "/middle", 1)), headers...).Code, path)
		}
	}
	require.Len(t, pictures, 4, "each has their own")
	require.Equal(t, http.StatusNotFound, b.get(at(strings.Replace(hosts[0].Face, "right/", "right/right/", 1)), headers...).Code)
	require.Equal(t, http.StatusNotFound, b.get(at(strings.Replace(hosts[0].Portrait, "right", "right/left", 1)), headers...).Code)
}

func TestPagesShowBothHostsOfADuo(t *testing.T) {
	b := setup(t)
	require.NotContains(t, b.get(home+"/talk", b.signedIn()).Body.String(), "data-hosts", "one alone speaks")
	paired(b)

	t.Run("of a portal", func(t *testing.T) {
		found := regexp.MustCompile(`data-hosts="([^"]*)"`).FindStringSubmatch(b.get(home+"/talk", b.signedIn()).Body.String())
		require.NotNil(t, found)
		var hosts []shownHost
		require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(found[1])), &hosts))
		requireHosts(t, b, hosts)
	})
	t.Run("of a session", func(t *testing.T) {
		at, _ := invited(b)
		code, ticket := b.asks(http.MethodPost, at+"/ticket", joinToken)
		require.Equal(t, http.StatusOK, code)
		var hosts []shownHost
		text, err := json.Marshal(ticket["hosts"])
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &hosts))
		requireHosts(t, b, hosts, "X-Session-Token: "+joinToken)
		for _, path := range []string{hosts[0].Portrait, strings.NewReplacer("{side}", "512", "{kind}", "json").Replace(hosts[0].Face)} {
			require.Equal(t, http.StatusNotFound, b.get("https://portal.example.com"+path).Code, "without the token nobody learns who speaks")
		}
	})
	t.Run("of a recording", func(t *testing.T) {
		b.handler.Recordings = &tapes{"the-link", page.Recorded{Site: b.site, StartedAt: time.Now()}}
		var about struct{ Hosts []shownHost }
		require.NoError(t, json.Unmarshal(b.get("https://portal.example.com/p/~recording/the-link/about").Body.Bytes(), &about))
		requireHosts(t, b, about.Hosts)
	})
}
