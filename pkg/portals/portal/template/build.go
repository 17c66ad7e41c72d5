package template

import (
	"cmp"
	"slices"
	"strings"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/patch"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
)

// in is a text in a language, or else in the template's first.
func (t *Template) in(w language.Words, code string) string { return w.In(code, t.Languages[0]) }

// only is a text in some languages.
func only(w language.Words, codes []string) language.Words {
	kept := language.Words{}
	for _, code := range codes {
		if text, ok := w[code]; ok {
			kept[code] = text
		}
	}
	return kept
}

// Portal is the definition of a portal in languages, the one that is spoken
// otherwise first. What the template does not say in one of them is left to its
// maker to write.
func (t *Template) Portal(languages []string) portal.Definition {
	d := t.Definition
	d.Languages, d.DefaultLanguage = languages, languages[0]
	d.KnowledgeBaseIDs = []id.KnowledgeBase{}
	d.Pages = portal.Pages{Title: only(d.Pages.Title, languages), Welcome: only(d.Pages.Welcome, languages), Footer: only(d.Pages.Footer, languages)}
	return d
}

// Speaker is the definition of a persona with a voice that speaks on a portal in
// languages. The error is a patch.Error.
func (t *Template) Speaker(v voice.Voice, languages []string) (persona.Definition, error) {
	p, own := t.Persona, languages[0]
	d := persona.Defaults(v)
	if len(p.Definition) > 0 {
		if err := patch.Merge(&d, p.Definition); err != nil {
			return d, err
		}
	}
	d.Role, d.Instructions = new(t.in(p.Role, own)), t.in(p.Instructions, own)
	d.Greeting = persona.Greeting{Mode: persona.GreetFixed, Text: only(p.Greeting, languages)}
	if _, written := d.Greeting.Text[own]; !written {
		d.Greeting.Mode = persona.GreetGenerated
	}
	d.Closing, d.Tools = only(p.Closing, languages), slices.Clone(p.Tools)
	for _, g := range p.Goals {
		d.Goals = append(d.Goals, persona.Goal{
			Key: g.Key, Prompt: t.in(g.Prompt, own), Required: g.Required, Outputs: g.Outputs, Next: g.Next, Confirm: cmp.Or(g.Confirm, "auto"),
		})
	}
	for _, g := range p.Guardrails {
		d.Guardrails = append(d.Guardrails, t.guardrails(g, languages)...)
	}
	d.Settings.Language = own
	for _, code := range languages {
		if slices.Contains(v.Languages, code) {
			d.Settings.Languages = append(d.Settings.Languages, code)
		}
	}
	// What is asked for by goals is written in one language.
	d.Settings.AutoDetectLanguage = len(d.Settings.Languages) > 1 && len(d.Goals) == 0
	return d, nil
}

// guardrails are a guardrail in each of some languages that the template has it in: a rule is kept, and its message said, in the
// language that is spoken.
func (t *Template) guardrails(g Guardrail, languages []string) (all []persona.Guardrail) {
	for i, code := range languages {
		if _, written := g.Rule[code]; i > 0 && (!written || g.Rule[code] == all[0].Rule) {
			continue
		}
		made := persona.Guardrail{Key: g.Key, Rule: t.in(g.Rule, code), Action: g.Action}
		if i > 0 {
			made.Key += "_" + strings.ToLower(strings.ReplaceAll(code, "-", "_"))
		}
		if message := t.in(g.Message, code); message != "" {
			made.Message = &message
		}
		all = append(all, made)
	}
	return all
}

// SpeakerName is what the persona is called.
func (t *Template) SpeakerName(code string) string { return t.in(t.Persona.Name, code) }

// Lessons are the subjects that come with a portal, titled in a language.
func (t *Template) Lessons(code string) []Lesson {
	lessons := make([]Lesson, len(t.Subjects))
	for i, s := range t.Subjects {
		content := s.Content
		content.Title = s.Title
		lessons[i] = Lesson{subject.Subject{Title: t.in(s.Title, code), Kind: s.Kind, Definition: s.Definition}, content}
	}
	return lessons
}

// Lesson is a subject to be, with its content.
type Lesson struct {
	Subject subject.Subject
	Content subject.Content
}
