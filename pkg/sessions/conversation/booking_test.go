package conversation

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/model/modeltest"
	"visavis.dev/pkg/sessions/inbox"
)

// berlin is the zone of the schedule in tests.
var berlin = time.FixedZone("CET", 3600)

// agenda is a diary of a test.
type agenda struct {
	own    *FreeTime
	free   []FreeTime
	fails  error
	booked []time.Time
	left   inbox.Left
}

func (a *agenda) Free(context.Context) (Times, error) { return Times{a.own, a.free, berlin}, nil }

func (a *agenda) Book(_ context.Context, l inbox.Left, at time.Time) error {
	if a.fails != nil {
		return a.fails
	}
	a.booked, a.left = append(a.booked, at), l
	return nil
}

// A model offers what is free, and books what the visitor chose once they said yes to it.
func TestAModelBooksATime(t *testing.T) {
	at := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	const said = "Tuesday 2026-12-01 10:00 CET"
	arguments := `{"startsAt":"` + said + `","email":"kim@example.com"}`
	converse := func(a *agenda, answer, last string) (*talk, *modeltest.Server) {
		a.free = []FreeTime{{at, said}, {at.Add(time.Hour), "Tuesday 2026-12-01 11:00 CET"}}
		if a.own != nil && a.own.Said == said {
			a.free = a.free[1:]
		}
		config, s := served(t, modeltest.InTurn(
			asking("booking", `{}`), modeltest.Stream("I can offer Tuesday at 10:00 or at 11:00."), asking("booking", arguments), modeltest.Stream(last),
		), func(c *Config) {
			tools("booking")(c)
			c.Diary, c.Persona.Knowledge.Mode = a, "open"
		})
		return hold(t, config, nil, "I would like a tour.", "Tuesday at ten, I am at kim@example.com.", answer), s
	}
	a := &agenda{}
	k, s := converse(a, "Yes.", "You are booked.")
	require.Equal(t, []time.Time{at}, a.booked, k.said())
	require.Equal(t, []any{inbox.Book, "kim@example.com"}, []any{a.left.Kind, *a.left.Contact.Email})
	require.NotNil(t, a.left.Contact.Consent, "they agreed to be contacted")
	require.Contains(t, k.turns[4].Text+k.turns[3].Text, "10:00", "it was read back")
	require.Contains(t, k.used(), "booking completed")
	asked := s.Requests()
	require.Contains(t, asked[1].Messages[len(asked[1].Messages)-1].Content, said)

	a = &agenda{}
	converse(a, "No.", "")
	require.Empty(t, a.booked)

	told := func(a *agenda) string {
		_, s := converse(a, "Yes.", "Well.")
		asked := s.Requests()
		return asked[len(asked)-1].Messages[len(asked[len(asked)-1].Messages)-1].Content
	}
	require.Contains(t, told(&agenda{fails: ErrTaken}), "just been taken. Nothing is booked.")
	require.Contains(t, told(&agenda{fails: errors.New("no answer")}), "not known whether the time is booked")
	before := &FreeTime{at.Add(-time.Hour), "Tuesday 2026-12-01 09:00 CET"}
	require.Contains(t, told(&agenda{fails: ErrTaken, own: before}), "just been taken. The person has booked Tuesday 2026-12-01 09:00 CET")

	// What they have already is booked again without harm, though it is not free.
	a = &agenda{own: &FreeTime{at, said}}
	require.Contains(t, told(a), "Booked: "+said)
	require.Equal(t, []time.Time{at}, a.booked)
}
