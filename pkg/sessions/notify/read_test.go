package notify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/event/eventtest"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/zendesk/zendesktest"
	"visavis.dev/pkg/sessions/exchange"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/notice"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

var takesBack = connection.Config{"takesBack": true}

// reader is the job that takes back again and again.
func (b *bench) reader() (j job.Job) {
	b.t.Helper()
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		all, err := tenant.AllIn(ctx, tx, func(row pgx.CollectableRow) (j job.Job, err error) {
			j.Org, j.Progress = b.org, json.RawMessage("{}")
			return j, row.Scan(&j.ID, &j.Kind, &j.Input)
		}, `SELECT id, kind, input FROM job WHERE org_id = $1 AND kind = 'connection_read'`, tx.Org)
		require.Len(b.t, all, 1)
		j = all[0]
		return err
	})
	return j
}

// step makes the next step of a job, without noting it.
func (b *bench) step(j *job.Job) (wait time.Duration) {
	b.t.Helper()
	step, err := b.work.Works[j.Kind].Prepare(context.Background(), *j)
	require.NoError(b.t, err)
	b.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		wait, err = step(ctx, tx, j, b.now())
		return err
	})
	return wait
}

// read makes a pass of the reader.
func (b *bench) read() {
	b.t.Helper()
	b.clock.Step(time.Second)
	for j := b.reader(); b.step(&j) < time.Minute; {
	}
}

// sync makes a pass that somebody asked for, and answers what it counted.
func (b *bench) sync(o exchange.Order) map[string]int64 {
	b.t.Helper()
	b.clock.Step(time.Second)
	o.Connection = b.connection
	var j job.Job
	b.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		j, err = exchange.Begin(ctx, tx, o, b.who())
		return err
	})
	for range 50 {
		b.clock.Step(b.step(&j))
		if j.State.Ended() {
			require.Equal(b.t, job.Succeeded, j.State)
			return j.Counts
		}
	}
	require.Fail(b.t, "the sync does not end")
	return nil
}

func (b *bench) get(which id.InboxItem) (inbox.Item, []inbox.Note) {
	b.t.Helper()
	i, err := inbox.Get(context.Background(), b.tenants, b.org, which)
	require.NoError(b.t, err)
	notes, err := inbox.Notes(context.Background(), b.tenants, b.org, which)
	require.NoError(b.t, err)
	return i, notes
}

// What agents make of a ticket is the item's, once, and is not written back.
func TestWhatBecomesOfATicketIsTakenBack(t *testing.T) {
	b, s := newZendesk(t, takesBack)
	i := b.leaves(inbox.Handoff)
	b.tell()
	b.read()
	before := s.Tickets()[0]
	s.Reply(before.ID, true, "Dear Kim,\n\nyes.\x00")
	s.Turn(before.ID, "pending")
	require.Equal(t, map[string]int64{"taken": 1}, b.sync(exchange.Order{DryRun: true}))
	now, notes := b.get(i.ID)
	require.Empty(t, notes)
	require.Equal(t, inbox.New, now.State)

	b.read()
	b.tell()
	now, notes = b.get(i.ID)
	require.Equal(t, inbox.Waiting, now.State)
	require.NotNil(t, now.FirstReplyAt)
	require.Len(t, notes, 1)
	require.Equal(t, []any{"Dear Kim,\n\nyes.", b.connection.String(), "mail", false, b.connection},
		[]any{notes[0].Text, notes[0].By, *notes[0].Channel, notes[0].Received(), notes[0].From})
	require.Len(t, s.Tickets()[0].Comments, 2, "nothing is written back")
	require.Equal(t, map[string]int64{"unchanged": 1}, b.sync(exchange.Order{}))

	// The visitor answers there, which opens both.
	s.Reply(before.ID, false, "Thank you, Kim")
	s.Turn(before.ID, "open")
	b.read()
	b.tell()
	now, notes = b.get(i.ID)
	require.Equal(t, inbox.Open, now.State)
	require.Len(t, notes, 2)
	require.True(t, notes[1].Received())
	s.Turn(before.ID, "solved")
	b.read()
	b.tell()
	now, _ = b.get(i.ID)
	require.Equal(t, inbox.Done, now.State)
	require.Len(t, s.Tickets()[0].Comments, 3)
	require.Empty(t, s.Idle())

	// What is changed here afterwards is written, and what came from there is not said again with it.
	b.note(i.ID, "Call her")
	b.tell()
	after := s.Tickets()[0]
	require.Len(t, after.Comments, 4)
	require.Equal(t, "solved", after.Status)
	require.NotContains(t, after.Comments[3], "State:")
	require.NotContains(t, after.Comments[3], "Dear Kim")
	b.change(i.ID, state(inbox.Open))
	b.tell()
	require.Equal(t, "open", s.Tickets()[0].Status)
	b.read()
	now, _ = b.get(i.ID)
	require.Equal(t, inbox.Open, now.State)
	require.Empty(t, s.Idle())
	require.NotEmpty(t, eventtest.Log(t, b.tenants, b.org, event.HandoffUpdated))
}

