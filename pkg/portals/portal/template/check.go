package template

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
)

var keyForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// check refuses a template that a portal cannot be built from.
func (t *Template) check() error {
	kinds := []portal.Kind{portal.Learning, portal.Support, portal.Sales, portal.Hiring, portal.Reception, portal.Custom}
	switch {
	case !keyForm.MatchString(t.Key):
		return errors.New("key is not of its form")
	case !slices.Contains(kinds, t.Kind):
		return fmt.Errorf("there is no kind %q", t.Kind)
	case len(t.Languages) == 0:
		return errors.New("languages are missing")
	}
	for _, code := range t.Languages {
		if found, ok := language.Lookup(code); !ok || found.Code != code {
			return fmt.Errorf("there is no language %q", code)
		}
	}
	for _, text := range t.texts() {
		if err := t.complete(text); err != nil {
			return err
		}
	}
	if err := t.checkPlaceholders(); err != nil {
		return err
	}
	d := t.Portal(t.Languages)
	if _, err := d.Normalize(); err != nil {
		return fmt.Errorf("definition: %w", err)
	}
	if err := t.checkPersona(); err != nil {
		return err
	}
	return t.checkLists()
}

// named is a text with where it is.
type named struct {
	field string
	words language.Words
	// needed texts are there in any case; others in all languages or in none.
	needed bool
}

// complete refuses a text that is there in some languages only.
func (t *Template) complete(n named) error {
	if len(n.words) == 0 && !n.needed {
		return nil
	}
	for _, code := range t.Languages {
		if strings.TrimSpace(n.words[code]) == "" {
			return fmt.Errorf("%s is missing in %s", n.field, code)
		}
	}
	for code := range n.words {
		if !slices.Contains(t.Languages, code) {
			return fmt.Errorf("%s is there in %s, which is none of languages", n.field, code)
		}
	}
	return nil
}

// texts lists the texts of a template, but for its subjects' contents, which
// package subject knows.
func (t *Template) texts() []named {
	p, pages := t.Persona, t.Definition.Pages
	list := []named{
		{"name", t.Name, true},
		{"description", t.Description, true},
		{"persona.name", p.Name, true},
		{"persona.role", p.Role, true},
		{"persona.instructions", p.Instructions, true},
		{"persona.greeting", p.Greeting, true},
		{"persona.closing", p.Closing, false},
		{"definition.pages.title", pages.Title, true},
		{"definition.pages.welcome", pages.Welcome, true},
		{"definition.pages.footer", pages.Footer, false},
	}
	add := func(needed bool, words language.Words, field string, i int) {
		list = append(list, named{fmt.Sprintf(field, i), words, needed})
	}
	for i, w := range t.Includes {
		add(true, w, "includes[%d]", i)
	}
	for i, q := range t.Questions {
		add(true, q.Label, "questions[%d].label", i)
	}
	for i, g := range p.Goals {
		add(true, g.Prompt, "persona.goals[%d].prompt", i)
	}
	for i, g := range p.Guardrails {
		add(true, g.Rule, "persona.guardrails[%d].rule", i)
		add(false, g.Message, "persona.guardrails[%d].message", i)
	}
	for i, s := range t.Subjects {
		add(true, s.Title, "subjects[%d].title", i)
	}
	return list
}

// checkPersona makes a persona in each language, with a voice that speaks them.
func (t *Template) checkPersona() error {
	studio := voice.Studio()
	for _, code := range t.Languages {
		i := slices.IndexFunc(studio, func(v voice.Voice) bool { return slices.Contains(v.Languages, code) })
		if i < 0 {
			return fmt.Errorf("no voice speaks %s", code)
		}
		d, err := t.Speaker(studio[i], []string{code})
		if err != nil {
			return fmt.Errorf("persona: %w", err)
		}
		if _, err := d.Normalize(studio[i]); err != nil {
			return fmt.Errorf("persona: %w", err)
		}
	}
	return nil
}

func (t *Template) checkLists() error {
	types := []string{"text", "long_text", "url", "number", "choice", "boolean"}
	kinds := []subject.Kind{subject.Course, subject.Topic, subject.Practice, subject.Assessment, subject.Screening, subject.FAQ, subject.Guide}
	for i, q := range t.Questions {
		if !keyForm.MatchString(q.Key) || !slices.Contains(types, q.Type) {
			return fmt.Errorf("questions[%d] has no good key and type", i)
		}
	}
	for i, s := range t.Subjects {
		if !slices.Contains(kinds, s.Kind) {
			return fmt.Errorf("subjects[%d]: there is no kind %q", i, s.Kind)
		}
		if len(s.Definition.KnowledgeBaseIDs) > 0 || s.Definition.PersonaID != nil || len(s.Definition.Prerequisites) > 0 {
			return fmt.Errorf("subjects[%d] names what no organization has", i)
		}
	}
	if !slices.Equal(t.Definition.KnowledgeBaseIDs, []id.KnowledgeBase{}) {
		return errors.New("definition names packs that no organization has")
	}
	return nil
}
