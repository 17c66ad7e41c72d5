package live_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/law"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// interviewed is an interview that a candidate has at a socket.
type interviewed struct {
	*client
	stage     *stage
	session   id.Session
	candidate id.Candidate
}

// interview invites a candidate to a role that asks the questions of drill, and lets them in to the interview, whose
// questions have limits; nil for none.
func (s *stage) interview(p *pod, limits *session.Clocks) *interviewed {
	s.t.Helper()
	of := portaltest.Portal(s.t, s.tenants, s.org, id.NewPersona())
	asks := portaltest.Subject(s.t, s.tenants, s.org, of.ID, func(t *subject.Subject, c *subject.Content) {
		t.Kind = subject.Screening
		c.Questions = drill()
	})
	who := activity.Actor{By: "test", At: s.now()}
	var (
		invited candidate.Candidate
		goals   []persona.Goal
	)
	require.NoError(s.t, s.tenants.InTx(context.Background(), s.org, func(ctx context.Context, tx *tenant.Tx) error {
		made, err := role.Create(ctx, tx, role.Role{Title: "Warden", Subject: asks.ID, Definition: role.Definition{
			Location: law.Place{Country: "GB"}, Languages: []string{"en"}, Scoring: role.Advisory, KeepDays: 30, MustHaves: []string{}, Knockouts: []role.Knockout{},
			Notice: role.Notice{Required: []law.Key{}, Laws: []role.LawText{}, Text: language.Words{"en": "An AI asks."}}, Managers: []id.Person{},
		}}, who)
		if err != nil {
			return err
		}
		made.State = role.Open
		issued, err := candidate.InviteAll(ctx, tx, &made, candidate.Batch{People: []candidate.Wanted{{Name: "Kim", Language: "en"}}}, who)
		if err != nil {
			return err
		}
		if invited, err = candidate.Lock(ctx, tx, issued[0].Candidate.ID); err != nil {
			return err
		}
		set, err := invited.Questions(ctx, tx, &made, s.now())
		if err != nil {
			return err
		}
		d, err := set.Read()
		for _, q := range d.Questions {
			goals = append(goals, persona.Goal{Key: q.Key, Prompt: d.Prompt(q, "en"), Outputs: []string{session.AnswerTo + q.Key}, Confirm: "auto"})
		}
		return err
	}))
	minted, token := s.mint(func(w *session.Session) {
		w.Kind, w.Portal, w.Subject, w.Source = session.Screening, of.ID, asks.ID, session.FromPortal
		w.Brief.Goals, w.Brief.Scored, w.Brief.Closed, w.Clocks = goals, true, true, limits
	})
	require.NoError(s.t, s.tenants.InTx(context.Background(), s.org, func(ctx context.Context, tx *tenant.Tx) error {
		set, err := invited.Questions(ctx, tx, nil, s.now())
		if err != nil {
			return err
		}
		return screening.Begin(ctx, tx, invited, minted, &set)
	}))
	c := &interviewed{s.connect(p, minted.ID, string(token)), s, minted.ID, invited.ID}
	c.send("client-ready", nil)
	c.hear("when the fire alarm rings")
	c.hear(`"final":true`)
	return c
}

func (c *interviewed) says(text, then string) {
	c.t.Helper()
	c.send("user-text", map[string]string{"text": text})
	c.hear(then)
	c.hear(`"final":true`)
}

// requests are what the candidate asked for.
func (c *interviewed) requests() []candidate.Request {
	c.t.Helper()
	asked, err := candidate.RequestsOf(context.Background(), c.stage.tenants, c.stage.org, c.candidate)
	require.NoError(c.t, err)
	return asked
}

