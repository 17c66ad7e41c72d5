package session

import (
	"context"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// CheckWithin is how long after its mint a session keeps its place for somebody who checks microphone
// and sound first, in the place of ConnectWithin.
const CheckWithin = 5 * time.Minute

// KeepPlace keeps the place of a session, and its client's token good, for somebody who checks microphone and
// sound before it; no longer for who asks again. Of a session that has begun or is over, and of
// an anonymous visitor's, who must connect at once, nothing changes.
func KeepPlace(ctx context.Context, tx *tenant.Tx, which id.Session, now time.Time) error {
	s, err := Lock(ctx, tx, which)
	if err != nil {
		return err
	}
	until := s.CreatedAt.Add(CheckWithin)
	if s.State != Created || s.Visitor != "" || !now.Before(s.ConnectBy) || !s.ConnectBy.Before(until) {
		return nil
	}
	tx.Touch("session", s.ID)
	if _, err := tx.Exec(ctx, `UPDATE session SET connect_by = $3 WHERE org_id = $1 AND id = $2`, tx.Org, s.ID, until); err != nil {
		return err
	}
	_, err = changeTokens(ctx, tx, `
		UPDATE session_token SET expires_at = $4 WHERE org_id = $1 AND session_id = $2 AND kind = $3 AND expires_at < $4 RETURNING hash`,
		tx.Org, s.ID, clientToken, until)
	return err
}
