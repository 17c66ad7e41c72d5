package notify_test

import (
	"context"
	"crypto/x509"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/zendesk/zendesktest"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/notice"
	"visavis.dev/pkg/store/tenant"
)

func guardOf(allow []netip.Prefix, roots *x509.CertPool) *egress.Guard {
	return egress.New(egress.Options{Allow: allow, RootCAs: roots})
}

// A hand-off is one ticket, which follows what becomes of it: state, notes and what the visitor adds, each once.
func TestAHandoffIsOneTicket(t *testing.T) {
	b, s := newZendesk(t, connection.Config{"tags": []any{"web"}, "groupId": float64(7), "itemUrl": page})
	b.leaves(inbox.Lead)
	i := b.leaves(inbox.Handoff, func(i *inbox.Item) { i.Words.Reason = new("The pump leaks") })
	b.tell()
	require.Len(t, s.Tickets(), 1)
	k := s.Tickets()[0]
	require.Equal(t, i.ID.String(), k.ExternalID)
	require.Equal(t, "A visitor asks for a person: Kim Lee", k.Subject)
	require.Equal(t, struct{ Name, Email string }{"Kim Lee", "kim@example.com"}, *k.Requester)
	require.Equal(t, []string{"visavis", "visavis_handoff", "web"}, k.Tags)
	require.Equal(t, []any{"normal", int64(7), 0}, []any{k.Priority, k.Group, k.Public})
	require.Len(t, k.Comments, 1)
	require.NotContains(t, k.Comments[0], "pump")
	require.Contains(t, k.Comments[0], "https://people.example.com/inbox/"+i.ID.String())
	tickets, err := notice.TicketsOf(t.Context(), b.tenants, b.org, i.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"101", s.URL}, []string{tickets[0].Known.External, tickets[0].Known.Account})

	b.note(i.ID, "Call after ten")
	b.tell()
	b.change(i.ID, state(inbox.Waiting))
	b.tell()
	b.change(i.ID, func(i *inbox.Item) { i.Urgency = inbox.HighUrgency }) // nothing that a ticket is told
	b.tell()
	b.change(i.ID, state(inbox.Done))
	b.note(i.ID, "Fixed")
	b.tell()
	k = s.Tickets()[0]
	require.Len(t, k.Comments, 4)
	require.Contains(t, k.Comments[1], "Note: Call after ten")
	require.Contains(t, k.Comments[2], "State: waiting")
	require.Contains(t, k.Comments[3], "State: done")
	require.Contains(t, k.Comments[3], "Note: Fixed")
	require.NotContains(t, k.Comments[3], "ten")
	require.Equal(t, []any{"solved", 0}, []any{k.Status, k.Public})
	require.Empty(t, b.untold())
	require.Empty(t, b.queued())
}

// Many notes are several comments, as one is bounded.
func TestManyNotes(t *testing.T) {
	b, s := newZendesk(t, nil)
	i := b.leaves(inbox.Handoff)
	for range 20 {
		b.note(i.ID, strings.Repeat("x", 4000))
	}
	b.tell()
	require.Len(t, s.Tickets()[0].Comments, 4)
	for _, c := range s.Tickets()[0].Comments {
		require.Less(t, len(c), 60_000)
	}
	b.note(i.ID, "Last")
	b.tell()
	require.Len(t, s.Tickets()[0].Comments, 5)
}

// What agents do in the helpdesk is not undone by a change that is no other state.
func TestAgentsKeepTheirStatus(t *testing.T) {
	b, s := newZendesk(t, nil)
	i := b.leaves(inbox.Handoff)
	b.change(i.ID, state(inbox.Open))
	b.tell()
	require.Equal(t, "open", s.Tickets()[0].Status)
	s.Set(func(*zendesktest.Server) {})
	b.change(i.ID, state(inbox.Waiting))
	b.tell()
	require.Equal(t, "pending", s.Tickets()[0].Status)
	b.note(i.ID, "A note")
	b.tell()
	require.Equal(t, "pending", s.Tickets()[0].Status)
}

