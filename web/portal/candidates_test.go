package portal_test

import (
	"crypto/sha256"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/web/page"
)

// applying sets up a role on a portal with an open door for candidates, and comes in by an invite.
func (v *visited) applying(more map[string]any) (role, token string) {
	v.Helper()
	var subject, person, made struct{ ID string }
	v.call(http.MethodPut, v.portal+"/doors/candidates", map[string]any{"open": true}, nil)
	body := apitest.SubjectBody(1)
	body["kind"], body["attemptsAllowed"] = "screening", nil
	v.call(http.MethodPost, v.portal+"/subjects", body, &subject)
	v.call(http.MethodPost, "/subjects/"+subject.ID+"/publish", map[string]any{}, nil)
	v.call(http.MethodPost, v.portal+"/publish", map[string]any{}, nil)
	v.call(http.MethodPost, "/people", map[string]any{
		"name": "Robin", "email": "robin@example.com", "membership": map[string]any{"portalId": strings.TrimPrefix(v.portal, "/portals/"), "role": "manager"},
	}, &person)
	wish := map[string]any{
		"title": "Rigger", "subjectId": subject.ID, "location": map[string]any{"country": "GB"}, "languages": []string{"en"},
		"notice":             map[string]any{"text": map[string]any{"en": "An AI asks."}},
		"alternativeProcess": "Write to us.", "hiringManagerIds": []string{person.ID},
	}
	maps.Copy(wish, more)
	v.call(http.MethodPost, "/roles", wish, &made)
	v.call(http.MethodPatch, "/roles/"+made.ID, map[string]any{"state": "open"}, nil)
	var invited struct{ Invites []struct{ URL string } }
	v.call(http.MethodPost, "/roles/"+made.ID+"/invites", map[string]any{"candidates": []any{map[string]any{"name": "Kim"}}}, &invited)
	_, token, _ = strings.Cut(invited.Invites[0].URL, "#invite=")
	v.enter(page.DoorCandidates, url.Values{"token": {token}})
	return made.ID, token
}

