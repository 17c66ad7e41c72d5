package portal_test

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/web/page"
)

// school is a portal with an exam and two classes.
type school struct {
	*visited
	exam           string
	red, blue      string // units
	portalID, home string
	// band is how old those are who come; adults unless given.
	band string
}

// somebody is before a page.
type somebody struct {
	id, membership string
	cookies        []*http.Cookie
}

func newSchool(t *testing.T, options ...apitest.Option) *school {
	t.Helper()
	s := &school{visited: visit(t, clock.RealClock{}, options...)}
	s.portalID, s.home = strings.TrimPrefix(s.portal, "/portals/"), strings.TrimPrefix(s.page, s.origin)
	s.call(http.MethodPut, s.portal+"/doors/staff", map[string]any{"open": true}, nil)
	body := apitest.SubjectBody(1)
	body["kind"], body["attemptsAllowed"] = "assessment", nil
	s.exam = s.subject(body)
	for name, unit := range map[string]*string{"Red": &s.red, "Blue": &s.blue} {
		var made struct{ ID string }
		s.call(http.MethodPost, "/units", map[string]any{"portalId": s.portalID, "kind": "class", "name": name}, &made)
		*unit = made.ID
	}
	return s
}

// subject makes and publishes a subject.
func (s *school) subject(body map[string]any) string {
	s.Helper()
	var made struct{ ID string }
	s.call(http.MethodPost, s.portal+"/subjects", body, &made)
	s.call(http.MethodPost, "/subjects/"+made.ID+"/publish", map[string]any{}, nil)
	s.call(http.MethodPost, s.portal+"/publish", map[string]any{}, nil)
	return made.ID
}

// comes signs somebody in with a role in a unit; an empty one for none.
func (s *school) comes(name, role, unit string) *somebody {
	s.Helper()
	place := map[string]any{"portalId": s.portalID, "role": role}
	if unit != "" {
		place["unitId"] = unit
	}
	var made struct {
		ID          string
		Memberships []struct{ ID string }
	}
	s.call(http.MethodPost, "/people", map[string]any{"name": name, "ageBand": cmp.Or(s.band, "adult"), "timezone": "Europe/Berlin", "membership": place}, &made)
	if s.band != "" {
		s.call(http.MethodPost, "/memberships/"+made.Memberships[0].ID+"/guardian-consent", map[string]any{
			"guardianName": "Sam", "guardianEmail": "sam@example.com", "relationship": "father", "method": "signed_form", "policyVersion": "1",
			"givenAt": "2026-07-02T09:00:00Z", "scopes": []string{"conversation"},
		}, nil)
	}
	var token struct{ Token, MembershipID string }
	s.call(http.MethodPost, s.portal+"/embed-tokens", map[string]any{"personId": made.ID}, &token)
	s.cookies = nil
	s.enter(page.DoorEmbed, url.Values{"token": {token.Token}})
	return &somebody{made.ID, token.MembershipID, s.cookies}
}

