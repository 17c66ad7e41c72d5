package session

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/usage"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/sessions/escalation"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/pkg/store/tenant"
)

// Ending is how a session ends.
type Ending struct {
	Reason Reason
	At     time.Time
	// By is the process that ends it, if it is one: the owner is told unless it
	// is the owner itself.
	By uuid.UUID
}

// End ends a session: what was paid and not used is given back, its place is
// free, what was under way is closed, and it is told, all in one commit. A session
// that is over is answered as it is.
func End(ctx context.Context, tx *tenant.Tx, which id.Session, e Ending) (Session, error) {
	s, err := Lock(ctx, tx, which)
	if err != nil || s.State.Over() {
		return s, err
	}
	return end(ctx, tx, s, e)
}

// EndOwn is End for the owner, which may have lost the session: ErrLost.
func EndOwn(ctx context.Context, tx *tenant.Tx, which id.Session, epoch int64, e Ending) (Session, error) {
	s, err := lockOwned(ctx, tx, which, epoch)
	if err != nil {
		return s, err
	}
	return end(ctx, tx, s, e)
}

// faults are the reasons that are ours.
var faults = []Reason{UpstreamError, EngineError}

// state is what a session ends as. One that never began ends without events:
// nobody came, or the client was turned away for want of minutes.
func (e Ending) state(began bool) State {
	switch {
	case slices.Contains(faults, e.Reason):
		return Failed
	case began, e.Reason == MinutesExhausted:
		return Ended
	}
	return Expired
}

// EndAll ends those of some sessions that are not over. No more are ended in one
// transaction than it has the time for.
func EndAll(ctx context.Context, tx *tenant.Tx, which []id.Session, e Ending) error {
	// All are locked before the first gives its place back: whoever holds one of
	// them may wait for the counter of places.
	var going []Session
	for _, one := range slices.SortedFunc(slices.Values(which), func(a, b id.Session) int { return slices.Compare(a[:], b[:]) }) {
		s, err := Lock(ctx, tx, one)
		switch {
		case errdefs.IsNotFound(err, Noun):
		case err != nil:
			return err
		case !s.State.Over():
			going = append(going, s)
		}
	}
	for _, s := range going {
		if _, err := end(ctx, tx, s, e); err != nil {
			return err
		}
	}
	return nil
}

// end ends a session that is locked.
func end(ctx context.Context, tx *tenant.Tx, s Session, e Ending) (Session, error) {
	began := s.StartedAt != nil
	owner := s.Owner
	s.State = e.state(began)
	s.EndedAt = &e.At
	if e.Reason != "" {
		s.EndReason = &e.Reason
	}
	duration, billed := int64(0), int64(0)
	var (
		readable bool
		err      error
	)
	if began {
		if readable, err = closeConversation(ctx, tx, &s, e.At); err != nil {
			return s, err
		}
		duration = max(0, int64((e.At.Sub(*s.StartedAt)+time.Second-1)/time.Second))
		if billed, err = usage.Settle(ctx, tx, s.ID, duration); err != nil {
			return s, err
		}
	}
	s.DurationS, s.BilledS = &duration, &billed
	if err := vacate(ctx, tx, &s); err != nil {
		return s, err
	}
	if err := s.tellOwner(ctx, tx, owner, e); err != nil {
		return s, err
	}
	if !s.Media.IsZero() {
		if err := connection.SetUses(ctx, tx, connection.BySession(s.ID)); err != nil {
			return s, err
		}
	}
	if err := s.scoreLater(ctx, tx); err != nil {
		return s, err
	}
	if err := s.progressLater(ctx, tx, e.At); err != nil {
		return s, err
	}
	if s.Brief.Record != "" && began {
		if err := recording.Finish(ctx, tx, s.ID, *s.StartedAt, e.At); err != nil {
			return s, err
		}
	}
	if began {
		left, err := inbox.Gone(ctx, tx, s.ID, e.At)
		if err != nil {
			return s, err
		}
		event.Emit(tx, s.endDrafts(e.At, readable, left)...)
		if err := s.rememberLater(ctx, tx); err != nil {
			return s, err
		}
		return s, s.deescalate(ctx, tx, left)
	}
	return s, nil
}

// deescalate ends the escalation that a session which ended was held for.
func (s Session) deescalate(ctx context.Context, tx *tenant.Tx, left id.InboxItem) error {
	if s.Escalation.IsZero() {
		return nil
	}
	return escalation.Complete(ctx, tx, s.Escalation, escalation.End{Session: s.ID, Outcome: s.Outcome, DurationS: *s.DurationS, Left: left, At: *s.EndedAt})
}

// closeConversation ends what is under way in the conversation and sums it up. readable says
// that words of it are kept which may be read.
func closeConversation(ctx context.Context, tx *tenant.Tx, s *Session, at time.Time) (readable bool, err error) {
	if err := closeTurns(ctx, tx, *s, at); err != nil {
		return false, err
	}
	if err := recordUnsaid(ctx, tx, *s, at); err != nil {
		return false, err
	}
	if err := sendStaffOut(ctx, tx, *s, at); err != nil {
		return false, err
	}
	turns, err := allTurns(ctx, tx, s.ID)
	if err != nil {
		return false, err
	}
	s.TurnCount = int64(len(turns))
	s.Summary = Summarize(turns)
	if days := s.Brief.RetainDays; days != nil {
		until := at.AddDate(0, 0, int(*days))
		s.WordsUntil = &until
	}
	readable = s.WordsRead() && slices.ContainsFunc(turns, func(t Turn) bool { return !t.Unrecorded })
	return readable, nil
}

// vacate writes the end down and gives the place back.
func vacate(ctx context.Context, tx *tenant.Tx, s *Session) error {
	if s.Slot {
		if err := tx.Decrement(ctx, Counter); err != nil {
			return err
		}
	}
	s.Slot, s.Owner, s.OrphanedAt = false, uuid.NullUUID{}, nil
	tx.Touch("session", s.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE session SET state = $3, started_at = $4, ended_at = $5, end_reason = $6, duration_s = $7, billed_s = $8, turn_count = $9,
			summary = $10, words_until = $11, slot = false, owner = NULL, orphaned_at = NULL, epoch = epoch + 1,
			room_due_at = NULL, room_claim = NULL
		WHERE org_id = $1 AND id = $2`,
		tx.Org, s.ID, s.State, s.StartedAt, s.EndedAt, s.EndReason, s.DurationS, s.BilledS, s.TurnCount, s.Summary, s.WordsUntil); err != nil {
		return err
	}
	// The client's token stays for a while: it may rate.
	_, err := changeTokens(ctx, tx, `
		UPDATE session_token SET expires_at = CASE WHEN kind = 'resume' THEN $3::TIMESTAMPTZ ELSE $4::TIMESTAMPTZ END
		WHERE org_id = $1 AND session_id = $2 AND expires_at > $4::TIMESTAMPTZ RETURNING hash`,
		tx.Org, s.ID, s.EndedAt.Add(ratingWithin), *s.EndedAt)
	return err
}

// tellOwner replaces what the owner was asked to do by the news of the end.
func (s Session) tellOwner(ctx context.Context, tx *tenant.Tx, owner uuid.NullUUID, e Ending) error {
	if err := changeCommands(ctx, tx, s.ID, `
		DELETE FROM session_command WHERE org_id = $1 AND session_id = $2 RETURNING id`, tx.Org, s.ID); err != nil {
		return err
	}
	if !owner.Valid || owner.UUID == e.By {
		return nil
	}
	return insertCommand(ctx, tx, s.ID, owner, Command{ID: id.NewTurn(), Kind: Over, Reason: e.Reason})
}
