package portal_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
)

// work sets an assessment for a unit.
func (s *school) work(unit string, attempts any) string {
	s.Helper()
	var made struct{ ID string }
	s.call(http.MethodPost, "/assignments", map[string]any{
		"title": "Know your knots", "subjectId": s.exam, "kind": "assess", "audience": map[string]any{"unitIds": []string{unit}, "personIds": []string{}, "everyone": false},
		"timezone": "Europe/Berlin", "attemptsAllowed": attempts,
	}, &made)
	return made.ID
}

// A teacher sees what is set for a learner of theirs, each attempt, what is released of it and what they
// master, and goes from there to what waits.
func TestATeacherSeesOneLearner(t *testing.T) {
	t.Parallel()
	s := newSchool(t)
	tess, kim := s.comes("Tess", "teacher", s.red), s.comes("Kim <b>Lee</b>", "learner", s.red)
	work := s.work(s.red, 3)
	with := url.Values{"subject": {s.exam}, "assignment": {work}}
	right := s.sits(kim, with, apitest.RightAnswer)
	waiting := s.sits(kim, with, apitest.UnsureAnswer)
	at := "/class/learners/" + kim.id
	require.Contains(t, s.shows(tess, "/class"), `href="`+s.home+at+`"`)
	require.Contains(t, s.shows(tess, "/class/assignments/"+work), `href="`+s.home+at+"/assignments/"+work+`"`)

	shown := s.shows(tess, at)
	require.Contains(t, shown, "Kim &lt;b&gt;Lee&lt;/b&gt;</h1>")
	for _, word := range []string{
		"Red", "Know your knots", "2 of 3", "Completed", "Released.", "100 % Passed.", "Waits to be released.", "Ties knots.", "Emerging",
		s.home + "/class/results/" + right, s.home + "/class/results/" + waiting, s.home + at + "/assignments/" + work,
	} {
		require.Contains(t, shown, word)
	}
	status, _, body := s.decides(tess, waiting, "scores", url.Values{"score.loop": {"1.7341"}, "reason": {"MARKEDREASON"}})
	require.Equal(t, http.StatusSeeOther, status, body)
	for _, path := range []string{at, at + "/assignments/" + work} {
		shown = withoutIDs(s.shows(tess, path))
		for _, mark := range []string{"1.7341", "86.7", "87 %", "MARKEDREASON"} {
			require.NotContains(t, shown, mark, "what is not released is in no list")
		}
	}
	status, _, body = s.decides(tess, waiting, "release", url.Values{})
	require.Equal(t, http.StatusSeeOther, status, body)
	require.Contains(t, s.shows(tess, at), "86.7 % Passed.")

	// A practice is the learner's own: that it was done is seen, and not how.
	var practice struct{ ID string }
	s.call(http.MethodPost, "/assignments", map[string]any{
		"title": "Try it", "subjectId": s.exam, "kind": "practice", "audience": map[string]any{"unitIds": []string{s.red}, "personIds": []string{}, "everyone": false}, "timezone": "UTC",
	}, &practice)
	tried := s.sits(kim, url.Values{"subject": {s.exam}, "assignment": {practice.ID}}, "The half hitch")
	shown = s.shows(tess, at)
	require.Contains(t, shown, "Practice")
	require.NotContains(t, shown, tried)
	require.NotContains(t, shown, "0 % Not passed.")
}

