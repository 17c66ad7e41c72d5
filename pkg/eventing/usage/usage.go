// Package usage adds up an organization's session time and prepaid minutes
// (spec, GET /usage).
package usage

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Report is what an organization used in a period [From, To), and what it has
// left now. Seconds throughout.
type Report struct {
	From, To time.Time
	UsedS    int64
	SandboxS int64
	Sessions int64
	// PeakConcurrent is the largest number of sessions at one moment.
	PeakConcurrent int64
	ByDay          []Day
	ByKind         []Share[string]
	ByPersona      []Share[id.Persona]
	Minutes        Minutes
	// Reached are the warnings of the current calendar month.
	Reached []Threshold
}

// Day is one day's use, in UTC.
type Day struct {
	Date     time.Time
	Sessions int64
	Seconds  int64
}

// Share is the use that falls to one thing.
type Share[K any] struct {
	Key      K
	Sessions int64
	Seconds  int64
}

// Minutes are the prepaid minutes, in seconds.
type Minutes struct {
	// PurchasedS is everything ever granted; HeldS what of it has not expired;
	// LeftS what of that is not used.
	PurchasedS, HeldS, LeftS int64
	// ExpiresAt is when the next of what is left expires.
	ExpiresAt *time.Time
	// MonthS is what was used in the current calendar month, in UTC.
	MonthS int64
}

// topPersonas is how many personas a report names.
const topPersonas = 20

// Month is the calendar month of a moment, in UTC: its start and the next's.
func Month(at time.Time) (from, to time.Time) {
	at = at.UTC()
	from = time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
	return from, from.AddDate(0, 1, 0)
}

// Of adds up a period, in one trip. It rides the index usage_block_by_time. A second that was begun is paid for, but
// who comes within it after a session ended is not there at once with it.
func Of(ctx context.Context, t *tenant.Tenants, org id.Org, from, to, now time.Time) (Report, error) {
	var r Report
	month, nextMonth := Month(now)
	err := t.Read(ctx, org, func(reads *tenant.Reads) {
		r = Report{From: from, To: to}
		var found bool
		reads.QueryRow(&found, []any{&r.UsedS, &r.SandboxS, &r.Sessions}, `
			SELECT COALESCE(sum(seconds) FILTER (WHERE NOT sandbox), 0)::BIGINT,
				COALESCE(sum(seconds) FILTER (WHERE sandbox), 0)::BIGINT, count(DISTINCT session_id)
			FROM usage_block WHERE org_id = $1 AND started_at >= $2 AND started_at < $3`, org, from, to)
		reads.QueryRow(&found, []any{&r.PeakConcurrent}, `
			SELECT COALESCE(max(live), 0)::BIGINT FROM (
				SELECT sum(step) OVER (ORDER BY at, step) AS live FROM (
					SELECT started_at AS at, 1 AS step FROM usage_block
					WHERE org_id = $1 AND started_at >= $2 AND started_at < $3
					UNION ALL
					SELECT LEAST(b.started_at + b.seconds * INTERVAL '1 second', s.ended_at), -1 FROM usage_block b
					LEFT JOIN session s ON s.org_id = b.org_id AND s.id = b.session_id
					WHERE b.org_id = $1 AND b.started_at >= $2 AND b.started_at < $3
				) AS steps
			) AS levels`, org, from, to)
		reads.Query(collect(&r.ByDay), `
			SELECT date_trunc('day', started_at AT TIME ZONE 'UTC') AS day, count(DISTINCT session_id), sum(seconds)::BIGINT
			FROM usage_block WHERE org_id = $1 AND started_at >= $2 AND started_at < $3 AND NOT sandbox
			GROUP BY day ORDER BY day`, org, from, to)
		reads.Query(collect(&r.ByKind), `
			SELECT kind, count(DISTINCT session_id), sum(seconds)::BIGINT
			FROM usage_block WHERE org_id = $1 AND started_at >= $2 AND started_at < $3 AND NOT sandbox
			GROUP BY kind ORDER BY kind`, org, from, to)
		reads.Query(collect(&r.ByPersona), `
			SELECT persona_id, count(DISTINCT session_id), sum(seconds)::BIGINT AS total
			FROM usage_block WHERE org_id = $1 AND started_at >= $2 AND started_at < $3 AND NOT sandbox
				AND persona_id IS NOT NULL
			GROUP BY persona_id ORDER BY total DESC, persona_id LIMIT $4`, org, from, to, topPersonas)
		reads.QueryRow(&found, []any{&r.Minutes.PurchasedS, &r.Minutes.HeldS, &r.Minutes.LeftS, &r.Minutes.ExpiresAt}, `
			SELECT COALESCE(sum(seconds), 0)::BIGINT,
				COALESCE(sum(seconds) FILTER (WHERE expires_at IS NULL OR expires_at > $2), 0)::BIGINT,
				COALESCE(sum(remaining_s) FILTER (WHERE expires_at IS NULL OR expires_at > $2), 0)::BIGINT,
				min(expires_at) FILTER (WHERE expires_at > $2 AND remaining_s > 0)
			FROM minute_grant WHERE org_id = $1`, org, now)
		reads.QueryRow(&found, []any{&r.Minutes.MonthS}, `
			SELECT COALESCE(sum(seconds), 0)::BIGINT FROM usage_block
			WHERE org_id = $1 AND started_at >= $2 AND started_at < $3 AND NOT sandbox`, org, month, nextMonth)
		QueueReached(reads, org, now, &r.Reached)
	})
	return r, err
}

func collect[T any](into *[]T) func(pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, pgx.RowToStructByPos[T])
		return err
	}
}
