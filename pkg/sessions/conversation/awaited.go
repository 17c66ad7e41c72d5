package conversation

import "time"

// awaited is a sentence that is being said aloud, until its sound is known to the end.
type awaited struct {
	number int
	text   string
	from   int // where it stands in the turn's text
	words  []term
	// told is how many of the words were told of. Where open, the next one sounds from
	// start until.
	told         int
	open         bool
	start, until time.Duration
	// ends is how far the sound is known, and takes how long all of it was estimated.
	ends, takes time.Duration
	begun       bool
}

// span is a stretch of the turn's sound that is played from a moment of its on.
type span struct{ from, to, at time.Duration }

// await puts a sentence on the timeline whose sound is being made, and returns its number.
func (l *timeline) await(sentence string, from int, speed float64) int {
	if speed <= 0 {
		speed = 1
	}
	a := &awaited{number: l.sentences, text: sentence, from: from, words: spokenWords(sentence)}
	for _, w := range a.words {
		a.takes += speaking(sentence[w.from:w.to], speed)
	}
	l.sentences++
	l.awaited = append(l.awaited, a)
	return a.number
}

func (l *timeline) awaits() bool { return len(l.awaited) > 0 }

// expected is when all is spoken, as far as that is known.
func (l *timeline) expected() time.Duration {
	end := l.end
	for _, a := range l.awaited {
		if a.begun {
			end = a.ends
		} else {
			end += sentencePause + a.takes
		}
	}
	return end
}

// sounded takes the true times of the sentence that is awaited first, and returns the
// words of it whose times are known by that. now is how long ago the turn began.
func (l *timeline) sounded(told Sounded, now time.Duration, speed float64) []Word {
	if !l.awaits() || l.awaited[0].number != told.Number {
		return nil
	}
	a := l.awaited[0]
	if told.End > told.Begin {
		if a.begun {
			l.spans[len(l.spans)-1].to = told.End
		} else {
			l.play(told.Begin, told.End, now)
		}
		a.begun, a.ends = true, told.End
	}
	var words []Word
	for _, m := range told.Marks {
		words = append(words, l.hear(a, m)...)
	}
	if !told.Whole {
		return words
	}
	words = append(words, l.close(a)...)
	l.awaited = l.awaited[1:]
	l.end = max(l.end, told.End)
	if told.Failed {
		return append(words, l.estimate(a.text, a.from, a.words[a.told:], now, speed)...)
	}
	for a.told < len(a.words) {
		words = append(words, l.pass(a, told.End))
	}
	return words
}

// play notes a stretch of sound that begins now, or after what is played before it.
func (l *timeline) play(from, to, now time.Duration) {
	if n := len(l.spans); n > 0 {
		last := l.spans[n-1]
		from, now = last.to, max(now, last.at+last.to-last.from)
	}
	l.spans = append(l.spans, span{from: from, to: to, at: now})
}

// played is how much of the sound was played by the clock.
func (l *timeline) played(now time.Duration) time.Duration {
	var at time.Duration
	for _, s := range l.spans {
		if now < s.at {
			break
		}
		at = min(s.from+now-s.at, s.to)
	}
	return at
}

// hear takes when something was spoken. A written word ends when another one begins.
func (l *timeline) hear(a *awaited, m Mark) []Word {
	if a.open && m.From < a.words[a.told].to {
		a.until = max(a.until, m.At+m.Lasts)
		return nil
	}
	words := l.close(a)
	for a.told < len(a.words) && a.words[a.told].to <= m.From {
		words = append(words, l.pass(a, m.At))
	}
	if a.told < len(a.words) {
		a.open, a.start, a.until = true, m.At, m.At+m.Lasts
	}
	return words
}

// close tells of the word that was spoken last, if any.
func (l *timeline) close(a *awaited) []Word {
	if !a.open {
		return nil
	}
	a.open = false
	w := a.words[a.told]
	a.told++
	l.marks = append(l.marks, mark{at: a.until, to: a.from + w.to})
	return []Word{{T: a.start.Milliseconds(), D: (a.until - a.start).Milliseconds(), Text: a.text[w.from:w.to]}}
}

// pass tells of a word that makes no sound of its own: a dash, or the second of two that
// are said as one.
func (l *timeline) pass(a *awaited, at time.Duration) Word {
	w := a.words[a.told]
	a.told++
	l.marks = append(l.marks, mark{at: at, to: a.from + w.to})
	return Word{T: at.Milliseconds(), Text: a.text[w.from:w.to]}
}