// A teacher grants attempts and excuses, once, however often a form is sent.
func TestATeacherActsForOneLearner(t *testing.T) {
	t.Parallel()
	s := newSchool(t)
	tess, kim := s.comes("Tess", "teacher", s.red), s.comes("Kim", "learner", s.red)
	work := s.work(s.red, 1)
	at := "/class/learners/" + kim.id + "/assignments/" + work
	require.Contains(t, s.shows(tess, at), "0 of 1")
	grant := url.Values{"seen": {"0"}, "extra": {"٢"}, "reason": {"A fire alarm rang."}} // two, as it is typed in Arabic
	for range 2 {
		status, location, body := s.sends(tess, at+"/grant", grant)
		require.Equal(t, http.StatusSeeOther, status, body)
		require.Contains(t, location, "done=grant")
	}
	shown := s.shows(tess, at+"?done=grant")
	require.Contains(t, shown, "0 of 3")
	require.Contains(t, shown, "The attempts are granted.")
	require.Contains(t, shown, `name="seen" value="2"`)
	for _, bad := range []string{"0", "101", "-1", "x", ""} {
		status, _, body := s.sends(tess, at+"/grant", url.Values{"seen": {"2"}, "extra": {bad}, "reason": {"Kept."}})
		require.Equal(t, http.StatusUnprocessableEntity, status, bad)
		require.Contains(t, body, "Please give a number from 1 to 100.")
		require.Contains(t, body, ">Kept.</textarea>")
		require.Contains(t, body, `aria-invalid="true"`)
	}
	status, _, body := s.sends(tess, at+"/grant", url.Values{"seen": {"0"}, "extra": {"1"}})
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, body, "It was changed meanwhile.")

	status, _, body = s.sends(tess, at+"/excuse", url.Values{"why": {"On leave."}})
	require.Equal(t, http.StatusSeeOther, status, body)
	shown = s.shows(tess, at)
	require.Contains(t, shown, "On leave.")
	require.Contains(t, shown, "Excused")
	require.Contains(t, s.shows(kim, "/work"), "You are excused from it.")
	status, _, body = s.sends(tess, at+"/include", nil)
	require.Equal(t, http.StatusSeeOther, status, body)
	require.NotContains(t, s.shows(tess, at), "On leave.")

	var log []struct{ Action, Actor string }
	s.call(http.MethodGet, "/activity?targetId="+work, nil, &log)
	var actions []string
	for _, e := range log {
		if e.Actor == tess.id {
			actions = append(actions, e.Action)
		}
	}
	require.Subset(t, actions, []string{"assignment.unexcused", "assignment.excused"})
	unlimited := s.work(s.red, nil)
	at = "/class/learners/" + kim.id + "/assignments/" + unlimited
	require.Contains(t, s.shows(tess, at), "There is no limit to the attempts here.")
	status, _, _ = s.sends(tess, at+"/grant", url.Values{"seen": {"0"}, "extra": {"1"}})
	require.Equal(t, http.StatusUnprocessableEntity, status)
}

// Nobody sees or changes what a learner of others does, nor their own; a reviewer changes nothing.
func TestALearnerIsSeenByTheirTeachersAlone(t *testing.T) {
	t.Parallel()
	s := newSchool(t)
	kim := s.comes("Kim", "learner", s.red)
	other, lee := s.comes("Blue Teacher", "teacher", s.blue), s.comes("Lee", "learner", s.red)
	reviewer, head := s.comes("Red Reviewer", "reviewer", s.red), s.comes("Head", "manager", "")
	work := s.work(s.red, 1)
	blue := s.work(s.blue, 1)
	at := "/class/learners/" + kim.id
	part := at + "/assignments/" + work
	acts := map[string]url.Values{"/grant": {"seen": {"0"}, "extra": {"1"}}, "/excuse": {"why": {"x"}}, "/include": {}}
	for name, who := range map[string]*somebody{"a teacher of others": other, "a learner": lee, "themselves": kim} {
		for _, path := range []string{at, part} {
			status, body, _ := s.see(who, path)
			require.Equal(t, http.StatusNotFound, status, name)
			require.NotContains(t, body, "Know your knots")
		}
		for act, form := range acts {
			status, _, _ := s.sends(who, part+act, form)
			require.Equal(t, http.StatusNotFound, status, name+act)
		}
	}
	shown := s.shows(reviewer, part)
	require.NotContains(t, shown, "<textarea")
	for act, form := range acts {
		status, _, _ := s.sends(reviewer, part+act, form)
		require.Equal(t, http.StatusNotFound, status, act)
	}
	require.Contains(t, s.shows(head, part), "Grant further attempts")
	for _, path := range []string{
		"/class/learners/" + head.id, "/class/learners/" + id.NewPerson().String(), "/class/learners/x", at + "/assignments/" + blue,
		at + "/assignments/x", at + "/assignments/" + id.NewAssignment().String(),
	} {
		status, _, _ := s.see(head, path)
		require.Equal(t, http.StatusNotFound, status, path)
	}
	status, _, _ := s.sends(head, at+"/assignments/"+blue+"/excuse", url.Values{})
	require.Equal(t, http.StatusNotFound, status, "it is not for them")
	var still []struct {
		ExtraAttempts int
		State         string
	}
	s.call(http.MethodGet, "/assignments/"+work+"/progress", nil, &still)
	require.NotEmpty(t, still)
	for _, p := range still {
		require.Zero(t, p.ExtraAttempts)
		require.Equal(t, "not_started", p.State)
	}
	s.call(http.MethodPatch, "/memberships/"+kim.membership, map[string]any{"unitId": s.blue}, nil)
	require.Contains(t, s.shows(other, at), "Kim")
	status, _, _ = s.see(reviewer, at)
	require.Equal(t, http.StatusNotFound, status)
}
