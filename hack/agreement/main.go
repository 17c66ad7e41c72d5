// Command agreement measures how far the built-in scorer agrees with a person: it scores the
// answers of sets/ by their rubrics and prints Cohen's kappa with quadratic weights beside what
// chance agrees on (which is 0), and how often it was sure where the person was not.
//
// The sets were written and scored before the scorer saw them. It is not tuned on them.
package main

import (
	"embed"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/learning/rubric"
	"visavis.dev/pkg/portals/subject"
)

//go:embed sets
var sets embed.FS

// asked is a question with its answers.
type asked struct {
	Question string   `json:"question"`
	Points   []string `json:"points"`
	Answers  []answer `json:"answers"`
}

// answer is what was said, and what a person thinks of it.
type answer struct {
	Said string `json:"said"`
	// Covers has 1 for each point that is covered, else 0.
	Covers []int `json:"covers"`
	// Doubtful says that a careful person would want to talk it over.
	Doubtful bool `json:"doubtful"`
}

func main() {
	if err := run(os.Stdout, len(os.Args) > 1 && os.Args[1] == "-explain"); err != nil {
		fmt.Fprintln(os.Stderr, "agreement:", err)
		os.Exit(1)
	}
}

// run prints the figures; with explain also every answer that is scored otherwise.
func run(to io.Writer, explain bool) error {
	questions, err := load()
	if err != nil {
		return err
	}
	var all counts
	for _, code := range slices.Sorted(maps.Keys(questions)) {
		for _, q := range questions[code] {
			for _, a := range q.Answers {
				p := judge(code, q, a)
				all.add(p)
				if explain && p.sure && p.machine != p.person {
					fmt.Fprintf(to, "%s\t%d for %d of %d\t%s\t%s\n", code, p.machine, p.person, p.most, a.Said, p.why)
				}
			}
		}
	}
	all.print(to)
	return nil
}

// load reads the sets, by their languages.
func load() (map[string][]asked, error) {
	entries, err := sets.ReadDir("sets")
	if err != nil {
		return nil, err
	}
	questions := map[string][]asked{}
	for _, e := range entries {
		text, err := sets.ReadFile(path.Join("sets", e.Name()))
		if err != nil {
			return nil, err
		}
		var list []asked
		if err := yaml.UnmarshalStrict(text, &list); err != nil {
			return nil, fmt.Errorf("read %s: %w", e.Name(), err)
		}
		questions[strings.TrimSuffix(e.Name(), ".yaml")] = list
	}
	return questions, nil
}

// pair is how a person and the scorer scored an answer, in points covered of most.
type pair struct {
	person, machine, most int
	sure, doubtful        bool
	why                   string
}

func judge(code string, q asked, a answer) pair {
	question := subject.Question{Key: "q", Kind: "open", Text: language.Words{code: q.Question}, Points: float64(len(q.Points))}
	criterion := subject.Criterion{Key: "c", Weight: 1}
	p := pair{most: len(q.Points), doubtful: a.Doubtful}
	for i, text := range q.Points {
		criterion.Points = append(criterion.Points, subject.Point{Text: language.Words{code: text}})
		p.person += a.Covers[i]
	}
	question.Rubric = []subject.Criterion{criterion}
	s := rubric.Judge(code, question, rubric.Answer{Text: a.Said, Kept: true}, func(w language.Words) string { return w[code] })[0]
	p.machine, p.sure, p.why = int(math.Round(s.Score)), s.Confidence >= rubric.Least, s.Rationale
	return p
}