// What became of tickets before takesBack was switched on is not taken, whatever is written to them meanwhile; what becomes of them since is.
func TestTakesBackIsSwitchedOn(t *testing.T) {
	b, s := newZendesk(t, nil)
	i, told := b.leaves(inbox.Handoff), b.leaves(inbox.Handoff)
	b.tell()
	for _, ticket := range s.Tickets() {
		s.Reply(ticket.ID, true, "Marked reply")
		s.Reply(ticket.ID, false, "Marked answer")
	}
	s.Turn(s.Tickets()[0].ID, "open")
	b.change(i.ID, state(inbox.Done))
	b.change(told.ID, state(inbox.Open))
	b.tell()
	s.Turn(s.Tickets()[0].ID, "open")
	b.configure(takesBack)
	b.note(told.ID, "Call her")
	b.tell()
	require.Equal(t, map[string]int64{"unchanged": 2}, b.sync(exchange.Order{DryRun: true}))
	b.read()
	require.Equal(t, map[string]int64{"unchanged": 2}, b.sync(exchange.Order{}))
	now, notes := b.get(i.ID)
	require.Equal(t, inbox.Done, now.State)
	require.Empty(t, notes)
	require.Nil(t, now.FirstReplyAt)
	_, notes = b.get(told.ID)
	require.Len(t, notes, 1)

	s.Reply(s.Tickets()[0].ID, true, "A new reply")
	s.Turn(s.Tickets()[0].ID, "pending")
	b.read()
	now, notes = b.get(i.ID)
	require.Equal(t, inbox.Waiting, now.State)
	require.Len(t, notes, 1)
}

// A ticket whose answer was lost was made before takesBack was switched on where it says nothing else, and after that where it says so.
func TestALostAnswerBeforeTakesBack(t *testing.T) {
	for _, on := range []bool{false, true} {
		b, s := newZendesk(t, connection.Config{"takesBack": on})
		i := b.leaves(inbox.Handoff)
		s.Behave(nil, s.Lose, s.Lose)
		b.prepare(b.queued()[0])() // asks, and gets no answer
		require.Len(t, s.Tickets(), 1)
		s.Calm()
		s.Reply(s.Tickets()[0].ID, true, "Dear Kim")
		b.configure(connection.Config{"takesBack": true, "tags": []any{"website"}}) // both are settled anew
		b.clock.Step(time.Hour)
		b.tell()
		require.Len(t, s.Tickets(), 1)
		b.read()
		b.read()
		_, notes := b.get(i.ID)
		require.Equal(t, on, len(notes) == 1)
		s.Reply(s.Tickets()[0].ID, true, "Once more")
		b.read()
		_, after := b.get(i.ID)
		require.Len(t, after, len(notes)+1)
		require.Equal(t, "Once more", after[len(notes)].Text)
	}
}

