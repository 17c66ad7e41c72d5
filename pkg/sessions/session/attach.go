package session

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/usage"
	"visavis.dev/pkg/sessions/caselink"
	"visavis.dev/pkg/sessions/escalation"
	"visavis.dev/pkg/store/tenant"
)

// Attached is a session that a process has just taken over.
type Attached struct {
	Session Session
	// Resume is the token by which the client comes back.
	Resume Token
	// PaidS is how many seconds are paid for.
	PaidS int64
	// Began says that it was not live before.
	Began bool
}

// Attach makes a process the owner of a session whose client came, for the
// first time or again. A session that was not live pays for its first block and
// starts. The error is ErrOver, or ErrNoPlace where its place was given to
// another while it had no process.
func Attach(ctx context.Context, tx *tenant.Tx, which id.Session, owner uuid.UUID, terms plan.Terms, now time.Time) (Attached, error) {
	s, terms, err := lockBound(ctx, tx, which, terms)
	if err != nil {
		return Attached{}, err
	}
	a := Attached{Session: s, Began: s.State == Created}
	switch {
	case s.State.Over(), a.Began && !now.Before(s.ConnectBy), s.OrphanedAt != nil && now.After(s.OrphanedAt.Add(ResumeWithin)):
		return a, ErrOver
	case a.Began:
		err = a.begin(ctx, tx, terms, now)
	default:
		err = a.resume(ctx, tx, terms, now)
	}
	if err != nil || a.Session.State.Over() {
		return a, err
	}
	if a.Resume, err = renew(ctx, tx, a.Session, now); err != nil {
		return a, err
	}
	return a, a.take(ctx, tx, owner, now)
}

// begin pays for the first block. Without minutes the session is over before it
// began.
func (a *Attached) begin(ctx context.Context, tx *tenant.Tx, terms plan.Terms, now time.Time) error {
	unpaid := a.Session
	s := &a.Session
	s.StartedAt, s.State = &now, Live
	paid, err := usage.Debit(ctx, tx, s.block(0, now), MeansOf(terms))
	if err != nil {
		return err
	}
	if a.PaidS = paid; paid == 0 {
		a.Session, err = end(ctx, tx, unpaid, Ending{Reason: MinutesExhausted, At: now})
		return err
	}
	if !s.Escalation.IsZero() {
		if err := escalation.Begin(ctx, tx, s.Escalation, s.ID, now); err != nil {
			return err
		}
	}
	if !s.CaseLink.IsZero() {
		if err := caselink.Use(ctx, tx, s.CaseLink, s.ID, now); err != nil {
			return err
		}
	}
	if err := s.progressLater(ctx, tx, now); err != nil {
		return err
	}
	if s.Kind != Practice {
		event.Emit(tx, s.draft(event.SessionStarted, now))
		return nil
	}
	practice := s.draft(event.PracticeStarted, now)
	unit, err := unitOf(ctx, tx, s.Membership)
	if !unit.IsZero() {
		practice.Fields["unitId"] = unit
	}
	event.Emit(tx, practice)
	return err
}

// unitOf is the unit that a place belongs to now; zero for none.
func unitOf(ctx context.Context, tx *tenant.Tx, m id.Membership) (unit id.Unit, err error) {
	if m.IsZero() {
		return unit, nil
	}
	err = tx.QueryRow(ctx, `SELECT unit_id FROM membership WHERE org_id = $1 AND id = $2`, tx.Org, m).Scan(&unit)
	if errors.Is(err, pgx.ErrNoRows) { // removed since it was minted
		err = nil
	}
	return unit, err
}

// resume takes a live session over. What the process before left open is closed:
// it was sent, so it was said.
func (a *Attached) resume(ctx context.Context, tx *tenant.Tx, terms plan.Terms, now time.Time) error {
	s := &a.Session
	if !s.Slot {
		if err := s.takePlace(ctx, tx, terms); err != nil {
			return err
		}
		s.Slot = true
	}
	s.Reconnects++
	if err := tx.QueryRow(ctx, `
		SELECT COALESCE(sum(seconds), 0)::BIGINT FROM usage_block WHERE org_id = $1 AND session_id = $2`, tx.Org, s.ID).Scan(&a.PaidS); err != nil {
		return err
	}
	return closeTurns(ctx, tx, *s, now)
}