// see is what somebody gets at a path.
func (s *school) see(who *somebody, path string) (status int, body string, header http.Header) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.page+path, nil)
	require.NoError(s, err)
	for _, c := range who.cookies {
		r.AddCookie(c)
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	require.NoError(s, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(s, err)
	return response.StatusCode, string(text), response.Header
}

// shows requires a page, and answers it.
func (s *school) shows(who *somebody, path string) string {
	s.Helper()
	status, body, _ := s.see(who, path)
	require.Equal(s, http.StatusOK, status, "%s %s", path, body)
	return body
}

// sends sends a form as somebody.
func (s *school) sends(who *somebody, path string, form url.Values) (status int, location, body string) {
	s.Helper()
	s.cookies = who.cookies
	return s.send(path, form)
}

// sits has somebody sit the exam, and answers the result's id.
func (s *school) sits(who *somebody, form url.Values, says string) string {
	s.Helper()
	which := s.talks(who, form, says)
	runner := &job.Runner{
		Tenants: s.made.Tenants, Works: (&result.Scorer{Tenants: s.made.Tenants}).Background().Works, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
	}
	for made := 1; made > 0; {
		var err error
		made, err = runner.Advance(context.Background(), "shard-1")
		require.NoError(s, err)
	}
	r, err := result.OfSession(s.Context(), s.made.Tenants, s.org, which)
	require.NoError(s, err)
	return r.ID.String()
}

// talks has somebody hold a conversation to its end.
func (s *school) talks(who *somebody, form url.Values, says string) id.Session {
	s.Helper()
	status, _, body := s.sends(who, "/sessions", form)
	require.Equal(s, http.StatusCreated, status, body)
	var ticket page.Ticket
	require.NoError(s, json.Unmarshal([]byte(body), &ticket))
	which, now := ticket.Session.ID, time.Now().UTC().Truncate(time.Microsecond)
	_, terms, err := s.made.Organizations.Get(s.Context(), s.org)
	require.NoError(s, err)
	in := func(fn func(context.Context, *tenant.Tx) error) {
		require.NoError(s, s.made.Tenants.InTx(s.Context(), s.org, fn))
	}
	in(func(ctx context.Context, tx *tenant.Tx) error {
		attached, err := session.Attach(ctx, tx, which, uuid.New(), terms, now)
		if err != nil {
			return err
		}
		turn := session.Turn{ID: id.NewTurn(), Speaker: session.User, Text: says, Language: "en", Origin: session.Typed, StartedAt: now, EndedAt: &now}
		if err := session.Keep(ctx, tx, attached.Session, turn, now); err != nil {
			return err
		}
		return session.Collect(ctx, tx, which, attached.Session.Epoch, session.Found{
			Values: map[string]string{session.AnswerTo + "loop": says}, Clocks: apitest.InTime(attached.Session.Clocks, "loop"),
		}, time.Now())
	})
	in(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := session.End(ctx, tx, which, session.Ending{Reason: session.EndedByUser, At: now})
		return err
	})
	return which
}

// about is the form by which a conversation of the exam begins.
func (s *school) about() url.Values { return url.Values{"subject": {s.exam}} }

var hidden = regexp.MustCompile(`name="(edition|once)" value="([^"]*)"`)

// decides sends what somebody decides, as they saw the result last.
func (s *school) decides(who *somebody, which, what string, form url.Values) (status int, location, body string) {
	s.Helper()
	found := hidden.FindStringSubmatch(s.shows(who, "/class/results/"+which))
	require.NotNil(s, found)
	form.Set("edition", found[2])
	return s.sends(who, "/class/results/"+which+"/"+what, form)
}

