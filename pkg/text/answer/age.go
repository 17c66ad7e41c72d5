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

var (
	underForm = regexp.MustCompile(`(?i)(?:under|below|younger than|less than|unter|moins de|menores? de|menos de|minori di|meno di|sotto i|menores de|onder|jonger dan|poniżej|do lat|دون|تحت|أقل من)\s(?:the age of |age )?(\d{1,3})`)
	uptoForm  = regexp.MustCompile(`(?i)(?:up to|until|aged? up to|bis|bis zu|jusqu'à|hasta(?: los)?|fino a(?:i)?|até(?: aos)?|tot(?: en met)?|do|حتى)\s(?:and including |the age of |age )?(\d{1,3})|(\d{1,3}) (?:and|or) (?:under|younger)`)
	fromForm  = regexp.MustCompile(`(?i)(?:from|over|above|at least|older than|minimum(?: age)?(?: is| of)?|ab|über|mindestens|à partir de|dès|plus de|desde(?: los)?|a partir de(?: los)?|mayores de|da(?:i)?|oltre i|a partir dos|vanaf|ouder dan|od|powyżej|من سن|فوق)\s(?:the age of |age )?(\d{1,3})|(\d{1,3})\+|(\d{1,3}) (?:and|or|years and) (?:over|older|above|up)`)
	spanAge   = regexp.MustCompile(`(?i)\b(\d{1,2})\s?(?:-|–|to|bis|à|a|and|und)\s?(\d{1,2})\b`)
	yearForm  = regexp.MustCompile(`(?i)\b(\d{1,3})[\s-]*(?:years?|yrs?|yo\b|y/o|year-old|jahre[ns]?|jährig\w*|jahrig\w*|ans|años|anni|anos|jaar|lat|yaş\w*|歳|才|岁|سنة|سنوات)|\b(?:age|aged|is|am|turns|im alter von|ist|bin|i['’]?m|s?he['’]s)\s(\d{1,2})\b`)
)

// selfForm is somebody's age as they say it: "I am 70, ...".
var selfForm = regexp.MustCompile(`(?i)\b(?:i am|i['’]?m|he is|he['’]s|she is|she['’]s|ich bin|er ist|sie ist)\s\d{1,2}(?:$|[,.!?]|\s(?:and|und|so|do|can|may|darf|kann|muss)\b)`)

// AskedAge is the age that a question is about, -1 where it is about none.
func AskedAge(language, text string) int {
	m := yearForm.FindStringSubmatch(text)
	if m == nil {
		if m = yearForm.FindStringSubmatch(digits(language, text)); m == nil {
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

// Covers says whether a sentence speaks of an age: Holds within its bounds, Fails
// outside all of them, Unclear where it has none.
func Covers(language, sentence string, age int) Verdict {
	e := EvidenceIn(language, sentence)
	if !e.has(ofPeople...) && !yearForm.MatchString(sentence) && len(DatesIn(language, sentence)) > 0 {
		return Unclear // its numbers are days: "from 1 July"
	}
	if !e.has(ofAge...) && !yearForm.MatchString(sentence) {
		for _, form := range []*regexp.Regexp{moneyForm, timeForm, reachForm, dateForm, spanForm, wholeSpan} {
			sentence = form.ReplaceAllString(sentence, " ") // numbers of something else
		}
	}
	sentence = maskForm.ReplaceAllString(sentence, " ")
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
	for _, m := range spanAge.FindAllStringSubmatch(text, -1) {
		from, _ := strconv.Atoi(m[1])
		to, _ := strconv.Atoi(m[2])
		if from < to {
			bounds = append(bounds, bound{from, to})
		}
	}
	if bounds != nil {
		return bounds
	}
	add := func(form *regexp.Regexp, make func(n int) bound) {
		for _, m := range form.FindAllStringSubmatch(text, -1) {
			if n, err := strconv.Atoi(strings.Join(m[1:], "")); err == nil && n <= 120 {
				bounds = append(bounds, make(n))
			}
		}
	}
	add(underForm, func(n int) bound { return bound{0, n - 1} })
	add(uptoForm, func(n int) bound { return bound{0, n} })
	add(fromForm, func(n int) bound { return bound{n, 200} })
	return bounds
}

// maskForm are the numbers of a sentence that are no ages for certain.
var maskForm = regexp.MustCompile(moneyForm.String() + "|" + timeForm.String())

// WithoutAge is a question without the age that it gives.
func WithoutAge(language, text string) string {
	if yearForm.MatchString(text) {
		return yearForm.ReplaceAllString(text, " ")
	}
	return yearForm.ReplaceAllString(digits(language, text), " ")
}

// wholeSpan is a length or another measure with its unit.
var wholeSpan = regexp.MustCompile(`(?i)\d[\d.,]*\s?(?:%|m²|m\b|km|cm|kg|meters?|metres?|metern?|miles|percent|prozent|people|persons?|personen|personnes|personas|persone|pessoas|osób|kişi|guests?|gästen?|人|名)`)

// ofPeople are the concepts of whom has an age.
var ofPeople = []string{"age", "child", "adult", "senior", "student", "baby"}

// OfPeople says whether concepts are of people of an age, as children and adults are.
func OfPeople(concepts []int) bool {
	return slices.ContainsFunc(ofPeople[1:], func(key string) bool { return slices.Contains(concepts, byKey()[key]) })
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

// ofAge are the concepts of which a sentence with ages speaks.
var ofAge = []string{"age", "child", "adult", "senior", "student", "baby", "year", "allowed", "forbidden"}