// Where both changed the state, the inbox's holds.
func TestConflictingStates(t *testing.T) {
	b, s := newZendesk(t, takesBack)
	i := b.leaves(inbox.Handoff)
	b.tell()
	ticket := s.Tickets()[0].ID
	s.Turn(ticket, "solved")
	b.change(i.ID, state(inbox.Waiting))
	b.read()
	now, _ := b.get(i.ID)
	require.Equal(t, inbox.Waiting, now.State)
	b.tell()
	require.Equal(t, "pending", s.Tickets()[0].Status)
	b.read()
	now, _ = b.get(i.ID)
	require.Equal(t, inbox.Waiting, now.State)
}

// A reading that is lost on its way, or made twice at once, takes everything once.
func TestReadingsTwiceAtOnce(t *testing.T) {
	b, s := newZendesk(t, takesBack)
	i := b.leaves(inbox.Handoff)
	b.tell()
	ticket := s.Tickets()[0].ID
	for n := range 3 {
		s.Reply(ticket, true, fmt.Sprint("Reply ", n))
	}
	prepare := func() func() {
		j := b.reader()
		step, err := b.work.Works[j.Kind].Prepare(t.Context(), j)
		require.NoError(t, err)
		return func() {
			b.inTx(func(ctx context.Context, tx *tenant.Tx) error { _, err := step(ctx, tx, &j, b.now()); return err })
		}
	}
	prepare() // and the process ends
	one, two := prepare(), prepare()
	one()
	two()
	_, notes := b.get(i.ID)
	require.Len(t, notes, 3)
	s.Behave(s.Lose, status(http.StatusTooManyRequests), status(http.StatusBadGateway))
	require.Equal(t, map[string]int64{"unchanged": 1}, b.sync(exchange.Order{}))
}

// What a pass takes while a ticket is written to is not undone by that.
func TestAPassWhileATicketIsWritten(t *testing.T) {
	b, s := newZendesk(t, takesBack)
	i := b.leaves(inbox.Handoff)
	b.tell()
	b.read()
	b.note(i.ID, "Call her")
	telling := b.prepare(b.queued()[0])
	s.Turn(s.Tickets()[0].ID, "solved")
	b.read()
	now, _ := b.get(i.ID)
	require.Equal(t, inbox.Done, now.State)
	telling()
	n, err := notice.Get(t.Context(), b.tenants, b.org, notice.Key{Connection: b.connection, Item: i.ID})
	require.NoError(t, err)
	require.Equal(t, []any{"solved", "done", now.Edition}, []any{n.Known.Status, n.Known.State, n.Known.StateEdition})
	require.NotZero(t, n.Read.Comment)

	// Of another ticket nothing was read.
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		k := n.Known
		k.External = "999"
		return notice.Note(ctx, tx, n, k)
	})
	n, err = notice.Get(t.Context(), b.tenants, b.org, n.Key)
	require.NoError(t, err)
	require.Equal(t, notice.Read{}, n.Read)
}

// Nothing of a visitor comes back who is forgotten, nor of a ticket that says it is another item's, nor of another account's.
func TestWhatIsNotTaken(t *testing.T) {
	b, s := newZendesk(t, takesBack)
	gone, other := b.leaves(inbox.Handoff), b.leaves(inbox.Handoff)
	b.tell()
	tickets := s.Tickets()
	s.Reply(tickets[0].ID, true, "Marked words")
	j := b.reader()
	step, err := b.work.Works[j.Kind].Prepare(t.Context(), j)
	require.NoError(t, err)
	b.forget(gone.ID)
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error { _, err := step(ctx, tx, &j, b.now()); return err })
	_, notes := b.get(gone.ID)
	require.Empty(t, notes)
	b.read()

	s.Behave(says(http.StatusOK, fmt.Sprintf(`{"tickets": [{"id": %d, "external_id": "inb_another", "status": "solved"}, {"id": 999, "external_id": %q, "status": "solved"}]}`,
		tickets[1].ID, other.ID)))
	require.Equal(t, map[string]int64{"skipped": 1}, b.sync(exchange.Order{}))
	now, _ := b.get(other.ID)
	require.Equal(t, inbox.New, now.State)
	s.Remove(tickets[1].ID)
	require.Equal(t, map[string]int64{"gone": 1}, b.sync(exchange.Order{}))
}

