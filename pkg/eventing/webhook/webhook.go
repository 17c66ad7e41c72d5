// Package webhook is what an organization asked to be told, and where (spec,
// Webhook). Recording what is due is package event's, sending it package
// delivery's.
package webhook

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Webhook is one webhook without its secret.
type Webhook struct {
	ID  id.Webhook
	URL string
	// Description is nil when there is none.
	Description *string
	// Events are types, or event.Any.
	Events              []string
	IncludeConversation bool
	Active              bool
	// PausedAt is when it was paused after failing every delivery for three days.
	PausedAt *time.Time
	// FailingSince is its first failed attempt since it last delivered or was
	// resumed.
	FailingSince         *time.Time
	APIVersion           contract.Version
	CreatedAt, UpdatedAt time.Time
	// ManagedBy is who changes it; empty counts as the API when it is entered.
	ManagedBy managed.By
	// DeliveredAt is when something first arrived.
	DeliveredAt *time.Time
}

// Noun is what errors call a webhook.
const Noun errdefs.Noun = "webhook"

// Subscription is what the webhook asked for.
func (w Webhook) Subscription() event.Subscription {
	return event.Subscription{Webhook: w.ID, Events: w.Events, IncludeConversation: w.IncludeConversation, APIVersion: w.APIVersion}
}

// Resumed is the webhook as it receives again; its failing run starts afresh
// (spec, Webhook activity).
func (w Webhook) Resumed() Webhook {
	w.Active, w.PausedAt, w.FailingSince = true, nil, nil
	return w
}

// Secret signs a webhook's deliveries.
type Secret string

// NewSecret makes a secret of 256 random bits.
func NewSecret() Secret { return Secret("whsec_" + rand.Text() + rand.Text()) }

// Seal makes the form of a secret that the database keeps.
func (s Secret) Seal(v *vault.Vault, w id.Webhook) []byte { return v.Seal(w.String(), []byte(s)) }

// OpenSecret reads a sealed secret of a webhook.
func OpenSecret(v *vault.Vault, w id.Webhook, sealed []byte) (Secret, error) {
	secret, err := v.Open(w.String(), sealed)
	return Secret(secret), err
}

const columns = `id, url, description, events, include_conversation, active, paused_at, failing_since,
	api_version, created_at, updated_at, managed_by, delivered_at`

func scan(row pgx.CollectableRow) (Webhook, error) { return pgx.RowToStructByPos[Webhook](row) }

// Insert enters a webhook; changes are what Apply made of a blank one. full says that the
// plan allows no more, and nothing was entered.
func Insert(
	ctx context.Context, tx *tenant.Tx, v *vault.Vault, w Webhook, s Secret, terms plan.Terms, changes map[string]any, who activity.Actor,
) (full bool, err error) {
	if err := event.LockLog(ctx, tx); err != nil {
		return false, err
	}
	limit, limited := terms.Limit(plan.Webhooks)
	if full, err := tx.Increment(ctx, string(plan.Webhooks), limit, limited); full || err != nil {
		return full, err
	}
	tx.Touch("webhook", w.ID)
	if _, err := tx.Exec(ctx, `
		INSERT INTO webhook (org_id, id, url, description, events, include_conversation, active, api_version, secret, created_at, updated_at, managed_by)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		tx.Org, w.ID, w.URL, w.Description, w.Events, w.IncludeConversation, w.Active, w.APIVersion, s.Seal(v, w.ID), w.CreatedAt, w.UpdatedAt,
		cmp.Or(w.ManagedBy, managed.API)); err != nil {
		return false, err
	}
	who.Log(tx, "webhook.created", "webhook", w.ID, changes)
	return false, nil
}

// List is a page of the webhooks, newest first, after one of them; the zero id
// for the first page. It rides webhook_pkey.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, after id.Webhook, limit int) ([]Webhook, error) {
	return tenant.All(ctx, t, org, scan, `
		SELECT `+columns+` FROM webhook
		WHERE org_id = $1 AND ($2::UUID IS NULL OR id < $2) AND deleted_at IS NULL
		ORDER BY id DESC LIMIT $3`, org, after, limit)
}

// Get finds a webhook. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, w id.Webhook) (Webhook, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(w), `SELECT `+columns+` FROM webhook WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL`, org, w)
}

// Peek finds a webhook in a transaction; nil when there is none.
func Peek(ctx context.Context, tx *tenant.Tx, w id.Webhook) (*Webhook, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM webhook WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL`, tx.Org, w)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectExactlyOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &found, err
}

// Lock finds a webhook in a transaction that will change it: no event is
// recorded and nobody else changes it until the commit. The error is
// errdefs.NotFound.
func Lock(ctx context.Context, tx *tenant.Tx, w id.Webhook) (Webhook, error) {
	if err := event.LockLog(ctx, tx); err != nil {
		return Webhook{}, err
	}
	rows, err := tx.Query(ctx, `
		SELECT `+columns+` FROM webhook WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL FOR UPDATE`, tx.Org, w)
	if err != nil {
		return Webhook{}, err
	}
	found, err := pgx.CollectExactlyOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		err = Noun.NotFound(w)
	}
	return found, err
}

