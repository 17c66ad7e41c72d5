package candidate

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/hiring/demographics"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// manager refuses whoever may not review and decide: a hiring manager of the role may, who is
// not switched off. field names them.
func manager(ctx context.Context, tx *tenant.Tx, r *role.Role, who id.Person, field string) error {
	if !slices.Contains(r.Managers, who) {
		return errdefs.InvalidField(field, "is no hiring manager of the role")
	}
	p, err := person.Find(ctx, tx, who)
	if errdefs.IsAbsent(err, person.Noun) || err == nil && (p.State == person.Erased || p.State == person.Disabled) {
		return errdefs.InvalidField(field, "is nobody who can come in")
	}
	return err
}

// Review notes that a person has read a candidate's interview, which releases its scorecard. The
// error is errdefs.NotFound, errdefs.Gone, an errdefs.Invalid or a conflict.
func Review(ctx context.Context, tx *tenant.Tx, which id.Candidate, by id.Person, who activity.Actor) (Candidate, error) {
	c, err := Lock(ctx, tx, which)
	if err != nil {
		return c, err
	}
	switch {
	case c.State == InProgress:
		return c, c.Conflict(ReasonInInterview, "The interview is not over.")
	case c.ScreenedAt == nil:
		return c, c.Conflict(ReasonNotScreened, "There is no interview to review.")
	case c.ReviewedAt != nil:
		return c, c.Conflict(ReasonReviewed, "The interview was reviewed already.")
	}
	r, err := c.FindRole(ctx, tx)
	if err != nil {
		return c, err
	}
	if err := manager(ctx, tx, &r, by, "reviewerId"); err != nil {
		return c, err
	}
	c.ReviewedAt, c.Reviewer = &who.At, by
	if c.State == Screened {
		c.State = Reviewed
	}
	if err := c.Note(ctx, tx, record.Fact{At: who.At, Actor: who.By, Action: "candidate.reviewed", Data: map[string]any{
		"reviewerId": by, "screeningId": c.Screening,
	}}); err != nil {
		return c, err
	}
	if err := c.Save(ctx, tx, who.At); err != nil {
		return c, err
	}
	if err := role.Count(ctx, tx, c.Role, role.Counts{Reviewed: 1}); err != nil {
		return c, err
	}
	c.Tell(tx, event.CandidateReviewed, who.At, map[string]any{"screeningId": c.Screening, "reviewerId": by, "reviewedAt": who.At.UTC()})
	who.Log(tx, "candidate.reviewed", "candidate", c.ID, map[string]any{"reviewerId": by})
	return c, nil
}

// Verdict is what a person decides.
type Verdict struct {
	Value      Value
	By         id.Person
	ReasonCode string
	// Note stays with the organization.
	Note *string
	// Explanation is sent to the candidate with the decision; Outbox is nil where nothing is.
	Explanation string
	Outbox      *mailer.Outbox
}

// Decide records a person's decision. No interview is decided on that no person has read. The
// error is errdefs.NotFound, errdefs.Gone, an errdefs.Invalid or a conflict.
func Decide(ctx context.Context, tx *tenant.Tx, which id.Candidate, d Verdict, who activity.Actor) (Candidate, error) {
	c, err := Lock(ctx, tx, which)
	if err != nil {
		return c, err
	}
	if err := c.decidable(d.Value); err != nil {
		return c, err
	}
	r, err := c.FindRole(ctx, tx)
	if err != nil {
		return c, err
	}
	if err := manager(ctx, tx, &r, d.By, "decidedBy"); err != nil {
		return c, err
	}
	if d.Outbox != nil && c.Email == nil {
		return c, c.Conflict(ReasonNoAddress, "The candidate has no e-mail address.")
	}
	return c, c.decide(ctx, tx, &r, d, who)
}

// decidable says whether a decision can be made now. The error is a conflict.
func (c *Candidate) decidable(v Value) error {
	switch {
	case c.State == InProgress:
		return c.Conflict(ReasonInInterview, "The interview is not over.")
	case c.State == Withdrawn:
		return c.Conflict(ReasonWithdrawn, "The candidate has withdrawn.")
	case c.decided(), c.Decision != nil && c.Decision.ReopenedAt == nil && c.Decision.Value == v:
		return c.Conflict(ReasonDecided, "It was decided already: "+string(c.Decision.Value)+".")
	case c.ScreenedAt != nil && c.ReviewedAt == nil && v != Drop:
		return c.Conflict(ReasonNotReviewed, "A person has to review the interview first: POST /candidates/{id}/review.")
	}
	return nil
}

// stages are where a candidate is after a decision.
var stages = map[Value]Stage{Advance: AtInterview, Reject: AtEnd, Hire: AtOffer, Drop: AtEnd}

// counted is what a decision is in a role's figures.
func counted(v Value, n int64) (c role.Counts) {
	switch v {
	case Advance:
		c.Advanced = n
	case Reject:
		c.Rejected = n
	case Hire:
		c.Hired = n
	case Wait, Drop:
	}
	return c
}