// A clock that stands still hides what was written from the readings that go on, and not from one that is asked for.
func TestAHelpdeskThatLiesAboutTime(t *testing.T) {
	b, s := newZendesk(t, takesBack)
	i := b.leaves(inbox.Handoff)
	b.tell()
	b.clock.Step(2 * time.Minute)
	b.read()
	s.Lie()
	ticket := s.Tickets()[0].ID
	s.Reply(ticket, true, strings.Repeat("x", 1<<20))
	s.Turn(ticket, "solved")
	b.read()
	now, notes := b.get(i.ID)
	require.Equal(t, inbox.Done, now.State, "a status is read each time")
	require.Empty(t, notes)
	require.Equal(t, map[string]int64{"taken": 1}, b.sync(exchange.Order{}))
	_, notes = b.get(i.ID)
	require.Len(t, []rune(notes[0].Text), 10_000)
}

// Of more answers than are taken in an hour the rest is taken later, each once.
func TestManyAnswers(t *testing.T) {
	b, s := newZendesk(t, takesBack)
	i := b.leaves(inbox.Handoff)
	b.tell()
	ticket := s.Tickets()[0].ID
	for n := range 25 {
		s.Reply(ticket, false, fmt.Sprint("Answer ", n))
	}
	b.read()
	_, notes := b.get(i.ID)
	require.Len(t, notes, 20)
	b.read()
	b.clock.Step(2 * time.Hour)
	b.read()
	_, notes = b.get(i.ID)
	require.Len(t, notes, 25)
	for n := range notes {
		require.Equal(t, fmt.Sprint("Answer ", n), notes[n].Text)
	}
	for n := range 250 {
		s.Reply(ticket, true, fmt.Sprint("Reply ", n))
	}
	b.read()
	_, notes = b.get(i.ID)
	require.Len(t, notes, 75, "no step takes more")
	for range 5 {
		b.read()
	}
	_, notes = b.get(i.ID)
	require.Len(t, notes, inbox.MaxNotes)
	require.Equal(t, map[string]int64{"unchanged": 1}, b.sync(exchange.Order{}))
}

// Who gives a ticket the status that it had, once the requester answered, means it.
func TestAStatusThatIsGivenAnew(t *testing.T) {
	b, s := newZendesk(t, takesBack)
	i := b.leaves(inbox.Handoff)
	b.tell()
	ticket := s.Tickets()[0].ID
	for _, given := range []struct {
		status string
		state  inbox.State
	}{{"pending", inbox.Waiting}, {"solved", inbox.Done}} {
		status, state := given.status, given.state
		s.Turn(ticket, status)
		b.read()
		s.Reply(ticket, false, "Thank you")
		s.Turn(ticket, "open")
		s.Turn(ticket, status)
		b.read()
		b.tell()
		now, notes := b.get(i.ID)
		require.Equal(t, state, now.State)
		require.True(t, notes[len(notes)-1].Received())
		require.Equal(t, status, s.Tickets()[0].Status)
	}

	// What was answered after the status was read opens it.
	s.Behave(func(w http.ResponseWriter, r *http.Request) {
		says(http.StatusOK, fmt.Sprintf(`{"tickets": [{"id": %d, "external_id": %q, "status": "solved", "requester_id": 9, "updated_at": %q}]}`,
			ticket, i.ID, b.now().Add(-time.Minute).Format(time.RFC3339)))(w, r)
	})
	s.Reply(ticket, false, "One more thing")
	b.read()
	now, _ := b.get(i.ID)
	require.Equal(t, inbox.Open, now.State)
}

// What is spam stays so, whatever becomes of its ticket.
func TestSpamStays(t *testing.T) {
	b, s := newZendesk(t, takesBack)
	i := b.leaves(inbox.Handoff)
	b.tell()
	b.change(i.ID, state(inbox.Spam))
	b.tell()
	ticket := s.Tickets()[0].ID
	s.Reply(ticket, false, "Buy this")
	s.Turn(ticket, "open")
	b.read()
	b.tell()
	now, _ := b.get(i.ID)
	require.Equal(t, inbox.Spam, now.State)
	require.Equal(t, "open", s.Tickets()[0].Status)
	require.Equal(t, map[string]int64{"unchanged": 1}, b.sync(exchange.Order{}))
}

