// Package searchtest is a question set in the public domain, with the passages
// that answer each question, and the measures by which a ranking of them is
// judged. It serves the tests of search and the figures of hack/bench.
package searchtest

import (
	"embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/text/search"
)

// A .txt file has documents ("# key title") of passages, one to a line. A .tsv
// file has questions: the text, a tab, and the passages that answer it with
// their grades, such as "key.3=2"; those that nothing answers have none.
//
//go:embed testdata
var files embed.FS

// Set is the documents and questions of one language.
type Set struct {
	Language  string
	Documents []Document
	Questions []Question
}

// Document is a document in passages, headed by its title.
type Document struct {
	ID       id.Document
	Passages []search.Text
}

// Question has a grade for each passage that answers it: 2 fully, 1 in part.
type Question struct {
	Text   string
	Grades map[id.Chunk]int
}

// Languages are those of the sets.
var Languages = []string{"en", "de", "fr", "es", "ja"}

// Load reads the sets.
func Load() ([]Set, error) {
	out := make([]Set, 0, len(Languages))
	for _, language := range Languages {
		s := Set{Language: language}
		if err := s.load(); err != nil {
			return nil, fmt.Errorf("question set %s: %w", language, err)
		}
		out = append(out, s)
	}
	return out, nil
}

func (s *Set) load() error {
	texts, err := files.ReadFile("testdata/" + s.Language + ".txt")
	if err != nil {
		return err
	}
	questions, err := files.ReadFile("testdata/" + s.Language + ".tsv")
	if err != nil {
		return err
	}
	known := map[string]id.Chunk{}
	key, title := "", ""
	for line := range strings.Lines(string(texts)) {
		line = strings.TrimSpace(line)
		if heading, ok := strings.CutPrefix(line, "# "); ok {
			key, title, _ = strings.Cut(heading, " ")
			s.Documents = append(s.Documents, Document{ID: documentID(s.Language + "/" + key)})
			continue
		}
		d := &s.Documents[len(s.Documents)-1]
		name := key + "." + strconv.Itoa(len(d.Passages)+1)
		known[name] = chunkID(s.Language + "/" + name)
		d.Passages = append(d.Passages, search.Text{ID: known[name], Heading: title, Text: line})
	}
	for line := range strings.Lines(string(questions)) {
		q, err := question(strings.TrimRight(line, "\n"), known)
		if err != nil {
			return err
		}
		s.Questions = append(s.Questions, q)
	}
	return nil
}

func question(line string, known map[string]id.Chunk) (Question, error) {
	text, answers, _ := strings.Cut(line, "\t")
	q := Question{Text: text, Grades: map[id.Chunk]int{}}
	for answer := range strings.FieldsSeq(answers) {
		name, grade, _ := strings.Cut(answer, "=")
		chunk, ok := known[name]
		if !ok {
			return q, fmt.Errorf("no passage %s", name)
		}
		n, err := strconv.Atoi(grade)
		if err != nil {
			return q, err
		}
		q.Grades[chunk] = n
	}
	return q, nil
}

// Tune is every other question: the half that constants are chosen by.
func (s *Set) Tune() []Question { return s.half(0) }

// Test is the other half, by which they are judged.
func (s *Set) Test() []Question { return s.half(1) }

func (s *Set) half(remainder int) (out []Question) {
	for i, q := range s.Questions {
		if i%2 == remainder {
			out = append(out, q)
		}
	}
	return out
}

// Index is an index of a set's documents.
func (s *Set) Index() *search.Index {
	x := search.New()
	for _, d := range s.Documents {
		if err := x.Add(d.ID, nil, s.Language, search.Analyze(s.Language, d.Passages).Marshal()); err != nil {
			panic(err) // it was marshaled just now
		}
	}
	return x
}

// The ids are the same in every run, since ties are broken by them.
func documentID(name string) id.Document {
	return id.Document(uuid.NewSHA1(uuid.NameSpaceURL, []byte(name)))
}

func chunkID(name string) id.Chunk { return id.Chunk(uuid.NewSHA1(uuid.NameSpaceURL, []byte(name))) }
