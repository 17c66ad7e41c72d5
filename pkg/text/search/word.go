package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// shape is how a word becomes a term.
type shape uint8

const (
	// plain words are stemmed.
	plain shape = iota
	// code is a number, or letters and signs that belong together ("A-113",
	// "v2.1", "+49", an address): it is kept as it is.
	code
	// gram is two neighbours of a script that puts no spaces between words.
	gram
)

// word is a place in a text that becomes one term. Words may overlap: a code
// comes whole first, then in its parts.
type word struct {
	from, to int // bytes
	shape    shape
}

// joints may stand inside or at the edge of a code, between words that touch.
const joints = "-‐‑@_/+.&#"

// split finds the words of a text. It knows no language, so that a question
// has the same words for every language it is analysed in.
func split(text string) []word {
	s := splitter{text: text}
	segments := words.FromString(text)
	for segments.Next() {
		s.take(segments.Start(), segments.End())
	}
	s.flush()
	return s.words
}

// splitter gathers the segments of UAX #29 that touch one another: into a
// chain where they may be a code, into a run where they are of a script
// without spaces.
type splitter struct {
	text            string
	words           []word
	chain, chainEnd int
	run, runEnd     int
	inChain, inRun  bool
	runIsHangul     bool
	chainHasAWord   bool
}

func (s *splitter) take(from, to int) {
	r, _ := utf8.DecodeRuneInString(s.text[from:to])
	switch {
	case unspaced(r) || unicode.Is(unicode.Hangul, r):
		hangul := unicode.Is(unicode.Hangul, r)
		if !s.inRun || s.runEnd != from || s.runIsHangul != hangul {
			s.flush()
			s.inRun, s.run, s.runIsHangul = true, from, hangul
		}
		s.runEnd = to
	case unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune(joints, r):
		if !s.inChain || s.chainEnd != from {
			s.flush()
			s.inChain, s.chain = true, from
		}
		s.chainEnd = to
		s.chainHasAWord = s.chainHasAWord || !strings.ContainsRune(joints, r)
	default:
		s.flush()
	}
}

func (s *splitter) flush() {
	if s.inChain && s.chainHasAWord {
		s.addChain(s.chain, s.chainEnd)
	}
	if s.inRun {
		s.addRun()
	}
	s.inChain, s.inRun, s.chainHasAWord = false, false, false
}

// addChain adds a code whole, where the chain is one, and its atoms.
func (s *splitter) addChain(from, to int) {
	from, to = s.trim(from, to)
	atoms := fields(s.text, from, to, func(r rune) bool { return strings.ContainsRune("-‐‑@_/+&#", r) })
	if len(atoms) == 0 {
		return
	}
	alone := len(atoms) == 1 && atoms[0] == word{from: from, to: to}
	if !alone && s.belongsTogether(from, to, atoms) {
		s.words = append(s.words, word{from, to, code})
	}
	for _, a := range atoms {
		s.addAtom(a.from, a.to)
	}
}

// trim takes off the signs at the edges that mean nothing there: it leaves
// the plus of "+49" and the end of "C++" and "C#".
func (s *splitter) trim(from, to int) (int, int) {
	for from < to {
		r, size := utf8.DecodeRuneInString(s.text[from:to])
		next, _ := utf8.DecodeRuneInString(s.text[from+size : to])
		if !strings.ContainsRune(joints, r) || strings.ContainsRune("+#", r) && unicode.IsDigit(next) {
			break
		}
		from += size
	}
	for to > from {
		r, size := utf8.DecodeLastRuneInString(s.text[from:to])
		short := to-from <= len("C++")
		if !strings.ContainsRune(joints, r) || strings.ContainsRune("+#", r) && short {
			break
		}
		to -= size
	}
	return from, to
}

// belongsTogether says whether a chain of atoms is worth a term of its own:
// it holds a digit, is an address or a name such as C# and R&D, or begins with
// an atom too short to be found by ("e-mail"). "Well-known" is two words.
func (s *splitter) belongsTogether(from, to int, atoms []word) bool {
	if strings.ContainsAny(s.text[from:to], "0123456789@#+&") {
		return true
	}
	first := s.text[atoms[0].from:atoms[0].to]
	return utf8.RuneCountInString(first) <= 2 && !strings.Contains(s.text[from:to], "/")
}

// addAtom adds what has no joint but perhaps dots, digits or apostrophes
// inside: whole, and where it is mixed in its parts.
func (s *splitter) addAtom(from, to int) {
	text := s.text[from:to]
	letters := strings.IndexFunc(text, unicode.IsLetter) >= 0
	digits := strings.IndexFunc(text, unicode.IsNumber) >= 0
	dotted := strings.ContainsRune(text, '.')
	switch {
	case !letters && !digits:
	case !letters:
		s.words = append(s.words, word{from, to, code})
	case !digits && !dotted:
		s.words = append(s.words, word{from, to, plain})
	default:
		s.words = append(s.words, word{from, to, code})
		s.addParts(from, to)
	}
}

// addParts adds the numbers and the runs of two letters and more of an atom
// that mixes them, such as "v2.1", "10kg" and "example.com".
func (s *splitter) addParts(from, to int) {
	isNumeral := func(r rune) bool { return unicode.IsNumber(r) || r == '.' || r == ',' }
	for _, w := range fields(s.text, from, to, isNumeral) {
		if utf8.RuneCountInString(s.text[w.from:w.to]) > 1 {
			s.words = append(s.words, word{w.from, w.to, plain})
		}
	}
	for _, w := range fields(s.text, from, to, func(r rune) bool { return !isNumeral(r) }) {
		n := strings.Trim(s.text[w.from:w.to], ".,")
		if n != "" {
			at := w.from + strings.Index(s.text[w.from:w.to], n)
			s.words = append(s.words, word{at, at + len(n), code})
		}
	}
}

// fields are the stretches of text[from:to] without what separates.
func fields(text string, from, to int, separates func(rune) bool) []word {
	var out []word
	start := -1
	for i, r := range text[from:to] {
		switch {
		case separates(r):
			if start >= 0 {
				out = append(out, word{from: start, to: from + i})
			}
			start = -1
		case start < 0:
			start = from + i
		}
	}
	if start >= 0 {
		out = append(out, word{from: start, to: to})
	}
	return out
}

// addRun adds a run as pairs of neighbours, where there is more than one pair
// Hangul also whole, which has spaces between words but glues endings to them.
func (s *splitter) addRun() {
	bounds := clusters(s.text, s.run, s.runEnd)
	if s.runIsHangul || len(bounds) <= 3 {
		s.words = append(s.words, word{s.run, s.runEnd, gram})
	}
	if len(bounds) <= 3 {
		return
	}
	for i := range len(bounds) - 2 {
		s.words = append(s.words, word{bounds[i], bounds[i+2], gram})
	}
}

// clusters are the bounds of the characters in text[from:to], each with the
// marks that follow it.
func clusters(text string, from, to int) []int {
	var out []int
	for i, r := range text[from:to] {
		if i == 0 || !unicode.Is(unicode.M, r) && r != 'ﾞ' && r != 'ﾟ' {
			out = append(out, from+i)
		}
	}
	return append(out, to)
}

// unspaced says whether a character's script puts no spaces between words.
func unspaced(r rune) bool {
	return r >= 0x0E00 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
		unicode.Khmer, unicode.Myanmar) || r == 'ー' || r == 'ｰ')
}
