package scoring

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"visavis.dev/pkg/learning/rubric"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/text/answer"
)

const (
	// surest is as sure as a model's word can be.
	surest = 0.95
	// fewest is how many letters a quote has at least, unless the answer has fewer.
	fewest = 4
	// maxReason bounds a model's reason, in bytes.
	maxReason = 400
)

// judged is what a model says of a criterion, as far as the answer bears it out. words weighs the
// same points by the words of the answer alone.
func (t *told) judged(c subject.Criterion, a *said, words rubric.Weigh, in rubric.Text) rubric.Judged {
	j := rubric.Judged{Reason: plain(t.Reason)}
	points := rubric.Told(c, in)
	if len(points) == 0 {
		if quote := a.quoted(t.Quote); t.Level != nil && quote != "" && !a.steers {
			j.Level = &rubric.Leveled{Level: *t.Level, Confidence: confidence(t.Confidence), Quotes: []string{quote}}
		}
		return j
	}
	verdicts, quotes := map[string]rubric.Verdict{}, map[string]int{}
	for i, p := range points {
		of := t.Points[i]
		v := agreed(verdict(of.Stance, a.quoted(of.Quote), confidence(of.Confidence)), words(in(p.Text)))
		verdicts[in(p.Text)] = v
		quotes[v.Quote]++
	}
	j.Weigh = func(point string) rubric.Verdict {
		v := verdicts[point]
		if quotes[v.Quote] > 1 && v.Stance == rubric.Covers && words(point).Stance != rubric.Covers || a.steers {
			v.Confidence = min(v.Confidence, rubric.Perhaps) // words for everything show nothing of each
		}
		return v
	}
	return j
}

// verdict is what a model says of a point. What covers or denies rests on words of the answer,
// or on nothing.
func verdict(stance, quote string, sure float64) rubric.Verdict {
	switch {
	case stance == "misses":
		return rubric.Verdict{Stance: rubric.Misses, Confidence: sure}
	case stance == "covers" && quote != "":
		return rubric.Verdict{Stance: rubric.Covers, Covered: 1, Confidence: sure, Quote: quote}
	case stance == "denies" && quote != "":
		return rubric.Verdict{Stance: rubric.Denies, Confidence: sure, Quote: quote}
	}
	return rubric.Verdict{Stance: rubric.MayCover, Confidence: rubric.Perhaps, Quote: quote}
}

// agreed is a model's verdict, which is not sure where the words surely say otherwise.
func agreed(model, words rubric.Verdict) rubric.Verdict {
	if words.Confidence >= rubric.Least && words.Stance != model.Stance {
		model.Confidence = min(model.Confidence, rubric.Perhaps)
	}
	return model
}

// confidence is a model's, between what nobody judged and what is as sure as it gets.
func confidence(says float64) float64 {
	return min(max(says, 0.01), surest)
}

// said is an answer whose words can be found in whatever case, spaces and punctuation.
type said struct {
	text string
	// folded are its letters and figures alone, and at and end where the rune of each byte of
	// folded begins and ends in text.
	folded  string
	at, end []int
	// steers says that it tells the model what to do.
	steers bool
}

func newSaid(code, text string) *said {
	s := &said{text: text, steers: steers(code, text)}
	var folded strings.Builder
	for at, r := range text {
		if !counts(r) {
			continue
		}
		n, _ := folded.WriteRune(unicode.ToLower(r))
		for range n {
			s.at, s.end = append(s.at, at), append(s.end, at+utf8.RuneLen(r))
		}
	}
	s.folded = folded.String()
	return s
}

// steers says whether a sentence of an answer tells a model what to do.
func steers(code, text string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(".!?\n。！？؟", r) }),
		func(sentence string) bool { return answer.Hear(code, sentence).Act == answer.Injection })
}

// fold is a text's letters and figures alone, in one case.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		if !counts(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// quoted is the part of the answer that a quote is; empty for none. A quote of next to nothing
// shows nothing.
func (s *said) quoted(quote string) string {
	want := fold(strings.ToValidUTF8(quote, ""))
	if want == "" || utf8.RuneCountInString(want) < min(fewest, utf8.RuneCountInString(s.folded)) {
		return ""
	}
	at := strings.Index(s.folded, want)
	if at < 0 {
		return ""
	}
	return s.text[s.at[at]:s.end[at+len(want)-1]]
}

// counts says whether a rune makes a word what it is.
func counts(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// plain is a model's reason as one line.
func plain(reason string) string {
	reason = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, reason)), " ")
	for len(reason) > maxReason {
		_, size := utf8.DecodeLastRuneInString(reason)
		reason = reason[:len(reason)-size]
	}
	return reason
}
