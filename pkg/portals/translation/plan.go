package translation

import (
	"fmt"
	"maps"
	"slices"

	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/portals/subject"
)

// Piece is a text that is to be translated into a language.
type Piece struct {
	// Question is the key of a question, and Part names the text of it.
	Question string `json:"question"`
	Part     string `json:"part"`
	// Text is what is to be translated, From a language To another.
	Text string `json:"text"`
	From string `json:"from"`
	To   string `json:"to"`
	// Had is the text that is to be replaced; empty where there is none.
	Had string `json:"had,omitempty"`
	// Limit bounds a translation, in characters.
	Limit int `json:"limit"`
}

// Request is which questions of a subject are to be translated.
type Request struct {
	// Languages are codes.
	Languages []string
	// Keys are those of the questions; none for all of them.
	Keys []string
	// Overwrite translates what has a translation already.
	Overwrite bool
	// Source is the language to translate from, of the texts that have it.
	Source string
}

// UnknownKeyError says that there is no question with a key.
type UnknownKeyError struct{ Index int }

func (e *UnknownKeyError) Error() string {
	return fmt.Sprintf("no question has the key at %d", e.Index)
}

// Plan lists what is to be translated of a content, language by language. The
// error is an UnknownKeyError.
func Plan(c subject.Content, r Request) ([]Piece, error) {
	for i, key := range r.Keys {
		if !slices.ContainsFunc(c.Questions, func(q subject.Question) bool { return q.Key == key }) {
			return nil, &UnknownKeyError{i}
		}
	}
	var pieces []Piece
	for _, to := range r.Languages {
		for i := range c.Questions {
			q := &c.Questions[i]
			if len(r.Keys) > 0 && !slices.Contains(r.Keys, q.Key) {
				continue
			}
			for _, p := range parts(q) {
				if piece, ok := p.piece(q.Key, to, r); ok {
					pieces = append(pieces, piece)
				}
			}
		}
	}
	return pieces, nil
}

// part is one text of a question.
type part struct {
	name  string
	words *language.Words
	limit int
}

// parts lists the texts of a question that people see, by names that stay theirs
// when others come or go.
func parts(q *subject.Question) []part {
	list := []part{{"text", &q.Text, 2000}}
	for i := range q.Options {
		list = append(list, part{"options." + q.Options[i].Key, &q.Options[i].Text, 500})
	}
	for i := range q.Rubric {
		criterion := "rubric." + q.Rubric[i].Key
		list = append(list, part{criterion, &q.Rubric[i].Label, 200})
		for j := range q.Rubric[i].Levels {
			list = append(list, part{fmt.Sprint(criterion, ".", j), &q.Rubric[i].Levels[j].Description, 1000})
		}
	}
	return list
}

// piece is what is to be translated of a part; ok says whether anything is.
func (p part) piece(question, to string, r Request) (piece Piece, ok bool) {
	had, there := (*p.words)[to]
	if there && !r.Overwrite {
		return piece, false
	}
	from := source(*p.words, to, r.Source)
	if from == "" {
		return piece, false
	}
	return Piece{Question: question, Part: p.name, Text: (*p.words)[from], From: from, To: to, Had: had, Limit: p.limit}, true
}

// source is the language to translate a text from: the wanted one, or else the
// first that there is; empty where there is none but the one to translate to.
func source(w language.Words, to, wanted string) string {
	if _, ok := w[wanted]; ok && wanted != to {
		return wanted
	}
	for _, code := range slices.Sorted(maps.Keys(w)) {
		if code != to {
			return code
		}
	}
	return ""
}

// Apply fills translations in, the n-th for the n-th piece, and answers the
// content; c is not changed. A text that is no longer what was translated, or that
// somebody wrote meanwhile, is left alone.
func Apply(c subject.Content, pieces []Piece, translations []string) subject.Content {
	c.Questions = slices.Clone(c.Questions)
	for i := range c.Questions {
		q := copied(c.Questions[i])
		for _, p := range parts(&q) {
			for n, piece := range pieces {
				if piece.Question == q.Key && piece.Part == p.name {
					p.fill(piece, translations[n])
				}
			}
		}
		c.Questions[i] = q
	}
	return c
}

func (p part) fill(piece Piece, translation string) {
	if (*p.words)[piece.From] != piece.Text || (*p.words)[piece.To] != piece.Had {
		return
	}
	filled := maps.Clone(*p.words)
	filled[piece.To] = translation
	*p.words = filled
}

// copied is a question that shares none of the places that texts are written to.
func copied(q subject.Question) subject.Question {
	q.Options, q.Rubric = slices.Clone(q.Options), slices.Clone(q.Rubric)
	for i := range q.Rubric {
		q.Rubric[i].Levels = slices.Clone(q.Rubric[i].Levels)
	}
	return q
}
