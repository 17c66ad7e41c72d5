package session

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/idempotency"
	"visavis.dev/pkg/store/tenant"
)

// Found is what a conversation found out.
type Found struct {
	// Values are by the names of the goals' outputs, and Outcome is what came of the session so
	// far; empty for nothing yet.
	Values  map[string]string
	Outcome string
	// Left is what the visitor left for the inbox.
	Left []inbox.Left
	// Clocks are how the time of the questions stands; nil where nothing has a limit.
	Clocks *Clocks
}

// leave keeps what the visitor left. Those who try a persona out are nobody's visitors. Nobody is contacted of those who practice, who are assessed
// or interviewed, or whose conversation nobody may read because they are young: of these a hand-off
// says only that somebody is needed. zero says that no words are kept.
func (s Session) leave(ctx context.Context, tx *tenant.Tx, l inbox.Left, zero bool, now time.Time) error {
	if s.leavesNothing() {
		return nil
	}
	came := s.Brief.Came
	if s.hidesContact() {
		if l.Kind != inbox.Handoff {
			return nil
		}
		l.Contact, came = inbox.Contact{}, inbox.Source{}
	}
	if zero || s.Withheld != nil {
		l.Words = inbox.Words{}
	} else {
		l.Words = s.blotLeft(l.Words)
	}
	c := &l.Contact
	for _, text := range []**string{&c.Name, &c.Email, &c.Phone, &c.Company, &c.JobTitle} {
		if *text != nil {
			*text = new(storable(**text))
		}
	}
	return inbox.Capture(ctx, tx, inbox.Origin{
		Session: s.ID, Portal: s.Portal, Widget: s.Widget, Persona: s.Persona, Channel: s.Channel, Language: s.Language,
		Source: came,
	}, l, now)
}

// Reachable says whether how somebody is reached is kept of the session, where they tell it.
func (s Session) Reachable() bool { return !s.leavesNothing() && !s.hidesContact() }

func (s Session) leavesNothing() bool {
	return s.Sandbox || slices.Contains([]string{Practice, Assessment, Screening}, s.Kind)
}

func (s Session) hidesContact() bool { return s.Withheld != nil && *s.Withheld != ZeroRetention }

// blotLeft removes of what the visitor said what is not to be kept, as it is removed from turns.
func (s Session) blotLeft(w inbox.Words) inbox.Words {
	rules := redactionOf(s.Brief.Redact)
	blot := func(text string) string { return rules.blot(storable(text)) }
	for _, text := range []**string{&w.Need, &w.Budget, &w.Timeline, &w.Reason} {
		if *text != nil {
			*text = new(blot(**text))
		}
	}
	w.Answers = slices.Clone(w.Answers)
	for i, a := range w.Answers {
		w.Answers[i] = inbox.Answer{Question: storable(a.Question), Answer: blot(a.Answer)}
	}
	return w
}

// SpokenOf says for the inbox whether a session's words may be sent, and how it is summed up.
func SpokenOf(t *tenant.Tenants) inbox.Spoken {
	return func(ctx context.Context, org id.Org, which id.Session) (bool, *string, error) {
		s, err := Get(ctx, t, org, which)
		if gone(err) {
			return false, nil, nil
		}
		return err == nil && s.WordsTold(), s.Summary, err
	}
}

// The errors of ForgetVisitor, besides errdefs.NotFound.
var (
	// ErrLive says that the conversation goes on: what is forgotten of it could be said again.
	ErrLive = errors.New("the conversation goes on")
	// ErrHeld says that the conversation must be kept as it is.
	ErrHeld = errors.New("the conversation is on hold")
)

// ForgetVisitor removes what is known of the visitor who left an item: the details and words of
// everything that their conversation left, the conversation's own words, and what the organization
// noted of both. A job removes it from answers that are kept to be repeated (Forgetter). The error is
// errdefs.NotFound, ErrLive or ErrHeld. Who is forgotten already is answered as they are.
func ForgetVisitor(ctx context.Context, tx *tenant.Tx, which id.InboxItem, who activity.Actor) (inbox.Item, error) {
	i, err := inbox.Find(ctx, tx, which)
	if err != nil || i.ForgottenAt != nil {
		return i, err
	}
	// The conversation comes first: whoever runs it holds its row before its items'.
	words := !i.Session.IsZero()
	if words {
		s, err := Lock(ctx, tx, i.Session)
		switch {
		case gone(err):
			i.Session, words = id.Session{}, false
		case err != nil:
			return i, err
		case !s.State.Over():
			return i, ErrLive
		case s.OnHold:
			return i, ErrHeld
		}
		words = words && !s.ofLearner()
	}
	r := inbox.Removal{Trigger: inbox.ByTeam, By: who.By, At: who.At}
	items, err := inbox.OfSession(ctx, tx, i)
	if err != nil {
		return i, err
	}
	if err := inbox.Forget(ctx, tx, items, r); err != nil {
		return i, err
	}
	if words {
		if err := disown(ctx, tx, i.Session, r); err != nil {
			return i, err
		}
	}
	of := Forgetting{Session: i.Session}
	for _, one := range items {
		of.Items = append(of.Items, one.ID)
		who.Log(tx, "inbox_item.forgotten", "inbox_item", one.ID, nil)
	}
	if err := of.insert(ctx, tx, who); err != nil {
		return i, err
	}
	return inbox.Find(ctx, tx, which)
}

// ofLearner says whether a session is a young learner's, whose words are deleted as they are
// kept: by nobody who only sees to the inbox.
func (s Session) ofLearner() bool { return s.Withheld != nil && *s.Withheld == LearnerConversation }

// insert queues the job.
func (f Forgetting) insert(ctx context.Context, tx *tenant.Tx, who activity.Actor) error {
	_, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.InboxForget, ResourceKind: "inbox_item", ResourceID: f.Items[0].String(), Scope: scope.InboxRead,
		CreatedBy: who.By, CreatedAt: who.At,
	}, f)
	return err
}

// Forgetting is the input of a job that removes a visitor from answers and events.
type Forgetting struct {
	Items   []id.InboxItem `json:"items"`
	Session id.Session     `json:"session"`
}

// ForgetStep is the next step of such a job. Each is repeated without harm.
func ForgetStep(ctx context.Context, tx *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
	var (
		of Forgetting
		at idempotency.Place
	)
	if err := errors.Join(json.Unmarshal(j.Input, &of), json.Unmarshal(j.Progress, &at)); err != nil {
		return 0, err
	}
	var ids []string
	for _, i := range of.Items {
		ids = append(ids, i.Bare())
	}
	if !of.Session.IsZero() {
		ids = append(ids, of.Session.Bare())
	}
	next, err := idempotency.Erase(ctx, tx, ids, at)
	if err != nil {
		return 0, err
	}
	if next != nil {
		j.Progress, err = json.Marshal(next)
		return 0, err
	}
	if !of.Session.IsZero() {
		if err := event.EraseExternalIDs(ctx, tx, id.Person{}, []id.Session{of.Session}); err != nil {
			return 0, err
		}
	}
	j.State = job.Succeeded
	return 0, nil
}
