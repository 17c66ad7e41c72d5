package typeset

import (
	"strings"

	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/bidi"
)

// em is the size at which text is shaped, in points; it is drawn at any.
const em = 1000

// glyph is a glyph of a font at its place, in units of the em.
type glyph struct {
	of      *typeface
	id      uint16
	x, y    float64
	advance float64
	// text is what the glyph stands for; empty where another does.
	text string
}

// Line is a text as it is drawn, from the left on.
type Line struct {
	text   string
	glyphs []glyph
	width  float64
	// rtl says that some of it is written from right to left.
	rtl bool
}

// Setter shapes texts for one document. It is nobody else's meanwhile.
type Setter struct {
	faces     *faces
	segmenter shaping.Segmenter
	shaper    shaping.HarfbuzzShaper
	language  language.Language
}

// NewSetter sets texts in a language, as a code.
func NewSetter(code string) *Setter {
	return &Setter{faces: newFaces(), language: language.NewLanguage(code)}
}

// Shape sets a text in one line.
func (s *Setter) Shape(text string) Line {
	runes := []rune(text)
	made := Line{text: text}
	if len(runes) == 0 {
		return made
	}
	direction := di.DirectionLTR
	if IsRTL(text) {
		direction = di.DirectionRTL
	}
	runs := s.segmenter.Split(shaping.Input{
		Text: runes, RunEnd: len(runes), Direction: direction, Size: fixed.I(em), Language: s.language,
	}, s.faces)
	outputs := make([]shaping.Output, len(runs))
	for i, run := range runs {
		outputs[i] = s.shaper.ShapeNoExtents(run)
	}
	for _, out := range visual(outputs, direction) {
		appendRun(&made, s.faces, out, runes)
	}
	return made
}

// Width is how wide the line is at a size, in points.
func (l Line) Width(size float64) float64 { return l.width * size / em }

// appendRun appends a run to a line.
func appendRun(l *Line, f *faces, out shaping.Output, runes []rune) {
	of, last := f.of[out.Face], -1
	l.rtl = l.rtl || out.Direction == di.DirectionRTL
	for _, g := range out.Glyphs {
		placed := glyph{
			of: of, id: uint16(g.GlyphID), x: l.width + float64(g.XOffset)/64, y: float64(g.YOffset) / 64, advance: float64(g.Advance) / 64,
		}
		if at := g.TextIndex(); at != last {
			last = at
			placed.text = string(runes[at:min(at+g.RunesCount(), len(runes))])
		}
		l.glyphs = append(l.glyphs, placed)
		l.width += placed.advance
	}
}

// visual puts runs in the order in which they are seen: those against the direction of the
// whole among themselves the other way round.
func visual(runs []shaping.Output, direction di.Direction) []shaping.Output {
	ordered := make([]shaping.Output, 0, len(runs))
	for from := 0; from < len(runs); {
		end := from + 1
		for end < len(runs) && runs[end].Direction == runs[from].Direction {
			end++
		}
		stretch := runs[from:end]
		if runs[from].Direction == di.DirectionRTL {
			stretch = reversed(stretch)
		}
		if direction == di.DirectionRTL {
			ordered = append(append(make([]shaping.Output, 0, len(runs)), stretch...), ordered...)
		} else {
			ordered = append(ordered, stretch...)
		}
		from = end
	}
	return ordered
}

func reversed(runs []shaping.Output) []shaping.Output {
	other := make([]shaping.Output, len(runs))
	for i, r := range runs {
		other[len(runs)-1-i] = r
	}
	return other
}

// IsRTL says whether a text begins with a word that is written from right to left.
func IsRTL(text string) bool {
	for _, r := range text {
		p, _ := bidi.LookupRune(r)
		switch p.Class() {
		case bidi.R, bidi.AL:
			return true
		case bidi.L:
			return false
		}
	}
	return false
}

// Fit sets a text in at most so many lines of a width, as large as it fits between two sizes,
// all in points. What does not fit at the smaller size has more lines.
func (s *Setter) Fit(text string, width, largest, smallest float64, most int) (lines []Line, size float64) {
	words := s.words(text)
	for size = largest; ; size = max(size-1, smallest) {
		lines = s.wrap(words, width/size*em)
		if len(lines) <= most || size <= smallest {
			return lines, size
		}
	}
}

// word is a piece of a text that is not broken, with the space before it.
type word struct {
	text         string
	width, space float64
}

// words are the words of a text. One without spaces that is long is broken anywhere, as
// Chinese and Japanese are.
func (s *Setter) words(text string) (words []word) {
	const longest = 24
	space := s.Shape(" ").width
	for field := range strings.FieldsSeq(text) {
		runes, gap := []rune(field), space
		for len(runes) > longest {
			first := string(runes[:1])
			words = append(words, word{first, s.Shape(first).width, gap})
			runes, gap = runes[1:], 0
		}
		rest := string(runes)
		words = append(words, word{rest, s.Shape(rest).width, gap})
	}
	return words
}

// wrap breaks words into lines of a width, in units of the em.
func (s *Setter) wrap(words []word, width float64) (lines []Line) {
	var b strings.Builder
	used := 0.0
	for _, w := range words {
		if b.Len() > 0 && used+w.space+w.width > width {
			lines = append(lines, s.Shape(b.String()))
			b.Reset()
			used = 0
		}
		if b.Len() > 0 && w.space > 0 {
			b.WriteByte(' ')
			used += w.space
		}
		b.WriteString(w.text)
		used += w.width
	}
	return append(lines, s.Shape(b.String()))
}
