package portal

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Detail is a portal with what belongs to it.
type Detail struct {
	Portal
	// Subjects are those that are not archived, in their order.
	Subjects []id.Subject
	Widgets  []id.Widget
	// Open are the keys of the doors that are open.
	Open []string
	// Pending says that a subject has a draft that people are not taught from.
	Pending bool
}

// Unpublished says whether publishing would change what visitors see.
func (d *Detail) Unpublished() bool { return d.Changed() || d.Pending }

// details are a Detail's columns, of portal p, in its order.
const details = `p.id, p.name, p.slug, p.host, p.kind, p.template_key, p.state, p.persona_id, p.definition, p.draft_version,
	p.published_version, p.published_at, p.page_stamp, p.managed_by, p.created_at, p.updated_at, p.archived_at, p.host_proven_at,
	p.host_round, p.host_lost, p.host_missed_at,
	ARRAY(SELECT s.id FROM subject s
		WHERE s.org_id = p.org_id AND s.portal_id = p.id AND s.archived_at IS NULL ORDER BY s.place, s.id) AS subjects,
	ARRAY(SELECT w.id FROM widget w
		WHERE w.org_id = p.org_id AND w.portal_id = p.id AND w.deleted_at IS NULL ORDER BY w.id) AS widgets,
	ARRAY(SELECT d.key FROM portal_door d WHERE d.org_id = p.org_id AND d.portal_id = p.id AND d.open ORDER BY d.key) AS open,
	EXISTS (SELECT 1 FROM subject s
		WHERE s.org_id = p.org_id AND s.portal_id = p.id AND s.archived_at IS NULL
			AND (s.published_version IS NULL OR s.published_version <> s.draft_version)) AS pending`

func scanDetail(row pgx.CollectableRow) (Detail, error) {
	var d Detail
	err := row.Scan(&d.ID, &d.Name, &d.Slug, &d.Host, &d.Kind, &d.TemplateKey, &d.State, &d.Persona, &d.Definition, &d.DraftVersion,
		&d.PublishedVersion, &d.PublishedAt, &d.PageStamp, &d.ManagedBy, &d.CreatedAt, &d.UpdatedAt, &d.ArchivedAt, &d.HostProvenAt,
		&d.HostRound, &d.HostLost, &d.HostMissedAt,
		&d.Subjects, &d.Widgets, &d.Open, &d.Pending)
	return d, err
}

func oneDetail(p id.Portal, found []Detail, err error) (Detail, error) {
	if err == nil && len(found) == 0 {
		err = Noun.NotFound(p)
	}
	if err != nil {
		return Detail{}, err
	}
	return found[0], nil
}

const selectDetail = `SELECT ` + details + ` FROM portal p WHERE p.org_id = $1 AND p.id = $2`

// GetDetail is Get with what belongs to the portal.
func GetDetail(ctx context.Context, t *tenant.Tenants, org id.Org, p id.Portal) (Detail, error) {
	found, err := tenant.All(ctx, t, org, scanDetail, selectDetail, org, p)
	return oneDetail(p, found, err)
}

// FindDetail is Find with what belongs to the portal.
func FindDetail(ctx context.Context, tx *tenant.Tx, p id.Portal) (Detail, error) {
	found, err := tenant.AllIn(ctx, tx, scanDetail, selectDetail, tx.Org, p)
	return oneDetail(p, found, err)
}

// Filter narrows a list; zero fields do not. Without a state, what is archived is
// left out.
type Filter struct {
	Kind    Kind
	State   State
	Persona id.Persona
}

// List is a page of the portals, newest first, after one of them; the zero id for
// the first page. It rides portal_pkey, or portal_by_persona where a persona speaks
// on few.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after id.Portal, limit int) ([]Detail, error) {
	return tenant.All(ctx, t, org, scanDetail, `
		SELECT `+details+` FROM portal p
		WHERE p.org_id = $1 AND ($2::UUID IS NULL OR p.id < $2) AND ($3 = '' OR p.kind = $3)
			AND ($4 = '' AND p.archived_at IS NULL OR p.state = $4) AND ($5::UUID IS NULL OR p.persona_id = $5)
		ORDER BY p.id DESC LIMIT $6`, org, after, string(f.Kind), string(f.State), f.Persona, limit)
}
