package appointment

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/dispatch"
	"visavis.dev/pkg/provider/calendars"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/tenant"
)

const (
	// readEvery is how often a calendar is read, and retryEvery how often one that was given up.
	readEvery  = 2 * time.Minute
	retryEvery = 15 * time.Minute
	// behind and beyond are how far before now and after the last time that is offered it is read.
	behind = 24 * time.Hour
	beyond = 48 * time.Hour
	// fresh is how old what was read can be where somebody asks for times, and freshWithin how long they wait for it.
	fresh       = 15 * time.Second
	freshWithin = 1500 * time.Millisecond
	// missingFor is how long an event has to be missing before its appointment is cancelled: a server that is being
	// mended can have none for a while.
	missingFor = 5 * time.Minute
	// settled is how long ago an event was written here before what is there is somebody else's doing: the clocks of processes
	// differ.
	settled = 30 * time.Second
	// mostTried bounds the schedules that are remembered as tried.
	mostTried = 10_000
	// mostFollowed is how many events are followed at once, and mostAsked how many are asked for. The rest is next time.
	mostFollowed = 200
	mostAsked    = 20
	// fewMissing is how many appointments can be missing at once, also where they are most of those that are ahead: where
	// more are, the calendar was emptied or is no longer the same, and nobody cancelled each.
	fewMissing = 2
)

// found is what a reading came to.
type found struct {
	at time.Time
	// read says that it is known when the calendar is busy, and followed what became of the appointments, too.
	read, followed bool
	reading        calendars.Reading
	events         []slot.Event
	changes        []change
	// emptied says that most appointments were missing at once: then none of these is among the changes.
	emptied bool
}

// change is what somebody did to an event of ours in the calendar.
type change struct {
	event slot.Event
	// to is when it is now; nil where it is gone.
	to *calendars.Span
}

