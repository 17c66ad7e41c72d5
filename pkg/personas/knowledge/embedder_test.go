package knowledge_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/provider/embedding/embeddingtest"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/vector"
)

// meaning is a world whose packs have their vectors made by a service.
type meaning struct {
	*world
	service  *embeddingtest.Server
	vault    *vault.Vault
	opener   *connection.Opener
	guard    *egress.Guard
	by       id.Connection
	searcher *knowledge.Searcher
	// away has the vector of no question be made.
	away error
}

func newMeaning(t *testing.T) *meaning {
	t.Helper()
	m := &meaning{world: newWorld(t), service: embeddingtest.Serve(t)}
	m.service.Means("instruments", "sternenmess", "astrolabe", "sextant")
	m.service.Means("prices", "costs", "charge")
	roots := x509.NewCertPool()
	roots.AddCert(m.service.Certificate())
	m.guard = egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: roots})
	v, err := vault.New(vault.NewKey())
	require.NoError(t, err)
	m.vault, m.opener = v, connection.NewOpener(m.tenants, v, m.clock)
	m.by = m.connect(connection.Embedding, connection.Config{"baseUrl": m.service.URL, "model": "small"})
	e := &knowledge.Embedder{
		Tenants: m.tenants, Opener: m.opener, Egress: m.guard, Clock: m.clock,
		Report: &connection.Reporter{Tenants: m.tenants, Clock: m.clock, Log: slog.New(slog.DiscardHandler)},
	}
	m.runner.Works[job.KnowledgeEmbed] = e.Background().Works[job.KnowledgeEmbed]
	m.searcher = knowledge.NewSearcher(m.tenants, knowledge.SearcherOptions{Memory: 1 << 30, Vectors: m.vector})
	return m
}

func (m *meaning) connect(k connection.Kind, config connection.Config) id.Connection {
	m.t.Helper()
	offer, _ := connection.FindOffer(k, connection.OpenAICompatible)
	c := connection.New(offer, "vectors", config, "", m.now())
	c.State, c.TimeoutMs = connection.Active, 5000
	require.NoError(m.t, m.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Create(ctx, tx, m.vault, c, "", activity.Actor{By: "test", At: c.CreatedAt})
	}))
	return c.ID
}

// change gives the connection another config.
func (m *meaning) change(config connection.Config) {
	m.t.Helper()
	require.NoError(m.t, m.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		before, err := connection.Lock(ctx, tx, m.by)
		if err != nil {
			return err
		}
		after, _, err := before.Apply(connection.Change{Config: &config}, m.now())
		if err != nil {
			return err
		}
		return connection.Update(ctx, tx, after)
	}))
}

// vector makes the vector of a question, as a process that answers does.
func (m *meaning) vector(ctx context.Context, org id.Org, by id.Connection, text string) (vector.Space, []float32, error) {
	if m.away != nil {
		return "", nil, m.away
	}
	opened, err := m.opener.Open(ctx, org, by)
	if err != nil {
		return "", nil, err
	}
	made, err := opened.Embedder(m.guard).Embed(ctx, []string{opened.Config.QueryText(text)})
	if err != nil {
		return "", nil, err
	}
	return opened.Space(), made[0], nil
}

// embedBy says by which connection a pack's vectors are made.
func (m *meaning) embedBy(b id.KnowledgeBase, by id.Connection) error {
	return m.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		locked, err := knowledge.LockBase(ctx, tx, b)
		if err != nil {
			return err
		}
		locked.Connection = by
		return knowledge.UpdateBase(ctx, tx, locked, map[string]any{"embeddingConnectionId": by}, m.who())
	})
}

func (m *meaning) pack(b id.KnowledgeBase) knowledge.Base {
	m.t.Helper()
	found, err := knowledge.GetBase(context.Background(), m.tenants, m.one, b)
	require.NoError(m.t, err)
	return found
}

const (
	stars  = "The astrolabe hangs above the fountain, beside the sextant."
	prices = "A ticket costs nine euros; students pay five."
)

// fill reads texts of nothing in particular besides those that a question is about.
func (m *meaning) fill(b id.KnowledgeBase) {
	m.t.Helper()
	for i := range 8 {
		m.read(b, fmt.Sprintf("Room %d shows paintings of the school of %d.", i, 1700+i))
	}
	m.read(b, stars)
	m.read(b, prices)
}

const (
	asksStars = "Das Sternenmessding?"
	asksPrice = "what do you charge"
)

