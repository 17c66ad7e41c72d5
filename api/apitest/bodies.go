package apitest

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
)

// A library face and studio voices, which every organization has.
var (
	LibraryFace = id.NamedAvatar("amara").String()
	StudioVoice = id.NamedVoice("nora").String()
	GlobalVoice = id.NamedVoice("ka-ho").String()
)

// PersonaBody is a good body with every property of a persona.
func PersonaBody(n int) map[string]any {
	return map[string]any{
		"name": fmt.Sprint("Mira ", n), "avatarId": LibraryFace, "voiceId": StudioVoice,
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

// DuoBody is a good body with every property of a duo.
func DuoBody(n int) map[string]any {
	return map[string]any{
		"name": fmt.Sprint("Ada and Ben ", n),
		"hosts": []any{
			map[string]any{"seat": "left", "name": "Ada", "avatarId": LibraryFace, "voiceId": StudioVoice, "role": "lead"},
			map[string]any{"seat": "right", "name": "Ben", "avatarId": id.NamedAvatar("jisoo").String(), "voiceId": GlobalVoice, "role": "partner"},
		},
		"languages": []any{"en", "German"},
		"interplay": map[string]any{"style": "debate", "handover": "strict", "balance": 0.6},
	}
}

// WidgetOrigin is where the widgets of the tests may be shown.
const WidgetOrigin = "https://www.example.com"

// WidgetBody is a good body with every property of a widget.
func WidgetBody(n int, persona string) map[string]any {
	return map[string]any{
		"name": fmt.Sprint("Site ", n), "personaId": persona, "enabled": true, "mode": "inline", "placement": "center",
		"channels": []any{"voice", "chat"}, "defaultChannel": "chat", "allowedOrigins": []any{WidgetOrigin, "https://*.example.org", "http://localhost"},
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
		"key": AnyKey, "language": "German", "channel": "chat", "contact": map[string]any{"name": fmt.Sprint("Kim ", n), "email": "kim@example.com"},
		"metadata": map[string]any{"page": "/pricing"}, "page": map[string]any{"url": WidgetOrigin + "/pricing?utm_campaign=spring", "referrer": "https://search.example/?q=x"},
	}
}

// AnyKey stands for the public key of the widget that a request is about.
const AnyKey = "the widget's"

// Shown is a persona for the organization's widgets to show.
func (w *World) Shown(t testing.TB, org *Org) string {
	t.Helper()
	k := "shown" + org.ID.String()
	if _, ok := w.Made[k]; !ok {
		w.Made[k] = w.Make(t, org, "createPersona")["id"].(string)
	}
	return w.Made[k]
}

// Widget makes a widget of an organization's persona.
func (w *World) Widget(t testing.TB, org *Org) map[string]any {
	t.Helper()
	return w.widgetOf(t, org, w.Shown(t, org))
}

// pictured makes a widget whose persona has a face of the organization's own.
func (w *World) pictured(t testing.TB, org *Org) string {
	t.Helper()
	face, speaker := w.Make(t, org, "createAvatar")["id"].(string), w.Make(t, org, "createPersona")["id"].(string)
	answer := w.CallAs(t, "updatePersona", speaker, org.New, map[string]any{"avatarId": face})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	made := w.widgetOf(t, org, speaker)["id"].(string)
	w.Made["face of "+strings.TrimPrefix(made, "wid_")] = face
	return made
}

// widgetOf makes a widget of a persona.
func (w *World) widgetOf(t testing.TB, org *Org, speaker string) map[string]any {
	t.Helper()
	w.n++
	o := w.Operation(t, "createWidget")
	answer := w.Call(t, o, Request{Path: o.Path, Key: org.New, Body: WidgetBody(w.n, speaker)})
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	made := answer.Data(t)
	w.PublicKeys[strings.TrimPrefix(made["id"].(string), "wid_")] = made["publicKey"].(string)
	return made
}

// Visit makes a request one of a page that shows the widget.
func (w *World) Visit(r Request) Request {
	bare, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(r.Path, "/widgets/"), "wid_"), "/")
	key, known := w.PublicKeys[bare]
	path, _, _ := strings.Cut(r.Path, "?")
	switch body, _ := r.Body.(map[string]any); {
	case !known:
		return r
	case strings.HasSuffix(r.Path, "/config"):
		r.Path += "?key=" + key
	case strings.HasSuffix(r.Path, "/picture"):
		r.Path += "?key=" + key + "&face=" + w.Made["face of "+bare]
	case !strings.HasSuffix(path, "/sessions"):
		return r
	case body["key"] == AnyKey:
		body = maps.Clone(body)
		body["key"], r.Body = key, body
	}
	header := map[string]string{"Origin": WidgetOrigin}
	maps.Copy(header, r.Header)
	r.Header = header
	return r
}