// In a ticket without the visitor nothing is written to them.
func TestATicketOfAnAgent(t *testing.T) {
	b, s := newZendesk(t, takesBack)
	i := b.leaves(inbox.Handoff, func(i *inbox.Item) { i.Contact.Email = nil })
	b.tell()
	require.Nil(t, s.Tickets()[0].Requester)
	s.Reply(s.Tickets()[0].ID, true, "Who takes this?")
	b.read()
	now, notes := b.get(i.ID)
	require.Empty(t, notes)
	require.Nil(t, now.FirstReplyAt)
}

// A ticket that cannot be read stands in no other's way, and is read once it can be.
func TestATicketThatCannotBeRead(t *testing.T) {
	b, s := newZendesk(t, takesBack)
	bad, good := b.leaves(inbox.Handoff), b.leaves(inbox.Handoff)
	b.tell()
	for _, ticket := range s.Tickets() {
		s.Reply(ticket.ID, true, "Yes")
	}
	for _, how := range []http.HandlerFunc{status(http.StatusForbidden), status(http.StatusUnprocessableEntity), says(http.StatusOK, "<html>")} {
		s.Behave(nil, how)
		require.EqualValues(t, 1, b.sync(exchange.Order{})["skipped"])
		_, notes := b.get(good.ID)
		require.Len(t, notes, 1)
		_, notes = b.get(bad.ID)
		require.Empty(t, notes)
	}
	// An answer that is too large is asked for in parts.
	big := says(http.StatusOK, strings.Repeat("x", 5<<20))
	s.Behave(big, nil, nil, big, big)
	require.Equal(t, map[string]int64{"taken": 1, "unchanged": 1}, b.sync(exchange.Order{}))
	s.Behave(big, big, nil)
	require.Equal(t, map[string]int64{"skipped": 1, "unchanged": 1}, b.sync(exchange.Order{}))
	s.Behave(nil, big, big, big, big, big)
	require.Equal(t, map[string]int64{"skipped": 1, "unchanged": 1}, b.sync(exchange.Order{}))
}

// What was written has its own time, which is no later than now.
func TestWhenRepliesWereWritten(t *testing.T) {
	b, s := newZendesk(t, takesBack)
	i := b.leaves(inbox.Handoff)
	b.tell()
	wrote := b.now().Truncate(time.Second)
	s.Reply(s.Tickets()[0].ID, true, "Yes")
	s.Reply(s.Tickets()[0].ID, false, "Thank you")
	s.Set(func(s *zendesktest.Server) { s.Now = func() time.Time { return b.now().Add(time.Hour) } })
	s.Reply(s.Tickets()[0].ID, true, "From tomorrow")
	s.Set(func(s *zendesktest.Server) { s.Now = b.clock.Now })
	b.clock.Step(9 * time.Minute)
	b.read()
	now, notes := b.get(i.ID)
	require.Len(t, notes, 3)
	require.True(t, now.FirstReplyAt.Equal(wrote), now.FirstReplyAt)
	require.True(t, notes[0].At.Equal(wrote) && notes[1].At.Equal(wrote) && notes[2].At.Equal(b.now()))
}

// Words that would be deleted by now are not kept.
func TestOldAnswers(t *testing.T) {
	b, s := newZendesk(t, takesBack)
	i := b.leaves(inbox.Handoff)
	b.tell()
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return setting.Set(ctx, tx, setting.RetentionDays, int64(30), "test", b.now())
	})
	for range 2 {
		s.Reply(s.Tickets()[0].ID, false, "Marked answer")
		b.clock.Step(29 * 24 * time.Hour)
	}
	b.read()
	_, notes := b.get(i.ID)
	require.Len(t, notes, 2)
	require.Empty(t, notes[0].Text)
	require.Equal(t, "Marked answer", notes[1].Text)
}

