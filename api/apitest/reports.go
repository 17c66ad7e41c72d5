package apitest

import (
	"testing"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/learning/report"
)

// reported is a result of an organization that reports are made of.
func (w *World) reported(t testing.TB, org *Org) string {
	t.Helper()
	k := "reported" + org.ID.String()
	if _, ok := w.Made[k]; !ok {
		w.Made[k] = w.Released(t, org)
	}
	return w.Made[k]
}

func (w *World) reportBody(t testing.TB, org *Org) map[string]any {
	return map[string]any{"kind": "result", "resultId": w.reported(t, org), "language": "German", "format": []string{"html", "pdf", "json"}[w.n%3]}
}

// Builder makes the reports of the world.
func (w *World) Builder() *report.Builder {
	return &report.Builder{Tenants: w.Tenants, Files: w.Files, Clock: clock.RealClock{}}
}

// Build makes every report that was asked for.
func (w *World) Build(t testing.TB) {
	t.Helper()
	w.runJobs(t, w.Builder().Background().Works)
}

func init() {
	Kinds["/reports/{id}"] = func(t testing.TB, w *World, org *Org) string {
		w.n++
		return w.post(t, org, "createReport", "/reports", w.reportBody(t, org))["id"].(string)
	}
	// One that is ready.
	Kinds["/reports/{id}/download"] = func(t testing.TB, w *World, org *Org) string {
		made := Kinds["/reports/{id}"](t, w, org)
		w.Build(t)
		return made
	}
}
