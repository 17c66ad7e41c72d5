package personas

import (
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/conversation"
)

// AnswerExplanation says why a persona answers as it does.
type AnswerExplanation struct {
	AnsweredBy string            `json:"answeredBy" enum:"builtin,model,guardrail,talk" doc:"What the answer is of: the built-in engine, the persona's model, a guardrail, or the talk that needs no knowledge."`
	Searched   []string          `json:"searched" doc:"What was looked for in the packs, each text in a search of its own."`
	Wants      *string           `json:"wants" doc:"The kind of answer that the question was understood to want, such as when, where or price; null for any."`
	Understood []UnderstoodWords `json:"understood" doc:"What the question was understood to ask for."`
	Passages   []WeighedPassage  `json:"passages" doc:"The passages that were found, best first."`
	Threshold  float64           `json:"threshold" doc:"How likely, from 0 to 1, the built-in engine's best sentence must be an answer for it to be said."`
	Candidates []WeighedSentence `json:"candidates" doc:"The sentences of the passages that the built-in engine considered, best first, 20 at most; a question that holds several has those of each."`
	Held       []HeldSentence    `json:"held" doc:"The sentences of the model that were not said."`
	ModelError *string           `json:"modelError" doc:"Why the model was given up, such as timeout or rate_limited, or paused where it failed lately and was not asked; null where it was not."`
}

// UnderstoodWords are words of a question and what they mean.
type UnderstoodWords struct {
	Words    []string `json:"words" doc:"The words, folded to be compared."`
	Concepts []string `json:"concepts" doc:"The concepts that they were taken for, by their names; empty for words that are looked for as they are."`
	Synonyms []string `json:"synonyms" doc:"The persona's own words that were taken for the same (knowledge.synonyms)."`
	Sure     float64  `json:"sure" doc:"How sure that is: 1 for a word of the lexicon, less for a part of a compound or a slip."`
	Weight   float64  `json:"weight" doc:"What they count among the others; 0 where nothing was found to weigh them by."`
	Carried  bool     `json:"carried" doc:"Whether they are of the question before."`
}

// WeighedPassage is a passage that was found, and whether it was looked at.
type WeighedPassage struct {
	AnswerSource
	Heading *string `json:"heading" doc:"The heading that it stands under; null for none."`
	LeftOut *string `json:"leftOut" enum:"low_score" doc:"Why it was not looked at; null where it was."`
}

// WeighedSentence is a sentence that was considered as an answer.
type WeighedSentence struct {
	Text       string      `json:"text" doc:"The sentence."`
	DocumentID id.Document `json:"documentId" doc:"The document that it is from."`
	ChunkID    id.Chunk    `json:"chunkId" doc:"Its passage, by id."`
	Score      float64     `json:"score" doc:"What orders the sentences; not bounded."`
	Likelihood float64     `json:"likelihood" doc:"How likely it answers the question, from 0 to 1; compared with the threshold."`
	Chosen     bool        `json:"chosen" doc:"Whether it is part of the built-in engine's answer."`
	Offered    bool        `json:"offered" doc:"Whether it was said as what may help, after the words that it is not known for certain."`
	LeftOut    *string     `json:"leftOut" enum:"below_threshold,other_kind,weaker_than_chosen,weaker_than_best,is_a_question" doc:"Why it is not chosen; null where it is. other_kind: it lacks the form of what was asked for, such as an amount where a price is. weaker_than_best: it is likely enough, but ranks behind a sentence that was not chosen."`
}

// HeldSentence is a sentence of a model's that was not said.
type HeldSentence struct {
	Text   string `json:"text" doc:"The sentence."`
	Reason string `json:"reason" doc:"Why: unsupported, and after a colon what rests on nothing, such as a price; contradicts_passage; claims_to_be_human; or shows_instructions."`
}

func showExplanation(e *conversation.Explanation) *AnswerExplanation {
	if e == nil {
		return nil
	}
	shown := AnswerExplanation{
		AnsweredBy: string(e.AnsweredBy), Searched: listOf(e.Searched), Wants: orNull(e.Wants), Understood: []UnderstoodWords{},
		Passages: []WeighedPassage{}, Threshold: e.Threshold, Candidates: []WeighedSentence{}, Held: []HeldSentence{}, ModelError: orNull(e.ModelError),
	}
	for _, u := range e.Units {
		shown.Understood = append(shown.Understood, UnderstoodWords{listOf(u.Words), listOf(u.Concepts), listOf(u.Synonyms), u.Sure, u.Weight, u.Carried})
	}
	for _, p := range e.Passages {
		shown.Passages = append(shown.Passages, WeighedPassage{showSource(p.Source), orNull(p.Heading), orNull(p.LeftOut)})
	}
	for _, c := range e.Candidates {
		shown.Candidates = append(shown.Candidates, WeighedSentence{c.Text, c.DocumentID, c.ChunkID, c.Score, c.Sure, c.Chosen, c.Offered, orNull(c.LeftOut)})
	}
	for _, h := range e.Held {
		shown.Held = append(shown.Held, HeldSentence(h))
	}
	return &shown
}

func showSource(s conversation.Source) AnswerSource {
	return AnswerSource{s.DocumentID, s.Title, s.ChunkID, s.Page, s.URL, s.Score}
}

func listOf(texts []string) []string { return append([]string{}, texts...) }

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