// A ticket that is read for the first time while it is written to is known from then on.
func TestAFirstReadingWhileATicketIsWritten(t *testing.T) {
	b, s := newZendesk(t, nil)
	i := b.leaves(inbox.Handoff)
	b.tell()
	b.configure(takesBack)
	b.note(i.ID, "Call her")
	telling := b.prepare(b.queued()[0])
	b.read()
	telling()
	s.Turn(s.Tickets()[0].ID, "pending")
	b.read()
	now, _ := b.get(i.ID)
	require.Equal(t, inbox.Waiting, now.State)
}

// What is written by the second at which a ticket was read is read too.
func TestTwoChangesInASecond(t *testing.T) {
	b, s := newZendesk(t, takesBack)
	i := b.leaves(inbox.Handoff)
	b.tell()
	b.clock.Step(time.Minute)
	j := b.reader()
	for _, words := range []string{"One", "Two"} {
		s.Reply(s.Tickets()[0].ID, true, words)
		b.step(&j)
	}
	_, notes := b.get(i.ID)
	require.Len(t, notes, 2)
}

// An account that allows few calls is read through all the same.
func TestAnAccountThatAllowsFewCalls(t *testing.T) {
	b, s := newZendesk(t, takesBack)
	for range 6 {
		b.leaves(inbox.Handoff)
	}
	b.tell()
	var few []http.HandlerFunc
	for range 100 {
		few = append(few, nil, nil, nil, status(http.StatusTooManyRequests))
	}
	s.Behave(few...)
	require.Equal(t, map[string]int64{"unchanged": 6}, b.sync(exchange.Order{}))
}

// An account is asked for so much at once, and then left alone; what is closed is read once.
func TestManyTickets(t *testing.T) {
	b, s := newZendesk(t, takesBack)
	for range 60 {
		b.leaves(inbox.Handoff)
	}
	b.tell()
	b.clock.Step(2 * time.Minute)
	for _, ticket := range s.Tickets() {
		s.Reply(ticket.ID, true, "Yes")
		s.Turn(ticket.ID, "closed")
	}
	b.clock.Step(2 * time.Minute)
	before := len(s.Requests())
	j := b.reader()
	require.Equal(t, 7500*time.Millisecond, b.step(&j))
	require.Len(t, s.Requests()[before:], 1+25)
	b.step(&j)
	require.Equal(t, 10*time.Minute, b.step(&j))
	require.Len(t, s.Requests()[before:], 3+60)
	before = len(s.Requests())
	require.Empty(t, b.sync(exchange.Order{}))
	require.Empty(t, s.Requests()[before:])
}

// A ticket that always has the account fail is tried a few times, holds up none of those behind it, and is read once it can be.
func TestATicketThatAlwaysFails(t *testing.T) {
	for name, failing := range map[string]func(ticket int64) func(r *http.Request) bool{
		"comments": func(ticket int64) func(r *http.Request) bool {
			return func(r *http.Request) bool { return strings.Contains(r.URL.Path, fmt.Sprintf("/%d/comments", ticket)) }
		},
		"standing": func(ticket int64) func(r *http.Request) bool {
			return func(r *http.Request) bool {
				return slices.Contains(strings.Split(r.URL.Query().Get("ids"), ","), fmt.Sprint(ticket)) || strings.Contains(r.URL.Path, fmt.Sprintf("/%d/", ticket))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, s := newZendesk(t, takesBack)
			var items []inbox.Item
			for range 4 {
				items = append(items, b.leaves(inbox.Handoff))
			}
			b.tell()
			b.read()
			b.clock.Step(time.Hour)
			for _, ticket := range s.Tickets() {
				s.Reply(ticket.ID, true, "Dear Kim")
			}
			bad := s.Tickets()[0].ID
			require.Equal(t, items[0].ID.String(), s.Tickets()[0].ExternalID)
			s.Set(func(s *zendesktest.Server) { s.Fails = failing(bad) })

			b.read()
			taken := func() (n []int) {
				for _, i := range items {
					_, notes := b.get(i.ID)
					n = append(n, len(notes))
				}
				return n
			}
			require.Equal(t, []int{0, 1, 1, 1}, taken())
			before := len(s.Requests())
			require.Equal(t, map[string]int64{"unchanged": 3, "failed": 1}, b.sync(exchange.Order{}))
			require.Less(t, len(s.Requests())-before, 12)
			require.Zero(t, b.failures(), "the connection works")
			require.Equal(t, []int{0, 1, 1, 1}, taken())

			s.Set(func(s *zendesktest.Server) { s.Fails = nil })
			b.read()
			require.Equal(t, []int{1, 1, 1, 1}, taken())
			require.Equal(t, map[string]int64{"unchanged": 4}, b.sync(exchange.Order{}))
		})
	}
}

