package knowledge_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/tenant"
)

// atOnce runs something several times at once and answers how often it did.
func atOnce(t *testing.T, n int, fn func(i int) (bool, error)) int64 {
	t.Helper()
	var (
		group sync.WaitGroup
		did   atomic.Int64
	)
	for i := range n {
		group.Go(func() {
			ok, err := fn(i)
			if err != nil {
				t.Error(err)
			}
			if ok {
				did.Add(1)
			}
		})
	}
	group.Wait()
	return did.Load()
}

func TestLimitOfPacksHoldsUnderContention(t *testing.T) {
	t.Parallel()
	w, limit := newWorld(t), int64(3)
	require.EqualValues(t, 3, atOnce(t, 8, func(int) (bool, error) {
		full := false
		err := w.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
			full, err = knowledge.InsertBase(ctx, tx, knowledge.Base{ID: id.NewKnowledgeBase(), CreatedAt: w.now()},
				terms(plan.Limits{plan.KnowledgeBases: &limit}), w.who())
			return err
		})
		return !full, err
	}))
}

func TestLimitOfDocumentsHoldsUnderContention(t *testing.T) {
	t.Parallel()
	w, limit := newWorld(t), int64(3)
	b := w.base()
	require.EqualValues(t, 3, atOnce(t, 8, func(i int) (bool, error) {
		_, outcome, err := w.tryAdd(w.text(b, fmt.Sprint("text ", i)), terms(plan.Limits{plan.DocumentsPerBase: &limit}))
		return outcome == knowledge.Added, err
	}))
	require.EqualValues(t, 3, w.figures(b)[0])
	require.Equal(t, 3, w.count("job"))
}

func TestTheSameIsAddedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.base()
	require.EqualValues(t, 1, atOnce(t, 8, func(int) (bool, error) {
		_, outcome, err := w.tryAdd(w.text(b, opening), terms(nil))
		return outcome == knowledge.Added, err
	}))
	require.EqualValues(t, 1, w.figures(b)[0])
	require.Equal(t, 1, w.count("job"))

	first, outcome, err := w.tryAdd(w.text(b, opening), terms(nil))
	require.NoError(t, err)
	require.Equal(t, knowledge.Existing, outcome)
	w.add(w.text(w.base(), opening))
	w.delete(first.ID)
	require.NotEqual(t, first.ID, w.add(w.text(b, opening)), "a deleted one is not the same")

	site := w.add(w.address(b, "https://example.com/"))
	again, outcome, err := w.tryAdd(w.address(b, "https://example.com/"), terms(nil))
	require.NoError(t, err)
	require.Equal(t, knowledge.Existing, outcome)
	require.Equal(t, site, again.ID)
}

func TestDeletingAPack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	b := w.base()
	d, waiting := w.read(b, opening), w.add(w.text(b, "another text"))
	use := func(sql string) {
		require.NoError(t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := tx.Exec(ctx, sql, w.one, b, uuid.UUID{1})
			return err
		}))
	}
	remove := func() error {
		return w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := knowledge.DeleteBase(ctx, tx, b, w.who())
			return err
		})
	}
	use(`INSERT INTO knowledge_use (org_id, base_id, user_kind, user_id) VALUES ($1, $2, 'persona', $3)`)
	require.ErrorIs(t, remove(), knowledge.BaseNoun.InUse(b, ""))
	use(`DELETE FROM knowledge_use WHERE org_id = $1 AND base_id = $2 AND user_id = $3`)
	require.NoError(t, remove())
	require.ErrorIs(t, remove(), errdefs.Gone{Noun: knowledge.BaseNoun})

	require.Empty(t, w.find(w.searcher, "museum", b))
	_, err := knowledge.GetDocument(ctx, w.tenants, w.one, d)
	require.ErrorIs(t, err, errdefs.Gone{Noun: knowledge.DocumentNoun})
	_, err = knowledge.ListDocuments(ctx, w.tenants, w.one, b, knowledge.Filter{}, id.Document{}, 10)
	require.ErrorIs(t, err, errdefs.Gone{Noun: knowledge.BaseNoun})
	_, _, err = w.tryAdd(w.text(b, "a third"), terms(nil))
	require.ErrorIs(t, err, errdefs.Gone{Noun: knowledge.BaseNoun})
	w.runDueJobs()
	_, err = knowledge.GetDocument(ctx, w.tenants, w.one, waiting)
	require.ErrorIs(t, err, errdefs.Gone{Noun: knowledge.DocumentNoun})

	for _, want := range []int{2, 0} {
		n, err := knowledge.SweepDocuments(ctx, w.tenants, w.files, "a", w.now())
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	n, err := knowledge.SweepPassages(ctx, w.tenants, "a")
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Zero(t, w.count("knowledge_chunk")+w.count("knowledge_index"))
	require.Equal(t, 2, w.count(`file WHERE state = 'deleting'`))

	for _, tt := range []struct{ days, want int }{{89, 0}, {90, 3}} {
		n, err := knowledge.Sweep(ctx, w.tenants, "a", w.now().Add(time.Duration(tt.days)*24*time.Hour))
		require.NoError(t, err)
		require.Equal(t, tt.want, n)
	}
	_, err = knowledge.GetBase(ctx, w.tenants, w.one, b)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: knowledge.BaseNoun})
	_, err = knowledge.GetDocument(ctx, w.tenants, w.one, d)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: knowledge.DocumentNoun})
}

func TestLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	b, other := w.base(), w.base()
	var all []id.Document
	for i := range 5 {
		d := w.text(b, fmt.Sprint("text ", i))
		d.Tags = []string{fmt.Sprint("tag ", i%2)}
		all = append([]id.Document{w.add(d)}, all...)
	}
	gone := w.add(w.text(b, "gone"))
	w.delete(gone)
	w.add(w.text(other, "elsewhere"))
	list := func(f knowledge.Filter, after id.Document, limit int) (ids []id.Document) {
		found, err := knowledge.ListDocuments(ctx, w.tenants, w.one, b, f, after, limit)
		require.NoError(t, err)
		for _, d := range found {
			ids = append(ids, d.ID)
		}
		return ids
	}
	require.Equal(t, all, list(knowledge.Filter{}, id.Document{}, 10))
	require.Equal(t, all[2:4], list(knowledge.Filter{}, all[1], 2))
	require.Equal(t, []id.Document{all[1], all[3]}, list(knowledge.Filter{Tag: "tag 1"}, id.Document{}, 10))
	require.Equal(t, all, list(knowledge.Filter{Status: knowledge.Processing, Kind: knowledge.Text}, id.Document{}, 10))
	require.Empty(t, list(knowledge.Filter{Status: knowledge.Ready}, id.Document{}, 10))
	require.Empty(t, list(knowledge.Filter{Kind: knowledge.File}, id.Document{}, 10))
	_, err := knowledge.ListDocuments(ctx, w.tenants, w.two, b, knowledge.Filter{}, id.Document{}, 10)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: knowledge.BaseNoun})
	bases, err := knowledge.ListBases(ctx, w.tenants, w.one, id.KnowledgeBase{}, 10)
	require.NoError(t, err)
	require.Equal(t, []id.KnowledgeBase{other, b}, []id.KnowledgeBase{bases[0].ID, bases[1].ID})
	require.Len(t, bases, 2)
	bases, err = knowledge.ListBases(ctx, w.tenants, w.one, other, 10)
	require.NoError(t, err)
	require.Len(t, bases, 1)
}
