package conversation

import (
	"slices"

	"visavis.dev/pkg/text/answer"
	"visavis.dev/pkg/text/search"
)

// maxNaming is how many words a question has of which the date's are looked for: that takes the square
// of them.
const maxNaming = 40

// nameDate notes which words of the question name the date that it is about, since a text may give
// the same day otherwise: "24 December", of Christmas Eve.
func (i *inquiry) nameDate() {
	words := wordsOf(i.Text)
	if len(words) > maxNaming {
		return
	}
	dates := answer.DatesIn(i.language, i.Text)
	if len(dates) != 1 || !dates[0].Single() {
		return
	}
	for n := range i.units {
		u := &i.units[n]
		if u.carried || len(u.raw) == 0 {
			continue
		}
		without := []byte(i.Text)
		for _, w := range words {
			if slices.Contains(u.raw, search.Fold(i.Text[w.from:w.to])) {
				for at := w.from; at < w.to; at++ {
					without[at] = ' '
				}
			}
		}
		u.dated = !slices.Equal(answer.DatesIn(i.language, string(without)), dates)
	}
}

// leadNamed puts what is said of the very day before what holds on more days or on every week's: "on
// 24 December we close at one", of Christmas Eve, before "daily from nine to seven".
func (i *inquiry) leadNamed(ranked []candidate) {
	if !i.onDay || i.day.Undated || len(ranked) == 0 || ranked[0].schedule.Dated(i.day) == answer.Named {
		return
	}
	first := &ranked[0]
	if first.days == answer.Unclear && !i.ofHours() {
		return // no rule for a day
	}
	at := slices.IndexFunc(ranked, func(c candidate) bool {
		return c.own >= leastOwn && c.days != answer.Unclear && c.schedule.Dated(i.day) == answer.Named && (i.ofHours() || c.cover >= first.cover)
	})
	promote(ranked, at)
}
