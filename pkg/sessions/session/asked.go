package session

import (
	"context"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// EndFor ends a session that Lock found because somebody asks for it; why is their reason,
// for the activity log.
func EndFor(ctx context.Context, tx *tenant.Tx, s Session, why string, who activity.Actor) (Session, error) {
	ended, err := End(ctx, tx, s.ID, Ending{Reason: EndedByAPI, At: who.At})
	if err != nil {
		return ended, err
	}
	logEnd(tx, s.ID, why, who)
	return ended, nil
}

// FinishFor has a live session that Lock found end as EndFor does, once a last message is
// said.
func FinishFor(ctx context.Context, tx *tenant.Tx, s Session, message, why string, who activity.Actor) error {
	if err := Order(ctx, tx, s, Command{ID: id.NewTurn(), Kind: Finish, Text: message, Reason: EndedByAPI}); err != nil {
		return err
	}
	logEnd(tx, s.ID, why, who)
	return nil
}

func logEnd(tx *tenant.Tx, which id.Session, why string, who activity.Actor) {
	who.Log(tx, "session.ended", "session", which, map[string]any{"reason": why})
}

// Reclaim ends a session that nobody uses, for its place.
func Reclaim(ctx context.Context, tx *tenant.Tx, which id.Session, who activity.Actor) error {
	if _, err := End(ctx, tx, which, Ending{Reason: ConcurrencyReclaimed, At: who.At}); err != nil {
		return err
	}
	who.Log(tx, "session.reclaimed", "session", which, nil)
	return nil
}

// DeleteTranscript is DeleteWords because somebody asks for it.
func DeleteTranscript(ctx context.Context, tx *tenant.Tx, which id.Session, who activity.Actor) error {
	if err := deleteWordsOf(ctx, tx, which, inbox.Removal{Trigger: inbox.ByTeam, By: who.By, At: who.At}); err != nil {
		return err
	}
	who.Log(tx, "session.transcript_deleted", "session", which, nil)
	return nil
}
