package candidate

import (
	"context"
	"errors"
	"slices"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/law"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// soonDay is how long before something is due the hiring team is told again.
const soonDay = 3 * aDay

// tellTeam has each of a role's hiring managers told of a candidate by mail. Whoever cannot come in
// or has no address is left out when it is sent.
func (c *Candidate) tellTeam(ctx context.Context, tx *tenant.Tx, r *role.Role, e mailer.TeamEvent, q id.CandidateRequest, now time.Time) error {
	for _, who := range r.Managers {
		if err := mailer.TellTeam(ctx, tx, mailer.TeamNotice{Event: e, Person: who, Candidate: c.ID, Request: q}, r.Portal, now); err != nil {
			return err
		}
	}
	return nil
}

// watch is when the team is told next of something that is due; nil once it was told that it is
// overdue.
func watch(due, now time.Time) *time.Time {
	for _, at := range []time.Time{due.Add(-soonDay), due} {
		if at.After(now) {
			return &at
		}
	}
	return nil
}

// Team implements mailer.Candidates. What was answered or explained meanwhile is not told, nor who is
// no hiring manager of the role any more.
func (Letters) Team(ctx context.Context, tx *tenant.Tx, n mailer.TeamNotice, _ time.Time) (l mailer.TeamLetter, found bool, err error) {
	c, err := Find(ctx, tx, n.Candidate)
	if errdefs.IsAbsent(err, Noun) {
		return l, false, nil
	}
	if err != nil {
		return l, false, err
	}
	p, err := person.Find(ctx, tx, n.Person)
	if errdefs.IsAbsent(err, person.Noun) || err == nil && (p.Email == nil || p.State == person.Disabled) {
		return l, false, nil
	}
	if err != nil {
		return l, false, err
	}
	r, err := c.FindRole(ctx, tx)
	if err != nil {
		return l, false, err
	}
	if !slices.Contains(r.Managers, n.Person) {
		return l, false, nil
	}
	at, err := portal.Find(ctx, tx, r.Portal)
	if err != nil {
		return l, false, err
	}
	l = mailer.TeamLetter{To: *p.Email, Role: r.Title, From: at.Name}
	if p.Language != nil {
		l.Language = *p.Language
	}
	switch n.Event {
	case mailer.TeamAsked, mailer.TeamDueSoon, mailer.TeamOverdue:
		q, err := FindRequest(ctx, tx, n.Request)
		if errdefs.IsNotFound(err, RequestNoun) || err == nil && q.State != RequestOpen {
			return l, false, nil
		}
		if err != nil {
			return l, false, err
		}
		l.Kind, l.DueAt = string(q.Kind), &q.DueAt
	case mailer.TeamExplainSoon, mailer.TeamExplainOverdue:
		if !c.unexplained() {
			return l, false, nil
		}
		l.DueAt = c.Decision.ExplainBy
	case mailer.TeamWithdrew:
	}
	return l, true, nil
}

// WatchRequests tells the hiring teams of a shard of requests whose answer is due soon or overdue. It
// rides candidate_request_by_watch.
func WatchRequests(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return eachDue(ctx, t, shard, func(ctx context.Context, tx *tenant.Tx, which id.CandidateRequest) error {
		q, err := FindRequest(ctx, tx, which)
		if err != nil {
			return err
		}
		// Whoever changes both locks the candidate first.
		c, err := Lock(ctx, tx, q.Candidate)
		if errdefs.IsAbsent(err, Noun) {
			return q.watch(ctx, tx, nil)
		}
		if err != nil {
			return err
		}
		if q, err = FindRequest(ctx, tx, which); err != nil || q.WatchAt == nil || q.WatchAt.After(now) {
			return err // another worker was faster
		}
		if q.State != RequestOpen {
			return q.watch(ctx, tx, nil)
		}
		r, err := c.FindRole(ctx, tx)
		if err != nil {
			return err
		}
		about := mailer.TeamDueSoon
		if !now.Before(q.DueAt) {
			about = mailer.TeamOverdue
		}
		if err := c.tellTeam(ctx, tx, &r, about, q.ID, now); err != nil {
			return err
		}
		return q.watch(ctx, tx, watch(q.DueAt, now))
	}, `
		SELECT q.org_id, q.id FROM candidate_request q JOIN org_fence f ON f.org_id = q.org_id AND f.state IN ('open', 'capture')
		WHERE q.watch_at <= $1 ORDER BY q.watch_at LIMIT $2`, now)
}

// watch notes when the team is told next.
func (q *Request) watch(ctx context.Context, tx *tenant.Tx, at *time.Time) error {
	q.WatchAt = at
	tx.Touch("candidate_request", q.ID)
	_, err := tx.Exec(ctx, `UPDATE candidate_request SET watch_at = $3 WHERE org_id = $1 AND id = $2`, tx.Org, q.ID, at)
	return err
}

// unexplained says whether a law has a candidate told why they were rejected, and nobody has.
func (c *Candidate) unexplained() bool {
	d := c.Decision
	return d != nil && d.ExplainBy != nil && d.ExplainedAt == nil && d.ReopenedAt == nil
}

// owe notes by when a law has a candidate told why they were rejected.
func (c *Candidate) owe(r *role.Role, now time.Time) {
	c.ExplainAt = nil
	if days := law.ExplainDays(r.Notice.Required); days > 0 && c.Decision.Value == Reject {
		c.Decision.ExplainBy = new(now.AddDate(0, 0, int(days)))
		c.ExplainAt = watch(*c.Decision.ExplainBy, now)
	}
}

// explained notes that a candidate was sent why it was decided so.
func (c *Candidate) explained(at time.Time) { c.Decision.ExplainedAt, c.ExplainAt = &at, nil }

// WatchExplanations tells the hiring teams of a shard of rejections that a law wants explained, and
// that nobody has. It rides candidate_by_explanation.
func WatchExplanations(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return eachDue(ctx, t, shard, func(ctx context.Context, tx *tenant.Tx, which id.Candidate) error {
		c, err := Lock(ctx, tx, which)
		if errdefs.IsAbsent(err, Noun) { // nothing is due of who was erased
			tx.Touch("candidate", which)
			_, err = tx.Exec(ctx, `UPDATE candidate SET explain_at = NULL WHERE org_id = $1 AND id = $2`, tx.Org, which)
			return err
		}
		if err != nil || c.ExplainAt == nil || c.ExplainAt.After(now) {
			return err
		}
		if c.ExplainAt = nil; c.unexplained() {
			r, err := c.FindRole(ctx, tx)
			if err != nil {
				return err
			}
			about, due := mailer.TeamExplainSoon, *c.Decision.ExplainBy
			if !now.Before(due) {
				about = mailer.TeamExplainOverdue
			}
			if err := c.tellTeam(ctx, tx, &r, about, id.CandidateRequest{}, now); err != nil {
				return err
			}
			c.ExplainAt = watch(due, now)
		}
		return c.Save(ctx, tx, now)
	}, `
		SELECT c.org_id, c.id FROM candidate c JOIN org_fence f ON f.org_id = c.org_id AND f.state IN ('open', 'capture')
		WHERE c.explain_at <= $1 ORDER BY c.explain_at LIMIT $2`, now)
}

// Explain mails a candidate why it was decided so, after the decision. The error is
// errdefs.NotFound, errdefs.Gone, an errdefs.Invalid, a conflict or mailer.ErrTooMany.
func Explain(ctx context.Context, tx *tenant.Tx, which id.Candidate, by id.Person, words string, o *mailer.Outbox, who activity.Actor) (Candidate, error) {
	c, err := Lock(ctx, tx, which)
	switch {
	case err != nil:
		return c, err
	case c.Decision == nil:
		return c, c.Conflict(ReasonUndecided, "Nobody has decided yet.")
	case c.Decision.ReopenedAt != nil:
		return c, c.Conflict(ReasonUndecided, "The decision is looked at again: decide first.")
	case c.Email == nil:
		return c, c.Conflict(ReasonNoAddress, "The candidate has no e-mail address.")
	}
	r, err := c.FindRole(ctx, tx)
	if err != nil {
		return c, err
	}
	if err := manager(ctx, tx, &r, by, "explainedBy"); err != nil {
		return c, err
	}
	if err := c.Note(ctx, tx, record.Fact{At: who.At, Actor: who.By, Action: "decision.explained", Words: words, Data: map[string]any{
		"decidedAt": c.Decision.At.UTC(), "explainedBy": by,
	}}); err != nil {
		return c, err
	}
	if err := c.Save(ctx, tx, who.At); err != nil {
		return c, err
	}
	who.Log(tx, "candidate.decision_explained", "candidate", c.ID, map[string]any{"explainedBy": by})
	return c, c.sendDecision(ctx, tx, &r, Verdict{Explanation: words, Outbox: o}, who)
}

// back is where a mail leads a candidate: by another link, where they used theirs. The one that they
// have stays good.
func (c *Candidate) back(ctx context.Context, tx *tenant.Tx, r *role.Role, now time.Time) (mailer.Invited, error) {
	v, err := FindInvite(ctx, tx, c.Invite)
	to := mailer.Invited{Portal: r.Portal, Invite: v.ID, Address: *c.Email}
	if err != nil || v.OpenedAt == nil || v.Good(now) != nil {
		return to, err
	}
	token := NewToken()
	to.Token = string(token)
	return to, v.also(ctx, tx, token, now)
}

// answered mails a candidate the answer to what they asked for. Who has no address reads it on their
// page.
func (c *Candidate) answered(ctx context.Context, tx *tenant.Tx, r *role.Role, q *Request, words string, o *mailer.Outbox, who activity.Actor) error {
	if o == nil || c.Email == nil {
		return nil
	}
	to, err := c.back(ctx, tx, r, who.At)
	if err != nil {
		return err
	}
	m := mailer.Answer{Request: q.ID, Words: words}
	if q.explains(c.Decision, words) {
		m.Explains = &c.Decision.At
	}
	err = o.SendAnswer(ctx, tx, to, m, who)
	if errors.Is(err, mailer.ErrNoAddress) {
		return nil
	}
	return err
}

// explains says whether the words of an answer are the explanation of a decision: of what was asked
// about it, once that is done. What is granted is explained later.
func (q *Request) explains(d *Decision, words string) bool {
	return q.Kind == Explanation && q.State == RequestDone && words != "" && d != nil && !q.CreatedAt.Before(d.At)
}

// Page implements mailer.Candidates.
func (Letters) Page(ctx context.Context, tx *tenant.Tx, which id.Invite, _ time.Time) (mailer.Letter, bool, error) {
	_, c, r, found, err := read(ctx, tx, which)
	if err != nil || !found {
		return mailer.Letter{}, false, err
	}
	return c.letter(&r), true, nil
}

// AnswerSent implements mailer.Candidates.
func (Letters) AnswerSent(ctx context.Context, tx *tenant.Tx, which id.CandidateRequest, explains *time.Time, now time.Time) error {
	q, err := FindRequest(ctx, tx, which)
	if errdefs.IsNotFound(err, RequestNoun) {
		return nil
	}
	if err != nil {
		return err
	}
	c, err := Lock(ctx, tx, q.Candidate)
	if errdefs.IsAbsent(err, Noun) {
		return nil
	}
	if err != nil {
		return err
	}
	explained := explains != nil && c.decidedAt(*explains) // it is another's otherwise
	if explained && c.Decision.ExplainedAt == nil {
		c.explained(now)
	}
	if err := c.Note(ctx, tx, record.Fact{At: now, Actor: byPlatform, Action: "answer.sent", Data: map[string]any{
		"requestId": q.ID, "kind": q.Kind, "explained": explained,
	}}); err != nil {
		return err
	}
	return c.Save(ctx, tx, now)
}
