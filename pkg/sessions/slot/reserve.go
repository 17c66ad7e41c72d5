package slot

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// The reasons of conflicts about times.
const (
	// ReasonNotOffered: the time was never offered.
	ReasonNotOffered = "slot_not_offered"
	// ReasonPassed: it is offered no longer, or not yet.
	ReasonPassed = "slot_passed"
	// ReasonTaken: somebody else has it.
	ReasonTaken = "slot_taken"
)

func (s *Schedule) conflict(reason, message string) error {
	return &errdefs.Conflict{Noun: Noun, ID: s.ID.String(), Reason: reason, Message: message}
}

// holder is whose time is reserved, a schedule or a person.
type holder = uuid.UUID

// Reserve reserves a time of a schedule for something, in place of one that it had. Whoever reserves
// of the same schedule waits until the commit. The error is errdefs.NotFound, an errdefs.Invalid of
// a kind that is not there, or an errdefs.Conflict.
func Reserve(ctx context.Context, tx *tenant.Tx, which id.Schedule, kind string, at time.Time, by uuid.UUID, now time.Time) (Schedule, Kind, Slot, error) {
	if err := hold(ctx, tx, []holder{holder(which)}); err != nil {
		return Schedule{}, Kind{}, Slot{}, err
	}
	s, err := Find(ctx, tx, which)
	if err != nil {
		return s, Kind{}, Slot{}, err
	}
	k, found := s.Plan.KindOf(kind)
	if !found {
		return s, k, Slot{}, errdefs.InvalidField("bookingKind", "is no kind of appointment of the schedule")
	}
	wanted := k.slot(at)
	if err := s.offers(k, at, now); err != nil {
		return s, k, wanted, err
	}
	busy, err := busyOf(ctx, tx, holder(which), by, wanted)
	if err != nil {
		return s, k, wanted, err
	}
	if len(busy) == maxBusy || !s.Plan.free(wanted, busy) {
		return s, k, wanted, s.conflict(ReasonTaken, "That time has just been taken.")
	}
	if err := s.allows(ctx, tx, wanted, now); err != nil {
		return s, k, wanted, err
	}
	if err := reserve(ctx, tx, []holder{holder(which)}, by, wanted); err != nil {
		return s, k, wanted, err
	}
	return s, k, wanted, s.announce(ctx, tx, by, wanted, now)
}

// Place reserves a time of a schedule that nobody was offered, since a person of the organization chose it in the
// schedule's calendar, in place of one that something had.
func Place(ctx context.Context, tx *tenant.Tx, which id.Schedule, kind string, starts, ends time.Time, by uuid.UUID) error {
	s, err := Find(ctx, tx, which)
	if err != nil {
		return err
	}
	if err := hold(ctx, tx, []holder{holder(which)}); err != nil {
		return err
	}
	k, _ := s.Plan.KindOf(kind)
	wanted := Slot{starts, ends, starts.Add(-minutes(k.BufferBeforeMinutes)), ends.Add(minutes(k.BufferAfterMinutes))}
	return reserve(ctx, tx, []holder{holder(which)}, by, wanted)
}

// offers refuses a time that is not to be had. The error is an errdefs.Conflict.
func (s *Schedule) offers(k Kind, at, now time.Time) error {
	offered, err := s.Plan.Offers(k, at)
	if err != nil {
		return err
	}
	if !offered {
		return s.conflict(ReasonNotOffered, "That time is not among those that are offered.")
	}
	if least, most := s.Plan.Window(now); at.Before(least) || !at.Before(most) {
		return s.conflict(ReasonPassed, "That time cannot be reserved any more, or not yet.")
	}
	return nil
}

// ReserveOf reserves a time of people for something, in place of one that it had. taken is the error
// where one of them has no time then.
func ReserveOf(ctx context.Context, tx *tenant.Tx, people []id.Person, starts, ends time.Time, by uuid.UUID, taken error) error {
	holders := make([]holder, len(people))
	for i, p := range people {
		holders[i] = holder(p)
	}
	if err := hold(ctx, tx, holders); err != nil {
		return err
	}
	wanted := Slot{starts, ends, starts, ends}
	for _, h := range holders {
		busy, err := busyOf(ctx, tx, h, by, wanted)
		if err != nil {
			return err
		}
		if len(busy) > 0 {
			return taken
		}
	}
	return reserve(ctx, tx, holders, by, wanted)
}