func TestPassagesAreFoundByWhatTheyMean(t *testing.T) {
	t.Parallel()
	m := newMeaning(t)
	b := m.base()
	m.fill(b)
	require.NotContains(t, m.find(m.searcher, asksStars, b), stars, "no word of it")
	require.NoError(t, m.embedBy(b, m.by))
	m.runDueJobs()
	pack := m.pack(b)
	require.Equal(t, pack.Chunks, pack.Embedded)
	require.True(t, pack.Embeds.IsZero())
	require.Equal(t, stars, m.find(m.searcher, asksStars, b)[0])
	require.Equal(t, prices, m.find(m.searcher, asksPrice, b)[0])
	// Another process, that read nothing yet, finds the same.
	cold := knowledge.NewSearcher(m.tenants, knowledge.SearcherOptions{Memory: 1 << 30, Vectors: m.vector})
	require.Equal(t, stars, m.find(cold, asksStars, b)[0])
	// What both say comes before what one says.
	found, err := m.searcher.Search(context.Background(), m.one, knowledge.Query{Text: "tickets: what do you charge", Bases: []id.KnowledgeBase{b}, Limit: 5})
	require.NoError(t, err)
	require.Equal(t, prices, found[0].Text)
	for _, p := range found {
		require.LessOrEqual(t, p.Score, 1.0)
	}
	// New documents have vectors too, and deleted ones have none.
	added := m.read(b, "A second sextant stands at the door.")
	m.runDueJobs()
	require.Len(t, m.find(m.searcher, asksStars, b)[:2], 2)
	require.Contains(t, m.find(m.searcher, asksStars, b)[:2], "A second sextant stands at the door.")
	before := m.count("knowledge_vector")
	m.delete(added)
	_, err = knowledge.SweepPassages(context.Background(), m.tenants, "a")
	require.NoError(t, err)
	require.Equal(t, before-1, m.count("knowledge_vector"))
}

func TestWithoutTheServiceWordsAreLeft(t *testing.T) {
	t.Parallel()
	m := newMeaning(t)
	b := m.base()
	m.fill(b)
	require.NoError(t, m.embedBy(b, m.by))
	m.runDueJobs()
	m.away = errors.New("away")
	require.NotContains(t, m.find(m.searcher, asksStars, b), stars)
	require.Equal(t, stars, m.find(m.searcher, "above the fountain", b)[0])
	m.away = nil
	found, err := m.searcher.Search(context.Background(), m.one, knowledge.Query{Text: asksStars, Bases: []id.KnowledgeBase{b}, Limit: 5, WordsAlone: true})
	require.NoError(t, err)
	for _, p := range found {
		require.NotEqual(t, stars, p.Text)
	}
}

// A service that fails is tried again with pauses, then after a longer one; the documents can be
// found by their words all the while.
func TestAServiceThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	m := newMeaning(t)
	b := m.base()
	m.fill(b)
	m.service.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	require.NoError(t, m.embedBy(b, m.by))
	for range 8 {
		m.runDueJobs()
		m.clock.Step(5 * time.Minute)
	}
	pack := m.pack(b)
	require.Equal(t, knowledge.ConnectionFailed, pack.EmbeddingError)
	require.Zero(t, pack.Embedded)
	require.True(t, pack.Embeds.IsZero())
	require.Len(t, m.service.Asked(), 5, "it is left alone")
	m.service.Answer(nil)
	m.clock.Step(15 * time.Minute)
	n, err := knowledge.EmbedDue(context.Background(), m.tenants, "a", m.now())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	m.runDueJobs()
	pack = m.pack(b)
	require.Empty(t, pack.EmbeddingError)
	require.Equal(t, pack.Chunks, pack.Embedded)
}

// A connection that has another model makes all vectors anew; until then those of before are not
// compared with questions that they cannot be compared with.
func TestAnotherModelMakesThemAnew(t *testing.T) {
	t.Parallel()
	m := newMeaning(t)
	b := m.base()
	m.fill(b)
	require.NoError(t, m.embedBy(b, m.by))
	m.runDueJobs()
	asked := len(m.service.Asked())
	m.clock.Step(time.Minute)
	m.change(connection.Config{"baseUrl": m.service.URL, "model": "large", "passagePrefix": "passage: ", "queryPrefix": "query: "})
	m.clock.Step(time.Minute)
	require.NotContains(t, m.find(m.searcher, asksStars, b), stars)
	n, err := knowledge.EmbedDue(context.Background(), m.tenants, "a", m.now())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	m.runDueJobs()
	require.Equal(t, stars, m.find(m.searcher, asksStars, b)[0])
	for _, texts := range m.service.Asked()[asked+1:] {
		for _, text := range texts {
			require.True(t, strings.HasPrefix(text, "passage: ") || strings.HasPrefix(text, "query: "), text)
		}
	}
	n, err = knowledge.EmbedDue(context.Background(), m.tenants, "a", m.now())
	require.NoError(t, err)
	require.Zero(t, n, "nothing is left to do")
}

func TestVectorsGoWithTheirConnection(t *testing.T) {
	t.Parallel()
	m := newMeaning(t)
	b := m.base()
	m.fill(b)
	require.NoError(t, m.embedBy(b, m.by))
	m.runDueJobs()
	require.NotZero(t, m.count("knowledge_vector"))
	err := m.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Delete(ctx, tx, m.by, id.Connection{}, m.who())
	})
	require.Error(t, err, "the pack uses it")
	require.NoError(t, m.embedBy(b, id.Connection{}))
	m.runDueJobs()
	require.Zero(t, m.count("knowledge_vector"))
	require.Zero(t, m.pack(b).Embedded)
	require.NotContains(t, m.find(m.searcher, asksStars, b), stars)
	require.NoError(t, m.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Delete(ctx, tx, m.by, id.Connection{}, m.who())
	}))
}

