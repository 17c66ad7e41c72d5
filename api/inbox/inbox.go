// Package inbox declares the operations on what visitors leave (spec, Inbox). Joining the
// conversation of a hand-off is package sessions'.
package inbox

import (
	"context"
	_ "embed"
	"errors"
	"net/http"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/sessions/appointment"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/notice"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/memory"
	"visavis.dev/pkg/visits/signin"
)

// examples are bodies of requests, by operation.
//
//go:embed examples.json
var examples []byte

// API is what the operations work with.
type API struct {
	Tenants *tenant.Tenants
	// Gate mails replies.
	Gate *signin.Gate
	// Calendars are those that schedules are kept in; nil for none.
	Calendars *appointment.Keeper
	// Answers are the addresses that visitors answer to by mail, and InboundSecret proves who hands those mails over; nil for none.
	Answers       *mailer.Answers
	InboundSecret []byte
}

const group = "Inbox"

// feature is what a plan must include for items and schedules to be made by the API. Those that
// are there, as those that conversations leave, can be dealt with on every plan.
const feature = "inbox"

// Register declares the operations. The one with a fixed path comes first: it would be an item's
// too.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	read := route.Operation{Group: group, Method: http.MethodGet, Class: "read", Scope: scope.InboxRead}
	summary := read
	summary.ID, summary.Path, summary.Summary = "summarizeInbox", "/inbox/summary", "How many items there are, by kind and state"
	route.Handle(s, summary, a.summary)
	a.registerSchedules(s)
	a.registerRules(s)
	a.registerTeam(s)
	a.registerInbound(s)

	list := read
	list.ID, list.Path, list.Items = "listInboxItems", "/inbox", contract.InboxItemItem
	list.Summary = "What visitors left, newest first unless order=asc"
	list.Description = "What the visitor said, from need to reason, and the summary are shown to a key that holds transcripts:read. " +
		"Who was forgotten is listed too, without anything of them."
	route.List(s, list, a.list)

	get := list
	get.ID, get.Path, get.Summary = "getInboxItem", "/inbox/{id}", "One item, with its notes"
	route.Handle(s, get, a.get)

	create := list
	create.ID, create.Method, create.Class, create.Scope = "createInboxItem", http.MethodPost, "write", scope.InboxWrite
	create.Status, create.Idempotent, create.Feature = http.StatusCreated, true, feature
	create.Errors = []problem.Code{problem.NotFound, problem.Conflict}
	create.Summary = "Enter a lead that you have from elsewhere, or book a time"
	create.Description = "Without leadBand, the band follows from what is known: hot with a way to reach the visitor, a need, and a budget or a timeline; " +
		"warm with a way to reach them and something of the matter; cold otherwise. Of the kind booking, booking names a time that " +
		"GET /schedules/{id}/times offers; the visitor is mailed an invitation to their calendar. Reasons of 409 conflict: slot_not_offered, slot_passed, slot_taken."
	route.Handle(s, create, a.create)

	update := get
	update.ID, update.Method, update.Class, update.Scope = "updateInboxItem", http.MethodPatch, "write", scope.InboxWrite
	update.Errors = []problem.Code{problem.Conflict, problem.VersionConflict}
	update.Summary = "Change an item's state, assignee, urgency, department, tags, band, booking, when it is due, or until when it is put off"
	update.Description = "An item that is new, open, waiting or snoozed can become any of open, waiting, snoozed, done and spam, a lead won and lost as well. " +
		"One that is over becomes open before it is anything else. Another step is 409 conflict with the reason state_transition. " +
		"snoozedUntil puts an item off; when that time comes it is open again. booking moves a booking by startsAt, confirms or cancels it, or notes that nobody came; " +
		"the visitor is mailed what changed. Its reasons of 409 conflict: not_a_booking, booking_state, booking_over, slot_not_offered, slot_passed, slot_taken."
	route.Handle(s, update, a.update)

	note := get
	note.ID, note.Method, note.Path, note.Class, note.Scope = "noteInboxItem", http.MethodPost, "/inbox/{id}/notes", "write", scope.InboxWrite
	note.Status, note.Idempotent, note.Errors = http.StatusCreated, true, []problem.Code{problem.Conflict}
	note.Summary = "Write a note to an item, for your team"
	route.Handle(s, note, a.note)

	reply := note
	reply.ID, reply.Path, reply.Summary = "replyToInboxItem", "/inbox/{id}/reply", "Write to the visitor by mail"
	reply.Since, reply.Errors = contract.V20261001, []problem.Code{problem.Conflict, problem.RateLimited}
	reply.Description = "What you write is sent word for word, and lies among the item's notes with the channel mail; later replies belong to the same thread. Answers go to " +
		"replyTo. Reasons of 409 conflict: no_contact where the visitor left no mail address, no_mail where the deployment sends none, forgotten, too_many_notes. " +
		"At most five mails an hour go to one address."
	route.Handle(s, reply, a.reply)

	forget := get
	forget.ID, forget.Method, forget.Path, forget.Class, forget.Scope = "forgetInboxItem", http.MethodPost, "/inbox/{id}/forget", "write", scope.InboxWrite
	forget.AndScope, forget.Errors = scope.SessionsWrite, []problem.Code{problem.Conflict, problem.OnHold}
	forget.Summary = "Forget the visitor who left an item"
	forget.Description = "What is known of them is deleted for good: their details and words, the notes, everything else that the same conversation left, and " +
		"that conversation's transcript, recording and summary, but a young learner's. That there was an item, when, and its state forgotten, stays. Webhooks receive " +
		"visitor.detail_removed. While the conversation goes on: 409 conflict with the reason session_live."
	route.Handle(s, forget, a.forget)
}

