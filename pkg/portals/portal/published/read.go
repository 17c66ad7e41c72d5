package published

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/artwork"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// standing is what a check of a known site asks for.
type standing struct {
	Slug, Host string
	State      portal.State
	Published  bool
	Stamp
}

// refusal is why visitors see nothing.
func (s *standing) refusal() error {
	switch {
	case s.State == portal.Archived:
		return ErrGone
	case s.State != portal.Published || !s.Published:
		return ErrNone
	}
	return nil
}

// selectStanding rides the primary keys of portal, portal_version, persona and duo.
const selectStanding = `
	SELECT p.slug, CASE WHEN p.host_proven_at IS NULL THEN '' ELSE p.host END, p.state, v.version IS NOT NULL, p.page_stamp,
		coalesce(a.version, 0) + coalesce((extract(epoch FROM d.updated_at) * 1000)::INT8, 0)
	FROM portal p
	LEFT JOIN portal_version v ON v.org_id = p.org_id AND v.portal_id = p.id AND v.version = p.published_version
	LEFT JOIN persona a ON a.org_id = v.org_id AND a.id = v.persona_id
	LEFT JOIN duo d ON d.org_id = a.org_id AND d.id = a.duo_id
	WHERE p.org_id = $1 AND p.id = $2`

// queue reads the standing among other reads.
func (s *standing) queue(r *tenant.Reads, found *bool, org id.Org, p id.Portal) {
	r.QueryRow(found, []any{&s.Slug, &s.Host, &s.State, &s.Published, &s.Page, &s.Persona}, selectStanding, org, p)
	setting.Queue(r, org, setting.AINotice, &s.AINotice)
	setting.Queue(r, org, setting.Agents, &s.Agents)
}

func readStanding(ctx context.Context, t *tenant.Tenants, org id.Org, p id.Portal) (standing, error) {
	var s standing
	var found bool
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		s.queue(r, &found, org, p)
	})
	if err == nil && !found {
		err = ErrNone
	}
	return s, err
}

// selectPage rides the primary keys of portal, portal_version, persona and duo.
const selectPage = `
	SELECT p.kind, p.former_slugs, v.name, v.definition, v.published_at, p.definition->>'subjectBaseId', coalesce(a.name, ''), a.id, a.avatar_id,
		coalesce(a.definition->'disclosure'->'text', '{}'), coalesce(d.hosts, '[]')
	FROM portal p
	JOIN portal_version v ON v.org_id = p.org_id AND v.portal_id = p.id AND v.version = p.published_version
	LEFT JOIN persona a ON a.org_id = v.org_id AND a.id = v.persona_id
	LEFT JOIN duo d ON d.org_id = a.org_id AND d.id = a.duo_id
	WHERE p.org_id = $1 AND p.id = $2`

// selectDoors rides the primary key of portal_door.
const selectDoors = `
	SELECT key, requires, coalesce(message, '') FROM portal_door WHERE org_id = $1 AND portal_id = $2 AND open`

// selectSubjects rides subject_by_portal and the primary key of subject_version.
const selectSubjects = `
	SELECT s.id, s.title, s.kind, s.definition, v.content
	FROM subject s
	JOIN subject_version v ON v.org_id = s.org_id AND v.subject_id = s.id AND v.version = s.published_version
	WHERE s.org_id = $1 AND s.portal_id = $2 AND s.state = 'published'
	ORDER BY s.place, s.id`

// Now reads what is published of a portal, past every cache. The error is ErrNone or
// ErrGone where nothing is.
func Now(ctx context.Context, t *tenant.Tenants, org id.Org, p id.Portal) (*Site, error) {
	return read(ctx, t, org, p)
}

// read reads a site in one trip. The stamp is read first: what changes
// meanwhile is noticed by the next check.
func read(ctx context.Context, t *tenant.Tenants, org id.Org, p id.Portal) (*Site, error) {
	var (
		s            standing
		known, there bool
		subjectBase  *string
		persona      *id.Persona
		avatar       *id.Avatar
		doors        []Door
		site         = &Site{Org: org, Portal: p, Doors: map[string]Door{}}
	)
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		s.queue(r, &known, org, p)
		r.QueryRow(&there, []any{
			&site.Kind, &site.FormerSlugs, &site.Name, &site.Definition, &site.PublishedAt, &subjectBase, &site.Speaker.Name, &persona, &avatar,
			&site.Speaker.Disclosure, &site.Speaker.Hosts,
		}, selectPage, org, p)
		r.Query(func(rows pgx.Rows) (err error) {
			doors, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Door])
			return err
		}, selectDoors, org, p)
		r.Query(func(rows pgx.Rows) (err error) {
			site.Subjects, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Subject])
			return err
		}, selectSubjects, org, p)
		artwork.Queue(r, org, p, &site.Pictures)
	})
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, ErrNone
	}
	if err := s.refusal(); err != nil {
		return nil, err
	}
	if !there {
		return nil, ErrNone // it was unpublished between the two statements
	}
	site.Slug, site.Host, site.Stamp = s.Slug, s.Host, s.Stamp
	site.Definition.Privacy.AINotice = site.Definition.Privacy.AINotice || s.AINotice
	if subjectBase != nil {
		base, err := id.ParseKnowledgeBase(*subjectBase)
		if err != nil {
			return nil, fmt.Errorf("the portal's subjectBaseId: %w", err)
		}
		site.SubjectBase = &base
	}
	if persona != nil {
		site.Speaker.Persona, site.Speaker.Avatar = *persona, *avatar
	}
	for _, d := range doors {
		site.Doors[d.Key] = d
	}
	return site, nil
}
