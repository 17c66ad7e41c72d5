package class

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/store/tenant"
)

// Member is somebody who learns with a supervisor.
type Member struct {
	Person     id.Person
	Membership id.Membership
	Name       string
	// Unit is zero outside any; UnitName is empty then.
	Unit     id.Unit
	UnitName string
	// Came says that they were on the portal at all.
	Came bool
}

// The statements of members whose places are there at $3, after $4, $5 at most.
const (
	memberColumns = `m.person_id, m.id, p.name, m.unit_id, COALESCE(u.name, '') AS unit_name, p.last_seen_at IS NOT NULL AS came`
	memberTables  = ` JOIN person p ON p.org_id = $1 AND p.id = m.person_id LEFT JOIN unit u ON u.org_id = $1 AND u.id = m.unit_id`
	// Rides membership_by_portal.
	membersOfPortal = `
		SELECT DISTINCT ON (m.person_id) ` + memberColumns + ` FROM membership m` + memberTables + `
		WHERE m.org_id = $1 AND m.portal_id = $2 AND m.person_id > $4 AND m.role = 'learner' AND` + assignment.There + `
		ORDER BY m.person_id, m.id LIMIT $5`
	// Rides membership_by_unit, once for each unit.
	membersOfUnits = `
		SELECT DISTINCT ON (m.person_id) ` + memberColumns + ` FROM (
			SELECT l.* FROM unnest($6::UUID[]) AS c (id) CROSS JOIN LATERAL (
				SELECT m.id, m.person_id, m.unit_id FROM membership m
				WHERE m.org_id = $1 AND m.unit_id = c.id AND m.portal_id = $2 AND m.person_id > $4 AND m.role = 'learner' AND` + assignment.There + `
				ORDER BY m.person_id LIMIT $5) AS l) AS m` + memberTables + `
		ORDER BY m.person_id, m.id LIMIT $5`
)

// Members is a page of those who learn in a scope on a portal now, in the order of their ids, after
// one of them; the zero id for the first page.
func Members(ctx context.Context, t *tenant.Tenants, org id.Org, on id.Portal, in Scope, now time.Time, after id.Person, limit int) ([]Member, error) {
	// The zero id would be NULL.
	args := []any{org, on, now, uuid.UUID(after), limit}
	if in.All {
		return tenant.All(ctx, t, org, pgx.RowToStructByPos[Member], membersOfPortal, args...)
	}
	return tenant.All(ctx, t, org, pgx.RowToStructByPos[Member], membersOfUnits, append(args, in.Units)...)
}

// Waiting is a result that waits for a person.
type Waiting struct {
	Result  id.Result
	Person  id.Person
	Name    string
	Subject id.Subject
	// State is awaiting_review or contested.
	State string
	// CompletedAt is when its conversation ended.
	CompletedAt *time.Time
}

// ListWaiting is a page of the results that wait for a supervisor, oldest first, after one of
// them; the zero id for the first page. It rides result_waiting and membership_pkey.
func ListWaiting(ctx context.Context, t *tenant.Tenants, org id.Org, s Supervisor, after id.Result, limit int) ([]Waiting, error) {
	return tenant.All(ctx, t, org, pgx.RowToStructByPos[Waiting], `
		SELECT r.id, r.person_id, p.name, r.subject_id, r.state, r.completed_at
		FROM result r JOIN person p ON p.org_id = r.org_id AND p.id = r.person_id
			LEFT JOIN membership m ON m.org_id = r.org_id AND m.id = r.membership_id
		WHERE r.org_id = $1 AND r.portal_id = $2 AND r.state IN ('awaiting_review', 'contested') AND r.person_id <> $3
			AND r.id > $4 AND ($5 OR m.removed_at IS NULL AND m.unit_id = ANY($6::UUID[]))
		ORDER BY r.id LIMIT $7`, org, s.Portal, s.Person.ID, uuid.UUID(after), s.Reviews.All, s.Reviews.Units, limit)
}
