package answer

import (
	"fmt"
	"regexp"
	"strings"

	"visavis.dev/pkg/text/search"
)

// The files under talk are written in patterns. A pattern is words with blanks between:
//
//	a|b     one of them
//	<name>  one of the words and phrases of the set of that name
//	a?      it may be missing
//	a~      a word that begins so; ~a one that ends so
//	*       up to three words, whatever they are; at the end, all that follow
//	^ $     the beginning and the end of what is said
//
// Case, accents and punctuation do not matter; an apostrophe parts words ("it s"). Of
// a script that puts no spaces between words, what stands without a blank stands
// together, and * is up to six characters. Patterns have a comma between them and
// lines have no meaning, except that a set's name and a [section] have one each.

// Text is what was said, as patterns match it: each word after a blank and closed by ";".
type spoken struct {
	text  string
	words []string
}

// maxSpoken is how many words of what was said are looked at: who talks longer tells
// or asks something.
const maxSpoken = 60

// hear makes what was said a text to match, with the spellings of a language.
func hear(text string, spellings map[string][]string) spoken {
	words := []string(search.NewPhrase(text))
	var out []string
	for i := 0; i < len(words) && len(out) < maxSpoken; i++ {
		word := bareLetters.Replace(words[i])
		if i+1 < len(words) {
			if to := spellings[word+" "+bareLetters.Replace(words[i+1])]; to != nil {
				out = append(out, to...)
				i++
				continue
			}
		}
		if to := spellings[word]; to != nil {
			out = append(out, to...)
			continue
		}
		if word != "" && !strings.ContainsAny(word, "; ") {
			out = append(out, word)
		}
	}
	return spokenOf(out)
}

func spokenOf(words []string) spoken {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(" " + w + ";")
	}
	return spoken{b.String(), words}
}

// bareLetters brings the letters of Arabic that are written in several ways to one.
var bareLetters = strings.NewReplacer("أ", "ا", "إ", "ا", "آ", "ا", "ى", "ي", "ة", "ه", "ؤ", "و", "ئ", "ي", "ـ", "", "\u0654", "", "\u0655", "", "\u0653", "")

// compiler turns patterns into regular expressions.
type compiler struct {
	sets      map[string][]string
	spellings map[string][]string
	wide      bool
}

// compiled is a pattern's expression, which is not anchored, and the words of which it
// needs one; none where it may do without any.
type compiled struct {
	expression string
	needs      []need
}

func (c *compiler) compile(pattern string) (compiled, error) {
	fields := strings.Fields(pattern)
	var b strings.Builder
	var needs []need
	for i, field := range fields {
		switch {
		case field == "*" && i == len(fields)-1:
			b.WriteString(`(?: [^;]+;)*`)
		case field == "*" && c.wide:
			b.WriteString(`(?: [^;]+;){0,6}?`)
		case field == "*":
			b.WriteString(`(?: [^;]+;){0,3}?`)
		case field == "^":
			b.WriteString(`^`)
		case field == "$":
			b.WriteString(`$`)
		default:
			expression, any, err := c.element(field)
			if err != nil {
				return compiled{}, fmt.Errorf("%q: %w", pattern, err)
			}
			b.WriteString(expression)
			if len(any) > 0 && (needs == nil || len(any) < len(needs)) {
				needs = any
			}
		}
	}
	return compiled{b.String(), needs}, nil
}

// element is the expression of a field and the words of which it needs one.
func (c *compiler) element(field string) (expression string, needs []need, err error) {
	field, optional := strings.CutSuffix(field, "?")
	var words []string
	for one := range strings.SplitSeq(field, "|") {
		name, isSet := strings.CutPrefix(one, "<")
		if !isSet {
			words = append(words, one)
			continue
		}
		set := c.sets[strings.TrimSuffix(name, ">")]
		if len(set) == 0 {
			return "", nil, fmt.Errorf("there is no set %s", one)
		}
		words = append(words, set...)
	}
	var any []string
	needed := true
	for _, word := range words {
		expression, n := c.word(word)
		if expression == "" {
			continue
		}
		any = append(any, expression)
		needs, needed = append(needs, n), needed && n.word != ""
	}
	if len(any) == 0 {
		return "", nil, nil
	}
	expression = "(?:" + strings.Join(any, "|") + ")"
	if optional {
		return expression + "?", nil, nil
	}
	if !needed {
		needs = nil
	}
	return expression, needs, nil
}

// word is the expression of a word or phrase, and the longest word that it needs.
func (c *compiler) word(text string) (string, need) {
	text, begins := strings.CutSuffix(text, "~")
	text, ends := strings.CutPrefix(text, "~")
	words := hear(text, c.spellings).words
	var b strings.Builder
	var longest need
	for i, word := range words {
		b.WriteString(" ")
		if ends && i == 0 {
			b.WriteString("[^;]*")
		} else if len(word) > len(longest.word) {
			longest = need{word, begins && i == len(words)-1}
		}
		b.WriteString(regexp.QuoteMeta(word))
		if begins && i == len(words)-1 {
			b.WriteString("[^;]*")
		}
		b.WriteString(";")
	}
	return b.String(), longest
}
