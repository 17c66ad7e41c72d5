package answer

import (
	"iter"
	"slices"
	"strings"
	"unicode"

	"visavis.dev/pkg/text/search"
)

// Heard is what was made of what somebody said.
type Heard struct {
	Act Act
	// Language is the one in which it was understood.
	Language string
}

// Hear tells the act of what somebody said. It is looked for in the language of the
// conversation, in the one that the words show, and in all for what must never be missed.
func Hear(language, text string) Heard {
	near := likely(language, text)
	if heard := unmissed(near, text); heard.Act != None {
		return heard
	}
	plain := undisguised(text)
	if plain != text {
		if heard := unmissed(likely(language, plain), plain); heard.Act != None {
			return heard
		}
	}
	if spoken := undetailed(language, plain); spoken != "" && !Regards(language, plain) {
		return Heard{Disclosure, spoken}
	}
	for _, t := range near {
		if act := t.heard(hear(text, t.spellings), text); act != None {
			return Heard{act, t.language}
		}
	}
	for _, t := range near {
		if act := t.misspelled(text); act != None {
			return Heard{act, t.language}
		}
	}
	if mumbled(text) {
		return Heard{Nonsense, base(language)}
	}
	return Heard{Language: base(language)}
}

// likely are the languages that something is likely said in, the likeliest first.
func likely(language, text string) []*talk {
	var out []*talk
	for _, code := range []string{base(language), search.Detect(text), Guess(text), "en"} {
		if t := talkOf(code); t != nil && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// unmissed is an act that counts in every language. In one that nothing speaks for it
// stands nearly alone.
func unmissed(near []*talk, text string) Heard {
	all := slices.Clone(near)
	for _, code := range Languages() {
		if t := talkOf(code); !slices.Contains(all, t) && t.writes(text) {
			all = append(all, t)
		}
	}
	for _, w := range weighty[:unmissable] {
		if w.act == Disclosure {
			// "Is there nobody I can talk to?" asks for somebody, not whether there is one.
			for _, t := range near {
				said := hear(text, t.spellings)
				if _, summons := t.stands(said, "summons", w.rest, nil); summons && !t.mentions("errand", said) {
					return Heard{Person, t.language}
				}
			}
		}
		for i, t := range all {
			rest := w.rest
			if i >= len(near) {
				rest = farRest
			}
			if t.holds(hear(text, t.spellings), w.act, rest) {
				return Heard{w.act, t.language}
			}
		}
	}
	if t := doubted(near, all[len(near):], text); t != nil {
		return Heard{Disclosure, t.language}
	}
	return Heard{}
}

// misspelled is the act of what was said with slips of the finger. What is asked about
// may be spelled like an act, and is none.
func (t *talk) misspelled(text string) Act {
	if t.topical(text) {
		return None
	}
	right := t.setRight(hear(text, t.spellings))
	if t.holds(right, Disclosure, farRest) {
		return Disclosure
	}
	return t.courtesy(right, text)
}

// Endangered says whether what was said reports an emergency, in any language.
func Endangered(language, text string) bool {
	for _, code := range append([]string{base(language)}, Languages()...) {
		if t := talkOf(code); t != nil && t.writes(text) && t.holds(hear(text, t.spellings), Emergency, weighty[0].rest) {
			return true
		}
	}
	return false
}

// writes says whether a text has letters of the language's script.
func (t *talk) writes(text string) bool {
	script := []*unicode.RangeTable{unicode.Latin}
	switch t.language {
	case "zh":
		script = []*unicode.RangeTable{unicode.Han}
	case "ja":
		script = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana}
	case "ar":
		script = []*unicode.RangeTable{unicode.Arabic}
	}
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, script...) })
}

// heard is the act of what was said in this language.
func (t *talk) heard(said spoken, text string) Act {
	if len(said.words) == 0 {
		return None
	}
	for _, w := range weighty {
		if w.act == Person && t.longs(said) && !t.mentions("errand", said) {
			return Person
		}
		if left, holds := t.beside(said, w.act, w.rest); holds && !t.strays(w.act, said, left) {
			return w.act
		}
	}
	return t.courtesy(said, text)
}

