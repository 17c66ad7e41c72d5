package answer

import (
	"embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"visavis.dev/pkg/text/lexicon"
	"visavis.dev/pkg/text/search"
)

//go:embed talk/*.txt
var talkFiles embed.FS

// Act is what somebody does by what they say that asks no document anything.
type Act string

// The acts. Those that open a matter are heard before those that only accompany one.
const (
	None       Act = ""
	Disclosure Act = "disclosure"
	Person     Act = "person"
	Ability    Act = "ability"
	Repeat     Act = "repeat"
	Insult     Act = "insult"
	Injection  Act = "injection"
	Emergency  Act = "emergency"
	Nonsense   Act = "nonsense"
	Wellness   Act = "wellness"
	Goodbye    Act = "goodbye"
	Thanks     Act = "thanks"
	Greeting   Act = "greeting"
	No         Act = "no"
	Yes        Act = "yes"
	Okay       Act = "okay"
)

// weighty are the acts that a pattern somewhere in what is said makes, in the order in
// which they are looked for, with how many words may stand beside it.
var weighty = []struct {
	act  Act
	rest int
}{
	{Emergency, 14}, {Disclosure, 7}, // what unmissable counts
	{Injection, maxSpoken}, {Person, 7}, {Repeat, 2}, {Ability, 2}, {Insult, 3},
}

// unmissable is how many of them are heard in every language.
const unmissable = 2

// farRest is how many words may stand beside them in a language that nothing speaks for.
const farRest = 2

// courtesies are the acts that what is said wholly consists of, the weightiest first.
var courtesies = []Act{Wellness, Goodbye, Thanks, Greeting, No, Yes, Okay}

// talk is one language's file.
type talk struct {
	language string
	wide     bool
	// anywhere finds a section's patterns, and begins those at the beginning.
	anywhere, begins map[string]*regexp.Regexp
	// known are the words of the acts, by which misspelled ones are set right.
	known map[int][]string
	// natures are those of what a speaker may be, for the same.
	natures   map[int][]string
	spellings map[string][]string
	say       map[string]string
	// function are the words of asking.
	function map[string]bool
}

var talks = func() map[string]func() *talk {
	all := map[string]func() *talk{}
	files, err := talkFiles.ReadDir("talk")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	for _, f := range files {
		language := strings.TrimSuffix(f.Name(), ".txt")
		all[language] = sync.OnceValue(func() *talk {
			t, err := readTalk(language)
			if err != nil {
				panic(err) // the files are part of the program, and a test reads them
			}
			return t
		})
	}
	return all
}()

// Languages are those in which talk is understood, in order.
func Languages() []string {
	var out []string
	for language := range talks {
		out = append(out, language)
	}
	slices.Sort(out)
	return out
}

// Load reads every language, which the first to speak would wait for otherwise.
func Load() {
	for _, read := range talks {
		read()
	}
}

// talkOf is a language's file, nil where there is none.
func talkOf(language string) *talk {
	if read := talks[base(language)]; read != nil {
		return read()
	}
	return nil
}

// Say is one of the engine's own sentences, in English where the language has none.
func Say(language, key string) string {
	if t := talkOf(language); t != nil && t.say[key] != "" {
		return t.say[key]
	}
	return talkOf("en").say[key]
}

func base(language string) string {
	code, _, _ := strings.Cut(language, "-")
	return strings.ToLower(code)
}

func readTalk(language string) (*talk, error) {
	text, err := talkFiles.ReadFile("talk/" + language + ".txt")
	if err != nil {
		return nil, err
	}
	t := &talk{
		language: language, wide: language == "zh" || language == "ja", anywhere: map[string]*regexp.Regexp{}, begins: map[string]*regexp.Regexp{},
		known: map[int][]string{}, natures: map[int][]string{}, spellings: map[string][]string{}, say: map[string]string{}, function: map[string]bool{},
	}
	c := compiler{sets: map[string][]string{}, spellings: t.spellings, wide: t.wide}
	sections := map[string][]string{}
	section, set := "", ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section, set = strings.Trim(line, "[]"), ""
		case strings.HasPrefix(line, "= "):
			set = line[2:]
		case set != "":
			c.sets[set] = append(c.sets[set], list(line)...)
			set = ""
		case section == "say":
			key, words, _ := strings.Cut(line, " ")
			t.say[key] = words
		case section == "spelling":
			for _, one := range list(line) {
				from, to, _ := strings.Cut(one, "=")
				t.spellings[strings.Join(hear(from, nil).words, " ")] = hear(to, nil).words
			}
		case section == "":
			return nil, fmt.Errorf("%s: %q is in no section", language, line)
		default:
			sections[section] = append(sections[section], list(line)...)
		}
	}
	return t, errors.Join(t.compile(&c, sections)...)
}

