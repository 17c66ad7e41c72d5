package rubric

import (
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/text/search"
)

// Examiner follows up where an answer is thin (conversation.Examiner).
type Examiner struct {
	Language string
	// Questions are by their keys.
	Questions map[string]subject.Question
	// Hints says that what is missing is named, by the label of its criterion.
	Hints bool
	In    Text
}

// fewWords are as many as say next to nothing where the rubric does not tell what to say.
const fewWords = 4

// Heard implements conversation.Examiner.
func (e *Examiner) Heard(key, said string, further int) (hint string, more bool) {
	q, ok := e.Questions[key]
	if !ok || q.Kind == "choice" || q.Kind == "rating" || int64(further) >= q.FollowUps {
		return "", false
	}
	for _, s := range Judge(e.Language, q, Answer{Text: said, Kept: true}, e.In) {
		switch {
		case s.Confidence == 0 && len(search.NewPhrase(said)) > fewWords, s.Confidence > 0 && s.Score >= s.Max:
			continue
		case !e.Hints:
			return "", true
		}
		return s.Label, true
	}
	return "", false
}