// One that fails alone on the last step of a pass holds nothing up either, and says nothing of the connection.
func TestTheLastTicketThatAlwaysFails(t *testing.T) {
	b, s := newZendesk(t, takesBack)
	for range 26 {
		b.leaves(inbox.Handoff)
	}
	b.tell()
	bad := fmt.Sprint(s.Tickets()[25].ID)
	s.Set(func(s *zendesktest.Server) {
		s.Fails = func(r *http.Request) bool { return slices.Contains(strings.Split(r.URL.Query().Get("ids"), ","), bad) }
	})
	j := b.reader()
	for steps, wait := 0, time.Duration(0); wait < 10*time.Minute; steps++ {
		require.Less(t, steps, 6, "the pass ends")
		wait = b.step(&j)
		b.clock.Step(wait)
	}
	require.Equal(t, map[string]int64{"unchanged": 25, "failed": 1}, b.sync(exchange.Order{}))
	require.Zero(t, b.failures())
}

// An account that asks for patience, or fails while it is read, is not asked of every ticket alone.
func TestHowOftenAnAccountThatFailsIsAsked(t *testing.T) {
	for name, c := range map[string]struct {
		how  http.HandlerFunc
		well int
		most int
	}{
		"away":              {status(http.StatusServiceUnavailable), 0, 1},
		"asks for patience": {status(http.StatusInternalServerError, "Retry-After", "30"), 0, 1},
		"fails":             {status(http.StatusInternalServerError), 0, 12},
		"fails midway":      {status(http.StatusInternalServerError), 4, 16},
	} {
		t.Run(name, func(t *testing.T) {
			b, s := newZendesk(t, takesBack)
			for range 99 {
				b.leaves(inbox.Handoff)
			}
			b.tell()
			big := says(http.StatusOK, strings.Repeat("x", 5<<20))
			if c.well > 0 { // some parts are read first
				s.Behave(big, big, big, big, big, nil, nil)
			}
			s.Behave(slices.Repeat([]http.HandlerFunc{c.how}, 200)...)
			before := len(s.Requests())
			j := b.reader()
			require.Positive(t, b.step(&j))
			require.LessOrEqual(t, len(s.Requests())-before, c.most)
		})
	}
}

// Where every ticket has the account fail, it is the account: its connection fails, and so does the sync.
func TestAnAccountThatFailsForAllTickets(t *testing.T) {
	for _, path := range []string{"/comments", "show_many"} {
		t.Run(path, func(t *testing.T) {
			b, s := newZendesk(t, takesBack)
			for range 9 {
				b.leaves(inbox.Handoff)
			}
			b.tell()
			s.Set(func(s *zendesktest.Server) {
				s.Fails = func(r *http.Request) bool { return strings.Contains(r.URL.Path, path) }
			})
			var j job.Job
			b.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
				j, err = exchange.Begin(ctx, tx, exchange.Order{Connection: b.connection}, b.who())
				return err
			})
			for range 400 {
				b.clock.Step(b.step(&j))
				if j.State.Ended() {
					break
				}
			}
			require.Equal(t, []any{job.Failed, "unavailable"}, []any{j.State, j.ErrorCode})
			require.Positive(t, b.failures())
		})
	}
}
