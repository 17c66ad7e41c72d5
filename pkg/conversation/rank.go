package conversation

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How sentences are chosen. The weights were set on the packs of the tests; each
// is a share of a question that is covered in full, which scores 1.
const (
	maxSentences = 3
	maxAnswer    = 700 // characters, about 50 seconds
	// leastCover is how much of a question, by the weight of its words, the
	// best sentence must hold to be an answer to it.
	leastCover = 0.3
	// titleShare is what a word counts that stands in the title or heading only.
	titleShare = 0.5
	// nearShare is what a word counts that stands in the sentence before.
	nearShare  = 0.4
	hintWeight = 0.2
	// topicWeight is for a whole sentence that begins with what is asked about.
	topicWeight = 0.1
	rankWeight  = 0.25
	// carriedShare is what a word of the question before counts, where another one turns
	// from it to something else.
	carriedShare = 0.5
	// companion is the share of the best score that further sentences reach.
	companion = 0.75
)

// candidate is a sentence that may answer.
type candidate struct {
	text string
	// passage and place are where it stands.
	passage, place int
	words          map[string]bool
	// topic is the first word that says something, of a whole sentence: not of
	// a line of code or a list.
	topic string
	// inquires is of sentences that are questions themselves, as in lists of
	// frequent questions: what follows them is the answer.
	inquires bool
	// turns says that it holds what the question turns to.
	turns bool
	cover float64
	score float64
}

// best are the sentences that answer a question, in the order of the passages,
// or none where nothing covers enough of it.
func best(q Question, passages []Passage) []candidate {
	wanted := wantedWords(q)
	all := candidatesOf(q.Language, passages)
	if len(wanted) == 0 || len(all) == 0 {
		return nil
	}
	weigh(wanted, all)
	rate(q, wanted, all, passages)
	// One with a pronoun may ask for more of the same in other words.
	turning := len(subject(q)) > 0 && (!points(q) || slices.ContainsFunc(all, func(c candidate) bool { return c.turns && !c.inquires }))
	ranked := slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return c.inquires || turning && !c.turns })
	slices.SortStableFunc(ranked, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	if len(ranked) == 0 || ranked[0].cover < leastCover {
		if turning {
			q.Previous = "" // what the question says by itself may be enough
			return best(q, passages)
		}
		return nil
	}
	chosen := companions(wanted, ranked)
	slices.SortFunc(chosen, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.passage, b.passage), cmp.Compare(a.place, b.place))
	})
	return chosen
}

// wantedWords are the words an answer is to hold, not yet weighed.
func wantedWords(q Question) map[string]float64 {
	wanted := map[string]float64{}
	for _, w := range contentWords(q.Language, searchText(q)) {
		wanted[w.text] = 0
	}
	return wanted
}

func candidatesOf(language string, passages []Passage) []candidate {
	var all []candidate
	seen := map[string]bool{}
	for p, passage := range passages {
		spoken := passage.Language
		if spoken == "" {
			spoken = language
		}
		for place, text := range sentencesOf(passage.Text) {
			text = strings.TrimPrefix(text, "- ") // the mark of a list is not spoken
			if seen[text] {
				continue
			}
			seen[text] = true
			c := candidate{text: text, passage: p, place: place, words: map[string]bool{}}
			for i, w := range contentWords(spoken, text) {
				if i == 0 && isWhole(text) {
					c.topic = w.text
				}
				c.words[w.text] = true
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

// weigh sets what each wanted word counts: the rarer among the sentences, the
// more. A word that none of them holds counts the most, so that a question
// about something else is not answered by what it has in common with this.
func weigh(wanted map[string]float64, all []candidate) {
	for word := range wanted {
		holders := 0.5
		for i := range all {
			if all[i].words[word] {
				holders++
			}
		}
		wanted[word] = math.Log(1 + float64(len(all)+1)/holders)
	}
}

// rate scores every sentence.
func rate(q Question, wanted map[string]float64, all []candidate, passages []Passage) {
	turnsTo := subject(q)
	if len(turnsTo) > 0 {
		for word := range wanted {
			if !turnsTo[word] {
				wanted[word] *= carriedShare
			}
		}
	}
	total := 0.0
	for _, weight := range wanted {
		total += weight
	}
	titles := make([]map[string]bool, len(passages))
	for i, p := range passages {
		titles[i] = map[string]bool{}
		for _, w := range contentWords(q.Language, p.Title+" "+p.Heading) {
			titles[i][w.text] = true
		}
	}
	for i := range all {
		c := &all[i]
		var before *candidate
		if i > 0 && all[i-1].passage == c.passage {
			before = &all[i-1]
		}
		for word, weight := range wanted {
			part := share(word, c, before, titles[c.passage])
			c.cover += weight / total * part
			c.turns = c.turns || turnsTo[word] && part > 0
		}
		c.score = c.cover + rankWeight*passages[c.passage].Score
		if hinted(q, c.text) {
			c.score += hintWeight
		}
		if _, asked := wanted[c.topic]; asked {
			c.score += topicWeight
		}
	}
}

// share is how far a sentence holds a word: itself, by the question it answers,
// by the heading over it, or by the sentence before.
func share(word string, c, before *candidate, title map[string]bool) float64 {
	switch {
	case c.words[word]:
		return 1
	case before != nil && before.inquires && before.words[word]:
		return 1
	case title[word]:
		return titleShare
	case before != nil && before.words[word]:
		return nearShare
	default:
		return 0
	}
}

// hinted says whether a sentence has the form that a question asks for: a time,
// a number, a place with its address.
func hinted(q Question, sentence string) bool {
	book, said := bookOf(q.Language), plain(q.Text)
	digits := strings.ContainsFunc(sentence, unicode.IsDigit)
	switch {
	case containsAny(said, book.askWhen), containsAny(said, book.askNumber):
		return digits
	case containsAny(said, book.askWhere):
		return digits || capitalised(sentence) >= 2
	default:
		return false
	}
}

// capitalised counts the names in a sentence: words with a capital, but the first.
func capitalised(sentence string) int {
	names := 0
	for i, word := range strings.Fields(sentence) {
		first, _ := utf8.DecodeRuneInString(word)
		if i > 0 && unicode.IsUpper(first) {
			names++
		}
	}
	return names
}

// companions are the best sentence and those that add to it: nearly as good,
// and holding a wanted word that is not said yet or standing right beside.
func companions(wanted map[string]float64, ranked []candidate) []candidate {
	first := ranked[0]
	chosen := []candidate{first}
	length := utf8.RuneCountInString(first.text)
	said := map[string]bool{}
	adds := func(c *candidate) (news bool) {
		for word := range wanted {
			if c.words[word] && !said[word] {
				said[word], news = true, true
			}
		}
		return news
	}
	adds(&first)
	for i := range ranked[1:] {
		c := &ranked[1+i]
		if len(chosen) == maxSentences || c.score < companion*first.score || c.cover < leastCover {
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