// take writes the new owner down.
func (a *Attached) take(ctx context.Context, tx *tenant.Tx, owner uuid.UUID, now time.Time) error {
	s := &a.Session
	s.Epoch++
	s.Owner, s.OrphanedAt, s.LastActivityAt = uuid.NullUUID{UUID: owner, Valid: true}, nil, &now
	tx.Touch("session", s.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE session SET state = $3, started_at = $4, last_activity_at = $5, slot = $6, owner = $7, epoch = $8, orphaned_at = NULL, reconnects = $9,
			room_due_at = NULL, room_claim = NULL
		WHERE org_id = $1 AND id = $2`, tx.Org, s.ID, s.State, s.StartedAt, s.LastActivityAt, s.Slot, s.Owner, s.Epoch, s.Reconnects); err != nil {
		return err
	}
	return changeCommands(ctx, tx, s.ID, `
		UPDATE session_command SET owner = $3 WHERE org_id = $1 AND session_id = $2 RETURNING id`, tx.Org, s.ID, s.Owner)
}

// block is a part of the session's time that is to be paid for.
func (s Session) block(index int64, now time.Time) usage.Block {
	return usage.Block{
		Session: s.ID, Index: index, Kind: s.Kind, Persona: s.Persona, Sandbox: s.Sandbox,
		At: s.StartedAt.Add(time.Duration(index*usage.BlockS) * time.Second), PaidAt: now,
	}
}

// lockOwned makes sure that the session is still the caller's until the commit.
func lockOwned(ctx context.Context, tx *tenant.Tx, s id.Session, epoch int64) (Session, error) {
	held, err := Lock(ctx, tx, s)
	return held, held.lostTo(epoch, err)
}

// lostTo is ErrLost where a session that was locked is not its owner's any more.
func (s Session) lostTo(epoch int64, err error) error {
	if err == nil && (s.State != Live || s.Epoch != epoch) {
		return ErrLost
	}
	return err
}

// Pay pays for the next block, counted from zero, of a session that its owner runs, and answers how
// many seconds of it are paid; fewer than a block's when the minutes run out.
func Pay(ctx context.Context, tx *tenant.Tx, which id.Session, epoch, block int64, terms plan.Terms, now time.Time) (int64, error) {
	s, terms, err := lockBound(ctx, tx, which, terms)
	if err := s.lostTo(epoch, err); err != nil {
		return 0, err
	}
	return usage.Debit(ctx, tx, s.block(block, now), MeansOf(terms))
}

// Renew gives the client of a session that its owner runs another token to come
// back by.
func Renew(ctx context.Context, tx *tenant.Tx, which id.Session, epoch int64, now time.Time) (Token, error) {
	s, err := lockOwned(ctx, tx, which, epoch)
	if err != nil {
		return "", err
	}
	tx.Touch("session", s.ID)
	if _, err := tx.Exec(ctx, `UPDATE session SET reconnects = reconnects + 1 WHERE org_id = $1 AND id = $2`, tx.Org, s.ID); err != nil {
		return "", err
	}
	return renew(ctx, tx, s, now)
}

// Active notes that a session that its owner runs is in use.
func Active(ctx context.Context, tx *tenant.Tx, which id.Session, epoch int64, at time.Time) error {
	tx.Touch("session", which)
	tag, err := tx.Exec(ctx, `
		UPDATE session SET last_activity_at = $4 WHERE org_id = $1 AND id = $2 AND epoch = $3 AND state = 'live'`, tx.Org, which, epoch, at)
	if err == nil && tag.RowsAffected() == 0 {
		return ErrLost
	}
	return err
}

// Release gives a session back before its process ends: its client may go on
// elsewhere at once.
func Release(ctx context.Context, tx *tenant.Tx, which id.Session, epoch int64, at time.Time) error {
	if _, err := lockOwned(ctx, tx, which, epoch); err != nil {
		return err
	}
	return orphan(ctx, tx, which, at)
}

// orphan takes a session's owner away, which it had until a moment, or until its
// last activity where that was later: an owner that wrote was alive.
func orphan(ctx context.Context, tx *tenant.Tx, which id.Session, since time.Time) error {
	tx.Touch("session", which)
	if _, err := tx.Exec(ctx, `
		UPDATE session SET owner = NULL, epoch = epoch + 1,
			orphaned_at = GREATEST($3::TIMESTAMPTZ, COALESCE(last_activity_at, $3::TIMESTAMPTZ)),
			room_due_at = CASE WHEN media_id IS NOT NULL THEN $3::TIMESTAMPTZ END
		WHERE org_id = $1 AND id = $2`, tx.Org, which, since); err != nil {
		return err
	}
	return changeCommands(ctx, tx, which, `
		UPDATE session_command SET owner = NULL WHERE org_id = $1 AND session_id = $2 RETURNING id`, tx.Org, which)
}
