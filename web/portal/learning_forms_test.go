package portal_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
)

// Who sends scores that somebody else changed meanwhile is shown those, and does not undo them.
func TestTwoReviewersDoNotUndoEachOther(t *testing.T) {
	t.Parallel()
	s := newSchool(t)
	kim, one, two := s.comes("Kim", "learner", s.red), s.comes("One", "teacher", s.red), s.comes("Two", "reviewer", "")
	which := s.sits(kim, s.about(), apitest.UnsureAnswer)
	at := "/class/results/" + which
	form := func(body string) url.Values {
		made := url.Values{}
		for _, found := range regexp.MustCompile(`name="(edition|score\.loop|seen\.loop)"[^>]* value="([^"]*)"`).FindAllStringSubmatch(body, -1) {
			made.Set(found[1], found[2])
		}
		require.Len(t, made, 3)
		return made
	}
	points := func() float64 {
		var r struct{ Criteria []struct{ Score *float64 } }
		s.call(http.MethodGet, "/results/"+which, nil, &r)
		require.NotNil(t, r.Criteria[0].Score)
		return *r.Criteria[0].Score
	}
	first, second := form(s.shows(one, at)), form(s.shows(two, at))
	first.Set("score.loop", "2")
	first.Set("reason", "Right in other words.")
	status, _, body := s.sends(one, at+"/scores", first)
	require.Equal(t, http.StatusSeeOther, status, body)

	second.Set("score.loop", "1")
	second.Set("reason", "Half of it is MISSING.")
	status, _, body = s.sends(two, at+"/scores", second)
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, body, "It was changed meanwhile.")
	require.Contains(t, body, "Half of it is MISSING.", "the reason is kept")
	again := form(body)
	require.Equal(t, []string{"2", "2"}, []string{again.Get("score.loop"), again.Get("seen.loop")}, "and the scores are those of now")
	again.Set("reason", "Half of it is MISSING.")
	status, _, body = s.sends(two, at+"/scores", again)
	require.Equal(t, http.StatusSeeOther, status, body)
	require.InDelta(t, 2, points(), 1e-9, "pressed again without a look, nothing is undone")

	again = form(s.shows(two, at))
	again.Set("score.loop", "1.5")
	status, _, body = s.sends(two, at+"/scores", again)
	require.Equal(t, http.StatusUnprocessableEntity, status, "without a reason")
	require.Equal(t, []string{"1.5", "2"}, []string{form(body).Get("score.loop"), form(body).Get("seen.loop")}, "of a form that is not stale what was typed is kept")
	again.Set("reason", "Half.")
	status, _, body = s.sends(two, at+"/scores", again)
	require.Equal(t, http.StatusSeeOther, status, body)
	require.InDelta(t, 1.5, points(), 1e-9)
}

// Who presses a button twice is told that it is done; who comes after somebody else is not.
func TestADecisionThatIsSentTwiceIsOne(t *testing.T) {
	t.Parallel()
	s := newSchool(t)
	kim, one, two := s.comes("Kim", "learner", s.red), s.comes("One", "teacher", s.red), s.comes("Two", "reviewer", "")
	which := s.sits(kim, s.about(), apitest.UnsureAnswer)
	at := "/class/results/" + which
	status, _, body := s.decides(one, which, "scores", url.Values{"score.loop": {"2"}, "reason": {"x"}})
	require.Equal(t, http.StatusSeeOther, status, body)
	for _, what := range []string{"release", "rejected", "upheld", "void"} {
		if what == "rejected" || what == "upheld" {
			status, _, body = s.sends(kim, "/results/"+which+"/contest", s.objection(kim, which, "No."))
			require.Equal(t, http.StatusSeeOther, status, body)
		}
		form := url.Values{"edition": {hidden.FindStringSubmatch(s.shows(one, at))[2]}, "words": {"x"}, "why": {"x"}}
		for n := range 2 {
			status, location, body := s.sends(one, at+"/"+what, form)
			require.Equal(t, http.StatusSeeOther, status, "%s %d %s", what, n, body)
			require.Equal(t, s.home+"/class/reviews?done="+what, location)
		}
		status, location, _ := s.sends(two, at+"/"+what, form)
		require.NotEqual(t, http.StatusSeeOther, status, "%s by another, who did not do it: %s", what, location)
		other := map[string]string{"rejected": "upheld", "upheld": "rejected"}[what]
		if other != "" {
			status, _, _ = s.sends(one, at+"/"+other, form)
			require.Equal(t, http.StatusUnprocessableEntity, status, "nor is the contrary done")
		}
	}
	var log []struct{ Action string }
	s.call(http.MethodGet, "/activity?limit=100", nil, &log)
	count := map[string]int{}
	for _, entry := range log {
		count[entry.Action]++
	}
	require.Equal(t, []int{1, 2, 1}, []int{count["result.released"], count["contest.decided"], count["result.voided"]})
}

