package search

import (
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"golang.org/x/text/cases"
)

// Term is a word as it is indexed, and where it stands.
type Term struct {
	// Text is the term: folded, and stemmed where the language is known.
	Text string
	// From and To bound the word in the text, in bytes.
	From, To int
	// Stop says that the word says nothing of what the text is about.
	Stop bool
}

// Range is a stretch of a text in Unicode code points: [From, To).
type Range struct{ From, To int }

// Terms analyses a text, in the order of its words; a code comes whole before
// its parts. A language is a code such as "de" or "de-CH"; of an unknown one
// words are folded and not stemmed.
func Terms(language, text string) []Term {
	a := newAnalyser(language)
	found := split(text)
	out := make([]Term, 0, len(found))
	for _, w := range found {
		t := a.term(text, w)
		if t.Text != "" {
			out = append(out, t)
		}
	}
	return out
}

// Highlights are the words of a text that a query asks for, both in one
// language, with neighbours merged. Stop words are shown only where the query
// has nothing else. The ranges count Unicode code points.
func Highlights(language, query, text string) []Range {
	asked := map[string]bool{}
	for _, t := range essential(base(language), Terms(language, query)) {
		asked[t.Text] = true
	}
	var out []Range
	at, points, end := 0, 0, -1
	for _, t := range Terms(language, text) {
		if !asked[t.Text] || t.To <= end {
			continue
		}
		from := max(t.From, end)
		joined := len(out) > 0 && strings.TrimSpace(text[end:from]) == ""
		points += utf8.RuneCountInString(text[at:from])
		start := points
		points += utf8.RuneCountInString(text[from:t.To])
		at, end = t.To, t.To
		if joined {
			out[len(out)-1].To = points
		} else {
			out = append(out, Range{start, points})
		}
	}
	return out
}

// essential leaves of a question's terms those that say what it is about: not
// its stop words, and not the words of asking, unless there is nothing else.
func essential(language string, terms []Term) []Term {
	keep := func(worth func(Term) bool) (out []Term) {
		for _, t := range terms {
			if worth(t) {
				out = append(out, t)
			}
		}
		return out
	}
	asking := askingTerms(language)
	if out := keep(func(t Term) bool { return !t.Stop && !asking[t.Text] }); len(out) > 0 {
		return out
	}
	if out := keep(func(t Term) bool { return !t.Stop }); len(out) > 0 {
		return out
	}
	return terms
}

// analyser turns the words of one text into terms. It is one goroutine's: the
// stemmers work in its env.
type analyser struct {
	language string
	env      *snowballstem.Env
	fold     cases.Caser
}

func newAnalyser(language string) *analyser {
	return &analyser{language: base(language), env: snowballstem.NewEnv(""), fold: cases.Fold()}
}

// base is a language's code without region and in lower case; Norwegian has
// one code here.
func base(language string) string {
	code, _, _ := strings.Cut(strings.ReplaceAll(language, "_", "-"), "-")
	code = strings.ToLower(code)
	if code == "nb" || code == "nn" {
		return "no"
	}
	return code
}

func (a *analyser) term(text string, w word) Term {
	from := w.from
	if w.shape == plain {
		from += a.elision(text[w.from:w.to])
	}
	s := a.lower(text[from:w.to])
	switch w.shape {
	case code:
		s = compact(s)
	case plain:
		s = strings.TrimSuffix(s, "'s")
	}
	folded := unmarked(s)
	t := Term{From: from, To: w.to, Stop: isStop(a.language, folded, w.shape) && !Acronym(text, from, w.to)}
	if !t.Stop && w.shape == plain {
		folded = unmarked(a.stem(s))
	}
	t.Text = cut(folded)
	return t
}

// elision is how many bytes of a word are an elided word before it.
func (a *analyser) elision(s string) int {
	for i, r := range s {
		if r == '\'' || r == '’' || r == 'ʼ' {
			end := i + utf8.RuneLen(r)
			if end < len(s) && elided[a.language][a.lower(s[:i])] {
				return end
			}
			return 0
		}
	}
	return 0
}

// compact writes a code in its one way: numerals without separators, letters
// and digits without what people put between them ("A-113" and "A113").
func compact(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && !strings.ContainsRune(".,'", r) }) < 0 {
		return number(s)
	}
	s = joined.Replace(s)
	if strings.Contains(s, ".") && len(strings.ReplaceAll(s, ".", "")) <= len(s)/2+1 && !strings.ContainsAny(s, "0123456789@") {
		return strings.ReplaceAll(s, ".", "") // an abbreviation: "U.S.A"
	}
	return s
}

var joined = strings.NewReplacer("-", "", "‐", "", "‑", "", "_", "", "/", "")
