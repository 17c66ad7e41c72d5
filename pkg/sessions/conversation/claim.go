package conversation

import (
	"slices"
	"strings"

	"visavis.dev/pkg/text/answer"
)

// Claim is how a text stands to something that it is to say.
type Claim struct {
	// Share is how much of it the text says, from 0 to 1.
	Share float64
	// Sentence is the one that says most of it; empty where none says any.
	Sentence string
	// Denied says that the text plainly says the contrary: it denies what the claim does not,
	// or has other figures in their place.
	Denied bool
	// Unclear says that the text may say the contrary: a sentence that speaks of the claim
	// denies something and the claim does not, or the other way about. So it is in a language
	// of which is not known how it denies.
	Unclear bool
}

// leastShared is the share of a claim's words from which a sentence may be about it, and
// leastSpoken the one from which it is.
const (
	leastShared = 0.2
	leastSpoken = 0.5
)

// Weigh holds a text against something that it is to say, by the words, the meanings and the
// figures that answers are chosen by. Both are read in one language.
func Weigh(language, claim, text string) Claim {
	w := weighing{language: language, states: figuresIn(language, claim)}
	w.units = slices.DeleteFunc(unitsOf(nil, language, claim), func(u wanted) bool { return len(u.raw) == 1 && isNumber(language, u.raw[0]) })
	var known bool
	w.denies, known = answer.NegationIn(language, claim)
	all := w.of(text)
	c := Claim{Unclear: !known && all.share > leastShared}
	var plain, contrary, agreeing bool
	for _, sentence := range sentencesOf(text) {
		part := w.of(sentence)
		if part.share > c.Share {
			c.Share, c.Sentence = part.share, sentence
		}
		switch {
		case part.worded < leastShared:
		case !w.contradicts(sentence):
			// Other figures are no contradiction where the right ones are told too.
			wrong := part.worded >= leastSpoken && part.n > 0 && part.others && all.figured == 0
			plain, agreeing = plain || wrong, agreeing || !wrong
		case part.worded >= leastSpoken && w.plainly(sentence):
			plain = true
		default:
			contrary = true
		}
	}
	c.Share = max(c.Share, all.share) // a claim may be told in several sentences
	c.Unclear = c.Unclear || contrary || plain && agreeing
	c.Denied = plain && !c.Unclear
	return c
}

// Beside is how many things a text speaks of that no claim does.
func Beside(language string, claims []string, text string) (n int) {
	of := held(language, strings.Join(claims, "\n"))
	units := unitsOf(nil, language, text)
	for i := range units {
		if !units[i].light && units[i].in(&of) < leastSpoken {
			n++
		}
	}
	return n
}

// Says is how many things a text speaks of; numbers, and places in a row, are none by
// themselves.
func Says(language, text string) (n int) {
	for _, u := range unitsOf(nil, language, answer.WithoutOrdinals(text)) {
		if !u.light && (len(u.raw) != 1 || !isNumber(language, u.raw[0])) {
			n++
		}
	}
	return n
}

// Reads says whether a text is in a language, as far as it shows.
func Reads(language, text string) bool { return SameLanguage(reading(language, text), language) }

// SameLanguage says whether two codes are of one language, in whatever country.
func SameLanguage(one, other string) bool { return base(one) == base(other) }

// weighing is a claim that texts are held against.
type weighing struct {
	language string
	units    []wanted
	states   figures
	denies   answer.Negation
}

// part is how much a text says of a claim: of its words, of its n figures, and of both.
type part struct {
	worded, figured, share float64
	n                      int
	// others says that the text states other figures.
	others bool
}

func (w *weighing) of(text string) (p part) {
	var weight float64
	p.worded, weight = w.words(text)
	p.figured, p.n, p.others = figuredShare(w.language, &w.states, text)
	p.share = shareOfBoth(p.worded, weight, p.figured, p.n)
	return p
}

func (w *weighing) words(text string) (share, weight float64) {
	of := held(w.language, text)
	return wordedShare(w.units, &of)
}

