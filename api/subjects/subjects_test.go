package subjects_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/portals/subject"
)

// onVersion makes a call of an operation on a version of something.
func onVersion(t *testing.T, w *apitest.World, operation, id, version string, body any) apitest.Answer {
	t.Helper()
	o := w.Operation(t, operation)
	return w.Call(t, o, apitest.Request{Path: apitest.WithID(o, id), Key: w.Acme.New, Body: body, Header: map[string]string{"If-Match": version}})
}

// patched changes the content of a subject and answers the version.
func patched(t *testing.T, w *apitest.World, s string, body map[string]any) map[string]any {
	t.Helper()
	answer := w.CallAs(t, "updateSubjectContent", s, w.Acme.New, body)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	require.Equal(t, fmt.Sprintf(`"%v"`, answer.Data(t)["version"]), answer.Header.Get("ETag"))
	return answer.Data(t)
}

// logged are the events about a subject, oldest first.
func logged(t testing.TB, w *apitest.World, s string) []event.Event {
	t.Helper()
	which, err := id.ParseSubject(s)
	require.NoError(t, err)
	events, err := event.List(context.Background(), w.Tenants, w.Acme.ID, event.Filter{Subject: which, Ascending: true}, event.Position{}, 200)
	require.NoError(t, err)
	return events
}

func TestSubjects(t *testing.T) {
	w := apitest.NewWorld(t)
	school := w.School(t, w.Acme)
	ids := func() (list []string) {
		for _, s := range w.Get(w.Acme.New, "/portals/"+school+"/subjects").JSON(t)["data"].([]any) {
			list = append(list, s.(map[string]any)["id"].(string))
		}
		return list
	}
	order := ids()
	require.Len(t, order, 3)
	first := order[1] // the first came with the portal, and is published
	made := w.CallAs(t, "getSubject", first, w.Acme.New, nil)
	require.Equal(t, `"1"`, made.Header.Get("ETag"))
	require.Equal(t, []any{"en", "de"}, made.Data(t)["languages"])
	require.Equal(t, float64(1), made.Data(t)["questionCount"])
	require.Equal(t, true, made.Data(t)["hasUnpublishedChanges"])

	moved := onVersion(t, w, "updateSubject", first, `"1"`, map[string]any{"order": 99, "title": "Last", "passPercent": nil})
	require.Equal(t, http.StatusOK, moved.Status, "%s", moved.Raw)
	require.Equal(t, `"2"`, moved.Header.Get("ETag"))
	require.Nil(t, moved.Data(t)["passPercent"])
	require.Equal(t, float64(3), moved.Data(t)["attemptsAllowed"])
	require.Equal(t, []string{order[0], order[2], first}, ids())
	e := apitest.RequireError(t, onVersion(t, w, "updateSubject", first, `"1"`, map[string]any{"title": "x"}), http.StatusConflict, "version_conflict", "header.If-Match")
	require.Equal(t, float64(2), e["details"].(map[string]any)["currentVersion"])

	for param, body := range map[string]map[string]any{
		"body.title":               {"title": " "},
		"body.personaId":           {"personaId": id.NewPersona().String()},
		"body.knowledgeBaseIds[0]": {"knowledgeBaseIds": []any{id.NewKnowledgeBase().String()}},
		"body.prerequisites[0]":    {"prerequisites": []any{first}},
		"body.objectives[0].text":  {"objectives": []any{map[string]any{"key": "a", "text": map[string]any{"klingon": "x"}}}},
		"body.state":               {"state": "published"},
		"body.order":               {"order": -1},
	} {
		apitest.RequireError(t, w.CallAs(t, "updateSubject", first, w.Acme.New, body), http.StatusBadRequest, "invalid_request", param)
	}
	bad := apitest.SubjectBody(1)
	bad["content"].(map[string]any)["sections"].([]any)[0].(map[string]any)["title"] = map[string]any{"en": " "}
	apitest.RequireError(t, w.CallAs(t, "createSubject", school, w.Acme.New, bad), http.StatusBadRequest, "invalid_request", "body.content.sections[0].title.en")

	archived := w.CallAs(t, "updateSubject", first, w.Acme.New, map[string]any{"state": "archived"})
	require.Equal(t, "archived", archived.Data(t)["state"])
	require.Equal(t, []string{order[0], order[2]}, ids())
	for operation, body := range map[string]any{
		"updateSubject": map[string]any{"title": "x"}, "updateSubjectContent": map[string]any{}, "publishSubject": nil,
		"restoreSubject": map[string]any{"version": 1}, "translateSubjectQuestions": map[string]any{"languages": []any{"fr"}},
	} {
		e := apitest.RequireError(t, w.CallAs(t, operation, first, w.Acme.New, body), http.StatusConflict, "conflict", "")
		require.Equal(t, "archived", e["details"].(map[string]any)["reason"], operation)
	}
}