// ItemPath names an item.
type ItemPath struct {
	ID string `path:"id" doc:"The item's id, with or without inb_."`
}

func (p *ItemPath) item() (id.InboxItem, error) {
	return route.Lookup(id.ParseInboxItem, p.ID, string(inbox.Noun))
}

// InboxSummary is how many items there are.
type InboxSummary struct {
	Active   int64       `json:"active" doc:"Items of which something is still to be done: new, open, waiting and snoozed."`
	Overdue  int64       `json:"overdue" doc:"Of those, how many should have been dealt with by now."`
	Leads    InboxCounts `json:"leads" doc:"Leads, by their state."`
	Bookings InboxCounts `json:"bookings" doc:"Bookings, by their state."`
	Handoffs InboxCounts `json:"handoffs" doc:"Hand-offs, by their state."`
}

// InboxCounts are how many items are in each state.
type InboxCounts struct {
	New       int64 `json:"new" doc:"Nobody has looked at them."`
	Open      int64 `json:"open" doc:"Somebody deals with them."`
	Waiting   int64 `json:"waiting" doc:"The visitor is to answer."`
	Snoozed   int64 `json:"snoozed" doc:"They are put off."`
	Won       int64 `json:"won" doc:"The visitor bought or agreed; of leads alone."`
	Lost      int64 `json:"lost" doc:"Nothing came of it; of leads alone."`
	Done      int64 `json:"done" doc:"Nothing more is to be done."`
	Spam      int64 `json:"spam" doc:"Nobody meant it."`
	Forgotten int64 `json:"forgotten" doc:"The visitor was forgotten."`
}

func countsOf(n map[inbox.State]int64) InboxCounts {
	return InboxCounts{
		n[inbox.New], n[inbox.Open], n[inbox.Waiting], n[inbox.Snoozed], n[inbox.Won], n[inbox.Lost], n[inbox.Done], n[inbox.Spam], n[inbox.Forgotten],
	}
}

func (a *API) summary(ctx context.Context, c *route.Call, _ *struct{}) (InboxSummary, error) {
	found, err := inbox.Count(ctx, a.Tenants, c.Org())
	s := InboxSummary{Leads: countsOf(found[inbox.Lead]), Bookings: countsOf(found[inbox.Book]), Handoffs: countsOf(found[inbox.Handoff])}
	for _, of := range found {
		for state, n := range of {
			if state.Active() {
				s.Active += n
			}
		}
	}
	if err != nil {
		return s, err
	}
	s.Overdue, err = inbox.CountOverdue(ctx, a.Tenants, c.Org(), c.Now())
	return s, err
}

func (a *API) get(ctx context.Context, c *route.Call, p *ItemPath) (InboxItem, error) {
	which, err := p.item()
	if err != nil {
		return InboxItem{}, err
	}
	i, err := inbox.Get(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return InboxItem{}, err
	}
	var b beside
	if b.notes, err = inbox.Notes(ctx, a.Tenants, c.Org(), which); err != nil {
		return InboxItem{}, err
	}
	if b.runs, err = inbox.Runs(ctx, a.Tenants, c.Org(), which); err != nil {
		return InboxItem{}, err
	}
	b.tickets, err = notice.TicketsOf(ctx, a.Tenants, c.Org(), which)
	c.SetVersion(i.Edition)
	return showWith(c, i, b), err
}

// shown is an item as it is in a transaction, with its notes.
func shown(ctx context.Context, c *route.Call, tx *tenant.Tx, which id.InboxItem) (InboxItem, error) {
	i, err := inbox.Find(ctx, tx, which)
	if err != nil {
		return InboxItem{}, err
	}
	var b beside
	if b.notes, err = inbox.NotesIn(ctx, tx, which); err != nil {
		return InboxItem{}, err
	}
	if b.runs, err = inbox.RunsIn(ctx, tx, which); err != nil {
		return InboxItem{}, err
	}
	b.tickets, err = notice.Tickets(ctx, tx, which)
	c.SetVersion(i.Edition)
	return showWith(c, i, b), err
}

func (a *API) note(ctx context.Context, c *route.Call, in *NoteInput) (InboxItem, error) {
	which, err := in.item()
	if err != nil {
		return InboxItem{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (InboxItem, error) {
		if _, err := inbox.AddNote(ctx, tx, which, in.Body.Text, c.Actor()); err != nil {
			return InboxItem{}, err
		}
		return shown(ctx, c, tx, which)
	})
}

func (a *API) forget(ctx context.Context, c *route.Call, p *ItemPath) (InboxItem, error) {
	which, err := p.item()
	if err != nil {
		return InboxItem{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (InboxItem, error) {
		i, err := session.ForgetVisitor(ctx, tx, which, c.Actor())
		switch {
		case errors.Is(err, session.ErrLive):
			return InboxItem{}, problem.Conflicting("session_live", "The conversation goes on. End it first, so that nothing is said again.").WithParam("path.id")
		case errors.Is(err, session.ErrHeld):
			return InboxItem{}, problem.New(problem.OnHold, "The conversation that the item came of is on hold.").WithParam("path.id")
		case err != nil:
			return InboxItem{}, err
		}
		if err := forgetMemory(ctx, tx, i); err != nil {
			return InboxItem{}, err
		}
		return shown(ctx, c, tx, which)
	})
}

// forgetMemory deletes what the persona remembers of the conversation that an item came of.
func forgetMemory(ctx context.Context, tx *tenant.Tx, i inbox.Item) error {
	if i.Session.IsZero() {
		return nil
	}
	s, err := session.Lock(ctx, tx, i.Session)
	if errdefs.IsNotFound(err, session.Noun) {
		return nil
	}
	if err != nil {
		return err
	}
	return memory.ForgetSession(ctx, tx, s)
}
