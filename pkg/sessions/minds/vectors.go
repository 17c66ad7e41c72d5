package minds

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/lru"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/text/vector"
)

const (
	// embedsWithin is how long somebody's question waits for its vector; a connection's own
	// limit can be less.
	embedsWithin = time.Second
	// maxVectors is how many questions' vectors are remembered: some 16 KiB each at most.
	maxVectors = 2000
	// maxQuestion bounds what is told of a question, in bytes.
	maxQuestion = 2000
)

// errEmbeddingPaused says that a service failed again and again and is left alone for a while.
var errEmbeddingPaused = errors.New("the embedding connection is left alone for a while")

// vectors are the vectors of questions, of this process: the same question is asked of several
// packs, and by many people. Of the questions nothing but a hash is kept.
type vectors struct {
	known lru.Cache[vectorKey, []float32]
	asks  singleflight.Group
}

type vectorKey struct {
	space vector.Space
	text  [sha256.Size]byte
}

func newVectors() *vectors {
	known, err := lru.New[vectorKey, []float32](maxVectors)
	if err != nil {
		panic(err) // the size is positive
	}
	return &vectors{known: known}
}

// vector implements knowledge.Vectors.
func (m *Minds) vector(ctx context.Context, org id.Org, by id.Connection, text string) (vector.Space, []float32, error) {
	opened, err := m.Connections.Open(ctx, org, by)
	if err != nil {
		return "", nil, err
	}
	text = strings.ToValidUTF8(text[:min(len(text), maxQuestion)], "")
	key := vectorKey{opened.Space(), sha256.Sum256([]byte(text))}
	if known, ok := m.vectors.known.Get(key); ok {
		return key.space, known, nil
	}
	asked := m.vectors.asks.DoChan(string(key.space)+string(key.text[:]), func() (any, error) {
		return m.embed(context.WithoutCancel(ctx), &opened, key, text)
	})
	select {
	case r := <-asked:
		v, _ := r.Val.([]float32)
		return key.space, v, r.Err
	case <-ctx.Done():
		return "", nil, ctx.Err()
	}
}

// embed asks the service. Who asked may have left: what comes is remembered all the same.
func (m *Minds) embed(ctx context.Context, by *connection.Opened, key vectorKey, text string) ([]float32, error) {
	report, ok := m.Calls(by.Org, by.ID, m.Breaker(by), "embeddings").Allow()
	if !ok {
		return nil, errEmbeddingPaused
	}
	ctx, cancel := context.WithTimeout(ctx, min(embedsWithin, by.Timeout()))
	defer cancel()
	began := m.options.Clock.Now()
	made, err := by.Embedder(m.options.Egress).Embed(ctx, []string{by.Config.QueryText(text)})
	report(err, m.options.Clock.Since(began))
	if err != nil {
		return nil, err
	}
	m.vectors.known.Add(key, made[0])
	return made[0], nil
}
