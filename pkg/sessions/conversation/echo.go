package conversation

import (
	"slices"
	"time"
	"unicode/utf8"

	"visavis.dev/pkg/text/search"
)

const (
	// echoBefore is how long before a voice was noticed its first words may have been said,
	// and echoAfter how roughly the client's playing is known.
	echoBefore = 1200 * time.Millisecond
	echoAfter  = 400 * time.Millisecond
	// shortBefore and stopBefore are that of one or two words, and where they ask to stop:
	// an answer often repeats a word of its question.
	shortBefore = 600 * time.Millisecond
	stopBefore  = 200 * time.Millisecond
	// clientBefore is how long ago what a client understands may have been said.
	clientBefore = 6 * time.Second
	// short is how many words are not echo once the avatar is silent, and has been for
	// quickest: nobody answers within less, but its last words come back then.
	short    = 2
	quickest = 150 * time.Millisecond
	// echoShare is how much of what was heard must be the avatar's.
	echoShare = 0.7
)

// echoes says whether words of a voice are those that the avatar said meanwhile: its own
// voice, as the user's microphone hears it. What asks it to stop is none, unless it said
// that itself at that moment.
func (c *Conversation) echoes(s *stretch, text string) bool {
	until := s.ended
	if until.IsZero() {
		until = c.now()
	}
	few := len(plainWords(text)) <= short
	if c.current == nil && (c.lastSaid == nil || few && s.began.Sub(*c.lastSaid.turn.EndedAt) >= quickest) {
		return false // an answer, or nothing was said that could come back
	}
	before, after := echoBefore, echoAfter
	switch {
	case few && saysStop(c.language, text):
		before, after = stopBefore, 0
	case few:
		before = shortBefore
	}
	return c.resembles(text, c.saidBetween(s.began.Add(-before), until.Add(after)))
}

// resembles says whether what was heard is what was said.
func (c *Conversation) resembles(text string, said []string) bool {
	heard := plainWords(text)
	if len(heard) == 0 || len(said) == 0 {
		return false
	}
	alike, rest := align(heard, said)
	if stopAt(c.language, rest) == 0 {
		return false
	}
	if len(heard) <= short {
		return alike == len(heard)
	}
	return float64(alike) >= echoShare*float64(len(heard))
}

// clientIsLate is how long after the avatar's last word a client may still understand it.
const clientIsLate = 1500 * time.Millisecond

// echoesClient says whether what the client understood is what the avatar is saying there.
// What was begun otherwise is the user's to the end, as is one word, which may be meant, and
// two once the avatar is silent for so long that they can be.
func (c *Conversation) echoesClient(text string) bool {
	words := len(plainWords(text))
	if c.ear.busy() || words < short {
		return false
	}
	if c.current == nil {
		late := clientIsLate
		if words <= short {
			late = quickest
		}
		if c.lastSaid == nil || c.now().Sub(*c.lastSaid.turn.EndedAt) >= late {
			return false
		}
	}
	return c.resembles(text, c.saidBetween(c.now().Add(-clientBefore), c.now().Add(echoAfter)))
}

// saidBetween are the words that the client played between two moments, as far as is known.
func (c *Conversation) saidBetween(from, to time.Time) []string {
	s, at := c.current, time.Duration(0)
	switch {
	case s != nil:
		at = c.position(s)
		if s.report >= 0 { // it has played on since
			at += c.now().Sub(s.reportedAt)
		}
	case c.lastSaid != nil:
		s = c.lastSaid
		at = s.until + c.now().Sub(*s.turn.EndedAt)
	default:
		return nil
	}
	first, last := s.line.heard(at-c.now().Sub(from)), s.line.heard(at+to.Sub(c.now()))
	return plainWords(s.turn.Text[min(first, last):last])
}

// mostAligned bounds the words that are compared, of what was heard and of what was said:
// their table grows with both.
const mostAligned = 256

// align is how many words of what was heard stand in what was said, in its order, and
// which do not. A word may be understood a little otherwise.
func align(heard, said []string) (alike int, rest []string) {
	beyond := heard[min(len(heard), mostAligned):]
	heard, said = heard[:len(heard)-len(beyond)], said[max(0, len(said)-mostAligned):]
	// The longest common row, by the usual table.
	table := make([][]int, len(heard)+1)
	for i := range table {
		table[i] = make([]int, len(said)+1)
	}
	for i := range slices.Backward(heard) {
		for j := len(said) - 1; j >= 0; j-- {
			table[i][j] = max(table[i+1][j], table[i][j+1])
			if sounds(heard[i], said[j]) {
				table[i][j] = max(table[i][j], table[i+1][j+1]+1)
			}
		}
	}
	i, j := 0, 0
	for i < len(heard) {
		switch {
		case j < len(said) && sounds(heard[i], said[j]) && table[i][j] == table[i+1][j+1]+1:
			i, j = i+1, j+1
		case j < len(said) && table[i][j] == table[i][j+1]:
			j++
		default:
			rest = append(rest, heard[i])
			i++
		}
	}
	return table[0][0], append(rest, beyond...)
}

// sounds says whether words are the same, or long and nearly so.
func sounds(a, b string) bool {
	if a == b {
		return true
	}
	if min(utf8.RuneCountInString(a), utf8.RuneCountInString(b)) < 4 {
		return false
	}
	return search.Misheard(a, b, 1)
}
