package portal_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/apikey"
)

// Nobody sees or does by the pages what is not theirs.
func TestPagesOfLearningAreTheirs(t *testing.T) {
	t.Parallel()
	s := newSchool(t)
	kim, lee := s.comes("Kim", "learner", s.red), s.comes("Lee", "learner", s.blue)
	red, blue := s.comes("Red Teacher", "teacher", s.red), s.comes("Blue Teacher", "teacher", s.blue)
	reviewer, head := s.comes("Rae Reviewer", "reviewer", ""), s.comes("Head", "manager", "")
	which := s.sits(kim, s.about(), apitest.UnsureAnswer)
	at := "/class/results/" + which

	t.Run("which pages there are", func(t *testing.T) {
		for _, c := range []struct {
			who    *somebody
			path   string
			status int
		}{
			{kim, "/results/" + which, 200}, {lee, "/results/" + which, 404}, {red, "/results/" + which, 404},
			{kim, "/class", 404}, {kim, "/class/reviews", 404}, {kim, at, 404}, {kim, "/class/set", 404},
			{red, at, 200}, {blue, at, 404}, {reviewer, at, 200}, {head, at, 200},
			{reviewer, "/class/set", 404}, {reviewer, "/class", 200}, {head, "/class/set", 200},
			{&somebody{}, "/work", 303}, {&somebody{}, "/class", 303}, {&somebody{}, at, 303},
			{kim, "/results/nonsense", 404}, {kim, "/work/more", 404}, {kim, "/certificates/x/pdf", 404}, {kim, "/reports/x", 404}, {red, "/class/assignments/x", 404},
			{kim, "/results?after=nonsense", 200}, {kim, "/results/" + which + "/contest", 405},
		} {
			status, _, _ := s.see(c.who, c.path)
			require.Equal(t, c.status, status, c.path)
		}
		require.NotContains(t, s.shows(blue, "/class/reviews"), which)
		require.NotContains(t, s.shows(blue, "/class"), "Kim")
		require.Contains(t, s.shows(reviewer, "/class"), "Kim")
	})
	t.Run("who sends forms", func(t *testing.T) {
		for _, who := range []*somebody{kim, lee, blue} {
			for _, what := range []string{"release", "scores", "void", "upheld", "complete"} {
				status, _, body := s.sends(who, at+"/"+what, url.Values{"edition": {"2"}, "reason": {"x"}, "words": {"x"}, "score.loop": {"2"}})
				require.Equal(t, http.StatusNotFound, status, body)
			}
		}
		status, _, _ := s.sends(kim, "/class/set", url.Values{})
		require.Equal(t, http.StatusNotFound, status)
		status, _, _ = s.sends(lee, "/results/"+which+"/contest", url.Values{"words": {"No."}})
		require.Equal(t, http.StatusNotFound, status)
		status, location, body := s.sends(&somebody{}, at+"/rejected", url.Values{"edition": {"2"}, "words": {"What <I> wrote."}})
		require.Equal(t, []any{http.StatusUnauthorized, ""}, []any{status, location})
		require.Contains(t, body, "Please come in first.")
		require.Contains(t, body, "What &lt;I&gt; wrote.</textarea>", "the words are kept")
	})
	t.Run("for whom work is set", func(t *testing.T) {
		for _, c := range []struct {
			who   *somebody
			whom  url.Values
			wrong bool
		}{
			{red, url.Values{"unit": {s.blue}}, true}, {red, url.Values{"everyone": {"yes"}}, true}, {red, url.Values{"person": {lee.id}}, true},
			{red, url.Values{"person": {kim.id}}, false}, {head, url.Values{"everyone": {"yes"}}, false}, {red, url.Values{}, true},
		} {
			once := hidden.FindStringSubmatch(s.shows(c.who, "/class/set"))[2]
			form := url.Values{"once": {once}, "title": {"Work"}, "subject": {s.exam}, "kind": {"practice"}}
			maps.Copy(form, c.whom)
			status, _, body := s.sends(c.who, "/class/set", form)
			require.Equal(t, c.wrong, status == http.StatusUnprocessableEntity, "%v %d %s", c.whom, status, body)
		}
	})
	t.Run("another site", func(t *testing.T) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.page+at+"/release", strings.NewReader("edition=2"))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		for _, c := range red.cookies {
			r.AddCookie(c)
		}
		response, err := http.DefaultTransport.RoundTrip(r)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusForbidden, response.StatusCode)
	})
	t.Run("as it was seen", func(t *testing.T) {
		status, _, body := s.sends(red, at+"/release", url.Values{"edition": {"1"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, body, "It was changed meanwhile.")
		for _, bad := range []string{"3", "-1", "x", "NaN", "1e400"} {
			status, _, body = s.decides(red, which, "scores", url.Values{"score.loop": {bad}, "reason": {"x"}})
			require.Equal(t, http.StatusUnprocessableEntity, status, bad)
			require.Contains(t, body, "Please give points")
		}
		status, _, _ = s.decides(red, which, "scores", url.Values{"score.loop": {"1"}})
		require.Equal(t, http.StatusUnprocessableEntity, status, "without a reason")
		status, _, _ = s.decides(red, which, "upheld", url.Values{"words": {"x"}})
		require.Equal(t, http.StatusUnprocessableEntity, status, "nobody objects")
	})
	t.Run("who is not one any more", func(t *testing.T) {
		edition := hidden.FindStringSubmatch(s.shows(red, at))[2]
		s.call(http.MethodPatch, "/memberships/"+red.membership, map[string]any{"role": "staff"}, nil)
		status, _, _ := s.sends(red, at+"/release", url.Values{"edition": {edition}})
		require.Equal(t, http.StatusNotFound, status)
		s.call(http.MethodPatch, "/memberships/"+red.membership, map[string]any{"role": "teacher", "enabled": false}, nil)
		status, _, body := s.sends(red, at+"/release", url.Values{"edition": {edition}})
		require.Equal(t, http.StatusForbidden, status)
		require.Contains(t, body, "Your access is not active.")
		status, body, _ = s.see(red, "/class")
		require.Equal(t, http.StatusForbidden, status, "and is not taken for somebody who did not come in")
		require.Contains(t, body, "Your access is not active.")
		s.call(http.MethodPatch, "/memberships/"+red.membership, map[string]any{"enabled": true, "unitId": s.blue}, nil)
		status, _, _ = s.sends(red, at+"/release", url.Values{"edition": {edition}})
		require.Equal(t, http.StatusNotFound, status)
		var still struct{ State string }
		s.call(http.MethodGet, "/results/"+which, nil, &still)
		require.Equal(t, "awaiting_review", still.State)
		s.call(http.MethodPost, s.portal+"/unpublish", map[string]any{}, nil)
		_, location, _ := s.sends(head, at+"/release", url.Values{"edition": {edition}})
		require.NotContains(t, location, "done=")
		s.call(http.MethodGet, "/results/"+which, nil, &still)
		require.Equal(t, "awaiting_review", still.State)
	})
}

// What a result is worth is on no page of the learner's before it is released, in no form.
func TestNoPageShowsWhatIsNotReleased(t *testing.T) {
	t.Parallel()
	s := newSchool(t)
	const reason = "MARKEDREASON"
	teacher, kim := s.comes("Tess", "teacher", s.red), s.comes("Kim", "learner", s.red)
	which := s.sits(kim, s.about(), apitest.UnsureAnswer)
	status, _, body := s.decides(teacher, which, "scores", url.Values{"score.loop": {"1.7341"}, "reason": {reason}})
	require.Equal(t, http.StatusSeeOther, status, body)
	require.Contains(t, s.shows(teacher, "/class/results/"+which), "1.7341", "the marked value is there to be found")
	var of struct{ Objectives []struct{ Mastery float64 } }
	s.call(http.MethodGet, "/results/"+which, nil, &of)
	share := strconv.Itoa(int(100*of.Objectives[0].Mastery+.5)) + " %"
	paths := []string{"", "/work", "/results", "/results/" + which, "/record", "/talk?subject=" + s.exam, "/s/" + s.exam}
	marks := []string{"1.7341", "86.7", "87", reason, "Passed", "distinction", "merit", "Is clear", "Which knot makes", "Begin again", "secure", "Secure", "Emerging", share, fmt.Sprint(of.Objectives[0].Mastery)}
	for _, path := range paths {
		shown := s.shows(kim, path)
		for _, mark := range marks {
			if path == "/talk?subject="+s.exam && strings.HasPrefix(mark, "8") {
				continue // figures of drawings
			}
			require.NotContains(t, withoutIDs(shown), mark, path)
		}
	}
	// Nor does the address of a list tell more than the result's own id.
	require.NotContains(t, s.log.String(), reason)
	require.NotRegexp(t, `1\.7341([^0-9mµn]|$)`, s.log.String(), "but for how long something took")
	for _, path := range []string{"/class", "/class/reviews"} {
		shown := withoutIDs(s.shows(teacher, path))
		require.NotContains(t, shown, "1.7341", "lists tell who, not what")
		require.NotContains(t, shown, reason)
	}
	status, _, _ = s.decides(teacher, which, "release", url.Values{})
	require.Equal(t, http.StatusSeeOther, status)
	shown := s.shows(kim, "/results/"+which)
	for _, mark := range []string{"1.7341", "86.7", reason, "Emerging (" + share + "); before: Not yet (0 %)"} {
		require.Contains(t, shown, mark)
	}
}

// withoutIDs is a page without what is drawn by chance, in which a mark could be by chance.
func withoutIDs(body string) string {
	return regexp.MustCompile(`127\.0\.0\.1:[0-9]+|(sub|res|portal|per|asg|av|unit|cert|sess)_[0-9A-Za-z]+|/p/[^"?]*|\?[0-9A-Za-z]{20,}`).ReplaceAllString(body, "")
}

// A port that has the digits of a mark does not stand for it.
func TestPagesWithoutWhatIsDrawnByChance(t *testing.T) {
	t.Parallel()
	require.Equal(t, `"ws:///live" 1.7341`, withoutIDs(`"ws://127.0.0.1:48731/live" 1.7341`))
}

// What a page does not offer the mint refuses too.
func TestTheMintKeepsToWhatIsSet(t *testing.T) {
	t.Parallel()
	s := newSchool(t)
	second := apitest.SubjectBody(2)
	second["prerequisites"] = []string{s.exam}
	next := s.subject(second) // before its page is looked at, which is kept for a moment
	kim, lee := s.comes("Kim", "learner", s.red), s.comes("Lee", "learner", s.blue)
	set := func(kind string, more map[string]any) string {
		body := map[string]any{
			"title": "Work", "subjectId": s.exam, "kind": kind, "audience": map[string]any{"unitIds": []string{s.red}, "personIds": []string{}, "everyone": false},
			"timezone": "Europe/Berlin",
		}
		maps.Copy(body, more)
		var made struct{ ID string }
		s.call(http.MethodPost, "/assignments", body, &made)
		return made.ID
	}
	begin := func(who *somebody, of, with string) (int, string) {
		status, _, body := s.sends(who, "/sessions", url.Values{"subject": {of}, "assignment": {with}})
		return status, body
	}
	once, practice := set("assess", map[string]any{"attemptsAllowed": 1}), set("practice", nil)
	later := set("assess", map[string]any{"opensAt": "2099-01-01T00:00:00Z"})
	require.Contains(t, s.shows(kim, "/work"), "1 of 1")
	status, body := begin(lee, s.exam, once)
	require.Equal(t, http.StatusConflict, status, body)
	require.Contains(t, body, "That is not set for you.")
	status, body = begin(kim, s.exam, later)
	require.Equal(t, http.StatusConflict, status, body)
	require.Contains(t, body, "not open")
	for _, none := range []string{"nonsense", id.NewAssignment().String()} {
		status, _ = begin(kim, s.exam, none)
		require.Equal(t, http.StatusNotFound, status)
	}
	which := s.sits(kim, url.Values{"subject": {s.exam}, "assignment": {practice}}, apitest.RightAnswer)
	var made struct{ Kind, AssignmentID string }
	s.call(http.MethodGet, "/results/"+which, nil, &made)
	require.Equal(t, []string{"practice", practice}, []string{made.Kind, made.AssignmentID})
	s.sits(kim, url.Values{"subject": {s.exam}, "assignment": {once}}, apitest.RightAnswer)
	status, body = begin(kim, s.exam, once)
	require.Equal(t, http.StatusConflict, status, body)
	require.Contains(t, body, "You have used all your attempts.")

	status, body = begin(lee, next, "")
	require.Equal(t, http.StatusConflict, status, body)
	require.Contains(t, body, "complete the subjects that come first")
	status, body = begin(kim, next, "")
	require.Equal(t, http.StatusCreated, status, body)
	err := s.api.Call(t.Context(), http.MethodPost, "/sessions/tokens", map[string]any{"subjectId": next, "personId": lee.id}, nil)
	require.ErrorContains(t, err, "409 conflict: The person has other subjects to complete before this one.")
}

// A conversation that was held for a trial completes nothing that comes before a subject.
func TestATrialCompletesNoPrerequisite(t *testing.T) {
	t.Parallel()
	s := newSchool(t)
	first := s.subject(apitest.SubjectBody(3))
	second := apitest.SubjectBody(4)
	second["prerequisites"] = []string{first}
	next := s.subject(second)
	kim := s.comes("Kim", "learner", s.red)
	which := s.talks(kim, url.Values{"subject": {first}}, "Hello.")
	db, err := s.made.Tenants.Shard(t.Context(), "shard-1")
	require.NoError(t, err)
	for _, c := range []struct {
		trial  bool
		status int
	}{{true, http.StatusConflict}, {false, http.StatusCreated}} {
		_, err = db.Exec(t.Context(), `UPDATE session SET sandbox = $3 WHERE org_id = $1 AND id = $2`, s.org, which, c.trial)
		require.NoError(t, err)
		status, _, body := s.sends(kim, "/sessions", url.Values{"subject": {next}})
		require.Equal(t, c.status, status, body)
	}
}

// Who answers an objection to a practice is told that it is answered, though the result is not

// Who reviews what a young learner did judges it without their words.
func TestNobodyReadsWhatAYoungLearnerSaid(t *testing.T) {
	t.Parallel()
	s := newSchool(t)
	s.call(http.MethodPatch, s.portal, map[string]any{"minAge": 13, "guardianConsentUnder": 16}, nil)
	s.call(http.MethodPost, s.portal+"/publish", map[string]any{}, nil)
	teacher := s.comes("Tess", "teacher", s.red)
	s.band = "13_15"
	kim := s.comes("Kim", "learner", s.red)
	which := s.sits(kim, s.about(), apitest.UnsureAnswer)
	seen := s.shows(teacher, "/class/results/"+which)
	require.Contains(t, seen, "Nobody may read the words of this conversation here")
	require.NotContains(t, seen, apitest.UnsureAnswer)
	status, _, body := s.decides(teacher, which, "scores", url.Values{"score.loop": {"2"}, "reason": {"MARKEDREASON"}})
	require.Equal(t, http.StatusSeeOther, status, body)
	status, _, body = s.decides(teacher, which, "release", url.Values{})
	require.Equal(t, http.StatusSeeOther, status, body)
	mine := s.shows(kim, "/results/"+which)
	require.Contains(t, mine, "2 of 2 points")
	require.NotContains(t, mine, "MARKEDREASON", "reasons may have words in them")
}

// A visit for a trial has no pages of learning, and changes nothing.
func TestATrialHasNoPagesOfLearning(t *testing.T) {
	t.Parallel()
	s := newSchool(t)
	kim := s.comes("Kim", "learner", s.red)
	which := s.sits(kim, s.about(), apitest.RightAnswer)
	live := s.api.Key
	trying := apikey.NewSecret(apikey.Test)
	require.NoError(t, s.made.Keys.Insert(t.Context(), apikey.Key{
		ID: id.NewKey(), Org: s.org, Name: "trial", Last4: trying.Last4(), Scopes: scope.All(), FullAccess: true, Contract: contract.Latest,
		Environment: apikey.Test, CreatedBy: "test", CreatedAt: time.Now().UTC(),
	}, trying.Hash()))
	s.api.Key = string(trying)
	var token struct{ Token string }
	s.call(http.MethodPost, s.portal+"/embed-tokens", map[string]any{"personId": kim.id}, &token)
	s.api.Key = live
	s.cookies = nil
	s.enter("embed", url.Values{"token": {token.Token}})
	trial := &somebody{cookies: s.cookies}
	status, _, _ := s.see(trial, "/results/"+which)
	require.Equal(t, http.StatusSeeOther, status)
	status, _, _ = s.sends(trial, "/results/"+which+"/contest", url.Values{"words": {"x"}})
	require.Equal(t, http.StatusUnauthorized, status)
	var still struct{ State string }
	s.call(http.MethodGet, "/results/"+which, nil, &still)
	require.Equal(t, "released", still.State)
}
