package assignment

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/store/tenant"
)

// walkBatch bounds the people that one transaction looks through.
const walkBatch = 500

// walkAgain is when an assignment is looked through again though no place changed: places begin
// and end by themselves.
const walkAgain = 24 * time.Hour

// walk looks through some of those whom an assignment, which is new or locked, is for, after
// those before: who is new is entered, who is not among them any more leaves, and where each
// stands is worked out anew. It saves the assignment.
func (a *Assignment) walk(ctx context.Context, tx *tenant.Tx, now time.Time) error {
	if a.WalkAfter.IsZero() {
		if err := a.notePlaces(ctx, tx); err != nil {
			return err
		}
	}
	changes, last, err := a.batch(ctx, tx, now)
	if err != nil {
		return err
	}
	if err := a.put(ctx, tx, changes, now); err != nil {
		return err
	}
	next := &now
	if a.WalkAfter = last; last.IsZero() {
		next = nil
		if s := a.StateAt(now); s == Scheduled || s == Open {
			next = new(now.Add(walkAgain))
		}
	}
	return a.save(ctx, tx, now, next)
}

// notePlaces notes how often places had changed before the walk begins. It rides
// org_counter_pkey.
func (a *Assignment) notePlaces(ctx context.Context, tx *tenant.Tx) error {
	return tx.QueryRow(ctx, `
		SELECT COALESCE((SELECT value FROM org_counter WHERE org_id = $1 AND name = $2), 0)`, tx.Org, unit.Places(a.Portal)).Scan(&a.Places)
}

// batch works out what changes of the next people. last is the last of them; zero where none are
// left.
func (a *Assignment) batch(ctx context.Context, tx *tenant.Tx, now time.Time) (changes []change, last id.Person, err error) {
	rows, err := a.rows(ctx, tx)
	if err != nil {
		return nil, last, err
	}
	if len(rows) == walkBatch {
		last = rows[walkBatch-1].Person
	}
	var among []candidate
	running := a.StateAt(now) == Scheduled || a.StateAt(now) == Open
	if running {
		if among, err = a.candidates(ctx, tx, a.WalkAfter, walkBatch, now); err != nil {
			return nil, last, err
		}
		if len(among) == walkBatch && (last.IsZero() || less(among[walkBatch-1].Person, last)) {
			last = among[walkBatch-1].Person
		}
	}
	changes = pair(a.ID, rows, among, last)
	if running {
		for i := range changes {
			changes[i].meet(among, now)
		}
	}
	return changes, last, nil
}

// put writes where people stand, and when they are reminded next. Who was entered by somebody
// else meanwhile keeps what was noted of them.
func (a *Assignment) put(ctx context.Context, tx *tenant.Tx, changes []change, now time.Time) error {
	zones, err := a.zones(ctx, tx, changes)
	if err != nil {
		return err
	}
	for i := range changes {
		c := &changes[i]
		c.After.stand(a, now)
		c.After.plan(a, c.Before == nil, zones[c.After.Person], now)
	}
	grown, met, err := write(ctx, tx, a.ID, changes, now)
	if err != nil {
		return err
	}
	a.Counts = a.Counts.plus(grown, 1)
	if err := a.followEach(ctx, tx, joined(changes), now); err != nil || len(met) == 0 {
		return err
	}
	rows, err := tenant.AllIn(ctx, tx, scanProgress, `
		SELECT `+progressColumns+` FROM assignment_person p
		WHERE p.org_id = $1 AND p.assignment_id = $2 AND p.person_id = ANY($3) ORDER BY p.person_id FOR UPDATE`, tx.Org, a.ID, met)
	if err != nil {
		return err
	}
	return a.put(ctx, tx, pair(a.ID, rows, nil, id.Person{}), now)
}

// joined are those for whom it is and was not before.
func joined(changes []change) (people []id.Person) {
	for _, c := range changes {
		if c.After.LeftAt == nil && (c.Before == nil || c.Before.LeftAt != nil) {
			people = append(people, c.After.Person)
		}
	}
	return people
}

func less(a, b id.Person) bool { return bytes.Compare(a[:], b[:]) < 0 }

// rows are the next people who have a part, locked. It rides assignment_person_pkey.
func (a *Assignment) rows(ctx context.Context, tx *tenant.Tx) ([]Progress, error) {
	return tenant.AllIn(ctx, tx, scanProgress, `
		SELECT `+progressColumns+` FROM assignment_person p
		WHERE p.org_id = $1 AND p.assignment_id = $2 AND ($3::UUID IS NULL OR p.person_id > $3) ORDER BY p.person_id LIMIT $4 FOR UPDATE`,
		tx.Org, a.ID, a.WalkAfter, walkBatch)
}

// pair puts the parts that there are and the people who have none together, up to the last; zero
// for all.
func pair(of id.Assignment, rows []Progress, among []candidate, last id.Person) (changes []change) {
	beyond := func(p id.Person) bool { return !last.IsZero() && less(last, p) }
	had := map[id.Person]bool{}
	for i, p := range rows {
		if had[p.Person] = true; !beyond(p.Person) {
			changes = append(changes, change{&rows[i], p})
		}
	}
	for _, c := range among {
		if !had[c.Person] && !beyond(c.Person) {
			changes = append(changes, change{nil, Progress{Assignment: of, Person: c.Person, Membership: c.Place}})
		}
	}
	return changes
}

// meet notes whether the person is among those whom the assignment is for.
func (c *change) meet(among []candidate, now time.Time) {
	i, is := slices.BinarySearchFunc(among, candidate{Person: c.After.Person}, byPerson)
	switch {
	case is:
		c.After.LeftAt, c.After.Membership = nil, among[i].Place
	case c.After.LeftAt == nil:
		c.After.LeftAt = &now
	}
}

// zones are the time zones of people who may be reminded. It rides person_pkey.
func (a *Assignment) zones(ctx context.Context, tx *tenant.Tx, of []change) (map[id.Person]*time.Location, error) {
	found := map[id.Person]*time.Location{}
	if a.DueAt == nil || len(a.Reminders) == 0 {
		return found, nil
	}
	people := make([]id.Person, len(of))
	for i, c := range of {
		people[i] = c.After.Person
	}
	rows, err := tx.Query(ctx, `SELECT id, COALESCE(timezone, $3) FROM person WHERE org_id = $1 AND id = ANY($2)`, tx.Org, people, a.Timezone)
	if err != nil {
		return nil, err
	}
	var (
		who  id.Person
		name string
	)
	_, err = pgx.ForEachRow(rows, []any{&who, &name}, func() error {
		found[who] = zone(name)
		return nil
	})
	return found, err
}

// plan says when the person is reminded next. What is due to be sent stays, as
// does what was put off because there were too many mails.
func (p *Progress) plan(a *Assignment, entered bool, in *time.Location, now time.Time) {
	if entered {
		p.AskedAt = a.RemindAllAt // it was not they who were to be reminded
	}
	switch {
	case p.done() || p.LeftAt != nil || a.StateAt(now) != Open:
	case a.RemindAllAt != nil && (p.AskedAt == nil || p.AskedAt.Before(*a.RemindAllAt)):
		p.AskedAt, p.RemindAt = a.RemindAllAt, a.RemindAllAt
	case p.RemindAt != nil && (!p.RemindAt.After(now) || p.AskedAt != nil && p.AskedAt.Equal(*p.RemindAt)):
	case a.DueAt == nil || in == nil:
		p.RemindAt = nil
	default:
		p.RemindAt = nextReminder(*a.DueAt, a.Reminders, in, now)
	}
}
