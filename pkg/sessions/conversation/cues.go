package conversation

import (
	"maps"
	"slices"
	"strings"
)

// cueSets are the lists of a language as rows of words.
type cueSets struct {
	// listening are fillers and assents.
	fillers, listening, stops [][]string
	hanging                   map[string]bool
}

var cueSetsOf = func() map[string]cueSets {
	all := map[string]cueSets{}
	rows := func(list string) (out [][]string) {
		for phrase := range strings.SplitSeq(list, "|") {
			out = append(out, plainWords(phrase))
		}
		// The longest first: "moment mal" before "moment".
		slices.SortStableFunc(out, func(a, b []string) int { return len(b) - len(a) })
		return out
	}
	for language, c := range cuesOf {
		hanging := map[string]bool{}
		for word := range strings.SplitSeq(c.hanging, "|") {
			hanging[lower(word)] = true
		}
		all[language] = cueSets{rows(c.fillers), rows(c.fillers + "|" + c.assents), rows(c.stops), hanging}
	}
	return all
}()

// cuesFor are those of a language, or else English.
func cuesFor(language string) cueSets {
	if c, ok := cueSetsOf[base(language)]; ok {
		return c
	}
	return cueSetsOf["en"]
}

// plainWords are a text's words as they are compared.
func plainWords(text string) []string {
	terms := wordsOf(text)
	out := make([]string, len(terms))
	for i, t := range terms {
		out[i] = t.text
	}
	return out
}

// begins is how many words of the beginning one of the rows is; 0 for none.
func begins(words []string, rows [][]string) int {
	for _, row := range rows {
		if len(row) > 0 && len(row) <= len(words) && slices.Equal(words[:len(row)], row) {
			return len(row)
		}
	}
	return 0
}

// made says whether words are nothing but rows.
func made(words []string, rows [][]string) bool {
	for len(words) > 0 {
		n := begins(words, rows)
		if n == 0 {
			return false
		}
		words = words[n:]
	}
	return true
}

// mostListening is how many words people say to show that they listen.
const mostListening = 6

// isListening says whether words only show that somebody listens.
func isListening(language, text string) bool {
	words := plainWords(text)
	return len(words) > 0 && len(words) <= mostListening && made(words, cuesFor(language).listening)
}

// isFiller says whether words say nothing at all.
func isFiller(language, text string) bool {
	words := plainWords(text)
	return len(words) > 0 && made(words, cuesFor(language).fillers)
}

// saysStop says whether words ask a speaker to stop: they begin with that, perhaps after a
// filler or an assent, or are few and hold it.
func saysStop(language, text string) bool {
	return stopAt(language, plainWords(text)) >= 0
}

// fewAround is how many words may stand around a stop that does not begin them.
const fewAround = 4

// stopAt is where words ask a speaker to stop; -1 for nowhere.
func stopAt(language string, words []string) int {
	c := cuesFor(language)
	at := 0
	for at < len(words) {
		if begins(words[at:], c.stops) > 0 {
			return at
		}
		n := begins(words[at:], c.listening)
		if n == 0 && len(words) > fewAround {
			return -1
		}
		at += max(n, 1)
	}
	return -1
}

// politeness goes with a stop and asks for nothing more.
var politeness = func() map[string]bool {
	set := map[string]bool{}
	maps.Copy(set, wordSet("please|bitte|s'il|vous|te|plaît|por|favor|per|favore|alsjeblieft|alstublieft|tack|snälla|tak|proszę|lütfen|من|فضلك|no|nein|nee|non|mal|now|jetzt|there|that|it"))
	return set
}()

// apologies make a speaker stop, and want an answer: they begin something, or ask to hear it
// again.
var apologies = func() (rows [][]string) {
	for phrase := range strings.SplitSeq("excuse me|entschuldigung|excusez moi|pardon|perdón|disculpe|scusi|scusa|desculpe|sorry|ursäkta|undskyld|przepraszam|عفوا|不好意思|すみません", "|") {
		rows = append(rows, plainWords(phrase))
	}
	return rows
}()

// onlyStops says whether words ask for nothing but to stop: nobody is to answer them.
func onlyStops(language, text string) bool {
	if asksSomething(text) {
		return false
	}
	c, words, stops := cuesFor(language), plainWords(text), 0
	for len(words) > 0 {
		if begins(words, apologies) > 0 {
			return false
		}
		n := begins(words, c.stops)
		if n > 0 {
			stops++
		} else if n = begins(words, c.listening); n == 0 && politeness[words[0]] {
			n = 1
		}
		if n == 0 {
			return false
		}
		words = words[n:]
	}
	return stops > 0
}

// asksSomething says whether a text ends with a question.
func asksSomething(text string) bool {
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") || strings.HasSuffix(text, "؟")
}

// isUnfinished says whether somebody is in the middle of a thought: no sentence ends like
// this.
func isUnfinished(language, text string) bool {
	if asksSomething(text) {
		return false
	}
	text = strings.TrimRight(text, " .…。,，、")
	words := plainWords(text)
	if len(words) < 2 {
		return false
	}
	hanging := cuesFor(language).hanging
	if hanging[words[len(words)-1]] {
		return true
	}
	// Where words are not written apart, what the text ends with counts.
	for tail := range hanging {
		if isWide(firstRune(tail)) && strings.HasSuffix(text, tail) {
			return true
		}
	}
	return false
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}
