package minds_test

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/provider/embedding/embeddingtest"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/minds"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
	"visavis.dev/pkg/text/extract"
	"visavis.dev/pkg/text/extract/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Become()
	databasetest.Main(m)
}

// A question's vector is asked for once, however many packs and people want it, and a service that
// is slow or failing holds nobody up.
func TestQuestionsAreFoundByWhatTheyMean(t *testing.T) {
	tenants, _, org, _ := tenanttest.NewTraced(t)
	service := embeddingtest.Serve(t)
	service.Means("instruments", "sternenmess", "astrolabe")
	roots := x509.NewCertPool()
	roots.AddCert(service.Certificate())
	v, err := vault.New(vault.NewKey())
	require.NoError(t, err)
	guard := egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: roots})
	m := minds.New(minds.Options{Tenants: tenants, Vault: v, Egress: guard, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler)})
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { _ = bucket.Close() })
	files := file.New(bucket, tenants, clock.RealClock{})
	who := activity.Actor{By: "test", At: time.Now().UTC().Add(-time.Minute)}
	offer, _ := connection.FindOffer(connection.Embedding, connection.OpenAICompatible)
	by := connection.New(offer, "vectors", connection.Config{"baseUrl": service.URL, "model": "small"}, "", who.At)
	by.TimeoutMs = 30_000
	packs := []id.KnowledgeBase{id.NewKnowledgeBase(), id.NewKnowledgeBase()}
	inTx := func(fn func(context.Context, *tenant.Tx) error) {
		t.Helper()
		require.NoError(t, tenants.InTx(t.Context(), org, fn))
	}
	inTx(func(ctx context.Context, tx *tenant.Tx) error { return connection.Create(ctx, tx, v, by, "", who) })
	for _, pack := range packs {
		inTx(func(ctx context.Context, tx *tenant.Tx) error {
			b := knowledge.Base{ID: pack, Name: "Pack", CreatedAt: who.At, UpdatedAt: who.At, Embedding: knowledge.Embedding{Connection: by.ID}}
			_, err := knowledge.InsertBase(ctx, tx, b, plan.Terms{}, who)
			return err
		})
		for i := range 6 {
			text := fmt.Sprintf("Room %d shows paintings.", i)
			if i == 5 {
				text = "The astrolabe hangs above the fountain."
			}
			sum := sha256.Sum256([]byte(text))
			stored, err := files.Put(t.Context(), org, "text/plain", []byte(text))
			require.NoError(t, err)
			inTx(func(ctx context.Context, tx *tenant.Tx) error {
				d := knowledge.Document{
					ID: id.NewDocument(), Base: pack, Kind: knowledge.Text, Title: "Title", ContentType: "text/plain", Bytes: int64(len(text)),
					SHA256: sum[:], File: stored, Tags: []string{}, Refresh: knowledge.Never, CreatedAt: who.At, UpdatedAt: who.At,
				}
				if _, _, err := knowledge.Add(ctx, tx, d, plan.Terms{}, who); err != nil {
					return err
				}
				return files.Keep(ctx, tx, stored)
			})
		}
	}
	reader := &knowledge.Reader{Tenants: tenants, Files: files, Extract: extract.Here, Clock: clock.RealClock{}}
	embedder := &knowledge.Embedder{Tenants: tenants, Opener: m.Connections, Egress: guard, Report: m.Reporter, Clock: clock.RealClock{}}
	runner := &job.Runner{
		Tenants: tenants, Works: map[job.Kind]job.Work{
			job.KnowledgeSync: reader.Work(), job.KnowledgeEmbed: embedder.Background().Works[job.KnowledgeEmbed],
		},
		Shards: func(context.Context) ([]string, error) { return []string{"a"}, nil }, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
	}
	for made := 1; made > 0; {
		made, err = runner.Advance(t.Context(), "a")
		require.NoError(t, err)
	}
	asked := len(service.Asked())
	ask := func(text string) []conversation.Passage {
		found, err := m.Knowledge(org).Search(t.Context(), conversation.Query{Text: text, Bases: packs, Limit: 2})
		require.NoError(t, err)
		return found
	}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			found := ask("Das Sternenmessding?")
			if len(found) != 2 || found[0].Text != "The astrolabe hangs above the fountain." || found[1].Text != found[0].Text {
				t.Error(found)
			}
		})
	}
	all.Wait()
	require.Len(t, service.Asked(), asked+1)

	// Agents cost nobody anything.
	found, err := m.Knowledge(org).Search(t.Context(), conversation.Query{Text: "Ein Sternenmessding bitte", Bases: packs, Limit: 2, WordsAlone: true})
	require.NoError(t, err)
	require.Empty(t, found)
	require.Len(t, service.Asked(), asked+1)

	hangs := make(chan struct{})
	service.Answer(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hangs:
		case <-r.Context().Done():
		}
	})
	began := time.Now()
	require.NotEmpty(t, ask("Where is the fountain, and when?"), "words are left")
	require.Less(t, time.Since(began), 20*time.Second)
	require.Len(t, service.Asked(), asked+2, "it is asked once, for both packs")
	close(hangs)
	service.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	asked = len(service.Asked())
	for i := range 8 {
		require.NotEmpty(t, ask(fmt.Sprint("Where is the fountain number ", i)))
	}
	require.Len(t, service.Asked(), asked, "a service that failed is left alone")
}
