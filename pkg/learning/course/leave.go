package course

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/tenant"
)

const (
	// rememberedFor is how long those who left count as part of a class of which too many leave.
	rememberedFor = 30 * 24 * time.Hour
	// leavingAtOnce is how many leave in one commit.
	leavingAtOnce = 50
)

// counts are those of a class: who is in it by lists, whom the last one left out, and who left a while ago; and of those
// the learners.
type counts struct{ There, Missing, Gone, Learners, MissingLearners int64 }

// believable says whether a list is: one that leaves out all learners, or together with those before it more than a
// quarter of the class, and more than one, may well be a fault of the platform.
func (n counts) believable() bool {
	return n.Missing == 0 || (n.Learners == 0 || n.MissingLearners < n.Learners) && n.Missing < n.There && n.Missing+n.Gone <= max(1, (n.There+n.Gone)/4)
}

// leaving is the step after the last page: who is not in the list leaves the class, a few at a time, where the list is to
// be believed. Then the reading has come to its end.
func (r *Reader) leaving(c *Course, o *connection.Opened, at progress) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		at := at // a transaction can be made again
		e := enrolling{opened: o, by: person.Author{By: c.Connection.String(), At: now}}
		switch err := e.hold(ctx, tx, c.ID, at.Reading); {
		case overtakes(err):
			return again(c)(ctx, tx, j, now)
		case closed(err):
			return stopped(c, o, PortalClosed)(ctx, tx, j, now)
		case err != nil:
			return 0, err
		}
		kept := int64(0)
		if !at.Counted {
			n, err := e.course.count(ctx, tx, now)
			if err != nil {
				return 0, err
			}
			if !n.believable() && !e.course.Confirmed {
				kept = n.Missing
			}
			at.Counted = true
		}
		if kept == 0 {
			left, err := e.remove(ctx, tx)
			if err != nil {
				return 0, err
			}
			if at.Left += left; left == leavingAtOnce {
				j.Progress, err = json.Marshal(at)
				return 0, err
			}
		}
		return e.finish(ctx, tx, j, at, kept)
	}
}

// count counts who is in a class. Those whom the organization took out of it or put into it itself do not count. It rides
// course_member_pkey.
func (c *Course) count(ctx context.Context, tx *tenant.Tx, now time.Time) (n counts, err error) {
	err = tx.QueryRow(ctx, `
		SELECT count(*) FILTER (WHERE there), count(*) FILTER (WHERE there AND missing), count(*) FILTER (WHERE gone),
			count(*) FILTER (WHERE there AND learns), count(*) FILTER (WHERE there AND learns AND missing)
		FROM (
			SELECT m.left_at IS NULL AND p.removed_at IS NULL AS there, m.reading < $3 AS missing, m.left_at IS NOT NULL AND m.left_at > $4 AS gone,
				p.role = 'learner' AS learns
			FROM course_member m JOIN membership p ON p.org_id = m.org_id AND p.id = m.membership_id
			WHERE m.org_id = $1 AND m.course_id = $2 AND m.reading < $5) AS m`,
		tx.Org, c.ID, c.Reading, now.Add(-rememberedFor), int64(ofOrganization)).Scan(&n.There, &n.Missing, &n.Gone, &n.Learners, &n.MissingLearners)
	return n, err
}

// remove takes the places of some whom the last list left out, and answers how many it looked at. Their results stay.
func (e *enrolling) remove(ctx context.Context, tx *tenant.Tx) (int, error) {
	missing, err := tenant.AllIn(ctx, tx, pgx.RowToStructByPos[member], `
		SELECT `+memberColumns+` FROM course_member
		WHERE org_id = $1 AND course_id = $2 AND left_at IS NULL AND reading < $3 ORDER BY person_id LIMIT $4`, tx.Org, e.course.ID, e.course.Reading, leavingAtOnce)
	if err != nil {
		return 0, err
	}
	for _, m := range missing {
		if err := e.removeOne(ctx, tx, m); err != nil {
			return 0, err
		}
	}
	return len(missing), nil
}

// removeOne takes a place, unless it is gone already, or is more by now than a list gave.
func (e *enrolling) removeOne(ctx context.Context, tx *tenant.Tx, m member) error {
	place, err := person.LockMembership(ctx, tx, m.Membership)
	absent := errdefs.IsAbsent(err, person.MembershipNoun) || errdefs.IsAbsent(err, person.Noun)
	if err != nil && !absent {
		return err
	}
	tx.Touch("course_member", e.course.ID, m.Person)
	if absent || place.Unit != e.course.Unit || place.Role != person.Learner && place.Role != person.Teacher {
		// It is the organization's business: nothing here goes on with it.
		_, err := tx.Exec(ctx, `UPDATE course_member SET reading = $4 WHERE org_id = $1 AND course_id = $2 AND person_id = $3`, tx.Org, e.course.ID, m.Person, e.course.Reading)
		return err
	}
	if err := person.Leave(ctx, tx, place, e.by.Unlogged()); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE course_member SET left_at = $4 WHERE org_id = $1 AND course_id = $2 AND person_id = $3`, tx.Org, e.course.ID, m.Person, e.by.At)
	return err
}

// finish notes that a reading came to its end, and what came of it.
func (e *enrolling) finish(ctx context.Context, tx *tenant.Tx, j *job.Job, at progress, kept int64) (time.Duration, error) {
	trouble, due := at.Trouble, e.by.At.Add(Every)
	if kept > 0 {
		trouble = ListShrank
	}
	if _, err := tx.Exec(ctx, `
		UPDATE course SET read_at = $3, due_at = $4, failures = 0, trouble = $5, kept = $6, confirmed = false WHERE org_id = $1 AND id = $2`,
		tx.Org, e.course.ID, e.by.At, due, trouble, kept); err != nil {
		return 0, err
	}
	if at.Added+at.Left > 0 || kept > 0 && kept != e.course.Kept {
		e.course.log(tx, e.by, at, kept)
	}
	j.Progress = json.RawMessage("{}")
	return max(due.Sub(e.by.At), 0), nil
}
