package live_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// drill are the two questions of an assessment: of six points, the first gives four.
func drill() []subject.Question {
	point := func(text string) subject.Point { return subject.Point{Text: language.Words{"en": text}} }
	question := func(key, text string, points float64, of ...subject.Point) subject.Question {
		return subject.Question{
			Key: key, Kind: "open", Text: language.Words{"en": text}, Points: points, FollowUps: 1, Options: []subject.Option{},
			Rubric: []subject.Criterion{{Key: "steps", Label: language.Words{"en": "Steps"}, Weight: 1, Points: of, Levels: []subject.Level{}}},
		}
	}
	return []subject.Question{
		question("alarm", "What do you do when the fire alarm rings?", 4, point("Leave the building by the stairs"), point("Meet at the parking lot")),
		question("thief", "And when you see a thief?", 2, point("Call the police")),
	}
}

// sitting is an assessment that somebody takes at a socket.
type sitting struct {
	*client
	stage   *stage
	session id.Session
}

// sit lets somebody in to an assessment, in the time that clocks give, and hears its first question.
func (s *stage) sit(p *pod, clocks *session.Clocks) *sitting {
	s.t.Helper()
	of := portaltest.Portal(s.t, s.tenants, s.org, id.NewPersona())
	var content subject.Content
	taught := portaltest.Subject(s.t, s.tenants, s.org, of.ID, func(t *subject.Subject, c *subject.Content) {
		t.Kind, t.Definition.Assessed = subject.Assessment, true
		c.Questions = drill()
		content = *c
	})
	minted, token := s.mint(func(w *session.Session) {
		w.Kind, w.Portal, w.Subject, w.Person, w.Membership = session.Assessment, of.ID, taught.ID, id.NewPerson(), id.NewMembership()
		for _, q := range content.Questions {
			w.Brief.Goals = append(w.Brief.Goals, persona.Goal{Key: q.Key, Prompt: q.Text["en"], Outputs: []string{session.AnswerTo + q.Key}, Confirm: "auto"})
		}
		w.Brief.Scored, w.Brief.Closed, w.Clocks = true, true, clocks
	})
	require.NoError(s.t, s.tenants.InTx(context.Background(), s.org, func(ctx context.Context, tx *tenant.Tx) error {
		return result.Begin(ctx, tx, result.Start{
			Session: minted, Subject: taught, Content: content, Version: 1, In: func(w language.Words) string { return w["en"] },
		}, s.now())
	}))
	c := &sitting{s.connect(p, minted.ID, string(token)), s, minted.ID}
	c.send("client-ready", nil)
	c.hear("Welcome.")
	c.hears("when the fire alarm rings")
	return c
}

// hears waits for words that contain a text, and for the end of the turn.
func (c *sitting) hears(text string) {
	c.t.Helper()
	c.hear(text)
	c.hear(`"final":true`)
}

// says has the learner type something, and hears what is said to it.
func (c *sitting) says(text, then string) {
	c.t.Helper()
	c.send("user-text", map[string]string{"text": text})
	c.hears(then)
}

// scored is the result, once the last question was answered or the learner left, and it was scored.
func (c *sitting) scored() result.Result { return c.scoredAfter(session.EndedByUser) }

// scoredAfter is scored, where the session ended for a reason.
func (c *sitting) scoredAfter(want session.Reason) result.Result {
	c.t.Helper()
	reason, _ := c.ended()
	require.Equal(c.t, want, reason)
	c.stage.become(c.session, want)
	runner := &job.Runner{
		Tenants: c.stage.tenants, Works: (&result.Scorer{Tenants: c.stage.tenants}).Background().Works, Clock: c.stage.clock, Log: slog.New(slog.DiscardHandler),
	}
	for made := 1; made > 0; {
		var err error
		made, err = runner.Advance(context.Background(), "a")
		require.NoError(c.t, err)
	}
	r, err := result.OfSession(context.Background(), c.stage.tenants, c.stage.org, c.session)
	require.NoError(c.t, err)
	return r
}

const (
	thinAnswer = "I leave the building by the stairs."
	askForMore = "Can you say more about that?"
	nextAsked  = "And when you see a thief?"
)

// Somebody takes an assessment by text: where an answer is thin more is asked for, without a
// hint, and what comes of it is what was said.
func TestAnAssessmentIsTakenAndScored(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	defer p.Stop()
	t.Run("in full", func(t *testing.T) {
		c := s.sit(p, nil)
		c.says(thinAnswer, askForMore)
		c.says("We meet at the parking lot.", nextAsked)
		c.says("When I see one I call the police.", "noted")
		r := c.scored()
		require.Equal(t, result.Released, r.State)
		require.Equal(t, []float64{100, 6, 6}, []float64{*r.Percent, *r.Score, r.MaxScore})
		require.Len(t, r.Criteria[0].Quotes, 2, "both answers are quoted")
	})
	t.Run("in part, and with the contrary", func(t *testing.T) {
		c := s.sit(p, nil)
		c.says(thinAnswer, askForMore)
		c.says("Nothing else.", nextAsked)
		c.says("I never call the police.", askForMore)
		c.says("No.", "noted")
		r := c.scored()
		require.Equal(t, result.Released, r.State, "%+v", r.Criteria)
		require.Equal(t, []float64{33.3, 2}, []float64{*r.Percent, *r.Score})
	})
	t.Run("in words that may be the contrary", func(t *testing.T) {
		c := s.sit(p, nil)
		c.says("We don't meet at the parking lot, but leave the building by the stairs.", nextAsked)
		c.says("I call the police.", "noted")
		r := c.scored()
		require.Equal(t, result.AwaitingReview, r.State)
		require.Equal(t, result.LowConfidence, *r.Doubt)
	})
	t.Run("and left before the second question", func(t *testing.T) {
		c := s.sit(p, nil)
		c.says(thinAnswer, askForMore)
		c.send("end", nil)
		r := c.scored()
		require.Equal(t, result.AwaitingReview, r.State)
		require.Equal(t, result.NotJudged, *r.Doubt)
		require.Equal(t, 2.0, *r.Criteria[0].Score)
		require.Nil(t, r.Criteria[1].Score, "nobody fails what was not asked")
	})
}

