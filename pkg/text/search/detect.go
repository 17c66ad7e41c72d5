package search

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"

	"visavis.dev/pkg/text/lexicon"
)

// enough is how much of a text Detect looks at, in bytes.
const enough = 8 << 10

// Detect tells a text's language by its script, and among those of one script
// by their stop words and the letters that are theirs. It answers a code such
// as "de", "" when unsure.
//
// It is the product's own: the libraries there are take hundreds of megabytes
// or have been left alone for years, and are trained on sentences where we
// have questions, half of whose words are stop words.
func Detect(text string) (code string) {
	text = start(text)
	script, share := mainScript(text)
	switch script {
	case "":
		return ""
	case "Latn", "Cyrl", "Arab":
		return byWords(text, script)
	case "Hani": // Japanese is never long without kana
		if share["Kana"]*20 > share["Hani"] {
			return "ja"
		}
		return "zh"
	}
	return scripts[script].code
}

// scripts are the scripts that tell, with their language where they have one.
var scripts = map[string]struct {
	table *unicode.RangeTable
	code  string
}{
	"Latn": {unicode.Latin, ""}, "Cyrl": {unicode.Cyrillic, ""}, "Arab": {unicode.Arabic, ""}, "Hani": {unicode.Han, "zh"},
	"Hira": {unicode.Hiragana, "ja"}, "Kata": {unicode.Katakana, "ja"}, "Hang": {unicode.Hangul, "ko"},
	"Thai": {unicode.Thai, "th"}, "Grek": {unicode.Greek, "el"}, "Hebr": {unicode.Hebrew, "he"}, "Deva": {unicode.Devanagari, "hi"},
	"Beng": {unicode.Bengali, "bn"}, "Taml": {unicode.Tamil, "ta"}, "Telu": {unicode.Telugu, "te"}, "Geor": {unicode.Georgian, "ka"},
	"Armn": {unicode.Armenian, "hy"}, "Khmr": {unicode.Khmer, "km"}, "Laoo": {unicode.Lao, "lo"}, "Mymr": {unicode.Myanmar, "my"},
}

// mainScript is the script of most letters. A letter of a script with few
// words to the letter counts for more: "iPhone の 充電" is Japanese.
func mainScript(text string) (string, map[string]int) {
	share := map[string]int{}
	last := "Latn"
	for _, r := range text {
		if !unicode.IsLetter(r) {
			continue
		}
		if !unicode.Is(scripts[last].table, r) {
			last = scriptOf(r, last)
		}
		switch last {
		case "Hira", "Kata":
			share["Kana"] += 4
			share["Hani"] += 4
		case "Hani", "Hang":
			share[last] += 4
		default:
			share[last]++
		}
	}
	most := ""
	for name, n := range share {
		if name != "Kana" && (most == "" || n > share[most] || n == share[most] && name < most) {
			most = name
		}
	}
	return most, share
}

func scriptOf(r rune, otherwise string) string {
	for name, s := range scripts {
		if unicode.Is(s.table, r) {
			return name
		}
	}
	return otherwise
}

// letters are those that speak for a language: of one script's languages, few
// have them.
var letters = map[string]string{
	"bg": "ъ", "cs": "ěřůčšžý", "da": "æøå", "de": "ßäöü", "es": "ñ¿¡áíóú", "et": "õäöü", "fa": "پچژگکی", "fi": "äö", "fr": "çéèêàùœî",
	"hu": "őűáéöü", "it": "àèéìòù", "no": "æøå", "pl": "ąęłśźżćń", "pt": "ãõçáéê", "ro": "ășțâîşţ", "ru": "ыэё", "sv": "åäö",
	"tr": "ışğçöü", "uk": "іїєґ", "vi": "ăđơưạảấầẩậắặẹẽếềểệịọỏốồổộớờởợụủứừửựỳỹ", "ur": "ٹڈڑےں",
}

// more are stop words of languages that have no list, enough to know them by.
var more = map[string]string{
	"ar": "في من على إلى هذا هذه التي الذي ما كيف أين متى هل كان عن أن لا مع",
	"bg": "на за се от да е са това как кога къде който ще при не по като",
	"ca": "els les amb és per què quan on són aquest aquesta una del dels molt",
	"cs": "je se na že jak kdy kde co které který jsou při pro jako není byl po si jste můžu",
	"fa": "در از به که این است را با برای آن چگونه کجا چه می",
	"id": "yang dan di dari untuk dengan ini itu adalah pada tidak apa bagaimana kapan berapa dimana saya bisa",
	"pl": "jest się na nie że jak kiedy gdzie co który która które są przy dla jako był po czy można do w z i",
	"uk": "на за що та як коли де який яка які є для при не це до від у і в",
	"vi": "là của và có được cho trong không những này với các một như thế nào khi ở",
}