// Words go along where they may.
func TestTheWordsOfATicket(t *testing.T) {
	b, s := newZendesk(t, connection.Config{"includeConversation": true})
	b.leaves(inbox.Handoff, func(i *inbox.Item) { i.Words.Reason = new("The pump leaks") })
	b.tell()
	require.Contains(t, s.Tickets()[0].Comments[0], "Reason: The pump leaks")
	b.told = false
	b.leaves(inbox.Handoff, func(i *inbox.Item) { i.Words.Reason = new("The pump leaks") })
	b.tell()
	require.NotContains(t, s.Tickets()[1].Comments[0], "pump")
}

// What a visitor answers by mail goes along where words may, and not a mail's whole length of it.
func TestTheAnswersOfATicket(t *testing.T) {
	for name, told := range map[string]bool{"told": true, "held back": false} {
		t.Run(name, func(t *testing.T) {
			b, s := newZendesk(t, connection.Config{"includeConversation": true})
			i := b.leaves(inbox.Handoff)
			b.tell()
			b.told = told
			b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
				_, err := inbox.Receive(ctx, tx, i.ID, inbox.Received{MessageID: "1@mx.example.com", Text: "The pump leaks" + strings.Repeat(" more", 1900), At: b.now()})
				return err
			})
			b.tell()
			all := strings.Join(s.Tickets()[0].Comments, "\n")
			require.Equal(t, told, strings.Contains(all, "The visitor answered: The pump leaks"), all)
			require.Equal(t, !told, strings.Contains(all, "The visitor answered by mail."), all)
			require.Less(t, strings.Count(all, " more"), 500)
		})
	}
}

// However a process ends, and whatever answer is lost, there is one ticket.
func TestATicketIsMadeOnce(t *testing.T) {
	for name, cut := range map[string]func(b *bench, s *zendesktest.Server){
		"a kill before the commit": func(b *bench, _ *zendesktest.Server) { b.prepare(b.queued()[0]) },
		"a lost answer":            func(b *bench, s *zendesktest.Server) { s.Behave(nil, s.Lose, s.Lose); b.tell() },
		"a lost answer, and a key that is forgotten": func(b *bench, s *zendesktest.Server) {
			s.Behave(nil, s.Lose, s.Lose) // a client repeats it once
			b.tell()
			s.ForgetKeys()
			b.clock.Step(3 * time.Hour)
		},
		"two workers": func(b *bench, _ *zendesktest.Server) {
			j := b.queued()[0]
			first, second := b.prepare(j), b.prepare(j)
			first()
			second()
		},
		"another change meanwhile": func(b *bench, s *zendesktest.Server) {
			s.Behave(nil, s.Lose, s.Lose) // a client repeats it once
			b.tell()
			all, err := notice.Untold(context.Background(), b.tenants, b.org, b.connection)
			require.NoError(b.t, err)
			b.change(all[0].Item, func(i *inbox.Item) { i.Urgency = inbox.HighUrgency })
			s.Behave(says(http.StatusOK, `{"tickets":[]}`)) // not to be found yet
			b.clock.Step(time.Minute)
			b.tell()
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, s := newZendesk(t, nil)
			i := b.leaves(inbox.Handoff)
			cut(b, s)
			b.tellFor(2 * time.Hour)
			require.Len(t, s.Tickets(), 1)
			require.Len(t, s.Tickets()[0].Comments, 1)
			require.Empty(t, b.untold())
			b.note(i.ID, "More")
			b.tell()
			require.Len(t, s.Tickets()[0].Comments, 2)
		})
	}
}

// A comment is written once, also where its answer is lost and more was to be written meanwhile.
func TestACommentIsWrittenOnce(t *testing.T) {
	b, s := newZendesk(t, nil)
	i := b.leaves(inbox.Handoff)
	b.tell()
	b.change(i.ID, state(inbox.Open))
	b.note(i.ID, "First")
	s.Behave(nil, s.Lose)
	b.tell()
	require.Len(t, s.Tickets()[0].Comments, 2)
	b.note(i.ID, "Second")
	b.tellFor(time.Hour)
	comments := s.Tickets()[0].Comments
	require.Len(t, comments, 3)
	require.Contains(t, comments[2], "Second")
	require.NotContains(t, comments[2], "First")
	require.NotContains(t, comments[2], "State")
	j := b.queued()
	require.Empty(t, j)
	b.note(i.ID, "Third")
	b.prepare(b.queued()[0]) // killed before the commit
	b.tellFor(time.Hour)
	require.Len(t, s.Tickets()[0].Comments, 4)
}

