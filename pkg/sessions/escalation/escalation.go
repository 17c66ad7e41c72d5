// Package escalation is chats that are handed to the video avatar: an organization's
// chat asks for one, the customer comes by its link, and when the conversation ends
// the organization is told how (spec, Portals).
package escalation

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// State is where an escalation stands.
type State string

// The states. It waits for the customer, who can come until it expires.
const (
	Waiting   State = "waiting"
	Live      State = "live"
	Completed State = "completed"
	Expired   State = "expired"
	Declined  State = "declined"
)

// Context is the chat so far.
type Context struct {
	Transcript []Line  `json:"transcript" maxItems:"200" doc:"What was said, in order."`
	Summary    *string `json:"summary" maxLength:"4000" doc:"The chat in a few sentences; null for none."`
}

// Line is something that was said in the chat.
type Line struct {
	Speaker string     `json:"speaker" given:"always" maxLength:"80" doc:"Who said it, by name or role."`
	Text    string     `json:"text" given:"always" maxLength:"4000" doc:"What was said."`
	At      *time.Time `json:"at" doc:"When it was said, in UTC; null where it is not known."`
}

// Escalation is one chat that is handed over.
type Escalation struct {
	ID             id.Escalation
	Portal         id.Portal
	State          State
	ExternalChatID string
	Channel        string
	CustomerRef    *string
	Context        Context
	Reason         *string
	Language       string
	ExpiresAt      time.Time
	Session        id.Session
	// Outcome is resolved, unresolved, handoff or abandoned; nil before the end.
	Outcome                *string
	StartedAt, CompletedAt *time.Time
	ExternalID             *string
	Metadata               map[string]string
	CreatedAt              time.Time
	// Sandbox says that a test key made it: the conversation is a trial.
	Sandbox bool
	// Left is what the conversation left in the inbox; zero for nothing. It is read beside the row.
	Left id.InboxItem
}

// Noun is what errors call an escalation.
const Noun errdefs.Noun = "escalation"

// ReasonOver is that of the conflict of an escalation that waits no more.
const ReasonOver = "not_waiting"

// Token opens an escalation. Only its hash is stored.
type Token string

// NewToken makes a token of 130 random bits.
func NewToken() Token { return Token("ves_" + rand.Text()) }

func (t Token) hash() []byte {
	sum := sha256.Sum256([]byte(t))
	return sum[:]
}

const columns = `id, portal_id, state, external_chat_id, channel, customer_ref, context, reason, language, expires_at, session_id, outcome,
	started_at, completed_at, external_id, metadata, created_at, sandbox,
	(SELECT i.id FROM inbox_item i WHERE i.org_id = escalation.org_id AND i.session_id = escalation.session_id ORDER BY i.kind LIMIT 1)`

func scan(row pgx.CollectableRow) (Escalation, error) { return pgx.RowToStructByPos[Escalation](row) }

// Insert enters an escalation that waits.
func Insert(ctx context.Context, tx *tenant.Tx, e Escalation, token Token, who activity.Actor) error {
	tx.Touch("escalation", e.ID)
	if _, err := tx.Exec(ctx, `
		INSERT INTO escalation (org_id, id, portal_id, state, external_chat_id, channel, customer_ref, context, reason, language, token_hash,
			expires_at, external_id, metadata, created_at, sandbox)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
		tx.Org, e.ID, e.Portal, e.State, e.ExternalChatID, e.Channel, e.CustomerRef, e.Context, e.Reason, e.Language, token.hash(),
		e.ExpiresAt, e.ExternalID, e.Metadata, e.CreatedAt, e.Sandbox); err != nil {
		return err
	}
	who.Log(tx, "escalation.created", "escalation", e.ID, map[string]any{"portalId": e.Portal})
	return nil
}

// Get finds an escalation. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, e id.Escalation) (Escalation, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(e), `SELECT `+columns+` FROM escalation WHERE org_id = $1 AND id = $2`, org, e)
}

// Find finds an escalation in a transaction. The error is errdefs.NotFound.
func Find(ctx context.Context, tx *tenant.Tx, e id.Escalation) (Escalation, error) {
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(e), `SELECT `+columns+` FROM escalation WHERE org_id = $1 AND id = $2`, tx.Org, e)
}

// Opened finds what a token opens on a portal. It rides escalation_by_token. The
// error is errdefs.NotFound.
func Opened(ctx context.Context, tx *tenant.Tx, p id.Portal, token Token) (Escalation, error) {
	return tenant.OneIn(ctx, tx, scan, errdefs.NotFound{Noun: Noun}, `
		SELECT `+columns+` FROM escalation WHERE org_id = $1 AND token_hash = $2 AND portal_id = $3`, tx.Org, token.hash(), p)
}

// over says that the customer of an escalation has come.
func over(e id.Escalation) error {
	return &errdefs.Conflict{
		Noun: Noun, ID: e.String(), Reason: ReasonOver, Message: "The customer has come; POST /sessions/{id}/end ends the conversation.",
	}
}

// Decline takes an escalation back that still waits. One that was taken back, or
// expired, is answered as it is. The error is errdefs.NotFound, or an errdefs.Conflict where the
// customer has come.
func Decline(ctx context.Context, tx *tenant.Tx, which id.Escalation, who activity.Actor) (Escalation, error) {
	e, err := tenant.OneIn(ctx, tx, scan, Noun.NotFound(which), `SELECT `+columns+` FROM escalation WHERE org_id = $1 AND id = $2 FOR UPDATE`, tx.Org, which)
	switch {
	case err != nil:
		return e, err
	case e.State == Waiting:
		e.State = Declined
		tx.Touch("escalation", e.ID)
		if _, err := tx.Exec(ctx, `UPDATE escalation SET state = 'declined' WHERE org_id = $1 AND id = $2`, tx.Org, e.ID); err != nil {
			return e, err
		}
	case e.State != Declined && e.State != Expired:
		return e, over(e.ID)
	}
	who.Log(tx, "escalation.declined", "escalation", e.ID, nil)
	return e, nil
}
