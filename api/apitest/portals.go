package apitest

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// PortalBody is a good body with every property of a portal to be built, but for
// personaId, which leaves no place for a face, and slug, which is good once.
func PortalBody(n int) map[string]any {
	return map[string]any{
		"name": fmt.Sprint("Harbour School ", n), "templateKey": "blank", "avatarId": LibraryFace, "voiceId": StudioVoice,
		"languages": []any{"English", "de"}, "publish": true, "answers": map[string]any{"purpose": fmt.Sprint("lessons in sailing ", n)},
		"subjects": []any{map[string]any{"title": "Knots", "kind": "course", "content": lesson()}},
		"privacy":  map[string]any{"aiNotice": true, "privacyUrl": "https://example.com/privacy", "termsUrl": nil, "retentionDays": 30, "recordings": false},
		"visitors": map[string]any{"requires": []any{"name"}, "message": "Come in."},
	}
}

// lesson is a subject's content in two languages.
func lesson() map[string]any {
	words := func(text string) map[string]any { return map[string]any{"en": text, "German": text + " (auf Deutsch)"} }
	return map[string]any{
		"title":    words("Knots"),
		"intro":    words("How to tie a boat to a pier."),
		"sections": []any{map[string]any{"key": "bowline", "title": words("The bowline"), "body": words("It does not slip."), "media": []any{}, "keyPoints": []any{}}},
		"questions": []any{map[string]any{
			"key": "loop", "kind": "open", "text": words("Which knot does not slip?"), "options": []any{}, "rubric": []any{}, "points": 1, "required": true,
			"followUps": 1, "timeLimitS": nil,
		}},
		"scenario": map[string]any{
			"setting": words("A pier"), "avatarRole": words("A skipper"), "learnerRole": words("A deckhand"), "difficulty": "hard", "secrets": []any{},
		},
		"rules": map[string]any{"order": "fixed", "pick": nil}, "ending": map[string]any{"message": words("Well done."), "showResult": true},
	}
}

// PortalChange is a good change of every property of a portal's draft.
func PortalChange(n int) map[string]any {
	words := func(text string) map[string]any { return map[string]any{"en": text, "German": text + " (auf Deutsch)"} }
	return map[string]any{
		"name": fmt.Sprint("Harbour ", n), "slug": fmt.Sprint("harbour-anew-", n), "customDomain": fmt.Sprintf("learn-%d.example.com", n),
		"languages": []any{"en", "German"}, "defaultLanguage": "English", "knowledgeBaseIds": []any{},
		"brand":    map[string]any{"logoUrl": "https://example.com/logo.svg", "accent": "#112233", "font": "Inter, sans-serif", "dark": "on"},
		"pages":    map[string]any{"title": words("Harbour"), "welcome": words(fmt.Sprint("Welcome ", n)), "footer": words("Pier 1")},
		"privacy":  map[string]any{"aiNotice": true, "privacyUrl": "https://example.com/privacy", "termsUrl": nil, "retentionDays": 30, "recordings": false},
		"audience": "learners", "minAge": 12, "guardianConsentUnder": 16, "caps": map[string]any{"maxSessionS": 600, "sessionsPerPersonPerDay": 5},
		"allowedOrigins": []any{"https://www.example.com", "https://*.example.org"},
	}
}

// speakerBody is a good body with what may be sent together.
func speakerBody(n int) map[string]any {
	return map[string]any{"avatarId": LibraryFace, "voiceId": StudioVoice, "name": fmt.Sprint("Mira ", n), "language": "English"}
}

// portal builds a portal, publishes it three times and changes it.
func (w *World) portal(t testing.TB, org *Org) map[string]any {
	t.Helper()
	made := w.Make(t, org, "createPortal")
	require.Equal(t, "published", made["state"], "%v", made["publishRefused"])
	for n := range 3 {
		require.Equal(t, http.StatusOK, w.CallAs(t, "updatePortal", made["id"].(string), org.New, map[string]any{
			"name": fmt.Sprint("Harbour ", n), "privacy": map[string]any{"privacyUrl": "https://example.com/privacy"},
		}).Status)
		if n < 2 {
			require.Equal(t, http.StatusOK, w.CallAs(t, "publishPortal", made["id"].(string), org.New, map[string]any{}).Status)
		}
	}
	return w.CallAs(t, "getPortal", made["id"].(string), org.New, nil).Data(t)
}