func TestSubjectsOfAnArchivedPortal(t *testing.T) {
	w := apitest.NewWorld(t)
	p := portaltest.Portal(t, w.Tenants, w.Acme.ID, id.NewPersona(), func(p *portal.Portal) { p.State = portal.Archived })
	e := apitest.RequireError(t, w.CallAs(t, "createSubject", p.ID.String(), w.Acme.New, apitest.SubjectBody(1)), http.StatusConflict, "conflict", "")
	require.Equal(t, "archived", e["details"].(map[string]any)["reason"])
}

func TestSubjectContent(t *testing.T) {
	w := apitest.NewWorld(t)
	s := w.AddSubject(t, w.Acme, w.School(t, w.Acme))
	v := patched(t, w, s, map[string]any{"baseVersion": 1, "intro": map[string]any{"de": nil, "French": "Bonjour"}, "scenario": map[string]any{"difficulty": "easy"}})
	require.Equal(t, []any{"intro", "scenario"}, v["changedSections"])
	require.Equal(t, []any{float64(2), float64(1), "draft"}, []any{v["version"], v["baseVersion"], v["state"]})
	require.ElementsMatch(t, []any{"de", "en", "fr"}, v["languages"])
	require.NotContains(t, v["intro"], "de")
	require.Equal(t, "easy", v["scenario"].(map[string]any)["difficulty"])
	require.Equal(t, "A pier", v["scenario"].(map[string]any)["setting"].(map[string]any)["en"], "an object is merged")
	require.Nil(t, patched(t, w, s, map[string]any{"scenario": nil})["scenario"])
	require.Equal(t, float64(3), patched(t, w, s, map[string]any{"baseVersion": 3, "scenario": nil})["version"], "nothing changed")

	e := apitest.RequireError(t, w.CallAs(t, "updateSubjectContent", s, w.Acme.New, map[string]any{"baseVersion": 2}), http.StatusConflict, "version_conflict", "body.baseVersion")
	require.Equal(t, float64(3), e["details"].(map[string]any)["currentVersion"])
	apitest.RequireError(t, onVersion(t, w, "updateSubjectContent", s, `"2"`, map[string]any{}), http.StatusConflict, "version_conflict", "header.If-Match")

	question := map[string]any{"key": "why", "text": map[string]any{"en": "Why?"}}
	defaults := patched(t, w, s, map[string]any{"questions": []any{question}, "changeNote": "one question"})
	require.Equal(t, "open", defaults["questions"].([]any)[0].(map[string]any)["kind"])
	require.Equal(t, float64(1), defaults["questions"].([]any)[0].(map[string]any)["points"])
	for param, body := range map[string]map[string]any{
		"body.questions[1].key":         {"questions": []any{question, question}},
		"body.sections[0].title.de":     {"sections": []any{map[string]any{"key": "a", "title": map[string]any{"German": " "}}}},
		"body.sections[0].media[0].url": {"sections": []any{map[string]any{"key": "a", "media": []any{map[string]any{"kind": "image", "url": "http://a.example/x.png"}}}}},
		"body.intro":                    {"intro": map[string]any{"klingon": "nuqneH"}},
		"body.questions[0].points":      {"questions": []any{map[string]any{"key": "a", "points": -1}}},
		"body.rules.order":              {"rules": map[string]any{"order": "any"}},
	} {
		apitest.RequireError(t, w.CallAs(t, "updateSubjectContent", s, w.Acme.New, body), http.StatusBadRequest, "invalid_request", param)
	}

	old := w.Get(w.Acme.New, "/subjects/"+s+"/content?version=1")
	require.Equal(t, `"1"`, old.Header.Get("ETag"))
	require.Equal(t, "superseded", old.Data(t)["state"])
	for _, none := range []string{"9", "9999999999"} {
		apitest.RequireError(t, w.Get(w.Acme.New, "/subjects/"+s+"/content?version="+none), http.StatusNotFound, "not_found", "query.version")
	}
	apitest.RequireError(t, w.CallAs(t, "restoreSubject", s, w.Acme.New, map[string]any{"version": 9}), http.StatusBadRequest, "invalid_request", "body.version")
	restored := w.CallAs(t, "restoreSubject", s, w.Acme.New, map[string]any{"version": 1}).Data(t)
	require.Equal(t, float64(5), restored["version"])
	require.Equal(t, old.Data(t)["intro"], restored["intro"])
	versions := w.Get(w.Acme.New, "/subjects/"+s+"/versions").JSON(t)["data"].([]any)
	require.Len(t, versions, 5)
	require.Equal(t, "one question", versions[1].(map[string]any)["changeNote"])

	var saved []event.Type
	for _, e := range logged(t, w, s) {
		saved = append(saved, e.Type)
	}
	require.Equal(t, slices.Repeat([]event.Type{event.SubjectDraftSaved}, 4), saved)
}

