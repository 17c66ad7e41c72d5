package conversation

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"visavis.dev/pkg/text/search"
)

// term is a word as it is compared, and where it stands in the text.
type term struct {
	text     string
	from, to int
}

// wordsOf are the words of a text in lower case. Scripts without blanks between
// words give a word for each two characters in a row.
func wordsOf(text string) []term {
	var out []term
	start := -1
	flush := func(to int) {
		if start >= 0 {
			out = append(out, term{text: lower(text[start:to]), from: start, to: to})
			start = -1
		}
	}
	wide := -1 // where the wide character before this one began
	for i, r := range text {
		size := utf8.RuneLen(r)
		switch {
		case isWide(r):
			flush(i)
			if wide >= 0 {
				out = append(out, term{text: text[wide : i+size], from: wide, to: i + size})
			} else if next, _ := utf8.DecodeRuneInString(text[i+size:]); !isWide(next) {
				out = append(out, term{text: text[i : i+size], from: i, to: i + size})
			}
			wide = i
			continue
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.Is(unicode.Mn, r):
			if start < 0 {
				start = i
			}
		default:
			flush(i)
		}
		wide = -1
	}
	flush(len(text))
	return out
}

// lower lowers a word so that it compares equal in every spelling of its case;
// Turkish dotless and dotted i fall together.
func lower(word string) string {
	return strings.ReplaceAll(strings.ToLower(word), "i̇", "i")
}

// isWide tells the characters of scripts that put no blanks between words.
func isWide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) || r == 'ー'
}

// contentWords are a text's words that carry meaning, as the search compares them.
func contentWords(language, text string) []term {
	function := bookOf(language).empty
	var out []term
	for _, t := range search.Terms(language, text) {
		if !t.Stop && (!function[lower(text[t.From:t.To])] || search.Acronym(text, t.From, t.To)) {
			out = append(out, term{text: t.Text, from: t.From, to: t.To})
		}
	}
	return out
}

// allWords are a text's words, those too that carry no meaning.
func allWords(language, text string) []term {
	var out []term
	for _, t := range search.Terms(language, text) {
		out = append(out, term{text: t.Text, from: t.From, to: t.To})
	}
	return out
}

func wordSet(bars string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.SplitSeq(bars, "|") {
		set[lower(word)] = true
	}
	return set
}

// sentencesOf cuts a text into its sentences, which are stretches of it without
// the blanks around them.
func sentencesOf(text string) []string {
	var out []string
	text = strings.ToValidUTF8(text, "")
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	from := 0
	for i, r := range text {
		if to := i + utf8.RuneLen(r); i >= from && endsSentence(text[from:], i-from, r) {
			to += closers(text[to:])
			add(text[from:to])
			from = to
		}
	}
	add(text[from:])
	return out
}

// endsSentence says whether the character r at position i ends a sentence that
// begins at 0: a full stop does, unless it is that of an abbreviation, a number
// or an initial.
func endsSentence(text string, i int, r rune) bool {
	after := text[i+utf8.RuneLen(r):]
	switch r {
	case '。', '！', '？', '\n':
		return true
	case '!', '?', '؟', '…':
		next, _ := utf8.DecodeRuneInString(after)
		return next != r && (after == "" || unicode.IsSpace(next) || closers(after) > 0)
	case '.':
		after = after[closers(after):]
		next, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, " \t"))
		switch {
		case after == "":
			return true
		case !unicode.IsSpace(rune(after[0])) || unicode.IsLower(next) || datesGoOn(text[:i], after):
			return false
		default:
			return !isAbbreviation(text[:i]) || unicode.IsUpper(next) && halfDay(text[:i])
		}
	default:
		return false
	}
}

var abbreviations = wordSet("dr|mr|mrs|ms|prof|st|nr|no|vs|etc|ca|bzw|z|d|u|a|e|g|i|p|s|tel|inc|ltd|co|sr|sra|m|mme|art|abs|min|max|vol|fig|" +
	"ul|lek|dent|med|hab|inż|mgr|godz|św|dott|sig|ing|avv|geom|dra|mevr|dhr|bijv|av|bd|avda|núm|cad|sok|mah")

// isAbbreviation says whether a text ends in a word that takes a full stop
// without ending a sentence. A number is one that may count: "am 3. Mai". So are the
// letters of a name: "P.O. Box".
func isAbbreviation(text string) bool {
	at := strings.LastIndexAny(text, " \t(.") + 1
	last := text[at:]
	if last != "" && strings.Trim(last, "0123456789") == "" {
		before := strings.Fields(text[:at])
		if len(last) > 2 || len(before) == 0 {
			return len(last) <= 2
		}
		word := before[len(before)-1]
		return beforeOrdinal[lower(word)] || strings.ContainsAny(word[len(word)-1:], ",.;:")
	}
	if letter, size := utf8.DecodeRuneInString(last); size == len(last) && unicode.IsUpper(letter) && at > 1 && text[at-1] == '.' {
		return true
	}
	return abbreviations[lower(last)]
}

// datesGoOn says whether a text ends in the day of a date whose month follows its full stop.
func datesGoOn(text, after string) bool {
	day := text[strings.LastIndexAny(text, " \t(–-")+1:]
	first := wordsOf(after[:min(len(after), maxMonth)])
	return day != "" && len(day) <= 2 && strings.Trim(day, "0123456789") == "" && len(first) > 0 && months[first[0].text]
}

// months are those that are written with a capital after "1.", in the languages that do so.
var months = wordSet("januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|ocak|şubat|mart|nisan|mayıs|haziran|temmuz|ağustos|eylül|ekim|kasım|aralık")

// maxMonth is how many bytes of a text its first word is looked for in.
const maxMonth = 40

// beforeOrdinal are the words before a number with a full stop that goes on, in the
// languages that write ordinals so.
var beforeOrdinal = wordSet("am|der|den|dem|des|vom|zum|bis|im|ab|die|das|d|seit|und|oder|jeden|jeder|jedem|ein|eine|einen|einem|einer|auf|zur|in|mit|nach|vor|ihr|ihre|ihren|ihrem|sein|seinem|unser|unsere|i|oraz|lub|w|na|do|od|ve|ile|den|til|fra|til")

// halfDay says whether a text ends in "a.m" or "p.m", after which a capital begins a
// sentence.
func halfDay(text string) bool {
	return strings.HasSuffix(text, "a.m") || strings.HasSuffix(text, "p.m")
}

// closers is how many bytes of quotes and brackets a text begins with.
func closers(text string) int {
	return len(text) - len(strings.TrimLeft(text, "\"')]”’»」』"))
}

// join puts a sentence after others: with a blank, except between the scripts
// that have none.
func join(text, sentence string) string {
	if text == "" || sentence == "" {
		return text + sentence
	}
	last, _ := utf8.DecodeLastRuneInString(text)
	if isWide(last) || last == '。' || last == '！' || last == '？' {
		return text + sentence
	}
	return text + " " + sentence
}
