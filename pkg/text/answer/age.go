package answer

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"visavis.dev/pkg/text/search"
)

// bound is an age from which, or up to which, a sentence holds.
type bound struct{ from, to int }

// The bounds as each language sets them, before the number or after it.
var (
	underForm = regexp.MustCompile(`(?i)(?:under|below|younger than|less than|unter|jünger als|moins de|menores? (?:de|a)|menos de|minori di|meno di|(?:sotto|inferiore a(?:i|gli)?|sotto gli)(?: i| gli)?|jonger dan|onder(?: de)?|poniżej|młodsz\p{L}+ niż|دون|تحت|أقل من|未满|未滿|不满|不足)\s?(?:the age of |age |los |os |de )?(\d{1,3})(?:$|[^\d])`)
	underEnd  = regexp.MustCompile(`(?i)(\d{1,3})\s?(?:yaş\p{L}* (?:altı|küçük|aşağı)\p{L}*|(?:st|nd|rd|th) birthday|\. (?:geburtstag|lebensjahr)|e anniversaire|歳未満|才未満|岁以内)`)
	uptoForm  = regexp.MustCompile(`(?i)(?:up to|until|aged? up to|bis(?: zu)?|jusqu['’]à|hasta|fino a(?:i|gli)?|até|tot(?: en met)?|t/m|do(?: lat)?|حتى)\s(?:and including |including |einschließlich |the age of |age |los |aos |de )?(\d{1,3})|(\d{1,3}) (?:and|or) (?:under|younger)|(\d{1,3})\s?(?:yaş\p{L}*(?: \p{L}+)? kadar|周?岁以下|周?岁及以下|歳以下|歳まで|才以下)`)
	fromForm  = regexp.MustCompile(`(?i)(?:from|over|above|at least|older than|before the age of|minimum(?: age)?(?: is| of)?|ab(?: dem)? vollendeten|ab|über|älter als|mindestens|à partir de|dès|plus de|au moins|desde|a partir d(?:e|os)|mayores d?e|más de|maiores de|mais de|acima de|dai?|dagli|oltre|sopra|superiore a(?:i|gli)?|almeno|compiuti|vanaf|ouder dan|boven|minstens|minimaal|od(?: ukończenia)?|powyżej|starsz\p{L}+ niż|ukończon\p{L}+|co najmniej|من سن|فوق|أكثر من|满|滿)\s?(?:the age of |age |their |the |i |gli |los |os |de |den )?(\d{1,3})(?:$|[^\d])|(\d{1,3})\+|(\d{1,3}) (?:and|or|years and|years or) (?:over|older|above|up)|(\d{1,3})[-\s]?plus\p{L}*|(\d{1,3}) (?:anni in su|anni compiuti|años cumplidos|ans révolus)|(\d{1,3})\s?(?:yaş\p{L}* (?:ve )?(?:üst|üzer|büyük|itibaren|yukarı)\p{L}*|周?岁以上|周?岁及以上|周?岁起|歳以上|歳から|才以上)`)
	spanAge   = regexp.MustCompile(`(?i)\b(\d{1,2})` + spanYears + `\s?(?:-|–|—|〜|～|to|through|bis|t/m|tot(?: en met)?|à|ai|agli|aos?|at[ée](?: aos)?|a|do|and|und|至|到|から|إلى|الى|حتى)\s?(?:los |las |de )?(\d{1,2})(?:$|[^\d:.]|[.:](?:$|\D))`)
	spanRound = regexp.MustCompile(`(?i)(?:entre|tra|fra|tussen|między|pomiędzy)\s(?:les |los |os |i |gli )?(\d{1,2})` + spanYears + `\s(?:et|y|e|en|a|i|oraz)\s(?:les |los |os |i |gli )?(\d{1,2})\b|\b(\d{1,2})\s(?:ile|ve)\s(\d{1,2})\s?yaş`)
	yearForm  = regexp.MustCompile(`(?i)\b(\d{1,3})[\s-]*(?:years?|yrs?|yo\b|y/o|year-old|jahre[ns]?|jährig\w*|jahrig\w*|ans\b|años?|ann[oi]|anos?\b|jaar|jarige?|lat|rok\b|yaş\w*|歳|才|岁|سنة|سنوات)|\b(?:age|aged|is|am|turns|turned|turning|im alter von|ist|wird|bin|i['’]?m|s?he['’]s)\s(\d{1,2})\b`)
)