// read reads the calendar of a schedule, again and again as long as there is one.
func (k *Keeper) read(ctx context.Context, j job.Job) (*dispatch.Message, error) {
	var o slot.Order
	if err := json.Unmarshal(j.Input, &o); err != nil {
		return nil, err
	}
	joined, err := slot.GetJoined(ctx, k.Tenants, j.Org, o.Schedule)
	if errdefs.IsNotFound(err, slot.CalendarNoun) || err == nil && joined.Job != j.ID {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := slot.Get(ctx, k.Tenants, j.Org, o.Schedule)
	if err != nil {
		return nil, err
	}
	var f found
	return &dispatch.Message{
		To: joined.Connection,
		Tell: func(ctx context.Context, to *connection.Opened) error {
			return k.call(to, "calendar.read", func(c calendars.Service) (err error) {
				f, err = k.readOnce(ctx, c, j.Org, s, joined, true)
				return err
			})
		},
		Keep: func(ctx context.Context, tx *tenant.Tx, _ *job.Job, now time.Time, o dispatch.Outcome) (time.Duration, error) {
			if f.read { // also where an appointment could not be looked for
				if err := f.save(ctx, tx, joined); err != nil {
					return 0, err
				}
			}
			if !o.Acknowledged() {
				wait := time.Duration(0)
				if o.Abandoned() {
					wait = retryEvery
				}
				return wait, joined.SaveUnread(ctx, tx, o.Code)
			}
			return readEvery, k.follow(ctx, tx, f, now)
		},
	}, nil
}

// readOnce reads when the calendar of a schedule is busy, but for the appointments that are reserved here, and where asked
// what became of those.
func (k *Keeper) readOnce(ctx context.Context, c calendars.Service, org id.Org, s slot.Schedule, j slot.Joined, following bool) (f found, err error) {
	f.at = k.Clock.Now().UTC().Truncate(time.Microsecond)
	zone, err := s.Plan.Zone()
	if err != nil {
		return f, err
	}
	_, last := s.Plan.Window(f.at)
	within := calendars.Span{From: f.at.Add(-behind), To: last.Add(beyond)}
	if f.reading, err = c.Read(ctx, j.Calendar, within, zone); err != nil {
		return f, err
	}
	// After it, so that there is a row of every event that was read.
	if f.events, err = slot.EventsAhead(ctx, k.Tenants, org, s.ID, f.at.Add(-behind)); err != nil {
		return f, err
	}
	f.settle(j, within)
	f.read = true
	if !following || f.reading.Merged {
		f.followed = following
		return f, nil
	}
	err = f.look(ctx, c, j, zone)
	f.followed = err == nil
	return f, err
}

// settle leaves out the appointments of the schedule, which have their times here. One that people moved there takes both
// times, until it is followed: not all of them are.
func (f *found) settle(j slot.Joined, within calendars.Span) {
	var own []calendars.Span
	theirs := map[calendars.Key]bool{}
	for _, e := range f.events {
		if e.Connection == j.Connection && e.Calendar == j.Calendar {
			own = append(own, calendars.Span{From: e.StartsAt, To: e.EndsAt})
			key := calendars.KeyOf(e.Reserver)
			at, there := f.reading.Ours[key]
			theirs[key] = !there || e.Sequence < 0 || same(at, e) || !f.settled(e)
		}
	}
	if f.reading.Merged {
		f.reading.Busy = calendars.Without(f.reading.Busy, own)
		return
	}
	var others []calendars.Span
	for key, s := range f.reading.Ours {
		if !theirs[key] { // another schedule's, or moved
			others = append(others, s)
		}
	}
	if len(others) == 0 {
		return
	}
	until := f.reading.Until
	f.reading.Busy, f.reading.Until = calendars.Merge(append(f.reading.Busy, others...), calendars.Span{From: within.From, To: until})
}

// settled says whether an event was written long enough ago for what is there to be somebody else's doing.
func (f *found) settled(e slot.Event) bool { return e.WrittenAt.Before(f.at.Add(-settled)) }

// look finds what became of the appointments that are ahead. What is not among what was read is asked for: it can
// be at another time.
func (f *found) look(ctx context.Context, c calendars.Service, j slot.Joined, zone *time.Location) error {
	asked, ahead, missing := 0, 0, 0
	for _, e := range f.events {
		if e.Sequence < 0 || e.Connection != j.Connection || e.Calendar != j.Calendar || !e.StartsAt.After(f.at) || !f.settled(e) {
			continue
		}
		ahead++
		key := calendars.KeyOf(e.Reserver)
		at, there := f.reading.Ours[key]
		if there && same(at, e) && e.MissingAt == nil {
			continue
		}
		if there && len(f.changes) == mostFollowed {
			continue
		}
		if there {
			f.changes = append(f.changes, change{e, &at})
			continue
		}
		missing++
		if asked++; asked > mostAsked || len(f.changes) == mostFollowed {
			continue
		}
		elsewhere, err := c.Find(ctx, j.Calendar, key, zone)
		if errors.Is(err, calendars.ErrUnclear) { // it stays as it is here
			elsewhere, err = &calendars.Span{From: e.StartsAt.Truncate(time.Second), To: e.EndsAt.Truncate(time.Second)}, nil
		}
		if err != nil {
			return err
		}
		if elsewhere != nil {
			missing--
		}
		f.changes = append(f.changes, change{e, elsewhere})
	}
	if f.emptied = missing > fewMissing && 2*missing > ahead; f.emptied {
		f.changes = slices.DeleteFunc(f.changes, func(c change) bool { return c.to == nil })
	}
	return nil
}

func same(s calendars.Span, e slot.Event) bool {
	return s.From.Equal(e.StartsAt.Truncate(time.Second)) && s.To.Equal(e.EndsAt.Truncate(time.Second))
}

// save notes when the calendar is busy.
func (f *found) save(ctx context.Context, tx *tenant.Tx, j slot.Joined) error {
	busy := make([]int64, 0, 2*len(f.reading.Busy))
	for _, s := range f.reading.Busy {
		busy = append(busy, s.From.Unix(), s.To.Unix())
	}
	return j.SaveRead(ctx, tx, slot.Read{Busy: busy, Until: f.reading.Until, At: f.at, Followed: f.followed, Emptied: f.emptied})
}

// follow has appointments be as people left them in the calendar, unless they were written there since.
func (k *Keeper) follow(ctx context.Context, tx *tenant.Tx, f found, now time.Time) error {
	slices.SortFunc(f.changes, func(a, b change) int { return slices.Compare(a.event.Reserver[:], b.event.Reserver[:]) })
	for _, c := range f.changes {
		e, err := slot.FindEvent(ctx, tx, c.event.Reserver)
		if err != nil {
			return err
		}
		if e == nil || e.Sequence != c.event.Sequence || !e.WrittenAt.Equal(c.event.WrittenAt) {
			continue
		}
		if err := k.followOne(ctx, tx, *e, c.to, now); err != nil {
			return err
		}
	}
	return nil
}

func (k *Keeper) followOne(ctx context.Context, tx *tenant.Tx, e slot.Event, to *calendars.Span, now time.Time) error {
	switch {
	case to == nil && e.MissingAt == nil:
		e.MissingAt = &now
		return e.Save(ctx, tx)
	case to == nil && now.Sub(*e.MissingAt) < missingFor:
		return nil
	case to == nil:
		return k.cancel(ctx, tx, e, now)
	case same(*to, e):
		e.MissingAt = nil
		return e.Save(ctx, tx)
	}
	return k.move(ctx, tx, e, *to, now)
}

func (k *Keeper) cancel(ctx context.Context, tx *tenant.Tx, e slot.Event, now time.Time) error {
	there, err := isItem(ctx, tx, e.Reserver)
	if err != nil {
		return err
	}
	if !there {
		if k.Interviews == nil {
			return nil
		}
		return k.Interviews.CancelByCalendar(ctx, tx, id.Interview(e.Reserver), e.Sequence, now)
	}
	_, err = inbox.FollowCalendar(ctx, tx, id.InboxItem(e.Reserver), e.Sequence, time.Time{}, time.Time{}, now)
	return err
}

func isItem(ctx context.Context, tx *tenant.Tx, by uuid.UUID) (bool, error) {
	_, err := inbox.Find(ctx, tx, id.InboxItem(by))
	if errdefs.IsNotFound(err, inbox.Noun) {
		return false, nil
	}
	return err == nil, err
}

// longestMoved bounds an appointment that somebody made longer.
const longestMoved = 24 * time.Hour

// move follows an event to another time that is ahead. Interviews are at times that were offered, and stay.
func (k *Keeper) move(ctx context.Context, tx *tenant.Tx, e slot.Event, to calendars.Span, now time.Time) error {
	if !to.From.After(now) || to.From.After(now.AddDate(2, 0, 0)) || !to.To.After(to.From) || to.To.Sub(to.From) > longestMoved {
		return nil
	}
	there, err := isItem(ctx, tx, e.Reserver)
	if err != nil || !there {
		return err
	}
	sequence, err := inbox.FollowCalendar(ctx, tx, id.InboxItem(e.Reserver), e.Sequence, to.From.UTC(), to.To.UTC(), now)
	if err != nil || sequence == e.Sequence {
		if errdefs.IsNotFound(err, slot.Noun) {
			return nil // its schedule is gone
		}
		return err
	}
	e.Sequence, e.StartsAt, e.EndsAt, e.WrittenAt, e.MissingAt = sequence, to.From.UTC(), to.To.UTC(), now, nil
	return e.Save(ctx, tx)
}

// Freshen reads the calendar of a schedule where what is known of it is not of this moment, as long as somebody can wait for
// that. Where it does not answer, what was read last holds. Its callers go on whatever it comes to.
func (k *Keeper) Freshen(ctx context.Context, org id.Org, which id.Schedule) {
	if k == nil || which.IsZero() {
		return
	}
	// Those who ask at once wait for one answer.
	read := k.freshening.DoChan(org.String()+which.String(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), freshWithin)
		defer cancel()
		k.freshen(ctx, org, which)
		return nil, nil
	})
	// Whatever reading it takes, nobody waits for longer than that, nor for longer than they can.
	ctx, cancel := context.WithTimeout(ctx, freshWithin)
	defer cancel()
	select {
	case <-read:
	case <-ctx.Done():
	}
}

