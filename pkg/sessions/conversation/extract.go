package conversation

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"visavis.dev/pkg/text/answer"
	"visavis.dev/pkg/text/search"
)

// extractive is the built-in brain: it answers with sentences of the packs, word
// for word, and says that it does not know rather than anything else.
type extractive struct {
	retrieval
}

// Answer implements Brain. Of several questions in one, each is answered.
func (b extractive) Answer(ctx context.Context, q Question) Stream {
	return func(yield func(Piece, error) bool) {
		if meant, corrects := answer.Corrected(q.Language, q.Text); corrects {
			q.Text, q.leaning = meant, q.Previous != ""
		}
		parts := partsOf(q)
		said := map[string]bool{}
		var open *Piece
		for _, part := range parts {
			pieces, err := b.answer(ctx, part)
			if err != nil {
				yield(Piece{}, err)
				return
			}
			for _, piece := range pieces {
				switch {
				case piece.Gap && len(parts) > 1:
					open = moreHelpful(open, piece)
				case !said[piece.Text] && !yield(piece, nil):
					return
				}
				said[piece.Text] = true
			}
		}
		if open != nil {
			yield(*open, nil)
		}
	}
}

// moreHelpful is what is told once, at the end, of several questions that are not answered: the
// first that offers something, or the last.
func moreHelpful(had *Piece, p Piece) *Piece {
	if had != nil && len(had.Sources) > 0 {
		return had
	}
	return &p
}

// partsOf are the questions in one, each with the one before it.
func partsOf(q Question) []Question {
	if q.danger {
		return []Question{q}
	}
	var out []Question
	for i, text := range questionsOf(q) {
		part := q
		if part.Text = text; i > 0 {
			part.Previous = out[i-1].Text
		}
		out = append(out, part)
	}
	return out
}

// questionsOf are the questions in one: whole ones, or several things asked for at once
// that each have their own answer: "phone number and address, please".
func questionsOf(q Question) []string {
	texts := answer.Questions(q.Language, q.Text)
	if len(texts) > 1 {
		return texts
	}
	return answer.Wishes(reading(q.Language, q.Text), q.Text)
}

// answer answers a single question.
func (b extractive) answer(ctx context.Context, q Question) ([]Piece, error) {
	passages, took, err := b.find(ctx, q)
	if err != nil {
		return nil, err
	}
	if right := spelled(q, passages); right != q.Text {
		q.Text = right
		if passages, _, err = b.find(ctx, q); err != nil {
			return nil, err
		}
	}
	pieces := b.extracted(q, passages)
	if again, ok := understoodFromBefore(q); ok && len(pieces) == 1 && pieces[0].Gap {
		if passages, _, err = b.find(ctx, again); err != nil {
			return nil, err
		}
		if other := b.extracted(again, passages); !other[0].Gap && other[0].Act != ActClarify {
			pieces = other
		}
	}
	if q.danger {
		// The packs' own words for it.
		alarm := q
		alarm.Text, alarm.Previous = answer.Say(q.Language, "emergencyWords"), ""
		if passages, _, err = b.find(ctx, alarm); err != nil {
			return nil, err
		}
		pieces = alarmed(alarm, answer.Hurt(q.Language, q.Text), pieces, passages)
	}
	for i := range pieces {
		pieces[i].Retrieval, pieces[i].ModelFirst = took, untold
	}
	return pieces, nil
}

// spelled is a question with its misspelled words set right, by those of the passages that
// were found for it.
func spelled(q Question, passages []Passage) string {
	language := reading(q.Language, q.Text)
	var words []string
	for i := range passages {
		if p := &passages[i]; base(cmp.Or(p.Language, q.Language)) == base(language) {
			for _, t := range wordsOf(p.Title + " " + p.Heading + " " + p.Text) {
				words = append(words, search.Fold(t.text))
			}
		}
	}
	return answer.Spelled(language, q.Text, words)
}

// maxLeaning is how many words a question has at most that may leave out what it is about
// without showing it: "how many may I bring?".
const maxLeaning = 6

// understoodFromBefore is a question that by itself has no answer, as one that goes on from
// the question before.
func understoodFromBefore(q Question) (Question, bool) {
	if q.Previous == "" || q.danger || leans(q) || len(wordsOf(q.Text)) > maxLeaning {
		return q, false
	}
	q.leaning = true
	return q, true
}

