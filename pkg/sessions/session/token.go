package session

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// Token lets its holder into one session. It names the organization, since a
// socket that opens with nothing else must find its shard. Only its hash is
// stored.
type Token string

const tokenPrefix = "vst_"

// newToken makes a token of 260 random bits.
func newToken(org id.Org) Token { return Token(tokenPrefix + org.Bare() + rand.Text() + rand.Text()) }

// Org is the organization that a token names; false for what is no token.
func (t Token) Org() (id.Org, bool) {
	rest, ok := strings.CutPrefix(string(t), tokenPrefix)
	if !ok || len(rest) < 48 || len(rest) > 128 {
		return id.Org{}, false
	}
	org, err := id.ParseOrg(rest[:22])
	return org, err == nil
}

func (t Token) hash() []byte {
	sum := sha256.Sum256([]byte(t))
	return sum[:]
}

// hexed is a hash that is part of a row's key.
type hexed []byte

func (h hexed) String() string { return hex.EncodeToString(h) }

// The kinds of tokens.
const (
	clientToken = "client"
	resumeToken = "resume"
	staffToken  = "staff"
)

// ratingWithin is how long the holder of a client's token can rate a session
// that ended.
const ratingWithin = 24 * time.Hour

// Admission is what a token lets its holder do.
type Admission struct {
	Session Session
	// Staff is the team member; zero for the client.
	Staff id.Staff
	// Resumes says that the client was connected before.
	Resumes bool
	// Attended is the name of who came before the team member, who was called by mail, and is there and can talk;
	// empty for nobody. Until they leave, the token lets nobody in.
	Attended  string
	expiresAt time.Time
}

// Expired says whether the token lets nobody in any more.
func (a Admission) Expired(now time.Time) bool { return !now.Before(a.expiresAt) }

// Admit finds what a token opens. The error is errdefs.NotFound.
func Admit(ctx context.Context, t *tenant.Tenants, s id.Session, token Token) (id.Org, Admission, error) {
	org, ok := token.Org()
	if !ok {
		return org, Admission{}, Noun.NotFound(s)
	}
	var (
		a     Admission
		kind  string
		first *string
		known bool
		found []Session
	)
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		r.QueryRow(&known, []any{&kind, &a.Staff, &a.expiresAt, &first}, `
			SELECT kind, staff_id, expires_at, (
				SELECT o.name FROM session_staff c JOIN session_staff o ON o.org_id = c.org_id AND o.session_id = c.session_id
				WHERE c.org_id = k.org_id AND c.session_id = k.session_id AND c.id = k.staff_id AND c.called AND c.joined_at IS NULL
					AND `+attending+` ORDER BY o.joined_at, o.id LIMIT 1)
			FROM session_token k WHERE org_id = $1 AND hash = $2 AND session_id = $3`, org, token.hash(), s)
		queueGet(r, org, s, &found)
	})
	if err == nil && !known || errors.Is(err, directory.ErrUnknown) {
		err = Noun.NotFound(s)
	}
	a.Resumes = kind == resumeToken
	if first != nil {
		a.Attended = *first
	}
	a.Session, err = one(s, found, err)
	return org, a, err
}

// insertToken enters a token of a session.
func insertToken(ctx context.Context, tx *tenant.Tx, t Token, s id.Session, kind string, staff id.Staff, expires time.Time) error {
	var b pgx.Batch
	queueToken(tx, &b, t, s, kind, staff, expires)
	return tx.SendBatch(ctx, &b).Close()
}

func queueToken(tx *tenant.Tx, b *pgx.Batch, t Token, s id.Session, kind string, staff id.Staff, expires time.Time) {
	tx.Touch("session_token", hexed(t.hash()))
	b.Queue(`
		INSERT INTO session_token (org_id, hash, session_id, kind, staff_id, expires_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		tx.Org, t.hash(), s, kind, staff, expires)
}

// changeTokens runs a statement that returns the hashes of the tokens it changed, and answers how many it did.
func changeTokens(ctx context.Context, tx *tenant.Tx, sql string, args ...any) (int, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return 0, err
	}
	hashes, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	for _, hash := range hashes {
		tx.Touch("session_token", hexed(hash))
	}
	return len(hashes), err
}

// renew gives a client the token that lets it come back. The one it came with
// stays good for a while: the new one may never reach it.
func renew(ctx context.Context, tx *tenant.Tx, s Session, now time.Time) (Token, error) {
	if _, err := changeTokens(ctx, tx, `
		UPDATE session_token SET expires_at = $3
		WHERE org_id = $1 AND session_id = $2 AND kind IN ('client', 'resume') AND expires_at > $3 RETURNING hash`,
		tx.Org, s.ID, now.Add(ResumeWithin)); err != nil {
		return "", err
	}
	token := newToken(tx.Org)
	until := now.Add(time.Duration(s.MaxDurationS)*time.Second + ResumeWithin + ratingWithin)
	return token, insertToken(ctx, tx, token, s.ID, resumeToken, id.Staff{}, until)
}

// toldUsedFor is how long it is known of a team member's token that it was used, or not in time.
const toldUsedFor = 24 * time.Hour

// SweepTokens forgets tokens of a shard that let nobody in any more; those of team members a day
// later, so that whoever opens one late is told why.
func SweepTokens(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	return t.SweepRows(ctx, shard, `
		DELETE FROM session_token WHERE (org_id, hash) IN (
			SELECT k.org_id, k.hash FROM session_token k
			JOIN org_fence f ON f.org_id = k.org_id AND f.state = 'open'
			WHERE k.expires_at < $1 AND (k.kind <> 'staff' OR k.expires_at < $3) LIMIT $2)`, now, SweepBatch, now.Add(-toldUsedFor))
}
