// Package floor decides which of a duo's two hosts says a sentence. It goes by rules alone: the same
// conversation is divided the same way again, with a model and without.
//
// What the avatar says is an answer, a question of its own, or something else, such as a greeting, a
// courtesy or a refusal. Whoever the user addressed by name says all of it. Otherwise:
//
//   - co_host: each sentence of an answer, and each question, is of who is behind.
//   - debate: the same, but that the second sentence of an answer is the other host's.
//   - interview: the partner begins an answer, the lead goes on with it once they are behind, and asks.
//   - teach: the lead begins an answer, the partner goes on with it once they are behind, and asks.
//
// All else is the lead's.
//
// Who is behind has said less, in characters, than the balance gives them: the balance is the lead's
// share of all that the two say, from 0 to 1, and 1 minus it the partner's. A host who took over in an
// interview or a lesson keeps the floor to the end of the answer. With the handover strict, who begins
// an answer says all of it; in interview and teach the balance then changes nothing.
//
// A text may name who says it: a sentence that begins with a host's name and a colon is theirs, and so
// is what follows it, up to the next name. The name is not said. In an answer that is strictly one
// host's it changes nothing.
package floor

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/text/search"
)

// The values of an interplay that are decided by here. Any other style is a co_host's, and any other
// handover natural.
const (
	interview = "interview"
	debate    = "debate"
	teach     = "teach"
	strict    = "strict"
	lead      = "lead"
)

// Floor is who has spoken how much in one conversation. One goroutine may use it.
type Floor struct {
	lead, partner *persona.Host
	interplay     persona.Interplay
	// said counts the characters that each has said.
	said map[*persona.Host]int
	last *persona.Host
}

// New is the floor of a conversation with a duo.
func New(cast persona.Cast) *Floor {
	f := &Floor{interplay: cast.Interplay, said: map[*persona.Host]int{}}
	for i := range cast.Hosts {
		if h := &cast.Hosts[i]; h.Role == lead {
			f.lead = h
		} else {
			f.partner = h
		}
	}
	return f
}

// Lead is the host who leads.
func (f *Floor) Lead() *persona.Host { return f.lead }

// Hosts are the two, the lead first.
func (f *Floor) Hosts() [2]*persona.Host { return [2]*persona.Host{f.lead, f.partner} }

// At is the host in a seat; nil for none.
func (f *Floor) At(seat string) *persona.Host {
	for _, h := range f.Hosts() {
		if h.Seat == seat {
			return h
		}
	}
	return nil
}

// Said notes that a host says a text.
func (f *Floor) Said(h *persona.Host, text string) {
	f.said[h] += utf8.RuneCountInString(text)
	f.last = h
}

// Asks is who asks a question of the avatar's own.
func (f *Floor) Asks(text string) *persona.Host {
	switch f.interplay.Style {
	case interview:
		return f.lead
	case teach:
		return f.partner
	}
	return f.behind(text)
}

// Begins is who says the first sentence of an answer.
func (f *Floor) Begins(sentence string) *persona.Host {
	switch f.interplay.Style {
	case interview:
		return f.partner
	case teach:
		return f.lead
	}
	return f.behind(sentence)
}

// GoesOn is who says the next sentence of an answer that a host began, and in which one has spoken last.
// Sentences counts those before it.
func (f *Floor) GoesOn(began, spoke *persona.Host, sentences int, sentence string) *persona.Host {
	switch {
	case f.Strict() || f.interplay.Style != debate && spoke != began && f.parts():
		return spoke
	case f.interplay.Style == debate && sentences == 1:
		return f.other(spoke)
	}
	return f.behind(sentence)
}

// Strict says that an answer is one host's.
func (f *Floor) Strict() bool { return f.interplay.Handover == strict }

// parts says that each of the hosts has a part of their own in an answer.
func (f *Floor) parts() bool { return f.interplay.Style == interview || f.interplay.Style == teach }

// behind is who has to say a text so that the shares come nearest to the balance. Where that is all
// the same, it is who did not speak last.
func (f *Floor) behind(text string) *persona.Host {
	size := float64(utf8.RuneCountInString(text))
	byLead, byPartner := float64(f.said[f.lead]), float64(f.said[f.partner])
	wanted := f.interplay.Balance * (byLead + byPartner + size)
	off := func(share float64) float64 { return max(share-wanted, wanted-share) }
	switch a, b := off(byLead+size), off(byLead); {
	case a < b:
		return f.lead
	case a > b:
		return f.partner
	}
	return f.other(f.last)
}

// other is the other host; the lead where nobody has spoken.
func (f *Floor) other(h *persona.Host) *persona.Host {
	if h == f.lead {
		return f.partner
	}
	return f.lead
}

// Addressed is the one host whom a user's words name, by the whole name or its first word; nil where
// they name none, or both.
func (f *Floor) Addressed(text string) *persona.Host {
	var found *persona.Host
	for _, h := range f.Hosts() {
		if !mentions(text, h.Name) && !mentions(text, f.short(h)) {
			continue
		}
		if found != nil {
			return nil
		}
		found = h
	}
	return found
}

// short is the first word of a host's name, where it is theirs alone.
func (f *Floor) short(h *persona.Host) string {
	mine, others := words(h.Name), words(f.other(h).Name)
	if len(mine) == 0 || len(others) > 0 && mine[0] == others[0] {
		return ""
	}
	return mine[0]
}

// mentions says whether a text has a name: word by word, or, in a script without blanks between words,
// anywhere.
func mentions(text, name string) bool {
	wanted := words(name)
	if len(wanted) == 0 {
		return false
	}
	if strings.ContainsFunc(name, unbroken) {
		return strings.Contains(text, name)
	}
	said := words(text)
	for i := range said {
		if len(said)-i >= len(wanted) && slices.Equal(said[i:i+len(wanted)], wanted) {
			return true
		}
	}
	return false
}

func unbroken(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

func words(text string) []string {
	split := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) })
	for i, word := range split {
		split[i] = search.Fold(word)
	}
	return split
}

// Named is the host whose name and a colon a sentence begins with, and the sentence without them; nil
// and all of it where it begins with none.
func (f *Floor) Named(sentence string) (*persona.Host, string) {
	at := strings.IndexAny(sentence, ":：")
	if at < 0 {
		return nil, sentence
	}
	_, size := utf8.DecodeRuneInString(sentence[at:])
	label := words(sentence[:at])
	for _, h := range f.Hosts() {
		if short := f.short(h); len(label) > 0 && (slices.Equal(label, words(h.Name)) || len(label) == 1 && label[0] == short) {
			return h, strings.TrimSpace(sentence[at+size:])
		}
	}
	return nil, sentence
}
