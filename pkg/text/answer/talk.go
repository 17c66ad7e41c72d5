package answer

import (
	"embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
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
	// Clock asks for the time or the day, and LanguageChoice in which languages one can talk.
	Clock          Act = "clock"
	LanguageChoice Act = "languages"
	Wellness       Act = "wellness"
	Goodbye        Act = "goodbye"
	Thanks         Act = "thanks"
	Greeting       Act = "greeting"
	No             Act = "no"
	Yes            Act = "yes"
	Okay           Act = "okay"
)

// Beside those of the acts and of the kinds of questions, the files have sections that weigh
// one against another:
//
//	peril, calm, taught        what happens to somebody, what is asked about such a thing,
//	                           and that it is taught what to do then
//	plain, thing               a question for disclosure at the end of much else, and what
//	                           is real or automatic that does not speak
//	summons, errand            asking for a person in words of asking whether there is one,
//	                           and being called for something else
//	regarding                  whom to talk to about something, which is named beside it
//	others, talking, wishing   who to talk with, to talk and to wish, in any order
//	helping                    words of helping, which are no topic
//	nature, self, …            see nature.go

// weighty are the acts that a pattern somewhere in what is said makes, in the order in
// which they are looked for, with how many words may stand beside it.
var weighty = []struct {
	act  Act
	rest int
}{
	{Emergency, 14}, {Disclosure, 7}, // what unmissable counts
	{Injection, maxSpoken}, {Person, 7}, {Repeat, 2}, {Ability, 2}, {Insult, 3}, {Clock, 2}, {LanguageChoice, 2},
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
	anywhere map[string]*form
	begins   map[string]*regexp.Regexp
	// known are the words of the acts, by which misspelled ones are set right.
	known map[int][]string
	// natures are those of what a speaker may be, for the same.
	natures   map[int][]string
	spellings map[string][]string
	say       map[string]string
	// function are the words of asking.
	function map[string]bool
	// common are those and the words of the acts.
	common map[string]bool
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
			t, err := openTalk(language)
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
	asking()
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

func openTalk(language string) (*talk, error) {
	text, err := talkFiles.ReadFile("talk/" + language + ".txt")
	if err != nil {
		return nil, err
	}
	return readTalk(language, string(text))
}

func readTalk(language, text string) (*talk, error) {
	t := &talk{
		language: language, wide: language == "zh" || language == "ja" || language == "ko", anywhere: map[string]*form{}, begins: map[string]*regexp.Regexp{},
		known: map[int][]string{}, natures: map[int][]string{}, spellings: map[string][]string{}, say: map[string]string{}, function: map[string]bool{},
	}
	c := compiler{sets: map[string][]string{}, spellings: t.spellings, wide: t.wide}
	sections := map[string][]string{}
	section, set := "", ""
	for line := range strings.Lines(text) {
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
	failed := t.compile(&c, sections)
	t.common = t.commonWords()
	return t, errors.Join(failed...)
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
		var all []compiled
		for _, pattern := range patterns {
			one, err := c.compile(pattern)
			if err != nil {
				failed = append(failed, fmt.Errorf("%s [%s]: %w", t.language, name, err))
				continue
			}
			if one.expression != "" {
				all = append(all, one)
			}
			t.learn(name, pattern, c)
		}
		// The longest first: an alternation takes the first that fits.
		slices.SortStableFunc(all, func(a, b compiled) int { return len(b.expression) - len(a.expression) })
		t.anywhere[name] = newForm(all)
		if name == "peril" || name == "calm" {
			continue
		}
		var expressions []string
		for _, one := range all {
			expressions = append(expressions, one.expression)
		}
		t.begins[name] = regexp.MustCompile("^(?:" + strings.Join(expressions, "|") + ")")
	}
	return failed
}

// learn takes note of a pattern's words.
func (t *talk) learn(section, pattern string, c *compiler) {
	if t.wide {
		return
	}
	// Those of turning to somebody name what is asked for: to complain, the number.
	asks := slices.Contains(kinds, Kind(section)) && Kind(section) != Phone && Kind(section) != Whom
	if asks || section == string(YesNo) || section == "lead" || section == "filler" {
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

// Understands says whether what is said in a language is understood.
func Understands(language string) bool { return talkOf(language) != nil }

// OfAsking says whether a word, in lower case without diacritics, is one of those with
// which a language asks.
func OfAsking(language, word string) bool {
	t := talkOf(language)
	return t != nil && t.function[bareLetters.Replace(word)]
}
