package apitest

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/crawl"
	"visavis.dev/pkg/text/extract"
)

// Part is a part of a form: a field, or a file when it has a name.
type Part struct{ Field, Name, ContentType, Text string }

// Form makes a request that sends parts.
func Form(t testing.TB, path string, key apikey.Secret, parts ...Part) Request {
	t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, p := range parts {
		h := textproto.MIMEHeader{}
		disposition := fmt.Sprintf(`form-data; name=%q`, p.Field)
		if p.Name != "" {
			disposition += fmt.Sprintf(`; filename=%q`, p.Name)
			h.Set("Content-Type", p.ContentType)
		}
		h.Set("Content-Disposition", disposition)
		out, err := w.CreatePart(h)
		require.NoError(t, err)
		_, err = out.Write([]byte(p.Text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return Request{Path: path, Key: key, Body: body.Bytes(), Header: map[string]string{"Content-Type": w.FormDataContentType()}}
}

const Guide = "The museum opens at nine in the morning. Tickets cost ten euros.\n"

func (w *World) Pack(t testing.TB, org *Org) string {
	t.Helper()
	return w.Make(t, org, "createKnowledgeBase")["id"].(string)
}

func (w *World) Upload(t testing.TB, base string, parts ...Part) Answer {
	t.Helper()
	o := w.Operation(t, "addKnowledgeDocument")
	return w.Call(t, o, Form(t, WithID(o, base), w.Acme.New, parts...))
}

func (w *World) Limit(t *testing.T, limits plan.Limits) {
	t.Helper()
	require.NoError(t, w.Directory.SetOverrides(context.Background(), w.Acme.ID, plan.Overrides{Limits: limits}))
	w.Acme.New = w.Key(w.Acme, scope.Grant{Contract: contract.Latest, FullAccess: true, Scopes: scope.All()})
	w.Acme.Old = w.Key(w.Acme, scope.Grant{Contract: contract.V20260708, FullAccess: true, Scopes: scope.All()})
}

// Page is what every address answers in these tests.
const Page = `<html><head><title>The museum</title></head><body>
	<h1>Hours</h1><p>The museum opens at nine in the morning and closes at six in the evening.</p>
	<h1>Tickets</h1><p>A ticket costs ten euros, and children come in free of charge.</p>
	<h1>Parking</h1><p>Cars park behind the building, where there is room for a hundred of them.</p></body></html>`

// AddDocument adds a document to a pack.
func (w *World) AddDocument(t testing.TB, org *Org, base string) string {
	t.Helper()
	o := w.Operation(t, "addKnowledgeDocument")
	answer := w.Call(t, o, Request{Path: WithID(o, base), Key: org.New, Body: w.Body(t, o)})
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	return answer.Data(t)["id"].(string)
}

// ReadDocuments reads every document that waits for it.
func (w *World) ReadDocuments(t testing.TB) {
	t.Helper()
	w.ReadWith(t, func(_ context.Context, url string, _ crawl.Options, each func(crawl.Page) error) error {
		return each(crawl.Page{URL: url, ContentType: "text/html", Data: []byte(Page)})
	})
}

func (w *World) ReadWith(t testing.TB, fetch knowledge.Fetch) {
	t.Helper()
	reader := &knowledge.Reader{Tenants: w.Tenants, Files: w.Files, Clock: clock.RealClock{}, Fetch: fetch, Extract: extract.Here}
	w.runJobs(t, map[job.Kind]job.Work{job.KnowledgeSync: reader.Work()})
}

// RecordGap notes a question that nobody answers.
func (w *World) RecordGap(t testing.TB, org *Org, changes ...func(*knowledge.Question)) string {
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
	return map[string]any{"name": fmt.Sprint("Pack ", n), "description": "tests", "language": "en", "embeddingConnectionId": nil}
}
