package slot

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/calendars"
	"visavis.dev/pkg/store/tenant"
)

// Calendar is one that the appointments of a schedule are kept in too.
type Calendar struct {
	Connection id.Connection `json:"connectionId"`
	// ID is what the server calls it.
	ID string `json:"calendar"`
	// Unread is what holds while it cannot be read: Offer or Close.
	Unread string `json:"whenUnread"`
}

// What holds while a calendar cannot be read.
const (
	// Offer has times be offered by what was read last.
	Offer = "offer"
	// Close has none be offered once what was read last is older than Stale.
	Close = "close"
)

const (
	// Stale is how old what was read of a calendar can be where Close holds.
	Stale = time.Hour
)

// ReasonUnread is that of the conflict of a time whose calendar was not read for too long.
const ReasonUnread = "calendar_unread"

func (c *Calendar) check() error {
	switch {
	case c.ID == "" || len(c.ID) > calendars.LongestID || strings.ContainsAny(c.ID, "?#\\") || strings.ContainsFunc(c.ID, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return errdefs.InvalidField("calendar.calendar", "is no calendar's path or id, as a test of the connection lists them")
	case c.Unread != Offer && c.Unread != Close:
		return errdefs.InvalidField("calendar.whenUnread", "is offer or close")
	}
	return nil
}

// same says whether two are one calendar.
func (c *Calendar) same(o *Calendar) bool {
	return (c == nil) == (o == nil) && (c == nil || c.Connection == o.Connection && c.ID == o.ID)
}

// join has a schedule be kept in the calendar of its plan from now on, in place of another one: it is read,
// and appointments that are ahead are written into it. The error is a connection.UnusableError, or an
// errdefs.Invalid where the connection is no calendar's.
func (s *Schedule) join(ctx context.Context, tx *tenant.Tx, before *Calendar, now time.Time) error {
	c := s.Plan.Calendar
	if c.same(before) {
		return nil
	}
	if c == nil {
		if err := connection.SetUses(ctx, tx, connection.BySchedule(s.ID)); err != nil {
			return err
		}
		return s.leave(ctx, tx, now)
	}
	if err := connection.SetUses(ctx, tx, connection.BySchedule(s.ID), c.Connection); err != nil {
		return err
	}
	if of, err := connection.Find(ctx, tx, c.Connection); err != nil {
		return err
	} else if of.Kind != connection.Calendar {
		return errdefs.InvalidField("calendar.connectionId", "is a connection of another kind than calendar")
	}
	reading, err := queue(ctx, tx, job.CalendarRead, Order{Schedule: s.ID}, now)
	if err != nil {
		return err
	}
	tx.Touch("slot_calendar", s.ID)
	if _, err := tx.Exec(ctx, `
		INSERT INTO slot_calendar (org_id, schedule_id, connection_id, calendar, job_id, busy, error_code) VALUES ($1, $2, $3, $4, $5, '{}', '')
		ON CONFLICT (org_id, schedule_id) DO UPDATE SET connection_id = excluded.connection_id, calendar = excluded.calendar, job_id = excluded.job_id,
			busy = excluded.busy, busy_until = NULL, read_at = NULL, error_code = ''`, tx.Org, s.ID, c.Connection, c.ID, reading.ID); err != nil {
		return err
	}
	_, err = queue(ctx, tx, job.CalendarWrite, Order{Schedule: s.ID}, now)
	return err
}

// leave has a schedule be kept in no calendar any more: what is ahead is taken out of it.
func (s *Schedule) leave(ctx context.Context, tx *tenant.Tx, now time.Time) error {
	tx.Touch("slot_calendar", s.ID)
	if _, err := tx.Exec(ctx, `DELETE FROM slot_calendar WHERE org_id = $1 AND schedule_id = $2`, tx.Org, s.ID); err != nil {
		return err
	}
	_, err := queue(ctx, tx, job.CalendarWrite, Order{Schedule: s.ID}, now)
	return err
}

// Order is the input of the jobs of calendars.
type Order struct {
	// Schedule is one whose calendar is read, or all of whose appointments ahead are written.
	Schedule id.Schedule `json:"scheduleId,omitzero"`
	// Reserver is whose appointment is written.
	Reserver uuid.UUID `json:"reservedBy,omitzero"`
}

func queue(ctx context.Context, tx *tenant.Tx, k job.Kind, o Order, now time.Time) (job.Job, error) {
	j := job.Job{ID: id.NewJob(), Kind: k, ResourceKind: "schedule", ResourceID: o.Schedule.String(), Scope: scope.InboxRead, CreatedBy: "system", CreatedAt: now}
	if o.Schedule.IsZero() {
		j.ResourceKind, j.ResourceID = "appointment", o.Reserver.String()
	}
	return job.Insert(ctx, tx, j, o)
}

// Joined is how the calendar of a schedule was last read.
type Joined struct {
	Schedule   id.Schedule
	Connection id.Connection
	Calendar   string
	Job        id.Job
	Busy       []int64
	// BusyUntil is up to when Busy is whole, ReadAt when it was read; nil for not yet.
	BusyUntil, ReadAt *time.Time
	// ErrorCode is why it could not be read last; empty for nothing.
	ErrorCode string
}

const selectJoined = `
	SELECT schedule_id, connection_id, calendar, job_id, busy, busy_until, read_at, error_code FROM slot_calendar WHERE org_id = $1 AND schedule_id = $2`

func scanJoined(row pgx.CollectableRow) (Joined, error) { return pgx.RowToStructByPos[Joined](row) }

// CalendarNoun is what errors call the calendar of a schedule.
const CalendarNoun errdefs.Noun = "calendar"

// GetJoined finds how the calendar of a schedule was last read. It rides slot_calendar_pkey. The error is
// errdefs.NotFound.
func GetJoined(ctx context.Context, t *tenant.Tenants, org id.Org, which id.Schedule) (Joined, error) {
	return tenant.One(ctx, t, org, scanJoined, CalendarNoun.NotFound(which), selectJoined, org, which)
}

// FindJoined is GetJoined in a transaction.
func FindJoined(ctx context.Context, tx *tenant.Tx, which id.Schedule) (Joined, error) {
	return tenant.OneIn(ctx, tx, scanJoined, CalendarNoun.NotFound(which), selectJoined, tx.Org, which)
}

// busy is when the calendar is, and up to when that is whole; the zero moment where no time is to be offered.
func (j *Joined) besides(c *Calendar, now time.Time) (busy []Busy, until time.Time) {
	first := j.ReadAt == nil && j.ErrorCode == "" // it was joined a moment ago, and nobody knows yet what is in it
	if first || c.Unread == Close && (j.ReadAt == nil || now.Sub(*j.ReadAt) > Stale) {
		return nil, time.Time{}
	}
	if j.ReadAt == nil || j.BusyUntil == nil {
		return nil, forever
	}
	for n := 0; n+1 < len(j.Busy); n += 2 {
		busy = append(busy, Busy{From: time.Unix(j.Busy[n], 0).UTC(), To: time.Unix(j.Busy[n+1], 0).UTC(), Whole: true})
	}
	return busy, *j.BusyUntil
}

// forever is after every time that is offered.
var forever = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// besides is when the calendar of a schedule is busy.
func (s *Schedule) besides(ctx context.Context, t *tenant.Tenants, org id.Org, now time.Time) (busy []Busy, until time.Time, err error) {
	if s.Plan.Calendar == nil {
		return nil, forever, nil
	}
	j, err := GetJoined(ctx, t, org, s.ID)
	if errdefs.IsNotFound(err, CalendarNoun) {
		return nil, forever, nil // it was left a moment ago
	}
	busy, until = j.besides(s.Plan.Calendar, now)
	return busy, until, err
}

// allows says whether the calendar of a schedule has room for a time. The error is an errdefs.Conflict.
func (s *Schedule) allows(ctx context.Context, tx *tenant.Tx, wanted Slot, now time.Time) error {
	if s.Plan.Calendar == nil {
		return nil
	}
	j, err := FindJoined(ctx, tx, s.ID)
	if errdefs.IsNotFound(err, CalendarNoun) {
		return nil
	}
	if err != nil {
		return err
	}
	busy, until := j.besides(s.Plan.Calendar, now)
	switch {
	case until.IsZero():
		return s.conflict(ReasonUnread, "The schedule's calendar has not been read for a while, so that nothing can be reserved.")
	case wanted.To.After(until) || !s.Plan.free(wanted, busy):
		return s.conflict(ReasonTaken, "That time has just been taken.")
	}
	return nil
}

// Read is what was read of a calendar.
type Read struct {
	// Busy are seconds since 1970: from, to, from, to.
	Busy  []int64
	Until time.Time
	At    time.Time
	// Followed says that it was also found what became of the appointments, and Emptied that most of them were
	// missing: what one reading found of that holds until the next that looks.
	Followed, Emptied bool
}

// emptied is the error code of a calendar that was read, but most of whose appointments are missing.
const emptied = "emptied"

// code is the error code after a reading.
func (r *Read) code(before string) string {
	if r.Emptied || !r.Followed && before == emptied {
		return emptied
	}
	return ""
}

// SaveRead notes what was read of a calendar, unless a later reading is there, or it is another calendar by now. What is
// the same as before is not written again.
func (j *Joined) SaveRead(ctx context.Context, tx *tenant.Tx, r Read) error {
	now, err := FindJoined(ctx, tx, j.Schedule)
	if errdefs.IsNotFound(err, CalendarNoun) || err == nil && now.Job != j.Job {
		return nil
	}
	if err != nil || now.ReadAt != nil && now.ReadAt.After(r.At) {
		return err
	}
	tx.Touch("slot_calendar", j.Schedule)
	code := r.code(now.ErrorCode)
	if slices.Equal(now.Busy, r.Busy) {
		_, err = tx.Exec(ctx, `UPDATE slot_calendar SET busy_until = $4, read_at = $5, error_code = $6 WHERE org_id = $1 AND schedule_id = $2 AND job_id = $3`,
			tx.Org, j.Schedule, j.Job, r.Until, r.At, code)
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE slot_calendar SET busy = $4, busy_until = $5, read_at = $6, error_code = $7 WHERE org_id = $1 AND schedule_id = $2 AND job_id = $3`,
		tx.Org, j.Schedule, j.Job, r.Busy, r.Until, r.At, code)
	return err
}

// SaveUnread notes why a calendar could not be read.
func (j *Joined) SaveUnread(ctx context.Context, tx *tenant.Tx, code string) error {
	tx.Touch("slot_calendar", j.Schedule)
	_, err := tx.Exec(ctx, `UPDATE slot_calendar SET error_code = $4 WHERE org_id = $1 AND schedule_id = $2 AND job_id = $3`, tx.Org, j.Schedule, j.Job, code)
	return err
}

// Event is the event of an appointment in a calendar.
type Event struct {
	Reserver   uuid.UUID
	Schedule   id.Schedule
	Connection id.Connection
	Calendar   string
	// Sequence is that of the appointment as it was written; negative for not yet.
	Sequence         int64
	StartsAt, EndsAt time.Time
	WrittenAt        time.Time
	// MissingAt is since when it is not found there; nil for it is.
	MissingAt *time.Time
}

// Unwritten is the sequence of an event of which nothing was written yet.
const Unwritten = -1

const eventColumns = `reserved_by, schedule_id, connection_id, calendar, sequence, starts_at, ends_at, written_at, missing_at`

func scanEvent(row pgx.CollectableRow) (Event, error) { return pgx.RowToStructByPos[Event](row) }

// FindEvent finds the event of something; nil for none. It rides slot_event_pkey.
func FindEvent(ctx context.Context, tx *tenant.Tx, by uuid.UUID) (*Event, error) {
	e, err := tenant.OneIn(ctx, tx, scanEvent, errNoEvent, `SELECT `+eventColumns+` FROM slot_event WHERE org_id = $1 AND reserved_by = $2`, tx.Org, by)
	if errors.Is(err, errNoEvent) {
		return nil, nil
	}
	return &e, err
}

var errNoEvent = errors.New("there is no event")

// mostEvents bounds the events of a schedule that are ahead.
const mostEvents = 20_000

// CalendarsOf are the connections in whose calendars there are events of some things, by what they are of. It rides
// slot_event_pkey.
func CalendarsOf(ctx context.Context, t *tenant.Tenants, org id.Org, of []uuid.UUID) (map[uuid.UUID]id.Connection, error) {
	if len(of) == 0 {
		return nil, nil
	}
	events, err := tenant.All(ctx, t, org, scanEvent, `SELECT `+eventColumns+` FROM slot_event WHERE org_id = $1 AND reserved_by = ANY($2)`, org, of)
	in := map[uuid.UUID]id.Connection{}
	for _, e := range events {
		in[e.Reserver] = e.Connection
	}
	return in, err
}

// EventsAhead are those of a schedule that are not over. They ride slot_event_by_schedule.
func EventsAhead(ctx context.Context, t *tenant.Tenants, org id.Org, of id.Schedule, now time.Time) ([]Event, error) {
	return tenant.All(ctx, t, org, scanEvent, `
		SELECT `+eventColumns+` FROM slot_event WHERE org_id = $1 AND schedule_id = $2 AND ends_at > $3 ORDER BY ends_at LIMIT $4`, org, of, now, mostEvents)
}

// Save writes an event, unless one with a later sequence is there in the same calendar.
func (e Event) Save(ctx context.Context, tx *tenant.Tx) error {
	tx.Touch("slot_event", e.Reserver)
	_, err := tx.Exec(ctx, `
		INSERT INTO slot_event (org_id, reserved_by, schedule_id, connection_id, calendar, sequence, starts_at, ends_at, written_at, missing_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (org_id, reserved_by) DO UPDATE SET schedule_id = excluded.schedule_id, connection_id = excluded.connection_id, calendar = excluded.calendar,
			sequence = excluded.sequence, starts_at = excluded.starts_at, ends_at = excluded.ends_at, written_at = excluded.written_at, missing_at = excluded.missing_at
		WHERE slot_event.sequence <= excluded.sequence OR slot_event.connection_id <> excluded.connection_id OR slot_event.calendar <> excluded.calendar`,
		tx.Org, e.Reserver, e.Schedule, e.Connection, e.Calendar, e.Sequence, e.StartsAt, e.EndsAt, e.WrittenAt, e.MissingAt)
	return err
}

// Renew has the event of something, which is known, be written anew into a calendar, whatever was written before.
func (e Event) Renew(ctx context.Context, tx *tenant.Tx) error {
	tx.Touch("slot_event", e.Reserver)
	_, err := tx.Exec(ctx, `
		UPDATE slot_event SET schedule_id = $3, connection_id = $4, calendar = $5, sequence = $6, starts_at = $7, ends_at = $8, written_at = $9, missing_at = NULL
		WHERE org_id = $1 AND reserved_by = $2`, tx.Org, e.Reserver, e.Schedule, e.Connection, e.Calendar, Unwritten, e.StartsAt, e.EndsAt, e.WrittenAt)
	return err
}

// DropEvent forgets the event of something as it is known.
func DropEvent(ctx context.Context, tx *tenant.Tx, e Event) error {
	tx.Touch("slot_event", e.Reserver)
	_, err := tx.Exec(ctx, `DELETE FROM slot_event WHERE org_id = $1 AND reserved_by = $2 AND connection_id = $3 AND calendar = $4 AND sequence = $5`,
		tx.Org, e.Reserver, e.Connection, e.Calendar, e.Sequence)
	return err
}

// announce has a time that was reserved written into the schedule's calendar. What is written there is known before it is.
func (s *Schedule) announce(ctx context.Context, tx *tenant.Tx, by uuid.UUID, at Slot, now time.Time) error {
	c := s.Plan.Calendar
	has, err := FindEvent(ctx, tx, by)
	if err != nil || c == nil && has == nil {
		return err
	}
	if has == nil {
		if err := (Event{by, s.ID, c.Connection, c.ID, Unwritten, at.StartsAt, at.EndsAt, now, nil}).Save(ctx, tx); err != nil {
			return err
		}
	}
	_, err = queue(ctx, tx, job.CalendarWrite, Order{Reserver: by}, now)
	return err
}

// Changed has the appointment of something written anew into its calendar, where it is in one.
func Changed(ctx context.Context, tx *tenant.Tx, by uuid.UUID, now time.Time) error {
	has, err := FindEvent(ctx, tx, by)
	if err != nil || has == nil {
		return err
	}
	_, err = queue(ctx, tx, job.CalendarWrite, Order{Reserver: by}, now)
	return err
}

// Resume has what is ahead of the schedules of a connection written again, and their calendars read, since it was settled
// anew. Nothing is left for another call. It rides connection_use_pkey.
func Resume(ctx context.Context, tx *tenant.Tx, which id.Connection, now time.Time) (more bool, err error) {
	c, err := connection.Find(ctx, tx, which)
	if err != nil {
		return false, err
	}
	for _, s := range c.UsedBy.Schedules {
		j, err := FindJoined(ctx, tx, s)
		if errdefs.IsNotFound(err, CalendarNoun) {
			continue
		}
		if err != nil {
			return false, err
		}
		if err := job.Recall(ctx, tx, j.Job, now); err != nil {
			return false, err
		}
		if _, err := queue(ctx, tx, job.CalendarWrite, Order{Schedule: s}, now); err != nil {
			return false, err
		}
	}
	return false, nil
}

// mostQueued is how many appointments are queued at once.
const mostQueued = 200

// WriteAhead has the appointments of a schedule that are ahead written, those after one of them; the zero one is the
// first. It answers the last that was queued, and zero after all. It rides slot_reservation_by_time and
// slot_event_by_schedule.
func WriteAhead(ctx context.Context, tx *tenant.Tx, which id.Schedule, after uuid.UUID, now time.Time) (last uuid.UUID, err error) {
	found, err := tenant.AllIn(ctx, tx, pgx.RowTo[uuid.UUID], `
		SELECT a.reserved_by FROM (
			SELECT r.reserved_by FROM slot_reservation r WHERE r.org_id = $1 AND r.holder_id = $2 AND r.busy_from > $3 AND r.busy_to > $4
			UNION SELECT e.reserved_by FROM slot_event e WHERE e.org_id = $1 AND e.schedule_id = $2 AND e.ends_at > $4
		) a WHERE a.reserved_by > $5 ORDER BY a.reserved_by LIMIT $6`, tx.Org, which, now.Add(-longest), now, after, mostQueued)
	if err != nil {
		return last, err
	}
	s, err := Find(ctx, tx, which)
	gone := errdefs.IsNotFound(err, Noun)
	if err != nil && !gone {
		return last, err
	}
	for _, by := range found {
		if gone {
			err = Changed(ctx, tx, by, now)
		} else {
			err = s.announce(ctx, tx, by, Slot{StartsAt: now, EndsAt: now}, now)
		}
		if err != nil {
			return last, err
		}
	}
	if len(found) < mostQueued {
		return uuid.UUID{}, nil
	}
	return found[len(found)-1], nil
}