func TestOnlyEmbeddingConnectionsMakeVectors(t *testing.T) {
	t.Parallel()
	m := newMeaning(t)
	b := m.base()
	writes := m.connect(connection.Model, connection.Config{"baseUrl": m.service.URL, "model": "m"})
	invalid, ok := errors.AsType[*errdefs.Invalid](m.embedBy(b, writes))
	require.True(t, ok)
	require.Equal(t, "embeddingConnectionId", invalid.Field)
	_, ok = errors.AsType[*connection.UnusableError](m.embedBy(b, id.NewConnection()))
	require.True(t, ok)
	require.True(t, m.pack(b).Connection.IsZero())
}

// A document that is read anew while its vectors are made has those of what it says now.
func TestADocumentThatChangesMeanwhile(t *testing.T) {
	t.Parallel()
	m := newMeaning(t)
	b := m.base()
	m.fill(b)
	url := "https://museum.example/instruments"
	m.pages[url] = "Everything about birds."
	d := m.add(m.address(b, url))
	m.runDueJobs()
	changed := false
	m.service.Answer(func(w http.ResponseWriter, r *http.Request) {
		if !changed {
			changed = true
			m.pages[url] = "Every sextant is polished."
			m.readAgain(d)
			m.runDueJobs() // but for the one that waits for this answer
		}
		m.service.Answer(nil)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	require.NoError(t, m.embedBy(b, m.by))
	m.runDueJobs()
	m.clock.Step(time.Minute)
	m.runDueJobs()
	require.True(t, changed)
	pack := m.pack(b)
	require.Equal(t, pack.Chunks, pack.Embedded)
	require.Contains(t, m.find(m.searcher, asksStars, b), "Every sextant is polished.")
}

// Long documents have their vectors in several parts, each kept before the next is made.
func TestALongDocument(t *testing.T) {
	t.Parallel()
	m := newMeaning(t)
	b := m.base()
	var text strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&text, "# Chapter %d\n\nThis is what chapter %d says of painter number %d and of the school.\n\n", i, i, i)
	}
	text.WriteString("# Last\n\nEvery sextant is polished.\n")
	m.read(b, text.String())
	require.NoError(t, m.embedBy(b, m.by))
	m.advance()
	require.Equal(t, 1, m.count("knowledge_vector"), "a request is a part")
	require.Zero(t, m.pack(b).Embedded, "not before the last part is there")
	m.runDueJobs()
	pack := m.pack(b)
	require.Greater(t, pack.Chunks, int64(1000))
	require.Equal(t, pack.Chunks, pack.Embedded)
	require.EqualValues(t, (pack.Chunks+63)/64, m.count("knowledge_vector"))
	require.Contains(t, m.find(m.searcher, asksStars, b)[0], "Every sextant is polished.")
}

// A connection that changes while a long document's vectors are made has all of them made anew.
func TestAModelThatChangesMeanwhile(t *testing.T) {
	t.Parallel()
	m := newMeaning(t)
	b := m.base()
	var text strings.Builder
	text.WriteString("# First\n\nEvery sextant is polished.\n\n")
	for i := range 150 {
		fmt.Fprintf(&text, "# Chapter %d\n\nThis is what chapter %d says of painter number %d and of the school.\n\n", i, i, i)
	}
	m.read(b, text.String())
	require.NoError(t, m.embedBy(b, m.by))
	m.advance()
	m.clock.Step(time.Minute)
	m.change(connection.Config{"baseUrl": m.service.URL, "model": "large"})
	m.clock.Step(time.Minute)
	m.runDueJobs()
	pack := m.pack(b)
	require.Equal(t, pack.Chunks, pack.Embedded)
	require.Contains(t, m.find(m.searcher, asksStars, b)[0], "Every sextant is polished.")
}

// What a pack's vectors would take is seen before many are paid for, and nothing is asked again
// until the pack or the connection changes.
func TestAPackWithTooManyPassages(t *testing.T) {
	t.Parallel()
	m := newMeaning(t)
	b := m.base()
	m.fill(b)
	gone := m.read(b, "Room 9 shows nothing.")
	db, err := m.tenants.Shard(context.Background(), "a")
	require.NoError(t, err)
	passages := func(more int) {
		_, err := db.Exec(context.Background(), `UPDATE knowledge_base SET chunks = chunks + $1`, more)
		require.NoError(t, err)
	}
	passages(2_000_000)
	require.NoError(t, m.embedBy(b, m.by))
	m.runDueJobs()
	require.Equal(t, knowledge.TooManyVectors, m.pack(b).EmbeddingError)
	require.Len(t, m.service.Asked(), 1)
	m.clock.Step(time.Hour)
	n, err := knowledge.EmbedDue(context.Background(), m.tenants, "a", m.now())
	require.NoError(t, err)
	require.Zero(t, n)

	passages(-2_000_000)
	m.delete(gone)
	m.runDueJobs()
	pack := m.pack(b)
	require.Empty(t, pack.EmbeddingError)
	require.Equal(t, pack.Chunks, pack.Embedded)
}
