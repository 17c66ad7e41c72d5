package conversation

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// How fast an average voice speaks, in characters a second at speed 1.
const (
	charactersPerSecond     = 14.0
	wideCharactersPerSecond = 5.0
)

// sentencePause is the breath between two sentences.
const sentencePause = 250 * time.Millisecond

// timeline is when the words of a turn are spoken, counted from its start. The
// words' ends are kept, and where each ends in the turn's text. Times are estimates
// where nothing makes the sound; where something does, a sentence is awaited until its
// true ones are told, which count from the turn's first sample (awaited.go).
type timeline struct {
	marks []mark
	end   time.Duration
	// awaited are the sentences whose sound is not known to its end, oldest first;
	// sentences counts all that were awaited.
	awaited   []*awaited
	sentences int
	// spans say when the sound is played by the clock; there are none where all times
	// are estimates, which go by the clock themselves.
	spans []span
}

type mark struct {
	at time.Duration
	to int
}

// add puts a sentence that stands at the offset from in the turn's text on the
// timeline, not before the moment now, and returns its words.
func (l *timeline) add(sentence string, from int, now time.Duration, speed float64) []Word {
	if len(l.marks) > 0 {
		l.end += sentencePause
	}
	if len(l.spans) == 0 {
		l.end = max(l.end, now)
	}
	return l.estimate(sentence, from, spokenWords(sentence), now, speed)
}

// estimate puts words of a sentence at the end of the timeline.
func (l *timeline) estimate(sentence string, from int, spoken []term, now time.Duration, speed float64) []Word {
	if speed <= 0 {
		speed = 1
	}
	begin := l.end
	var words []Word
	for _, w := range spoken {
		took := speaking(sentence[w.from:w.to], speed)
		words = append(words, Word{T: l.end.Milliseconds(), D: took.Milliseconds(), Text: sentence[w.from:w.to]})
		l.end += took
		l.marks = append(l.marks, mark{at: l.end, to: from + w.to})
	}
	if l.sentences > 0 {
		l.play(begin, l.end, now)
	}
	return words
}

// heard is how many bytes of the turn's text were spoken by a moment: whole
// words only, for nobody hears half of one.
func (l *timeline) heard(at time.Duration) int {
	to := 0
	for _, m := range l.marks {
		if m.at > at {
			break
		}
		to = m.to
	}
	return to
}

// spokenWords are the pieces of a sentence that are spoken as one: what stands
// between blanks, and each character of a script without blanks, with the
// punctuation that follows it.
func spokenWords(sentence string) []term {
	var out []term
	from := 0
	cut := func(to int) {
		if strings.TrimSpace(sentence[from:to]) != "" {
			out = append(out, term{from: from, to: to})
		}
		from = to
	}
	for i, r := range sentence {
		switch {
		case unicode.IsSpace(r):
			cut(i)
			from = i + utf8.RuneLen(r)
		case isWide(r):
			cut(i)
		}
	}
	cut(len(sentence))
	return out
}

// speaking is about how long a text takes to say.
func speaking(text string, speed float64) time.Duration {
	seconds := 0.0
	for _, r := range text {
		if isWide(r) {
			seconds += 1 / wideCharactersPerSecond
		} else {
			seconds += 1 / charactersPerSecond
		}
	}
	// The blank after a word takes its time too.
	seconds += 1 / charactersPerSecond
	return time.Duration(seconds / speed * float64(time.Second))
}

// Estimate is about how long a text takes to say at a speed of 1.
func Estimate(text string) time.Duration {
	var l timeline
	for _, sentence := range sentencesOf(text) {
		l.add(sentence, 0, 0, 1)
	}
	return l.end
}
