package admission

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"strings"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/hiring/question"
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
	switch s.Kind {
	case session.Practice, session.Assessment:
		s.Brief.Goals, s.Brief.Ending = questions(at.content, s.ID, in, at.needs), in(at.content.Ending.Message)
	case session.Screening:
		s.Brief.Goals, s.Brief.Ending = screened(&at.asked, s.Language), in(at.content.Ending.Message)
	default:
	}
	s.Clocks = at.clocks(*s)
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

// clocks are the limits of what a session asks; nil where nothing has one. They are those of this moment, by the keys
// of the questions, whatever is published later.
func (at *stage) clocks(s session.Session) *session.Clocks {
	c := session.Clocks{Questions: map[string]session.Clock{}}
	if d := at.subject.Definition.DurationS; d != nil && s.Kind == session.Assessment && len(s.Brief.Goals) > 0 {
		c.DurationS = *d
	}
	for _, goal := range s.Brief.Goals {
		for _, q := range at.content.Questions {
			if q.Key == goal.Key && q.TimeLimitS != nil {
				c.Questions[q.Key] = session.Clock{LimitS: *q.TimeLimitS}
			}
		}
	}
	if c.Empty() {
		return nil
	}
	return &c
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

// questions are those of a subject that one session asks. What is random follows from the
// session's id, so that a session that is taken over asks the same. Of a practice, needs say
// which questions are needed most.
func questions(c subject.Content, which id.Session, in func(language.Words) string, needs func(subject.Question) float64) []persona.Goal {
	chance := rand.New(rand.NewPCG(binary.BigEndian.Uint64(which[:8]), binary.BigEndian.Uint64(which[8:])))
	goals := make([]persona.Goal, 0, len(c.Questions))
	for _, q := range c.Drawn(chance, needs) {
		if text := asked(q, in); text != "" {
			goals = append(goals, goal(q.Key, text, q.Required))
		}
	}
	return goals
}

// goal is what the avatar pursues to have a question answered.
func goal(key, prompt string, required bool) persona.Goal {
	return persona.Goal{Key: key, Prompt: prompt, Required: required, Outputs: []string{session.AnswerTo + key}, Confirm: "auto"}
}

// screened are the questions of a job interview: those that were frozen, for whoever is asked them.
func screened(d *question.Document, code string) []persona.Goal {
	goals := make([]persona.Goal, 0, len(d.Questions))
	for _, q := range d.Questions {
		if text := d.Prompt(q, code); text != "" {
			goals = append(goals, goal(q.Key, text, q.Required))
		}
	}
	return goals
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
