package rehearsal

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/lexicon"
	"visavis.dev/pkg/text/search"
)

// Probe is a question that was made of a pack, which the pack should answer.
type Probe struct {
	Question string `json:"question"`
	Language string `json:"language"`
	// Of is what it was made of, and Concept the everyday concept that it asks for, by
	// its name in the lexicon; empty for the others.
	Of      ProbeKind   `json:"of"`
	Concept string      `json:"concept"`
	Text    id.Document `json:"documentId"`
	Title   string      `json:"title"`
	Heading string      `json:"heading"`
	// Chunks are the passages of which one must be a source, and Figures what the answer
	// must hold.
	Chunks  []id.Chunk `json:"chunks"`
	Figures []string   `json:"figures"`
}

// ProbeKind is what a probe was made of.
type ProbeKind string

// The kinds: a heading, a figure in a list or a table, and a concept under a heading that
// people ask for in another word than the pack's.
const (
	OfHeading ProbeKind = "heading"
	OfFact    ProbeKind = "fact"
	OfConcept ProbeKind = "concept"
)

// The work of making probes: of the newest documents of each pack, some passages of each,
// and so many probes in all, taken evenly.
const (
	probedDocuments = 20
	probedPassages  = 100
	// MaxProbes is how many questions are asked at most.
	MaxProbes = 200
)

// Probes makes questions of the packs that a persona answers from. made is how many there
// were, of which MaxProbes are answered at most. A pack that is gone gives none.
func Probes(ctx context.Context, t *tenant.Tenants, org id.Org, bases []id.KnowledgeBase, language string) (some []Probe, made int, err error) {
	var all []Probe
	for _, base := range bases {
		documents, err := knowledge.ListDocuments(ctx, t, org, base, knowledge.Filter{Status: knowledge.Ready}, id.Document{}, probedDocuments)
		if errdefs.IsAbsent(err, knowledge.BaseNoun) {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		for i := range documents {
			chunks, err := knowledge.ListChunks(ctx, t, org, documents[i].ID, 0, probedPassages)
			if errdefs.IsAbsent(err, knowledge.DocumentNoun) {
				continue
			}
			if err != nil {
				return nil, 0, err
			}
			all = append(all, probesOf(&documents[i], chunks, language)...)
		}
	}
	return spread(all, MaxProbes), len(all), nil
}

// spread takes so many of a list, evenly.
func spread[T any](all []T, most int) []T {
	if len(all) <= most {
		return all
	}
	some := make([]T, most)
	for i := range some {
		some[i] = all[i*len(all)/most]
	}
	return some
}

// probesOf makes questions of a document's passages. language is the persona's, for
// documents of which it is not known.
func probesOf(d *knowledge.Document, chunks []knowledge.Chunk, language string) []Probe {
	if d.Language != nil && *d.Language != "" {
		language = *d.Language
	}
	m := &prober{language: language, document: d.ID, title: d.Title, chunks: chunks, asked: map[string]bool{}}
	for i := range chunks {
		m.ofHeading(&chunks[i])
		m.ofFacts(&chunks[i])
	}
	return m.all
}

// prober makes the probes of a document.
type prober struct {
	language, title string
	document        id.Document
	chunks          []knowledge.Chunk
	// asked are the questions that were made, folded.
	asked map[string]bool
	all   []Probe
}

func (m *prober) add(p Probe) {
	key := strings.Join(search.NewPhrase(p.Question), " ")
	if m.asked[key] || utf8.RuneCountInString(p.Question) > maxProbe || !tells(m.language, p.Question) {
		return
	}
	m.asked[key] = true
	p.Language, p.Text, p.Title = m.language, m.document, m.title
	m.all = append(m.all, p)
}

// maxProbe is how many characters a question has: longer headings are sentences.
const maxProbe = 80

// tells says whether a text has a word that says something, and no digits alone.
func tells(language, text string) bool {
	return slices.ContainsFunc(search.Terms(language, text), func(t search.Term) bool {
		return !t.Stop && strings.ContainsFunc(t.Text, unicode.IsLetter)
	})
}

// ofHeading asks for what a passage stands under, in its words and in others.
func (m *prober) ofHeading(c *knowledge.Chunk) {
	if c.Heading == "" {
		return
	}
	under := m.under(c.Heading)
	m.add(Probe{Question: c.Heading, Of: OfHeading, Heading: c.Heading, Chunks: under})
	for _, meaning := range search.Meanings(m.language, c.Heading) {
		if meaning.Sure < 1 {
			continue
		}
		if concept, word := m.otherWord(meaning.Concepts); word != "" {
			m.add(Probe{Question: word, Of: OfConcept, Concept: concept, Heading: c.Heading, Chunks: under})
		}
	}
}

// under are the passages under a heading.
func (m *prober) under(heading string) (chunks []id.Chunk) {
	for i := range m.chunks {
		if m.chunks[i].Heading == heading {
			chunks = append(chunks, m.chunks[i].ID)
		}
	}
	return chunks
}

// otherWord is a word for one of some concepts that means nothing but them, and that the
// document does not have; empty for none.
func (m *prober) otherWord(concepts []int) (concept, word string) {
	for _, n := range concepts {
		c := &lexicon.Concepts()[n]
		for _, word := range c.Words[m.language] {
			if !c.Light && tells(m.language, word) && m.meansOnly(word, concepts) && !m.has(word) {
				return c.Key, word
			}
		}
	}
	return "", ""
}

// meansOnly says whether a word means some of the concepts and nothing else.
func (m *prober) meansOnly(word string, concepts []int) bool {
	meanings := search.Meanings(m.language, word)
	return len(meanings) == 1 && !slices.ContainsFunc(meanings[0].Concepts, func(c int) bool { return !slices.Contains(concepts, c) })
}

// has says whether the document has a word or phrase, as it is.
func (m *prober) has(word string) bool {
	phrase := search.NewPhrase(word)
	return slices.ContainsFunc(m.chunks, func(c knowledge.Chunk) bool {
		return search.NewPhrase(c.Heading).Has(phrase) || search.NewPhrase(c.Text).Has(phrase)
	})
}

// ofFacts asks for the figures of the rows and items in a passage.
func (m *prober) ofFacts(c *knowledge.Chunk) {
	for line := range strings.Lines(c.Text) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "- "))
		cells := strings.Split(line, "; ")
		label, value, ok := strings.Cut(cells[0], ": ")
		switch {
		case !ok || len(strings.Fields(label)) > maxLabel:
		case len(cells) == 1:
			m.ofFigure(c, label+" "+c.Heading, value)
		case len(strings.Fields(value)) <= maxLabel:
			for _, cell := range cells[1:] {
				if column, figure, ok := strings.Cut(cell, ": "); ok {
					m.ofFigure(c, value+" "+column, figure)
				}
			}
		}
	}
}

// maxLabel is how many words a label has.
const maxLabel = 5

// ofFigure asks for a value that has a number.
func (m *prober) ofFigure(c *knowledge.Chunk, question, value string) {
	var figures []string
	for _, word := range search.NewPhrase(value) {
		if strings.ContainsFunc(word, unicode.IsDigit) {
			figures = append(figures, word)
		}
	}
	if len(figures) > 0 && len(figures) <= maxFigures {
		m.add(Probe{Question: strings.TrimSpace(question), Of: OfFact, Heading: c.Heading, Chunks: []id.Chunk{c.ID}, Figures: figures})
	}
}

// maxFigures is how many numbers a value has that is one fact.
const maxFigures = 4
