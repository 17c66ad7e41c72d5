package candidate

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/store/tenant"
)

// blank stands where a candidate named themselves.
const blank = "▇▇▇"

// shortest is how many letters a part of a name has at least to be looked for; one of so many as short, or fewer, is looked
// for as it is written.
const (
	shortest = 2
	short    = 3
)

// endings is how many letters a name has after it at most where it is inflected ("Müllers"). Some other words that begin
// with a name are taken for it: a name that stays is worse.
const endings = 2

// named is something that a candidate is called or reached by. It is tried alone at a place, so that a
// shorter one matches where a longer one does not.
type named struct {
	text string
	// find is it at the beginning of a text.
	find *regexp.Regexp
	// inflects says that it is a name, which can have letters after it.
	inflects bool
}

// end is how long it is at the beginning of a text, with the letters after it; false where the text does not begin with it.
func (n *named) end(text string) (end int, is bool) {
	at := n.find.FindStringIndex(text)
	if at == nil {
		return 0, false
	}
	end = at[1]
	for letters := 0; ; letters++ {
		r, size := utf8.DecodeRuneInString(text[end:])
		switch {
		case !inWord(r):
			return end, true
		case !n.inflects || letters == endings || !unicode.IsLetter(r):
			return 0, false
		}
		end += size
	}
}

// Redact blanks out what tells who a candidate is in words of theirs, or about them, as long as that is
// hidden: their name and each part of it, also inflected, address, number and the organization's own id. It
// changes nothing of who is not hidden.
func (c *Candidate) Redact(r *role.Role) func(string) string {
	if !c.Hidden(r) {
		return func(text string) string { return text }
	}
	var (
		names   []named
		written []string
	)
	add := func(text string, isName bool) {
		text = strings.TrimSpace(text)
		letters := utf8.RuneCountInString(text)
		if letters < shortest {
			return
		}
		pattern := regexp.QuoteMeta(text)
		if letters > short { // of shorter ones another case is rather a word
			pattern = "(?i:" + pattern + ")"
		}
		written = append(written, pattern)
		names = append(names, named{text, regexp.MustCompile("^" + pattern), isName && letters > shortest})
	}
	add(c.Name, true)
	for _, part := range strings.FieldsFunc(c.Name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) }) {
		add(part, true)
		for _, name := range unspaced(part) {
			add(name, true)
		}
	}
	for _, of := range []*string{c.Email, c.Phone, c.ExternalID} {
		if of != nil {
			add(*of, false)
		}
	}
	if len(names) == 0 {
		return func(text string) string { return text }
	}
	slices.SortStableFunc(names, func(a, b named) int { return len(b.text) - len(a.text) }) // the whole name before its parts
	find := regexp.MustCompile(strings.Join(written, "|"))
	return func(text string) string { return redact(text, find, names) }
}

// redact blanks out names in a text, in which find finds where one may begin.
func redact(text string, find *regexp.Regexp, names []named) string {
	var out strings.Builder
	for from, at := 0, 0; ; {
		next := find.FindStringIndex(text[at:])
		if next == nil {
			out.WriteString(text[from:])
			return out.String()
		}
		begin := at + next[0]
		_, size := utf8.DecodeRuneInString(text[begin:])
		at = begin + size
		if before, _ := utf8.DecodeLastRuneInString(text[:begin]); inWord(before) {
			continue
		}
		for i := range names {
			end, is := names[i].end(text[begin:])
			if !is {
				continue
			}
			out.WriteString(text[from:begin])
			out.WriteString(blank)
			from, at = begin+end, begin+end
			break
		}
	}
}

// longestUnspaced is how many signs a name has at most that is written without a space between its parts.
const longestUnspaced = 6

// unspaced are the parts that a name may have that is written without a space, as in China, Japan and Korea: where the
// script changes, or, as nobody can tell where the family name ends, two or three signs of the beginning and of the end.
func unspaced(name string) (parts []string) {
	signs := []rune(name)
	if len(signs) <= shortest || slices.ContainsFunc(signs, func(r rune) bool {
		return !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
	}) {
		return nil
	}
	from := 0
	for i := 1; i < len(signs); i++ {
		if unicode.Is(unicode.Hiragana, signs[i]) != unicode.Is(unicode.Hiragana, signs[i-1]) || unicode.Is(unicode.Katakana, signs[i]) != unicode.Is(unicode.Katakana, signs[i-1]) {
			parts, from = append(parts, string(signs[from:i])), i
		}
	}
	if from > 0 {
		return append(parts, string(signs[from:]))
	}
	if len(signs) > longestUnspaced || !unicode.In(signs[0], unicode.Han, unicode.Hangul) {
		return nil
	}
	for n := shortest; n <= short && n < len(signs); n++ {
		parts = append(parts, string(signs[:n]), string(signs[len(signs)-n:]))
	}
	return parts
}

// RedactOf is Redact of a candidate by their id, also of who is erased.
func RedactOf(ctx context.Context, tx *tenant.Tx, which id.Candidate) (func(string) string, error) {
	c, err := tenant.OneIn(ctx, tx, scan, Noun.NotFound(which), selectOne, tx.Org, which)
	if err != nil {
		return nil, err
	}
	r, err := c.FindRole(ctx, tx)
	return c.Redact(&r), err
}

// inWord says whether a sign goes on a word. Signs of scripts that write words without spaces do not.
func inWord(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
}
