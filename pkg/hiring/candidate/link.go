package candidate

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// mostLinks is how many links that were mailed open an invitation at a time, the newest, beside the
// one that it was made with.
const mostLinks = 20

// hexed is a hash that is part of a row's key.
type hexed []byte

func (h hexed) String() string { return hex.EncodeToString(h) }

// inviteOf finds the invitation that a token opens: its own, or that of a link that was mailed.
const inviteOf = `
	SELECT id FROM candidate_invite WHERE org_id = $1 AND token_hash = $2
	UNION ALL
	SELECT invite_id FROM candidate_link WHERE org_id = $1 AND hash = $2`

// opens says whether a token opens an invitation whose candidate is locked. It rides
// candidate_invite_by_token and candidate_link_pkey.
func (v *Invite) opens(ctx context.Context, tx *tenant.Tx, token Token) (opens bool, err error) {
	err = tx.QueryRow(ctx, `SELECT $3 IN (`+inviteOf+`)`, tx.Org, token.hash(), v.ID).Scan(&opens)
	return opens, err
}

// Mailed says whether a token is of a link that was mailed to the candidate and shown to nobody else. It rides
// candidate_link_pkey.
func Mailed(ctx context.Context, tx *tenant.Tx, token Token) (mailed bool, err error) {
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM candidate_link WHERE org_id = $1 AND hash = $2)`, tx.Org, token.hash()).Scan(&mailed)
	return mailed, err
}

// also has another token open an invitation, beside those that do. It rides
// candidate_link_by_invite.
func (v *Invite) also(ctx context.Context, tx *tenant.Tx, token Token, now time.Time) error {
	tx.Touch("candidate_link", hexed(token.hash()))
	if _, err := tx.Exec(ctx, `INSERT INTO candidate_link (org_id, hash, invite_id, made_at) VALUES ($1, $2, $3, $4)`,
		tx.Org, token.hash(), v.ID, now); err != nil {
		return err
	}
	return v.dropLinks(ctx, tx, mostLinks)
}

// dropLinks has no link that was mailed open an invitation any more, but for the newest. It rides
// candidate_link_by_invite.
func (v *Invite) dropLinks(ctx context.Context, tx *tenant.Tx, left int64) error {
	rows, err := tx.Query(ctx, `
		DELETE FROM candidate_link WHERE org_id = $1 AND invite_id = $2 AND hash NOT IN (
			SELECT l.hash FROM candidate_link l WHERE l.org_id = $1 AND l.invite_id = $2 ORDER BY l.made_at DESC, l.hash LIMIT $3)
		RETURNING hash`, tx.Org, v.ID, left)
	if err != nil {
		return err
	}
	var hash []byte
	_, err = pgx.ForEachRow(rows, []any{&hash}, func() error {
		tx.Touch("candidate_link", hexed(hash))
		return nil
	})
	return err
}

// reopen has another token open an invitation, in the place of all before.
func (v *Invite) reopen(ctx context.Context, tx *tenant.Tx, token Token) error {
	tx.Touch("candidate_invite", v.ID)
	if _, err := tx.Exec(ctx, `UPDATE candidate_invite SET token_hash = $3 WHERE org_id = $1 AND id = $2`, tx.Org, v.ID, token.hash()); err != nil {
		return err
	}
	return v.dropLinks(ctx, tx, 0)
}

// Link implements mailer.Candidates. A link that a new one or another address ended while its mail
// waited is not sent.
func (Letters) Link(ctx context.Context, tx *tenant.Tx, which id.Invite, token string, now time.Time) (string, error) {
	v, _, err := lockInvite(ctx, tx, which)
	if err != nil || v.Good(now) != nil {
		return "", err
	}
	opens, err := v.opens(ctx, tx, Token(token))
	if err != nil || opens {
		return token, err
	}
	fresh := NewToken()
	return string(fresh), v.also(ctx, tx, fresh, now)
}
