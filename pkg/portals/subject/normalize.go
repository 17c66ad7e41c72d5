package subject

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/language"
)

func invalid(field, format string, args ...any) error {
	return errdefs.InvalidField(field, format, args...)
}

const (
	// MaxContent bounds a content, in bytes of JSON.
	MaxContent = 2 << 20
	// maxTitle and maxObjective bound texts, in characters.
	maxTitle     = 200
	maxObjective = 500
)

// Normalize answers the content as it is kept: languages by their codes, and what
// was left out. c is not changed. The error is a [errdefs.Invalid] or ErrTooLarge; the
// bounds in Content's tags are for whoever takes input to keep.
func (c *Content) Normalize() (Content, error) {
	normalized := c.whole()
	for _, t := range normalized.texts() {
		if err := t.normalize(); err != nil {
			return normalized, err
		}
	}
	if field, which := normalized.faultyKey(); field != "" {
		return normalized, invalid(field, "is %s's too", which)
	}
	if field := normalized.faultyMedia(); field != "" {
		return normalized, invalid(field, "must be a public https address")
	}
	if len(written(normalized)) > MaxContent {
		return normalized, ErrTooLarge
	}
	return normalized, nil
}

// whole is a copy without anything missing: no list is nil, and every choice is made.
func (c *Content) whole() Content {
	var w Content
	if err := json.Unmarshal(written(c), &w); err != nil {
		panic(err) // what was written can be read
	}
	w.Sections, w.Questions, w.Rules.Order = listed(w.Sections), listed(w.Questions), or(w.Rules.Order, "fixed")
	for i := range w.Sections {
		s := &w.Sections[i]
		s.Media, s.KeyPoints = listed(s.Media), listed(s.KeyPoints)
	}
	for i := range w.Questions {
		q := &w.Questions[i]
		q.Kind, q.Options, q.Rubric = or(q.Kind, "open"), listed(q.Options), listed(q.Rubric)
		for j := range q.Rubric {
			q.Rubric[j].Levels, q.Rubric[j].Points = listed(q.Rubric[j].Levels), listed(q.Rubric[j].Points)
		}
	}
	if s := w.Scenario; s != nil {
		s.Difficulty, s.Secrets = or(s.Difficulty, "medium"), listed(s.Secrets)
	}
	for _, t := range w.texts() {
		if *t.words == nil {
			*t.words = language.Words{}
		}
	}
	return w
}

// written is how a part of a subject is kept.
func written(part any) []byte {
	b, err := json.Marshal(part)
	if err != nil {
		panic(err) // there is nothing in it that JSON has not
	}
	return b
}

// listed is a list that is not nil.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func or(choice, usual string) string {
	if choice == "" {
		return usual
	}
	return choice
}

// normalize names the languages by their codes. An empty text is none.
func (t text) normalize() error {
	normalized := language.Words{}
	for _, name := range slices.Sorted(maps.Keys(*t.words)) {
		said := (*t.words)[name]
		if said == "" {
			continue
		}
		found, ok := language.Lookup(name)
		if !ok {
			return invalid(t.field, "has a key that is not a language; GET /languages lists them")
		}
		field := t.field + "." + found.Code
		if _, twice := normalized[found.Code]; twice {
			return invalid(field, "is there twice")
		}
		if strings.TrimSpace(said) == "" || utf8.RuneCountInString(said) > t.limit {
			return invalid(field, "must have 1 to %d characters", t.limit)
		}
		normalized[found.Code] = said
	}
	*t.words = normalized
	return nil
}

// faultyKey finds a key that is another's too, and says what has it; empty where
// all differ.
func (c *Content) faultyKey() (field, which string) {
	if i := again(c.Sections, func(s Section) string { return s.Key }); i >= 0 {
		return fmt.Sprintf("sections[%d].key", i), "another section"
	}
	if i := again(c.Questions, func(q Question) string { return q.Key }); i >= 0 {
		return fmt.Sprintf("questions[%d].key", i), "another question"
	}
	for n, q := range c.Questions {
		if i := again(q.Options, func(o Option) string { return o.Key }); i >= 0 {
			return fmt.Sprintf("questions[%d].options[%d].key", n, i), "another option"
		}
		if i := again(q.Rubric, func(r Criterion) string { return r.Key }); i >= 0 {
			return fmt.Sprintf("questions[%d].rubric[%d].key", n, i), "another criterion"
		}
	}
	return "", ""
}

// again is the first item whose key an earlier one has; negative where there is none.
func again[T any](list []T, key func(T) string) int {
	seen := map[string]bool{}
	for i, item := range list {
		if seen[key(item)] {
			return i
		}
		seen[key(item)] = true
	}
	return -1
}

// faultyMedia finds an address that browsers should not be sent to.
func (c *Content) faultyMedia() (field string) {
	for i, s := range c.Sections {
		for j, m := range s.Media {
			if u, err := url.Parse(m.URL); err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
				return fmt.Sprintf("sections[%d].media[%d].url", i, j)
			}
		}
	}
	return ""
}

// Normalize answers the definition as it is kept. d is not changed. The error is a
// [errdefs.Invalid].
func (d *Definition) Normalize() (Definition, error) {
	normalized := *d
	normalized.Objectives = slices.Clone(listed(d.Objectives))
	normalized.KnowledgeBaseIDs, normalized.Prerequisites = once(d.KnowledgeBaseIDs), once(d.Prerequisites)
	for i := range normalized.Objectives {
		t := text{fmt.Sprintf("objectives[%d].text", i), &normalized.Objectives[i].Text, maxObjective, advised}
		if err := t.normalize(); err != nil {
			return normalized, err
		}
	}
	if i := again(normalized.Objectives, func(o Objective) string { return o.Key }); i >= 0 {
		return normalized, invalid(fmt.Sprintf("objectives[%d].key", i), "is another objective's too")
	}
	return normalized, nil
}

// once is the items of a list, each in its first place.
func once[T comparable](list []T) []T {
	kept := make([]T, 0, len(list))
	for _, item := range list {
		if !slices.Contains(kept, item) {
			kept = append(kept, item)
		}
	}
	return kept
}

// normalizeTitle refuses a title that says nothing.
func normalizeTitle(title string) error {
	if strings.TrimSpace(title) == "" || utf8.RuneCountInString(title) > maxTitle {
		return invalid("title", "must have 1 to %d characters", maxTitle)
	}
	return nil
}

// UnmarshalJSON reads a question; what is left out has its default.
func (q *Question) UnmarshalJSON(b []byte) error {
	type plain Question
	*q = Question{Kind: "open", Points: 1}
	return json.Unmarshal(b, (*plain)(q))
}
