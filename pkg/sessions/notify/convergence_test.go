package notify_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/provider/zendesk/zendesktest"
	"visavis.dev/pkg/sessions/exchange"
	"visavis.dev/pkg/sessions/exchange/exchangetest"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/tenant"
)

// history is what happens at random on both sides, and between them.
type history struct {
	*bench
	*exchangetest.Chance
	s       *zendesktest.Server
	items   []id.InboxItem
	notes   map[id.InboxItem][]string
	replies map[int64][]string
	reading job.Job
	// overlaps counts how often two workers told the same at once.
	overlaps int
}

// TestConvergence has random edits on both sides, processes that end between two steps, secrets that are replaced and a service that fails, before
// something is done or after it: in the end items and tickets are alike, and nothing was written twice.
func TestConvergence(t *testing.T) {
	exchangetest.Histories(t, func(t *testing.T, c *exchangetest.Chance) {
		b, s := newZendesk(t, takesBack)
		h := &history{bench: b, Chance: c, s: s, notes: map[id.InboxItem][]string{}, replies: map[int64][]string{}}
		h.reading = h.reader()
		for range 60 {
			h.clock.Step(time.Second)
			h.happen()
		}
		h.settleAll()
		h.requireAlike()
	})
}

func (h *history) happen() {
	tickets := h.s.Tickets()
	switch h.IntN(12) {
	case 0:
		if len(h.items) < 4 {
			h.items = append(h.items, h.leaves(inbox.Handoff).ID)
		}
	case 1, 2:
		h.edit()
	case 3, 4:
		if len(tickets) > 0 {
			t := exchangetest.Pick(h.Chance, tickets...)
			word := h.Word("Theirs")
			h.replies[t.ID] = append(h.replies[t.ID], word)
			h.s.Reply(t.ID, h.IntN(2) == 0, word)
		}
	case 5:
		if len(tickets) > 0 {
			h.s.Turn(exchangetest.Pick(h.Chance, tickets...).ID, exchangetest.Pick(h.Chance, "open", "pending", "hold", "solved"))
		}
	case 6, 7, 8:
		if queued := h.queued(); len(queued) > 0 {
			h.some(queued)
		}
	case 9, 10:
		commit := h.prepareStep(&h.reading)
		if h.IntN(4) > 0 {
			if h.IntN(5) == 0 {
				h.edit()
			}
			commit()
		}
	case 11:
		h.fail()
	}
}

// edit has the team change an item, or a visitor be forgotten.
func (h *history) edit() {
	if len(h.items) == 0 {
		return
	}
	which := exchangetest.Pick(h.Chance, h.items...)
	i, _ := h.get(which)
	switch {
	case i.ForgottenAt != nil:
	case h.IntN(12) == 0:
		h.forget(which)
	case h.IntN(2) == 0:
		word := h.Word("Ours")
		h.notes[which] = append(h.notes[which], word)
		h.note(which, word)
	case i.State.Active():
		h.change(which, state(exchangetest.Pick(h.Chance, inbox.Open, inbox.Waiting, inbox.Snoozed, inbox.Done)))
	default:
		h.change(which, state(inbox.Open))
	}
}

// some makes the step of one of some jobs, unless the process ends before it commits.
func (h *history) some(queued []job.Job) {
	j := exchangetest.Pick(h.Chance, queued...)
	commit := h.prepare(j)
	switch h.IntN(8) {
	case 0, 1:
		return
	case 2: // another worker thinks that the first one ended
		h.overlaps++
		h.prepare(j)()
		return
	case 3:
		h.edit()
	}
	commit()
}

func (h *history) prepareStep(j *job.Job) func() {
	step, err := h.bench.work.Works[j.Kind].Prepare(h.t.Context(), *j)
	require.NoError(h.t, err)
	return func() {
		h.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := step(ctx, tx, j, h.now())
			return err
		})
	}
}

func (h *history) fail() {
	for range 1 + h.IntN(3) {
		switch h.IntN(6) {
		case 0:
			h.s.Behave(status(http.StatusTooManyRequests, "Retry-After", "2"))
		case 1:
			h.s.Behave(status(http.StatusInternalServerError))
		case 2:
			h.s.Behave(says(http.StatusOK, "<html>"))
		case 3, 4:
			h.s.Behave(h.s.Lose)
		case 5: // the secret is replaced
			h.settle(zendesktest.Token)
		}
	}
}

// settleAll lets everything come to its end.
func (h *history) settleAll() {
	h.s.Calm()
	for range 3 {
		h.clock.Step(4 * time.Hour) // as many answers as there are
		h.tell()
		h.sync(exchange.Order{})
		h.tell()
		h.read()
		h.tell()
	}
	before := len(h.s.Requests())
	require.Zero(h.t, h.sync(exchange.Order{})["taken"])
	for _, r := range h.s.Requests()[before:] {
		require.Equal(h.t, "GET", strings.Fields(r)[0], "nothing is left to be written")
	}
}

func (h *history) requireAlike() {
	require.LessOrEqual(h.t, len(h.s.Idle()), h.overlaps, "something was written twice")
	tickets := map[string]zendesktest.Ticket{}
	for _, t := range h.s.Tickets() {
		require.NotContains(h.t, tickets, t.ExternalID, "a ticket was made twice")
		tickets[t.ExternalID] = t
	}
	for _, which := range h.items {
		i, notes := h.get(which)
		if i.ForgottenAt != nil {
			require.Empty(h.t, notes, "who was forgotten came back")
			continue
		}
		t, made := tickets[which.String()]
		if !made { // it was dealt with before
			require.False(h.t, i.State.Active())
			continue
		}
		h.requireEqual(i, notes, t)
	}
}

func (h *history) requireEqual(i inbox.Item, notes []inbox.Note, t zendesktest.Ticket) {
	h.t.Helper()
	if i.State != inbox.Snoozed {
		require.Contains(h.t, map[inbox.State][]string{
			inbox.New: {"new"}, inbox.Open: {"open"}, inbox.Waiting: {"pending", "hold"}, inbox.Done: {"solved"},
		}[i.State], t.Status)
	}
	var theirs []string
	for _, n := range notes {
		if n.From == h.connection {
			theirs = append(theirs, n.Text)
		}
	}
	require.Equal(h.t, h.replies[t.ID], theirs, "each reply once, in its order")
	all := strings.Join(t.Comments, "\n")
	for _, note := range h.notes[i.ID] {
		if !slices.ContainsFunc(notes, func(n inbox.Note) bool { return n.Text == note }) {
			continue
		}
		require.LessOrEqual(h.t, strings.Count(all, note), 1+h.overlaps, "a note was written twice")
		require.Positive(h.t, strings.Count(all, note), "a note was not written")
	}
	for _, reply := range h.replies[t.ID] {
		require.Equal(h.t, 1, strings.Count(all, reply), "what came from there went back")
	}
}
