package answer

import (
	"slices"
	"strings"
	"unicode/utf8"

	"visavis.dev/pkg/text/search"
)

// Whoever doubts that a human speaks to them says so in countless ways, and no list of
// patterns holds them all. What they have in common is few words: one of what a speaker
// may be or be made of ([nature] in the files under talk), one that points at who is
// speaking ([self], or less surely [here]), and little else but words of asking and
// doubting ([aside]). [matter] are the words of asking an organization for something or
// about itself, and of wishing to talk to somebody.
const (
	// maxDoubt is how many words such an utterance has at most.
	maxDoubt = 14
	// doubtRest is how many of them may be of none of the sections.
	doubtRest = 3
	// shortWord is how many letters a word has that says too little to be one of these.
	shortWord = 3
	// minSlip is how many letters a word has that is set right: a shorter one is soon another.
	minSlip = 5
)

// doubted is the language in which what was said asks, as a whole, who or what is
// speaking. In one that nothing speaks for, each word must be known as it is written.
func doubted(near, far []*talk, text string) *talk {
	for _, t := range near {
		said := hear(text, t.spellings)
		if !t.mentions("nature", said) {
			if t.courtesy(said, text) != None {
				continue
			}
			said = t.naturesRight(said)
		}
		if t.doubts(said, doubtRest) {
			return t
		}
	}
	for _, t := range far {
		if t.doubts(hear(text, t.spellings), 0) {
			return t
		}
	}
	return nil
}

// doubts says whether what was said asks who or what is speaking, with so many words
// beside.
func (t *talk) doubts(said spoken, rest int) bool {
	most := maxDoubt
	if t.wide {
		most, rest = most*2, rest*2
	}
	if len(said.words) > most || !t.mentions("nature", said) || t.mentions("matter", said) || t.isOfThing(said) ||
		t.holds(said, Insult, rest) || t.holds(said, Injection, rest) {
		return false
	}
	if !t.mentions("self", said) {
		if !t.mentions("here", said) {
			return false
		}
		rest = 0 // "is this real" is about the speaker, "is this statue real" is not
	}
	left := said.text
	for _, section := range []string{"nature", "self", "here", "aside", "lead", "filler"} {
		left = t.anywhere[section].ReplaceAllString(left, "")
	}
	unknown := strings.FieldsFunc(left, func(r rune) bool { return r == ' ' || r == ';' })
	counted := 0
	for _, word := range unknown {
		if t.wide || utf8.RuneCountInString(word) > shortWord {
			counted++
		}
	}
	return counted <= rest && !t.topical(strings.Join(unknown, " "))
}

// mentions says whether a pattern of a section stands anywhere in what was said.
func (t *talk) mentions(section string, said spoken) bool {
	f := t.anywhere[section]
	return f != nil && f.MatchString(said.text)
}

// naturesRight is what was said with the long words that are nearly those of [nature].
func (t *talk) naturesRight(said spoken) spoken {
	words := slices.Clone(said.words)
	for i, word := range words {
		if utf8.RuneCountInString(word) >= minSlip {
			words[i] = search.Nearest(word, t.natures)
		}
	}
	return spokenOf(words)
}
