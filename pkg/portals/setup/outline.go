package setup

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"visavis.dev/pkg/base/golive"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/text/search"
)

// How much of the sources becomes subjects.
const (
	maxOutlined = 8
	maxSections = 12
	// minSection and maxSection bound a section, in bytes: what is shorter says
	// little, such as a menu.
	minSection = 60
	maxSection = 4000
)

// outline puts a proposal together from what the sources say, in their own words.
func outline(in Input, found []source, templates []template.Template) Proposal {
	chosen := choose(in, found, templates)
	p := Proposal{
		TemplateKey: chosen.Key, Languages: languagesOf(in, found, chosen), Knowledge: []ProposedSource{}, Subjects: []ProposedPart{},
		Warnings: []golive.Finding{},
	}
	p.Name = nameOf(in, found, chosen, p.Languages[0])
	p.Persona = ProposedPersona{Greeting: language.Words{}}
	if in.Brief != nil {
		p.Persona.Instructions = *in.Brief
	}
	for i := range found {
		if len(p.Knowledge) < maxSources {
			p.Knowledge = append(p.Knowledge, found[i].proposed())
		}
	}
	p.Subjects = parts(found, p.Languages[0])
	if len(found) == 0 { // what the template has is better than nothing
		filled := chosen.Filled(nil)
		for _, l := range filled.Lessons(p.Languages[0]) {
			p.Subjects = append(p.Subjects, ProposedPart{l.Subject.Title, l.Subject.Kind, l.Subject.Definition.Objectives, Lesson(l.Content)})
		}
	}
	for i := range p.Subjects {
		if lacking := lacks(p.Subjects[i].Content, p.Languages); len(lacking) > 0 {
			p.Warnings = append(p.Warnings, golive.Finding{
				Field: fmt.Sprintf("subjects[%d].content", i), Message: "It is not written in " + strings.Join(lacking, ", ") + " yet.",
			})
		}
	}
	return p
}

// parts are the sources as subjects: those that say enough, each title once.
func parts(found []source, otherwise string) []ProposedPart {
	made, had := []ProposedPart{}, map[string]bool{}
	for i := range found {
		part, ok := found[i].part(otherwise)
		if !ok || had[fold(part.Title)] || len(made) == maxOutlined {
			continue
		}
		had[fold(part.Title)] = true
		made = append(made, part)
	}
	return made
}

// fold is a title as it is compared with others.
func fold(title string) string { return strings.ToLower(strings.Join(strings.Fields(title), " ")) }

// proposed is where the source comes from.
func (s *source) proposed() ProposedSource {
	p := ProposedSource{Title: s.Title}
	if s.URL != "" {
		p.URL = &s.URL
	} else {
		p.DocumentID = &s.Document
	}
	return p
}

// part is the source as a subject; false where it says too little.
func (s *source) part(otherwise string) (ProposedPart, bool) {
	code := s.Language
	if code == "" {
		code = otherwise
	}
	part := ProposedPart{Title: s.Title, Kind: subject.Topic, Objectives: []subject.Objective{}, Content: empty()}
	for _, section := range s.Sections {
		text := strings.TrimSpace(section.Text)
		if len(text) < minSection || len(part.Content.Sections) == maxSections {
			continue
		}
		heading := strings.TrimSpace(section.Heading)
		if heading == "" {
			heading = s.Title
		}
		part.Content.Sections = append(part.Content.Sections, subject.Section{
			Key:   fmt.Sprintf("section_%d", len(part.Content.Sections)+1),
			Title: language.Words{code: clip(heading, maxTitle)}, Body: language.Words{code: clip(text, maxSection)},
			Media: []subject.Media{}, KeyPoints: []language.Words{},
		})
	}
	return part, len(part.Content.Sections) > 0
}

// lacks lists the languages that a content's sections are not in.
func lacks(c Lesson, languages []string) []string {
	return slices.DeleteFunc(slices.Clone(languages), func(code string) bool {
		return !slices.ContainsFunc(c.Sections, func(s subject.Section) bool { return s.Body[code] == "" })
	})
}

// languagesOf are the portal's languages, the one that is spoken otherwise first.
func languagesOf(in Input, found []source, t template.Template) []string {
	if len(in.Languages) > 0 {
		return in.Languages
	}
	for _, s := range found {
		if s.Language != "" {
			return []string{s.Language}
		}
	}
	return t.Languages[:1]
}

// nameOf is the portal's name: that of what was read first, or else the template's.
func nameOf(in Input, found []source, t template.Template, code string) string {
	if len(found) > 0 {
		return clip(found[0].Title, maxName)
	}
	if in.URL != nil {
		if u, err := url.Parse(*in.URL); err == nil {
			return clip(u.Hostname(), maxName)
		}
	}
	return t.Name.In(code, t.Languages[0])
}

// audiences are the templates' kinds that suit an audience first.
var audiences = map[string][]string{
	"learners": {"learning"}, "customers": {"support"}, "visitors": {"reception", "sales", "custom"}, "candidates": {"hiring", "learning"},
}

// choose finds the template that fits best: the one that is named, or the one whose
// description shares most words with the brief, the goals and the sources' titles.
func choose(in Input, found []source, templates []template.Template) template.Template {
	if in.TemplateKey != nil {
		for _, t := range templates {
			if t.Key == *in.TemplateKey {
				return t
			}
		}
	}
	said := wanted(in, found)
	best, most := templates[0], -1
	for _, t := range templates {
		score := 0
		if slices.Contains(audiences[in.Audience], string(t.Kind)) {
			score += 3
		}
		for _, code := range t.Languages {
			about := words(code, t.Name[code]+" "+t.Description[code])
			for term := range words(code, said) {
				if about[term] {
					score++
				}
			}
		}
		if score > most {
			best, most = t, score
		}
	}
	return best
}

// wanted is what is said of the portal that is wanted.
func wanted(in Input, found []source) string {
	parts := slices.Clone(in.Goals)
	if in.Brief != nil {
		parts = append(parts, *in.Brief)
	}
	for _, s := range found {
		parts = append(parts, s.Title)
	}
	return strings.Join(parts, "\n")
}

// words are what a text is about.
func words(code, text string) map[string]bool {
	terms := map[string]bool{}
	for _, t := range search.Terms(code, text) {
		if !t.Stop {
			terms[t.Text] = true
		}
	}
	return terms
}