// A ticket that another connection made is adopted.
func TestATicketThatIsThereIsAdopted(t *testing.T) {
	b, s := newZendesk(t, nil)
	i := b.leaves(inbox.Handoff)
	was := s.Put(zendesktest.Ticket{ExternalID: i.ID.String(), Comments: []string{"Before"}})
	s.Put(zendesktest.Ticket{ExternalID: "inb_another"})
	b.tell()
	require.Len(t, s.Tickets(), 2)
	b.change(i.ID, state(inbox.Open))
	b.tell()
	require.EqualValues(t, 101, was)
	require.Equal(t, "open", s.Tickets()[0].Status)
}

// What changed before an adopted ticket is told there.
func TestAnAdoptedTicketFollows(t *testing.T) {
	b, s := newZendesk(t, nil)
	i := b.leaves(inbox.Handoff)
	s.Behave(nil, s.Lose, s.Lose) // a client repeats it once
	b.tell()
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return inbox.Capture(ctx, tx, inbox.Origin{Session: i.Session, Channel: "video", Language: "en"},
			inbox.Left{Kind: inbox.Handoff, Contact: inbox.Contact{Phone: new("+4930123456")}, RequestedBy: inbox.ByVisitor}, b.now())
	})
	b.tellFor(time.Hour)
	comments := s.Tickets()[0].Comments
	require.Len(t, comments, 2)
	require.NotContains(t, comments[0], "+4930123456")
	require.Contains(t, comments[1], "+4930123456")
}

// A ticket that was solved by a change whose answer is lost is opened where the item is open again, also where the
// process ended.
func TestAnItemThatIsOpenAgain(t *testing.T) {
	for name, cut := range map[string]func(b *bench, s *zendesktest.Server){
		"a lost answer":            func(b *bench, s *zendesktest.Server) { s.Behave(nil, s.Lose, s.Lose); b.tell() },
		"a kill before the commit": func(b *bench, _ *zendesktest.Server) { b.prepare(b.queued()[0]) },
	} {
		t.Run(name, func(t *testing.T) {
			b, s := newZendesk(t, nil)
			i := b.leaves(inbox.Handoff)
			b.change(i.ID, state(inbox.Open))
			b.tell()
			b.change(i.ID, state(inbox.Done))
			cut(b, s)
			require.Equal(t, "solved", s.Tickets()[0].Status)
			b.change(i.ID, state(inbox.Open))
			b.tellFor(time.Hour)
			require.Equal(t, "open", s.Tickets()[0].Status)
			require.Contains(t, s.Tickets()[0].Comments[3], "State: open")
			require.Empty(t, b.untold())
		})
	}
}

// Words are text, whatever they look like.
func TestWordsAreNoMarkup(t *testing.T) {
	b, s := newZendesk(t, connection.Config{"includeConversation": true})
	i := b.leaves(inbox.Handoff, func(i *inbox.Item) {
		i.Words.Reason = new("![x](https://evil.example/p.png) <img src=x>\n[click](https://evil.example)")
	})
	b.tell()
	b.note(i.ID, "<b>bold</b>")
	b.tell()
	k := s.Tickets()[0]
	require.Contains(t, k.HTML[0], "![x](https://evil.example/p.png) &lt;img src=x&gt;<br>[click](https://evil.example)")
	require.Contains(t, k.HTML[1], "&lt;b&gt;bold&lt;/b&gt;")
}

// A connection whose tickets are refused fails, and one whose tickets fail does not seem to work by what it finds.
func TestTicketsThatAreNotMade(t *testing.T) {
	b, s := newZendesk(t, connection.Config{"groupId": float64(zendesktest.NoGroup)})
	for range 3 {
		b.leaves(inbox.Handoff)
	}
	b.tell()
	require.Empty(t, s.Tickets())
	require.Equal(t, 1, b.failures())

	c, away := newZendesk(t, nil)
	for range 40 {
		away.Behave(nil, status(http.StatusServiceUnavailable))
	}
	c.leaves(inbox.Handoff)
	resumes := 0
	for range 120 {
		c.clock.Step(time.Second)
		for _, j := range c.queued() {
			if j.Kind == job.ConnectionResume {
				resumes++
			}
			c.prepare(j)()
			c.report.Flush(t.Context())
		}
	}
	require.Zero(t, resumes)
	require.Less(t, len(away.Requests()), 20)
	require.Equal(t, 1, c.failures())
}

