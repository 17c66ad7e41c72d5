package answer

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// form is the patterns of a section, of which what was said is matched with those alone
// that it may match: each needs one of a few words, and most of what is said has none of
// them.
type form struct {
	patterns []*regexp.Regexp
	// words are the patterns that need a word, stems those that need one that begins so,
	// and always those that need none.
	words  map[string][]int
	stems  []stem
	always []int
	joined func() *regexp.Regexp
}

// stem is the beginning of a word that a pattern needs.
type stem struct {
	begins  string
	pattern int
}

// need is a word that a pattern cannot do without, or the beginning of one.
type need struct {
	word   string
	begins bool
}

// newForm is the form of patterns, of which the first that fits is taken.
func newForm(all []compiled) *form {
	f := &form{words: map[string][]int{}}
	var expressions []string
	for i, one := range all {
		expressions = append(expressions, one.expression)
		f.patterns = append(f.patterns, regexp.MustCompile(one.expression))
		if len(one.needs) == 0 {
			f.always = append(f.always, i)
		}
		for _, n := range one.needs {
			if n.begins {
				f.stems = append(f.stems, stem{n.word, i})
			} else {
				f.words[n.word] = append(f.words[n.word], i)
			}
		}
	}
	f.joined = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?:" + strings.Join(expressions, "|") + ")")
	})
	return f
}

// candidates are the patterns that what was said may match, in order.
func (f *form) candidates(said string) []int {
	out := slices.Clone(f.always)
	for rest := said; rest != ""; {
		word, after, _ := strings.Cut(rest, ";")
		word, rest = strings.TrimPrefix(word, " "), after
		out = append(out, f.words[word]...)
		for _, s := range f.stems {
			if strings.HasPrefix(word, s.begins) {
				out = append(out, s.pattern)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// FindStringIndex is where the first match stands, as all patterns in one alternation find
// it: the leftmost, and of several the one whose pattern comes first.
func (f *form) FindStringIndex(said string) []int {
	var found []int
	for _, i := range f.candidates(said) {
		if at := f.patterns[i].FindStringIndex(said); at != nil && (found == nil || at[0] < found[0]) {
			found = at
		}
	}
	return found
}

// spans are where the patterns stand in what was said, the matches of each pattern in order.
func (f *form) spans(said string) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for _, i := range f.candidates(said) {
			for _, at := range f.patterns[i].FindAllStringIndex(said, -1) {
				if at[1] > at[0] && !yield(at) {
					return
				}
			}
		}
	}
}

// MatchString says whether a pattern stands anywhere in what was said.
func (f *form) MatchString(said string) bool {
	return slices.ContainsFunc(f.candidates(said), func(i int) bool { return f.patterns[i].MatchString(said) })
}

// ReplaceAllString is what was said with other words for all that match.
func (f *form) ReplaceAllString(said, by string) string {
	if len(f.candidates(said)) == 0 {
		return said
	}
	return f.joined().ReplaceAllString(said, by)
}
