package answer

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"visavis.dev/pkg/text/search"
)

// Negation is how a text denies what its other words say. Whoever compares statements, or
// says whether something is so, asks it of this file's lists alone.
type Negation struct {
	// Denials is how many words deny the statement: "not", "never". Where a language says it
	// in several words ("ne … pas"), those are one.
	Denials int
	// Unclear says that a part is denied, or that words have the text mean something else:
	// "without", "avoid", "do not forget".
	Unclear bool
}

// Any says that the text may say the contrary of its other words.
func (n Negation) Any() bool { return n.Denials > 0 || n.Unclear }

//go:embed negation.txt
var negationFile string

// negations are how languages deny.
type negation struct {
	plain, not, may, ban *regexp.Regexp
}

// concord are the languages in which several words that deny are one denial.
var concord = map[string]bool{"fr": true, "es": true, "it": true, "pt": true, "pl": true, "ru": true}

var negations = sync.OnceValue(func() map[string]negation {
	all, err := readNegations(negationFile)
	if err != nil {
		panic(err) // the file is part of the program
	}
	for _, other := range []string{"nb", "nn"} {
		all[other] = all["no"]
	}
	return all
})

func readNegations(text string) (map[string]negation, error) {
	all := map[string]negation{}
	for section := range strings.SplitSeq("\n"+text, "\n[") {
		language, rest, ok := strings.Cut(section, "]\n")
		if !ok || strings.HasPrefix(strings.TrimSpace(section), "#") {
			continue
		}
		var n negation
		sets := map[string]**regexp.Regexp{"plain": &n.plain, "not": &n.not, "may": &n.may, "ban": &n.ban}
		for set := range strings.SplitSeq("\n"+rest, "\n= ") {
			name, patterns, _ := strings.Cut(set, "\n")
			if strings.TrimSpace(set) == "" {
				continue
			}
			if sets[name] == nil {
				return nil, fmt.Errorf("%s: there is no set %q", language, name)
			}
			var err error
			if *sets[name], err = anyPattern(language, patterns); err != nil {
				return nil, fmt.Errorf("%s: %w", language, err)
			}
		}
		if n.not == nil || n.may == nil {
			return nil, fmt.Errorf("%s: not and may are needed", language)
		}
		all[language] = n
	}
	return all, nil
}

// anyPattern matches each of a list of patterns.
func anyPattern(language, patterns string) (*regexp.Regexp, error) {
	c := compiler{wide: language == "zh" || language == "ja"}
	var any []string
	for line := range strings.Lines(patterns) {
		for _, pattern := range list(strings.TrimSpace(line)) {
			one, err := c.compile(pattern)
			if err != nil {
				return nil, err
			}
			any = append(any, one.expression)
		}
	}
	return regexp.Compile(strings.Join(any, "|"))
}

// NegationIn reads how a text denies. known is false in a language of which that is not known.
func NegationIn(language, text string) (n Negation, known bool) {
	of, known := negations()[base(language)]
	if !known {
		return n, false
	}
	said := of.read(text)
	n = Negation{Denials: len(of.not.FindAllString(said, -1)), Unclear: of.may.MatchString(said) || of.ban != nil && of.ban.MatchString(said)}
	if concord[base(language)] {
		n.Denials = min(n.Denials, 1)
	}
	return n, true
}

// denials are how often a text denies or forbids: count by words for the whole of it, of which some may
// be bans, and part where words deny a part or have it mean something else.
type denials struct {
	count      int
	bans, part bool
}

// denialsIn counts what denies a text. known is false in a language of which that is not known.
func denialsIn(language, text string) (d denials, known bool) {
	of, known := negations()[base(language)]
	if !known {
		return d, false
	}
	said := of.read(text)
	if of.ban != nil {
		d.count = len(of.ban.FindAllString(said, -1))
		d.bans = d.count > 0
		said = of.ban.ReplaceAllString(said, " +;")
	}
	found := of.not.FindAllString(said, -1)
	d.part = of.may.MatchString(said)
	if concord[base(language)] && len(slices.Compact(slices.Sorted(slices.Values(found)))) == len(found) {
		return denials{d.count + min(len(found), 1), d.bans, d.part}, true
	}
	d.count += len(found)
	return d, true
}

// read is a text as the patterns match it, without what denies nothing.
func (of *negation) read(text string) string {
	words := search.NewPhrase(text)
	for i, word := range words {
		words[i] = bareLetters.Replace(word)
	}
	said := spokenOf(words).text
	if of.plain != nil {
		said = of.plain.ReplaceAllString(said, " +;")
	}
	return said
}

// Negated is a verdict turned around where the sentence denies: "under 8 may not".
func Negated(language, sentence string, v Verdict) Verdict {
	if n, _ := NegationIn(language, sentence); v == Unclear || n.Denials == 0 {
		return v
	}
	if v == Holds {
		return Fails
	}
	return Unclear // what does not hold of others may hold of these
}

// Permits says whether a sentence allows something or forbids it.
func Permits(language string, e *Evidence, sentence string) bool {
	n, _ := NegationIn(language, sentence)
	return e.has("allowed", "forbidden") || n.Denials > 0
}
