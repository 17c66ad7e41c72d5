package conversation

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxSentenceBytes is where words that never come to a full stop are cut.
const maxSentenceBytes = 600

// splitter makes sentences of a model's pieces as soon as they are whole.
type splitter struct {
	rest string
}

// add takes the next piece and returns the sentences that it completes. A full
// stop at the very end completes nothing yet: what follows may be a decimal.
func (s *splitter) add(piece string) []string {
	s.rest += piece
	var out []string
	for {
		cut := s.cut()
		if cut == 0 {
			return out
		}
		if sentence := clean(s.rest[:cut]); sentence != "" {
			out = append(out, sentence)
		}
		s.rest = s.rest[cut:]
	}
}

// end returns what is left.
func (s *splitter) end() string {
	rest := clean(s.rest)
	s.rest = ""
	return rest
}

func (s *splitter) cut() int {
	for i, r := range s.rest {
		to := i + utf8.RuneLen(r)
		if r == utf8.RuneError || to > len(s.rest) || !endsSentence(s.rest, i, r) {
			continue
		}
		to += closers(s.rest[to:])
		if to < len(s.rest) || r == '。' || r == '！' || r == '？' || r == '\n' {
			return to
		}
	}
	if len(s.rest) <= maxSentenceBytes {
		return 0
	}
	if blank := strings.LastIndexByte(s.rest[:maxSentenceBytes], ' '); blank > 0 {
		return blank
	}
	cut := maxSentenceBytes
	for cut > 0 && !utf8.RuneStart(s.rest[cut]) {
		cut--
	}
	return cut
}

// citation is how a model names the sources of a sentence: [1] or [1, 3].
var citation = regexp.MustCompile(`\s*\[\d{1,2}(?:\s*[,;]\s*\d{1,2})*\]`)

var digits = regexp.MustCompile(`\d+`)

// uncite takes the citations out of a sentence and returns the numbers in them.
func uncite(sentence string) (words string, cited []int) {
	for _, mark := range citation.FindAllString(sentence, -1) {
		for _, number := range digits.FindAllString(mark, -1) {
			n, _ := strconv.Atoi(number)
			cited = append(cited, n)
		}
	}
	words = strings.TrimSpace(citation.ReplaceAllString(sentence, ""))
	if strings.Trim(words, ".!?…。！？ ") == "" {
		words = "" // only the full stop after a citation was left
	}
	return words, cited
}
