package apitest

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/portals/setup"
	"visavis.dev/pkg/text/crawl"
	"visavis.dev/pkg/text/extract"
)

// PlanBody is a good body with every property of a plan that needs nothing to be
// there before; templateKey is one that every plan includes.
func PlanBody(n int) map[string]any {
	return map[string]any{
		"url": fmt.Sprint("https://127.0.0.1:9/museum/", n), "brief": fmt.Sprint("Answer what visitors of our museum ask, number ", n),
		"documentIds": []any{}, "templateKey": "blank", "audience": "visitors", "languages": []any{"en", "German"}, "goals": []any{"know the hours"},
	}
}

// PlanChange is a good change of every property of a proposal.
func PlanChange(n int) map[string]any {
	words := func(text string) map[string]any { return map[string]any{"en": text, "German": text + " (auf Deutsch)"} }
	return map[string]any{"proposal": map[string]any{
		"templateKey": "blank", "name": fmt.Sprint("Museum ", n), "languages": []any{"en", "German"},
		"persona": map[string]any{"role": "The museum's guide", "greeting": words("Hello"), "instructions": "Be brief."},
		"subjects": []any{map[string]any{
			"title": fmt.Sprint("Hours ", n), "kind": "topic", "objectives": []any{map[string]any{"key": "hours", "text": words("Know the hours")}}, "content": lesson(),
		}},
		"knowledge": []any{map[string]any{"title": "The museum", "url": "https://127.0.0.1:9/museum", "documentId": nil}},
	}}
}

// CastBody chooses who speaks on what a plan is made into, but for personaId, which
// leaves no place for a face.
func CastBody(n int) map[string]any {
	faces := avatar.NewLibrary().Faces()
	return map[string]any{"avatarId": faces[n%len(faces)].ID.String(), "voiceId": StudioVoice}
}

// FillBody is a good body with every property of what a portal is filled with.
func FillBody(n int) map[string]any {
	return map[string]any{
		"sections": []any{"subjects", "knowledge", "texts", "questions"},
		"source": map[string]any{
			"url": fmt.Sprint("https://127.0.0.1:9/museum/", n), "documentIds": []any{}, "brief": "What visitors of our museum ask",
		},
	}
}

// ReadyPlan makes a plan that is worked out.
func (w *World) ReadyPlan(t testing.TB, org *Org) string {
	t.Helper()
	w.n++
	made := w.Require(t, org, "createSetupPlan", "", http.StatusAccepted, PlanBody(w.n))["id"].(string)
	w.SetUp(t)
	require.Equal(t, "ready", w.CallAs(t, "getSetupPlan", made, org.New, nil).Data(t)["state"])
	return made
}

// SetUp makes every job that plans or fills portals and waits for it. Every address
// answers the page.
func (w *World) SetUp(t testing.TB) {
	t.Helper()
	gallery, err := template.Load()
	require.NoError(t, err)
	from := setup.Sources{Tenants: w.Tenants, Extract: extract.Here, Fetch: func(_ context.Context, url string, _ crawl.Options, each func(crawl.Page) error) error {
		return each(crawl.Page{URL: url, ContentType: "text/html", Data: []byte(Page)})
	}}
	scribe := &setup.ModelWriter{Tenants: w.Tenants, Opener: w.Connections, Report: &connection.Reporter{}, Egress: w.Egress, Clock: clock.RealClock{}}
	terms := func(ctx context.Context, org id.Org) (plan.Terms, error) {
		o, err := w.Directory.Organization(ctx, org)
		return w.Plans.Terms(o.Plan, o.Overrides), err
	}
	w.runJobs(t, map[job.Kind]job.Work{
		job.PortalPlan: (&setup.Planner{Sources: from, Scribe: scribe, Gallery: gallery, Terms: terms}).Work(),
		job.PortalFill: (&setup.Builder{
			Sources: from, Scribe: scribe, Gallery: gallery, Library: avatar.NewLibrary(), Terms: terms,
			Addresses: &portal.Addresses{Directory: w.Directory, Tenants: w.Tenants, Clock: clock.RealClock{}},
		}).Work(),
	})
}

// Require is the data of a good answer.
func (w *World) Require(t testing.TB, org *Org, operation, on string, status int, body any) map[string]any {
	t.Helper()
	answer := w.CallAs(t, operation, on, org.New, body)
	require.Equal(t, status, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}