// strays says whether what was said asks about something that organizations are asked about, and only in words of an act:
// "what time is it cheapest?"
func (t *talk) strays(act Act, said spoken, left string) bool {
	switch act {
	case Ability:
		return t.topical(t.unhelped(said))
	case Clock, LanguageChoice:
		return t.topical(strings.NewReplacer(";", "").Replace(left))
	default:
		return false
	}
}

// holds says whether a pattern of an act stands in what was said, with little beside.
//
// What happens to somebody is told in a few words of it or at length ([peril]). A word of
// danger alone is one as long as nothing before it or right beside it speaks for a question
// about it ([calm]): "fire, where is the exit?" is, "where is the fire exit?" is not.
func (t *talk) holds(said spoken, act Act, rest int) bool {
	_, holds := t.beside(said, act, rest)
	return holds
}

// beside are the words beside a pattern of an act, where one stands in what was said with
// little else.
func (t *talk) beside(said spoken, act Act, rest int) (left string, holds bool) {
	switch act {
	case Emergency:
		told := rest
		if rest > farRest {
			told = maxSpoken
		}
		// Whether it is taught what to do then, is asked before what may happen.
		if left, holds = t.stands(said, "peril", told, func(span []int) bool { return !t.follows(said, "taught", span) }); holds {
			return left, true
		}
		return t.stands(said, string(act), rest, func(span []int) bool {
			return !t.follows(said, "calm", span) && !t.adjoins(said, "calm", span) && !t.follows(said, "taught", span)
		})
	case Person:
		// "Can you call me a taxi" asks for no person.
		if t.mentions("errand", said) {
			return "", false
		}
	case Disclosure:
		if t.regards(said) {
			return "", false
		}
		// "Is it a real discount" is about something other than who speaks.
		if t.isOfThing(said) && !t.mentions("self", said) {
			return "", false
		}
		// Who asks plainly, at the end, may have said much before it.
		if rest > farRest {
			if left, holds = t.stands(said, "plain", maxSpoken, nil); holds {
				return left, true
			}
		}
	}
	return t.stands(said, string(act), rest, nil)
}

// follows says whether a pattern of a section begins before a span of what was said.
func (t *talk) follows(said spoken, section string, span []int) bool {
	for other := range t.spans(said, section) {
		// Where verbs stand last, teaching comes after what is taught.
		if other[0] < span[0] || section == "taught" && (t.language == "ja" || t.language == "tr") {
			return true
		}
	}
	return false
}

// adjoins says whether a pattern of a section stands right beside a span of what was said,
// or within it.
func (t *talk) adjoins(said spoken, section string, span []int) bool {
	most := 1
	if t.wide {
		most = 2
	}
	for other := range t.spans(said, section) {
		if word, _, _ := strings.Cut(said.text[other[0]+1:], ";"); other[0] >= span[1] && t.function[word] {
			continue // a question of its own
		}
		first, second := other, span
		if second[0] < first[0] {
			first, second = second, first
		}
		if first[1] >= second[0] || strings.Count(said.text[first[1]:second[0]], ";") <= most {
			return true
		}
	}
	return false
}

// isOfThing says whether what a speaker may be is said right beside a thing: "robot mower".
func (t *talk) isOfThing(said spoken) bool {
	if !t.mentions("thing", said) {
		return false
	}
	for span := range t.spans(said, "nature") {
		if t.adjoins(said, "thing", span) {
			return true
		}
	}
	return false
}

// spans are where the patterns of a section stand in what was said.
func (t *talk) spans(said spoken, section string) iter.Seq[[]int] {
	if f := t.anywhere[section]; f != nil {
		return f.spans(said.text)
	}
	return func(func([]int) bool) {}
}

// stands says whether a pattern of a section stands in what was said with so many words
// beside at most, and which. Where counts is given, it says of a match whether it does.
func (t *talk) stands(said spoken, section string, rest int, counts func(span []int) bool) (left string, stands bool) {
	f := t.anywhere[section]
	if f == nil {
		return "", false
	}
	unit := 1
	if t.wide {
		unit = 2
	}
	for span := range f.spans(said.text) {
		if counts != nil && !counts(span) {
			continue
		}
		beside := said.text[:span[0]] + said.text[span[1]:]
		for _, section := range []string{"filler", "lead"} {
			if f := t.anywhere[section]; f != nil {
				beside = f.ReplaceAllString(beside, "")
			}
		}
		matched, most := strings.Count(said.text[span[0]:span[1]], ";")/unit, rest
		if most < farRest+2 && matched <= farRest {
			most = max(0, min(most, matched-1)) // a word or two say little among others
		}
		if strings.Count(beside, ";") <= most*unit {
			return beside, true
		}
	}
	return "", false
}

