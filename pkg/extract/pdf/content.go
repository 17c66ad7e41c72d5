package pdf

import (
	"bytes"
	"math"
)

const (
	maxOperands = 1024
	maxStates   = 256 // of q without Q
	maxForms    = 8   // forms within forms
)

// state is the part of the graphics state that places text (section 9.3).
type state struct {
	ctm                               matrix
	font                              *font
	size                              float64
	charSpace, wordSpace, scale, rise float64
	leading                           float64
}

// interpreter draws the text of one page and nothing else.
type interpreter struct {
	file   *File
	state  state
	saved  []state
	tm, lm matrix // of the text and of its line
	depth  int
	lines  *lineBuilder
	forms  map[*stream]bool // that are being drawn, against loops
}

func (in *interpreter) run(data []byte, resources dict) error {
	l := &lexer{data: data}
	var operands []any
	for n := 0; ; n++ {
		if n%1024 == 0 && in.file.ctx.Err() != nil {
			return in.file.ctx.Err()
		}
		switch v := l.next().(type) {
		case end:
			return nil
		case keyword:
			if v == "BI" {
				skipImage(l)
			} else if err := in.do(v, operands, resources); err != nil {
				return err
			}
			operands = operands[:0]
		default:
			if len(operands) < maxOperands {
				operands = append(operands, v)
			}
		}
	}
}

// skipImage passes over the data of an inline image, which may look like anything.
func skipImage(l *lexer) {
	for {
		i := bytes.Index(l.data[l.pos:], []byte("EI"))
		if i < 0 {
			l.pos = len(l.data)
			return
		}
		l.pos += i + 2
		before, after := l.data[l.pos-3], l.at(0)
		if white(before) && (white(after) || l.pos >= len(l.data)) {
			return
		}
	}
}

func (in *interpreter) do(op keyword, operands []any, resources dict) error {
	num := func(i int) float64 {
		if i >= len(operands) {
			return 0
		}
		f, _ := operands[i].(float64)
		return f
	}
	s := &in.state
	switch op {
	case "q":
		if len(in.saved) < maxStates {
			in.saved = append(in.saved, *s)
		}
	case "Q":
		if n := len(in.saved); n > 0 {
			in.state, in.saved = in.saved[n-1], in.saved[:n-1]
		}
	case "cm":
		if m, ok := matrixOf(operands); ok {
			s.ctm = m.times(s.ctm)
		}
	case "Do":
		return in.form(operands, resources)
	case "BT":
		in.tm, in.lm = identity, identity
	case "Tf":
		return in.setFont(operands, resources)
	case "Tc":
		s.charSpace = num(0)
	case "Tw":
		s.wordSpace = num(0)
	case "Tz":
		s.scale = num(0) / 100
	case "TL":
		s.leading = num(0)
	case "Ts":
		s.rise = num(0)
	default:
		return in.text(op, operands, num)
	}
	return nil
}

// text does the operators that move or show text.
func (in *interpreter) text(op keyword, operands []any, num func(int) float64) error {
	s := &in.state
	switch op {
	case "Td":
		in.move(num(0), num(1))
	case "TD":
		s.leading = -num(1)
		in.move(num(0), num(1))
	case "Tm":
		if m, ok := matrixOf(operands); ok {
			in.tm, in.lm = m, m
		}
	case "T*":
		in.move(0, -s.leading)
	case "Tj":
		return in.showAll(operands)
	case "TJ":
		if len(operands) > 0 {
			list, _ := operands[0].(array)
			return in.showAll(list)
		}
	case "'":
		in.move(0, -s.leading)
		return in.showAll(operands)
	case `"`:
		s.wordSpace, s.charSpace = num(0), num(1)
		in.move(0, -s.leading)
		return in.showAll(operands[min(2, len(operands)):])
	}
	return nil
}

func (in *interpreter) move(x, y float64) {
	in.lm = matrix{1, 0, 0, 1, x, y}.times(in.lm)
	in.tm = in.lm
}

func (in *interpreter) setFont(operands []any, resources dict) error {
	if len(operands) < 2 {
		return nil
	}
	key, _ := operands[0].(name)
	in.state.size, _ = operands[1].(float64)
	in.state.font = nil
	v := in.file.dict(resources["Font"])[key]
	if v == nil {
		return nil
	}
	var err error
	in.state.font, err = in.file.font(v)
	return err
}

// showAll shows strings; numbers between them move back by thousandths.
func (in *interpreter) showAll(list []any) error {
	for _, v := range list {
		switch v := v.(type) {
		case float64:
			in.advance(-v / 1000 * in.state.size * in.state.scale)
		case text:
			if err := in.show(string(v)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (in *interpreter) advance(x float64) {
	in.tm = matrix{1, 0, 0, 1, x, 0}.times(in.tm)
}

func (in *interpreter) show(shown string) error {
	s := &in.state
	if s.font == nil {
		return nil
	}
	if in.file.runs--; in.file.runs < 0 {
		return ErrTooLarge
	}
	placed := matrix{s.size * s.scale, 0, 0, s.size, 0, s.rise}
	begin := placed.times(in.tm).times(s.ctm)
	var out []byte
	for shown != "" {
		var g glyph
		g, shown = s.font.glyph(shown)
		out = append(out, g.text...)
		width := g.width*s.size + s.charSpace
		if g.blank {
			width += s.wordSpace
		}
		in.advance(width * s.scale)
	}
	if in.file.left -= len(out); in.file.left < 0 {
		return ErrTooLarge
	}
	in.lines.add(begin, placed.times(in.tm).times(s.ctm), string(out))
	return nil
}

// form draws a form XObject with its own resources.
func (in *interpreter) form(operands []any, resources dict) error {
	if len(operands) == 0 || in.depth >= maxForms {
		return nil
	}
	key, _ := operands[0].(name)
	s, ok := in.file.get(in.file.dict(resources["XObject"])[key]).(*stream)
	if !ok || in.file.name(s.dict["Subtype"]) != "Form" || in.forms[s] {
		return nil
	}
	data, err := in.file.decode(s)
	if err != nil {
		return err
	}
	if own := in.file.dict(s.dict["Resources"]); own != nil {
		resources = own
	}
	inner := *in
	inner.saved, inner.depth = nil, in.depth+1
	if m, ok := matrixOf(in.file.array(s.dict["Matrix"])); ok {
		inner.state.ctm = m.times(inner.state.ctm)
	}
	in.forms[s] = true
	defer delete(in.forms, s)
	// What is drawn again and again unpacks once but costs each time.
	if in.file.left -= len(data); in.file.left < 0 {
		return ErrTooLarge
	}
	return inner.run(data, resources)
}

// finite guards against what a hostile matrix makes of coordinates.
func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}