func (k *Keeper) freshen(ctx context.Context, org id.Org, which id.Schedule) {
	joined, err := slot.GetJoined(ctx, k.Tenants, org, which)
	if err != nil || joined.ReadAt != nil && k.Clock.Now().Sub(*joined.ReadAt) < fresh {
		return
	}
	// One that fails at once is asked no more often than one that answers.
	if tried, ok := k.tried.Get(joined.Job); ok && k.Clock.Now().Sub(tried) < fresh {
		return
	}
	s, err := slot.Get(ctx, k.Tenants, org, which)
	if err != nil {
		return
	}
	k.tried.Add(joined.Job, k.Clock.Now())
	to, err := k.Opener.Open(ctx, org, joined.Connection)
	if err != nil || k.Rests.Left(&to, k.Clock.Now()) > 0 {
		return
	}
	began := k.Clock.Now()
	var f found
	err = to.Calendars(k.Egress, k.Tokens, k.Clock, func(c calendars.Service) (err error) {
		f, err = k.readOnce(ctx, c, org, s, joined, false)
		return err
	})
	k.Rests.After(&to, began, k.Clock.Now(), err)
	if err != nil {
		return // whoever reads it in the background says so
	}
	_ = k.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error { return f.save(ctx, tx, joined) }, tenant.Idempotent(true))
}