// tells is what each word says: the languages whose stop word it is.
var tells = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	enter := func(language, word string) {
		if !slices.Contains(out[word], language) {
			out[word] = append(out[word], language)
		}
	}
	for _, folder := range []string{"stopwords", "asking"} {
		for language, words := range raw(folder) {
			for w := range strings.FieldsSeq(words) {
				enter(language, w)
			}
		}
	}
	for language, words := range more {
		for w := range strings.FieldsSeq(words) {
			enter(language, w)
		}
	}
	return out
})

// byWords tells the languages of one script apart. A word that few languages
// have says more. The best must be ahead of the next, or nobody is.
func byWords(text, script string) string {
	scores := scored(text, script)
	best, next := "", 0.0
	for l, s := range scores {
		switch {
		case best == "" || s > scores[best]:
			next = scores[best]
			best = l
		case s > next:
			next = s
		}
	}
	if best == "" || scores[best] < 0.4 || scores[best] < 1.15*next {
		return fallback[script]
	}
	return best
}

// speaking is the share of what speaks for the likeliest language that speaks for another
// which a text may be in as well.
const speaking = 0.6

// MayBe says whether a text may be in a language though its words speak more for another,
// as a few words do that several have.
func MayBe(language, text string) bool {
	script, _ := mainScript(start(text))
	if script != "Latn" {
		return false
	}
	scores := scored(text, script)
	most := 0.0
	for _, s := range scores {
		most = max(most, s)
	}
	return scores[base(language)] >= speaking*most
}

// scored is what the words of a text say of each language.
func scored(text, script string) map[string]float64 {
	scores := map[string]float64{}
	short := script == "Latn" && len(text) <= shortText
	segments := words.FromString(strings.ToLower(text))
	for segments.Next() {
		w := apostrophes.Replace(segments.Value())
		languages := tells()[w]
		if before, _, ok := strings.Cut(w, "'"); ok && languages == nil {
			languages = tells()[before]
		}
		for _, l := range languages {
			scores[l] += 1 / float64(len(languages))
		}
		if short {
			topical(w, languages, scores)
		}
		for l, own := range letters {
			if strings.ContainsAny(w, own) {
				scores[l] += 0.3
			}
		}
	}
	return scores
}

// shortText is how many bytes a text has at most of which words of every kind are looked
// at: somebody in a hurry leaves out stop words, and the accents of those that stay.
const shortText = 200

// How much a word says of a language that is one of its lexicon, and one that would be a
// stop word but for an accent.
const (
	lexiconTells    = 0.5
	unaccentedTells = 0.7
)

// topical counts a word of a short text that is a word of the lexicon, or a stop word
// without its accents.
func topical(w string, stop []string, scores map[string]float64) {
	folded := Fold(w)
	if utf8.RuneCountInString(folded) < 2 {
		return
	}
	var in []string
	for _, l := range lexicon.Languages() {
		if !slices.Contains(stop, l) && InLexicon(l, folded) {
			in = append(in, l)
		}
	}
	for _, l := range in {
		scores[l] += lexiconTells / float64(len(in))
	}
	for _, l := range unaccented()[w] {
		if !slices.Contains(stop, l) && !slices.Contains(in, l) {
			scores[l] += unaccentedTells / float64(len(unaccented()[w]))
		}
	}
}

// unaccented is what stop words say when their accents are left out.
var unaccented = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for word, languages := range tells() {
		if bare := Fold(word); bare != word {
			for _, l := range languages {
				if slices.Contains(lexicon.Languages(), l) && !slices.Contains(out[bare], l) {
					out[bare] = append(out[bare], l)
				}
			}
		}
	}
	return out
})

// fallback is the language a script is taken for when words do not tell.
var fallback = map[string]string{"Arab": "ar", "Cyrl": "ru"}

// start is the beginning of a text, at a rune's boundary.
func start(text string) string {
	if len(text) <= enough {
		return text
	}
	return strings.ToValidUTF8(text[:enough], "")
}