// bodies make good bodies, by operation, with every property there is; each n
// makes another. An operation with a body needs one here.
var bodies = map[string]func(n int) map[string]any{
	"createAvatar": func(n int) map[string]any {
		return map[string]any{
			"name": fmt.Sprint("Kim ", n), "picture": Portrait(), "gender": "female", "ageBand": "30s", "heritage": "mixed",
			"removeBackground": false, "landmarks": landmarks(), "metadata": map[string]any{"source": "tests"},
			"consent": map[string]any{
				"statement": "own_likeness", "policyVersion": "2026-07-01", "personName": "Kim", "personEmail": "kim@example.com",
				"signedAt": "2026-07-02T09:00:00Z", "evidence": "data:application/pdf;base64,JVBERi0xLjQK",
			},
		}
	},
	"updateAvatar": func(n int) map[string]any {
		return map[string]any{"name": fmt.Sprint("Lee ", n), "landmarks": landmarks()}
	},
	"createConnection": func(n int) map[string]any {
		body := connectionBody(n)
		body["kind"], body["provider"] = "model", "openai_compatible"
		return body
	},
	"updateConnection": func(n int) map[string]any {
		body := connectionBody(n)
		body["enabled"] = true
		return body
	},
	"rotateConnectionSecret": func(n int) map[string]any {
		return map[string]any{"secret": fmt.Sprint("sk-tests-of-every-operation-", n), "graceS": n + 1}
	},
	"readCourse": func(n int) map[string]any { return map[string]any{"confirmDepartures": n%2 == 0} },
	"syncConnection": func(n int) map[string]any {
		return map[string]any{"dryRun": false, "since": fmt.Sprintf("2026-01-01T00:00:%02dZ", n%60)}
	},
	"createPortal":        PortalBody,
	"publishPortal":       func(n int) map[string]any { return map[string]any{"changeNote": fmt.Sprint("change ", n)} },
	"putPortalPersona":    speakerBody,
	"restorePortal":       func(int) map[string]any { return map[string]any{"version": 2} },
	"updatePortal":        PortalChange,
	"createCaseLink":      CaseLinkBody,
	"createCustomerToken": CustomerTokenBody,
	"createEmbedToken":    EmbedTokenBody,
	"createEscalation":    escalationBody,
	"setCandidatesDoor":   doorBody,
	"setCustomersDoor":    doorBody,
	"setEmbedDoor":        doorBody,
	"setJoinCodeDoor":     doorBody,
	"setMembersLinkDoor":  doorBody,
	"setSSODoor":          ssoBody,
	"setStaffDoor":        doorBody,
	"setVisitorsDoor":     doorBody,

	"createDuo": DuoBody,
	"updateDuo": DuoBody,

	"recordGuardianConsent": GuardianBody,

	"createStaffToken": func(n int) map[string]any {
		return map[string]any{"staffName": fmt.Sprint("Kim ", n), "mode": "speak"}
	},
	"endIdleSessions": func(n int) map[string]any {
		return map[string]any{"olderThanS": 3600 + n, "personaId": id.Persona{1}.String(), "externalId": "nobody's", "dryRun": true}
	},
	"endSession": func(n int) map[string]any { return map[string]any{"reason": fmt.Sprint("test ", n), "message": ""} },
	"rateSession": func(n int) map[string]any {
		return map[string]any{"score": n%5 + 1, "scale": 5, "comment": "good"}
	},
	"respondSession": func(n int) map[string]any { return map[string]any{"text": fmt.Sprint("When is it open? ", n)} },
	"saySession": func(n int) map[string]any {
		return map[string]any{
			"text": fmt.Sprint("Hello ", n), "interrupt": true, "interruptible": false, "language": "English", "record": true,
		}
	},
	"updateSession": func(n int) map[string]any {
		return map[string]any{
			"context": fmt.Sprint("context ", n), "instructions": "Be brief.", "language": "en", "voiceId": id.NamedVoice("nora").String(),
			"listening": true, "mute": false, "interrupt": true, "goal": "name", "variables": map[string]any{"name": "Kim"},
			"maxDurationS": 600, "metadata": map[string]any{"n": fmt.Sprint(n)},
		}
	},
	"createInboxItem": LeadBody,
	"createSchedule":  ScheduleBody,
	"updateSchedule": func(n int) map[string]any {
		body := ScheduleBody(n)
		body["stepMinutes"] = 15
		return body
	},
	"updateInboxItem": func(n int) map[string]any {
		return map[string]any{
			"state": "snoozed", "snoozedUntil": time.Now().Add(time.Duration(n+1) * time.Hour).UTC().Format(time.RFC3339), "assigneeId": nil,
			"urgency": "high", "department": fmt.Sprint("Sales ", n), "tags": []any{"fair", fmt.Sprint(n)}, "leadBand": "hot",
			"externalId": fmt.Sprint("lead-", n), "metadata": map[string]any{"source": "tests"},
			"slaDueAt": time.Now().Add(time.Duration(n+2) * time.Hour).UTC().Format(time.RFC3339),
		}
	},
	"createInboxRule":    RuleBody,
	"updateInboxRule":    RuleBody,
	"previewInboxRule":   func(n int) map[string]any { return map[string]any{"when": RuleBody(n)["when"]} },
	"setInboxTeamMember": TeamBody,
	"replyToInboxItem": func(n int) map[string]any {
		return map[string]any{"text": fmt.Sprint("Thank you ", n), "channel": "mail", "replyTo": "sales@example.com"}
	},
	"noteInboxItem": func(n int) map[string]any { return map[string]any{"text": fmt.Sprint("Call again ", n)} },
	"joinInboxItem": func(n int) map[string]any {
		return map[string]any{"staffName": fmt.Sprint("Kim ", n), "mode": "takeover"}
	},

	"createExport": func(n int) map[string]any {
		return map[string]any{
			"kind": "leads", "from": "2026-01-01T00:00:00Z", "to": fmt.Sprintf("2027-01-01T00:00:%02dZ", n%60), "format": "jsonl",
			"filters": map[string]any{"state": "new"},
		}
	},
	"createDashboardEmbedToken": func(n int) map[string]any {
		return map[string]any{"key": "overview", "portalId": nil, "expiresInS": 600 + n}
	},

	"createKey": keyBody,
	"updateKey": keyChange,
	"rotateKey": func(n int) map[string]any { return map[string]any{"graceS": n + 1} },

	"createPersona": PersonaBody,
	"updatePersona": PersonaBody,
	"askPersona": func(n int) map[string]any {
		return map[string]any{"question": fmt.Sprint("When is it open? ", n), "language": "English", "explain": n%2 == 0}
	},
	"duplicatePersona": func(n int) map[string]any { return map[string]any{"name": fmt.Sprint("Mira ", n)} },
	"restorePersona":   func(int) map[string]any { return map[string]any{"version": 1} },
	"simulatePersona":  simulationBody,
	"runPersonaTests":  func(n int) map[string]any { return map[string]any{"version": n%3 + 1} },

	"checkPersonaCoverage": func(n int) map[string]any { return map[string]any{"version": n%3 + 1} },

	"createPersonaTest": PersonaTestBody,
	"updatePersonaTest": PersonaTestBody,

	"updateWidget": func(n int) map[string]any {
		body := WidgetBody(n, "")
		delete(body, "personaId")
		return body
	},
	"createWidgetSession": visitBody,
	"createKnowledgeBase": knowledgeBody,
	"updateKnowledgeBase": knowledgeBody,
	"searchKnowledgeBase": func(n int) map[string]any {
		return map[string]any{
			"query": fmt.Sprint("museum ", n), "limit": 3, "language": "en", "documentLanguage": "English", "tags": []any{"visit"}, "minScore": 0.1,
			"explain": n%2 == 0,
		}
	},
	"addKnowledgeDocument": func(n int) map[string]any {
		return map[string]any{
			"kind": "url", "url": fmt.Sprint("https://127.0.0.1:9/page/", n), "text": nil, "title": fmt.Sprint("Page ", n),
			"tags": []any{"visit"}, "refresh": "daily", "crawl": map[string]any{"depth": 1, "maxPages": 10},
		}
	},
	"updateKnowledgeDocument": func(n int) map[string]any {
		return map[string]any{"title": fmt.Sprint("Page ", n), "tags": []any{"visit", "all"}, "refresh": "weekly"}
	},
	"updateKnowledgeGap": func(n int) map[string]any {
		return map[string]any{"state": []string{"open", "answered", "dismissed"}[n%3], "suggestedDocumentId": nil}
	},
	"createSubject": SubjectBody,
	"updateSubject": func(n int) map[string]any {
		body := SubjectBody(n)
		delete(body, "kind")
		delete(body, "content")
		body["order"] = n % 3
		return body
	},
	"updateSubjectContent": func(n int) map[string]any {
		body := ContentBody(n)
		body["changeNote"] = fmt.Sprint("change ", n)
		return body
	},
	"restoreSubject": func(int) map[string]any { return map[string]any{"version": 1} },
	"publishSubject": func(n int) map[string]any { return map[string]any{"changeNote": fmt.Sprint("change ", n)} },
	"translateSubjectQuestions": func(n int) map[string]any {
		return map[string]any{"languages": []any{"fr", "Italian"}, "questionKeys": []any{"loop"}, "overwrite": n%2 == 0}
	},
	"createVoice": func(n int) map[string]any {
		return map[string]any{
			"name": fmt.Sprint("Kim ", n), "description": "tests", "gender": "female", "languages": []any{"en", "German"},
			"samples": []any{Recording, Recording}, "consent": map[string]any{
				"statement": "own_likeness", "policyVersion": "2026-07-01", "personName": "Kim", "personEmail": "kim@example.com",
				"signedAt": "2026-07-02T09:00:00Z", "evidence": "data:application/pdf;base64,JVBERi0xLjQK",
			},
		}
	},
	"updateVoice": func(n int) map[string]any {
		return map[string]any{
			"name": fmt.Sprint("Lee ", n), "description": "changed",
			"pronunciations": []any{map[string]any{"text": "SQL", "say": "sequel", "language": "English"}},
		}
	},

	"speakVoice": func(n int) map[string]any {
		return map[string]any{"text": fmt.Sprint("Hello, number ", n, "."), "language": "English", "speed": 1.1}
	},

	"updateSetting": func(n int) map[string]any {
		return map[string]any{"value": n%2 == 0, "scopeKind": "organization", "scopeId": ""}
	},

	"createSetupPlan": PlanBody,
	"updateSetupPlan": PlanChange,
	"applySetupPlan":  CastBody,
	"fillPortal":      FillBody,

	"createWebhook": WebhookBody,
	"updateWebhook": func(n int) map[string]any {
		body := WebhookBody(n)
		body["active"], body["apiVersion"] = true, "2026-07-08"
		return body
	},
	"recoverWebhook": func(n int) map[string]any {
		return map[string]any{
			"from": "2026-07-08T00:00:00Z", "to": fmt.Sprintf("2026-08-01T00:00:%02dZ", n%60), "states": []any{"failed"}, "missed": false,
		}
	},
	"rotateWebhookSecret": func(n int) map[string]any { return map[string]any{"graceS": n + 1} },
}
