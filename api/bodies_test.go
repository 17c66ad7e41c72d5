package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
)

// A library face and studio voices, which every organization has.
var (
	libraryFace = id.NamedAvatar("amara").String()
	studioVoice = id.NamedVoice("nora").String()
	globalVoice = id.NamedVoice("ka-ho").String()
)

// personaBody is a good body with every property of a persona.
func personaBody(n int) map[string]any {
	return map[string]any{
		"name": fmt.Sprint("Mira ", n), "avatarId": libraryFace, "voiceId": studioVoice,
		"role": "Guide", "instructions": "Be brief.",
		"greeting": map[string]any{"mode": "fixed", "text": map[string]any{"en": fmt.Sprint("Hello ", n)}},
		"closing":  map[string]any{"German": "Auf Wiedersehen!"},
		"knowledge": map[string]any{
			"mode": "prefer", "minScore": 0.5, "cite": false, "retrieval": "thorough",
		},
		"goals": []any{
			map[string]any{"key": "name", "prompt": "What is your name?", "required": true, "outputs": []any{"name"}, "next": "need", "confirm": "manual"},
			map[string]any{"key": "need", "prompt": "What do you need?"},
		},
		"guardrails":   []any{map[string]any{"key": "law", "rule": `"legal advice"`, "action": "handoff", "message": "A lawyer will call."}},
		"tools":        []any{map[string]any{"kind": "lead", "enabled": true, "config": map[string]any{"ask": "late"}}},
		"model":        map[string]any{"connectionId": nil, "name": nil, "temperature": 0.5, "maxTokens": 256, "timeoutMs": 5000},
		"conversation": map[string]any{"patience": "high", "interruptible": "low", "minInterruptWords": 3, "endpointMs": 700, "backchannels": false, "idlePromptS": 20, "endAfterSilenceS": 60, "pushToTalk": true, "maxTurnS": 30},
		"settings":     map[string]any{"language": "English", "accent": "french", "speed": 1.1, "autoDetectLanguage": true, "languages": []any{"en", "de"}},
		"privacy":      map[string]any{"retainTranscriptDays": 30, "memory": "person", "redact": []any{"email"}},
		"limits":       map[string]any{"maxSessionS": 600, "dailySessions": 1_000_000},
		"disclosure":   map[string]any{"text": map[string]any{"en": "This is an AI."}, "spoken": true},
	}
}

// duoBody is a good body with every property of a duo.
func duoBody(n int) map[string]any {
	return map[string]any{
		"name": fmt.Sprint("Ada and Ben ", n),
		"hosts": []any{
			map[string]any{"seat": "left", "name": "Ada", "avatarId": libraryFace, "voiceId": studioVoice, "role": "lead"},
			map[string]any{"seat": "right", "name": "Ben", "avatarId": id.NamedAvatar("jisoo").String(), "voiceId": globalVoice, "role": "partner"},
		},
		"languages": []any{"en", "German"},
		"interplay": map[string]any{"style": "debate", "handover": "strict", "balance": 0.6},
	}
}

// widgetOrigin is where the widgets of the tests may be shown.
const widgetOrigin = "https://www.example.com"

// widgetBody is a good body with every property of a widget.
func widgetBody(n int, persona string) map[string]any {
	return map[string]any{
		"name": fmt.Sprint("Site ", n), "personaId": persona, "enabled": true, "mode": "inline", "placement": "center",
		"channels": []any{"voice", "chat"}, "defaultChannel": "chat", "allowedOrigins": []any{widgetOrigin, "https://*.example.org", "http://localhost"},
		"languages": []any{"en", "German"},
		"theme": map[string]any{
			"accent": "#112233", "background": "#ffffff", "text": "#000000", "radius": 8, "font": "Inter, sans-serif", "dark": "on",
		},
		"texts":               map[string]any{"en": map[string]any{"title": fmt.Sprint("Ask ", n), "greeting": "Hi", "start": "Start", "end": "End", "consent": "OK", "placeholder": "…"}},
		"avatarWhenCollapsed": false, "proactive": map[string]any{"afterS": 10, "scrollPercent": 50, "urls": []any{"/pricing*"}},
		"leadForm": map[string]any{"askBefore": true, "fields": []any{"name", "email"}, "required": []any{"email"}},
		"rating":   map[string]any{"mode": "during", "scale": 2}, "transcriptVisible": false, "textInput": false, "micMuteable": false,
		"aiNotice": true, "termsUrl": "https://example.com/terms", "privacyUrl": "https://example.com/privacy",
		"hours": map[string]any{"timezone": "Europe/Berlin", "open": allWeek()},
		"caps":  map[string]any{"maxSessionS": 300, "sessionsPerVisitorPerDay": 1000},
	}
}

