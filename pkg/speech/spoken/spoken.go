// Package spoken makes text speakable: what is written for the eye becomes what a voice
// reads, and every word that is spoken still knows what it is of the text.
//
// Numbers and years are left to the speech engine, which reads them in its language. Here
// is what engines read wrongly or not at all: marks of formatting, addresses and links,
// times, money, units and abbreviations (words.go), dates in figures, numbers of telephones
// and ranges (figures.go), and what a voice was told to pronounce in its own way.
package spoken

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"visavis.dev/pkg/speech/speaker"
)

// Text is what is said, and of what.
type Text struct {
	// Said is the text as a voice reads it.
	Said   string
	pieces []piece
}

// piece is a stretch of what is said. One that stands for itself is as long as its source;
// one that was put in the place of something is as a whole of it.
type piece struct {
	at, length int // of what is said, in characters
	from, to   int // of the source, in bytes
	own        string
}

// Source is what of the text, in bytes, was said at a position: in characters of Said.
func (t *Text) Source(position, length int) (from, to int, ok bool) {
	from = -1
	for i := range t.pieces {
		p := &t.pieces[i]
		if p.at+p.length <= position || p.at >= position+length {
			continue
		}
		begin, end := p.from, p.to
		if p.own != "" {
			begin = p.from + offset(p.own, max(position-p.at, 0))
			end = p.from + offset(p.own, position+length-p.at)
		}
		if from < 0 {
			from = begin
		}
		to = max(to, end)
	}
	return from, to, from >= 0 && to > from
}

// offset is where the nth character of a text begins, in bytes.
func offset(text string, n int) int {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// rule says something in another way.
type rule struct {
	match *regexp.Regexp
	// say is what is said in place of a match, by its groups; empty for nothing.
	say func(groups []string) string
	// inner says that only what the first group matched is said otherwise.
	inner bool
}

// change is a stretch of the text that is said otherwise.
type change struct {
	from, to int
	said     string
}

// Of makes a text in a language speakable.
func Of(text, language string, pronunciations []speaker.Pronunciation) Text {
	var changes []change
	add := func(rules []rule) {
		for _, r := range rules {
			changes = r.find(text, changes)
		}
	}
	add(pronounced(pronunciations))
	add(formatting)
	add(rulesOf(language))
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.from, b.from) })
	var w writer
	at := 0
	for _, c := range changes {
		w.keep(text, at, c.from)
		w.say(c.said, c.from, c.to)
		at = c.to
	}
	w.keep(text, at, len(text))
	if strings.IndexFunc(w.text.Said, isSpoken) < 0 {
		return Text{}
	}
	return w.text
}

// find adds the matches of a rule that do not touch those of rules before it.
func (r rule) find(text string, changes []change) []change {
	for _, at := range r.match.FindAllStringSubmatchIndex(text, -1) {
		from, to := at[0], at[1]
		if r.inner {
			from, to = at[2], at[3]
		}
		if slices.ContainsFunc(changes, func(c change) bool { return from < c.to && c.from < to }) {
			continue
		}
		groups := make([]string, len(at)/2)
		for i := range groups {
			if at[2*i] >= 0 {
				groups[i] = text[at[2*i]:at[2*i+1]]
			}
		}
		changes = append(changes, change{from, to, r.say(groups)})
	}
	return changes
}

// isSpoken says whether a character can be heard at all.
func isSpoken(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// pronounced are the voice's own words, the longest first. They are whole words where
// they begin and end as words do.
func pronounced(entries []speaker.Pronunciation) []rule {
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b speaker.Pronunciation) int { return cmp.Compare(len(b.Text), len(a.Text)) })
	rules := make([]rule, 0, len(entries))
	for _, e := range entries {
		text := strings.TrimSpace(e.Text)
		if text == "" {
			continue
		}
		pattern, say := regexp.QuoteMeta(text), e.Say
		first, _ := utf8.DecodeRuneInString(text)
		last, _ := utf8.DecodeLastRuneInString(text)
		if first < utf8.RuneSelf && isSpoken(first) {
			pattern = `\b` + pattern
		}
		if last < utf8.RuneSelf && isSpoken(last) {
			pattern += `\b`
		}
		match, err := regexp.Compile(`(?i)` + pattern)
		if err != nil {
			continue
		}
		rules = append(rules, rule{match: match, say: func([]string) string { return say }})
	}
	return rules
}

// writer puts a Text together.
type writer struct {
	text  Text
	count int
}

// keep says a stretch of the source as it stands.
func (w *writer) keep(source string, from, to int) {
	if from < to {
		w.add(piece{from: from, to: to, own: source[from:to]}, source[from:to])
	}
}

// say says something in the place of a stretch of the source.
func (w *writer) say(said string, from, to int) {
	if said != "" {
		w.add(piece{from: from, to: to}, said)
	}
}

func (w *writer) add(p piece, said string) {
	p.at, p.length = w.count, utf8.RuneCountInString(said)
	w.count += p.length
	w.text.Said += said
	w.text.pieces = append(w.text.pieces, p)
}
