package assignment

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Within are people of a portal: all, or those whose places are in units.
type Within struct {
	Portal id.Portal
	All    bool
	Units  []id.Unit
	// By is who sees what they set themselves too.
	By string
}

// ListIn is a page of the assignments of a portal that are for somebody of those, newest first,
// after one of them; the zero id for the first page. Where one is named there are no others. It
// rides assignment_by_portal.
func ListIn(ctx context.Context, t *tenant.Tenants, org id.Org, in Within, after, named id.Assignment, limit int) ([]Assignment, error) {
	return tenant.All(ctx, t, org, scan, selectCounted+` AND a.portal_id = $2 AND ($3::UUID IS NULL OR a.id < $3) AND ($4::UUID IS NULL OR a.id = $4)
			AND a.state IN ('scheduled', 'open', 'closed') AND ($5 OR a.created_by = $6 OR EXISTS (
				SELECT 1 FROM assignment_person p JOIN membership m ON m.org_id = p.org_id AND m.id = p.membership_id
				WHERE p.org_id = a.org_id AND p.assignment_id = a.id AND p.left_at IS NULL AND m.removed_at IS NULL AND m.unit_id = ANY($7::UUID[])))
		ORDER BY a.id DESC LIMIT $8`, org, in.Portal, after, named, in.All, in.By, in.Units, limit)
}

// Taker is somebody's part of an assignment, with their name.
type Taker struct {
	Progress
	Name string
}

// TakersIn is a page of those of them for whom an assignment is, in the order of their ids, the
// newest first, after one of them. It rides assignment_person_pkey.
func TakersIn(ctx context.Context, t *tenant.Tenants, org id.Org, in Within, of id.Assignment, after id.Person, limit int) ([]Taker, error) {
	return tenant.All(ctx, t, org, func(row pgx.CollectableRow) (k Taker, err error) {
		return k, row.Scan(append(k.places(), &k.Name)...)
	}, `
		SELECT `+progressColumns+`, n.name FROM assignment_person p JOIN person n ON n.org_id = p.org_id AND n.id = p.person_id
			LEFT JOIN membership m ON m.org_id = p.org_id AND m.id = p.membership_id
		WHERE p.org_id = $1 AND p.assignment_id = $2 AND ($3::UUID IS NULL OR p.person_id < $3) AND p.left_at IS NULL
			AND ($4 OR m.removed_at IS NULL AND m.unit_id = ANY($5::UUID[]))
		ORDER BY p.person_id DESC LIMIT $6`, org, of, after, in.All, in.Units, limit)
}

// OfPersonOn is OfPerson of one portal, but for what is archived.
func OfPersonOn(ctx context.Context, t *tenant.Tenants, org id.Org, on id.Portal, who id.Person, after id.Assignment, limit int) ([]Part, error) {
	return tenant.All(ctx, t, org, scanPart, selectParts+` AND a.portal_id = $6`+partsOrder,
		org, who, after, []State{Scheduled, Open, Closed}, limit, on)
}

func scanPart(row pgx.CollectableRow) (part Part, err error) {
	return part, row.Scan(slices.Concat(part.Assignment.places(), part.Progress.places())...)
}

func (p *Progress) places() []any {
	return []any{
		&p.Assignment, &p.Person, &p.Membership, &p.State, &p.Attempts, &p.Extra, &p.Result, &p.Completion, &p.StartedAt, &p.CompletedAt,
		&p.Late, &p.Passed, &p.Waiting, &p.ExcusedAt, &p.ExcuseReason, &p.LeftAt, &p.RemindAt, &p.AskedAt,
	}
}