func TestPublishASubject(t *testing.T) {
	w := apitest.NewWorld(t)
	school := w.School(t, w.Acme)
	s := w.AddSubject(t, w.Acme, school)
	patched(t, w, s, map[string]any{"questions": []any{}})
	check := w.CallAs(t, "checkSubject", s, w.Acme.New, nil).Data(t)
	require.Equal(t, false, check["ready"])
	refused := apitest.RequireError(t, w.CallAs(t, "publishSubject", s, w.Acme.New, nil), http.StatusUnprocessableEntity, "go_live_refused", "")
	require.Equal(t, check["problems"], refused["details"].(map[string]any)["problems"])
	require.Equal(t, "content.questions", check["problems"].([]any)[0].(map[string]any)["field"])

	older := w.CallAs(t, "publishSubject", s, w.OldNamed, nil)
	require.Equal(t, http.StatusOK, older.Status)
	require.Equal(t, check["problems"], older.Data(t)["publishRefused"].(map[string]any)["problems"])
	require.Equal(t, "draft", older.Data(t)["state"])
	require.Equal(t, s, "sub_"+older.Data(t)["id"].(string), "ids are bare there")
	require.Equal(t, school, "portal_"+older.Data(t)["portalId"].(string))
	require.Len(t, logged(t, w, s), 1, "nothing was told of it")

	patched(t, w, s, apitest.ContentBody(1))
	apitest.RequireError(t, onVersion(t, w, "publishSubject", s, `"2"`, nil), http.StatusConflict, "version_conflict", "header.If-Match")
	before := stamp(t, w, school)
	published := onVersion(t, w, "publishSubject", s, `"3"`, map[string]any{"changeNote": "all of it"}).Data(t)
	require.Equal(t, []any{"published", float64(3), false}, []any{published["state"], published["version"], published["hasUnpublishedChanges"]})
	require.NotContains(t, published, "publishRefused")
	require.Greater(t, stamp(t, w, school), before, "pages are read again")
	require.Equal(t, http.StatusOK, w.CallAs(t, "publishSubject", s, w.Acme.New, nil).Status)
	version := w.Get(w.Acme.New, "/subjects/"+s+"/versions").JSON(t)["data"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"published", "all of it"}, []any{version["state"], version["changeNote"]})

	events := logged(t, w, s)
	require.Len(t, events, 4, "publishing it again changed nothing")
	require.Equal(t, []event.Type{event.WorkspacePublished, event.PortalUpdated}, []event.Type{events[2].Type, events[3].Type})
	require.Contains(t, string(events[2].Structure), s)

	half := w.Key(w.Acme, scope.Grant{Contract: contract.V20260708, Scopes: []scope.Scope{scope.PortalsWrite}})
	require.Equal(t, http.StatusOK, w.CallAs(t, "publishSubject", s, half, nil).Status, "which includes both there")
}

func stamp(t testing.TB, w *apitest.World, p string) int64 {
	t.Helper()
	which, err := id.ParsePortal(p)
	require.NoError(t, err)
	found, err := portal.Get(context.Background(), w.Tenants, w.Acme.ID, which)
	require.NoError(t, err)
	return found.PageStamp
}

