package route

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"visavis.dev/pkg/base/problem"
)

// nest is an object or a list of a JSON text that is being read.
type nest struct {
	// names are those of an object so far; nil for a list.
	names map[string]bool
	// name is the last of them, and named says that its value comes next.
	name  string
	named bool
	// items counts those of a list.
	items int
}

// longestPlace is how much of the name of a place is told, in bytes.
const longestPlace = 500

// place names the value that is being read. It is made only where something is wrong: a body can be nested so
// deeply that the places of all its values took gigabytes.
func place(open []*nest) string {
	var at strings.Builder
	at.WriteString("body")
	for _, n := range open {
		if at.Len() > longestPlace {
			break
		}
		if n.names != nil {
			at.WriteString("." + strings.ReplaceAll(n.name, "\x00", ""))
		} else {
			at.WriteString("[" + strconv.Itoa(n.items-1) + "]")
		}
	}
	if at.Len() > longestPlace {
		return strings.ToValidUTF8(at.String()[:longestPlace], "") + "…"
	}
	return at.String()
}

// checkMembers refuses texts with a NUL character, which no database keeps; an object that has a name twice, of
// which a schema sees one and a decoder may take parts of both; and a number that no field can hold. The JSON is valid.
func checkMembers(body []byte) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var open []*nest
	for token, err := d.Token(); err == nil; token, err = d.Token() {
		if token == json.Delim('}') || token == json.Delim(']') {
			open = open[:len(open)-1]
			continue
		}
		text, isText := token.(string)
		isName := false
		if len(open) > 0 {
			isName = open[len(open)-1].next(text)
		}
		if isText && strings.ContainsRune(text, 0) {
			return problem.Invalid(place(open), "Text must not contain NUL characters.")
		}
		if isName {
			within := open[len(open)-1]
			if within.names[text] {
				return problem.Invalid(place(open), "%s was sent more than once.", place(open))
			}
			within.names[text] = true
			continue
		}
		switch token {
		case json.Delim('{'):
			open = append(open, &nest{names: map[string]bool{}})
		case json.Delim('['):
			open = append(open, &nest{})
		}
		if number, ok := token.(json.Number); ok {
			if _, err := number.Float64(); err != nil {
				return problem.Invalid(place(open), "%s is a number out of range.", place(open))
			}
		}
	}
	return nil
}

// next takes in the next token, which is text if it is one, and says whether it is the name of a member.
func (n *nest) next(text string) bool {
	switch {
	case n.names == nil:
		n.items++
	case n.named:
		n.named = false
	default:
		n.name, n.named = text, true
		return true
	}
	return false
}