// show reads a page as the visitor.
func (v *visited) show(path string) string {
	v.Helper()
	r, err := http.NewRequestWithContext(v.Context(), http.MethodGet, v.page+path, nil)
	require.NoError(v, err)
	for _, c := range v.cookies {
		r.AddCookie(c)
	}
	response, err := http.DefaultClient.Do(r)
	require.NoError(v, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(v, err)
	require.Equal(v, http.StatusOK, response.StatusCode, string(text))
	return string(text)
}

// Candidates ask for something on their page, and read there what people answered.
func TestCandidatesAskOnTheirPage(t *testing.T) {
	t.Parallel()
	v := visit(t, clock.RealClock{})
	role, _ := v.applying(nil)
	shown := v.show("/interview")
	require.Contains(t, shown, `value="accommodation"`)
	require.NotContains(t, shown, `value="appeal"`, "nothing is decided")
	ask := func(kind, words string) (int, string) {
		status, _, body := v.send("/interview/ask", url.Values{"kind": {kind}, "words": {words}})
		return status, body
	}
	status, body := ask("accommodation", "I need captions.")
	require.Equal(t, http.StatusSeeOther, status, body)
	status, _ = ask("data_access", strings.Repeat("x", 4001))
	require.Equal(t, http.StatusBadRequest, status)
	for kind, says := range map[string]string{"": "Please choose", "accommodation": "cannot be asked", "appeal": "cannot be asked", "nonsense": "cannot be asked"} {
		status, body = ask(kind, "")
		require.Equal(t, http.StatusOK, status, kind)
		require.Contains(t, body, says, kind)
	}
	var asked []struct{ ID, Kind, State string }
	v.call(http.MethodGet, "/roles/"+role+"/requests", nil, &asked)
	require.Len(t, asked, 1)
	require.Equal(t, "open", asked[0].State)
	require.Contains(t, v.show("/interview"), "not answered yet")

	var of struct{ HiringManagerIDs []string }
	v.call(http.MethodGet, "/roles/"+role, nil, &of)
	v.call(http.MethodPatch, "/candidate-requests/"+asked[0].ID, map[string]any{
		"state": "granted", "decidedBy": of.HiringManagerIDs[0], "answer": "You get <captions>.",
	}, nil)
	shown = v.show("/interview")
	require.Contains(t, shown, "You get &lt;captions&gt;.")
	require.Contains(t, shown, "granted")
}

// Once people have decided, the page says so, and that they look at it again where an appeal was granted.
func TestThePageSaysHowACandidateStands(t *testing.T) {
	t.Parallel()
	v := visit(t, clock.RealClock{})
	role, _ := v.applying(nil)
	var of struct{ HiringManagerIDs []string }
	v.call(http.MethodGet, "/roles/"+role, nil, &of)
	var all []struct{ ID string }
	v.call(http.MethodGet, "/roles/"+role+"/candidates", nil, &all)
	require.Len(t, all, 1)
	require.NotContains(t, v.show("/interview"), "have decided")
	v.call(http.MethodPost, "/candidates/"+all[0].ID+"/decision", map[string]any{"decision": "reject", "decidedBy": of.HiringManagerIDs[0], "reasonCode": "other"}, nil)
	shown := v.show("/interview")
	require.Contains(t, shown, "People have decided")
	require.NotContains(t, shown, "read your answers now")
	require.NotContains(t, shown, "/interview/withdraw")
	status, _, body := v.send("/interview/ask", url.Values{"kind": {"appeal"}})
	require.Equal(t, http.StatusSeeOther, status, body)
	var asked []struct{ ID string }
	v.call(http.MethodGet, "/roles/"+role+"/requests", nil, &asked)
	v.call(http.MethodPatch, "/candidate-requests/"+asked[0].ID, map[string]any{"state": "granted", "decidedBy": of.HiringManagerIDs[0]}, nil)
	shown = v.show("/interview")
	for _, part := range []string{"looked at again", "/interview/agree", "/interview/withdraw"} {
		require.Contains(t, shown, part)
	}
}

// interviewed has the candidate of a role have their interview in this browser.
func (v *visited) interviewed(which string) {
	v.Helper()
	status, _, body := v.send("/interview/agree", url.Values{"notice": {"yes"}, "consent": {"yes"}})
	require.Equal(v, http.StatusSeeOther, status, body)
	v.mint()
	r, err := id.ParseRole(which)
	require.NoError(v, err)
	v.exec(`UPDATE candidate SET state = 'screened', screened_at = now() WHERE org_id = $1 AND role_id = $2`, r)
}

// exec changes rows past the rules.
func (v *visited) exec(sql string, args ...any) {
	v.Helper()
	shard, err := v.made.Tenants.ShardOf(v.Context(), v.org)
	require.NoError(v, err)
	db, err := v.made.Tenants.Shard(v.Context(), shard)
	require.NoError(v, err)
	_, err = db.Exec(v.Context(), sql, append([]any{v.org}, args...)...)
	require.NoError(v, err)
}

// After the interview candidates are asked to say their sex and race where the role does so, and
// nobody reads it anywhere.
func TestCandidatesDescribeThemselves(t *testing.T) {
	t.Parallel()
	v := visit(t, clock.RealClock{})
	role, token := v.applying(map[string]any{"voluntaryDemographics": true})
	answer := func(sex, race string) (int, string) {
		status, _, body := v.send("/interview/voluntary", url.Values{"sex": {sex}, "race": {race}})
		return status, body
	}
	require.NotContains(t, v.show("/interview"), "Voluntary questions", "before the interview")
	status, body := answer("female", "asian")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "cannot be asked")

	v.interviewed(role)
	shown := v.show("/interview")
	require.Contains(t, shown, "Voluntary questions")
	require.Contains(t, shown, "changes nothing for your application")
	require.Equal(t, 2, strings.Count(shown, "I do not wish to answer"))
	require.NotContains(t, shown, "We have what you sent")
	status, body = answer("female", "nonsense")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "Please choose something")
	status, to, body := v.send("/interview/voluntary", url.Values{"sex": {"female"}, "race": {"asian"}})
	require.Equal(t, http.StatusSeeOther, status, body)
	require.True(t, strings.HasSuffix(to, "/interview?sent=1"), to)
	require.Contains(t, v.show("/interview?sent=1"), "We have what you sent")
	shown = v.show("/interview")
	require.NotContains(t, shown, "We have what you sent", "whether there is an answer is not shown again")
	require.NotContains(t, shown, `value="female" required checked`, "nor what it was")
	for _, path := range []string{"/roles/" + role + "/candidates", "/roles/" + role, "/events", "/activity"} {
		var all any
		v.call(http.MethodGet, path, nil, &all)
		text, err := json.Marshal(all)
		require.NoError(t, err)
		require.NotContains(t, string(text), "female", path)
		require.NotContains(t, string(text), "asian", path)
	}
	status, _ = answer("unknown", "unknown")
	require.Equal(t, http.StatusSeeOther, status)
	require.Contains(t, v.show("/interview"), "Voluntary questions")

	// Whoever comes by the same link, such as who sent it, did not hold the interview.
	v.cookies = nil
	v.enter(page.DoorCandidates, url.Values{"token": {token}})
	require.NotContains(t, v.show("/interview"), "Voluntary questions")
	status, body = answer("male", "white")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "cannot be asked")
}

