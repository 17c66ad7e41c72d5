package route

import (
	"bytes"
	"encoding/json"
	"strconv"

	"visavis.dev/pkg/base/problem"
)

// nest is an object or a list of a JSON text that is being read: its names so far with the one that comes
// next, or how many items it has.
type nest struct {
	at    string
	names map[string]bool
	name  string
	items int
}

// checkMembers refuses an object of JSON that has a name twice, of which a schema sees one and a decoder
// may take parts of both, and a number that no field can hold. The JSON is valid.
func checkMembers(body []byte) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var open []*nest
	for token, err := d.Token(); err == nil; token, err = d.Token() {
		if token == json.Delim('}') || token == json.Delim(']') {
			open = open[:len(open)-1]
			continue
		}
		at := "body"
		if len(open) > 0 {
			within := open[len(open)-1]
			if name, ok := token.(string); ok && within.names != nil && within.name == "" {
				if within.names[name] {
					return problem.Invalid(within.at+"."+name, "%s.%s was sent more than once.", within.at, name)
				}
				within.names[name], within.name = true, "."+name
				continue
			}
			at = within.next()
		}
		switch token {
		case json.Delim('{'):
			open = append(open, &nest{at: at, names: map[string]bool{}})
		case json.Delim('['):
			open = append(open, &nest{at: at})
		}
		if number, ok := token.(json.Number); ok {
			if _, err := number.Float64(); err != nil {
				return problem.Invalid(at, "%s is a number out of range.", at)
			}
		}
	}
	return nil
}

// next is where the value stands that comes next.
func (p *nest) next() string {
	if p.names == nil {
		p.items++
		return p.at + "[" + strconv.Itoa(p.items-1) + "]"
	}
	at := p.at + p.name
	p.name = ""
	return at
}
