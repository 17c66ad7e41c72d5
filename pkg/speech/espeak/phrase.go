package espeak

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"visavis.dev/pkg/speech/espeak/wire"
	"visavis.dev/pkg/speech/speaker"
)

const (
	// maxPhrase is how many characters a process is given at once. Its library holds a
	// clause in buffers of a fixed size, and crashes where some texts overflow them.
	maxPhrase = 250
	// maxFailures is how many processes a text may cost.
	maxFailures = 8
)

// phrase is what a process is given at once of what is said.
type phrase struct {
	said []rune
	// at is where it begins, in characters of the whole.
	at int
}

// phrasesOf cuts what is said where a sentence ends, or else a clause, or a word.
func phrasesOf(said string) []phrase {
	var phrases []phrase
	rest := phrase{said: []rune(said)}
	for len(rest.said) > maxPhrase {
		first, second := rest.cut(lastEnd(rest.said[:maxPhrase]))
		phrases = append(phrases, first)
		rest = second
	}
	return append(phrases, rest)
}

func (p phrase) cut(n int) (first, second phrase) {
	return phrase{p.said[:n], p.at}, phrase{p.said[n:], p.at + n}
}

// lastEnd is how many characters there are up to the last end of a sentence, or else of a
// clause or a word; all of them where none ends.
func lastEnd(said []rune) int {
	word, clause := 0, 0
	for i := len(said) - 1; i > 0; i-- {
		switch before := said[i-1]; {
		case strings.ContainsRune("。！？", before), unicode.IsSpace(said[i]) && strings.ContainsRune(".!?…", before):
			return i
		case clause == 0 && (strings.ContainsRune("、，；", before) || unicode.IsSpace(said[i]) && strings.ContainsRune(",;:–—", before)):
			clause = i
		case word == 0 && unicode.IsSpace(said[i]):
			word = i
		}
	}
	switch {
	case clause > 0:
		return clause
	case word > 0:
		return word
	}
	return len(said)
}

// halves cuts a phrase at the blank nearest to its middle, or through it.
func (p phrase) halves() (first, second phrase) {
	middle := len(p.said) / 2
	for away := range middle {
		for _, i := range []int{middle - away, middle + away} {
			if i > 0 && i < len(p.said) && unicode.IsSpace(p.said[i]) {
				return p.cut(i)
			}
		}
	}
	return p.cut(middle)
}

// sayAll has phrases said one after the other. One at which processes fail is said in
// halves; a character at which they fail stays unsaid. The error is ErrFailed where that is
// all there is, or too much fails.
func (p *Pool) sayAll(ctx context.Context, r wire.Request, phrases []phrase, s *saying) error {
	failures, unsaid := 0, 0
	var failed error
	for len(phrases) > 0 {
		next := phrases[0]
		phrases = phrases[1:]
		if strings.IndexFunc(string(next.said), unicode.IsGraphic) < 0 {
			continue
		}
		r.Text = string(next.said)
		answer, err := p.ask(ctx, r)
		switch {
		case err == nil:
			if err := s.hear(next.at, answer); err != nil {
				return err
			}
			continue
		case !errors.Is(err, speaker.ErrFailed) || ctx.Err() != nil:
			return err
		}
		failed = err
		if failures++; failures > maxFailures {
			return fmt.Errorf("%d processes failed at one text: %w", failures, err)
		}
		if len(next.said) == 1 {
			unsaid++
			continue
		}
		first, second := next.halves()
		phrases = append([]phrase{first, second}, phrases...)
	}
	if s.taken == 0 && failed != nil {
		return failed
	}
	if unsaid > 0 {
		p.options.Log.WarnContext(ctx, "speech process fails at a text, part of it stays unsaid", "characters", unsaid, "error", failed)
	}
	return nil
}