// limits are the seconds for the two questions of a drill.
func limits(alarm, thief int64) *session.Clocks {
	return &session.Clocks{Questions: map[string]session.Clock{"alarm": {LimitS: alarm}, "thief": {LimitS: thief}}}
}

// Whose time runs out is asked the next question, and the result says so.
func TestAnAssessmentIsTakenInATime(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	defer p.Stop()
	t.Run("of a question", func(t *testing.T) {
		c := s.sit(p, limits(1, 60))
		c.hears("The time is up.")
		c.send("user-text", map[string]string{"text": "I call the police.", "question": "thief"})
		c.hears("noted")
		r := c.scored()
		require.Equal(t, result.Released, r.State, "%+v", r.Criteria)
		require.Equal(t, []session.Came{session.NoAnswer, session.InTime}, []session.Came{r.Criteria[0].Time, r.Criteria[1].Time})
		require.Equal(t, []float64{0, 2}, []float64{*r.Criteria[0].Score, *r.Criteria[1].Score})
	})
	t.Run("of all questions", func(t *testing.T) {
		c := s.sit(p, &session.Clocks{DurationS: 1})
		c.says("I leave the building by the stairs, and meet the others at the parking lot.", "The time is up.")
		r := c.scoredAfter(session.MaxDuration)
		require.Equal(t, result.AwaitingReview, r.State)
		require.Equal(t, result.NotJudged, *r.Doubt)
		require.Equal(t, 4.0, *r.Criteria[0].Score)
		require.Nil(t, r.Criteria[1].Score)
	})
	t.Run("with words that come late", func(t *testing.T) {
		c := s.sit(p, limits(1, 60))
		c.hears("The time is up.")
		c.send("user-text", map[string]string{"text": thinAnswer, "question": "alarm"})
		var notice struct{ Kind string }
		for notice.Kind != "late_words" {
			c.await("notice", &notice)
		}
		c.send("user-text", map[string]string{"text": "I call the police.", "question": "thief"})
		c.hears("noted")
		r := c.scored()
		require.Equal(t, result.AwaitingReview, r.State, "nobody fails by what may have been said in time")
		require.Nil(t, r.Criteria[0].Score)
		require.Equal(t, 2.0, *r.Criteria[1].Score)
	})
}

// The time that is left outlasts the process that counted it.
func TestTheTimeToAnswerOutlastsACrash(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	one, two := s.pod(), s.pod()
	defer one.Stop()
	defer two.Stop()
	c := s.sit(one, limits(30, 0))
	require.Eventually(t, func() bool { return s.session(c.session).Clocks.Questions["alarm"].UsedMs > 1000 }, 20*time.Second, 50*time.Millisecond)
	s.crash(c.session)
	used := s.session(c.session).Clocks.Questions["alarm"].UsedMs
	again := &sitting{s.connect(two, c.session, c.resume), s, c.session}
	var told struct {
		Question string
		LeftMs   int64
	}
	again.await("answer-time", &told)
	require.Equal(t, "alarm", told.Question)
	require.InDelta(t, 30_000-used, told.LeftMs, 1600)
	again.says("I leave the building by the stairs, and meet the others at the parking lot.", nextAsked)
	again.says("I call the police.", "noted")
	r := again.scored()
	require.Equal(t, result.AwaitingReview, r.State)
	require.Equal(t, result.LowConfidence, *r.Doubt)
	require.Equal(t, 6.0, *r.Score)
}

// Who comes back before it is noticed that they were gone may not have been heard meanwhile.
func TestAClientThatIsSupersededMayNotHaveBeenHeard(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	defer p.Stop()
	c := s.sit(p, limits(60, 0))
	s.connect(p, c.session, c.resume)
	require.Eventually(t, func() bool {
		return slices.Equal(s.session(c.session).Clocks.Questions["alarm"].Doubts, []session.Doubt{session.WordsLost})
	}, 20*time.Second, 50*time.Millisecond)
}

// A process that ends in order gives the session back with all the time that was used.
func TestTheTimeIsNotedBeforeASessionIsGivenBack(t *testing.T) {
	t.Parallel()
	s := newStage(t, 600)
	p := s.pod()
	c := s.sit(p, limits(60, 0))
	began := time.Now()
	// Notes are three seconds apart.
	require.Eventually(t, func() bool { return time.Since(began) > 700*time.Millisecond }, 20*time.Second, 50*time.Millisecond)
	p.Stop()
	require.GreaterOrEqual(t, s.session(c.session).Clocks.Questions["alarm"].UsedMs, int64(600))
}
