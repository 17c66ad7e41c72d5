package knowledge

import (
	"context"
	"slices"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/text/lexicon"
	"visavis.dev/pkg/text/search"
)

// SearchExplanation says why passages were found, and others not.
type SearchExplanation struct {
	Understood []UnderstoodQuery `json:"understood" doc:"The words of the query that mean something known, with what they mean; the others are looked for as they are."`
	MinScore   float64           `json:"minScore" doc:"The least score that a passage was to have."`
	GroundedAt float64           `json:"groundedAt" doc:"The score from which a passage is taken to answer the question."`
	LeftOut    []LeftOutPassage  `json:"leftOut" doc:"The next best passages that are not among the results, 20 at most."`
}

// UnderstoodQuery is a stretch of a query and what it means.
type UnderstoodQuery struct {
	Words    string   `json:"words" doc:"The stretch of the query."`
	Concepts []string `json:"concepts" doc:"The concepts that it was taken for, by their names."`
	Sure     float64  `json:"sure" doc:"How sure that is: 1 for a word of the lexicon, less for a part of a compound or a slip."`
}

// LeftOutPassage is a passage that was found and is no result.
type LeftOutPassage struct {
	DocumentID id.Document `json:"documentId" doc:"The document that it is from."`
	ChunkID    id.Chunk    `json:"chunkId" doc:"The passage, by id."`
	Title      string      `json:"title" doc:"The document's title."`
	Heading    *string     `json:"heading" doc:"The heading that it stands under; null for none."`
	Score      float64     `json:"score" doc:"Its score, as of a result."`
	Reason     string      `json:"reason" enum:"below_min_score,beyond_limit" doc:"Why it was left out."`
}

// maxLeftOut is how many passages are shown that were left out.
const maxLeftOut = 20

// explain says why a search found what it did; nil where nobody asked.
func (a *API) explain(ctx context.Context, c *route.Call, asked bool, q knowledge.Query, found []knowledge.Passage) (*SearchExplanation, error) {
	if !asked {
		return nil, nil
	}
	why := SearchExplanation{Understood: []UnderstoodQuery{}, MinScore: q.MinScore, GroundedAt: knowledge.Grounded, LeftOut: []LeftOutPassage{}}
	for _, m := range search.Understand(q.Language, q.Text) {
		u := UnderstoodQuery{Words: q.Text[m.From:m.To], Concepts: []string{}, Sure: m.Sure}
		for _, concept := range m.Concepts {
			u.Concepts = append(u.Concepts, lexicon.Concepts()[concept].Key)
		}
		why.Understood = append(why.Understood, u)
	}
	least := q.MinScore
	q.MinScore, q.Limit = 0, len(found)+maxLeftOut
	all, err := a.Searcher.Search(ctx, c.Org(), q)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if slices.ContainsFunc(found, func(had knowledge.Passage) bool { return had.Chunk == p.Chunk }) {
			continue
		}
		left := LeftOutPassage{DocumentID: p.Document, ChunkID: p.Chunk, Title: p.Title, Heading: orNull(p.Heading), Score: p.Score, Reason: "beyond_limit"}
		if p.Score < least {
			left.Reason = "below_min_score"
		}
		why.LeftOut = append(why.LeftOut, left)
	}
	return &why, nil
}