// Everybody reads the audit that a portal shows, in their language, and none before and after.
func TestAPortalShowsItsBiasAudit(t *testing.T) {
	t.Parallel()
	v := visit(t, clock.RealClock{})
	status := func() int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.page+"/bias-audit", nil)
		require.NoError(t, err)
		response, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode
	}
	require.Equal(t, http.StatusNotFound, status())
	v.call(http.MethodPut, v.portal+"/bias-audit", map[string]any{"published": true, "year": 2026}, nil)
	p, err := id.ParsePortal(strings.TrimPrefix(v.portal, "/portals/"))
	require.NoError(t, err)
	shard, err := v.made.Tenants.ShardOf(t.Context(), v.org)
	require.NoError(t, err)
	db, err := v.made.Tenants.Shard(t.Context(), shard)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `INSERT INTO bias_cohort (org_id, id, portal_id, role_id, at, counts) VALUES ($1, gen_random_uuid(), $2, gen_random_uuid(), '2026-05-01', $3)`,
		v.org, p, `{"applicants": 60, "selected": 25, "told": [{"sex": "female", "applicants": 30, "selected": 10}, {"sex": "male", "applicants": 30, "selected": 15}]}`)
	require.NoError(t, err)
	shown := v.show("/bias-audit")
	for _, says := range []string{"60 candidates were decided on; 25 of them were selected.", "<td>0.33</td><td>0.67 <strong>below four fifths</strong></td>", "2026"} {
		require.Contains(t, shown, says)
	}
	require.NotContains(t, shown, "<script")
	v.call(http.MethodPut, v.portal+"/bias-audit", map[string]any{"published": false}, nil)
	require.Equal(t, http.StatusNotFound, status())
}

