package subject

import (
	"fmt"
	"slices"
	"time"

	"visavis.dev/pkg/base/golive"
	"visavis.dev/pkg/base/language"
)

// checked is what the rules of going live look at.
type checked struct {
	Subject
	content   Content
	languages []string
}

// Check says whether a content of a subject can be shown to people who speak the
// languages, by their codes, of its portal. Fields are named from the subject on:
// passPercent, content.sections[1].body.fr.
func Check(s Subject, c Content, languages []string, now time.Time) golive.Report {
	return golive.Check(checked{s, c.whole(), languages}, []golive.Rule[checked]{
		checkSubstance, checkTexts, checkObjectives, checkForm, checkChoices, checkRubrics, checkAssessed, checkPick, checkPractice,
	}, now)
}

func checkSubstance(s checked, r *golive.Report) {
	c := s.content
	if len(c.Intro)+len(c.Sections)+len(c.Questions) == 0 {
		r.Forbid("content", "Write an introduction, a section or a question.")
	}
	for i, section := range c.Sections {
		if len(section.Body)+len(section.Media) == 0 {
			r.Warn(fmt.Sprintf("content.sections[%d].body", i), "The section has neither a text nor media.")
		}
	}
}

func checkTexts(s checked, r *golive.Report) {
	for _, t := range s.content.texts() {
		checkText(t, s.languages, r)
	}
}

// checkText: whoever chose a language reads all of it in that language.
func checkText(t text, languages []string, r *golive.Report) {
	if len(*t.words) == 0 && t.need != always {
		return
	}
	note := r.Forbid
	if t.need == advised {
		note = r.Warn
	}
	for _, code := range languages {
		if _, said := (*t.words)[code]; !said {
			note("content."+t.field+"."+code, "Write the text in "+named(code)+".")
		}
	}
}

// named is a language's name.
func named(code string) string {
	if found, ok := language.Lookup(code); ok {
		return found.Name
	}
	return code
}

func checkObjectives(s checked, r *golive.Report) {
	for i, o := range s.Definition.Objectives {
		for _, code := range s.languages {
			if _, said := o.Text[code]; !said {
				r.Warn(fmt.Sprintf("objectives[%d].text.%s", i, code), "Write the text in "+named(code)+".")
			}
		}
	}
}

// checkForm looks again at what Normalize refuses: contents can be older than its rules.
func checkForm(s checked, r *golive.Report) {
	if field, which := s.content.faultyKey(); field != "" {
		r.Forbid("content."+field, "The key is "+which+"'s too.")
	}
	if field := s.content.faultyMedia(); field != "" {
		r.Forbid("content."+field, "Give a public https address.")
	}
}

func checkChoices(s checked, r *golive.Report) {
	for i, q := range s.content.Questions {
		if q.Kind != "choice" {
			continue
		}
		field := fmt.Sprintf("content.questions[%d].options", i)
		if len(q.Options) < 2 {
			r.Forbid(field, "A choice has two options or more.")
		}
		if !slices.ContainsFunc(q.Options, func(o Option) bool { return o.Correct }) {
			r.Forbid(field, "One option or more must be correct.")
		}
	}
}

func checkRubrics(s checked, r *golive.Report) {
	for i, q := range s.content.Questions {
		var weight float64
		for _, criterion := range q.Rubric {
			weight += criterion.Weight
		}
		if len(q.Rubric) > 0 && weight <= 0 {
			r.Forbid(fmt.Sprintf("content.questions[%d].rubric", i), "One criterion or more must have a weight.")
		}
	}
}

// checkAssessed: what is passed or failed has something to be judged by.
func checkAssessed(s checked, r *golive.Report) {
	if !s.Definition.Assessed {
		return
	}
	var points float64
	for _, q := range s.content.Questions {
		points += q.Points
	}
	switch {
	case len(s.content.Questions) == 0:
		r.Forbid("content.questions", "An assessed subject has a question or more.")
	case points <= 0:
		r.Forbid("content.questions", "One question or more must give points.")
	}
	if s.Definition.PassPercent == nil {
		r.Forbid("passPercent", "Say what has to be reached to pass.")
	}
}

func checkPick(s checked, r *golive.Report) {
	pick := s.content.Rules.Pick
	if pick == nil {
		return
	}
	var required int64
	for _, q := range s.content.Questions {
		if q.Required {
			required++
		}
	}
	switch {
	case *pick > int64(len(s.content.Questions)):
		r.Forbid("content.rules.pick", fmt.Sprintf("There are only %d questions to pick from.", len(s.content.Questions)))
	case required > *pick:
		r.Forbid("content.rules.pick", fmt.Sprintf("%d questions are required, which are more than are picked.", required))
	}
}

func checkPractice(s checked, r *golive.Report) {
	if s.Kind == Practice && s.content.Scenario == nil {
		r.Forbid("content.scenario", "Say what is practised.")
	}
}