// From what a teacher sets to the certificate.
func TestFromWorkToTheCertificate(t *testing.T) {
	t.Parallel()
	s := newSchool(t)
	teacher, kim := s.comes("Tess Teacher", "teacher", s.red), s.comes("Kim", "learner", s.red)
	require.Contains(t, s.shows(kim, "/work"), "Nothing is set for you at the moment")
	require.NotContains(t, s.shows(kim, "/work"), `href="`+s.home+`/class"`)
	require.Contains(t, s.shows(teacher, "/class"), "Kim")

	once := hidden.FindStringSubmatch(s.shows(teacher, "/class/set"))[2]
	form := url.Values{
		"once": {once}, "title": {"Knots by Friday"}, "subject": {s.exam}, "kind": {"assess"}, "unit": {s.red}, "due": {"2099-07-01T09:00"}, "required": {"yes"},
	}
	for range 2 { // twice is once
		status, location, body := s.sends(teacher, "/class/set", form)
		require.Equal(t, http.StatusSeeOther, status, body)
		require.Equal(t, s.home+"/class?done=set", location)
	}
	require.Equal(t, 1, strings.Count(s.shows(teacher, "/class?done=set"), "Knots by Friday"))
	var set []struct {
		ID, CreatedBy, DueAt string
	}
	s.call(http.MethodGet, "/assignments", nil, &set)
	require.Len(t, set, 1)
	require.Equal(t, "2099-07-01T07:00:00Z", set[0].DueAt, "in the teacher's time zone")

	work := s.shows(kim, "/work")
	require.Contains(t, work, "Knots by Friday")
	require.Contains(t, work, "2099-07-01 09:00 CEST")
	require.Contains(t, work, "/talk?subject="+s.exam+"&amp;assignment="+set[0].ID)
	require.Contains(t, s.shows(kim, "/talk?subject="+s.exam+"&assignment="+set[0].ID), `data-assignment="`+set[0].ID+`"`)

	which := s.sits(kim, url.Values{"subject": {s.exam}, "assignment": {set[0].ID}}, apitest.UnsureAnswer)
	require.Contains(t, s.shows(kim, "/results"), "It is being looked at.")
	require.Contains(t, s.shows(teacher, "/class/assignments/"+set[0].ID), "Begun")
	require.Contains(t, s.shows(teacher, "/class/reviews"), which)
	seen := s.shows(teacher, "/class/results/"+which)
	require.Contains(t, seen, apitest.UnsureAnswer)
	require.Contains(t, seen, "Which knot makes a loop")

	status, _, body := s.decides(teacher, which, "scores", url.Values{"score.loop": {"2"}, "reason": {"It was right in other words."}})
	require.Equal(t, http.StatusSeeOther, status, body)
	require.Contains(t, s.shows(kim, "/results/"+which), "It is being looked at.")
	status, location, body := s.decides(teacher, which, "release", url.Values{})
	require.Equal(t, http.StatusSeeOther, status, body)
	require.Contains(t, s.shows(teacher, strings.TrimPrefix(location, s.home)), "The result is released.")

	mine := s.shows(kim, "/results/"+which)
	for _, text := range []string{"Released.", "Passed.", "2 of 2 points", "It was right in other words."} {
		require.Contains(t, mine, text)
	}
	record := s.shows(kim, "/record")
	require.Contains(t, record, "Certificate")
	pdf := regexp.MustCompile(`/certificates/[^/"]+/pdf`).FindString(record)
	require.NotEmpty(t, pdf)
	status, body, header := s.see(kim, pdf)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "application/pdf", header.Get("Content-Type"))
	require.True(t, strings.HasPrefix(body, "%PDF"))
	status, body, _ = s.see(kim, strings.TrimSuffix(pdf, "pdf")+"badge")
	require.Equal(t, http.StatusOK, status)
	require.True(t, strings.HasPrefix(body, "\x89PNG"))
	s.objects(kim, teacher, which)

	var log []struct{ Action, Actor string }
	s.call(http.MethodGet, "/activity?limit=100", nil, &log)
	done := map[string]string{}
	for _, entry := range log {
		done[entry.Action] = entry.Actor
	}
	for action, by := range map[string]string{
		"assignment.created": teacher.id, "result.rescored": teacher.id, "result.released": teacher.id, "result.contested": kim.id, "contest.decided": teacher.id,
	} {
		require.Equal(t, by, done[action], action)
	}
}

// objection is the form by which somebody objects to a result, as they saw it last.
func (s *school) objection(who *somebody, which, words string) url.Values {
	s.Helper()
	found := hidden.FindStringSubmatch(s.shows(who, "/results/"+which))
	require.NotNil(s, found)
	return url.Values{"words": {words}, "edition": {found[2]}}
}

// objects has a learner object to a result, and a teacher answer.
func (s *school) objects(kim, teacher *somebody, which string) {
	s.Helper()
	for _, words := range []string{"", strings.Repeat("x", 4001), "a\x00b"} {
		status, _, body := s.sends(kim, "/results/"+which+"/contest", s.objection(kim, which, words))
		require.Equal(s, http.StatusUnprocessableEntity, status)
		require.Contains(s, body, "Please say what is wrong")
	}
	form := s.objection(kim, which, "I said <more>.")
	stale := url.Values{"words": form["words"], "edition": {"1"}}
	status, _, body := s.sends(kim, "/results/"+which+"/contest", stale)
	require.Equal(s, http.StatusUnprocessableEntity, status)
	require.Contains(s, body, "It was changed meanwhile.")
	require.Contains(s, body, "I said &lt;more&gt;.</textarea>", "the words are kept")
	for range 2 {
		status, _, body = s.sends(kim, "/results/"+which+"/contest", form)
		require.Equal(s, http.StatusSeeOther, status, body)
	}
	require.Contains(s, s.shows(kim, "/results/"+which), "I said &lt;more&gt;.")
	require.Contains(s, s.shows(teacher, "/class/reviews"), "The learner objects.")
	status, _, body = s.decides(teacher, which, "rejected", url.Values{"words": {"Not in the recording."}})
	require.Equal(s, http.StatusSeeOther, status, body)
	require.Contains(s, s.shows(kim, "/results/"+which), "Not in the recording.")
}