// yearFormFrench knows one year too, which is an article in other languages: "for 6 an hour ago".
var yearFormFrench = regexp.MustCompile(strings.Replace(yearForm.String(), `ans\b`, `ans?\b`, 1))

// yearsIn is how ages are given in a language.
func yearsIn(language string) *regexp.Regexp {
	if base(language) == "fr" {
		return yearFormFrench
	}
	return yearForm
}

// sinceForm says that a birthday is one from which something holds.
var sinceForm = regexp.MustCompile(`(?i)\b(?:from|after|ab|nach|à partir|dès|après)\b`)

// spanYears is the word for years between the two ages of a span.
const spanYears = `\s?(?:years?|Jahre?n?|ans|años|anni|anos|jaar|lat|yaş|岁|歳|才)?`

// selfForm is somebody's age as they say it: "I am 70, ...".
var selfForm = regexp.MustCompile(`(?i)\b(?:i am|i['’]?m|he is|he['’]s|she is|she['’]s|ich bin|er ist|sie ist)\s\d{1,2}(?:$|[,.!?]|\s(?:and|und|so|do|can|may|darf|kann|muss)\b)`)

// AskedAge is the age that a question is about, -1 where it is about none.
func AskedAge(language, text string) int {
	form := yearsIn(language)
	m := form.FindStringSubmatch(text)
	if m == nil {
		if age := ageBeside(language, text); age >= 0 {
			return age
		}
		if m = form.FindStringSubmatch(digits(language, text)); m == nil {
			return -1
		}
	}
	digits := m[1] + m[2]
	age, err := strconv.Atoi(digits)
	if err != nil || age > 120 {
		return -1
	}
	e := EvidenceIn(language, text)
	if m[1] == "" && selfForm.MatchString(text) {
		return age
	}
	if m[1] == "" && !e.has("child", "age") {
		return -1
	}
	if e.has("year") && !e.has("child", "age") && !strings.Contains(strings.ToLower(text), "old") && len(search.NewPhrase(text)) > 14 {
		return -1
	}
	return age
}

// besideForm is an age right after the word for who has it: "a child (8)", "my little one is 5".
var besideForm = regexp.MustCompile(`(?i)^[\s,:(]*(?:is|of|ist|wird|von|van|de|di|ma|tem|tiene|a|ha)?[\s(]*(\d{1,2})(?:$|[),.?!;]|\s(?:and|und|et|y|e|i|en|ve)\s)`)

// ageBeside is the age that stands right after a child, -1 for none.
func ageBeside(language, text string) int {
	for _, m := range search.Meanings(language, text) {
		if !OfPeople(m.Concepts) {
			continue
		}
		if found := besideForm.FindStringSubmatch(text[m.To:]); found != nil {
			age, _ := strconv.Atoi(found[1])
			return age
		}
	}
	return -1
}

// otherNumber stands for a number that is no age, so that the words before it do not bound the next.
const otherNumber = " n "

// Covers says whether a sentence speaks of an age: Holds within its bounds, Fails
// outside all of them, Unclear where it has none.
func Covers(language, sentence string, age int) Verdict {
	e, years := EvidenceIn(language, sentence), yearsIn(language)
	if !e.has(ofPeople...) && !years.MatchString(sentence) && len(DatesIn(language, sentence)) > 0 {
		return Unclear // its numbers are days: "from 1 July"
	}
	if !e.has(ofAge...) && !years.MatchString(sentence) {
		for _, form := range []*regexp.Regexp{moneyForm, timeForm, reachForm, dateForm, spanForm, wholeSpan} {
			sentence = form.ReplaceAllString(sentence, otherNumber)
		}
	}
	sentence = maskForm.ReplaceAllString(sentence, otherNumber)
	bounds := boundsIn(sentence)
	if bounds == nil {
		bounds = boundsIn(digits(language, sentence)) // "under four"
	}
	verdict := Unclear
	for _, b := range bounds {
		if age >= b.from && age <= b.to {
			return Holds
		}
		verdict = Fails
	}
	return verdict
}

