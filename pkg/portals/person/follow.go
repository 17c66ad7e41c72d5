package person

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// followBatch bounds the places that one transaction tells of.
const followBatch = 1000

// follow switches what is told of places to what holds now, at most followBatch
// of them, and answers how many. which of them, of $2, the caller says, and
// which of their units are on. more says that others are left. Nobody changes
// what they are switched by meanwhile: the caller holds the portal, or the person
// and the portals' switches.
func follow(ctx context.Context, tx *tenant.Tx, which string, of any, on []id.Unit, who Author) (told int, more bool, err error) {
	rows, err := tx.Query(ctx, `
		UPDATE membership SET told_on = NOT told_on WHERE org_id = $1 AND id IN (
			SELECT m.id FROM membership m JOIN person p ON p.org_id = m.org_id AND p.id = m.person_id
			WHERE m.org_id = $1 AND m.removed_at IS NULL AND `+which+`
				AND m.told_on <> (m.enabled AND p.state <> 'disabled' AND (m.unit_id IS NULL OR m.unit_id = ANY($3)))
			LIMIT $4)
		RETURNING id`, tx.Org, of, on, followBatch)
	if err != nil {
		return 0, false, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[id.Membership])
	if err != nil || len(ids) == 0 {
		return 0, false, err
	}
	rows, err = tx.Query(ctx, `SELECT `+membershipColumns+` FROM membership m WHERE m.org_id = $1 AND m.id = ANY($2) ORDER BY m.id`, tx.Org, ids)
	if err != nil {
		return 0, false, err
	}
	places, err := pgx.CollectRows(rows, scanMembership)
	for _, m := range places {
		tx.Touch("membership", m.ID)
		event.Emit(tx, m.switched(who))
	}
	return len(places), len(ids) == followBatch, err
}

// followPerson tells what a change of a person switched. The person was locked
// with LockAll.
func followPerson(ctx context.Context, tx *tenant.Tx, p id.Person, who Author) error {
	// Rides membership_by_person.
	rows, err := tx.Query(ctx, `
		SELECT DISTINCT unit_id FROM membership WHERE org_id = $1 AND person_id = $2 AND unit_id IS NOT NULL`, tx.Org, p)
	if err != nil {
		return err
	}
	units, err := pgx.CollectRows(rows, pgx.RowTo[id.Unit])
	if err != nil {
		return err
	}
	on, err := unit.On(ctx, tx, units...)
	if err != nil {
		return err
	}
	_, _, err = follow(ctx, tx, `m.person_id = $2`, p, on, who) // nobody has so many places
	return err
}

// FollowUnit tells of everybody whose place was switched on or off with a unit, or
// with one above it that was changed, and ends the conversations of those who are
// off. What is too much for one commit a job does afterwards,
// though the switch holds from now on. The unit was locked with unit.Lock.
func FollowUnit(ctx context.Context, tx *tenant.Tx, u unit.Unit, who Author) error {
	_, more, err := followUnit(ctx, tx, u.ID, who)
	if err != nil || !more {
		return err
	}
	_, err = job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.UnitSwitch, ResourceKind: "unit", ResourceID: u.ID.String(), Scope: scope.PeopleWrite,
		CreatedBy: who.By, CreatedAt: who.At,
	}, u.ID)
	return err
}

func followUnit(ctx context.Context, tx *tenant.Tx, u id.Unit, who Author) (told int, more bool, err error) {
	switches, err := unit.Switches(ctx, tx, u)
	if err != nil {
		return 0, false, err
	}
	units, on := make([]id.Unit, 0, len(switches)), []id.Unit{}
	for which, lit := range switches {
		units = append(units, which)
		if lit {
			on = append(on, which)
		}
	}
	told, untold, err := follow(ctx, tx, `m.unit_id = ANY($2::UUID[])`, units, on, who)
	if err != nil {
		return 0, false, err
	}
	ended, going, err := hangUp(ctx, tx, ofUnits, units, session.EndedByStaff, who)
	return told + ended, untold || going, err
}

// TellSwitches is the step of a job that goes on telling where FollowUnit
// stopped. What was switched back meanwhile is not told, and Done counts the places
// that were told of and the conversations that ended.
func TellSwitches(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
	which, err := id.ParseUnit(j.ResourceID)
	if err != nil {
		return 0, err
	}
	switch _, err := unit.Lock(ctx, tx, which); {
	case errdefs.IsArchived(err, portal.Noun), errdefs.IsNotFound(err, unit.Noun):
		j.State = job.Succeeded // nobody is there any more
		return 0, nil
	case err != nil:
		return 0, err
	}
	told, more, err := followUnit(ctx, tx, which, Author{By: j.CreatedBy, At: now})
	j.Done += int64(told)
	if !more {
		j.State, j.Total = job.Succeeded, j.Done
	}
	return 0, err
}
