// Package spoken makes text speakable: what is written for the eye becomes what a voice
// reads, and every word that is spoken still knows what it is of the text.
package spoken

import (
	"unicode/utf8"

	"visavis.dev/pkg/speech/speaker"
)

// Text is what is said, and of what.
type Text struct {
	// Said is the text as a voice reads it.
	Said   string
	pieces []piece
}

// piece is a stretch of what is said. One that stands for itself has as many characters
// as its source; one that was put in the place of something is as a whole of it.
type piece struct {
	at, length int // of what is said, in characters
	from, to   int // of the source, in bytes
	own        string
}

// Source is what of the text, in bytes, was said at a position: in characters of Said.
func (t *Text) Source(position, length int) (from, to int, ok bool) {
	from = -1
	for i := range t.pieces {
		p := &t.pieces[i]
		if p.at+p.length <= position || p.at >= position+length {
			continue
		}
		begin, end := p.from, p.to
		if p.own != "" {
			begin = p.from + offset(p.own, position-p.at)
			end = p.from + offset(p.own, position+length-p.at)
		}
		if from < 0 {
			from = begin
		}
		to = max(to, end)
	}
	return from, to, from >= 0
}

// offset is where the nth character of a text is, in bytes, within the text.
func offset(text string, n int) int {
	at := 0
	for range n {
		if at >= len(text) {
			return len(text)
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// writer puts a Text together.
type writer struct {
	text  Text
	count int
}

// keep says a stretch of the source as it stands.
func (w *writer) keep(source string, from, to int) {
	if from < to {
		w.add(piece{from: from, to: to, own: source[from:to]}, source[from:to])
	}
}

// say says something in the place of a stretch of the source.
func (w *writer) say(said string, from, to int) {
	if said != "" {
		w.add(piece{from: from, to: to}, said)
	}
}

func (w *writer) add(p piece, said string) {
	p.at, p.length = w.count, utf8.RuneCountInString(said)
	w.count += p.length
	w.text.Said += said
	w.text.pieces = append(w.text.pieces, p)
}

// Of makes a text in a language speakable.
func Of(text, _ string, _ []speaker.Pronunciation) Text {
	var w writer
	w.keep(text, 0, len(text))
	return w.text
}