// Who asked for their data gets it on their page once a person says so: as a page and as a file, all that concerns
// them and nothing of others; the record says that they got it.
func TestACandidateGetsTheirData(t *testing.T) {
	t.Parallel()
	v := visit(t, clock.RealClock{})
	role, token := v.applying(map[string]any{"notice": map[string]any{
		"text": map[string]any{"en": "An AI asks."}, "signals": map[string]any{"en": "The page notes what is pasted."},
	}})
	fetch := func(path string) (*http.Response, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.page+path, nil)
		require.NoError(t, err)
		for _, c := range v.cookies {
			r.AddCookie(c)
		}
		response, err := http.DefaultTransport.RoundTrip(r)
		require.NoError(t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response, string(text)
	}
	var all []struct{ ID string }
	v.call(http.MethodGet, "/roles/"+role+"/candidates", nil, &all)
	var of struct{ HiringManagerIDs []string }
	v.call(http.MethodGet, "/roles/"+role, nil, &of)
	require.NotNil(t, v.made.Gate.Mails, "mail is sent")
	v.call(http.MethodPatch, "/candidates/"+all[0].ID, map[string]any{"email": "kim@example.com"}, nil)
	v.cookies = nil
	v.enter(page.DoorCandidates, url.Values{"token": {token}})
	// Somebody else of the role, of whom nothing is told.
	v.call(http.MethodPost, "/roles/"+role+"/invites", map[string]any{"candidates": []any{map[string]any{"name": "Somebody Else", "email": "else@example.com"}}}, nil)

	require.Contains(t, v.show("/interview"), "The page notes what is pasted.")
	require.Contains(t, v.show("/talk"), "data-watches")
	status, _, body := v.send("/interview/agree", url.Values{"notice": {"yes"}, "consent": {"yes"}})
	require.Equal(t, http.StatusSeeOther, status, body)
	v.mint()
	for form, want := range map[string]int{"kind=pasted&characters=7": http.StatusNoContent, "kind=stared": http.StatusBadRequest, "kind=left&durationMs=soon": http.StatusBadRequest} {
		values, err := url.ParseQuery(form)
		require.NoError(t, err)
		status, _, body = v.send("/interview/signal", values)
		require.Equal(t, want, status, "%s %s", form, body)
	}
	v.call(http.MethodPost, "/candidates/"+all[0].ID+"/hold", nil, nil)

	status, _, body = v.send("/interview/ask", url.Values{"kind": {"data_access"}, "words": {"What do you keep?"}})
	require.Equal(t, http.StatusSeeOther, status, body)
	for _, path := range []string{"/interview/data", "/interview/data.json"} {
		response, _ := fetch(path)
		require.Equal(t, http.StatusNotFound, response.StatusCode, "nobody has answered")
	}
	var asked []struct{ ID string }
	v.call(http.MethodGet, "/roles/"+role+"/requests", nil, &asked)
	v.call(http.MethodPatch, "/candidate-requests/"+asked[0].ID, map[string]any{"state": "done", "decidedBy": of.HiringManagerIDs[0], "answer": "Here it is."}, nil)
	require.Contains(t, v.show("/interview"), "/interview/data.json")
	shown := v.show("/interview/data")
	for _, part := range []string{"Kim", "What do you keep?", "Here it is.", "candidate.invited", "interview.started", "pasted", "What is not in it"} {
		require.Contains(t, shown, part)
	}
	response, text := fetch("/interview/data.json") // the interview was held in this browser
	require.Equal(t, []string{`attachment; filename="my-application.json"`, "private, no-store"}, []string{response.Header.Get("Content-Disposition"), response.Header.Get("Cache-Control")})
	var data struct {
		Format     string
		You        struct{ Name string }
		Interviews []struct {
			Questions []struct{ Text string }
			Signals   struct{ Pastes int }
		}
		Requests  []struct{ Kind, State, Answer string }
		Retention struct{ OnHold bool }
	}
	require.NoError(t, json.Unmarshal([]byte(text), &data))
	require.Equal(t, []any{"visavis-candidate-data-1", "Kim", 1, "data_access", true}, []any{data.Format, data.You.Name, data.Interviews[0].Signals.Pastes, data.Requests[0].Kind, data.Retention.OnHold})
	require.NotEmpty(t, data.Interviews[0].Questions[0].Text)
	for _, other := range []string{"Somebody", "else@example.com", "Robin", of.HiringManagerIDs[0], "key_"} {
		require.NotContains(t, text, other)
		require.NotContains(t, shown, other)
	}
	fetch("/interview/data.json")
	var record struct {
		Record struct {
			Intact  bool
			Entries []struct{ Action, Data string }
		}
	}
	v.call(http.MethodGet, "/candidates/"+all[0].ID+"/compliance", nil, &record)
	require.True(t, record.Record.Intact)
	var forms []string
	for _, e := range record.Record.Entries {
		if e.Action == "data.given" {
			require.Contains(t, e.Data, strings.TrimPrefix(asked[0].ID, "creq_"))
			forms = append(forms, e.Data)
		}
	}
	require.Len(t, forms, 2, "for each form once a day")

	// Who has an address gets it by a link that was mailed to them alone, not by the one that was made for them; and in the
	// browser in which they held the interview.
	v.cookies = nil
	v.enter(page.DoorCandidates, url.Values{"token": {token}})
	require.Contains(t, v.show("/interview"), "come by the link in a mail from us")
	response, _ = fetch("/interview/data.json")
	require.Equal(t, http.StatusNotFound, response.StatusCode)
	which, err := id.ParseCandidate(all[0].ID)
	require.NoError(t, err)
	mailed := candidate.NewToken()
	hash := sha256.Sum256([]byte(mailed))
	v.exec(`INSERT INTO candidate_link (org_id, hash, invite_id, made_at) SELECT $1, $2, invite_id, now() FROM candidate WHERE org_id = $1 AND id = $3`, hash[:], which)
	v.cookies = nil
	v.enter(page.DoorCandidates, url.Values{"token": {string(mailed)}})
	response, _ = fetch("/interview/data.json")
	require.Equal(t, http.StatusOK, response.StatusCode)

	// Whoever is no candidate gets nothing.
	v.cookies = nil
	response, _ = fetch("/interview/data.json")
	require.Equal(t, http.StatusSeeOther, response.StatusCode)
}

