package apitest

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
)

// Kinds make one thing of the kind a path names, and answer its id. An
// operation on another kind of path needs another maker here.
var Kinds = map[string]func(testing.TB, *World, *Org) string{
	"/avatars/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.Make(t, org, "createAvatar")["id"].(string)
	},
	// One of the library.
	"/avatars/{id}/layers": func(testing.TB, *World, *Org) string {
		return id.NamedAvatar("amara").String()
	},
	"/case-links/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.onPortal(t, org, "createCaseLink")
	},
	"/connections/{id}": func(t testing.TB, w *World, org *Org) string {
		made := w.Make(t, org, "createConnection")["id"].(string)
		test := w.Operation(t, "testConnection") // which is a call that it made
		require.Equal(t, http.StatusOK, w.Call(t, test, Request{Path: WithID(test, made), Key: org.New}).Status)
		return made
	},
	// One with several calls.
	"/connections/{id}/calls": func(t testing.TB, w *World, org *Org) string {
		made := w.Make(t, org, "createConnection")["id"].(string)
		test := w.Operation(t, "testConnection")
		for range 3 {
			require.Equal(t, http.StatusOK, w.Call(t, test, Request{Path: WithID(test, made), Key: org.New}).Status)
		}
		return made
	},
	// It takes the events of one kind of connection alone.
	"/connections/{id}/webhook": func(t testing.TB, w *World, org *Org) string {
		return w.MediaServer(t, org, MediaKey).String()
	},
	// Learning platforms alone have courses.
	"/connections/{id}/courses": func(t testing.TB, w *World, org *Org) string {
		return w.Course(t, org).Connection.String()
	},
	"/courses/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.Course(t, org).ID.String()
	},
	// CRMs alone are synced.
	"/connections/{id}/sync": func(t testing.TB, w *World, org *Org) string {
		return w.CRM(t, org, "https://127.0.0.1:9").String()
	},
	"/consents/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.Make(t, org, "createAvatar")["consent"].(map[string]any)["id"].(string)
	},
	"/escalations/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.onPortal(t, org, "createEscalation")
	},
	"/events/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.Deliver(t, org)["eventId"].(string)
	},
	"/inbox/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.Make(t, org, "createInboxItem")["id"].(string)
	},
	"/inbox/rules/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.Make(t, org, "createInboxRule")["id"].(string)
	},
	"/inbox/team/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.TeamMember(t, org, TeamBody(w.n))
	},
	// One of a conversation that goes on.
	"/inbox/{id}/join": func(t testing.TB, w *World, org *Org) string {
		return w.Handoff(t, org)
	},
	"/jobs/{id}": func(t testing.TB, w *World, org *Org) string {
		o := w.Operation(t, "recoverWebhook")
		answer := w.Call(t, o, Request{
			Path: WithID(o, w.Make(t, org, "createWebhook")["id"].(string)), Key: org.New, Body: w.Body(t, o),
		})
		require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Raw)
		return answer.Data(t)["id"].(string)
	},
	// One that is over, and that a file came of.
	"/jobs/{id}/download": func(t testing.TB, w *World, org *Org) string {
		return w.imported(t, org)
	},
	"/dashboards/{id}": func(testing.TB, *World, *Org) string { return "overview" },
	"/duos/{id}": func(t testing.TB, w *World, org *Org) string {
		made := w.Make(t, org, "createDuo")["id"].(string)
		o := w.Operation(t, "goLiveDuo")
		answer := w.Call(t, o, Request{Path: WithID(o, made), Key: org.New})
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		return made
	},
	"/keys/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.Make(t, org, "createKey")["id"].(string)
	},
	"/memberships/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.Member(t, org)["membershipId"].(string)
	},
	"/people/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.Member(t, org)["id"].(string)
	},
	"/subjects/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.Subject(t, org)
	},
	"/persona-tests/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.AddTest(t, org, w.Make(t, org, "createPersona")["id"].(string), PersonaTestBody(w.n))["id"].(string)
	},
	// Of several versions, and with several memories and tests, to list.
	"/personas/{id}": func(t testing.TB, w *World, org *Org) string {
		made := w.Make(t, org, "createPersona")["id"].(string)
		o := w.Operation(t, "updatePersona")
		for range 2 {
			w.n++
			answer := w.Call(t, o, Request{Path: WithID(o, made), Key: org.New, Body: map[string]any{"name": fmt.Sprint("Mira ", w.n)}})
			require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		}
		for range 3 {
			w.Remember(t, org, made, id.NewPerson())
			w.AddTest(t, org, made, PersonaTestBody(w.n))
		}
		return made
	},
	// Of several published versions, subjects and links to cases, to list, and changed
	// since. It can be published, and its doors are open.
	"/portals/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.Entrance(t, org)
	},
	"/portals/templates/{id}/thumbnail": func(testing.TB, *World, *Org) string { return "blank" },
	"/knowledge/bases/{id}": func(t testing.TB, w *World, org *Org) string {
		b := w.Make(t, org, "createKnowledgeBase")["id"].(string)
		for range 3 {
			w.AddDocument(t, org, b)
		}
		return b
	},
	"/knowledge/documents/{id}": func(t testing.TB, w *World, org *Org) string {
		d := w.AddDocument(t, org, w.Make(t, org, "createKnowledgeBase")["id"].(string))
		w.ReadDocuments(t)
		return d
	},
	"/knowledge/gaps/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.RecordGap(t, org)
	},
	// One that was recorded.
	"/sessions/{id}/recording": func(t testing.TB, w *World, org *Org) string {
		return w.recorded(t, org)
	},
	"/sessions/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.converse(t, org).String()
	},
	// One that is ready.
	"/setup/plans/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.ReadyPlan(t, org)
	},
	"/schedules/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.Make(t, org, "createSchedule")["id"].(string)
	},
	SettingPath: func(testing.TB, *World, *Org) string { return "memory.enabled" },
	"/units/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.Unit(t, org)
	},
	"/voices/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.CloneVoice(t, org)
	},
	// Ones that can be heard.
	"/voices/{id}/preview": func(t testing.TB, w *World, org *Org) string {
		return w.TrainedVoice(t, org)
	},
	"/voices/{id}/speak": func(t testing.TB, w *World, org *Org) string {
		return w.TrainedVoice(t, org)
	},
	"/webhooks/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.Make(t, org, "createWebhook")["id"].(string)
	},
	"/webhooks/deliveries/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.Deliver(t, org)["id"].(string)
	},
	"/widgets/{id}": func(t testing.TB, w *World, org *Org) string {
		return w.Widget(t, org)["id"].(string)
	},
	"/widgets/{id}/picture": func(t testing.TB, w *World, org *Org) string {
		return w.pictured(t, org)
	},
}
