package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// classes are the kinds of questions, in the order of the report.
var classes = []string{
	"direct", "paraphrase", "typo", "inflection", "crosslanguage", "kind", "reasoning", "several", "list", "followup",
	"disclosure", "person", "act", "emergency", "unknown",
}

// What is expected of an answer.
const (
	expectKnow     = "know"
	expectUnknown  = "unknown"
	expectDisclose = "disclose"
	expectPerson   = "person"
	expectAct      = "act"
)

var expectations = []string{expectKnow, expectUnknown, expectDisclose, expectPerson, expectAct}

// set is what one organization's persona is asked.
type set struct {
	Organization string     `json:"organization"`
	Language     string     `json:"language"`
	Zone         string     `json:"zone"`
	Now          string     `json:"now"`
	Questions    []question `json:"questions"`

	domain string
	// documents are the texts of the handbook, by the names of their files.
	documents map[string]string
	// filler are further documents, which answer nothing.
	filler map[string]string
	now    time.Time
}

// question is one, with the turns that lead to it.
type question struct {
	ID       string   `json:"id"`
	Class    string   `json:"class"`
	Language string   `json:"language"`
	Ask      []string `json:"ask"`
	Expect   string   `json:"expect"`
	Facts    [][]fact `json:"facts"`
	Never    []fact   `json:"never"`
}

// fact is one way to say what an answer holds. A bare number of YAML is its digits, and
// a bare yes or no the word.
type fact string

// UnmarshalJSON reads a fact.
func (f *fact) UnmarshalJSON(data []byte) error {
	switch text := string(data); {
	case text == "true":
		*f = "yes"
	case text == "false":
		*f = "no"
	case strings.HasPrefix(text, `"`):
		return json.Unmarshal(data, (*string)(f))
	default:
		*f = fact(text)
	}
	return nil
}

// load reads the sets of a directory, by their domains' names. Its errors repeat
// nothing of a set but ids.
func load(folder string) ([]set, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var sets []set
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		s := set{domain: e.Name(), documents: map[string]string{}}
		if err := s.read(filepath.Join(folder, e.Name())); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		sets = append(sets, s)
	}
	return sets, nil
}

func (s *set) read(folder string) error {
	data, err := os.ReadFile(filepath.Join(folder, "questions.yaml"))
	if err != nil {
		return err
	}
	if err := yaml.UnmarshalStrict(data, s); err != nil {
		return fmt.Errorf("questions.yaml: %w", err)
	}
	texts, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		return err
	}
	for _, name := range texts {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		s.documents[filepath.Base(name)] = string(text)
	}
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		return err
	}
	if s.now, err = time.ParseInLocation("2006-01-02T15:04:05", s.Now, zone); err != nil {
		return err
	}
	return s.check()
}

// check says what is wrong with a set.
func (s *set) check() error {
	if s.Organization == "" || s.Language == "" || len(s.documents) == 0 || len(s.Questions) == 0 {
		return fmt.Errorf("the set lacks an organization, a language, documents or questions")
	}
	seen := map[string]bool{}
	for i := range s.Questions {
		q := &s.Questions[i]
		switch {
		case q.ID == "" || seen[q.ID]:
			return fmt.Errorf("question %d has no id of its own: %q", i+1, q.ID)
		case !slices.Contains(classes, q.Class):
			return fmt.Errorf("%s: there is no class %q", q.ID, q.Class)
		case !slices.Contains(expectations, q.Expect):
			return fmt.Errorf("%s: nothing is expected by %q", q.ID, q.Expect)
		case len(q.Ask) == 0 || slices.Contains(q.Ask, ""):
			return fmt.Errorf("%s: nothing is asked", q.ID)
		case q.Expect == expectKnow && len(q.Facts) == 0:
			return fmt.Errorf("%s: what is known has no facts", q.ID)
		}
		seen[q.ID] = true
		for _, alternatives := range append(slices.Clone(q.Facts), q.Never) {
			for _, f := range alternatives {
				if normalize(string(f)) == "" {
					return fmt.Errorf("%s: a fact has no words", q.ID)
				}
			}
		}
	}
	return nil
}

// lastAsked is the question that is judged.
func (q *question) lastAsked() string { return q.Ask[len(q.Ask)-1] }
