package apitest

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// words are a text in the languages of the tests' portals.
func words(text string) map[string]any { return map[string]any{"en": text, "German": text + "!"} }

// SubjectBody is a good body with every property of a subject.
func SubjectBody(n int) map[string]any {
	return map[string]any{
		"title": fmt.Sprint("Knots ", n), "kind": "course",
		"objectives": []any{map[string]any{"key": "tie", "text": words("Ties knots.")}},
		"personaId":  nil, "knowledgeBaseIds": []any{}, "durationS": 600 + n, "assessed": true, "passPercent": 60, "attemptsAllowed": 3,
		"certificateTemplate": "plain", "validMonths": 12, "prerequisites": []any{}, "content": ContentBody(n),
	}
}

// ContentBody is a good body with every property of a content, which can be published.
func ContentBody(n int) map[string]any {
	return map[string]any{
		"title": words("Knots"),
		"intro": words(fmt.Sprint("How to tie a boat to a pier ", n)),
		"sections": []any{map[string]any{
			"key": "bowline", "title": words("The bowline"), "body": words("A bowline makes a loop that does not slip."),
			"media":     []any{map[string]any{"kind": "image", "url": "https://example.com/bowline.png", "alt": words("A bowline")}},
			"keyPoints": []any{words("It does not slip.")},
		}},
		"questions": []any{map[string]any{
			"key": "loop", "kind": "choice", "text": words("Which knot makes a loop that does not slip?"),
			"options": []any{
				map[string]any{"key": "bowline", "text": words("The bowline"), "correct": true},
				map[string]any{"key": "hitch", "text": words("The half hitch"), "correct": false},
			},
			"rubric": []any{map[string]any{
				"key": "clear", "label": words("Is clear"), "weight": 1, "levels": []any{map[string]any{"score": 1, "description": words("Says it.")}},
			}},
			"points": 2, "required": true, "followUps": 1, "timeLimitS": 60,
		}},
		"scenario": map[string]any{
			"setting": words("A pier"), "avatarRole": words("A skipper"), "learnerRole": words("A deckhand"), "difficulty": "hard",
			"secrets": []any{words("The rope is short.")},
		},
		"rules":  map[string]any{"order": "random", "pick": 1},
		"ending": map[string]any{"message": words("Well done."), "showResult": true},
	}
}

// School makes a published portal with subjects.
func (w *World) School(t testing.TB, org *Org) string {
	t.Helper()
	made := w.portal(t, org)["id"].(string)
	w.modelled(t, org)
	for range 2 { // besides the one that it was built with
		w.AddSubject(t, org, made)
	}
	return made
}

// AddSubject adds a subject to a portal.
func (w *World) AddSubject(t testing.TB, org *Org, portal string) string {
	t.Helper()
	w.n++
	answer := w.Call(t, w.Operation(t, "createSubject"), Request{Path: "/portals/" + portal + "/subjects", Key: org.New, Body: SubjectBody(w.n)})
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	return answer.Data(t)["id"].(string)
}

// Subject makes a subject of several versions, in a portal that it shares with others.
func (w *World) Subject(t testing.TB, org *Org) string {
	t.Helper()
	k := "school" + org.ID.String()
	if _, ok := w.Made[k]; !ok {
		w.Made[k] = w.School(t, org)
	}
	made, o := w.AddSubject(t, org, w.Made[k]), w.Operation(t, "updateSubjectContent")
	for range 2 {
		w.n++
		answer := w.Call(t, o, Request{Path: WithID(o, made), Key: org.New, Body: ContentBody(w.n)})
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	}
	return made
}

// modelled gives an organization a connected model, as if it had been tested.
func (w *World) modelled(t testing.TB, org *Org) {
	t.Helper()
	k := "modelled" + org.ID.String()
	if _, ok := w.Made[k]; ok {
		return
	}
	offer, ok := connection.FindOffer(connection.Model, "openai_compatible")
	require.True(t, ok)
	c := connection.New(offer, "model", connection.Config{"baseUrl": "https://127.0.0.1:9/v1", "model": "m"}, "sk-tests", time.Now().UTC())
	c.State, c.Fallback, c.TimeoutMs = connection.Active, connection.FallbackBuiltin, 1000
	require.NoError(t, w.Tenants.InTx(context.Background(), org.ID, func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Create(ctx, tx, w.Vault, c, "sk-tests", activity.Actor{By: "test", At: c.CreatedAt}.Unlogged())
	}))
	w.Made[k] = c.ID.String()
}