func list(line string) []string {
	var out []string
	for one := range strings.SplitSeq(line, ",") {
		if one = strings.TrimSpace(one); one != "" {
			out = append(out, one)
		}
	}
	return out
}

func (t *talk) compile(c *compiler, sections map[string][]string) []error {
	var failed []error
	for name, patterns := range sections {
		var all []string
		for _, pattern := range patterns {
			expression, err := c.compile(pattern)
			if err != nil {
				failed = append(failed, fmt.Errorf("%s [%s]: %w", t.language, name, err))
				continue
			}
			if expression != "" {
				all = append(all, expression)
			}
			t.learn(name, pattern, c)
		}
		// The longest first: an alternation takes the first that fits.
		slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
		joined := "(?:" + strings.Join(all, "|") + ")"
		t.anywhere[name] = regexp.MustCompile(joined)
		t.begins[name] = regexp.MustCompile("^" + joined)
	}
	return failed
}

// learn takes note of a pattern's words.
func (t *talk) learn(section, pattern string, c *compiler) {
	if t.wide {
		return
	}
	if slices.Contains(kinds, Kind(section)) || section == string(YesNo) || section == "lead" || section == "filler" {
		for _, word := range hear(strings.NewReplacer("|", " ", "?", " ", "*", " ", "$", " ", "^", " ").Replace(pattern), nil).words {
			t.function[word] = true
		}
	}
	if !slices.ContainsFunc(weighty, func(w struct {
		act  Act
		rest int
	}) bool {
		return string(w.act) == section
	}) && !slices.Contains(courtesies, Act(section)) && section != "nature" {
		return
	}
	known := t.known
	if section == "nature" {
		known = t.natures
	}
	texts := []string{pattern}
	for name, words := range c.sets {
		if strings.Contains(pattern, "<"+name+">") {
			texts = append(texts, words...)
		}
	}
	for _, text := range texts {
		for _, word := range hear(strings.NewReplacer("|", " ", "?", " ", "*", " ", "$", " ", "<", " ", ">", " ").Replace(text), nil).words {
			n := len([]rune(word))
			if n >= 4 && !strings.Contains(word, "~") && !slices.Contains(known[n], word) {
				known[n] = append(known[n], word)
			}
		}
	}
}

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
		if t.holds(said, w.act, w.rest) && (w.act != Ability || !t.topical(text)) {
			return w.act
		}
	}
	return t.courtesy(said, text)
}

// holds says whether a pattern of an act stands in what was said, with little beside.
func (t *talk) holds(said spoken, act Act, rest int) bool {
	pattern := t.anywhere[string(act)]
	if pattern == nil {
		return false
	}
	span := pattern.FindStringIndex(said.text)
	if span == nil || span[1] == span[0] {
		return false
	}
	if t.wide {
		rest *= 2
	}
	beside := said.text[:span[0]] + said.text[span[1]:]
	if filler := t.anywhere["filler"]; filler != nil {
		beside = filler.ReplaceAllString(beside, "")
	}
	if lead := t.anywhere["lead"]; lead != nil {
		beside = lead.ReplaceAllString(beside, "")
	}
	matched := strings.Count(said.text[span[0]:span[1]], ";")
	if rest < farRest+2 && matched <= farRest {
		rest = min(rest, matched-1) // a word or two say little among others
	}
	return strings.Count(beside, ";") <= rest
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

// Understands says whether what is said in a language is understood.
func Understands(language string) bool { return talkOf(language) != nil }

// OfAsking says whether a word, in lower case without diacritics, is one of those with
// which a language asks.
func OfAsking(language, word string) bool {
	t := talkOf(language)
	return t != nil && t.function[bareLetters.Replace(word)]
}

// Guess is the language of a few words that no stop word tells: the one that has most of
// them, empty where two have as many.
func Guess(text string) string {
	best, most, second := "", 0, 0
	for _, language := range lexicon.Languages() {
		t := talkOf(language)
		if t.wide {
			continue
		}
		n := 0
		for _, word := range search.NewPhrase(text) {
			if len(word) < 2 {
				continue
			}
			if t.function[bareLetters.Replace(word)] {
				n += 2
			}
			if search.InLexicon(language, word) {
				n++
			}
		}
		switch {
		case n > most:
			best, most, second = language, n, most
		case n > second:
			second = n
		}
	}
	if most < 2 || most == second {
		return ""
	}
	return best
}
