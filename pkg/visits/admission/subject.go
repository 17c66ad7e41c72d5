package admission

import (
	"cmp"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/learning/mastery"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/learning/rubric"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// brief tells a session of its subject, in the session's language: what it is
// about, the scenario that is played, the questions that are asked.
func (at *stage) brief(s *session.Session) {
	if at.subject == nil {
		return
	}
	in := at.words(s.Language)
	lines := []string{"The conversation is about: " + at.subject.Title}
	if played := at.content.Scenario; played != nil {
		lines = append(lines, scene(played, in)...)
	}
	if s.Brief.Context != "" {
		lines = append(lines, s.Brief.Context)
	}
	s.Brief.Context = strings.Join(lines, "\n")
	if s.Kind == session.Practice || s.Kind == session.Assessment || s.Kind == session.Screening {
		s.Brief.Goals, s.Brief.Ending = questions(at.content, s.ID, in, at.needs), in(at.content.Ending.Message)
	}
	s.Brief.Scored = result.Scores(*s) || s.Kind == session.Screening
	if s.Kind == session.Screening {
		s.Brief.Closed = true
		s.Brief.Context += "\nThis is a job interview: ask what is to be asked, say nothing of how well it is answered, and promise nothing."
	}
	if s.Kind == session.Assessment && at.subject.Definition.Assessed {
		s.Brief.Closed = true
		s.Brief.Context += "\nThis is an assessment: give no hints, and answer none of its questions."
	}
}

// words is what texts say in a language, or in the portal's where they lack it.
func (at *stage) words(code string) rubric.Text {
	return func(w language.Words) string { return w.In(code, at.portal.Definition.DefaultLanguage) }
}

// score begins the result of a session that was minted.
func (at *stage) score(ctx context.Context, tx *tenant.Tx, s session.Session) error {
	if !s.Brief.Scored {
		return nil
	}
	err := result.Begin(ctx, tx, result.Start{
		Session: s, Subject: *at.subject, Content: at.content, Version: at.version, Unit: at.unit,
		Assignment: at.assignment, Part: at.part, In: at.words(s.Language),
	}, s.CreatedAt)
	if errdefs.IsConflict(err, subject.Noun, result.ReasonNoAttempts) {
		return problem.Conflicting(result.ReasonNoAttempts, "The person has had as many attempts as are allowed.").WithParam("personId")
	}
	return err
}

// practiced works out which questions a practice is for: those about what the person masters
// least, and what is due to be practiced again.
func (at *stage) practiced(ctx context.Context, tx *tenant.Tx, s *session.Session) error {
	if at.subject == nil || s.Kind != session.Practice || s.Person.IsZero() || len(at.subject.Definition.Objectives) == 0 {
		return nil
	}
	needs, err := mastery.Needs(ctx, tx, s.Person, *at.subject, s.CreatedAt)
	if err != nil {
		return err
	}
	at.needs = func(q subject.Question) float64 {
		if of := mastery.Named(at.subject.Definition.Objectives, q.Key); of != "" {
			return needs[of]
		}
		var most float64
		for _, n := range needs {
			most = max(most, n)
		}
		return most
	}
	return nil
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
// so that a session that is taken over asks the same. Where needs say so, of a practice, those
// that need it most are picked, and come first unless the order is given.
func questions(c subject.Content, which id.Session, in func(language.Words) string, needs func(subject.Question) float64) []persona.Goal {
	chance := rand.New(rand.NewPCG(binary.BigEndian.Uint64(which[:8]), binary.BigEndian.Uint64(which[8:])))
	places := make([]int, len(c.Questions))
	for i := range places {
		places[i] = i
	}
	if c.Rules.Pick != nil || c.Rules.Order == "random" {
		chance.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	}
	if needs != nil && (c.Rules.Pick != nil || c.Rules.Order == "random") {
		slices.SortStableFunc(places, func(i, j int) int { return cmp.Compare(needs(c.Questions[j]), needs(c.Questions[i])) })
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
