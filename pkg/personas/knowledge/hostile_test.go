package knowledge_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/text/extract"
	"visavis.dev/pkg/text/extract/hostile"
	"visavis.dev/pkg/text/extract/sandbox"
)

// file is a document of kind file.
func (w *world) file(b id.KnowledgeBase, contentType string, data []byte) knowledge.Document {
	w.t.Helper()
	sum := sha256.Sum256(data)
	stored, err := w.files.Put(context.Background(), w.one, contentType, data)
	require.NoError(w.t, err)
	return knowledge.Document{
		ID: id.NewDocument(), Base: b, Kind: knowledge.File, Title: "File", ContentType: contentType, Bytes: int64(len(data)),
		SHA256: sum[:], File: stored, Tags: []string{}, Refresh: knowledge.Never, CreatedAt: w.now(), UpdatedAt: w.now(),
	}
}

// Documents that took their reader's process with them fail at the first try, each with
// its code, and a healthy one among them is read.
func TestHostileDocumentsFailOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader, err := sandbox.New(2, sandbox.Default())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reader.Close()) })
	w.reader.Extract = reader.Read
	w.runner = w.newRunner()
	b := w.base()
	want := map[id.Document]knowledge.Code{}
	names := []string{
		"9 million shared strings", "a row of 28 million cells", "a row of 5 million cells", "paragraphs of HTML", "a zip bomb",
		"a million attributes", "deep JSON", "a line of CSV",
	}
	for _, d := range hostile.Documents() {
		if !slices.Contains(names, d.Name) {
			continue
		}
		code := map[error]knowledge.Code{
			extract.ErrTooLarge: knowledge.TooLarge, extract.ErrTooComplex: knowledge.TooComplex, extract.ErrUnreadable: knowledge.Unreadable,
		}[d.Fault]
		want[w.add(w.file(b, d.ContentType, d.Make()))] = code
	}
	require.Len(t, want, len(names))
	healthy := w.add(w.text(b, opening))
	w.runDueJobs()
	for d, code := range want {
		got := w.document(d)
		require.Equal(t, knowledge.Failed, got.Status)
		require.Equal(t, code, got.Error)
	}
	require.Equal(t, knowledge.Ready, w.document(healthy).Status)
	jobs, err := job.List(t.Context(), w.tenants, w.one, job.Filter{}, id.Job{}, 50)
	require.NoError(t, err)
	require.Len(t, jobs, len(names)+1)
	for _, j := range jobs {
		require.EqualValues(t, 1, j.Attempts)
	}
}

// A reader that could not be started is no fault of the document: it is read later.
func TestADocumentWaitsForItsReader(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	down := true
	w.reader.Extract = func(ctx context.Context, contentType string, size int64, document io.Reader) (extract.Document, error) {
		if down {
			return extract.Document{}, errors.New("fork: resource temporarily unavailable")
		}
		return extract.Here(ctx, contentType, size, document)
	}
	w.runner = w.newRunner()
	b := w.base()
	d, page := w.add(w.text(b, opening)), w.add(w.address(b, "https://example.com/"))
	w.pages["https://example.com/"] = opening + " It is by the river."
	for range 3 {
		require.Positive(t, w.advance())
		w.clock.Step(time.Minute)
	}
	require.Equal(t, knowledge.Processing, w.document(d).Status)
	require.Equal(t, knowledge.Processing, w.document(page).Status)
	down = false
	w.runDueJobs()
	require.Equal(t, knowledge.Ready, w.document(d).Status)
	require.Equal(t, knowledge.Ready, w.document(page).Status)
	require.NotContains(t, w.told(), event.KnowledgeDocumentFailed)
}
