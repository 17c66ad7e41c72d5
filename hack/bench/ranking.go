package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/text/search/searchtest"
)

// textSearches are PostgreSQL's configurations for the question set; it has
// none for Japanese.
var textSearches = map[string]string{"en": "english", "de": "german", "fr": "french", "es": "spanish"}

// normalizations are the ways ts_rank can hold length against a passage. The
// one that is best on the tune half is measured, as our own constants are.
var normalizations = []int{0, 1, 2, 16, 1 | 16}

// mean is an average that grows.
type mean struct{ sum, n float64 }

func (m *mean) add(value float64, n int) { m.sum, m.n = m.sum+value*float64(n), m.n+float64(n) }
func (m *mean) value() float64           { return m.sum / m.n }

// ranking measures nDCG@10 on the test half of the question set, ours and
// PostgreSQL's, and how well Support tells questions that the pack answers from
// those it does not.
func ranking(ctx context.Context, f *fixture) error {
	conn, err := pgx.Connect(ctx, f.shardURL)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	sets, err := searchtest.Load()
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "CREATE TEMPORARY TABLE passages (language TEXT, id UUID, words TSVECTOR)"); err != nil {
		return err
	}
	var ours, theirs mean
	var answerable, not []float64
	for i := range sets {
		s := &sets[i]
		x := s.Index()
		mine, n, err := searchtest.NDCG(s.Test(), searchtest.Ours(x, s.Language))
		if err != nil {
			return err
		}
		high, low := searchtest.Supports(s.Test(), x, s.Language)
		answerable, not = append(answerable, high...), append(not, low...)
		line := []figure{{mine, "ndcg@10"}, {searchtest.AUC(high, low), "support-auc"}}
		if configuration, ok := textSearches[s.Language]; ok {
			other, err := plainTextSearch(ctx, conn, s, configuration)
			if err != nil {
				return err
			}
			ours.add(mine, n)
			theirs.add(other, n)
			line = append(line, figure{other, "tsvector-ndcg@10"}, figure{mine / other, "ndcg-x"})
		}
		report("Ranking/"+s.Language, n, line...)
	}
	report("Ranking/all", int(ours.n), figure{ours.value(), "ndcg@10"}, figure{searchtest.AUC(answerable, not), "support-auc"},
		figure{theirs.value(), "tsvector-ndcg@10"}, figure{ours.value() / theirs.value(), "ndcg-x"})
	return nil
}

// plainTextSearch is the nDCG@10 of to_tsvector and ts_rank on the test half,
// any of the question's words matching, in the documents' own language.
func plainTextSearch(ctx context.Context, conn *pgx.Conn, s *searchtest.Set, configuration string) (float64, error) {
	for _, d := range s.Documents {
		for _, p := range d.Passages {
			if _, err := conn.Exec(ctx, "INSERT INTO passages VALUES ($1, $2, to_tsvector($3::regconfig, $4))",
				s.Language, p.ID, configuration, p.Heading+"\n"+p.Text); err != nil {
				return 0, fmt.Errorf("passage: %w", err)
			}
		}
	}
	rankBy := func(normalization int) searchtest.Ranking {
		return func(question string) ([]id.Chunk, error) {
			rows, err := conn.Query(ctx, `
				WITH asked AS (
					SELECT to_tsquery('simple', coalesce(string_agg(quote_literal(word), ' | '), '')) AS query
					FROM unnest(tsvector_to_array(to_tsvector($2::regconfig, $3))) AS word
				)
				SELECT id FROM passages, asked WHERE language = $1 AND words @@ query
				ORDER BY ts_rank(words, query, $4) DESC, id LIMIT $5`,
				s.Language, configuration, question, normalization, searchtest.Depth)
			if err != nil {
				return nil, err
			}
			return pgx.CollectRows(rows, pgx.RowTo[id.Chunk])
		}
	}
	best, chosen := -1.0, 0
	for _, n := range normalizations {
		value, _, err := searchtest.NDCG(s.Tune(), rankBy(n))
		if err != nil {
			return 0, err
		}
		if value > best {
			best, chosen = value, n
		}
	}
	value, _, err := searchtest.NDCG(s.Test(), rankBy(chosen))
	return value, err
}
