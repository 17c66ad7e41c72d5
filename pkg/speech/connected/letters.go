package connected

import (
	"time"

	"visavis.dev/pkg/provider/synthesis"
	"visavis.dev/pkg/speech/spoken"
)

// letters are the characters of a text whose times a service tells, up to the last word that
// is whole.
type letters struct {
	text *spoken.Text
	said []rune
	// at is the next character of the text.
	at int
	// told says that the service tells any.
	told bool
	// words are those that are whole and not placed yet; open is the one that is not.
	words []timed
	open  *timed
	next  int // word of the plan
}

// timed is a word with the times that the service told.
type timed struct {
	from, to   int
	begin, end time.Duration
}

// ahead is how many characters of the text a service may leave out.
const ahead = 8

func newLetters(text *spoken.Text) *letters { return &letters{text: text, said: []rune(text.Said)} }

// take takes the next characters. Those that are not of the text say nothing.
func (l *letters) take(characters []synthesis.Character) {
	for _, c := range characters {
		for _, r := range c.Text {
			at := l.find(r)
			if at < 0 {
				continue
			}
			l.told, l.at = true, at+1
			l.add(at, r, c.Begin, c.End)
		}
	}
}

// find is where a character is in what comes of the text; negative where it is not.
func (l *letters) find(r rune) int {
	for at := l.at; at < min(l.at+ahead, len(l.said)); at++ {
		if l.said[at] == r {
			return at
		}
		if r == ' ' {
			return -1 // one more than there is
		}
	}
	return -1
}

func (l *letters) add(at int, r rune, begin, end time.Duration) {
	from, to, ok := l.text.Source(at, 1)
	if !voiced(r) || !ok {
		if !within(r) {
			l.close()
		}
		return
	}
	if l.open == nil {
		l.open = &timed{from: from, to: to, begin: begin, end: end}
	}
	l.open.to, l.open.end = max(l.open.to, to), end
	if alone(r) {
		l.close()
	}
}

// close ends a word. Another part of what is written as one belongs to the one before.
func (l *letters) close() {
	if l.open == nil {
		return
	}
	if last := len(l.words) - 1; last >= 0 && l.open.from < l.words[last].to {
		l.words[last].to, l.words[last].end = max(l.words[last].to, l.open.to), l.open.end
	} else {
		l.words = append(l.words, *l.open)
	}
	l.open = nil
}

// place places the words that are whole; at the end of the sentence all of them. Their times
// count from the first sample of the service, of which the first were cut.
func (l *letters) place(p *plan, t *track, cut time.Duration, end bool) {
	if end {
		l.close()
	}
	keep := 1 // what is written as one may go on
	if end {
		keep = 0
	}
	for len(l.words) > keep {
		w := l.words[0]
		l.words = l.words[1:]
		shapes := planned{from: w.from, to: w.to, lasts: w.end - w.begin}
		for ; l.next < len(p.words) && p.words[l.next].from < w.to; l.next++ {
			if of := &p.words[l.next]; of.from >= w.from {
				shapes.join(of)
			}
		}
		t.place(&shapes, max(w.begin-cut, 0), max(w.end-cut, 0))
	}
}

// missing places the words at a moment, the end, of which the service told nothing.
func (l *letters) missing(p *plan, t *track, at time.Duration) {
	for ; l.next < len(p.words); l.next++ {
		t.place(&p.words[l.next], at, at)
	}
}

// join takes the mouth's shapes of a word as those of this one, or of its next part.
func (w *planned) join(part *planned) {
	before := w.at
	for _, v := range part.shapes {
		v.AtMs += before.Milliseconds()
		w.shapes = append(w.shapes, v)
	}
	w.at += part.lasts // how much the shapes are of, by now
}
