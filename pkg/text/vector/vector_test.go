package vector_test

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/text/vector"
)

const space vector.Space = "here"

// random is a vector of length 1, near one where that is given.
func random(r *rand.Rand, dimensions int, near []float32, noise float64) []float32 {
	v, length := make([]float32, dimensions), 0.0
	for i := range v {
		n := noise * r.NormFloat64() / math.Sqrt(float64(dimensions))
		if near != nil {
			n += float64(near[i])
		}
		v[i], length = float32(n), length+n*n
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(length))
	}
	return v
}

func product(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// filled is a set of documents with vectors, and those vectors.
func filled(r *rand.Rand, documents, passages, dimensions int) (*vector.Set, []id.Chunk, [][]float32) {
	s := vector.NewSet()
	var (
		ids     []id.Chunk
		vectors [][]float32
	)
	for range documents {
		d := id.NewDocument()
		s.Put(d, nil, "en")
		var (
			own []id.Chunk
			all [][]float32
		)
		for range passages {
			own, all = append(own, id.NewChunk()), append(all, random(r, dimensions, nil, 1))
		}
		if err := s.Add(d, space, vector.Marshal(own, all)); err != nil {
			panic(err)
		}
		ids, vectors = append(ids, own...), append(vectors, all...)
	}
	return s, ids, vectors
}

func TestTheNearestComeFirst(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s, ids, vectors := filled(r, 20, 50, 384)
	for range 20 {
		n := r.IntN(len(ids))
		q := random(r, 384, vectors[n], 1)
		found := s.Nearest(context.Background(), vector.Question{Space: space, Vector: q, Limit: 10})
		require.Len(t, found, 10)
		require.Equal(t, ids[n], found[0].Passage)
		require.Greater(t, found[0].Score, 0.4)
		require.True(t, slices.IsSortedFunc(found, func(a, b vector.Near) int { return cmp.Compare(b.Score, a.Score) }))
		exact := slices.Clone(ids)
		slices.SortFunc(exact, func(a, b id.Chunk) int {
			return cmp.Compare(product(q, vectors[slices.Index(ids, b)]), product(q, vectors[slices.Index(ids, a)]))
		})
		same := 0
		for _, near := range found {
			if slices.Contains(exact[:10], near.Passage) {
				same++
			}
		}
		require.GreaterOrEqual(t, same, 8, "a byte for each number orders nearly as whole numbers do")
	}
}

// Some models put all texts near each other: what is common says nothing.
func TestNearnessIsToldFromWhatIsCommon(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	common := random(r, 256, nil, 1)
	s, d := vector.NewSet(), id.NewDocument()
	s.Put(d, nil, "")
	var (
		ids     []id.Chunk
		vectors [][]float32
	)
	for range 200 {
		ids, vectors = append(ids, id.NewChunk()), append(vectors, random(r, 256, common, 0.5))
	}
	require.NoError(t, s.Add(d, space, vector.Marshal(ids, vectors)))
	unrelated := s.Nearest(context.Background(), vector.Question{Space: space, Vector: random(r, 256, common, 0.5), Limit: 1})
	related := s.Nearest(context.Background(), vector.Question{Space: space, Vector: random(r, 256, vectors[7], 0.2), Limit: 1})
	require.Greater(t, product(vectors[1], vectors[2]), 0.7, "all are near each other")
	require.Less(t, unrelated[0].Score, 0.35)
	require.Greater(t, related[0].Score, 0.6)
	require.Equal(t, ids[7], related[0].Passage)
}

func TestWhatIsNotAskedForIsNotFound(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	s, d := vector.NewSet(), id.NewDocument()
	v := random(r, 8, nil, 1)
	form := vector.Marshal([]id.Chunk{id.NewChunk(), id.NewChunk()}, [][]float32{v, random(r, 8, nil, 1)})
	require.NoError(t, s.Add(d, space, form), "a document that is gone takes nothing")
	require.Zero(t, s.Bytes())
	s.Put(d, []string{"a", "b"}, "de")
	require.NoError(t, s.Add(d, space, form))
	require.Equal(t, vector.Bytes(2, 8), s.Bytes())
	count := func(q vector.Question) int {
		q.Limit = 5
		return len(s.Nearest(context.Background(), q))
	}
	require.Equal(t, 2, count(vector.Question{Space: space, Vector: v}))
	require.Equal(t, 2, count(vector.Question{Space: space, Vector: v, Tags: []string{"x", "b"}, Language: "de"}))
	require.Zero(t, count(vector.Question{Space: space, Vector: v, Tags: []string{"x"}}))
	require.Zero(t, count(vector.Question{Space: space, Vector: v, Language: "en"}))
	require.Zero(t, count(vector.Question{Space: "elsewhere", Vector: v}))
	require.Zero(t, count(vector.Question{Space: space, Vector: v[:4]}))
	require.Empty(t, s.Nearest(context.Background(), vector.Question{Space: space, Vector: v}), "none are asked for")
	s.Put(d, nil, "de")
	require.Zero(t, count(vector.Question{Space: space, Vector: v}), "put anew it has none")
	require.Zero(t, s.Bytes())
}

func TestFormsThatCannotBeRead(t *testing.T) {
	s, d := vector.NewSet(), id.NewDocument()
	s.Put(d, nil, "")
	form := vector.Marshal([]id.Chunk{id.NewChunk()}, [][]float32{{1, 0}})
	for _, bad := range [][]byte{nil, {}, form[:2], form[:len(form)-1], append([]byte{9}, form[1:]...), {1, 0, 0}} {
		require.ErrorIs(t, s.Add(d, space, bad), vector.ErrForm, "%v", bad)
	}
}

// BenchmarkNearest compares with the bare products of as many numbers.
func BenchmarkNearest(b *testing.B) {
	const documents, passages, dimensions = 100, 50, 768
	r := rand.New(rand.NewPCG(7, 8))
	s, _, vectors := filled(r, documents, passages, dimensions)
	q := random(r, dimensions, nil, 1)
	b.Run("set", func(b *testing.B) {
		for b.Loop() {
			s.Nearest(context.Background(), vector.Question{Space: space, Vector: q, Limit: 32})
		}
	})
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			best := float32(0)
			for _, v := range vectors {
				sum := float32(0)
				for i, n := range q {
					sum += n * v[i]
				}
				best = max(best, sum)
			}
			if best == 2 {
				b.Fatal(best)
			}
		}
	})
}
