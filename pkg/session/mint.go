package session

import (
	"context"
	"errors"
	"time"

	"visavis.dev/pkg/id"
	"visavis.dev/pkg/plan"
	"visavis.dev/pkg/setting"
	"visavis.dev/pkg/tenant"
	"visavis.dev/pkg/usage"
)

// Counter is the organisation's counter of places that are taken.
const Counter = "activeSessions"

// Refusals to start a session.
var (
	// ErrNoMinutes: none are left, or the month's cap is reached.
	ErrNoMinutes = errors.New("no minutes left")
	// ErrNoPlace: as many sessions are live as may be.
	ErrNoPlace = errors.New("too many live sessions")
	// ErrDailyLimit: the persona had as many sessions today as it may.
	ErrDailyLimit = errors.New("the persona's sessions of today are used up")
)

// MeansOf is what the organisation's terms say of its minutes.
func MeansOf(t plan.Terms) usage.Means {
	m := usage.Means{Unlimited: t.Plan.UnlimitedMinutes}
	if minutes, capped := t.Limit(plan.MonthlyCapMinutes); capped {
		seconds := minutes * 60
		m.CapS = &seconds
	}
	return m
}

// Mint enters a session and takes a place for it; the token lets its client in.
// daily is how many sessions the persona may have in a day (UTC), or nil. A
// refusal undoes the transaction. What must have ended for it to begin has ended before, in the same transaction.
func Mint(ctx context.Context, tx *tenant.Tx, s Session, terms plan.Terms, daily *int64) (Session, Token, error) {
	if err := payable(ctx, tx, s, terms); err != nil {
		return s, "", err
	}
	if err := takePlace(ctx, tx, terms); err != nil {
		return s, "", err
	}
	if err := allowedToday(ctx, tx, s, daily); err != nil {
		return s, "", err
	}
	s.State, s.Slot, s.ConnectBy = Created, true, s.CreatedAt.Add(ConnectWithin)
	s.LanguagesHeard = []string{}
	if err := collectable(ctx, tx, &s); err != nil {
		return s, "", err
	}
	if s.Metadata == nil {
		s.Metadata = map[string]string{}
	}
	if s.AllowedOrigins == nil {
		s.AllowedOrigins = []string{}
	}
	if zero, err := s.keepsNoWords(ctx, tx); err != nil {
		return s, "", err
	} else if zero && s.Withheld == nil {
		s.Withheld = new(ZeroRetention)
	}
	tx.Touch("session", s.ID)
	if _, err := tx.Exec(ctx, `
		INSERT INTO session (org_id, id, state, kind, source, persona_id, persona_version, avatar_id, voice_id, duo_id, external_id, metadata,
			language, engine, transport, channel, sandbox, brief, allowed_origins, max_duration_s, idle_timeout_s, created_at, connect_by,
			subject_id, widget_id, withheld, collected, turn_count, languages_heard, on_hold, slot, flagged, epoch, reconnects)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
			$24, $25, $26, $27, 0, '{}', false, true, false, 0, 0)`,
		tx.Org, s.ID, s.State, s.Kind, s.Source, s.Persona, s.PersonaVersion, s.Avatar, s.Voice, s.Duo, s.ExternalID, s.Metadata,
		s.Language, s.Engine, s.Transport, s.Channel, s.Sandbox, s.Brief, s.AllowedOrigins, s.MaxDurationS, s.IdleTimeoutS, s.CreatedAt, s.ConnectBy,
		s.Subject, s.Widget, s.Withheld, s.Collected); err != nil {
		return s, "", err
	}
	token := newToken(tx.Org)
	return s, token, insertToken(ctx, tx, token, s.ID, clientToken, id.Staff{}, s.ConnectBy)
}

// collectable leaves of what is known beforehand what may be kept: nothing
// while the organisation has zero retention on.
func collectable(ctx context.Context, tx *tenant.Tx, s *Session) error {
	if len(s.Collected) > 0 {
		zero, err := setting.On(ctx, tx, setting.ZeroRetention)
		if err != nil {
			return err
		}
		if !zero {
			return nil
		}
	}
	s.Collected = map[string]string{}
	return nil
}

// payable refuses what cannot be paid for.
func payable(ctx context.Context, tx *tenant.Tx, s Session, terms plan.Terms) error {
	if s.Sandbox {
		return nil
	}
	paid, err := usage.Available(ctx, tx, MeansOf(terms), s.CreatedAt)
	if err == nil && !paid {
		return ErrNoMinutes
	}
	return err
}

// allowedToday refuses what is more than the persona may have in a day. Whoever
// took a place has the organisation's counter until the commit, so nobody else
// counts meanwhile. It rides session_by_persona: the ids of a day lie together,
// since they begin with their moment.
func allowedToday(ctx context.Context, tx *tenant.Tx, s Session, daily *int64) error {
	if daily == nil {
		return nil
	}
	day := s.CreatedAt.UTC().Truncate(24 * time.Hour)
	var today int64
	if err := tx.QueryRow(ctx, `SELECT count(*) FROM session WHERE org_id = $1 AND persona_id = $2 AND id >= $3 AND state <> 'expired'`,
		tx.Org, s.Persona, id.FirstSession(day)).Scan(&today); err != nil {
		return err
	}
	if today >= *daily {
		return ErrDailyLimit
	}
	return nil
}

// takePlace takes one of the organisation's places.
func takePlace(ctx context.Context, tx *tenant.Tx, terms plan.Terms) error {
	limit, limited := terms.Limit(plan.MaxConcurrentSessions)
	full, err := tx.Increment(ctx, Counter, limit, limited)
	if err == nil && full {
		return ErrNoPlace
	}
	return err
}