// maxLonged is how many words a wish to talk with somebody has at most.
const maxLonged = 20

// longs says whether what was said wishes to talk with somebody of the organization and is
// about nothing else: who ([others]), to talk ([talking]) and to wish ([wishing]) have
// countless orders.
func (t *talk) longs(said spoken) bool {
	most := maxLonged
	if t.wide {
		most *= 2
	}
	if len(said.words) > most {
		return false
	}
	left := said.text
	for _, section := range []string{"others", "talking", "wishing"} {
		f := t.anywhere[section]
		if f == nil || !f.MatchString(said.text) {
			return false
		}
		left = f.ReplaceAllString(left, "")
	}
	return !t.topical(strings.NewReplacer(";", "").Replace(left))
}

// unhelped is what was said without the words of helping, which are no topic.
func (t *talk) unhelped(said spoken) string {
	left := t.anywhere["helping"].ReplaceAllString(said.text, "")
	return strings.NewReplacer(";", "").Replace(left)
}

// topical says whether what was said names something that organizations are asked about.
func (t *talk) topical(text string) bool {
	return slices.ContainsFunc(search.Meanings(t.language, text), func(m search.Meaning) bool { return !light(m.Concepts) })
}

// courtesy is the weightiest of the courtesies that what was said wholly consists of.
func (t *talk) courtesy(said spoken, text string) Act {
	most := 2
	if t.wide {
		most = 3
	}
	found, rest, left := len(courtesies), said.text, 0
	for rest != "" {
		taken, at := 0, -1
		for i, act := range courtesies {
			if e := t.begins[string(act)]; e != nil {
				if n := len(e.FindString(rest)); n > taken {
					taken, at = n, i
				}
			}
		}
		if filler := t.begins["filler"]; at < 0 && filler != nil {
			taken = len(filler.FindString(rest))
		}
		if at >= 0 {
			found = min(found, at)
		}
		if taken == 0 {
			taken = strings.IndexByte(rest, ';') + 1
			if left++; left > most {
				return None
			}
		}
		rest = rest[taken:]
	}
	if found == len(courtesies) || left > 0 && (t.topical(text) || strings.ContainsAny(text, "?？؟") || left >= strings.Count(said.text, ";")-left+1) {
		return None
	}
	return courtesies[found]
}

// setRight is what was said with the words that are nearly those of an act.
func (t *talk) setRight(said spoken) spoken {
	words := slices.Clone(said.words)
	for i, word := range words {
		if len(word) < 4 {
			continue
		}
		words[i] = search.Nearest(word, t.known)
	}
	return spokenOf(words)
}

// mumbled says whether a text has no words: signs alone, or what a cat types.
func mumbled(text string) bool {
	words := []string(search.NewPhrase(text))
	said := 0
	for _, word := range words {
		if !mash(word) {
			said++
		}
	}
	return said == 0
}

// mash says whether a word is none: signs, a letter again and again, keys in a row, or
// many consonants without a vowel.
func mash(word string) bool {
	letters := []rune(word)
	if len(letters) == 1 {
		return !isLetter(letters[0]) || letters[0] < 0x250
	}
	if !isLetter(letters[0]) && (letters[0] < '0' || letters[0] > '9') {
		return true
	}
	if letters[0] > 0x250 {
		return false
	}
	same := true
	for _, l := range letters {
		same = same && l == letters[0]
	}
	if same && len(letters) > 2 && isLetter(letters[0]) {
		return true
	}
	for _, keys := range []string{"qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "yxcvbnm", "azertyuiop"} {
		if len(word) >= 4 && strings.Contains(keys+keys, word) || len(word) >= 4 && strings.HasPrefix(word, keys[:4]) {
			return true
		}
	}
	return len(letters) >= 5 && !strings.ContainsAny(word, "aeiouyw0123456789")
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r > 0xbf }