// Long comments are bounded in bytes.
func TestLongNotes(t *testing.T) {
	b, s := newZendesk(t, connection.Config{"includeConversation": true})
	wide := strings.Repeat("語<", 4000)
	i := b.leaves(inbox.Handoff, func(i *inbox.Item) {
		for range 30 {
			i.Words.Answers = append(i.Words.Answers, inbox.Answer{Question: wide, Answer: wide})
		}
	})
	for range 10 {
		b.note(i.ID, strings.Repeat("語", 4000)+"!")
	}
	b.tell()
	require.Len(t, s.Tickets(), 1)
	require.Empty(t, b.untold())
	all := strings.Join(s.Tickets()[0].Comments, "\n")
	require.Equal(t, 10, strings.Count(all, "!"))
	for _, c := range s.Tickets()[0].HTML {
		require.LessOrEqual(t, len(c), 60_000)
	}
}

// A secret that is not taken fails the connection, and what is to be told is told once it is taken again, by itself or by another one.
func TestASecretThatIsNotTaken(t *testing.T) {
	b, s := newZendesk(t, nil)
	s.Set(func(s *zendesktest.Server) { s.Revoked = true })
	for range 3 {
		b.leaves(inbox.Handoff)
	}
	b.tell()
	require.Equal(t, 1, b.failures())
	b.tellFor(6 * time.Hour)
	require.Empty(t, s.Tickets())
	s.Set(func(s *zendesktest.Server) { s.Revoked = false })
	b.leaves(inbox.Handoff) // is told at once, and those that wait with it
	b.tell()
	require.Len(t, s.Tickets(), 1)
	b.report.Flush(t.Context())
	b.tell()
	require.Len(t, s.Tickets(), 4)

	s.Set(func(s *zendesktest.Server) { s.Revoked = true })
	b.leaves(inbox.Handoff)
	b.tellFor(time.Hour)
	s.Set(func(s *zendesktest.Server) { s.Revoked = false })
	b.settle(zendesktest.Token)
	b.tell()
	require.Len(t, s.Tickets(), 5)
}

func TestAnOAuthToken(t *testing.T) {
	s := zendesktest.Start()
	t.Cleanup(s.Close)
	b := newBench(t, s.Guard())
	b.connect(connection.Helpdesk, connection.Zendesk, connection.Config{"baseUrl": s.URL, "tells": []any{"lead"}}, zendesktest.OAuth)
	b.leaves(inbox.Lead)
	b.leaves(inbox.Handoff)
	b.tell()
	require.Len(t, s.Tickets(), 1)
	require.Equal(t, "New lead: Kim Lee", s.Tickets()[0].Subject)
}

// Who is answered in time has no ticket.
func TestUnanswered(t *testing.T) {
	b, s := newZendesk(t, connection.Config{"unansweredAfterM": float64(30)})
	answered := b.leaves(inbox.Handoff)
	b.leaves(inbox.Handoff)
	b.tell()
	b.change(answered.ID, state(inbox.Open))
	b.clock.Step(29 * time.Minute)
	b.tell()
	require.Empty(t, s.Tickets())
	b.clock.Step(2 * time.Minute)
	b.tell()
	require.Len(t, s.Tickets(), 1)
	require.Empty(t, b.untold())
	b.change(answered.ID, state(inbox.Done))
	b.tell()
	require.Len(t, s.Tickets(), 1)
	require.Empty(t, b.queued())
}

// What an account does not take of a ticket is left out: an address, or a status.
func TestWhatAnAccountRefuses(t *testing.T) {
	b, s := newZendesk(t, nil)
	i := b.leaves(inbox.Handoff, func(i *inbox.Item) { i.Contact.Email = new("invalid@example.com") })
	b.tell()
	require.Len(t, s.Tickets(), 1)
	require.Nil(t, s.Tickets()[0].Requester)
	require.Contains(t, s.Tickets()[0].Comments[0], "invalid@example.com")
	s.Set(func(s *zendesktest.Server) { s.Assigned = false })
	b.change(i.ID, state(inbox.Done))
	b.tell()
	require.Contains(t, s.Tickets()[0].Comments[1], "State: done")
	require.Equal(t, "new", s.Tickets()[0].Status)
	require.Zero(t, b.failures())
	require.Empty(t, b.untold())
}

