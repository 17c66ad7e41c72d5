package search_test

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/text/search"
	"visavis.dev/pkg/text/search/searchtest"
)

func sets(t *testing.T) []searchtest.Set {
	t.Helper()
	all, err := searchtest.Load()
	require.NoError(t, err)
	return all
}

// byCounts ranks by how often a passage has the question's terms: what BM25
// has to be better than.
func byCounts(s *searchtest.Set) searchtest.Ranking {
	return func(question string) ([]id.Chunk, error) {
		scores := map[id.Chunk]int{}
		for _, d := range s.Documents {
			for _, p := range search.Analyze(s.Language, d.Passages).Passages {
				for _, q := range search.Terms(s.Language, question) {
					for _, f := range p.Terms {
						if f.Term == q.Text {
							scores[p.ID] += int(f.Count)
						}
					}
				}
			}
		}
		return slices.SortedFunc(maps.Keys(scores), func(a, b id.Chunk) int {
			return cmp.Or(scores[b]-scores[a], bytes.Compare(a[:], b[:]))
		}), nil
	}
}

func TestRankingOfTheQuestionSet(t *testing.T) {
	t.Parallel()

	var ours, counted, n float64
	var known, unknown []float64
	for _, s := range sets(t) {
		x := s.Index()
		for name, half := range map[string][]searchtest.Question{"tune": s.Tune(), "test": s.Test()} {
			mine, count, err := searchtest.NDCG(half, searchtest.Ours(x, s.Language))
			require.NoError(t, err)
			trivial, _, err := searchtest.NDCG(half, byCounts(&s))
			require.NoError(t, err)
			high, low := searchtest.Supports(half, x, s.Language)
			t.Logf("%s %s: nDCG@10 %.3f, by counts %.3f, AUC %.3f", s.Language, name, mine, trivial, searchtest.AUC(high, low))
			if name == "test" {
				ours += mine * float64(count)
				counted += trivial * float64(count)
				n += float64(count)
				known, unknown = append(known, high...), append(unknown, low...)
			}
		}
	}
	t.Logf("test half: nDCG@10 %.3f, by counts %.3f, AUC %.3f", ours/n, counted/n, searchtest.AUC(known, unknown))
	require.GreaterOrEqual(t, ours, counted)
	require.Greater(t, searchtest.AUC(known, unknown), 0.5, "support says nothing")
}

func TestTheSetIsLargeEnough(t *testing.T) {
	t.Parallel()

	questions, passages := 0, map[string]int{}
	for _, s := range sets(t) {
		questions += len(s.Questions)
		for _, d := range s.Documents {
			passages[s.Language] += len(d.Passages)
		}
	}
	require.GreaterOrEqual(t, questions, 120)
	require.GreaterOrEqual(t, passages["en"], 150)
}
