package knowledge_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/tenant"
)

var persona = id.NewPersona()

// ask notes a question and answers how many events tell of it.
func (w *world) ask(text string, words bool, changes ...func(*knowledge.Question)) (told int) {
	w.t.Helper()
	q := knowledge.Question{Persona: persona, Session: id.NewSession(), Language: "en", Text: text, At: w.now()}
	for _, change := range changes {
		change(&q)
	}
	require.NoError(w.t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := knowledge.RecordGap(ctx, tx, q, words)
		told = len(event.Emitted(tx))
		return err
	}))
	return told
}

func (w *world) gaps() []knowledge.Gap {
	w.t.Helper()
	gaps, err := knowledge.ListGaps(context.Background(), w.tenants, w.one, knowledge.GapFilter{}, id.Gap{}, 100)
	require.NoError(w.t, err)
	return gaps
}

func TestQuestionsThatMeanTheSameAreOneGap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, 1, w.ask("Do you sell gift cards?", true))
	for _, text := range []string{"do you SELL gift cards", "Gift cards, do you sell them?", "gift card selling", "Do you sell gift cards?"} {
		require.Zero(t, w.ask(text, true), text)
	}
	gaps := w.gaps()
	require.LessOrEqual(t, len(gaps), 2)
	first := gaps[len(gaps)-1]
	require.GreaterOrEqual(t, first.Questions, int64(4))
	require.Equal(t, "Do you sell gift cards?", first.Samples[0])
	require.Equal(t, 1, w.ask("Where can I park?", true), "another question is another gap")
	require.Equal(t, 1, w.ask("Where can I park?", true, func(q *knowledge.Question) { q.Persona = id.NewPersona() }), "and so is another persona's")
}

func TestAGapIsToldOfOnceADay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const text = "Where can I park?"
	require.Equal(t, 1, w.ask(text, true))
	w.clock.Step(24*time.Hour - time.Microsecond)
	require.Zero(t, w.ask(text, true))
	w.clock.Step(time.Microsecond)
	require.Equal(t, 1, w.ask(text, true))
	w.clock.Step(time.Hour)
	require.Zero(t, w.ask(text, true))
	require.Equal(t, []event.Type{event.KnowledgeGap, event.KnowledgeGap}, w.told())
	require.Contains(t, string(w.events()[1].Structure), `"questionCount": 3`)

	set := func(state knowledge.GapState) {
		require.NoError(t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			g, err := knowledge.LockGap(ctx, tx, w.gaps()[0].ID)
			if err != nil {
				return err
			}
			g.State, g.UpdatedAt = state, w.now()
			return knowledge.UpdateGap(ctx, tx, g, nil, w.who())
		}))
	}
	set(knowledge.GapAnswered)
	w.clock.Step(24 * time.Hour)
	require.Equal(t, 1, w.ask(text, true))
	require.Equal(t, knowledge.GapOpen, w.gaps()[0].State, "it opens again")
	set(knowledge.GapDismissed)
	w.clock.Step(24 * time.Hour)
	require.Zero(t, w.ask(text, true))
	require.Equal(t, knowledge.GapDismissed, w.gaps()[0].State)
}

func TestWordsOfQuestions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask("Where can I park?", false)
	require.Empty(t, w.gaps()[0].Samples, "no words are kept")
	session := id.NewSession()
	w.ask("where can i PARK", true, func(q *knowledge.Question) { q.Withheld = true })
	for i := range 8 {
		w.ask(fmt.Sprint("Where can I park", "?!."[i%3:], " "), true, func(q *knowledge.Question) { q.Session = session })
	}
	g := w.gaps()[0]
	require.EqualValues(t, 10, g.Questions)
	require.LessOrEqual(t, len(g.Samples), 5)
	source := knowledge.Questions(w.tenants)
	events := w.events()
	tell := func(words bool) event.Detail {
		detail, err := source(context.Background(), events[0], words)
		require.NoError(t, err)
		return detail
	}
	require.NotContains(t, tell(true).Fields["questions"], "where can i PARK", "withheld words never leave")
	require.Len(t, tell(true).Fields["questions"], len(g.Samples)-1)
	require.Empty(t, tell(false).Fields)
	require.NoError(t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error { return knowledge.ForgetQuestions(ctx, tx, session) }))
	require.Equal(t, []string{"where can i PARK"}, w.gaps()[0].Samples)
	require.Empty(t, tell(true).Fields)

	gone, err := source(context.Background(), event.Event{Org: w.two, Structure: events[0].Structure}, true)
	require.NoError(t, err)
	require.Equal(t, event.Gone, gone.Standing)
}

func TestGapsUnderContention(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.EqualValues(t, 1, atOnce(t, 8, func(int) (bool, error) { return w.ask("Where can I park?", true) == 1, nil }))
	gaps := w.gaps()
	require.Len(t, gaps, 1)
	require.EqualValues(t, 8, gaps[0].Questions)
	require.Len(t, gaps[0].Samples, 1)
}
