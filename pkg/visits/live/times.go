package live

import (
	"context"
	"errors"
	"time"

	"visavis.dev/pkg/eventing/usage"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

const (
	// payAhead is how long before its time is up the next block is paid for.
	payAhead = 5 * time.Second
	// warnAhead is how long before the longest duration a client is told.
	warnAhead = time.Minute
	// idleAhead is how long before an idle end a client is told.
	idleAhead = 10 * time.Second
	// noteEvery is how often use is noted on the shard.
	noteEvery = session.NoteEvery
	// payAgain is how soon a payment that failed is tried again.
	payAgain = time.Second
)

// times are the moments a room goes by.
type times struct {
	started time.Time
	// paid is until when it is paid for; spent says that no more will be.
	paid  time.Time
	spent bool
	// payAt is when the next block is paid for.
	payAt time.Time
	// longest is when it ends whatever happens.
	longest time.Time
	warned  bool
	// used is when somebody last said something.
	used       time.Time
	idle       time.Duration
	idleWarned bool
	// paused says that a candidate has the interview wait.
	paused bool
	noteAt time.Time
	// lostAt is since when there is no client; zero while there is one.
	lostAt time.Time
	// silentUntil is when an anonymous visitor who has sent nothing at all is sent away;
	// zero for others, and once something came.
	silentUntil time.Time
	// consentAt is when what is owed of the user's consent is tried again; zero for nothing.
	consentAt time.Time
}

func newTimes(a session.Attached, now time.Time) times {
	s := a.Session
	t := times{
		started: *s.StartedAt, used: now, idle: time.Duration(s.IdleTimeoutS) * time.Second,
		longest: s.StartedAt.Add(time.Duration(s.MaxDurationS) * time.Second), noteAt: now.Add(noteEvery), lostAt: now,
	}
	if s.Visitor != "" && a.Began {
		t.silentUntil = now.Add(session.VisitorSpeaksWithin)
	}
	t.pay(a.PaidS, a.PaidS%usage.BlockS != 0)
	return t
}

// pay notes how much of the session is paid for in all.
func (t *times) pay(seconds int64, spent bool) {
	t.paid = t.started.Add(time.Duration(seconds) * time.Second)
	t.payAt, t.spent = t.paid.Add(-payAhead), spent
}

func (t *times) clientCame()              { t.lostAt = time.Time{} }
func (t *times) clientLost(now time.Time) { t.lostAt = now }

// wait is how long nothing is due.
func (t *times) wait(now time.Time) time.Duration {
	next := t.longest
	sooner := func(at time.Time) {
		if at.Before(next) {
			next = at
		}
	}
	// Nobody is warned while nobody is there: the warning waits for the client.
	if !t.warned && t.lostAt.IsZero() {
		sooner(t.longest.Add(-warnAhead))
	}
	if t.spent {
		sooner(t.paid)
	} else {
		sooner(t.payAt)
	}
	if t.idleWarned || !t.lostAt.IsZero() {
		sooner(t.used.Add(t.idle))
	} else {
		sooner(t.used.Add(t.idle - idleAhead))
	}
	if !t.lostAt.IsZero() {
		sooner(t.lostAt.Add(session.ResumeWithin))
	}
	if !t.silentUntil.IsZero() {
		sooner(t.silentUntil)
	}
	if !t.consentAt.IsZero() {
		sooner(t.consentAt)
	}
	sooner(t.noteAt)
	return max(next.Sub(now), time.Millisecond)
}

// keepTime does what is due.
func (r *room) keepTime() {
	now, t := r.server.now(), &r.time
	r.noteUse(now)
	if r.heard.Load() {
		t.silentUntil = time.Time{}
	}
	if !t.spent && !now.Before(t.payAt) {
		r.payNext(now)
	}
	if !t.consentAt.IsZero() && !now.Before(t.consentAt) {
		r.catchUp()
	}
	switch {
	case r.over:
	case !now.Before(t.longest):
		r.end(session.MaxDuration, t.longest)
	case t.spent && !now.Before(t.paid):
		r.end(session.MinutesExhausted, t.paid)
	case !t.lostAt.IsZero() && !now.Before(t.lostAt.Add(session.ResumeWithin)):
		r.end(session.ConnectionLost, t.lostAt)
	case !now.Before(t.used.Add(t.idle)), !t.silentUntil.IsZero() && !now.Before(t.silentUntil):
		r.end(session.Idle, now)
	default:
		r.warn(now)
	}
}

// warn tells the client what is about to end the session.
func (r *room) warn(now time.Time) {
	t := &r.time
	if !t.lostAt.IsZero() {
		return
	}
	if !t.warned && !now.Before(t.longest.Add(-warnAhead)) {
		t.warned = true
		r.tell(r.server.message("notice", map[string]any{"kind": "time_left", "endsInS": wholeSeconds(t.longest.Sub(now))}))
	}
	if !t.idleWarned && !now.Before(t.used.Add(t.idle-idleAhead)) {
		t.idleWarned = true
		r.tell(r.server.message("notice", map[string]any{"kind": "idle_warning", "endsInS": wholeSeconds(t.used.Add(t.idle).Sub(now))}))
	}
}

// wholeSeconds rounds up: a minute is told as 60 also a moment later.
func wholeSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// noteUse learns from the conversation whether it is in use, and notes it on the
// shard now and then, where the API looks.
func (r *room) noteUse(now time.Time) {
	t, a := &r.time, r.talk.Snapshot()
	used, busy := a.LastAt, a.Speaking || a.Thinking || a.Hearing || a.Held || t.paused
	if busy {
		used = now
	}
	if used.After(t.used) {
		t.used, t.idleWarned = used, false
	}
	if now.Before(t.noteAt) {
		return
	}
	t.noteAt = now.Add(noteEvery)
	if !busy {
		return // what was said is noted with its turn
	}
	ctx, cancel := context.WithTimeout(context.Background(), noteEvery)
	defer cancel()
	err := r.server.Tenants.InTx(ctx, r.org, func(ctx context.Context, tx *tenant.Tx) error {
		return session.Active(ctx, tx, r.session.ID, r.session.Epoch, now)
	}, tenant.Idempotent(true))
	if errors.Is(err, session.ErrLost) {
		r.taken()
	}
}

// payNext pays for the next block before it is used. Without the minutes the
// session ends when what is paid is used up; when they cannot be counted until
// then, it goes on elsewhere or not at all.
func (r *room) payNext(now time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), payAhead)
	defer cancel()
	t := &r.time
	block := int64(t.paid.Sub(t.started) / (usage.BlockS * time.Second))
	organization, terms, err := r.server.Organization(ctx, r.org)
	if err == nil && organization.PausedAt != nil {
		r.end(session.AccountPaused, now)
		return
	}
	var paid int64
	if err == nil {
		err = r.server.Tenants.InTx(ctx, r.org, func(ctx context.Context, tx *tenant.Tx) (err error) {
			paid, err = session.Pay(ctx, tx, r.session.ID, r.session.Epoch, block, terms, now)
			return err
		}, tenant.Idempotent(true))
	}
	switch {
	case err == nil:
		t.pay(block*usage.BlockS+paid, paid < usage.BlockS)
	case errors.Is(err, session.ErrLost), !now.Before(t.paid):
		r.server.Log.WarnContext(ctx, "a session is not paid for", "session", r.session.ID.String(), "error", err)
		r.taken()
	default:
		t.payAt = now.Add(payAgain)
	}
}