// boundsIn are the bounds that a text sets in figures.
func boundsIn(text string) (bounds []bound) {
	for _, form := range []*regexp.Regexp{spanRound, spanAge} {
		text = form.ReplaceAllStringFunc(text, func(span string) string {
			m := form.FindStringSubmatch(span)
			from, _ := strconv.Atoi(m[1] + strings.Join(m[3:max(3, len(m)-1)], ""))
			to, _ := strconv.Atoi(m[2] + strings.Join(m[max(3, len(m)-1):], ""))
			if from >= to {
				return span
			}
			bounds = append(bounds, bound{from, to})
			return " " // "from 3 to 11, and from 12 on"
		})
	}
	add := func(form *regexp.Regexp, make func(n int) bound) {
		for _, m := range form.FindAllStringSubmatch(text, -1) {
			if n, err := strconv.Atoi(strings.Join(m[1:], "")); err == nil && n <= 120 {
				bounds = append(bounds, make(n))
			}
		}
	}
	add(underForm, func(n int) bound { return bound{0, n - 1} })
	if !sinceForm.MatchString(text) {
		add(underEnd, func(n int) bound { return bound{0, n - 1} })
	}
	add(uptoForm, func(n int) bound { return bound{0, n} })
	add(fromForm, func(n int) bound { return bound{n, 200} })
	return bounds
}

// maskForm are the numbers of a sentence that are no ages for certain.
var maskForm = regexp.MustCompile(moneyForm.String() + "|" + timeForm.String())

// WithoutAge is a question without the age that it gives.
func WithoutAge(language, text string) string {
	form := yearsIn(language)
	if form.MatchString(text) {
		return form.ReplaceAllString(text, " ")
	}
	return form.ReplaceAllString(digits(language, text), " ")
}

// wholeSpan is a length or another measure with its unit.
var wholeSpan = regexp.MustCompile(`(?i)\d[\d.,]*\s?(?:%|m²|m\b|km|cm|kg|meters?|metres?|metern?|miles|percent|prozent|people|persons?|personen|personnes|personas|persone|pessoas|osób|kişi|guests?|gästen?|人|名)`)

// ofPeople are the concepts of whom has an age.
var ofPeople = []string{"age", "child", "adult", "senior", "student", "baby"}

// OfPeople says whether concepts are of people of an age, as children and adults are.
func OfPeople(concepts []int) bool {
	return slices.ContainsFunc(ofPeople[1:], func(key string) bool { return slices.Contains(concepts, byKey()[key]) })
}

// relatives are the concepts of whom somebody may come with.
var relatives = []string{"husband_wife", "couple", "parent", "grandparent", "sibling", "friend", "woman", "man", "guest", "pensioner", "teenager"}

// OfPersons says whether concepts are of people, of an age or not: who they are is another matter than
// who was spoken of before.
func OfPersons(concepts []int) bool {
	return OfPeople(concepts) || slices.ContainsFunc(relatives, func(key string) bool { return slices.Contains(concepts, byKey()[key]) })
}

// The ages up to which somebody is called a baby and a child, and from which a pensioner.
const (
	lastOfBabies   = 2
	lastOfChildren = 12
	lastOfTeens    = 17
	firstOfSeniors = 60
)

// GroupOf are the concepts of what people of an age are called; none of adults, who are rarely.
func GroupOf(age int) []int {
	keys := byKey()
	switch {
	case age <= lastOfBabies:
		return []int{keys["child"], keys["baby"]}
	case age <= lastOfChildren:
		return []int{keys["child"]}
	case age <= lastOfTeens:
		return []int{keys["child"], keys["teenager"]}
	case age >= firstOfSeniors:
		return []int{keys["senior"]}
	}
	return nil
}

// OfGroup says whether a sentence speaks of those of an age, or of people of any age by name.
func OfGroup(e *Evidence, age int) bool {
	return e.has("age", "adult") || slices.ContainsFunc(GroupOf(age), func(c int) bool { return e.Concepts[c] })
}

// ofAge are the concepts of which a sentence with ages speaks.
var ofAge = []string{"age", "child", "adult", "senior", "student", "baby", "year", "allowed", "forbidden"}
