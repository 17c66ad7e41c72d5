package api_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/crawl"
	"visavis.dev/pkg/text/extract"
)

// page is what every address answers in these tests.
const page = `<html><head><title>The museum</title></head><body>
	<h1>Hours</h1><p>The museum opens at nine in the morning and closes at six in the evening.</p>
	<h1>Tickets</h1><p>A ticket costs ten euros, and children come in free of charge.</p>
	<h1>Parking</h1><p>Cars park behind the building, where there is room for a hundred of them.</p></body></html>`

// addDocument adds a document to a pack.
func (w *world) addDocument(t testing.TB, org *apitest.Org, base string) string {
	t.Helper()
	o := w.operation(t, "addKnowledgeDocument")
	answer := w.call(t, o, apitest.Request{Path: withID(o, base), Key: org.New, Body: w.body(t, o)})
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	return answer.Data(t)["id"].(string)
}

// readDocuments reads every document that waits for it.
func (w *world) readDocuments(t testing.TB) {
	t.Helper()
	w.readWith(t, func(_ context.Context, url string, _ crawl.Options, each func(crawl.Page) error) error {
		return each(crawl.Page{URL: url, ContentType: "text/html", Data: []byte(page)})
	})
}

func (w *world) readWith(t testing.TB, fetch knowledge.Fetch) {
	t.Helper()
	reader := &knowledge.Reader{Tenants: w.Tenants, Files: w.Files, Clock: clock.RealClock{}, Fetch: fetch, Extract: extract.Here}
	w.runJobs(t, map[job.Kind]job.Work{job.KnowledgeSync: reader.Work()})
}

// recordGap notes a question that nobody answers.
func (w *world) recordGap(t testing.TB, org *apitest.Org, changes ...func(*knowledge.Question)) string {
	t.Helper()
	w.n++
	q := knowledge.Question{
		Persona: id.NewPersona(), Portal: id.NewPortal(), Session: id.NewSession(), Bases: []id.KnowledgeBase{id.NewKnowledgeBase()},
		Language: "en", Text: "Do you sell gift cards?", At: time.Now().UTC().Truncate(time.Microsecond),
	}
	for _, change := range changes {
		change(&q)
	}
	var gap string
	require.NoError(t, w.Tenants.InTx(context.Background(), org.ID, func(ctx context.Context, tx *tenant.Tx) error {
		made, err := knowledge.RecordGap(ctx, tx, q, true)
		gap = made.String()
		return err
	}))
	return gap
}

func knowledgeBody(n int) map[string]any {
	return map[string]any{"name": fmt.Sprint("Pack ", n), "description": "tests", "language": "en"}
}
