package conversation

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"visavis.dev/pkg/text/answer"
)

// How sentences are chosen. Each weight is a share of a question that is covered in
// full, which scores 1.
const (
	maxSentences = 3
	maxAnswer    = 700 // characters, about 50 seconds
	// titleShare is what a word counts that stands in the title or heading only.
	titleShare = 0.6
	// nearShare is what a word counts that stands in the sentence before, and
	// roundShare elsewhere in the passage.
	nearShare  = 0.4
	roundShare = 0.25
	kindWeight = 0.25
	// topicWeight is for a whole sentence that begins with what is asked about.
	topicWeight = 0.1
	rankWeight  = 0.25
	// dayWeight is for a sentence that speaks of the day or the age that is asked about.
	dayWeight = 0.3
	// carriedShare is what a word of the question before counts, where another one turns
	// from it to something else; lightShare what one does that says little.
	carriedShare = 0.5
	lightShare   = 0.25
	// unheardShare is what a word counts that neither the passages nor the lexicon have,
	// and kindShare one that only says what kind of answer is wanted.
	unheardShare = 0.6
	kindShare    = 0.35
	// companion is the share of the best score that further sentences reach.
	companion = 0.8
	// sibling is the share that the other items of a list reach.
	sibling = 0.85
	// leastOwn is the share of a question that a sentence holds from which is concluded.
	leastOwn = 0.4
)

// candidate is a sentence that may answer.
type candidate struct {
	text string
	// passage and place are where it stands.
	passage, place int
	held           holding
	// topic is the first word that says something, of a whole sentence: not of
	// a line of code or a list.
	topic string
	// inquires is of sentences that are questions themselves, as in lists of
	// frequent questions: what follows them is the answer. item is of a list or a table.
	inquires, item bool
	// turns says that it holds what the question turns to.
	turns bool
	// own is the share of the question that it holds itself.
	cover, own float64
	fits       float64
	// days and age are what it says of the day and the age that are asked about; told
	// says that it names days.
	days, age answer.Verdict
	told      bool
	score     float64
}

// finding is what passages answer to a question.
type finding struct {
	chosen []candidate
	// verdict is whether what is asked is so, where days or ages tell.
	verdict answer.Verdict
	// sure is how likely the answer is one, and nearby what is known where it is not.
	sure   float64
	nearby []string
}

// inquiry is a question with what is expected of its answer.
type inquiry struct {
	Question
	language string // that it is read in
	kind     answer.Kind
	units    []wanted
	day, at  int
	onDay    bool
	age      int
}

func inquire(q Question) inquiry {
	language := reading(q.Language, q.Text)
	i := inquiry{Question: q, language: language, kind: answer.KindOf(language, q.Text), units: wantedUnits(q), age: answer.AskedAge(language, q.Text)}
	if (i.kind == answer.Anything || i.kind == answer.YesNo) && q.Previous != "" && elliptic(q) {
		i.kind = answer.KindOf(reading(q.Language, q.Previous), q.Previous)
	}
	if q.danger {
		i.kind = answer.Danger
	}
	if !slices.ContainsFunc(i.units, func(u wanted) bool { return !u.light }) {
		i.units = nil // nothing is named; the kind may say what is asked
		if about := i.kind.Concept(); about != nil {
			i.units = []wanted{{concepts: about, sure: 1}}
		}
	}
	i.day, i.at, i.onDay = answer.AskedDay(language, q.Text, q.Now)
	if i.onDay {
		// The calendar speaks for the day; "today" in a text is another day's.
		rest := slices.DeleteFunc(slices.Clone(i.units), func(u wanted) bool { return answer.OfClock(u.concepts) })
		if slices.ContainsFunc(rest, func(u wanted) bool { return !u.light }) {
			i.units = rest
		}
	}
	return i
}

// best are the sentences that answer a question, in the order of the passages, or none
// where none is likely enough to.
func best(q Question, passages []Passage, least float64) finding {
	i := inquire(q)
	all := candidatesOf(q.Language, passages)
	if len(i.units) == 0 || len(all) == 0 {
		return finding{}
	}
	i.weigh(all)
	i.rate(all, passages)
	// One with a pronoun may ask for more of the same in other words.
	turning := len(subject(q)) > 0 && (!points(q) || slices.ContainsFunc(all, func(c candidate) bool { return c.turns && !c.inquires }))
	ranked := slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return c.inquires || turning && !c.turns })
	slices.SortStableFunc(ranked, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	if len(ranked) == 0 || i.sure(&ranked[0]) < least {
		if turning {
			q.Previous = "" // what the question says by itself may be enough
			return best(q, passages, least)
		}
		return finding{nearby: nearby(ranked, passages)}
	}
	found := finding{chosen: i.companions(ranked), verdict: i.verdict(&ranked[0]), sure: i.sure(&ranked[0])}
	slices.SortFunc(found.chosen, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.passage, b.passage), cmp.Compare(a.place, b.place))
	})
	return found
}

