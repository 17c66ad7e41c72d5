package session

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Places counts the organization's places that are taken, and of these those
// whose client has not come. It rides session_active.
func Places(ctx context.Context, t *tenant.Tenants, org id.Org) (active, reserved int64, err error) {
	err = t.Read(ctx, org, func(r *tenant.Reads) {
		var found bool
		r.QueryRow(&found, []any{&active, &reserved}, `
			SELECT COALESCE((SELECT value FROM org_counter WHERE org_id = $1 AND name = $2), 0)::BIGINT,
				(SELECT count(*) FROM session WHERE org_id = $1 AND state IN ('created', 'live') AND state = 'created')`, org, Counter)
	})
	return active, reserved, err
}

// IdleFilter says which idle sessions are meant.
type IdleFilter struct {
	// Before is since when nothing happened in them, at Now.
	Before, Now time.Time
	Persona     id.Persona
	ExternalID  *string
}

// running is Before for a session that a process runs. Somebody may speak in it
// since the process noted its use last, so it is not idle sooner than that is
// noted again, and again where one write was lost.
func (f IdleFilter) running() time.Time {
	if noted := f.Now.Add(-2 * NoteEvery); noted.Before(f.Before) {
		return noted
	}
	return f.Before
}

// Idle says whether nothing happened in a session for as long as is meant.
func (f IdleFilter) Idle(s Session) bool {
	before := f.Before
	if s.Owner.Valid {
		before = f.running()
	}
	return !s.State.Over() && s.UsedAt().Before(before)
}

// mostIdle bounds the idle sessions that are found at once.
const mostIdle = 200

// IdleSince lists sessions in which nothing happened for a while, oldest first.
// It rides session_active.
func IdleSince(ctx context.Context, t *tenant.Tenants, org id.Org, f IdleFilter) ([]Session, error) {
	return tenant.All(ctx, t, org, scan, `
		SELECT `+columns+` FROM session
		WHERE org_id = $1 AND state IN ('created', 'live')
			AND COALESCE(last_activity_at, created_at) < CASE WHEN owner IS NULL THEN $2::TIMESTAMPTZ ELSE $3::TIMESTAMPTZ END
			AND ($4::UUID IS NULL OR persona_id = $4) AND ($5::TEXT IS NULL OR external_id = $5) AND kind <> 'screening'
		ORDER BY id LIMIT $6`, org, f.Before, f.running(), f.Persona, f.ExternalID, mostIdle)
}

// UsedAt is when something last happened in the session.
func (s Session) UsedAt() time.Time {
	if s.LastActivityAt != nil {
		return *s.LastActivityAt
	}
	return s.CreatedAt
}

// Overview is the figures of a period's sessions.
type Overview struct {
	Sessions, Turns, Interruptions, Grounded, Gaps int64
	AverageS                                       *int64
	Response                                       Percentiles
	EndReasons, Languages                          map[string]int64
}

// Survey adds up the sessions that were created in [from, to), of one persona or
// of all. It rides session_pkey, whose ids begin with their moment.
func Survey(ctx context.Context, t *tenant.Tenants, org id.Org, p id.Persona, from, to time.Time) (Overview, error) {
	var o Overview
	first, beyond := id.FirstSession(from), id.FirstSession(to)
	const within = ` WHERE s.org_id = $1 AND s.id >= $2 AND s.id < $3 AND ($4::UUID IS NULL OR s.persona_id = $4) AND s.kind <> 'screening' AND s.started_at IS NOT NULL `
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		o = Overview{EndReasons: map[string]int64{}, Languages: map[string]int64{}}
		var found bool
		r.QueryRow(&found, []any{&o.Sessions, &o.AverageS}, `
			SELECT count(*), (avg(s.duration_s))::BIGINT FROM session s`+within, org, first, beyond, p)
		r.Query(count(o.EndReasons), `
			SELECT s.end_reason, count(*) FROM session s`+within+`AND s.end_reason IS NOT NULL GROUP BY s.end_reason`, org, first, beyond, p)
		r.Query(count(o.Languages), `SELECT s.language, count(*) FROM session s`+within+`GROUP BY s.language`, org, first, beyond, p)
		r.QueryRow(&found, []any{
			&o.Turns, &o.Interruptions, &o.Grounded, &o.Gaps, &o.Response.P50, &o.Response.P90, &o.Response.P95, &o.Response.Max,
		}, `
			SELECT count(*), count(*) FILTER (WHERE interrupted AND speaker = 'avatar'), count(*) FILTER (WHERE grounded),
				count(*) FILTER (WHERE NOT grounded),
				percentile_disc(0.5) WITHIN GROUP (ORDER BY ms), percentile_disc(0.9) WITHIN GROUP (ORDER BY ms),
				percentile_disc(0.95) WITHIN GROUP (ORDER BY ms), max(ms)
			FROM (
				SELECT t.interrupted, t.speaker, t.grounded,
					CASE WHEN t.speaker = 'avatar' AND (t.timing->>'responseMs')::BIGINT >= 0 THEN (t.timing->>'responseMs')::BIGINT END AS ms
				FROM session s JOIN turn t ON t.org_id = s.org_id AND t.session_id = s.id`+within+`
			) AS measured`, org, first, beyond, p)
	})
	return o, err
}

// count reads names with their numbers.
func count(into map[string]int64) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var (
			name string
			n    int64
		)
		_, err := pgx.ForEachRow(rows, []any{&name, &n}, func() error {
			into[name] = n
			return nil
		})
		return err
	}
}
