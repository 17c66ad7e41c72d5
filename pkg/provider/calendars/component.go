package calendars

import (
	"errors"
	"strings"
)

// Component is a part of an iCalendar text (RFC 5545, 3.6), as it is written: what nobody looks at stays
// as it was when it is written again.
type Component struct {
	Name     string
	Lines    []Line
	Children []*Component
}

// Line is a content line.
type Line struct {
	// Name and the names of parameters are in upper case; Raw is the line as it came, unfolded.
	Name, Value, Raw string
	Params           map[string]string
}

// The bounds of a text.
const (
	deepest = 8
	// longestLine is in bytes, unfolded. Longer ones, such as files within, are looked at no further, but for lists of
	// dates, which nobody reads in part.
	longestLine = 64 << 10
	mostLines   = 400_000
)

// errMalformed says that a text is no iCalendar, or more than is read.
var errMalformed = errors.New("the text is no iCalendar, or too much of it")

// Parse reads a text with one VCALENDAR. Lines that make no sense are kept, and looked at no further.
func Parse(text string) (*Component, error) {
	if strings.Count(text, "\n") > mostLines {
		return nil, errMalformed
	}
	var open []*Component
	for _, raw := range unfold(text) {
		l := Line{Raw: raw}
		switch {
		case len(raw) <= longestLine:
			l = readLine(raw)
		case strings.HasPrefix(raw, "RDATE") || strings.HasPrefix(raw, "EXDATE"):
			return nil, errMalformed
		}
		switch {
		case raw == "":
		case l.Name == "BEGIN":
			c := &Component{Name: strings.ToUpper(strings.TrimSpace(l.Value))}
			if len(open) == deepest || len(open) == 0 && c.Name != "VCALENDAR" {
				return nil, errMalformed
			}
			if len(open) > 0 {
				parent := open[len(open)-1]
				parent.Children = append(parent.Children, c)
			}
			open = append(open, c)
		case len(open) == 0:
			return nil, errMalformed
		case l.Name == "END":
			if !strings.EqualFold(strings.TrimSpace(l.Value), open[len(open)-1].Name) {
				return nil, errMalformed
			}
			if len(open) == 1 {
				return open[0], nil
			}
			open = open[:len(open)-1]
		default:
			c := open[len(open)-1]
			c.Lines = append(c.Lines, l)
		}
	}
	return nil, errMalformed
}

// unfold are the lines of a text, without the breaks inside (RFC 5545, 3.1).
func unfold(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\n ", ""), "\n\t", "")
	return strings.Split(text, "\n")
}

// readLine reads a line; its name is empty where it is none.
func readLine(raw string) Line {
	l := Line{Raw: raw}
	end := strings.IndexAny(raw, ";:")
	if end <= 0 {
		return l
	}
	name, rest := strings.ToUpper(raw[:end]), raw[end:]
	var params map[string]string
	for strings.HasPrefix(rest, ";") {
		if params == nil {
			params = map[string]string{}
		}
		key, after, found := strings.Cut(rest[1:], "=")
		if !found {
			return l
		}
		stop := valueEnd(after)
		if stop < 0 {
			return l
		}
		params[strings.ToUpper(key)] = strings.Trim(after[:stop], `"`)
		rest = after[stop:]
	}
	if !strings.HasPrefix(rest, ":") {
		return l
	}
	l.Name, l.Params, l.Value = name, params, rest[1:]
	return l
}

// valueEnd is where the value of a parameter ends; negative for nowhere.
func valueEnd(text string) int {
	quoted := false
	for i := range len(text) {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case !quoted && (text[i] == ';' || text[i] == ':'):
			return i
		}
	}
	return -1
}

// line is the first of a name; nil for none.
func (c *Component) line(name string) *Line {
	for i := range c.Lines {
		if c.Lines[i].Name == name {
			return &c.Lines[i]
		}
	}
	return nil
}

// Text is the value of the first line of a name, as it is written; empty for none.
func (c *Component) Text(name string) string {
	if l := c.line(name); l != nil {
		return strings.TrimSpace(l.Value)
	}
	return ""
}

// named are the children of a name.
func (c *Component) named(name string) (found []*Component) {
	for _, child := range c.Children {
		if child.Name == name {
			found = append(found, child)
		}
	}
	return found
}

// set writes a line in place of those of its name, which is there once afterwards.
func (c *Component) set(name, value string) {
	c.drop(name)
	c.Lines = append(c.Lines, Line{Name: name, Value: value, Raw: name + ":" + value})
}

// drop takes away the lines of a name.
func (c *Component) drop(name string) {
	kept := c.Lines[:0:0]
	for _, l := range c.Lines {
		if l.Name != name {
			kept = append(kept, l)
		}
	}
	c.Lines = kept
}

// write writes the component, with lines of at most 75 bytes.
func (c *Component) write(b *strings.Builder) {
	fold(b, "BEGIN:"+c.Name)
	for _, l := range c.Lines {
		fold(b, l.Raw)
	}
	for _, child := range c.Children {
		child.write(b)
	}
	fold(b, "END:"+c.Name)
}

// longestWritten is how many bytes a line has at most (RFC 5545, 3.1).
const longestWritten = 75

func fold(b *strings.Builder, line string) {
	room := longestWritten
	for len(line) > room {
		cut := room
		for cut > 0 && line[cut]&0xC0 == 0x80 { // inside of a character
			cut--
		}
		if cut == 0 {
			cut = room // no UTF-8
		}
		b.WriteString(line[:cut] + "\r\n ")
		line, room = line[cut:], longestWritten-1
	}
	b.WriteString(line + "\r\n")
}

// escape writes a text as a value (RFC 5545, 3.3.11). Other control characters than breaks are left out.
func escape(text string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\\' || r == ';' || r == ',':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
