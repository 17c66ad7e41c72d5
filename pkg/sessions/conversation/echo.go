package conversation

import (
	"slices"
	"time"
	"unicode/utf8"
)

const (
	// echoBefore and echoAfter are around what is being said the words that an echo may be
	// of: what was heard is late, and the client's playing is known roughly.
	echoBefore = 6 * time.Second
	echoAfter  = 1200 * time.Millisecond
	// echoShare is how much of what was heard must be the avatar's.
	echoShare = 0.7
)

// echoes says whether words that were understood are those that the avatar just said: its
// own voice, as the user's microphone hears it. What asks it to stop is none, unless it
// said that itself.
func (c *Conversation) echoes(text string) bool {
	heard, said := plainWords(text), c.justSaid()
	if len(heard) == 0 || len(said) == 0 {
		return false
	}
	alike, rest := align(heard, said)
	if stopAt(c.language, rest) == 0 {
		return false
	}
	if len(heard) <= 2 {
		return alike == len(heard)
	}
	return float64(alike) >= echoShare*float64(len(heard))
}

// clientIsLate is how long after the avatar's last word a client may still understand it.
const clientIsLate = 1500 * time.Millisecond

// echoesClient says whether what the client understood is what the avatar is saying there.
// What was begun otherwise is the user's to the end, as is one word, which may be meant.
func (c *Conversation) echoesClient(text string) bool {
	heard := c.current != nil || c.lastSaid != nil && c.now().Sub(*c.lastSaid.turn.EndedAt) < clientIsLate
	return heard && !c.ear.busy() && len(plainWords(text)) > 1 && c.echoes(text)
}

// justSaid are the words that the client plays around now, or has just played.
func (c *Conversation) justSaid() []string {
	s, late := c.current, time.Duration(0)
	if s == nil {
		if s = c.lastSaid; s == nil {
			return nil
		}
		late = c.now().Sub(*s.turn.EndedAt)
	}
	at := c.position(s)
	if c.current == nil {
		at = s.until + late
	}
	began := at - echoBefore
	if !c.ear.since.IsZero() {
		began = min(began, at-c.now().Sub(c.ear.since)-echoAfter)
	}
	from, to := s.line.heard(began), s.line.heard(at+echoAfter)
	return plainWords(s.turn.Text[min(from, to):to])
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
	return distanceWithin(a, b, 1)
}

// distanceWithin says whether so many letters are to be changed at most.
func distanceWithin(a, b string, most int) bool {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > most || len(y)-len(x) > most {
		return false
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(y)] <= most
}
