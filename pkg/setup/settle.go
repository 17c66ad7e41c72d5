package setup

import (
	"fmt"
	"slices"
	"strings"

	"visavis.dev/pkg/language"
	"visavis.dev/pkg/portal/template"
)

// FieldError says which field breaks a rule.
type FieldError struct {
	// Field names it: languages[1].
	Field   string
	Message string
}

func (e *FieldError) Error() string { return e.Field + " " + e.Message }

func invalid(field, format string, args ...any) error {
	return &FieldError{field, fmt.Sprintf(format, args...)}
}

// Settle answers the input as it is kept: languages by their codes. The error is a
// [FieldError].
func (i *Input) Settle(g *template.Gallery) (Input, error) {
	settled := *i
	if i.Empty() {
		return settled, invalid("brief", "is missing, and so are url and documentIds: a plan is made of at least one of them")
	}
	if i.TemplateKey != nil && !known(g, *i.TemplateKey) {
		return settled, invalid("templateKey", "is not a template; GET /portals/templates lists them")
	}
	var err error
	if settled.Languages, err = codes(i.Languages); err != nil {
		return settled, err
	}
	settled.Goals = slices.DeleteFunc(slices.Clone(i.Goals), func(goal string) bool { return strings.TrimSpace(goal) == "" })
	if settled.Audience == "" {
		settled.Audience = "mixed"
	}
	return settled, nil
}

// Settle answers the proposal as it is kept. The error is a [FieldError]. What its
// subjects must be is checked where they are entered.
func (p *Proposal) Settle(g *template.Gallery) (Proposal, error) {
	settled := *p
	if !known(g, p.TemplateKey) {
		return settled, invalid("templateKey", "is not a template; GET /portals/templates lists them")
	}
	if strings.TrimSpace(p.Name) == "" {
		return settled, invalid("name", "is empty")
	}
	var err error
	if settled.Languages, err = codes(p.Languages); err != nil {
		return settled, err
	}
	if len(settled.Languages) == 0 {
		return settled, invalid("languages", "must have at least one")
	}
	for i, part := range p.Subjects {
		if strings.TrimSpace(part.Title) == "" {
			return settled, invalid(fmt.Sprintf("subjects[%d].title", i), "is empty")
		}
	}
	for i, s := range p.Knowledge {
		if (s.URL == nil) == (s.DocumentID == nil) {
			return settled, invalid(fmt.Sprintf("knowledge[%d]", i), "names an address or a document, one of the two")
		}
	}
	return settled, nil
}

func known(g *template.Gallery, key string) bool {
	_, ok := g.Find(key)
	return ok
}

// codes are languages by their codes, each once.
func codes(names []string) ([]string, error) {
	found := []string{}
	for i, name := range names {
		l, ok := language.Lookup(name)
		if !ok {
			return nil, invalid(fmt.Sprintf("languages[%d]", i), "is not a language; GET /languages lists them")
		}
		if !slices.Contains(found, l.Code) {
			found = append(found, l.Code)
		}
	}
	return found, nil
}
