package pdf

import "strings"

// maxCodes bounds what one map holds. A font has no more glyphs than 65,536.
const maxCodes = 1 << 17

// cmap is a ToUnicode map or the code spaces of an encoding (section 9.10.3).
type cmap struct {
	lengths [5]bool // of codes, in bytes, that some code space has
	codes   map[string]string
	ranges  []codeRange
}

// codeRange maps codes of one length that differ in their number alone.
type codeRange struct {
	low, high string
	to        string
}

func parseCMap(data []byte) *cmap {
	m := &cmap{codes: map[string]string{}}
	l := &lexer{data: data}
	var operands []any
	for {
		switch v := l.next().(type) {
		case end:
			return m
		case keyword:
			m.apply(v, operands)
			operands = operands[:0]
		default:
			if len(operands) < maxCodes {
				operands = append(operands, v)
			}
		}
	}
}

func (m *cmap) apply(op keyword, operands []any) {
	switch op {
	case "endcodespacerange":
		for i := 0; i+1 < len(operands); i += 2 {
			if low, ok := operands[i].(text); ok && len(low) < len(m.lengths) {
				m.lengths[len(low)] = true
			}
		}
	case "endbfchar":
		for i := 0; i+1 < len(operands); i += 2 {
			code, ok := operands[i].(text)
			to, fine := operands[i+1].(text)
			if ok && fine && len(m.codes) < maxCodes {
				m.codes[string(code)] = decodeUTF16(string(to))
			}
		}
	case "endbfrange":
		for i := 0; i+2 < len(operands); i += 3 {
			low, ok := operands[i].(text)
			high, fine := operands[i+1].(text)
			if ok && fine && len(low) == len(high) && len(low) > 0 {
				m.addRange(string(low), string(high), operands[i+2])
			}
		}
	}
}

func (m *cmap) addRange(low, high string, to any) {
	switch to := to.(type) {
	case text:
		if len(m.ranges) < maxCodes/8 {
			m.ranges = append(m.ranges, codeRange{low, high, string(to)})
		}
	case array:
		first := codeNumber(low)
		for i, v := range to {
			if s, ok := v.(text); ok && len(m.codes) < maxCodes {
				m.codes[codeBytes(first+i, len(low))] = decodeUTF16(string(s))
			}
		}
	}
}

// lookup finds the text of a code. What was found in a range is remembered.
func (m *cmap) lookup(code string) (string, bool) {
	if s, ok := m.codes[code]; ok {
		return s, true
	}
	for _, r := range m.ranges {
		if len(r.low) != len(code) || code < r.low || code > r.high || len(r.to) < 2 {
			continue
		}
		last := len(r.to) - 2
		unit := codeNumber(r.to[last:]) + codeNumber(code) - codeNumber(r.low)
		s := decodeUTF16(r.to[:last] + codeBytes(unit, 2))
		m.codes[code] = s
		return s, true
	}
	m.codes[code] = ""
	return "", false
}

// next is the length of the code that s begins with.
func (m *cmap) next(s string, otherwise int) int {
	for n := 1; n < len(m.lengths) && n <= len(s); n++ {
		if m.lengths[n] {
			return n
		}
	}
	return min(otherwise, len(s))
}

func codeNumber(code string) int {
	n := 0
	for i := range min(len(code), 4) {
		n = n<<8 | int(code[i])
	}
	return n
}

func codeBytes(n, length int) string {
	var out strings.Builder
	for i := length - 1; i >= 0; i-- {
		out.WriteByte(byte(n >> (8 * i)))
	}
	return out.String()
}