// A form takes as many characters as it says, in any script, and points in any of the languages.
func TestFormsTakeWhatTheySay(t *testing.T) {
	t.Parallel()
	s := newSchool(t)
	kim, tess := s.comes("Kim", "learner", s.red), s.comes("Tess", "teacher", s.red)
	which := s.sits(kim, s.about(), apitest.UnsureAnswer)
	for text, want := range map[string]string{"٠٫٥": "0.5", "۱,۲۵": "1.25"} {
		status, _, body := s.decides(tess, which, "scores", url.Values{"score.loop": {text}, "reason": {strings.Repeat("好\r\n", 999) + "好好"}})
		require.Equal(t, http.StatusSeeOther, status, body)
		require.Contains(t, s.shows(tess, "/class/results/"+which), want+" of 2 points")
	}
	for _, c := range []struct {
		form        url.Values
		what, input string
	}{
		{url.Values{"score.loop": {"x"}, "reason": {"x"}}, "scores", "score.loop"}, {url.Values{"score.loop": {"3"}, "reason": {"x"}}, "scores", "score.loop"},
		{url.Values{"score.loop": {"1"}}, "scores", "reason"}, {url.Values{}, "void", "why"},
	} {
		status, _, body := s.decides(tess, which, c.what, c.form)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Equal(t, 1, strings.Count(body, `aria-invalid="true"`))
		require.Regexp(t, `name="`+c.input+`"[^>]* aria-invalid="true" aria-describedby="wrong"`, body)
	}
	status, _, body := s.decides(tess, which, "release", url.Values{})
	require.Equal(t, http.StatusSeeOther, status, body)
	status, _, body = s.sends(kim, "/results/"+which+"/contest", s.objection(kim, which, strings.Repeat("😀", 4001)))
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, body, "😀", "it came whole")
	status, _, body = s.sends(kim, "/results/"+which+"/contest", s.objection(kim, which, strings.Repeat("😀\r\n", 1999)+"😀😀"))
	require.Equal(t, http.StatusSeeOther, status, body)
	require.Contains(t, s.shows(kim, "/results/"+which), strings.Repeat("😀\n", 1999))
}

// theirs to see any more.
func TestAnObjectionToAPracticeIsAnswered(t *testing.T) {
	t.Parallel()
	s := newSchool(t)
	teacher, kim := s.comes("Tess", "teacher", s.red), s.comes("Kim", "learner", s.red)
	var made struct{ ID string }
	s.call(http.MethodPost, "/assignments", map[string]any{
		"title": "Work", "subjectId": s.exam, "kind": "practice", "audience": map[string]any{"unitIds": []string{s.red}, "personIds": []string{}, "everyone": false},
		"timezone": "Europe/Berlin",
	}, &made)
	for _, what := range []string{"upheld", "rejected"} {
		which := s.sits(kim, url.Values{"subject": {s.exam}, "assignment": {made.ID}}, apitest.RightAnswer)
		status, _, body := s.sends(kim, "/results/"+which+"/contest", s.objection(kim, which, "I said more."))
		require.Equal(t, http.StatusSeeOther, status, body)
		status, location, body := s.decides(teacher, which, what, url.Values{"words": {"Thanks."}})
		require.Equal(t, http.StatusSeeOther, status, body)
		require.Equal(t, s.home+"/class/reviews?done="+what, location)
		require.Contains(t, s.shows(teacher, strings.TrimPrefix(location, s.home)), "The objection is answered.")
	}
}

// Words of the customer's staff are theirs, and who reviews is told of more than is shown.
func TestWhoSaidWhatIsTold(t *testing.T) {
	t.Parallel()
	s := newSchool(t)
	teacher, kim := s.comes("Tess", "teacher", s.red), s.comes("Kim", "learner", s.red)
	which := s.sits(kim, s.about(), apitest.UnsureAnswer)
	result, err := id.ParseResult(which)
	require.NoError(t, err)
	db, err := s.made.Tenants.Shard(t.Context(), "shard-1")
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `UPDATE turn SET speaker = 'staff' WHERE org_id = $1 AND session_id = (SELECT session_id FROM result WHERE org_id = $1 AND id = $2)`, s.org, result)
	require.NoError(t, err)
	shown := s.shows(teacher, "/class/results/"+which)
	require.Regexp(t, `Team member</dt><dd[^>]*>`+regexp.QuoteMeta(apitest.UnsureAnswer), shown)
	require.NotContains(t, shown, "More was said")
	_, err = db.Exec(t.Context(), `
		INSERT INTO turn SELECT (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'ordinal', t.ordinal + i))).*
		FROM turn t, generate_series(1, 400) AS g (i) WHERE t.org_id = $1 AND t.session_id = (SELECT session_id FROM result WHERE org_id = $1 AND id = $2)`, s.org, result)
	require.NoError(t, err)
	shown = s.shows(teacher, "/class/results/"+which)
	require.Equal(t, 400, strings.Count(shown, "Team member</dt>"))
	require.Contains(t, shown, "More was said than is shown here.")
}
