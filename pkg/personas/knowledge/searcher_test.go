package knowledge_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/tenant"
)

// Two searchers, as of two processes, see each other's changes at once.
func TestSearchersSeeEveryChangeAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.base()
	second := knowledge.NewSearcher(w.tenants, knowledge.SearcherOptions{Memory: 1 << 30})
	both := func(want ...string) {
		t.Helper()
		for _, s := range []*knowledge.Searcher{w.searcher, second} {
			require.Equal(t, want, w.find(s, "museum", b))
		}
	}
	both()
	d := w.read(b, opening)
	both(opening)
	other := w.read(b, "Tickets of the museum cost ten euros.")
	require.Len(t, w.find(w.searcher, "museum", b), 2)
	w.delete(d)
	both("Tickets of the museum cost ten euros.")
	w.delete(other)
	both()
}

func TestSearchByTags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.base()
	d := w.read(b, opening)
	find := func(tags ...string) int {
		found, err := w.searcher.Search(context.Background(), w.one, knowledge.Query{Text: "museum", Bases: []id.KnowledgeBase{b}, Tags: tags, Limit: 5})
		require.NoError(t, err)
		return len(found)
	}
	require.Equal(t, 1, find())
	require.Zero(t, find("visit"))
	require.NoError(t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		locked, err := knowledge.LockDocument(ctx, tx, d)
		if err != nil {
			return err
		}
		locked.Tags = []string{"visit"}
		return knowledge.UpdateDocument(ctx, tx, locked, nil, w.who())
	}))
	require.Equal(t, 1, find("visit", "other"))
	require.Zero(t, find("other"))
}

func TestSearchingSeveralPacks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two, empty := w.base(), w.base(), w.base()
	w.read(one, opening)
	w.read(two, "Tickets cost ten euros.")
	ctx := context.Background()
	q := knowledge.Query{Text: "What do tickets of the museum cost?", Limit: 5,
		Bases: []id.KnowledgeBase{one, two, one, empty, id.NewKnowledgeBase()}}
	found, err := w.searcher.Search(ctx, w.one, q)
	require.NoError(t, err)
	require.Len(t, found, 2, "each passage once, and packs that are not there have none")
	require.Equal(t, two, found[0].Base)
	for i, p := range found {
		require.GreaterOrEqual(t, p.Score, 0.0)
		require.LessOrEqual(t, p.Score, 1.0)
		if i > 0 {
			require.LessOrEqual(t, p.Score, found[i-1].Score)
		}
	}
	q.MinScore = found[0].Score
	best, err := w.searcher.Search(ctx, w.one, q)
	require.NoError(t, err)
	require.Len(t, best, 1)
	foreign, err := w.searcher.Search(ctx, w.two, q)
	require.NoError(t, err)
	require.Empty(t, foreign, "another organization's")
}

func TestWhatASearchIsGroundedIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.base()
	for i := range 20 {
		w.read(b, fmt.Sprintf("Room %d of the museum shows paintings of the century number %d.", i, i))
	}
	w.read(b, opening)
	for question, grounded := range map[string]bool{
		"When does the museum open in the morning?":           true,
		"How do I reset the password of my bank account?":     false,
		"Does the museum sell insurance for motorcycle trips": false,
	} {
		found, err := w.searcher.Search(context.Background(), w.one, knowledge.Query{Text: question, Bases: []id.KnowledgeBase{b}, Limit: 5})
		require.NoError(t, err)
		require.Equal(t, grounded, len(found) > 0 && found[0].Score >= knowledge.Grounded, "%s: %+v", question, found)
	}
}

// A searcher with room for one pack answers from many.
func TestPacksThatDoNotFitAreReadAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	small := knowledge.NewSearcher(w.tenants, knowledge.SearcherOptions{Memory: 4 << 10})
	var bases []id.KnowledgeBase
	for i := range 3 {
		b := w.base()
		w.read(b, fmt.Sprintf("The museum number %d.", i))
		bases = append(bases, b)
	}
	for range 2 {
		for i, b := range bases {
			require.Equal(t, []string{fmt.Sprintf("The museum number %d.", i)}, w.find(small, "museum", b))
		}
	}
	require.Len(t, w.find(small, "museum", bases...), 3)
}

// zebra is another word for each number.
func zebra(i int) string { return "zebra" + strings.Repeat("k", i+1) }

// Whoever searches while documents come finds each from the moment on that it
// is said to be ready.
func TestSearchingBesideReading(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.base()
	second := knowledge.NewSearcher(w.tenants, knowledge.SearcherOptions{Memory: 1 << 30})
	const documents = 12
	for i := range documents {
		word := zebra(i)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 5 {
				_ = w.find(second, word, b)
			}
		}()
		w.read(b, "This one is about "+word+".")
		require.Len(t, w.find(w.searcher, word, b), 1)
		<-done
		require.Len(t, w.find(second, word, b), 1)
	}
	require.Zero(t, atOnce(t, 8, func(i int) (bool, error) {
		return len(w.find(knowledge.NewSearcher(w.tenants, knowledge.SearcherOptions{Memory: 1 << 30}), zebra(i), b)) != 1, nil
	}))
	shared := knowledge.NewSearcher(w.tenants, knowledge.SearcherOptions{Memory: 1 << 30})
	require.Zero(t, atOnce(t, 8, func(i int) (bool, error) { return len(w.find(shared, zebra(i), b)) != 1, nil }))
}

// A stored form of another release is analysed anew.
func TestAFormOfAnotherRelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.base()
	w.read(b, opening)
	db, err := w.tenants.Shard(context.Background(), "a")
	require.NoError(t, err)
	_, err = db.Exec(context.Background(), `UPDATE knowledge_index SET form = '\x00'`)
	require.NoError(t, err)
	require.Equal(t, []string{opening}, w.find(w.searcher, "museum", b))
}

// While pods are replaced, and after a rollback, each release finds what the other one
// read, and nothing that was deleted.
func TestTheReleaseBeforeReadsDocumentsToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.base()
	db, err := w.tenants.Shard(context.Background(), "a")
	require.NoError(t, err)
	exec := func(sql string) {
		tag, err := db.Exec(context.Background(), sql)
		require.NoError(t, err)
		require.Positive(t, tag.RowsAffected())
	}
	const selectForms = `knowledge_terms t JOIN knowledge_document d ON d.org_id = t.org_id AND d.id = t.document_id WHERE t.analysed = '\x00'`
	d := w.read(b, opening)
	require.Equal(t, 1, w.count(selectForms), "a form that it analyses anew")

	// The release before writes its passages, and its form elsewhere.
	exec(`DELETE FROM knowledge_index`)
	exec(`UPDATE knowledge_terms SET analysed = '\x0142'`)
	require.Equal(t, []string{opening}, w.find(w.searcher, "museum", b))
	w.read(b, "Tickets of the museum cost ten euros.")
	require.Len(t, w.find(w.searcher, "museum", b), 2)
	require.Len(t, w.find(knowledge.NewSearcher(w.tenants, knowledge.SearcherOptions{Memory: 1 << 30}), "museum", b), 2)

	w.delete(d)
	require.Len(t, w.find(w.searcher, "museum", b), 1)
	require.Equal(t, 1, w.count("knowledge_terms"))
	require.Equal(t, 1, w.count(selectForms))
}
