package candidate

import (
	"context"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Reply is how a person answers a request.
type Reply struct {
	State RequestState
	By    id.Person
	// Answer is what the candidate reads; empty for nothing.
	Answer string
	// Outbox mails the answer; nil where the deployment sends no mail.
	Outbox *mailer.Outbox
	// Check is called with the request before it is changed; nil for no check.
	Check func(Request) error
}

// Answer answers a request: it grants, declines or ends it, or ends what was granted. A retake that
// is granted can be held; after an appeal that is granted people decide once more; an erasure that is done erases the candidate. The error is
// errdefs.NotFound, errdefs.Gone, an errdefs.Invalid, ErrOnHold or a conflict.
func Answer(ctx context.Context, tx *tenant.Tx, which id.CandidateRequest, a Reply, who activity.Actor) (Request, error) {
	q, err := FindRequest(ctx, tx, which)
	if err != nil {
		return q, err
	}
	// Whoever changes both locks the candidate first.
	c, err := Lock(ctx, tx, q.Candidate)
	if err != nil {
		return q, err
	}
	if q, err = FindRequest(ctx, tx, which); err != nil {
		return q, err
	}
	if a.Check != nil {
		if err := a.Check(q); err != nil {
			return q, err
		}
	}
	r, err := c.FindRole(ctx, tx)
	if err != nil {
		return q, err
	}
	if err := q.takes(a); err != nil {
		return q, err
	}
	if err := manager(ctx, tx, &r, a.By, "decidedBy"); err != nil {
		return q, err
	}
	return q, c.reply(ctx, tx, &r, &q, a, who)
}

// takes says whether a request can be answered so. The error is an errdefs.Invalid or a conflict.
func (q *Request) takes(a Reply) error {
	over := q.State == RequestDeclined || q.State == RequestDone
	switch {
	case over, a.State == q.State, q.State == RequestGranted && a.State != RequestDone:
		return &errdefs.Conflict{Noun: RequestNoun, ID: q.ID.String(), Reason: ReasonRequestState, Message: "The request is " + string(q.State) + " already."}
	case q.Kind == Erasing && a.State == RequestGranted:
		return errdefs.InvalidField("state", "is done or declined of an erasure")
	case a.State == RequestDeclined && a.Answer == "":
		return errdefs.InvalidField("answer", "says why, where a request is declined")
	}
	return nil
}

// reply writes the answer, and does what it says.
func (c *Candidate) reply(ctx context.Context, tx *tenant.Tx, r *role.Role, q *Request, a Reply, who activity.Actor) error {
	agreed := q.State == RequestOpen && a.State != RequestDeclined
	if agreed && q.Kind == Retake {
		if err := c.retakable(r); err != nil {
			return err
		}
		c.Extra++
	}
	q.State, q.DecidedBy, q.DecidedAt, q.UpdatedAt, q.Edition = a.State, a.By, &who.At, who.At, q.Edition+1
	if a.Answer != "" {
		q.Answer = &a.Answer
	}
	tx.Touch("candidate_request", q.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE candidate_request SET state = $3, answer = $4, decided_by = $5, decided_at = $6, edition = $7, updated_at = $6, watch_at = NULL
		WHERE org_id = $1 AND id = $2`, tx.Org, q.ID, q.State, q.Answer, q.DecidedBy, who.At, q.Edition); err != nil {
		return err
	}
	if agreed && q.Kind == Appeal {
		if err := c.reconsider(ctx, tx, r, q, who); err != nil {
			return err
		}
	}
	if err := c.Note(ctx, tx, record.Fact{At: who.At, Actor: who.By, Action: AnsweredRequest, Words: a.Answer, Data: map[string]any{
		"requestId": q.ID, "kind": q.Kind, "state": q.State, "decidedBy": q.DecidedBy,
	}}); err != nil {
		return err
	}
	if err := c.Save(ctx, tx, who.At); err != nil {
		return err
	}
	who.Log(tx, "candidate.request_answered", "candidate", c.ID, map[string]any{"requestId": q.ID, "kind": q.Kind, "state": q.State, "decidedBy": q.DecidedBy})
	if !agreed || q.Kind != Erasing {
		return c.answered(ctx, tx, r, q, a.Answer, a.Outbox, who)
	}
	if _, err := Erase(ctx, tx, c.ID, OnRequest, who); err != nil {
		return err
	}
	left, err := FindRequest(ctx, tx, q.ID) // its words are gone with the candidate's
	*q = left
	return err
}
