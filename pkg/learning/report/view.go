package report

import (
	"embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	tag "golang.org/x/text/language"

	"visavis.dev/pkg/text/typeset"
)

//go:embed strings/*.json
var stringFiles embed.FS

// fallback is the language of what no other has.
const fallback = "en"

// Languages are the codes of those that reports are written in.
func Languages() []string { return []string{"ar", "de", "en", "es", "fr"} }

// nearest is the language of a report about what was said in another.
func nearest(code string) string {
	base, _ := tag.Make(code).Base()
	for _, known := range Languages() {
		if known == base.String() {
			return known
		}
	}
	return fallback
}

// words are what reports say by themselves, by name.
type words map[string]string

func wordsIn(code string) (w words, err error) {
	text, err := stringFiles.ReadFile("strings/" + code + ".json")
	if err == nil {
		err = json.Unmarshal(text, &w)
	}
	return w, err
}

// fact is something that is said of a result.
type fact struct{ Name, Text string }

// view is a report as people read it.
type view struct {
	Language, Direction, Title, Subject, Person string
	Words                                       words
	Facts                                       []fact
	// Summary are the lines of the conversation in short.
	Summary []string
	// Contested is a sentence; empty for nothing.
	Contested  string
	Criteria   []criterionView
	Objectives []objectiveView
	Notice     string
	Foot       []fact
}

type criterionView struct {
	Label, Score, Level, Weight, Confidence, By string
	Rationale, Reason                           string
	Quotes                                      []string
}

type objectiveView struct{ Text, Level, Mastery, Previous string }

// view is what is said of the content in its language.
func (c *Content) view() (v view, err error) {
	w, err := wordsIn(c.Language)
	if err != nil {
		return v, err
	}
	v = view{
		Language: c.Language, Direction: "ltr", Title: w["title"], Subject: c.Subject, Person: c.PersonName, Words: w, Notice: w["notice"],
		Foot: []fact{{w["number"], fmt.Sprintf("%s · %d", c.ReportID, c.Version)}, {w["produced"], date(&c.ProducedAt)}},
	}
	if typeset.IsRTL(w["title"]) {
		v.Direction = "rtl"
	}
	v.facts(c, w)
	if c.Summary != nil {
		v.Summary = strings.Split(*c.Summary, "\n")
	}
	if c.State == "contested" {
		v.Contested = w["contested"]
	}
	for _, k := range c.Criteria {
		shown := criterionView{
			Label: k.Label, Score: w["unjudged"], Weight: number(k.Weight), Confidence: percent(100 * k.Confidence), By: by(w, k.DecidedBy),
			Quotes: k.Quotes,
		}
		if k.Score != nil {
			shown.Score = number(*k.Score) + " / " + number(k.MaxScore)
		}
		if k.Level != nil {
			shown.Level = strconv.FormatInt(*k.Level, 10)
		}
		if k.Rationale != nil {
			shown.Rationale = *k.Rationale
		}
		if k.Reason != nil {
			shown.Reason = *k.Reason
		}
		v.Criteria = append(v.Criteria, shown)
	}
	for _, o := range c.Objectives {
		shown := objectiveView{o.Text, w[string(o.Level)], percent(100 * o.Mastery), "–"}
		if o.Previous != nil {
			shown.Previous = percent(100 * *o.Previous)
		}
		v.Objectives = append(v.Objectives, shown)
	}
	return v, nil
}

// facts are what is said of the whole.
func (v *view) facts(c *Content, w words) {
	add := func(name, text string) {
		if text != "" {
			v.Facts = append(v.Facts, fact{w[name], text})
		}
	}
	add("person", c.PersonName)
	add("subject", c.Subject)
	add("portal", c.Portal)
	add("kind", w[c.ResultKind])
	attempt := strconv.FormatInt(c.Attempt, 10)
	if c.AttemptsAllowed != nil {
		attempt = strings.NewReplacer("{attempt}", attempt, "{allowed}", strconv.FormatInt(*c.AttemptsAllowed, 10)).Replace(w["attemptOf"])
	}
	add("attempt", attempt)
	add("completed", date(c.CompletedAt))
	add("released", date(c.ReleasedAt))
	if c.Percent != nil && c.Score != nil {
		add("percent", percent(*c.Percent))
		add("points", number(*c.Score)+" / "+number(c.MaxScore))
	}
	if c.Band != nil {
		add("band", w[*c.Band])
	}
	if c.PassPercent != nil {
		add("passPercent", percent(float64(*c.PassPercent)))
	}
	if c.ScoredBy != nil {
		add("scoredBy", by(w, *c.ScoredBy))
	}
	add("reviewed", reviewed(c.Review, w))
}

func by(w words, who string) string {
	if who == "person" {
		return w["personBy"]
	}
	return w[who]
}

func reviewed(r *Review, w words) string {
	switch {
	case r == nil:
		return w["reviewNone"]
	case r.Outcome == nil:
		return w["reviewOpen"]
	}
	return w[*r.Outcome]
}

func date(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format("2006-01-02 15:04 UTC")
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// percent is a share, to a tenth.
func percent(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0") + " %"
}