func (c *Candidate) decide(ctx context.Context, tx *tenant.Tx, r *role.Role, d Verdict, who activity.Actor) error {
	var (
		previous *Value
		appeal   *id.CandidateRequest
	)
	if c.Decision != nil {
		previous, appeal = &c.Decision.Value, c.Decision.Appeal.OrNil()
		if err := role.Count(ctx, tx, c.Role, counted(*previous, -1)); err != nil {
			return err
		}
	}
	if err := role.Count(ctx, tx, c.Role, counted(d.Value, 1)); err != nil {
		return err
	}
	// Where there was no interview, the person decided without any machine's help.
	reviewed, hidden := c.ReviewedAt != nil || c.ScreenedAt == nil, c.Hidden(r)
	c.Decision = &Decision{Value: d.Value, By: d.By, At: who.At, ReasonCode: d.ReasonCode, Reviewed: reviewed, From: c.Stage}
	c.DecisionNote, c.State = d.Note, Decided
	c.owe(r, who.At)
	if stage, ok := stages[d.Value]; ok {
		c.Stage = stage
	}
	c.keep(r, who.At)
	if err := c.settle(ctx, tx, r, previous, who.At); err != nil {
		return err
	}
	words := d.Explanation
	if d.Note != nil {
		words = *d.Note + "\n" + words
	}
	facts := map[string]any{
		"decision": d.Value, "decidedBy": d.By, "reasonCode": d.ReasonCode, "humanReviewed": reviewed, "previousDecision": previous, "notify": d.Outbox != nil,
	}
	if appeal != nil {
		facts["appeal"] = appeal // what it looks at again stays in the entry before
	}
	if err := c.Note(ctx, tx, record.Fact{At: who.At, Actor: who.By, Action: "candidate.decided", Words: words, Data: facts}); err != nil {
		return err
	}
	if d.Value.Final() {
		// A mail about the interview alone would tell what nobody wants to tell them yet.
		if err := c.cancelAll(ctx, tx, byDecision, who.By, d.Outbox != nil, who.At); err != nil {
			return err
		}
	}
	if hidden && !c.Hidden(r) {
		if err := c.reveal(ctx, tx, who.At); err != nil {
			return err
		}
	}
	if err := c.Save(ctx, tx, who.At); err != nil {
		return err
	}
	c.Tell(tx, event.CandidateDecided, who.At, map[string]any{
		"decision": d.Value, "decidedBy": d.By, "decidedAt": who.At.UTC(), "humanReviewed": reviewed, "reasonCode": d.ReasonCode, "previousDecision": previous,
	})
	who.Log(tx, "candidate.decided", "candidate", c.ID, map[string]any{"decision": d.Value, "decidedBy": d.By})
	if d.Outbox == nil {
		return nil
	}
	return c.sendDecision(ctx, tx, r, d, who)
}

// reveal has the calendars of interviews that are ahead say who comes.
func (c *Candidate) reveal(ctx context.Context, tx *tenant.Tx, now time.Time) error {
	all, err := tenant.AllIn(ctx, tx, scanHuman, selectHumanOf, tx.Org, c.ID, maxHuman)
	if err != nil {
		return err
	}
	for _, h := range all {
		if h.State != InterviewBooked {
			continue
		}
		if err := slot.Changed(ctx, tx, uuid.UUID(h.ID), now); err != nil {
			return err
		}
	}
	return nil
}

// reconsider has people decide once more, whose final decision a candidate appealed against: they
// stand as they did before it. The decision stays on record, and with the candidate until there is
// another.
func (c *Candidate) reconsider(ctx context.Context, tx *tenant.Tx, r *role.Role, q *Request, who activity.Actor) error {
	if !c.decided() {
		return nil
	}
	c.Decision.ReopenedAt, c.Decision.Appeal, c.ExplainAt = &who.At, q.ID, nil
	if c.State == Decided {
		c.State = c.before()
	}
	if c.Stage = c.Decision.From; c.Stage == "" {
		c.Stage = AtScreening
	}
	c.keep(r, who.At)
	return c.Note(ctx, tx, record.Fact{At: who.At, Actor: who.By, Action: "decision.reopened", Data: map[string]any{
		"requestId": q.ID, "decision": c.Decision.Value, "decidedAt": c.Decision.At.UTC(), "decidedBy": c.Decision.By, "reopenedBy": q.DecidedBy,
	}})
}

// before is where a candidate stands who is not decided on.
func (c *Candidate) before() State {
	switch {
	case c.ReviewedAt != nil:
		return Reviewed
	case c.ScreenedAt != nil:
		return Screened
	case c.Notice == nil:
		return Invited
	}
	return Opened
}

// settle notes when it is first decided whether to go on with a candidate: for the bias audit that
// is the selection, whatever comes later. Who was not interviewed is not counted; who was advanced
// before their interview is selected once they are decided on after it.
func (c *Candidate) settle(ctx context.Context, tx *tenant.Tx, r *role.Role, previous *Value, at time.Time) error {
	v := c.Decision.Value
	if c.SettledAt != nil || c.ScreenedAt == nil || v == Wait || v == Drop {
		return nil
	}
	c.SettledAt, c.Selected = &at, v != Reject || previous != nil && *previous == Advance
	return demographics.Settle(ctx, tx, r, at)
}

// sendDecision mails the last decision.
func (c *Candidate) sendDecision(ctx context.Context, tx *tenant.Tx, r *role.Role, d Verdict, who activity.Actor) error {
	to, err := c.back(ctx, tx, r, who.At)
	if err != nil {
		return err
	}
	return d.Outbox.SendDecision(ctx, tx, to, mailer.Decision{At: c.Decision.At, Why: d.Explanation}, who)
}