// alarmed is the answer to somebody in danger: whom to call as the packs say, what they answer
// besides, and what to do anywhere. Then, to who is hurt or with a number, who gives first aid or
// where its kit is: it never comes before the call for help.
func alarmed(alarm Question, hurt bool, pieces []Piece, passages []Passage) []Piece {
	pieces = slices.DeleteFunc(pieces, func(p Piece) bool {
		e := answer.EvidenceIn(alarm.Language, p.Text)
		return p.Gap || p.Act == ActClarify || e.Aids(p.Text)
	})
	_, found := ranked(alarm, passages)
	at, aid, most := -1, -1, 0.0
	for n, c := range found {
		p := &passages[c.passage]
		heading := held(cmp.Or(p.Language, alarm.Language), p.Heading)
		alarms, aids := c.held.evidence.Alarms(&heading.evidence), c.held.evidence.Aids(c.text)
		switch {
		case aids && alarms < 1: // a number of its own helps, but calls nobody from outside
			if (hurt || alarms > 0) && aid < 0 {
				aid = n
			}
		case alarms > most:
			at, most = n, alarms
		}
	}
	told := func(n int) []Piece {
		if n < 0 {
			return nil
		}
		return stated(alarm, finding{chosen: found[n : n+1], verdict: answer.Unclear}, passages)
	}
	if first := told(at); first != nil {
		pieces = slices.DeleteFunc(pieces, func(p Piece) bool { return p.Text == first[0].Text })
		pieces = append(first, pieces...)
	}
	return append(append(pieces, Piece{Text: answer.Say(alarm.Language, "emergency")}), told(aid)...)
}

// extracted is the answer that passages give to a question: its sentences, or that it is
// not known.
func (b retrieval) extracted(q Question, passages []Passage) []Piece {
	if len(inquire(q).units) == 0 {
		return []Piece{{Text: bookOf(q.Language).askAgain, Act: ActClarify}} // nothing was asked for
	}
	found := b.best(q, passages)
	q.explain.ranked(found, passages, cmp.Or(found.least, b.threshold()))
	switch {
	case len(found.chosen) > 0:
		return stated(q, found, passages)
	case len(found.nearest) > 0:
		return []Piece{offered(q, found, passages)}
	default:
		return []Piece{b.unknown(q.Language, found.nearby)}
	}
}

// offered says that it is not known for certain, with the sentences that come nearest. It is
// one piece: they are never said without that.
func offered(q Question, found finding, passages []Passage) Piece {
	p := unknown(q.Language)
	p.Text, p.quoted = answer.Say(q.Language, "nearest"), true
	for _, s := range found.nearest {
		p.Text, p.Sources = join(p.Text, asSaid(s.text)), append(p.Sources, sourceOf(&passages[s.passage]))
	}
	return p
}

// stated are the sentences of an answer: word for word, with whether it is so before
// them where that follows, and that they are in another language than the visitor's.
func stated(q Question, found finding, passages []Passage) []Piece {
	yes := true
	pieces := make([]Piece, len(found.chosen))
	for i, s := range found.chosen {
		pieces[i] = Piece{Text: asSaid(s.text), Sources: []Source{sourceOf(&passages[s.passage])}, Grounded: &yes, quoted: true}
	}
	lead := map[answer.Verdict]string{answer.Holds: answer.Say(q.Language, "yes"), answer.Fails: answer.Say(q.Language, "no")}[found.verdict]
	if spoken := passages[found.chosen[0].passage].Language; spoken != "" && base(spoken) != base(q.Language) && base(spoken) != base(reading(q.Language, q.Text)) {
		lead = join(lead, answer.Say(q.Language, "foreign"))
	}
	pieces[0].Text, pieces[0].lead = join(lead, pieces[0].Text), lead
	return pieces
}

// asSaid is a sentence of a document as somebody says it: a row of a table names its first cell
// before the others, and what ends with no mark gets one. "Ticket: Adults; Price: $16" is
// "Adults: Price $16."
func asSaid(text string) string {
	if cells := strings.Split(text, "; "); len(cells) > 1 && strings.Contains(cells[len(cells)-1], ": ") {
		if _, value, ok := strings.Cut(cells[0], ": "); ok {
			cells[0] = value
		}
		for i, cell := range cells[1:] {
			cells[i+1] = strings.Replace(cell, ": ", " ", 1)
		}
		text = cells[0] + ": " + strings.Join(cells[1:], ", ")
	}
	last, _ := utf8.DecodeLastRuneInString(text)
	switch {
	case isWide(last):
		return text + "。"
	case unicode.IsPunct(last) && last != ')' && last != '%' && last != '"' && last != '”' && last != '»':
		return text
	}
	return text + "."
}

// unknown is the honest answer, with what is known nearby.
func (b retrieval) unknown(language string, nearby []string) Piece {
	p := unknown(language)
	if len(nearby) > 0 {
		p.Text = join(p.Text, strings.ReplaceAll(answer.Say(language, "nearby"), "{{topics}}", listed(language, nearby)))
	}
	return p
}

// unknown is the honest answer alone.
func unknown(language string) Piece {
	no := false
	return Piece{Text: bookOf(language).dontKnow, Grounded: &no, Gap: true, Retrieval: untold, ModelFirst: untold}
}

// listed is a list of topics as it is said.
func listed(language string, topics []string) string {
	switch base(language) {
	case "zh", "ja":
		return strings.Join(topics, "、")
	case "ar":
		return strings.Join(topics, "، ")
	}
	return strings.Join(topics, ", ")
}

func sourceOf(p *Passage) Source {
	s := Source{Page: p.Page, URL: p.URL}
	s.DocumentID, s.Title, s.ChunkID, s.Score = p.Document, p.Title, p.Chunk, p.Score
	return s
}