// A candidate has the interview wait for longer than silence ends a session, and goes on with the question that stood. The time
// of the interview runs on, and nobody else's conversation waits.
func TestACandidateHasTheInterviewWait(t *testing.T) {
	t.Parallel()
	s, clock := newClockedStage(t, 6000)
	p := s.pod()
	defer p.Stop()
	stop := ticks(clock)
	c := s.interview(p, nil)
	stop()
	var waits struct {
		On      bool
		EndsInS int64
	}
	c.send("pause", map[string]any{"on": "please"})
	c.await("error", nil)
	c.send("pause", map[string]bool{"on": true})
	c.await("pause", &waits)
	require.True(t, waits.On)
	require.InDelta(t, 600, waits.EndsInS, 60)
	passes(t, clock, 400*time.Second) // of 300 that silence may last
	c.send("pause", map[string]bool{"on": false})
	stop = ticks(clock)
	c.hear("when the fire alarm rings")
	c.says("I leave the building by the stairs, and we meet at the parking lot.", nextAsked)
	c.send("pause", map[string]bool{"on": true})
	c.await("pause", &waits)
	require.Less(t, waits.EndsInS, int64(240))
	stop()
	passes(t, clock, 300*time.Second)
	reason, _ := c.ended()
	require.Equal(t, session.MaxDuration, reason)

	_, other := s.visitor(p, nil)
	other.send("pause", map[string]bool{"on": true})
	var refused struct{ Code string }
	other.await("error", &refused)
	require.Equal(t, "not_allowed", refused.Code)
}

// A question with a time to answer waits for nobody: a pause would be more time than others have.
func TestAQuestionWithATimeDoesNotWait(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	defer p.Stop()
	c := s.interview(p, limits(60, 0))
	var clock struct{ State string }
	for clock.State != "running" {
		c.await("answer-time", &clock)
	}
	var refused struct{ Code, Message string }
	c.send("pause", map[string]bool{"on": true})
	c.await("error", &refused)
	require.Equal(t, "not_allowed", refused.Code)
	require.Contains(t, refused.Message, "time to answer")
}

// A candidate who asks for a person during the interview, in the place of an answer, has asked for another way than it:
// the wish is no answer, nobody is called to the conversation, and it goes on with the same question.
func TestACandidateAsksForAPerson(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	defer p.Stop()
	c := s.interview(p, nil)
	require.Empty(t, c.requests())
	c.says("Can I talk to a human, please?", "People answer you on your page")
	asked := c.requests()
	require.Len(t, asked, 1)
	require.Equal(t, []any{candidate.HumanAlternative, candidate.RequestOpen}, []any{asked[0].Kind, asked[0].State})
	require.Empty(t, s.left(inbox.Handoff), "what a candidate says is nobody's in the inbox")
	require.Empty(t, s.session(c.session).Collected[session.AnswerTo+"alarm"], "it is no answer")

	// Asking once more asks for nothing more, and the question that stood is answered.
	c.says("I want to speak with a real person", "People answer you on your page")
	require.Len(t, c.requests(), 1)
	c.says(thinAnswer, askForMore)
	c.says("We meet at the parking lot.", nextAsked)
	c.send("user-text", map[string]string{"text": "I call the police."})
	reason, _ := c.ended()
	require.Equal(t, session.EndedByUser, reason)
	s.become(c.session, session.EndedByUser)
	runner := &job.Runner{Tenants: s.tenants, Works: (&screening.Scorer{Tenants: s.tenants}).Background().Works, Clock: s.clock, Log: slog.New(slog.DiscardHandler)}
	for made := 1; made > 0; {
		var err error
		made, err = runner.Advance(context.Background(), "a")
		require.NoError(t, err)
	}
	for _, said := range s.turns(c.session) {
		require.NotContains(t, said, "Steps", "what is missing is told nobody")
	}
	held, err := screening.OfSession(context.Background(), s.tenants, s.org, c.session)
	require.NoError(t, err)
	require.Equal(t, []any{screening.Scored, int64(2), true, 100.0}, []any{held.State, held.Answered, held.Complete, *held.Percent})
}