func candidatesOf(language string, passages []Passage) []candidate {
	var all []candidate
	seen := map[string]bool{}
	for p, passage := range passages {
		spoken := cmp.Or(passage.Language, language)
		for place, text := range sentencesOf(passage.Text) {
			item := strings.HasPrefix(text, "- ") || strings.Contains(text, "; ") && strings.Contains(text, ": ")
			text = strings.TrimPrefix(text, "- ") // the mark of a list is not spoken
			if seen[text] {
				continue
			}
			seen[text] = true
			c := candidate{text: text, passage: p, place: place, held: held(spoken, text), item: item}
			if words := contentWords(spoken, text); len(words) > 0 && isWhole(text) {
				c.topic = words[0].text
			}
			c.inquires = strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") || strings.HasSuffix(text, "؟")
			all = append(all, c)
		}
	}
	return all
}

// isWhole says whether a text ends as a sentence that states something does.
func isWhole(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune(".!。！।", last)
}

// weigh sets what each unit counts: the rarer among the sentences, the more. One that
// none of them holds counts the most, so that a question about something else is not
// answered by what it has in common with this.
func (i *inquiry) weigh(all []candidate) {
	foreign := !slices.ContainsFunc(all, func(c candidate) bool { return base(c.held.language) == base(i.language) })
	for n := range i.units {
		u := &i.units[n]
		holders := 0.5
		for k := range all {
			holders += u.in(&all[k].held)
		}
		u.literal = slices.ContainsFunc(all, func(c candidate) bool { return !c.inquires && u.in(&c.held) == 1 })
		u.weight = math.Log(1 + float64(len(all)+1)/holders)
		switch {
		case u.light:
			u.weight *= lightShare
		case holders == 0.5 && (len(u.concepts) == 0 || u.sure < 1):
			u.weight *= unheardShare // it may only be said otherwise
			if foreign {
				u.weight *= unheardShare * unheardShare
			}
		}
	}
}

// rate scores every sentence.
func (i *inquiry) rate(all []candidate, passages []Passage) {
	turning := slices.ContainsFunc(i.units, func(u wanted) bool { return u.turns })
	total := 0.0
	topical := slices.ContainsFunc(i.units, func(u wanted) bool { return !u.light && !i.kind.Satisfied(u.concepts) })
	for n := range i.units {
		if topical && i.kind.Satisfied(i.units[n].concepts) {
			i.units[n].weight *= kindShare
		}
		if turning && !i.units[n].turns {
			i.units[n].weight *= carriedShare
		}
		total += i.units[n].weight
	}
	titles := make([]holding, len(passages))
	rounds := make([][]float64, len(passages))
	for n, p := range passages {
		titles[n] = held(cmp.Or(p.Language, i.Language), p.Title+" "+p.Heading)
		rounds[n] = make([]float64, len(i.units))
	}
	for n := range all {
		for k := range i.units {
			rounds[all[n].passage][k] = max(rounds[all[n].passage][k], i.units[k].in(&all[n].held))
		}
	}
	for n := range all {
		c := &all[n]
		var before *candidate
		if n > 0 && all[n-1].passage == c.passage {
			before = &all[n-1]
		}
		for k := range i.units {
			u := &i.units[k]
			own := u.in(&c.held)
			part := max(own, titleShare*u.in(&titles[c.passage]), roundShare*rounds[c.passage][k], u.near(before))
			c.own += u.weight / total * own
			c.cover += u.weight / total * part
			c.turns = c.turns || u.turns && part > roundShare
		}
		i.judge(c, passages)
	}
}

// near is how far the sentence before holds a unit for the one after it: a question does
// for its answer.
func (u *wanted) near(before *candidate) float64 {
	switch {
	case before == nil:
		return 0
	case before.inquires:
		return u.in(&before.held)
	default:
		return nearShare * u.in(&before.held)
	}
}

