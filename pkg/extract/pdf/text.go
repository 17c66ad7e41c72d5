package pdf

import (
	"bytes"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line is a line of text as it was drawn. Lengths are points (1/72 inch) in the
// direction of the text: Left grows along the line and Down grows to the next one.
type Line struct {
	Text              string
	Left, Right, Down float64
	Size              float64 // of the letters
}

// Pages gives every page's lines in the order they are drawn. A page without text
// has none.
func (f *File) Pages() ([][]Line, error) {
	pages, err := f.pages()
	if err != nil {
		return nil, err
	}
	if len(pages) == 0 {
		return nil, ErrMalformed
	}
	out := make([][]Line, len(pages))
	for i, p := range pages {
		if out[i], err = f.lines(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (f *File) lines(p page) ([]Line, error) {
	var content bytes.Buffer
	for _, v := range f.list(p.dict["Contents"]) {
		if s, ok := f.get(v).(*stream); ok {
			data, err := f.decode(s)
			if err != nil {
				return nil, err
			}
			if content.Len()+len(data) > maxStream {
				return nil, ErrTooLarge
			}
			content.Write(data)
			content.WriteByte('\n') // an operator never spans two streams
		}
	}
	in := interpreter{
		file: f, tm: identity, lm: identity, lines: &lineBuilder{}, forms: map[*stream]bool{},
		state: state{ctm: identity, scale: 1},
	}
	if err := in.run(content.Bytes(), f.dict(p.resources)); err != nil {
		return nil, err
	}
	in.lines.flush()
	return in.lines.done, nil
}

// lineBuilder puts pieces of text next to one another. Producers draw words, and
// even letters, one by one and leave spaces to the reader's eye.
type lineBuilder struct {
	done    []Line
	current Line
	text    strings.Builder
	turn    float64 // of the current line, in quarters
}

// Distances in sizes of the letters.
const (
	spaceGap = 0.15 // that reads as a space
	backStep = 0.5  // that reads as a new line or column
	sameLine = 0.4  // of base lines: indices and powers are within
)

func (b *lineBuilder) add(begin, after matrix, s string) {
	if s == "" {
		return
	}
	size := finite(math.Hypot(begin[2], begin[3]))
	turn := math.Round(finite(math.Atan2(begin[1], begin[0])) / (math.Pi / 2))
	left, down := turned(turn, begin)
	right, _ := turned(turn, after)
	switch {
	case b.text.Len() == 0:
	case turn != b.turn, math.Abs(down-b.current.Down) > sameLine*max(size, b.current.Size),
		left < b.current.Right-backStep*max(size, 1) && left < b.current.Right-backStep*b.current.Size:
		b.flush()
	case left-b.current.Right > spaceGap*size && !b.endsInSpace() && !unicode.IsSpace(firstRune(s)):
		b.text.WriteByte(' ')
	}
	if b.text.Len() == 0 {
		b.current, b.turn = Line{Left: left, Down: down, Size: size}, turn
	}
	b.text.WriteString(s)
	b.current.Right = right
	if strings.TrimSpace(s) != "" {
		b.current.Size = max(b.current.Size, size)
	}
}

// turned are the coordinates of a point when its text is turned upright.
func turned(turn float64, m matrix) (left, down float64) {
	x, y := finite(m[4]), finite(m[5])
	switch turn {
	case 1:
		return y, x
	case -1:
		return -y, -x
	case 2, -2:
		return -x, y
	}
	return x, -y
}

func (b *lineBuilder) endsInSpace() bool {
	s := b.text.String()
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsSpace(r)
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func (b *lineBuilder) flush() {
	if strings.TrimSpace(b.text.String()) != "" {
		b.current.Text = b.text.String()
		b.done = append(b.done, b.current)
	}
	b.text.Reset()
}
