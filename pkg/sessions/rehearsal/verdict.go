package rehearsal

import (
	"slices"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/text/search"
)

// Reason is why a test did not pass.
type Reason string

// The reasons.
const (
	FactMissing  Reason = "fact_missing"
	UnwantedFact Reason = "unwanted_fact"
	// OtherSource: none of the documents is among the sources.
	OtherSource Reason = "other_source"
	// NotGrounded: the answer does not rest on the packs.
	NotGrounded Reason = "not_grounded"
	// Answered: an answer was given where there is none to give.
	Answered Reason = "answered"
	// NoAnswer: the persona's model did not answer, and nobody may in its place.
	// That says nothing of the persona.
	NoAnswer Reason = "no_answer"
)

// Result is an answer, held against what was expected of it.
type Result struct {
	Passed   bool     `json:"passed" doc:"Whether the answer was as expected."`
	Reasons  []Reason `json:"reasons" enum:"fact_missing,unwanted_fact,other_source,not_grounded,answered,no_answer" doc:"Why it did not pass."`
	Answer   string   `json:"answer" doc:"What the persona answered."`
	Missing  []string `json:"missing" doc:"The facts that are not in the answer."`
	Unwanted []string `json:"unwanted" doc:"The facts that are, and should not be."`
	Sources  []Source `json:"sources" doc:"The documents that the answer rests on."`
	Grounded *bool    `json:"grounded" doc:"Whether the answer rested on passages; null where nothing was answered."`
	// DeletedDocuments are those that no answer can rest on any more.
	DeletedDocuments []id.Document `json:"deletedDocumentIds" doc:"The expected documents that were deleted meanwhile."`
	AIGenerated      bool          `json:"aiGenerated" enum:"true" doc:"Always true: an avatar wrote the answer."`
}

// Source is a document that an answer rests on.
type Source struct {
	DocumentID id.Document `json:"documentId" doc:"The document, by id."`
	Title      string      `json:"title" doc:"The document's title."`
}

// Judge holds an answer against an expectation, of whose documents some were
// deleted.
func (e *Expectation) Judge(r conversation.Reply, deleted []id.Document) Result {
	v := Result{
		Answer: r.Text, Missing: []string{}, Unwanted: []string{}, Sources: documents(r.Sources), Grounded: r.Grounded, DeletedDocuments: deleted,
		Reasons: []Reason{}, AIGenerated: true,
	}
	said := search.NewPhrase(r.Text)
	for _, fact := range e.Facts {
		if !said.Has(search.NewPhrase(fact)) {
			v.Missing = append(v.Missing, fact)
		}
	}
	for _, fact := range e.NotFacts {
		if said.Has(search.NewPhrase(fact)) {
			v.Unwanted = append(v.Unwanted, fact)
		}
	}
	expected := func(s Source) bool { return slices.Contains(e.DocumentIDs, s.DocumentID) }
	for _, rule := range []struct {
		broken bool
		reason Reason
	}{
		{len(v.Missing) > 0, FactMissing},
		{len(v.Unwanted) > 0, UnwantedFact},
		{len(e.DocumentIDs) > 0 && !slices.ContainsFunc(v.Sources, expected), OtherSource},
		{e.Grounded != nil && *e.Grounded && (r.Grounded == nil || !*r.Grounded), NotGrounded},
		{e.Grounded != nil && !*e.Grounded && !r.Gap, Answered},
	} {
		if rule.broken {
			v.Reasons = append(v.Reasons, rule.reason)
		}
	}
	v.Passed = len(v.Reasons) == 0
	return v
}

// unanswered is the result where a model failed that nobody may stand in for.
func (e *Expectation) unanswered(deleted []id.Document) Result {
	v := (&Expectation{}).Judge(conversation.Reply{}, deleted)
	v.Passed, v.Reasons, v.Missing = false, []Reason{NoAnswer}, append([]string{}, e.Facts...)
	return v
}

// documents are those of an answer's passages, each once.
func documents(passages []conversation.Source) []Source {
	found := []Source{}
	for _, p := range passages {
		if s := (Source{p.DocumentID, p.Title}); !slices.Contains(found, s) {
			found = append(found, s)
		}
	}
	return found
}
