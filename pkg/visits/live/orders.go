package live

import (
	"context"
	"errors"
	"time"

	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/session"
)

// order carries out what the API asked for. An order is handed on once; it stays
// listed until it was carried out.
func (r *room) order(c session.Command) {
	if r.over || r.ordered[c.ID] {
		return
	}
	r.ordered[c.ID] = true
	switch c.Kind {
	case session.SayIt:
		// Its turn, once kept, takes the order off the list; so it does when the
		// user is to have said something.
		if !c.Record {
			r.consents.private.Store(c.ID, true)
		}
		r.talk.Say(conversation.Say{
			ID: c.ID, Text: c.Text, Language: c.Language, Interrupt: c.Interrupt, Interruptible: c.Interruptible, Record: c.Record,
		})
	case session.RespondTo:
		r.talk.Respond(c.ID, c.Text)
	case session.SteerIt:
		r.steer(c)
	case session.Finish:
		r.finish(c)
	case session.Over:
		r.sayEnd(c.Reason)
		r.server.forget(context.Background(), session.Ordered{Org: r.org, Session: r.session.ID, Command: c})
	}
}

func (r *room) steer(c session.Command) {
	if c.MaxDurationS != nil {
		r.time.longest, r.time.warned = r.time.started.Add(time.Duration(*c.MaxDurationS)*time.Second), false
	}
	if c.Listening != nil {
		r.consents.quiet.Store(!*c.Listening)
	}
	steer := conversation.Steer{
		Context: c.Context, Instructions: c.Instructions, Listening: c.Listening, Mute: c.Mute, Interrupt: c.Interrupt,
		Goal: c.Goal, Variables: c.Variables,
		Obeyed: func() {
			var quiet <-chan struct{}
			if c.Listening != nil && r.hearing != nil {
				quiet = r.hearing.listens(*c.Listening)
			}
			r.carriedOut(c, quiet)
		},
	}
	if c.Language != "" {
		steer.Language = &c.Language
	}
	r.talk.Steer(steer)
}

// finish says a last message; the room ends with the conversation, or after a
// while in any case.
func (r *room) finish(c session.Command) {
	r.why.Store(&c.Reason)
	r.talk.Finish(c.Text)
	go func() {
		select {
		case <-r.ended:
		case <-time.After(finishWithin):
			r.do(func() { r.end(c.Reason, r.server.now()) })
		}
	}()
}

// finishWithin is how long a last message may take.
const finishWithin = 12 * time.Second

// carriedOut takes an order off the list, once all of it is done: when done is closed,
// where it is not nil. When that fails, it is carried out once more at worst, by the
// session's next process.
func (r *room) carriedOut(c session.Command, done <-chan struct{}) {
	go func() {
		if done != nil {
			<-done
		}
		ctx, cancel := context.WithTimeout(context.Background(), endWithin)
		defer cancel()
		if err := session.CarriedOut(ctx, r.server.Tenants, r.org, r.session.ID, c.ID); err != nil && !errors.Is(err, context.Canceled) {
			r.server.Log.WarnContext(ctx, "an order stays listed", "session", r.session.ID.String(), "error", err)
		}
	}()
}
