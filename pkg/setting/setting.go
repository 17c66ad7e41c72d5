// Package setting reads an organisation's switches.
package setting

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/id"
	"visavis.dev/pkg/tenant"
)

// Switch names a switch of the whole organisation.
type Switch string

// ZeroRetention keeps no words of any conversation (spec, includeConversation).
const ZeroRetention Switch = "privacy.zero_data_retention"

// A switch that was never set is off.
const selectSwitch = `
	SELECT value FROM setting
	WHERE org_id = $1 AND scope_kind = 'organization' AND scope_id = '' AND key = $2`

// Queue reads a switch among other reads.
func Queue(r *tenant.Reads, org id.Org, s Switch, on *bool) {
	r.Query(func(rows pgx.Rows) error {
		*on = false
		return scan(rows, on)
	}, selectSwitch, org, s)
}

// On reads a switch in a transaction.
func On(ctx context.Context, tx *tenant.Tx, s Switch) (on bool, err error) {
	var b pgx.Batch
	QueueOn(tx, &b, s, &on)
	err = tx.SendBatch(ctx, &b).Close()
	return on, err
}

// QueueOn is On among other statements.
func QueueOn(tx *tenant.Tx, b *pgx.Batch, s Switch, on *bool) {
	b.Queue(selectSwitch, tx.Org, s).Query(func(rows pgx.Rows) error {
		*on = false
		return scan(rows, on)
	})
}

func scan(rows pgx.Rows, on *bool) error {
	for rows.Next() {
		var value json.RawMessage
		if err := rows.Scan(&value); err != nil {
			return err
		}
		if err := json.Unmarshal(value, on); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Set turns a switch on or off. by is the key's id, or a name such as operator.
func Set(ctx context.Context, tx *tenant.Tx, s Switch, on bool, by string, at time.Time) error {
	tx.Touch("setting", part("organization"), part(""), part(s))
	_, err := tx.Exec(ctx, `
		INSERT INTO setting (org_id, scope_kind, scope_id, key, value, changed_at, changed_by)
		VALUES ($1, 'organization', '', $2, $3, $4, $5)
		ON CONFLICT (org_id, scope_kind, scope_id, key)
		DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at, changed_by = excluded.changed_by`,
		tx.Org, s, on, at, by)
	return err
}

// part is a part of a row's key.
type part string

func (p part) String() string { return string(p) }
