// Package question freezes what the candidates of a role are asked: the same questions, in the same
// words and order, for everybody who has a version of them. A version says by its hash what was
// asked, whatever becomes of the role's subject.
package question

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/portals/subject"
)

// Noun is what errors call a set of questions.
const Noun errdefs.Noun = "question set"

// Format is the version of the form that documents have.
const Format = "visavis-question-set-1"

// Document is what is hashed: all that makes one candidate's questions those of another, and nothing
// of any candidate.
type Document struct {
	Format string `json:"format"`
	// Language is the one whose words are said where a text lacks that of the interview.
	Language  string     `json:"language"`
	Questions []Question `json:"questions"`
	// RubricHash is the SHA-256 of what answers are held against, in hexadecimal.
	RubricHash string `json:"rubricHash"`
}

// Question is one question, in the order in which they are asked.
type Question struct {
	Key  string `json:"key"`
	Kind string `json:"kind"`
	// Text is by language, as are the texts of options.
	Text      language.Words `json:"text"`
	Options   []Option       `json:"options,omitempty"`
	FollowUps int64          `json:"followUps"`
	Required  bool           `json:"required"`
	// TimeLimitS is how many seconds there are to answer; nil for no limit.
	TimeLimitS *int64 `json:"timeLimitS,omitempty"`
}

// Option is an answer to choose.
type Option struct {
	Key  string         `json:"key"`
	Text language.Words `json:"text"`
}

// Set is a version of what a role's candidates are asked.
type Set struct {
	Role    id.Role
	Version int64
	// Hash is the SHA-256 of Text in hexadecimal; Text is the Document as JSON.
	Hash, Text string
	// Subject and SubjectVersion are the content in which it was first published, which has the rubrics.
	Subject        id.Subject
	SubjectVersion int64
	Questions      int64
	// Invited counts who was invited to be asked it, and Interviewed who has begun. Both outlast the
	// candidates.
	Invited, Interviewed int64
	CreatedAt            time.Time
}

// Hash is that of a document as text.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Read is the document of a set.
func (s *Set) Read() (d Document, err error) {
	return d, json.Unmarshal([]byte(s.Text), &d)
}

// Prompt is what the avatar says to ask a question in a language, the options of a choice too; empty
// where there are no words for it.
func (d *Document) Prompt(q Question, code string) string {
	text := q.Text.In(code, d.Language)
	if text == "" || len(q.Options) == 0 {
		return text
	}
	options := make([]string, len(q.Options))
	for i, option := range q.Options {
		options[i] = option.Text.In(code, d.Language)
	}
	return text + " " + strings.Join(options, "; ") + "."
}

// draw makes the document of a content. What is random in it follows from the role alone: it is drawn
// once for all of its candidates.
func draw(r id.Role, c subject.Content, otherwise string) Document {
	d := Document{Format: Format, Language: otherwise, Questions: []Question{}}
	type judged struct {
		Key     string              `json:"key"`
		Points  float64             `json:"points"`
		Correct []string            `json:"correct"`
		Rubric  []subject.Criterion `json:"rubric"`
	}
	var rubric []judged
	for _, q := range c.Drawn(rand.New(rand.NewPCG(binary.BigEndian.Uint64(r[:8]), binary.BigEndian.Uint64(r[8:]))), nil) {
		one := Question{Key: q.Key, Kind: q.Kind, Text: q.Text, FollowUps: q.FollowUps, Required: q.Required, TimeLimitS: q.TimeLimitS}
		by := judged{Key: q.Key, Points: q.Points, Rubric: q.Rubric}
		for _, o := range q.Options {
			one.Options = append(one.Options, Option{o.Key, o.Text})
			if o.Correct {
				by.Correct = append(by.Correct, o.Key)
			}
		}
		d.Questions, rubric = append(d.Questions, one), append(rubric, by)
	}
	d.RubricHash = Hash(text(rubric))
	return d
}

// text is something as JSON, the keys of maps in order and no sign escaped, so that the same is always
// the same.
func text(of any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(of) //nolint:errchkjson // of texts and finite numbers
	return strings.TrimSuffix(b.String(), "\n")
}

// Words are what a question asks in a language, without options; empty for no such question.
func (d *Document) Words(key, code string) string {
	for _, q := range d.Questions {
		if q.Key == key {
			return q.Text.In(code, d.Language)
		}
	}
	return ""
}

// Differ says whether candidates have begun to be asked different sets.
func Differ(all []Set) bool {
	asked := slices.DeleteFunc(slices.Clone(all), func(s Set) bool { return s.Interviewed == 0 })
	return len(asked) > 1
}