// hold holds the rows of holders until the commit, in one order for all.
func hold(ctx context.Context, tx *tenant.Tx, holders []holder) error {
	slices.SortFunc(holders, func(a, b holder) int { return bytes.Compare(a[:], b[:]) })
	for _, h := range slices.Compact(holders) {
		tx.Touch("slot_holder", h)
		if _, err := tx.Exec(ctx, `
			INSERT INTO slot_holder (org_id, holder_id, turn) VALUES ($1, $2, 1)
			ON CONFLICT (org_id, holder_id) DO UPDATE SET turn = slot_holder.turn + 1`, tx.Org, h); err != nil {
			return err
		}
	}
	return nil
}

func scanBusy(row pgx.CollectableRow) (b Busy, err error) {
	err = row.Scan(&b.From, &b.To)
	return b, err
}

const selectBusy = `
	SELECT busy_from, busy_to FROM slot_reservation
	WHERE org_id = $1 AND holder_id = $2 AND busy_from >= $3 AND busy_from < $4 AND busy_to > $5 AND reserved_by <> $6
	ORDER BY busy_from LIMIT $7`

// maxBusy is how many reservations are read at once. What comes after counts as full.
const maxBusy = 50_000

// busyOf is what others have reserved of a holder around a time. It rides slot_reservation_by_time.
func busyOf(ctx context.Context, tx *tenant.Tx, h holder, by uuid.UUID, s Slot) ([]Busy, error) {
	return tenant.AllIn(ctx, tx, scanBusy, selectBusy, tx.Org, h, s.From.Add(-longest), s.To, s.From, by, maxBusy)
}

func reserve(ctx context.Context, tx *tenant.Tx, holders []holder, by uuid.UUID, s Slot) error {
	for _, h := range slices.Compact(holders) {
		tx.Touch("slot_reservation", h, by)
		if _, err := tx.Exec(ctx, `
			INSERT INTO slot_reservation (org_id, holder_id, reserved_by, busy_from, busy_to) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (org_id, holder_id, reserved_by) DO UPDATE SET busy_from = excluded.busy_from, busy_to = excluded.busy_to`,
			tx.Org, h, by, s.From, s.To); err != nil {
			return err
		}
	}
	return nil
}

// Free gives back every time that something has reserved, and has it taken out of its calendar. It rides
// slot_reservation_by_reserver.
func Free(ctx context.Context, tx *tenant.Tx, by uuid.UUID, now time.Time) error {
	rows, err := tx.Query(ctx, `DELETE FROM slot_reservation WHERE org_id = $1 AND reserved_by = $2 RETURNING holder_id`, tx.Org, by)
	if err != nil {
		return err
	}
	gone, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return err
	}
	for _, h := range gone {
		tx.Touch("slot_reservation", h, by)
	}
	return Changed(ctx, tx, by, now)
}

// Times are the free times of a kind of a schedule that begin from one moment and before another, at
// most limit of them. except is what is to be moved; zero for nothing. It rides
// slot_reservation_by_time.
func (s *Schedule) Times(ctx context.Context, t *tenant.Tenants, org id.Org, k Kind, now, from, to time.Time, except uuid.UUID, limit int) ([]Slot, error) {
	busy, err := tenant.All(ctx, t, org, scanBusy, selectBusy, org, holder(s.ID), from.Add(-longest-minutes(k.BufferBeforeMinutes)), to.Add(longest), from.Add(-longest), except, maxBusy)
	if err != nil {
		return nil, err
	}
	all, until, err := s.besides(ctx, t, org, now)
	if err != nil || until.IsZero() {
		return []Slot{}, err
	}
	found, err := s.Plan.Offered(k, now, from, earlier(to, until), slices.Concat(busy, all), limit)
	found = slices.DeleteFunc(found, func(s Slot) bool { return s.To.After(until) })
	return known(found, busy, maxBusy), err
}

// known are those of some times around which all that is reserved was read: nothing is left out where
// less than most was.
func known(found []Slot, busy []Busy, most int) []Slot {
	if len(busy) < most {
		return found
	}
	last := busy[len(busy)-1].From
	return slices.DeleteFunc(found, func(s Slot) bool { return s.To.After(last) })
}
