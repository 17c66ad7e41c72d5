// Package numeral reads numbers that are written in words: "twenty-five", "fünfundzwanzig", "二十五".
package numeral

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// wordsOf are the words of each language, with their values.
var wordsOf = func() map[string]map[string]int {
	all := map[string]map[string]int{}
	for language, pairs := range words {
		all[language] = map[string]int{}
		for pair := range strings.FieldsSeq(pairs) {
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

// counted are the characters for what is counted.
const counted = "点點时時歳岁元円块分个個月日年号號人名间間天位"

var (
	letters = regexp.MustCompile(`\p{L}+`)
	// compounds are numbers written as one word with the units first: "fünfundzwanzig".
	compounds = map[string]*regexp.Regexp{"de": regexp.MustCompile(`^(\p{L}+?)und(\p{L}+)$`), "nl": regexp.MustCompile(`^(\p{L}+?)(?:en|ën)(\p{L}+)$`)}
	// between joins the words of one number.
	between = regexp.MustCompile(`^(?:[ -]|[ -]and[ -]|[ -]et[ -]| y | e | و)$`)
	// hanNumber is a number in Chinese characters, before what it counts or of several.
	hanNumber = regexp.MustCompile(`([〇零一二三四五六七八九十百千两]+)([` + counted + `])|[一二三四五六七八九]?[十百千][〇零一二三四五六七八九十百]*`)
)

// Found is a number in words in a text.
type Found struct {
	// From and To are where it stands, in bytes.
	From, To int
	Value    int
}

// In are the numbers in words of a text in a language, in their order. Languages are BCP 47
// tags; none is found in those that the package does not know.
func In(language, text string) []Found {
	switch language, _, _ = strings.Cut(language, "-"); language {
	case "zh", "ja":
		return hanIn(text)
	default:
		return wordsIn(language, text)
	}
}

// InDigits is a text with its numbers in ASCII digits, whatever they were written in.
func InDigits(language, text string) string {
	text = strings.Map(ASCIIDigit, norm.NFC.String(text))
	var out strings.Builder
	from := 0
	for _, n := range In(language, text) {
		out.WriteString(text[from:n.From])
		if isHan(text[n.From:n.To]) {
			fmt.Fprintf(&out, " %d ", n.Value)
		} else {
			out.WriteString(strconv.Itoa(n.Value))
		}
		from = n.To
	}
	return out.String() + text[from:]
}

// isHan says whether a number is in Chinese characters, which stand beside others without blanks.
func isHan(number string) bool {
	first, _ := utf8.DecodeRuneInString(number)
	return unicode.Is(unicode.Han, first)
}

// ASCIIDigit is the ASCII digit of a digit of any script, and every other character as it is.
func ASCIIDigit(r rune) rune {
	if r < unicode.MaxASCII || !unicode.IsDigit(r) {
		return r
	}
	zero := r
	for unicode.IsDigit(zero-1) && r-zero < 9 {
		zero--
	}
	return '0' + r - zero
}

// wordsIn are the numbers in the words of a language that puts blanks between them.
func wordsIn(language, text string) (found []Found) {
	values := wordsOf[language]
	if values == nil {
		return nil
	}
	under := numeral{language: language} // the number under way
	for _, at := range letters.FindAllStringIndex(text, -1) {
		n, ok := valueOf(language, values, strings.ToLower(text[at[0]:at[1]]))
		if !ok {
			continue
		}
		last := len(found) - 1
		if last < 0 || !between.MatchString(text[found[last].To:at[0]]) || !under.add(n) {
			under = numeral{language: language}
			under.add(n)
			found = append(found, Found{From: at[0]})
			last++
		}
		found[last].To, found[last].Value = at[1], under.value()
	}
	return found
}

// mostHan is how many characters a number in Chinese has at most.
const mostHan = 15

// hanIn are the numbers in Chinese characters.
func hanIn(text string) (found []Found) {
	for _, at := range hanNumber.FindAllStringIndex(text, -1) {
		number := strings.TrimRight(text[at[0]:at[1]], counted)
		if utf8.RuneCountInString(number) > mostHan {
			continue
		}
		found = append(found, Found{at[0], at[0] + len(number), hanValue(number)})
	}
	return found
}

// valueOf is the value of a word that is a number.
func valueOf(language string, words map[string]int, word string) (int, bool) {
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
type numeral struct {
	language        string
	thousands, rest int
}

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
		both, fits := pair(v.language, tail, n)
		v.rest += both - tail
		return fits
	default:
		return false
	}
	return true
}

// pair is the number below a hundred of two words: "twenty five", "خمسة وعشرون"; both is the
// first where they are no number.
func pair(language string, first, second int) (both int, fits bool) {
	switch {
	case language == "fr" && first == 4 && second == 20:
		return 80, true // quatre-vingt
	case language == "fr" && (first == 60 || first == 80) && second >= 10 && second < 20:
		return first + second, true // soixante-dix
	case first >= 10 && first%10 == 0 && second < 10:
		return first + second, true
	case language == "ar" && first < 10 && second >= 20 && second%10 == 0:
		return first + second, true
	}
	return first, false
}

var hanDigits = map[rune]int{'〇': 0, '零': 0, '一': 1, '二': 2, '两': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9}

// hanValue reads a number in Chinese characters.
func hanValue(text string) int {
	total, digit := 0, 0
	place := !strings.ContainsAny(text, "十百千") // 二〇二六: digit by digit
	for _, r := range text {
		unit := map[rune]int{'十': 10, '百': 100, '千': 1000}[r]
		if unit == 0 {
			if !place {
				digit = 0
			}
			digit = digit*10 + hanDigits[r]
			continue
		}
		total += max(digit, 1) * unit
		digit = 0
	}
	return total + digit
}
