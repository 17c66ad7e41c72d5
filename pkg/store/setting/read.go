package setting

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/store/tenant"
)

// A switch that was never set is off.
const selectSwitch = `
	SELECT value FROM setting
	WHERE org_id = $1 AND scope_kind = 'organization' AND scope_id = '' AND key = $2`

// Queue reads a switch of the whole organization among other reads. One that was
// never set is off, whatever its default.
func Queue(r *tenant.Reads, org id.Org, k Key, on *bool) {
	r.Query(func(rows pgx.Rows) error {
		*on = false
		return scanSwitch(rows, on)
	}, selectSwitch, org, k)
}

// On reads a switch of the whole organization in a transaction.
func On(ctx context.Context, tx *tenant.Tx, k Key) (on bool, err error) {
	var b pgx.Batch
	QueueOn(tx, &b, k, &on)
	err = tx.SendBatch(ctx, &b).Close()
	return on, err
}

// QueueOn is On among other statements.
func QueueOn(tx *tenant.Tx, b *pgx.Batch, k Key, on *bool) {
	b.Queue(selectSwitch, tx.Org, k).Query(func(rows pgx.Rows) error {
		*on = false
		return scanSwitch(rows, on)
	})
}

func scanSwitch(rows pgx.Rows, on *bool) error {
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

// Values are what was set along a chain of scopes. A setting that was not set
// has its default.
type Values map[Key]Value

// On is whether a Boolean is on.
func (v Values) On(k Key) bool { return v.of(k).(bool) }

// Number is an Integer; bound is false where it has no value.
func (v Values) Number(k Key) (n int64, bound bool) {
	n, bound = v.of(k).(int64)
	return n, bound
}

// AtMost is a number that an Integer bounds.
func (v Values) AtMost(k Key, n int64) int64 {
	if most, bound := v.Number(k); bound {
		return min(n, most)
	}
	return n
}

// Bound are an organization's terms as it bounds them itself.
func (v Values) Bound(t plan.Terms) plan.Terms {
	for key, limit := range map[Key]plan.Limit{MaxConcurrent: plan.MaxConcurrentSessions, MonthlyCapMinutes: plan.MonthlyCapMinutes} {
		if n, bound := v.Number(key); bound {
			t = t.AtMost(limit, n)
		}
	}
	return t
}

// Require is nil where a Boolean is on, and otherwise what whoever needs it is
// told (spec, Errors).
func (v Values) Require(k Key) error {
	if v.On(k) {
		return nil
	}
	return problem.Conflicting("switched_off", "The setting %s is off.", k).WithDetail("setting", k)
}

func (v Values) of(k Key) Value {
	if value, set := v[k]; set {
		return value
	}
	d, _ := Find(k)
	return d.Default
}

// valuesOf are the nearest values of a chain's rows. One that cannot be read is
// an error: a switch guards what may be kept, and is not off for that.
func valuesOf(rows []row) (Values, error) {
	values := Values{}
	for _, r := range rows {
		d, known := Find(r.Key)
		if _, nearer := values[r.Key]; nearer || !known {
			continue
		}
		value, err := d.stored(r.Value)
		if err != nil {
			return nil, err
		}
		values[r.Key] = value
	}
	return values, nil
}

// row is what was set at one scope.
type row struct {
	Key       Key
	Value     json.RawMessage
	ChangedAt time.Time
	ChangedBy string
	Kind      ScopeKind
	ScopeID   string
}

func (r row) scope() Scope {
	s := Scope{Kind: r.Kind}
	s.ID, _ = uuid.Parse(r.ScopeID) // empty is the organization's
	return s
}

const (
	// selectHere rides setting_pkey.
	selectHere = `
	SELECT s.key, s.value, s.changed_at, s.changed_by, s.scope_kind, s.scope_id FROM setting s
	WHERE s.org_id = $1 AND s.scope_kind = 'organization' AND s.scope_id = ''`

	// selectChain lists what is set along the scopes of a place, the nearest first.
	// It rides unit_pkey, membership_pkey, membership_by_person and setting_pkey. A unit lies in few
	// others; the bound only ends a ring, should there ever be one.
	selectChain = `
	WITH RECURSIVE up (id, parent_id, portal_id, depth) AS (
		SELECT u.id, u.parent_id, u.portal_id, 0::BIGINT FROM unit u
		WHERE u.org_id = $1 AND u.id = CASE
			WHEN $3::UUID IS NOT NULL THEN $3::UUID
			WHEN $5::UUID IS NOT NULL THEN (SELECT m.unit_id FROM membership m WHERE m.org_id = $1 AND m.id = $5::UUID)
			ELSE (
				SELECT m.unit_id FROM membership m
				WHERE m.org_id = $1 AND m.person_id = $4::UUID AND m.portal_id = $2::UUID AND m.unit_id IS NOT NULL AND m.removed_at IS NULL
				ORDER BY m.id LIMIT 1) END
		UNION ALL
		SELECT u.id, u.parent_id, u.portal_id, up.depth + 1 FROM up JOIN unit u ON u.org_id = $1 AND u.id = up.parent_id
		WHERE up.depth < 50
	), place (kind, id, depth) AS (
		SELECT 'unit', id::TEXT, depth FROM up
		UNION ALL SELECT 'portal', COALESCE($2::UUID, (SELECT portal_id FROM up WHERE depth = 0))::TEXT, 100
		UNION ALL SELECT 'organization', '', 101
	)
	SELECT s.key, s.value, s.changed_at, s.changed_by, s.scope_kind, s.scope_id
	FROM place p JOIN setting s ON s.org_id = $1 AND s.scope_kind = p.kind AND s.scope_id = p.id
	ORDER BY p.depth`
)

// statement lists what is set along the scopes of a place.
func (p Place) statement(org id.Org) (sql string, args []any) {
	if p == (Place{}) {
		return selectHere, []any{org}
	}
	return selectChain, []any{org, p.Portal, p.Unit, p.Person, p.Membership}
}

func collect(rows pgx.Rows) ([]row, error) { return pgx.CollectRows(rows, pgx.RowToStructByPos[row]) }

func into(values *Values) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		found, err := collect(rows)
		if err != nil {
			return err
		}
		*values, err = valuesOf(found)
		return err
	}
}

// QueueValues reads what holds at a place among other reads.
func QueueValues(r *tenant.Reads, org id.Org, at Place, values *Values) {
	sql, args := at.statement(org)
	r.Query(into(values), sql, args...)
}

// QueueAt reads what holds at a place among other statements.
func QueueAt(tx *tenant.Tx, b *pgx.Batch, at Place, values *Values) {
	sql, args := at.statement(tx.Org)
	b.Queue(sql, args...).Query(into(values))
}

// At reads what holds at a place in a transaction.
func At(ctx context.Context, tx *tenant.Tx, at Place) (values Values, err error) {
	var b pgx.Batch
	QueueAt(tx, &b, at, &values)
	err = tx.SendBatch(ctx, &b).Close()
	return values, err
}
