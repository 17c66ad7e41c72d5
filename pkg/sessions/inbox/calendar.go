package inbox

import (
	"context"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// ByCalendar is who changes a booking that somebody of the organization changed in its calendar.
const ByCalendar = "calendar"

// FollowCalendar has a booking be as somebody left it in the schedule's calendar, which had it with a sequence: at another
// time, or cancelled where from is zero. What changed here since, and what is over, stays. It answers the
// booking's sequence.
func FollowCalendar(ctx context.Context, tx *tenant.Tx, which id.InboxItem, sequence int64, from, to, now time.Time) (int64, error) {
	i, err := Lock(ctx, tx, which)
	if errdefs.IsNotFound(err, Noun) {
		return sequence, nil
	}
	if err != nil {
		return sequence, err
	}
	b := i.Booking
	if b == nil || i.ForgottenAt != nil || b.Sequence != sequence || !b.State.Holds() || !b.StartsAt.After(now) {
		return sequence, nil
	}
	was, who := *b, activity.Actor{By: ByCalendar, At: now}
	if from.IsZero() {
		if err := i.become(ctx, tx, Cancelled, now); err != nil {
			return sequence, err
		}
		return i.Booking.Sequence, i.rebooked(ctx, tx, was, []string{"booking.state"}, who)
	}
	zone, err := (&slot.Plan{Timezone: b.Timezone}).Zone()
	if err != nil {
		return sequence, err
	}
	err = slot.Place(ctx, tx, b.Schedule, b.Kind, from, to, uuid.UUID(i.ID))
	if err != nil {
		return sequence, err
	}
	moved := was
	moved.StartsAt, moved.EndsAt, moved.Wall, moved.State, moved.Sequence = from.UTC(), to.UTC(), from.In(zone).Format(WallTime), Moved, was.Sequence+1
	i.Booking = &moved
	fields := []string{"booking.startsAt", "booking.endsAt"}
	if was.State != Moved {
		fields = append(fields, "booking.state")
	}
	return moved.Sequence, i.rebooked(ctx, tx, was, fields, who)
}
