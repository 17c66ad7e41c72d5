package screening

import (
	"context"
	"errors"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// mostTries is how often a candidate begins an interview, and mostDaily how often in 24 hours:
// each takes a place of the organization, and adds to the candidate's record.
const (
	mostTries = 100
	mostDaily = 20
)

// alone sees to it that a candidate has one interview at a time. One to which nobody came yet
// makes room; else the error is a conflict, until what came of it is known.
func alone(ctx context.Context, tx *tenant.Tx, c *candidate.Candidate, now time.Time) error {
	v, err := candidate.FindInvite(ctx, tx, c.Invite)
	if err != nil {
		return err
	}
	if v.Good(now) != nil {
		return c.Conflict(candidate.ReasonInviteOver, "The invite has expired or was cancelled.")
	}
	if c.Screening.IsZero() {
		return nil
	}
	if err := rare(ctx, tx, c, now); err != nil {
		return err
	}
	i, err := Find(ctx, tx, c.Screening)
	if err != nil || i.State != InProgress {
		return err
	}
	s, err := session.Lock(ctx, tx, i.Session)
	if err != nil {
		return err
	}
	if s.State != session.Created {
		return c.Conflict(candidate.ReasonInInterview, "An interview is under way.")
	}
	return i.supersede(ctx, tx, c, s.ID, now)
}

// supersede ends an interview to which nobody came.
func (i *Screening) supersede(ctx context.Context, tx *tenant.Tx, c *candidate.Candidate, which id.Session, now time.Time) error {
	s, err := session.End(ctx, tx, which, session.Ending{Reason: session.Superseded, At: now})
	if err != nil {
		return err
	}
	i.State, i.EndedAt = Voided, s.EndedAt
	if err := i.save(ctx, tx); err != nil {
		return err
	}
	return i.close(ctx, tx, c, s, now)
}

// Resend is candidate.Resend, which ends an interview that was begun by the link before: whoever
// came by it is out. One that is cut off by it does not count.
func Resend(ctx context.Context, tx *tenant.Tx, which id.Invite, t candidate.Term, o *mailer.Outbox, who activity.Actor) (candidate.Issued, error) {
	made, err := candidate.Resend(ctx, tx, which, t, o, who)
	if err != nil || made.Candidate.Screening.IsZero() {
		return made, err
	}
	i, err := Find(ctx, tx, made.Candidate.Screening)
	if err != nil || i.State != InProgress {
		return made, err
	}
	s, err := session.Lock(ctx, tx, i.Session)
	switch {
	case errdefs.IsNotFound(err, session.Noun):
		return made, nil
	case err != nil || s.State.Over():
		return made, err
	case s.State == session.Created:
		return made, i.supersede(ctx, tx, &made.Candidate, s.ID, who.At)
	}
	_, err = session.End(ctx, tx, s.ID, session.Ending{Reason: session.Superseded, At: who.At})
	return made, err
}

// close notes with the candidate that an interview is over. It rides screening_by_candidate.
func (i *Screening) close(ctx context.Context, tx *tenant.Tx, c *candidate.Candidate, s session.Session, at time.Time) error {
	e := candidate.Ended{Screening: i.ID, Void: i.State == Voided, Facts: i.facts(s)}
	if e.Void {
		counted, err := tenant.AllIn(ctx, tx, scan, `
			SELECT `+columns+` FROM screening WHERE org_id = $1 AND candidate_id = $2 AND state = 'scored' ORDER BY id DESC LIMIT 1`, tx.Org, c.ID)
		if err != nil {
			return err
		}
		for _, last := range counted {
			e.Counted = last.ID
		}
	}
	return c.End(ctx, tx, e, at)
}

// rare refuses who begins without end. It rides screening_by_candidate.
func rare(ctx context.Context, tx *tenant.Tx, c *candidate.Candidate, now time.Time) error {
	var all, today int64
	if err := tx.QueryRow(ctx, `
		SELECT count(*), count(*) FILTER (WHERE started_at > $3) FROM screening WHERE org_id = $1 AND candidate_id = $2`,
		tx.Org, c.ID, now.AddDate(0, 0, -1)).Scan(&all, &today); err != nil {
		return err
	}
	if all >= mostTries || today >= mostDaily {
		return c.Conflict(candidate.ReasonTooOften, "The interview was begun too often. Try again tomorrow.")
	}
	return nil
}

// End ends a candidate's interview that is under way, because they do not agree to it any more.
func End(ctx context.Context, tx *tenant.Tx, which id.Screening, at time.Time) error {
	i, err := Find(ctx, tx, which)
	if err != nil || i.State != InProgress {
		return err
	}
	_, err = session.End(ctx, tx, i.Session, session.Ending{Reason: session.ConsentWithdrawn, At: at})
	if errdefs.IsNotFound(err, session.Noun) {
		return nil
	}
	return err
}

// silenced is how many interviews are silenced in one transaction.
const silenced = 5

// Silence deletes what a candidate said in their interviews; all deletes their scores too. One
// that is under way ends, alone in its transaction. more says that others are left. It rides
// screening_by_candidate.
func Silence(ctx context.Context, tx *tenant.Tx, c id.Candidate, all bool, at time.Time) (more bool, err error) {
	leave := "scores"
	if all {
		leave = "nothing"
	}
	found, err := tenant.AllIn(ctx, tx, scan, `
		SELECT `+columns+` FROM screening WHERE org_id = $1 AND candidate_id = $2 AND kept NOT IN ('nothing', $3) ORDER BY id LIMIT $4`,
		tx.Org, c, leave, silenced)
	if err != nil {
		return false, err
	}
	for _, i := range found {
		s, err := session.Lock(ctx, tx, i.Session)
		switch {
		case errdefs.IsNotFound(err, session.Noun):
		case err != nil:
			return false, err
		case !s.State.Over():
			_, err := session.End(ctx, tx, s.ID, session.Ending{Reason: session.ConsentWithdrawn, At: at})
			return true, err
		default:
			if err := session.Disown(ctx, tx, s.ID, at); err != nil {
				return false, err
			}
		}
		if err := i.silence(ctx, tx, leave); err != nil {
			return false, err
		}
		if err := record.ForgetOf(ctx, tx, c, SawSignals); err != nil {
			return false, err
		}
	}
	return len(found) == silenced, nil
}

// silence leaves of an interview what is named.
func (i *Screening) silence(ctx context.Context, tx *tenant.Tx, leave string) error {
	i.Integrity = nil
	for n := range i.Criteria {
		i.Criteria[n].Evidence = []string{}
	}
	if leave == "nothing" {
		i.Criteria, i.Knockouts, i.Percent, i.Band = []Criterion{}, []Met{}, nil, nil
	}
	if err := i.save(ctx, tx); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `UPDATE screening SET kept = $3 WHERE org_id = $1 AND id = $2`, tx.Org, i.ID, leave)
	return err
}

