package setup

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/portals/subject"
)

// Settle answers the input as it is kept: languages by their codes. templates are
// those that can be chosen. The error is an [errdefs.Invalid].
func (i *Input) Settle(templates []template.Template) (Input, error) {
	settled := *i
	if i.Empty() {
		return settled, errdefs.InvalidField("brief", "is missing, and so are url and documentIds: a plan is made of at least one of them")
	}
	if i.TemplateKey != nil && !known(templates, *i.TemplateKey) {
		return settled, errdefs.InvalidField("templateKey", "is not a template; GET /portals/templates lists them")
	}
	var err error
	if settled.Languages, err = codes(i.Languages); err != nil {
		return settled, err
	}
	settled.Goals, settled.DocumentIDs = []string{}, append([]id.Document{}, i.DocumentIDs...)
	for _, goal := range i.Goals {
		if strings.TrimSpace(goal) != "" {
			settled.Goals = append(settled.Goals, goal)
		}
	}
	if settled.Audience == "" {
		settled.Audience = "mixed"
	}
	return settled, nil
}

// Settle answers the proposal as it is kept, with subjects that can be entered.
// templates are those that can be chosen. The error is an [errdefs.Invalid].
func (p *Proposal) Settle(templates []template.Template) (Proposal, error) {
	settled := *p
	if !known(templates, p.TemplateKey) {
		return settled, errdefs.InvalidField("templateKey", "is not a template; GET /portals/templates lists them")
	}
	if strings.TrimSpace(p.Name) == "" {
		return settled, errdefs.InvalidField("name", "is empty")
	}
	var err error
	if settled.Languages, err = codes(p.Languages); err != nil {
		return settled, err
	}
	if len(settled.Languages) == 0 {
		return settled, errdefs.InvalidField("languages", "must have at least one")
	}
	if settled.Persona.Greeting, err = greeting(p.Persona.Greeting); err != nil {
		return settled, err
	}
	settled.Subjects, settled.Knowledge = make([]ProposedPart, len(p.Subjects)), slices.Clone(p.Knowledge)
	for i := range p.Subjects {
		if settled.Subjects[i], err = p.Subjects[i].settle(); err != nil {
			if field, ok := errors.AsType[*errdefs.Invalid](err); ok {
				err = errdefs.InvalidField(fmt.Sprintf("subjects[%d].%s", i, field.Field), "%s", field.Message)
			}
			return settled, err
		}
	}
	for i, s := range p.Knowledge {
		if (s.URL == nil) == (s.DocumentID == nil) {
			return settled, errdefs.InvalidField(fmt.Sprintf("knowledge[%d]", i), "names an address or a document, one of the two")
		}
	}
	return settled, nil
}

// greeting is one that a persona can have.
func greeting(w language.Words) (language.Words, error) {
	settled := language.Words{}
	for name, text := range w {
		found, ok := language.Lookup(name)
		switch {
		case !ok:
			return nil, errdefs.InvalidField("persona.greeting", "has a key that is not a language; GET /languages lists them")
		case utf8.RuneCountInString(text) > maxGreeting:
			return nil, errdefs.InvalidField("persona.greeting."+found.Code, "must have at most %d characters", maxGreeting)
		case strings.TrimSpace(text) != "":
			settled[found.Code] = text
		}
	}
	return settled, nil
}

// settle is the subject as it can be entered. The error is one of package
// subject's.
func (p *ProposedPart) settle() (ProposedPart, error) {
	settled := *p
	if strings.TrimSpace(p.Title) == "" {
		return settled, &errdefs.Invalid{Field: "title", Message: "is empty"}
	}
	if settled.Kind == "" {
		settled.Kind = subject.Topic
	}
	d, err := (&subject.Definition{Objectives: p.Objectives}).Settle()
	if err != nil {
		return settled, err
	}
	settled.Objectives = d.Objectives
	content, err := (*subject.Content)(&p.Content).Settle()
	settled.Content = Lesson(content)
	if field, ok := errors.AsType[*errdefs.Invalid](err); ok {
		err = &errdefs.Invalid{Field: "content." + field.Field, Message: field.Message}
	}
	return settled, err
}

func known(templates []template.Template, key string) bool {
	return slices.ContainsFunc(templates, func(t template.Template) bool { return t.Key == key })
}

// Allowed are the templates that an organization's plan includes.
func Allowed(g *template.Gallery, terms plan.Terms) []template.Template {
	return slices.DeleteFunc(slices.Clone(g.Templates()), func(t template.Template) bool {
		return t.PlanFeature != nil && !terms.Has(*t.PlanFeature)
	})
}

// codes are languages by their codes, each once.
func codes(names []string) ([]string, error) {
	found := []string{}
	for i, name := range names {
		l, ok := language.Lookup(name)
		if !ok {
			return nil, errdefs.InvalidField(fmt.Sprintf("languages[%d]", i), "is not a language; GET /languages lists them")
		}
		if !slices.Contains(found, l.Code) {
			found = append(found, l.Code)
		}
	}
	return found, nil
}
