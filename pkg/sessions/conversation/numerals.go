package conversation

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// numeralWords are the numerals, read.
var numeralWords = func() map[string]map[string]int {
	all := map[string]map[string]int{}
	for language, words := range numerals {
		all[language] = map[string]int{}
		for pair := range strings.FieldsSeq(words) {
			word, value, _ := strings.Cut(pair, "=")
			n, err := strconv.Atoi(value)
			if err != nil {
				panic(err) // the words are the program's own
			}
			all[language][word] = n
		}
	}
	return all
}()

var (
	letters = regexp.MustCompile(`\p{L}+`)
	// compounds are numbers written as one word with the units first: "fünfundzwanzig".
	compounds = map[string]*regexp.Regexp{"de": regexp.MustCompile(`^(\p{L}+?)und(\p{L}+)$`), "nl": regexp.MustCompile(`^(\p{L}+?)(?:en|ën)(\p{L}+)$`)}
	// between joins the words of one number.
	between = regexp.MustCompile(`^(?:[ -]|[ -]and[ -]|[ -]et[ -]| y | e | و)$`)
	// hanNumber is a number in Chinese characters, before what it counts or of several.
	hanNumber = regexp.MustCompile(`([〇零一二三四五六七八九十百千两]+)([点點时時歳岁元円块分个個月日年号號人名间間天位])|[一二三四五六七八九]?[十百千][〇零一二三四五六七八九十百]*`)
)

// inDigits is a text with its numbers in ASCII digits, whatever they were written in.
func inDigits(language, text string) string {
	text = strings.Map(asciiDigit, norm.NFC.String(text))
	switch code := base(language); code {
	case "zh", "ja":
		return hanNumber.ReplaceAllStringFunc(text, func(s string) string {
			number := strings.TrimRight(s, "点點时時歳岁元円块分个個月日年号號人名间間天位")
			return " " + strconv.Itoa(hanValue(number)) + " " + s[len(number):]
		})
	default:
		return replaceNumerals(code, text)
	}
}

func asciiDigit(r rune) rune {
	if r < unicode.MaxASCII || !unicode.IsDigit(r) {
		return r
	}
	zero := r
	for unicode.IsDigit(zero-1) && r-zero < 9 {
		zero--
	}
	return '0' + r - zero
}

// replaceNumerals puts digits in the place of words for numbers.
func replaceNumerals(language, text string) string {
	words := numeralWords[language]
	if words == nil {
		return text
	}
	var (
		out    strings.Builder
		number *numeral // under way
		from   int      // what follows the last that was written
		end    int      // where the number under way ends
	)
	flush := func() {
		if number != nil {
			out.WriteString(strconv.Itoa(number.value()))
			from, number = end, nil
		}
	}
	for _, at := range letters.FindAllStringIndex(text, -1) {
		n, ok := numeralOf(language, words, strings.ToLower(text[at[0]:at[1]]))
		if !ok {
			continue
		}
		if number == nil || !between.MatchString(text[end:at[0]]) || !number.add(n) {
			flush()
			out.WriteString(text[from:at[0]])
			number = &numeral{}
			number.add(n)
		}
		end = at[1]
	}
	flush()
	out.WriteString(text[from:])
	return out.String()
}

func numeralOf(language string, words map[string]int, word string) (int, bool) {
	if n, ok := words[word]; ok {
		return n, true
	}
	if n, ok := words[strings.TrimPrefix(word, "و")]; ok && language == "ar" {
		return n, true
	}
	if form := compounds[language]; form != nil {
		if m := form.FindStringSubmatch(word); m != nil {
			unit, tens := words[m[1]], words[m[2]]
			if m[1] == "ein" || m[1] == "een" {
				unit = 1
			}
			if unit > 0 && unit < 10 && tens >= 20 && tens < 100 {
				return tens + unit, true
			}
		}
	}
	return 0, false
}

// numeral is a number that is put together word by word: the thousands that are whole, and
// what follows them.
type numeral struct{ thousands, rest int }

func (v *numeral) value() int { return v.thousands + v.rest }

// add takes the next word, and says whether it goes on with the number: "two thousand five
// hundred" is one, "two three" is not.
func (v *numeral) add(n int) bool {
	tail := v.rest % 100
	switch {
	case n == 1000 && v.thousands == 0:
		v.thousands, v.rest = max(v.rest, 1)*1000, 0
	case n == 100 && v.rest < 100:
		v.rest = max(v.rest, 1) * 100
	case n < 100 && tail == 0:
		v.rest += n
	case n < 100:
		both, fits := pair(tail, n)
		v.rest += both - tail
		return fits
	default:
		return false
	}
	return true
}

// pair is the number below a hundred of two words: "twenty five", "خمسة وعشرون"; both is the
// first where they are no number.
func pair(first, second int) (both int, fits bool) {
	switch {
	case first == 4 && second == 20:
		return 80, true // quatre-vingt
	case (first == 60 || first == 80) && second >= 10 && second < 20:
		return first + second, true // soixante-dix
	case first >= 10 && first%10 == 0 && second < 10:
		return first + second, true
	case first < 10 && second >= 20 && second%10 == 0:
		return first + second, true
	}
	return first, false
}

var hanDigits = map[rune]int{'〇': 0, '零': 0, '一': 1, '二': 2, '两': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9}

// hanValue reads a number in Chinese characters.
func hanValue(text string) int {
	total, digit := 0, 0
	for _, r := range text {
		unit := map[rune]int{'十': 10, '百': 100, '千': 1000}[r]
		if unit == 0 {
			digit = hanDigits[r] + 10*digit*btoi(!strings.ContainsAny(text, "十百千"))
			continue
		}
		total += max(digit, 1) * unit
		digit = 0
	}
	return total + digit
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
