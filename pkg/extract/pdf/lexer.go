package pdf

import (
	"bytes"
	"strconv"
	"strings"
)

// maxNesting bounds arrays and dictionaries within one another. Real files nest a
// handful.
const maxNesting = 64

// lexer reads objects and keywords out of bytes. It never fails: what makes no sense
// is skipped or null, as every reader of PDF does.
type lexer struct {
	data []byte
	pos  int
}

// end is what next gives after the last byte.
type end struct{}

// next reads one object or keyword. References are left as numbers and the keyword R,
// except within arrays and dictionaries.
func (l *lexer) next() any { return l.read(0) }

func (l *lexer) read(depth int) any {
	l.space()
	if l.pos >= len(l.data) {
		return end{}
	}
	switch c := l.data[l.pos]; {
	case c == '/':
		l.pos++
		return l.name()
	case c == '(':
		l.pos++
		return l.literal()
	case c == '<' && l.at(1) == '<':
		l.pos += 2
		return l.dict(depth + 1)
	case c == '<':
		l.pos++
		return l.hex()
	case c == '[':
		l.pos++
		return l.array(depth+1, "]")
	case c == '>' && l.at(1) == '>':
		l.pos += 2
		return keyword(">>")
	case delimiter(c):
		l.pos++
		return keyword(string(c))
	}
	return l.word()
}

func (l *lexer) at(ahead int) byte {
	if l.pos+ahead < len(l.data) {
		return l.data[l.pos+ahead]
	}
	return 0
}

// space skips white space and comments.
func (l *lexer) space() {
	for l.pos < len(l.data) {
		switch c := l.data[l.pos]; {
		case white(c):
			l.pos++
		case c == '%':
			for l.pos < len(l.data) && l.data[l.pos] != '\n' && l.data[l.pos] != '\r' {
				l.pos++
			}
		default:
			return
		}
	}
}

func (l *lexer) regular() []byte {
	start := l.pos
	for l.pos < len(l.data) && !white(l.data[l.pos]) && !delimiter(l.data[l.pos]) {
		l.pos++
	}
	return l.data[start:l.pos]
}

func (l *lexer) name() name {
	raw := l.regular()
	if !bytes.Contains(raw, []byte("#")) {
		return name(raw)
	}
	var out []byte
	for i := 0; i < len(raw); i++ {
		if raw[i] == '#' && i+2 < len(raw) {
			if v, err := strconv.ParseUint(string(raw[i+1:i+3]), 16, 8); err == nil {
				out = append(out, byte(v))
				i += 2
				continue
			}
		}
		out = append(out, raw[i])
	}
	return name(out)
}

func (l *lexer) word() any {
	raw := string(l.regular())
	if f, err := strconv.ParseFloat(raw, 64); err == nil && raw[len(raw)-1] <= '9' {
		return f
	}
	switch raw {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	return keyword(raw)
}

// literal reads a string in parentheses (section 7.3.4.2).
func (l *lexer) literal() text {
	var out []byte
	for open := 1; l.pos < len(l.data); l.pos++ {
		c := l.data[l.pos]
		switch c {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				l.pos++
				return text(out)
			}
		case '\\':
			out = l.escape(out)
			continue
		}
		out = append(out, c)
	}
	return text(out)
}

// escape reads what follows a backslash, and stays on its last byte.
func (l *lexer) escape(out []byte) []byte {
	l.pos++
	switch c := l.at(0); c {
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	case 'b', 'f':
		return out
	case '\r':
		if l.at(1) == '\n' {
			l.pos++
		}
		return out
	case '\n':
		return out
	case '0', '1', '2', '3', '4', '5', '6', '7':
		v := int(c - '0')
		for range 2 {
			if d := l.at(1); d < '0' || d > '7' {
				break
			}
			l.pos++
			v = v<<3 + int(l.data[l.pos]-'0')
		}
		return append(out, byte(v))
	default:
		return append(out, c)
	}
}

// hex reads a string in angle brackets.
func (l *lexer) hex() text {
	var out []byte
	high := -1
	for ; l.pos < len(l.data); l.pos++ {
		c := l.data[l.pos]
		if c == '>' {
			l.pos++
			break
		}
		v := nibble(c)
		switch {
		case v < 0:
		case high < 0:
			high = v
		default:
			out, high = append(out, byte(high<<4|v)), -1
		}
	}
	if high >= 0 {
		out = append(out, byte(high<<4))
	}
	return text(out)
}

// array reads to the closing keyword, turning "n g R" into references on the way.
func (l *lexer) array(depth int, closing keyword) array {
	var out array
	for {
		v := l.element(depth)
		switch v {
		case end{}, closing:
			return out
		case keyword("R"):
			if n := len(out); n >= 2 {
				out = append(out[:n-2], ref(number(out[n-2])))
			}
			continue
		case keyword("obj"), keyword("endobj"), keyword("stream"):
			return out // the closing was forgotten
		}
		if _, other := v.(keyword); !other {
			out = append(out, v)
		}
	}
}

// element reads one value of an array, or skips one bracket of what is too deep.
func (l *lexer) element(depth int) any {
	if depth < maxNesting {
		return l.read(depth)
	}
	l.space()
	if c := l.at(0); c == '[' || c == '<' && l.at(1) == '<' {
		l.pos++
		return nil
	}
	return l.read(depth)
}

func (l *lexer) dict(depth int) dict {
	pairs := l.array(depth, ">>")
	out := make(dict, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		if key, ok := pairs[i].(name); ok {
			out[key] = pairs[i+1]
		}
	}
	return out
}

func white(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func delimiter(c byte) bool { return strings.IndexByte("()<>[]{}/%", c) >= 0 }

func nibble(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