func TestTranslateQuestions(t *testing.T) {
	w := apitest.NewWorld(t)
	s := w.Subject(t, w.Acme)
	apitest.RequireError(t, w.CallAs(t, "translateSubjectQuestions", s, w.Acme.New, map[string]any{"languages": []any{"fr", "klingon"}}),
		http.StatusBadRequest, "invalid_request", "body.languages[1]")
	apitest.RequireError(t, w.CallAs(t, "translateSubjectQuestions", s, w.Acme.New, map[string]any{"languages": []any{"fr"}, "questionKeys": []any{"loop", "x"}}),
		http.StatusBadRequest, "invalid_request", "body.questionKeys[1]")
	job := w.CallAs(t, "translateSubjectQuestions", s, w.Acme.New, map[string]any{"languages": []any{"fr"}})
	require.Equal(t, http.StatusAccepted, job.Status)
	require.Equal(t, []any{"translate", "queued", s}, []any{job.Data(t)["kind"], job.Data(t)["state"], job.Data(t)["resourceId"]})
	cancelled := w.CallAs(t, "cancelJob", job.Data(t)["id"].(string), w.Acme.New, nil)
	require.Equal(t, "cancelled", cancelled.Data(t)["state"], "%s", cancelled.Raw)

	w = w.Apart(t)
	p := portaltest.Portal(t, w.Tenants, w.Acme.ID, id.NewPersona())
	made := portaltest.Subject(t, w.Tenants, w.Acme.ID, p.ID)
	e := apitest.RequireError(t, w.CallAs(t, "translateSubjectQuestions", made.ID.String(), w.Acme.New, map[string]any{"languages": []any{"fr"}}), http.StatusConflict, "conflict", "")
	require.Equal(t, "no_model", e["details"].(map[string]any)["reason"])
}

// at once runs something a hundred times at once and answers what each got.
func atOnce(each func(n int) apitest.Answer) []apitest.Answer {
	const many = 100
	answers := make([]apitest.Answer, many)
	var group sync.WaitGroup
	begin := make(chan struct{})
	for n := range many {
		group.Go(func() {
			<-begin
			answers[n] = each(n)
		})
	}
	close(begin)
	group.Wait()
	return answers
}

// Of many who change the same version, one wins; the others learn of it, and
// nothing of the winner is lost.
func TestOneOfManySavesWins(t *testing.T) {
	w := apitest.NewWorld(t)
	s := w.AddSubject(t, w.Acme, w.School(t, w.Acme))
	o := w.Operation(t, "updateSubjectContent")
	for base := int64(1); base <= 5; base++ {
		intro := func(n int) string { return fmt.Sprintf("round %d of %d", base, n) }
		answers := atOnce(func(n int) apitest.Answer {
			body := map[string]any{"baseVersion": base, "intro": map[string]any{"en": intro(n)}}
			return w.Do(apitest.Request{Method: o.Method, Path: apitest.WithID(o, s), Key: w.Acme.New, Body: body})
		})
		winner := -1
		for n, answer := range answers {
			if answer.Status == http.StatusOK {
				require.Negative(t, winner, "one wins")
				winner = n
				require.Equal(t, float64(base+1), answer.Data(t)["version"])
				continue
			}
			e := apitest.RequireError(t, answer, http.StatusConflict, "version_conflict", "body.baseVersion")
			require.Equal(t, float64(base+1), e["details"].(map[string]any)["currentVersion"])
		}
		require.GreaterOrEqual(t, winner, 0)
		now := w.CallAs(t, "getSubjectContent", s, w.Acme.New, nil).Data(t)
		require.Equal(t, float64(base+1), now["version"])
		require.Equal(t, intro(winner), now["intro"].(map[string]any)["en"])
	}
	require.Len(t, logged(t, w, s), 5)
}

// Without a version to change, the last save wins, and every one is kept.
func TestEverySaveIsKept(t *testing.T) {
	w := apitest.NewWorld(t)
	s := w.AddSubject(t, w.Acme, w.School(t, w.Acme))
	o := w.Operation(t, "updateSubjectContent")
	answers := atOnce(func(n int) apitest.Answer {
		body := map[string]any{"intro": map[string]any{"en": fmt.Sprint("by ", n)}}
		return w.Do(apitest.Request{Method: o.Method, Path: apitest.WithID(o, s), Key: w.Acme.New, Body: body})
	})
	which, err := id.ParseSubject(s)
	require.NoError(t, err)
	said := map[int64]string{}
	for n, answer := range answers {
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		version := int64(answer.Data(t)["version"].(float64))
		require.NotContains(t, said, version)
		said[version] = fmt.Sprint("by ", n)
	}
	for version := int64(2); version <= 101; version++ {
		_, v, err := subject.GetContent(context.Background(), w.Tenants, w.Acme.ID, which, version)
		require.NoError(t, err)
		require.Equal(t, said[version], v.Content.Intro["en"])
		require.Equal(t, version-1, v.BaseVersion)
	}
	require.Equal(t, said[101], w.CallAs(t, "getSubjectContent", s, w.Acme.New, nil).Data(t)["intro"].(map[string]any)["en"])
	events := logged(t, w, s)
	require.Len(t, events, 100)
	for n, e := range events {
		require.Contains(t, string(e.Structure), fmt.Sprintf(`"version": %d`, n+2))
	}
}