// AskForPerson enters that a candidate asked for a person in the interview that a session is, or the
// avatar for them (inbox.ByVisitor, inbox.ByAvatar): as a request for another way than it, of which the hiring team is told. Who has asked already, or is not
// interviewed any more, asks for nothing. It comes before the session is locked, and rides
// screening_by_session.
func AskForPerson(ctx context.Context, tx *tenant.Tx, which id.Session, by string, now time.Time) error {
	i, err := tenant.OneIn(ctx, tx, scan, Noun.NotFound(which), selectOfSession, tx.Org, which)
	if errdefs.IsNotFound(err, Noun) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = candidate.AskInInterview(ctx, tx, i.Candidate, candidate.HumanAlternative, by, now)
	if _, refused := errors.AsType[*errdefs.Conflict](err); refused || errdefs.IsAbsent(err, candidate.Noun) {
		return nil
	}
	return err
}

// Withdraw is candidate.Withdraw, which ends an interview that is under way: nothing of it counts.
func Withdraw(ctx context.Context, tx *tenant.Tx, which id.Candidate, now time.Time) (candidate.Candidate, error) {
	c, err := candidate.Withdraw(ctx, tx, which, now)
	if err != nil || c.Screening.IsZero() {
		return c, err
	}
	return c, End(ctx, tx, c.Screening, now)
}