// As long as nobody may learn who a candidate is, no link that a key gets or has mailed to where it likes shows their data.
func TestDataOfABlindCandidateIsNobodyElses(t *testing.T) {
	t.Parallel()
	v := visit(t, clock.RealClock{})
	role, token := v.applying(map[string]any{"blind": true})
	require.NotNil(t, v.made.Gate.Mails, "mail is sent")
	var of struct{ HiringManagerIDs []string }
	v.call(http.MethodGet, "/roles/"+role, nil, &of)
	invited := func(who map[string]any) (at string, which id.Candidate, token string) {
		var made struct {
			Invites []struct{ CandidateID, URL string }
		}
		v.call(http.MethodPost, "/roles/"+role+"/invites", map[string]any{"candidates": []any{who}}, &made)
		_, token, _ = strings.Cut(made.Invites[0].URL, "#invite=")
		which, err := id.ParseCandidate(made.Invites[0].CandidateID)
		require.NoError(t, err)
		return "/candidates/" + made.Invites[0].CandidateID, which, token
	}
	comes := func(token string) {
		v.cookies = nil
		v.enter(page.DoorCandidates, url.Values{"token": {token}})
	}
	mailed := func(which id.Candidate) string {
		token := candidate.NewToken()
		hash := sha256.Sum256([]byte(token))
		v.exec(`INSERT INTO candidate_link (org_id, hash, invite_id, made_at) SELECT $1, $2, invite_id, now() FROM candidate WHERE org_id = $1 AND id = $3`, hash[:], which)
		return string(token)
	}
	asks := func() {
		status, _, body := v.send("/interview/ask", url.Values{"kind": {"data_access"}, "words": {""}})
		require.Equal(t, http.StatusSeeOther, status, body)
		var asked []struct{ ID string }
		v.call(http.MethodGet, "/roles/"+role+"/requests?state=open", nil, &asked)
		v.call(http.MethodPatch, "/candidate-requests/"+asked[0].ID, map[string]any{"state": "done", "decidedBy": of.HiringManagerIDs[0]}, nil)
	}
	gets := func() bool {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.page+"/interview/data.json", nil)
		require.NoError(t, err)
		for _, c := range v.cookies {
			r.AddCookie(c)
		}
		response, err := http.DefaultTransport.RoundTrip(r)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode == http.StatusOK
	}

	comes(token) // of who was invited without an address
	asks()
	require.False(t, gets())
	require.Contains(t, v.show("/interview"), "once people have decided")

	at, which, _ := invited(map[string]any{"name": "Lee", "email": "lee@example.com"})
	comes(mailed(which))
	asks()
	require.True(t, gets(), "by a mail to the address that they were invited with")

	v.call(http.MethodPatch, at, map[string]any{"email": "somebody@example.com"}, nil)
	comes(mailed(which))
	require.False(t, gets(), "by a mail to another address")
	v.call(http.MethodPatch, at, map[string]any{"email": nil}, nil)
	comes(mailed(which))
	require.False(t, gets(), "with no address any more")

	v.exec(`UPDATE candidate SET decision = '{"value": "reject"}' WHERE org_id = $1`)
	require.True(t, gets(), "by a mail, once people have decided")
	var link struct{ URL string }
	v.call(http.MethodPost, "/invites/"+inviteOf(v, at)+"/resend", map[string]any{"send": false}, &link)
	_, token, _ = strings.Cut(link.URL, "#invite=")
	comes(token)
	require.False(t, gets(), "an address that was removed is not none")
}

// inviteOf is the invite of a candidate.
func inviteOf(v *visited, at string) string {
	var c struct{ InviteID string }
	v.call(http.MethodGet, at, nil, &c)
	return c.InviteID
}

// What candidates do on their page is told as finely as all else: databases keep microseconds.
func TestCandidatesAgreeAtAMomentThatIsKept(t *testing.T) {
	t.Parallel()
	v := visit(t, clock.RealClock{})
	role, _ := v.applying(nil)
	status, _, body := v.send("/interview/agree", url.Values{"notice": {"yes"}, "consent": {"yes"}})
	require.Equal(t, http.StatusSeeOther, status, body)
	var all []struct {
		Consent struct{ AcknowledgedAt, InterviewAt time.Time }
	}
	v.call(http.MethodGet, "/roles/"+role+"/candidates", nil, &all)
	require.False(t, all[0].Consent.InterviewAt.IsZero())
	for _, at := range []time.Time{all[0].Consent.AcknowledgedAt, all[0].Consent.InterviewAt} {
		require.Equal(t, at, at.Truncate(time.Microsecond))
	}
}
