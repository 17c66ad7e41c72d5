package connection

import "github.com/jackc/pgx/v5"

// columns are what scan takes, of connection c, in its order: all but the tools of its server,
// which can be large.
const columns = `c.id, c.kind, c.provider, c.name, c.state, c.config, c.timeout_ms, c.fallback, c.secret IS NOT NULL, c.secret_last4,
	c.ok_at, c.error_at, c.error_code, c.failures, c.p95_ms, c.settled_at, c.created_at, c.updated_at, c.deleted_at, c.successor_id,
	ARRAY(SELECT u.user_id FROM connection_use u
		WHERE u.org_id = c.org_id AND u.connection_id = c.id AND u.user_kind = 'persona' ORDER BY u.user_id),
	ARRAY(SELECT u.user_id FROM connection_use u
		WHERE u.org_id = c.org_id AND u.connection_id = c.id AND u.user_kind = 'voice' ORDER BY u.user_id),
	ARRAY(SELECT u.user_id FROM connection_use u
		WHERE u.org_id = c.org_id AND u.connection_id = c.id AND u.user_kind = 'portal' ORDER BY u.user_id),
	ARRAY(SELECT u.user_id FROM connection_use u
		WHERE u.org_id = c.org_id AND u.connection_id = c.id AND u.user_kind = 'schedule' ORDER BY u.user_id),
	ARRAY(SELECT u.user_id FROM connection_use u
		WHERE u.org_id = c.org_id AND u.connection_id = c.id AND u.user_kind = 'knowledge_base' ORDER BY u.user_id),
	(SELECT count(*) FROM connection_use u WHERE u.org_id = c.org_id AND u.connection_id = c.id AND u.user_kind = 'session')`

// whole are all, and what scanWhole takes.
const whole = columns + `, c.tools`

func scan(row pgx.CollectableRow) (Connection, error) {
	var c Connection
	err := row.Scan(fields(&c)...)
	return c, err
}

func scanWhole(row pgx.CollectableRow) (Connection, error) {
	var c Connection
	err := row.Scan(append(fields(&c), &c.Discovered)...)
	return c, err
}

// fields are where the columns go.
func fields(c *Connection) []any {
	return []any{
		&c.ID, &c.Kind, &c.Provider, &c.Name, &c.State, &c.Config, &c.TimeoutMs, &c.Fallback, &c.SecretSet, &c.SecretLast4,
		&c.Health.OKAt, &c.Health.ErrorAt, &c.Health.ErrorCode, &c.Health.Failures, &c.Health.P95Ms, &c.SettledAt,
		&c.CreatedAt, &c.UpdatedAt, &c.DeletedAt, &c.Successor, &c.UsedBy.Personas, &c.UsedBy.Voices, &c.UsedBy.Portals, &c.UsedBy.Schedules,
		&c.UsedBy.Bases, &c.UsedBy.Sessions,
	}
}