// A ticket that was deleted there stays so, and one that is closed takes nothing more.
func TestTicketsThatAreGone(t *testing.T) {
	b, s := newZendesk(t, nil)
	i := b.leaves(inbox.Handoff)
	b.tell()
	s.Remove(101)
	b.note(i.ID, "More")
	b.tell()
	require.Empty(t, s.Tickets())
	require.Empty(t, b.untold())

	closed := b.leaves(inbox.Handoff)
	b.tell()
	s.Behave(nil, status(http.StatusUnprocessableEntity))
	b.note(closed.ID, "More")
	b.tell()
	require.Equal(t, []string{"rejected"}, b.untold())
	require.Zero(t, b.failures())
}

// Nothing is told of who is forgotten, and what is known of their ticket goes.
func TestAForgottenVisitor(t *testing.T) {
	b, s := newZendesk(t, nil)
	i := b.leaves(inbox.Handoff)
	b.tell()
	b.note(i.ID, "Secret")
	b.forget(i.ID)
	b.tell()
	require.Len(t, s.Tickets()[0].Comments, 1)
	tickets, err := notice.TicketsOf(t.Context(), b.tenants, b.org, i.ID)
	require.NoError(t, err)
	require.Empty(t, tickets)
	require.Empty(t, b.queued())

	// Who is forgotten during the call has nothing kept of them.
	gone := b.leaves(inbox.Handoff)
	commit := b.prepare(b.queued()[0])
	b.forget(gone.ID)
	commit()
	tickets, err = notice.TicketsOf(t.Context(), b.tenants, b.org, gone.ID)
	require.NoError(t, err)
	require.Empty(t, tickets)
	require.Empty(t, b.queued())
}

func TestHostileAccounts(t *testing.T) {
	b, s := newZendesk(t, nil)
	s.Behave(
		says(http.StatusOK, "<html>"), says(http.StatusOK, `{"tickets":null}`), says(http.StatusOK, `{"tickets":[`+strings.Repeat(" ", 5<<20)+`]}`),
		status(http.StatusFound, "Location", "https://10.0.0.1/"), status(http.StatusTooManyRequests, "Retry-After", "45"), status(http.StatusServiceUnavailable),
		nil, says(http.StatusCreated, `{"ticket":{"id":0}}`))
	b.leaves(inbox.Handoff)
	b.tellFor(6 * time.Hour)
	require.Len(t, s.Tickets(), 1)
	require.Empty(t, b.untold())
	require.Len(t, s.Tickets()[0].Comments, 1)
}

// Where the connection goes to another account, what the first one has is left alone.
func TestAnotherAccount(t *testing.T) {
	b, s := newZendesk(t, nil)
	i := b.leaves(inbox.Handoff)
	b.tell()
	other := zendesktest.Start()
	t.Cleanup(other.Close)
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE inbox_notice SET account = 'https://other.zendesk.com' WHERE org_id = $1`, tx.Org)
		return err
	})
	s.Set(func(*zendesktest.Server) {})
	b.change(i.ID, state(inbox.Done))
	b.tell()
	require.Len(t, s.Tickets()[0].Comments, 1, "what is over makes no ticket elsewhere")
}

// A deleted connection leaves nothing behind.
func TestADeletedConnection(t *testing.T) {
	b, _ := newZendesk(t, nil)
	i := b.leaves(inbox.Handoff)
	b.tell()
	b.note(i.ID, "More")
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		if err := connection.Delete(ctx, tx, b.connection, id.Connection{}, b.who()); err != nil {
			return err
		}
		return notice.ForgetConnection(ctx, tx, b.connection)
	})
	b.tell()
	require.Empty(t, b.queued())
	n, err := notice.Sweep(t.Context(), b.tenants, "a")
	require.NoError(t, err)
	require.Zero(t, n)
}
