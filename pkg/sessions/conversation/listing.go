package conversation

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// leastItems is how many items make a list.
const leastItems = 3

// lists are the lists and tables of passages as candidates, each as a whole: what asks
// for all of something is answered by the names of the items.
func lists(language string, passages []Passage, all []candidate) []candidate {
	var out []candidate
	for n, p := range passages {
		rows := slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return c.passage != n || !c.item })
		for len(rows) >= leastItems {
			of, rest := alike(rows)
			rows = rest
			if len(of) < leastItems {
				continue
			}
			text, about := named(of)
			if text == "" || utf8.RuneCountInString(text) > maxAnswer {
				continue
			}
			spoken := cmp.Or(p.Language, language)
			c := candidate{text: text, passage: n, place: of[0].place, item: true, whole: true}
			c.held = held(spoken, about+" "+p.Heading+" "+of[0].text)
			out = append(out, c)
		}
	}
	return out
}

// alike are the rows of the table of the first, or the other items of its list, and what
// is left.
func alike(rows []candidate) (of, rest []candidate) {
	column, _, table := cell(rows[0].text)
	for _, row := range rows {
		other, _, is := cell(row.text)
		if is == table && (!table || other == column) {
			of = append(of, row)
		} else {
			rest = append(rest, row)
		}
	}
	return of, rest
}

// cell is the first cell of a row of a table: its column and its value.
func cell(row string) (column, value string, ok bool) {
	first, _, table := strings.Cut(row, "; ")
	column, value, ok = strings.Cut(first, ": ")
	return column, value, table && ok
}

// named are the names of the rows, and what they are of.
func named(rows []candidate) (text, about string) {
	var names []string
	for _, row := range rows {
		if column, value, ok := cell(row.text); ok {
			about = column
			names = append(names, value)
			continue
		}
		name, _, _ := strings.Cut(row.text, ": ")
		names = append(names, strings.TrimRight(name, ".;。"))
	}
	text = strings.Join(names, "; ") + "."
	if about != "" {
		text = about + ": " + text
	}
	return text, about
}
