package embedding_test

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/embedding"
	"visavis.dev/pkg/provider/embedding/embeddingtest"
	"visavis.dev/pkg/provider/upstream"
)

func client(s *embeddingtest.Server) embedding.Client {
	return embedding.Client{HTTP: s.Client(), BaseURL: s.URL + "/v1/", Model: "small", Secrets: []string{"old", "new"}}
}

func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestVectorsComeInTheOrderOfTheTexts(t *testing.T) {
	s := embeddingtest.Serve(t)
	s.Means("dog", "dog", "hund")
	got, err := client(s).Embed(t.Context(), []string{"my dog", "the weather", "mein Hund"})
	require.NoError(t, err)
	require.Len(t, got, 3)
	for _, v := range got {
		require.InDelta(t, 1, math.Sqrt(cosine(v, v)), 1e-5)
	}
	require.Greater(t, cosine(got[0], got[2]), 0.7)
	require.Less(t, cosine(got[0], got[1]), 0.5)
	require.Equal(t, []string{"Bearer old"}, s.Keys())
}

func TestARefusedSecretIsFollowedByTheNext(t *testing.T) {
	s := embeddingtest.Serve(t)
	s.Answer(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer old" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{"data": [{"index": 0, "embedding": [0, 2]}]}`)
	})
	got, err := client(s).Embed(t.Context(), []string{"one"})
	require.NoError(t, err)
	require.Equal(t, [][]float32{{0, 1}}, got)
	require.Equal(t, []string{"Bearer old", "Bearer new"}, s.Keys())
}

func TestAnswersThatAreNoVectorsAreMalformed(t *testing.T) {
	s := embeddingtest.Serve(t)
	for _, answer := range []string{
		`{}`, `[]`, `{"data": null}`, `no JSON`,
		`{"data": [{"index": 0, "embedding": [1, 0]}]}`,
		`{"data": [{"index": 0, "embedding": [1, 0]}, {"index": 0, "embedding": [1, 0]}]}`,
		`{"data": [{"index": 0, "embedding": [1, 0]}, {"index": 2, "embedding": [1, 0]}]}`,
		`{"data": [{"index": 0, "embedding": [1, 0]}, {"index": -1, "embedding": [1, 0]}]}`,
		`{"data": [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [1]}]}`,
		`{"data": [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [0, 0]}]}`,
		`{"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]}`,
		`{"data": [{"index": 0, "embedding": [1e39]}, {"index": 1, "embedding": [1]}]}`,
		`{"data": [{"index": 0, "embedding": [1` + strings.Repeat(",1", embedding.MaxDimensions) + `]}, {"index": 1, "embedding": [1` + strings.Repeat(",1", embedding.MaxDimensions) + `]}]}`,
	} {
		s.Answer(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) })
		_, err := client(s).Embed(t.Context(), []string{"one", "two"})
		require.Equal(t, upstream.Malformed, upstream.CodeOf(err), answer[:min(len(answer), 100)])
	}
	s.Answer(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data": [{"index": 0, "embedding": [1, 0]}]}`)
	})
	c := client(s)
	c.Dimensions = 3
	_, err := c.Embed(t.Context(), []string{"one"})
	require.Equal(t, upstream.Malformed, upstream.CodeOf(err), "as many numbers as were asked for")
}