// allWeek are hours that are never over.
func allWeek() []any {
	var open []any
	for _, day := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		open = append(open, map[string]any{"day": day, "from": "00:00", "to": "24:00"})
	}
	return open
}

// visitBody is a visitor's request for a session; the key is put in where the
// widget is known.
func visitBody(n int) map[string]any {
	return map[string]any{
		"key": anyKey, "language": "German", "channel": "chat", "contact": map[string]any{"name": fmt.Sprint("Kim ", n), "email": "kim@example.com"},
		"metadata": map[string]any{"page": "/pricing"},
	}
}

// anyKey stands for the public key of the widget that a request is about.
const anyKey = "the widget's"

// shown is a persona for the organization's widgets to show.
func (w *world) shown(t testing.TB, org *apitest.Org) string {
	t.Helper()
	k := "shown" + org.ID.String()
	if _, ok := w.made[k]; !ok {
		w.made[k] = w.make(t, org, "createPersona")["id"].(string)
	}
	return w.made[k]
}

// widget makes a widget of an organization's persona.
func (w *world) widget(t testing.TB, org *apitest.Org) map[string]any {
	t.Helper()
	return w.widgetOf(t, org, w.shown(t, org))
}

// pictured makes a widget whose persona has a face of the organization's own.
func (w *world) pictured(t testing.TB, org *apitest.Org) string {
	t.Helper()
	face, speaker := w.make(t, org, "createAvatar")["id"].(string), w.make(t, org, "createPersona")["id"].(string)
	answer := w.do(t, "updatePersona", speaker, org.New, map[string]any{"avatarId": face})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	made := w.widgetOf(t, org, speaker)["id"].(string)
	w.made["face of "+strings.TrimPrefix(made, "wid_")] = face
	return made
}

// widgetOf makes a widget of a persona.
func (w *world) widgetOf(t testing.TB, org *apitest.Org, speaker string) map[string]any {
	t.Helper()
	w.n++
	o := w.operation(t, "createWidget")
	answer := w.call(t, o, apitest.Request{Path: o.Path, Key: org.New, Body: widgetBody(w.n, speaker)})
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	made := answer.Data(t)
	w.publicKeys[strings.TrimPrefix(made["id"].(string), "wid_")] = made["publicKey"].(string)
	return made
}

// visit makes a request one of a page that shows the widget.
func (w *world) visit(r apitest.Request) apitest.Request {
	bare, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(r.Path, "/widgets/"), "wid_"), "/")
	key, known := w.publicKeys[bare]
	path, _, _ := strings.Cut(r.Path, "?")
	switch body, _ := r.Body.(map[string]any); {
	case !known:
		return r
	case strings.HasSuffix(r.Path, "/config"):
		r.Path += "?key=" + key
	case strings.HasSuffix(r.Path, "/picture"):
		r.Path += "?key=" + key + "&face=" + w.made["face of "+bare]
	case !strings.HasSuffix(path, "/sessions"):
		return r
	case body["key"] == anyKey:
		body = maps.Clone(body)
		body["key"], r.Body = key, body
	}
	header := map[string]string{"Origin": widgetOrigin}
	maps.Copy(header, r.Header)
	r.Header = header
	return r
}
