package extract

import (
	"iter"
	"regexp"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// Chunk is a passage to be searched, of one section.
type Chunk struct {
	Heading, Text string
	Page          int
}

// maxWeight bounds a passage, in words as [weigh] counts them. A row or an item that
// is heavier alone, but not twice as heavy, stays whole.
const maxWeight = 200

// row is how a row of a table begins.
var row = regexp.MustCompile(`^[^.;:!?]{1,80}: \S`)

// unit is what a passage is made of: a sentence, a row or an item.
type unit struct {
	text   string // with the space after it, if any
	before string // what divides it from the unit before, where that is more
	weight int
}

// Chunks cuts a document into passages that follow one another without overlap. The
// sections of a document may come from anywhere that kept them.
func Chunks(d Document) []Chunk {
	var out []Chunk
	for _, s := range d.Sections {
		for _, text := range pack(s.Text) {
			out = append(out, Chunk{Heading: s.Heading, Text: text, Page: s.Page})
		}
	}
	return out
}

// pack fills passages evenly: a section of 210 words makes two of about 105 and not
// one of 200 and one of 10. The units are cut twice, as all of a long section's are more
// than its text.
func pack(section string) []string {
	total := 0
	for u := range units(section) {
		total += u.weight
	}
	count := max(1, (total+maxWeight-1)/maxWeight)
	target := (total + count - 1) / count
	var out []string
	var text strings.Builder
	weight := 0
	for u := range units(section) {
		if weight > 0 && (weight >= target || weight+u.weight > maxWeight) {
			out = append(out, strings.TrimSpace(text.String()))
			text.Reset()
			weight = 0
		}
		if weight > 0 {
			text.WriteString(u.before)
		}
		text.WriteString(u.text)
		weight += u.weight
	}
	if weight > 0 {
		out = append(out, strings.TrimSpace(text.String()))
	}
	return out
}

func units(section string) iter.Seq[unit] {
	return func(yield func(unit) bool) {
		for block := range strings.SplitSeq(section, "\n\n") {
			before, alone := "\n\n", !strings.Contains(block, "\n")
			for line := range strings.SplitSeq(block, "\n") {
				whole := !alone || item.MatchString(line) || row.MatchString(line)
				for u := range cut(line, whole) {
					u.before, before = before, ""
					if !yield(u) {
						return
					}
				}
				before = "\n"
			}
		}
	}
}

// cut divides a line into sentences, unless it is to stay whole, and what is too
// heavy even then at words.
func cut(line string, whole bool) iter.Seq[unit] {
	return func(yield func(unit) bool) {
		if w := weigh(line); whole && w <= 2*maxWeight {
			_ = yieldUnit(yield, line, w)
			return
		}
		state := -1
		for rest, more := line, true; more && rest != ""; {
			var sentence string
			sentence, rest, state = uniseg.FirstSentenceInString(rest, state)
			if w := weigh(sentence); w <= maxWeight {
				more = yieldUnit(yield, sentence, w)
			} else {
				more = cutWords(yield, sentence)
			}
		}
	}
}

// cutWords divides at the boundaries of words, which scripts without spaces have too,
// and a word that is none by any measure at its letters.
func cutWords(yield func(unit) bool, sentence string) (more bool) {
	start, end, weight := 0, 0, 0
	state := -1
	for rest := sentence; rest != ""; {
		var word string
		word, rest, state = uniseg.FirstWordInString(rest, state)
		for word != "" {
			piece := word
			if len(piece) > 256 {
				piece = letters(word, 256)
			}
			w := max(1, weigh(piece))
			if strings.TrimSpace(piece) == "" {
				w = 0
			}
			if weight+w > maxWeight {
				if !yieldUnit(yield, sentence[start:end], weight) {
					return false
				}
				start, weight = end, 0
			}
			end += len(piece)
			weight += w
			word = word[len(piece):]
		}
	}
	return yieldUnit(yield, sentence[start:end], weight)
}

// letters is the beginning of s of at most about n bytes, in whole characters.
func letters(s string, n int) string {
	if len(s) > 2*n { // a character ends where its last mark does, which can be far
		s = strings.ToValidUTF8(s[:2*n], "")
	}
	end, state := 0, -1
	for rest := s; rest != "" && end < n; {
		var letter string
		letter, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		end += len(letter)
		if len(letter) > n { // marks piled up on one letter have no end
			return strings.ToValidUTF8(s[:n], "")
		}
	}
	return s[:end]
}

func yieldUnit(yield func(unit) bool, text string, weight int) (more bool) {
	return strings.TrimSpace(text) == "" || yield(unit{text: text, weight: max(1, weight)})
}

// weigh counts words. Scripts that write no spaces count two characters a word, and
// any text at least one word in eight characters, so that no passage is long whatever
// it is made of.
func weigh(s string) int {
	words, characters, signs := 0, 0, 0
	inWord := false
	for _, r := range s {
		characters++
		switch {
		case unicode.IsSpace(r):
			inWord = false
		case unspaced(r):
			signs++
			inWord = false
		case !inWord:
			words++
			inWord = true
		}
	}
	return max(words+(signs+1)/2, (characters+7)/8)
}