// judge adds up what speaks for a sentence.
func (i *inquiry) judge(c *candidate, passages []Passage) {
	c.fits = c.held.evidence.Fits(i.kind)
	c.score = c.cover + rankWeight*passages[c.passage].Score + kindWeight*(c.fits-0.5)
	if i.onDay {
		s := answer.ScheduleIn(c.held.language, c.text)
		c.days, c.told = s.Says(i.day, i.at), s.Told && !s.Closed
		switch {
		case s.Told && c.days == answer.Unclear:
			c.score -= dayWeight / 2
		case c.days != answer.Unclear:
			c.score += dayWeight * 2 / 3
		}
	}
	if i.age >= 0 {
		c.age = answer.Covers(c.text, i.age)
		switch c.age {
		case answer.Holds:
			c.score += dayWeight
		case answer.Fails:
			c.score -= dayWeight / 3
		}
	}
	if slices.ContainsFunc(i.units, func(u wanted) bool { return slices.Contains(u.terms, c.topic) }) {
		c.score += topicWeight
	}
}

// sure is how likely a sentence answers: a logistic regression over what speaks for it.
func (i *inquiry) sure(c *candidate) float64 {
	known := 0.0
	for _, u := range i.units {
		if !u.light && len(u.concepts) > 0 {
			known = 1
		}
	}
	fits := 0.0
	if i.kind.Strict() {
		fits = c.fits - 0.5
	}
	x := sureBase + sureCover*c.cover + sureOwn*c.own + sureFits*fits + sureKnown*known
	if c.days != answer.Unclear {
		x += sureDays
	}
	return 1 / (1 + math.Exp(-x))
}

// The weights of sure, fit by a logistic regression on the 454 questions of the tuning
// sets that ask for knowledge: whether the best sentence holds the facts that the set
// wants. Of the answers that are as likely as leastSure, 69 percent hold them there.
const (
	sureBase  = -2.07
	sureCover = 1.16
	sureOwn   = 1.57
	sureFits  = 1.04
	sureKnown = 0.6
	sureDays  = 1.2
)

// verdict is whether what is asked is so, by the sentence that answers.
func (i *inquiry) verdict(c *candidate) answer.Verdict {
	switch {
	case i.kind != answer.YesNo && i.kind != answer.May || c.own < leastOwn:
		return answer.Unclear
	case i.age >= 0 && c.age != answer.Unclear:
		return answer.Negated(c.text, c.age)
	case i.onDay && c.days == answer.Unclear && c.told:
		return answer.Fails // it names its days, and this is none of them
	case i.onDay:
		return c.days
	}
	return answer.Unclear
}

// companions are the best sentence and those that add to it: nearly as good,
// and holding a wanted word that is not said yet or standing right beside.
func (i *inquiry) companions(ranked []candidate) []candidate {
	first := ranked[0]
	chosen := []candidate{first}
	length := utf8.RuneCountInString(first.text)
	said := make([]bool, len(i.units))
	adds := func(c *candidate) (news bool) {
		for k := range i.units {
			if i.units[k].in(&c.held) > valuePhrase && !said[k] {
				said[k], news = true, true
			}
		}
		return news
	}
	adds(&first)
	if rows := i.list(ranked); len(rows) > 2 {
		return rows
	}
	for n := range ranked[1:] {
		c := &ranked[1+n]
		if len(chosen) == maxSentences || c.score < companion*first.score {
			break
		}
		beside := c.passage == first.passage && (c.place == first.place+1 || c.place == first.place-1)
		letters := utf8.RuneCountInString(c.text)
		if length+letters <= maxAnswer && (adds(c) || beside) {
			chosen, length = append(chosen, *c), length+letters
		}
	}
	return chosen
}

// list is the best sentence with the items of its list that answer as well: what asks
// for one of them has the others far behind.
func (i *inquiry) list(ranked []candidate) []candidate {
	first := ranked[0]
	if !first.item || i.onDay || i.age >= 0 {
		return nil
	}
	rows := []candidate{first}
	length := utf8.RuneCountInString(first.text)
	for _, c := range ranked[1:] {
		letters := utf8.RuneCountInString(c.text)
		if c.item && c.passage == first.passage && c.score >= sibling*first.score && length+letters <= maxAnswer {
			rows, length = append(rows, c), length+letters
		}
	}
	return rows
}

// maxNearby is how many headings are offered where the answer is not known.
const maxNearby = 3

// nearby are the headings of the passages that come nearest.
func nearby(ranked []candidate, passages []Passage) []string {
	var out []string
	for _, c := range ranked {
		p := &passages[c.passage]
		heading := strings.TrimSpace(cmp.Or(p.Heading, p.Title))
		if c.cover < 0.15 || len(out) == maxNearby {
			break
		}
		if heading != "" && !slices.Contains(out, heading) && utf8.RuneCountInString(heading) <= topicRunes {
			out = append(out, heading)
		}
	}
	return out
}
