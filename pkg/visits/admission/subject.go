package admission

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/session"
)

// brief tells a session of its subject, in the session's language: what it is
// about, the scenario that is played, the questions that are asked.
func (at *stage) brief(s *session.Session) {
	if at.subject == nil {
		return
	}
	in := func(w language.Words) string { return w.In(s.Language, at.portal.Definition.DefaultLanguage) }
	lines := []string{"The conversation is about: " + at.subject.Title}
	if played := at.content.Scenario; played != nil {
		lines = append(lines, scene(played, in)...)
	}
	if s.Brief.Context != "" {
		lines = append(lines, s.Brief.Context)
	}
	s.Brief.Context = strings.Join(lines, "\n")
	if s.Kind == session.Practice || s.Kind == session.Assessment {
		s.Brief.Goals = questions(at.content, s.ID, in)
	}
}

// scene is what the avatar knows of the situation it plays.
func scene(played *subject.Scenario, in func(language.Words) string) (lines []string) {
	for _, part := range []struct{ label, text string }{
		{"You play: ", in(played.AvatarRole)}, {"The other plays: ", in(played.LearnerRole)},
		{"The situation: ", in(played.Setting)}, {"How hard you make it: ", played.Difficulty},
	} {
		if part.text != "" {
			lines = append(lines, part.label+part.text)
		}
	}
	for _, secret := range played.Secrets {
		if text := in(secret); text != "" {
			lines = append(lines, "Tell only when you are asked for it well: "+text)
		}
	}
	return lines
}

// questions are those of a subject that one session asks: the required ones, and of
// the others as many as are picked. What is random follows from the session's id,
// so that a session that is taken over asks the same.
func questions(c subject.Content, which id.Session, in func(language.Words) string) []persona.Goal {
	chance := rand.New(rand.NewPCG(binary.BigEndian.Uint64(which[:8]), binary.BigEndian.Uint64(which[8:])))
	places := make([]int, len(c.Questions))
	for i := range places {
		places[i] = i
	}
	if c.Rules.Pick != nil || c.Rules.Order == "random" {
		chance.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	}
	if c.Rules.Pick != nil {
		places = pick(places, c.Questions, int(*c.Rules.Pick))
	}
	if c.Rules.Order != "random" {
		slices.Sort(places)
	}
	goals := make([]persona.Goal, 0, len(places))
	for _, i := range places {
		if q := c.Questions[i]; asked(q, in) != "" {
			goals = append(goals, persona.Goal{Key: q.Key, Prompt: asked(q, in), Required: q.Required, Outputs: []string{session.AnswerTo + q.Key}, Confirm: "auto"})
		}
	}
	return goals
}

// pick leaves the required questions, and others up to a number, in their order.
func pick(places []int, of []subject.Question, number int) []int {
	others := number
	for _, i := range places {
		if of[i].Required {
			others--
		}
	}
	return slices.DeleteFunc(places, func(i int) bool {
		if of[i].Required {
			return false
		}
		others--
		return others < 0
	})
}

// asked is what the avatar says to ask a question: the options of a choice too.
func asked(q subject.Question, in func(language.Words) string) string {
	text := in(q.Text)
	if text == "" || len(q.Options) == 0 {
		return text
	}
	options := make([]string, len(q.Options))
	for i, option := range q.Options {
		options[i] = in(option.Text)
	}
	return text + " " + strings.Join(options, "; ") + "."
}
