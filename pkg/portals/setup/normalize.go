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

// Normalize answers the input as it is kept: languages by their codes. templates are
// those that can be chosen. The error is an [errdefs.Invalid].
func (i *Input) Normalize(templates []template.Template) (Input, error) {
	normalized := *i
	if i.Empty() {
		return normalized, errdefs.InvalidField("brief", "is missing, and so are url and documentIds: a plan is made of at least one of them")
	}
	if i.TemplateKey != nil && !known(templates, *i.TemplateKey) {
		return normalized, errdefs.InvalidField("templateKey", "is not a template; GET /portals/templates lists them")
	}
	var err error
	if normalized.Languages, err = codes(i.Languages); err != nil {
		return normalized, err
	}
	normalized.Goals, normalized.DocumentIDs = []string{}, append([]id.Document{}, i.DocumentIDs...)
	for _, goal := range i.Goals {
		if strings.TrimSpace(goal) != "" {
			normalized.Goals = append(normalized.Goals, goal)
		}
	}
	if normalized.Audience == "" {
		normalized.Audience = "mixed"
	}
	return normalized, nil
}

// Normalize answers the proposal as it is kept, with subjects that can be entered.
// templates are those that can be chosen. The error is an [errdefs.Invalid].
func (p *Proposal) Normalize(templates []template.Template) (Proposal, error) {
	normalized := *p
	if !known(templates, p.TemplateKey) {
		return normalized, errdefs.InvalidField("templateKey", "is not a template; GET /portals/templates lists them")
	}
	if strings.TrimSpace(p.Name) == "" {
		return normalized, errdefs.InvalidField("name", "is empty")
	}
	var err error
	if normalized.Languages, err = codes(p.Languages); err != nil {
		return normalized, err
	}
	if len(normalized.Languages) == 0 {
		return normalized, errdefs.InvalidField("languages", "must have at least one")
	}
	if normalized.Persona.Greeting, err = greeting(p.Persona.Greeting); err != nil {
		return normalized, err
	}
	normalized.Subjects, normalized.Knowledge = make([]ProposedPart, len(p.Subjects)), slices.Clone(p.Knowledge)
	for i := range p.Subjects {
		if normalized.Subjects[i], err = p.Subjects[i].normalize(); err != nil {
			if field, ok := errors.AsType[*errdefs.Invalid](err); ok {
				err = errdefs.InvalidField(fmt.Sprintf("subjects[%d].%s", i, field.Field), "%s", field.Message)
			}
			return normalized, err
		}
	}
	for i, s := range p.Knowledge {
		if (s.URL == nil) == (s.DocumentID == nil) {
			return normalized, errdefs.InvalidField(fmt.Sprintf("knowledge[%d]", i), "names an address or a document, one of the two")
		}
	}
	return normalized, nil
}

// greeting is one that a persona can have.
func greeting(w language.Words) (language.Words, error) {
	normalized := language.Words{}
	for name, text := range w {
		found, ok := language.Lookup(name)
		switch {
		case !ok:
			return nil, errdefs.InvalidField("persona.greeting", "has a key that is not a language; GET /languages lists them")
		case utf8.RuneCountInString(text) > maxGreeting:
			return nil, errdefs.InvalidField("persona.greeting."+found.Code, "must have at most %d characters", maxGreeting)
		case strings.TrimSpace(text) != "":
			normalized[found.Code] = text
		}
	}
	return normalized, nil
}

// normalize is the subject as it can be entered. The error is one of package
// subject's.
func (p *ProposedPart) normalize() (ProposedPart, error) {
	normalized := *p
	if strings.TrimSpace(p.Title) == "" {
		return normalized, &errdefs.Invalid{Field: "title", Message: "is empty"}
	}
	if normalized.Kind == "" {
		normalized.Kind = subject.Topic
	}
	d, err := (&subject.Definition{Objectives: p.Objectives}).Normalize()
	if err != nil {
		return normalized, err
	}
	normalized.Objectives = d.Objectives
	content, err := (*subject.Content)(&p.Content).Normalize()
	normalized.Content = Lesson(content)
	if field, ok := errors.AsType[*errdefs.Invalid](err); ok {
		err = &errdefs.Invalid{Field: "content." + field.Field, Message: field.Message}
	}
	return normalized, err
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
