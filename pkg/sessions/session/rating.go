package session

import (
	"context"
	"errors"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/tenant"
)

// Rating is what somebody thought of a conversation.
type Rating struct {
	// Score is from 1 to Scale, which is 2 or 5.
	Score, Scale int64
	Comment      *string
}

// ErrTooEarly says that a session that never began cannot be rated.
var ErrTooEarly = errors.New("the session has not begun")

// Rate keeps a rating; a later one replaces it. Its comment is words, which the
// session's rules are for.
func Rate(ctx context.Context, tx *tenant.Tx, which id.Session, r Rating, now time.Time) (Session, error) {
	s, err := Lock(ctx, tx, which)
	if err != nil {
		return s, err
	}
	if s.StartedAt == nil {
		return s, ErrTooEarly
	}
	zero, err := s.keepsNoWords(ctx, tx)
	if err != nil {
		return s, err
	}
	switch {
	case zero || s.forgotten():
		r.Comment = nil
	case r.Comment != nil:
		r.Comment = new(redactionOf(s.Brief.Redact).blot(storable(*r.Comment)))
	}
	s.RatingScore, s.RatingScale, s.RatingComment = &r.Score, &r.Scale, r.Comment
	tx.Touch("session", which)
	if _, err := tx.Exec(ctx, `
		UPDATE session SET rating_score = $3, rating_scale = $4, rating_comment = $5 WHERE org_id = $1 AND id = $2`,
		tx.Org, which, r.Score, r.Scale, r.Comment); err != nil {
		return s, err
	}
	fields := only(s.fields(), []string{"sessionId", "subjectId", "personaId"})
	fields["rating"], fields["scale"], fields["ratedBy"], fields["ratedAt"] = r.Score, r.Scale, "visitor", now.UTC()
	event.Emit(tx, event.Draft{Type: event.ConversationRated, At: now, Session: which, Subject: s.Subject, Fields: fields})
	return s, nil
}
