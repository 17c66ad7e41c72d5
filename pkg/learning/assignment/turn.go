package assignment

import (
	"context"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/tenant"
)

// turn does what the clock asks of an assignment that is locked: it opens, is due, closes, is
// archived, or has the next one made.
func (a *Assignment) turn(ctx context.Context, tx *tenant.Tx, now time.Time) error {
	if next := a.NextAt(); next != nil && !now.Before(*next) {
		if err := a.recur(ctx, tx, *next, now); err != nil {
			return err
		}
	}
	if a.ArchivedAt == nil && a.ClosesAt != nil && !now.Before(a.ClosesAt.Add(archivedAfter)) {
		a.ArchivedAt = &now
		return a.save(ctx, tx, now, nil)
	}
	a.WalkAfter = id.Person{}
	return a.save(ctx, tx, now, &now)
}

// recur makes the next one, which takes the recurrence along. One that never closes does so when
// the next opens.
func (a *Assignment) recur(ctx context.Context, tx *tenant.Tx, opens, now time.Time) error {
	next := *a
	a.EveryMonths = nil
	if a.ClosesAt == nil {
		a.ClosesAt = &opens
		for _, t := range []*time.Time{a.DueAt, &now} { // nobody's time is over before they can know
			if t != nil && a.ClosesAt.Before(*t) {
				a.ClosesAt = t
			}
		}
	}
	taught, err := lives(ctx, tx, a.Subject)
	if err != nil || !taught {
		return err
	}
	if next.FirstOpensAt == nil {
		next.FirstOpensAt = new(next.CreatedAt)
	}
	next.ID, next.CreatedBy, next.CreatedAt, next.UpdatedAt, next.Edition = id.NewAssignment(), platform, now, now, 1
	next.advance(now)
	next.RemindAllAt, next.WalkAfter, next.Counts = nil, id.Person{}, Counts{}
	if fits := next.checkTimes() == nil && next.checkBounds(nil, now) == nil; !fits {
		return nil // the row ends here
	}
	return next.insert(ctx, tx, now)
}

// advance makes of it the next of its row that is not over.
func (a *Assignment) advance(now time.Time) {
	for {
		a.Occurrence++
		a.setTimes()
		over := a.ClosesAt
		if over == nil {
			over = a.NextAt()
		}
		if over.After(now) {
			return
		}
	}
}

// setTimes works out when it opens, is due and closes from the first of its row: the same day of
// the month, and as many days between them as there were.
func (a *Assignment) setTimes() {
	in := zone(a.Timezone)
	opens := AddMonths(*a.FirstOpensAt, int(a.Occurrence**a.EveryMonths), in)
	a.OpensAt = &opens
	a.DueAt, a.ClosesAt = after(opens, *a.FirstOpensAt, a.FirstDueAt, in), after(opens, *a.FirstOpensAt, a.FirstClosesAt, in)
	if a.checkTimes() == nil {
		return
	}
	// By the clock on the wall there is no time between them, on a day when that changes.
	for _, t := range []struct{ first, to **time.Time }{{&a.FirstDueAt, &a.DueAt}, {&a.FirstClosesAt, &a.ClosesAt}} {
		if *t.first != nil {
			*t.to = new(opens.Add((*t.first).Sub(*a.FirstOpensAt)))
		}
	}
}

// skip has the next one be the first that does not open before a moment: nothing is made of what
// would have been.
func (a *Assignment) skip(now time.Time) {
	for next := a.NextAt(); next != nil && !next.After(now); next = a.NextAt() {
		a.Occurrence++
	}
}

// lives says whether a subject can still be taught.
func lives(ctx context.Context, tx *tenant.Tx, which id.Subject) (bool, error) {
	s, err := subject.Find(ctx, tx, which)
	if errdefs.IsNotFound(err, subject.Noun) || err == nil && s.State == subject.Archived {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	p, err := portal.Find(ctx, tx, s.Portal)
	return err == nil && p.State != portal.Archived, err
}
