package endpoint

import (
	"bytes"
	"encoding/json"
)

// peek answers the id and the type of an event, as empty strings when it has
// none. They come first in a body, and it reads no further: decoding all of
// it would cost as much as the rest of a counted request.
func peek(body []byte) (id, kind string) {
	p := peeker{body}
	if !p.next('{') {
		return "", ""
	}
	for id == "" || kind == "" {
		key, ok := p.text()
		if !ok || !p.next(':') {
			return id, kind
		}
		switch key {
		case "id":
			id, ok = p.text()
		case "type":
			kind, ok = p.text()
		default:
			p.skip()
		}
		if !ok || !p.next(',') {
			return id, kind
		}
	}
	return id, kind
}

// peeker walks through JSON that it trusts to be well formed; where it is not
// it ends sooner.
type peeker struct{ rest []byte }

// next steps over space and one character, if that is what follows.
func (p *peeker) next(c byte) bool {
	p.rest = bytes.TrimLeft(p.rest, " \t\r\n")
	if len(p.rest) == 0 || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

// text steps over a string.
func (p *peeker) text() (text string, ok bool) {
	if !p.next('"') {
		return "", false
	}
	end, escaped := closing(p.rest)
	if end < 0 {
		return "", false
	}
	raw := p.rest[:end]
	p.rest = p.rest[end+1:]
	if !escaped {
		return string(raw), true
	}
	err := json.Unmarshal([]byte(`"`+string(raw)+`"`), &text)
	return text, err == nil
}

// skip steps over a value, up to what ends it in the object around it.
func (p *peeker) skip() {
	depth := 0
	for i := 0; i < len(p.rest); i++ {
		switch p.rest[i] {
		case '"':
			end, _ := closing(p.rest[i+1:])
			if end < 0 {
				p.rest = nil
				return
			}
			i += 1 + end
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth < 0 || depth == 0 && p.rest[i] == ',' {
			p.rest = p.rest[i:]
			return
		}
	}
	p.rest = nil
}

// closing finds the quote that ends a string, and whether there are escapes
// before it.
func closing(s []byte) (end int, escaped bool) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return i, escaped
		case '\\':
			escaped = true
			i++
		}
	}
	return -1, escaped
}
