package connected

import (
	"context"
	"time"
	"unicode"
	"unicode/utf8"

	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/speech/spoken"
)

// silence is the shape of a mouth that says nothing.
const silence = "sil"

// planWithin is how long what is built in may take: it takes a few milliseconds.
const planWithin = 250 * time.Millisecond

// plan is what the words of a sentence are to each other: how long each lasts, and what
// the mouth does meanwhile.
type plan struct{ words []planned }

// planned is a word of a plan.
type planned struct {
	from, to int // of the text, in bytes
	// lasts is how long it sounds, and pause the silence after it.
	lasts, pause time.Duration
	// shapes are the mouth's, with AtMs from the word's beginning.
	shapes []speaker.Viseme
	// at is how much is sounded before it.
	at time.Duration
}

// lasts is how long the sentence is.
func (p *plan) lasts() (d time.Duration) {
	for i := range p.words {
		d += p.words[i].lasts + p.words[i].pause
	}
	return d
}

// sounded is how long there is a voice in the sentence.
func (p *plan) sounded() time.Duration {
	if len(p.words) == 0 {
		return 0
	}
	last := &p.words[len(p.words)-1]
	return last.at + last.lasts
}

// planOf is the plan of a sentence: as what is built in says it, or else by its letters.
func (s *Speaker) planOf(ctx context.Context, r speaker.Request, text *spoken.Text) plan {
	var p plan
	if s.knows(r.Language) {
		var all speaker.Chunk
		ctx, cancel := context.WithTimeout(ctx, planWithin)
		defer cancel()
		if err := s.o.Builtin.Speak(ctx, r, func(c speaker.Chunk) error {
			all.Words, all.Visemes = append(all.Words, c.Words...), append(all.Visemes, c.Visemes...)
			return nil
		}); err == nil {
			p = planAs(all)
		}
	}
	if len(p.words) == 0 {
		p = spelled(text, r.Speed)
	}
	at := time.Duration(0)
	for i := range p.words {
		p.words[i].at = at
		at += p.words[i].lasts
	}
	return p
}

// planAs is the plan of what was said of a sentence.
func planAs(said speaker.Chunk) plan {
	var p plan
	next := 0
	for i, w := range said.Words {
		until := w.AtMs + w.LastsMs
		word := planned{from: w.From, to: w.To, lasts: max(ms(w.LastsMs), shortestWord)}
		if i+1 < len(said.Words) {
			word.pause = max(ms(said.Words[i+1].AtMs-until), 0)
		}
		for ; next < len(said.Visemes) && said.Visemes[next].AtMs < until; next++ {
			if v := said.Visemes[next]; v.Shape != silence && v.AtMs >= w.AtMs {
				v.AtMs -= w.AtMs
				word.shapes = append(word.shapes, v)
			}
		}
		p.words = append(p.words, word)
	}
	return p
}

const (
	// shortestWord is how long a word lasts at least.
	shortestWord = 40 * time.Millisecond
	// letterLasts is how long a letter sounds, clausePause and sentencePause the silence
	// after a mark.
	letterLasts   = 70 * time.Millisecond
	clausePause   = 200 * time.Millisecond
	sentencePause = 350 * time.Millisecond
)

// spelled is the plan of a text by its letters, in a language that nothing here speaks.
func spelled(text *spoken.Text, speed float64) plan {
	if speed <= 0 {
		speed = 1
	}
	w := &writing{text: text}
	n := 0
	for _, c := range text.Said {
		w.add(n, c, time.Duration(float64(letterLasts)/speed))
		n++
	}
	return plan{w.words}
}

// writing makes a plan of letters.
type writing struct {
	text  *spoken.Text
	words []planned
	open  bool
}

func (w *writing) add(n int, c rune, lasts time.Duration) {
	if !voiced(c) {
		w.open = w.open && within(c)
		if last := len(w.words) - 1; last >= 0 && !w.open {
			w.words[last].pause = max(w.words[last].pause, pauseAfter(c))
		}
		return
	}
	from, to, ok := w.text.Source(n, 1)
	if !ok {
		return
	}
	last := len(w.words) - 1
	if !w.open && (last < 0 || from >= w.words[last].to) {
		w.words = append(w.words, planned{from: from})
		last++
	}
	word := &w.words[last]
	if v, ok := shapeOf(c); ok {
		v.AtMs = word.lasts.Milliseconds()
		word.shapes = append(word.shapes, v)
	}
	word.to, word.lasts, w.open = max(word.to, to), word.lasts+lasts, !alone(c)
}

// voiced says whether a character is sounded.
func voiced(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.IsMark(c) }

// within says whether a mark may stand within a word.
func within(c rune) bool { return c == '\'' || c == '’' || c == '-' }

// alone says whether a character is a word, as in scripts that have no blanks between them.
func alone(c rune) bool { return unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana) }

func pauseAfter(c rune) time.Duration {
	switch c {
	case ',', ';', ':', '–', '—', '、', '，', '；', '،', '؛':
		return clausePause
	case '.', '!', '?', '…', '。', '！', '？', '।', '؟':
		return sentencePause
	}
	return 0
}

// shapeOf is roughly the mouth's shape of a letter.
func shapeOf(c rune) (speaker.Viseme, bool) {
	if s, ok := letterShapes[unicode.ToLower(c)]; ok {
		return speaker.Viseme{Shape: s, Weight: letterWeight}, true
	}
	if unicode.IsMark(c) || utf8.RuneLen(c) < 2 {
		return speaker.Viseme{}, false
	}
	// Of other scripts: the mouth opens and closes as somebody's does who speaks.
	return speaker.Viseme{Shape: otherShapes[int(c)%len(otherShapes)], Weight: letterWeight}, true
}

// letterWeight is how far the shapes of letters are made.
const letterWeight = 0.75

var otherShapes = []string{"aa", "E", "nn", "O", "DD", "I", "U"}

// letterShapes are those of the letters of Latin, Cyrillic and Greek.
var letterShapes = func() map[rune]string {
	shapes := map[rune]string{}
	for shape, letters := range map[string]string{
		"aa": "aáàâãäåăąāаяαά", "E": "eéèêëęěėēæeэеёεέ", "I": "iíìîïīįıyýÿиыйіїηιίήυύ", "O": "oóòôõøöőōоοωόώ", "U": "uúùûüűůūwуюў",
		"PP": "pbmпбмπμ", "FF": "fvфвφβ", "TH": "þðθδ", "DD": "tdтдτ", "kk": "kgcqxкгхґκγχ", "CH": "jčćšžşçчшщж", "SS": "szсзцσςζξ",
		"nn": "nlñńňłнлνλψ", "RR": "rřрρ",
	} {
		for _, c := range letters {
			shapes[c] = shape
		}
	}
	return shapes
}()

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