// LockFor is Lock for who is about to change what the webhook is. The error is
// errdefs.NotFound, or a *managed.Error where something else manages it.
func LockFor(ctx context.Context, tx *tenant.Tx, w id.Webhook, who managed.By) (Webhook, error) {
	found, err := Lock(ctx, tx, w)
	if err != nil {
		return Webhook{}, err
	}
	return found, found.ManagedBy.Check(who, Noun, w.String())
}

// Action is what somebody does to a webhook that is there, as the activity log has it.
type Action string

// The actions.
const (
	Updated Action = "webhook.updated"
	// Adopted and Released are by a resource, which manages it from then on, or no more.
	Adopted  Action = "webhook.adopted"
	Released Action = "webhook.released"
	// Paused and Resumed are by an operator's hand.
	Paused  Action = "webhook.paused"
	Resumed Action = "webhook.resumed"
)

// Update writes a webhook that Lock found and somebody changed.
func Update(ctx context.Context, tx *tenant.Tx, w Webhook, action Action, changes map[string]any, who activity.Actor) error {
	tx.Touch("webhook", w.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE webhook SET url = $3, description = $4, events = $5, include_conversation = $6, active = $7,
			paused_at = $8, failing_since = $9, api_version = $10, updated_at = $11, managed_by = $12
		WHERE org_id = $1 AND id = $2`,
		tx.Org, w.ID, w.URL, w.Description, w.Events, w.IncludeConversation, w.Active, w.PausedAt, w.FailingSince, w.APIVersion, w.UpdatedAt,
		w.ManagedBy); err != nil {
		return err
	}
	who.Log(tx, string(action), "webhook", w.ID, changes)
	return nil
}

// Rotate gives a webhook that Lock found another secret. For a while its
// deliveries are signed with the old one too.
func Rotate(ctx context.Context, tx *tenant.Tx, v *vault.Vault, w id.Webhook, s Secret, grace time.Duration, who activity.Actor) error {
	tx.Touch("webhook", w)
	if _, err := tx.Exec(ctx, `
		UPDATE webhook SET previous_secret = secret, previous_until = $4, secret = $3, updated_at = $5
		WHERE org_id = $1 AND id = $2`, tx.Org, w, s.Seal(v, w), who.At.Add(grace), who.At); err != nil {
		return err
	}
	who.Log(tx, "webhook.secret_rotated", "webhook", w, map[string]any{"graceS": int64(grace / time.Second)})
	return nil
}

// Delete removes a webhook on behalf of who manages it. Its delivery log is out of
// reach at once and its rows are swept later: there can be millions. The errors are
// those of LockFor.
func Delete(ctx context.Context, tx *tenant.Tx, w id.Webhook, by managed.By, who activity.Actor) error {
	if _, err := LockFor(ctx, tx, w, by); err != nil {
		return err
	}
	tx.Touch("webhook", w)
	if _, err := tx.Exec(ctx, `
		UPDATE webhook SET deleted_at = $3, active = false, secret = '', previous_secret = NULL
		WHERE org_id = $1 AND id = $2`, tx.Org, w, who.At); err != nil {
		return err
	}
	if err := tx.Decrement(ctx, string(plan.Webhooks)); err != nil {
		return err
	}
	who.Log(tx, "webhook.deleted", "webhook", w, nil)
	return nil
}

// SweepBatch bounds the rows that one statement deletes.
const SweepBatch = 5000

// Sweep deletes the delivery logs of deleted webhooks, a part at a time, and
// then the webhooks.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string) (int, error) {
	n, err := t.SweepRows(ctx, shard, `
		DELETE FROM delivery WHERE (org_id, id) IN (
			SELECT d.org_id, d.id FROM webhook w
			JOIN org_fence f ON f.org_id = w.org_id AND f.state = 'open'
			JOIN delivery d ON d.org_id = w.org_id AND d.webhook_id = w.id
			WHERE w.deleted_at IS NOT NULL LIMIT $1)`, SweepBatch)
	if err != nil || n > 0 {
		return n, err
	}
	return t.SweepRows(ctx, shard, `
		DELETE FROM webhook WHERE (org_id, id) IN (
			SELECT w.org_id, w.id FROM webhook w
			JOIN org_fence f ON f.org_id = w.org_id AND f.state = 'open'
			WHERE w.deleted_at IS NOT NULL AND NOT EXISTS (
				SELECT 1 FROM delivery d WHERE d.org_id = w.org_id AND d.webhook_id = w.id)
			LIMIT $1)`, SweepBatch)
}
