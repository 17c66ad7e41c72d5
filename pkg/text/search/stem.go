package search

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
)

var stemmers = map[string]func(*snowballstem.Env) bool{
	"da": danish.Stem, "de": german.Stem, "en": english.Stem, "es": spanish.Stem, "fi": finnish.Stem, "fr": french.Stem,
	"hu": hungarian.Stem, "it": italian.Stem, "nl": dutch.Stem, "no": norwegian.Stem, "pt": portuguese.Stem,
	"ro": romanian.Stem, "ru": russian.Stem, "sv": swedish.Stem, "tr": turkish.Stem,
}

// elided are the words that shrink to an apostrophe before a vowel.
var elided = map[string]map[string]bool{
	"fr": set("c d j l m n qu s t jusqu lorsqu puisqu quoiqu presqu"),
	"it": set("l un dell nell sull all dall coll quell bell d c s m t v quest sant"),
}

// stem is the stem of a lower-case word; a word of an unknown language stays.
func (a *analyser) stem(s string) string {
	if a.language == "pl" {
		return polish(unmarked(s))
	}
	stemmer := stemmers[a.language]
	if stemmer == nil {
		return s
	}
	// A stemmer works on its Env's text and leaves the stem there.
	a.env.SetCurrent(a.spelt(s))
	stemmer(a.env)
	if a.env.Current() == "" {
		return s
	}
	return a.env.Current()
}

// spelt is a word as its stemmer expects it where people leave out accents
// and umlauts: "Muenchen" as "München", "estacion" as "estación".
func (a *analyser) spelt(s string) string {
	switch a.language {
	case "de":
		return umlauts(s)
	case "es":
		return ending(s, "cion", "ción", "sion", "sión")
	case "pt":
		return ending(s, "cao", "ção", "coes", "ções", "sao", "são")
	case "ro":
		return cedillas.Replace(s)
	case "ru":
		return strings.ReplaceAll(s, "ё", "е")
	}
	return s
}

// cedillas: Romanian has commas below, typed as cedillas for decades, and the
// stemmer of this age knows the cedillas.
var cedillas = strings.NewReplacer("ș", "ş", "ț", "ţ")

// umlauts turns ae, oe and ue into umlauts, except where the e is no umlaut's:
// after another vowel or a q ("neue", "Quelle").
func umlauts(s string) string {
	if !strings.Contains(s, "ae") && !strings.Contains(s, "oe") && !strings.Contains(s, "ue") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		u, ok := map[byte]string{'a': "ä", 'o': "ö", 'u': "ü"}[s[i]]
		if ok && i+1 < len(s) && s[i+1] == 'e' && (i == 0 || !strings.ContainsRune("aeiouyq", rune(s[i-1]))) {
			b.WriteString(u)
			i++
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ending replaces the first of the endings, given in pairs, that a word has.
func ending(s string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		if root, ok := strings.CutSuffix(s, pairs[i]); ok {
			return root + pairs[i+1]
		}
	}
	return s
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}
