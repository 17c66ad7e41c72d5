package knowledge

import (
	"context"
	"strings"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/text/search"
)

// SearchInput is a question to a pack.
type SearchInput struct {
	BasePath
	Body SearchQuery
}

// SearchQuery is what to find.
type SearchQuery struct {
	Query            string   `json:"query" minLength:"1" maxLength:"1000" doc:"What to find: a question or a few words."`
	Limit            *int     `json:"limit,omitempty" minimum:"1" maximum:"20" doc:"How many passages at most; 5 unless given."`
	Language         *string  `json:"language,omitempty" minLength:"1" maxLength:"80" doc:"The question's, by code or name; the pack's unless given."`
	DocumentLanguage *string  `json:"documentLanguage,omitempty" minLength:"1" maxLength:"80" doc:"Only documents in this language, by code or name."`
	Tags             []string `json:"tags,omitempty" maxItems:"20" doc:"Only documents with one of them."`
	MinScore         *float64 `json:"minScore,omitempty" minimum:"0" maximum:"1" doc:"The least score of a passage, from 0 to 1; any when left out."`
	Explain          bool     `json:"explain,omitempty" doc:"Whether to say why these passages were found, and others not."`
}

// SearchResults are the passages that were found, best first.
type SearchResults struct {
	Query    string             `json:"query" doc:"What was searched for, as it was sent."`
	Results  []SearchResult     `json:"results" doc:"The passages that were found, best first."`
	TookMs   int64              `json:"tookMs" doc:"How long the search took, in milliseconds."`
	Grounded bool               `json:"grounded" doc:"Whether the best passage is taken to answer the question."`
	Explain  *SearchExplanation `json:"explain,omitempty" doc:"Why these were found, and others not; only where that was asked for."`
}

// SearchResult is one passage.
type SearchResult struct {
	DocumentID id.Document `json:"documentId" doc:"The document that it is from."`
	ChunkID    id.Chunk    `json:"chunkId" doc:"The passage, by id."`
	Title      string      `json:"title" doc:"The document's title."`
	Heading    *string     `json:"heading" doc:"The heading that it stands under; null for none."`
	Text       string      `json:"text" doc:"The passage's words."`
	Score      float64     `json:"score" minimum:"0" maximum:"1" doc:"How much of the question the passage covers, and how well."`
	Highlights []Highlight `json:"highlights" doc:"The stretches of text that fit the query."`
	Language   *string     `json:"language" doc:"The passage's language, as a code; null where it is not known."`
	Page       *int64      `json:"page" doc:"The page that it is on, from 1; null where the document has no pages."`
	URL        *string     `json:"url" doc:"The address that the document was read from; null for a file or a text."`
	Position   int64       `json:"position" doc:"Where the passage stands in its document, from 0."`
}

// Highlight is a stretch of a text, in Unicode code points.
type Highlight struct {
	From int `json:"from" doc:"Where the stretch begins, from 0."`
	To   int `json:"to" doc:"Where it ends; the character there is not in it."`
}

const usualResults = 5

func (a *API) search(ctx context.Context, c *route.Call, in *SearchInput) (SearchResults, error) {
	began := time.Now()
	b, err := in.base()
	if err != nil {
		return SearchResults{}, err
	}
	q, err := in.Body.query(b)
	if err != nil {
		return SearchResults{}, err
	}
	base, err := knowledge.GetBase(ctx, a.Tenants, c.Org(), b)
	if err != nil {
		return SearchResults{}, asSearchProblem(err)
	}
	if q.Language == "" && base.Language != nil {
		q.Language = *base.Language
	}
	found, err := a.Searcher.Search(ctx, c.Org(), q)
	if err != nil {
		return SearchResults{}, asSearchProblem(err)
	}
	took := time.Since(began) // the search, and not what explains it
	results := make([]SearchResult, len(found))
	for i, p := range found {
		results[i] = showPassage(p, in.Body.Query)
	}
	why, err := a.explain(ctx, c, in.Body.Explain, q, found)
	if err != nil {
		return SearchResults{}, asSearchProblem(err)
	}
	return SearchResults{
		Explain: why,
		Query:   in.Body.Query, Results: results, TookMs: took.Milliseconds(),
		Grounded: len(found) > 0 && found[0].Score >= knowledge.Grounded,
	}, nil
}

func (k *SearchQuery) query(b id.KnowledgeBase) (knowledge.Query, error) {
	q := knowledge.Query{Text: k.Query, Bases: []id.KnowledgeBase{b}, Tags: k.Tags, Limit: usualResults}
	if strings.TrimSpace(k.Query) == "" {
		return q, problem.Invalid("body.query", "body.query has no words.")
	}
	if k.Limit != nil {
		q.Limit = *k.Limit
	}
	if k.MinScore != nil {
		q.MinScore = *k.MinScore
	}
	asked, err := languageCode("body.language", k.Language)
	if err != nil {
		return q, err
	}
	documents, err := languageCode("body.documentLanguage", k.DocumentLanguage)
	if err != nil {
		return q, err
	}
	if asked != nil {
		q.Language = *asked
	}
	if documents != nil {
		q.DocumentLanguage = *documents
	}
	return q, nil
}

func showPassage(p knowledge.Passage, query string) SearchResult {
	marks := search.Highlights(p.Language, query, p.Text)
	highlights := make([]Highlight, len(marks))
	for i, m := range marks {
		highlights[i] = Highlight(m)
	}
	return SearchResult{
		DocumentID: p.Document, ChunkID: p.Chunk, Title: p.Title, Heading: orNull(p.Heading), Text: p.Text, Score: p.Score,
		Highlights: highlights, Language: orNull(p.Language), Page: p.Page, URL: p.URL, Position: p.Position,
	}
}