// contradicts says whether a sentence may say the contrary of the claim: it denies and the
// claim does not, or the clause that speaks of what the claim denies does not deny.
func (w *weighing) contradicts(sentence string) bool {
	if !w.denies.Any() {
		n, _ := answer.NegationIn(w.language, sentence)
		return n.Any()
	}
	return slices.ContainsFunc(clausesOf(w.language, sentence), func(clause string) bool {
		share, _ := w.words(clause)
		n, _ := answer.NegationIn(w.language, clause)
		return share >= leastShared && !n.Any()
	})
}

// plainly says whether a sentence denies the claim and nothing else: with one word that
// denies, in a clause that has no other beside it.
func (w *weighing) plainly(sentence string) bool {
	n, _ := answer.NegationIn(w.language, sentence)
	return !w.denies.Any() && n.Denials == 1 && !n.Unclear && len(clausesOf(w.language, sentence)) == 1
}

// clausesOf cuts a sentence where another clause may begin.
func clausesOf(language, sentence string) (clauses []string) {
	var clause []string
	end := func() {
		if len(clause) > 0 {
			clauses = append(clauses, strings.Join(clause, " "))
		}
		clause = nil
	}
	for word := range strings.FieldsSeq(clauseSigns.Replace(sentence)) {
		if word == "|" || containsAny(lower(word), joining[base(language)]) {
			end()
			continue
		}
		clause = append(clause, word)
	}
	end()
	return clauses
}

var clauseSigns = strings.NewReplacer(
	", ", " | ", ";", " | ", ": ", " | ", "–", " | ", "—", " | ", " - ", " | ", "(", " | ", ")", " | ", "،", " | ", "؛", " | ", "、", " | ", "，", " | ", "；", " | ", "：", " | ",
)

// joining are the words with which a language begins another clause.
var joining = map[string]string{
	"en": "and|but|so|then|because|since|although|though|while|which|who|that", "de": "und|aber|sondern|denn|dann|weil|obwohl|während|dass",
	"fr": "et|mais|donc|puis|car|parce|quoique|tandis|qui|que", "es": "y|e|pero|sino|luego|porque|aunque|mientras|que", "it": "e|ed|ma|poi|perché|benché|mentre|che",
	"pt": "e|mas|depois|porque|embora|enquanto|que", "nl": "en|maar|dan|want|omdat|hoewel|terwijl|dat|die", "pl": "i|oraz|a|ale|lecz|potem|bo|ponieważ|chociaż|który|że",
	"tr": "ve|ama|fakat|sonra|çünkü|ki", "ar": "ثم|لكن|ولكن|لان|لأن|الذي|التي", "sv": "och|men|utan|sedan|eftersom|som|att", "da": "og|men|så|fordi|som|at", "no": "og|men|så|fordi|som|at",
	"nb": "og|men|så|fordi|som|at", "nn": "og|men|så|fordi|som|at", "ru": "и|а|но|потом|потому|хотя|что|который",
}

// wordedShare is how much of a claim's words a text holds, and what they weigh.
func wordedShare(units []wanted, of *holding) (share, weight float64) {
	for i := range units {
		own := 1.0
		if units[i].light {
			own = lightShare
		}
		weight += own
		share += own * units[i].in(of)
	}
	if weight == 0 {
		return 0, 0
	}
	return share / weight, weight
}

// figuredShare is how many of a claim's n figures a text states, as a share, and whether it
// states others.
func figuredShare(language string, claim *figures, text string) (share float64, n int, others bool) {
	g := newGrounds()
	g.add(language, text)
	had := 0
	for _, readings := range claim.numbers {
		had += btoi(g.number(readings))
	}
	for _, t := range claim.times {
		had += btoi(g.time(t))
	}
	for _, p := range claim.prices {
		had += btoi(g.price(p))
	}
	if n = len(claim.numbers) + len(claim.times) + len(claim.prices); n == 0 {
		return 0, 0, false
	}
	return float64(had) / float64(n), n, len(g.numbers)+len(g.times)+len(g.prices) > 0
}

// figureWeight is what a figure counts beside a word.
const figureWeight = 1.5

func shareOfBoth(worded, weight, figured float64, n int) float64 {
	total := weight + figureWeight*float64(n)
	if total == 0 {
		return 0
	}
	return (worded*weight + figured*figureWeight*float64(n)) / total
}
