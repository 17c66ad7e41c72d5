package portal

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strconv"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/store/activity"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/tenant"
)

// Author is who changes a portal, and when.
type Author = activity.Actor

// Edit is Lock for a change that somebody asks for over the API, of what a resource
// would declare. The error is errdefs.NotFound, errdefs.Archived or a managed.Error.
func Edit(ctx context.Context, tx *tenant.Tx, which id.Portal) (Portal, error) {
	p, err := Lock(ctx, tx, which)
	if err == nil {
		err = p.ManagedBy.Check(managed.API, Noun, which.String())
	}
	return p, err
}

// HandOver gives a portal that Lock found to another to manage.
func HandOver(ctx context.Context, tx *tenant.Tx, p Portal, to managed.By) (Portal, error) {
	p.ManagedBy = to
	tx.Touch("portal", p.ID)
	_, err := tx.Exec(ctx, `UPDATE portal SET managed_by = $3 WHERE org_id = $1 AND id = $2`, tx.Org, p.ID, p.ManagedBy)
	return p, err
}

// Insert enters a portal as a draft. Its address was claimed (Addresses). Without
// anything that manages it, the API does. full says that the terms leave no room and
// nothing was added; the error is an errdefs.Invalid.
func Insert(ctx context.Context, tx *tenant.Tx, p Portal, terms plan.Terms, who Author) (made Portal, full bool, err error) {
	p.State, p.DraftVersion, p.PageStamp, p.ManagedBy = Draft, 1, 1, cmp.Or(p.ManagedBy, managed.API)
	p.CreatedAt, p.UpdatedAt = who.At, who.At
	if err := p.prepare(ctx, tx, Portal{}); err != nil {
		return p, false, err
	}
	limit, limited := terms.Limit(plan.Portals)
	if full, err := tx.Increment(ctx, string(plan.Portals), limit, limited); full || err != nil {
		return p, full, err
	}
	tx.Touch("portal", p.ID)
	if _, err := tx.Exec(ctx, `
		INSERT INTO portal (org_id, id, name, slug, host, kind, template_key, state, persona_id, definition, draft_version, page_stamp,
			managed_by, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14)`,
		tx.Org, p.ID, p.Name, p.Slug, p.Host, p.Kind, p.TemplateKey, p.State, p.Persona, p.Definition, p.DraftVersion, p.PageStamp,
		p.ManagedBy, p.CreatedAt); err != nil {
		return p, false, err
	}
	return p, false, knowledge.SetUses(ctx, tx, knowledge.ByPortal(p.ID), nil, p.Definition.KnowledgeBaseIDs)
}

// prepare normalizes the definition and locks what it newly names.
func (p *Portal) prepare(ctx context.Context, tx *tenant.Tx, before Portal) (err error) {
	if p.Definition, err = p.Definition.Normalize(); err != nil {
		return err
	}
	if p.Persona != before.Persona {
		if err := holdPersona(ctx, tx, p.Persona); err != nil {
			return err
		}
	}
	if slices.Equal(p.Definition.KnowledgeBaseIDs, before.Definition.KnowledgeBaseIDs) {
		return nil
	}
	return holdPacks(ctx, tx, p.Definition.KnowledgeBaseIDs)
}

// Change says what a change of a portal's draft is.
type Change struct {
	// Action is how the activity log calls it, such as "portal.updated".
	Action string
	// Also names what was changed with it outside of the draft.
	Also []string
}

// Update makes of the draft of a portal that Lock found what after says. A change
// of nothing makes no version. It answers the names of what changed; the error is a
// errdefs.Invalid. The address holds at once, the rest once it is published.
func Update(ctx context.Context, tx *tenant.Tx, before, after Portal, c Change, who Author) (Portal, []string, error) {
	now, changed, err := update(ctx, tx, before, after, who)
	if changed = append(changed, c.Also...); err != nil || len(changed) == 0 {
		return now, changed, err
	}
	now.log(tx, c.Action, changed, who)
	return now, changed, nil
}

func update(ctx context.Context, tx *tenant.Tx, before, after Portal, who Author) (Portal, []string, error) {
	// The pack of the subjects is never the author's to change, also not by way of an
	// old version.
	after.Definition.SubjectBaseID = before.Definition.SubjectBaseID
	if err := after.prepare(ctx, tx, before); err != nil {
		return before, nil, err
	}
	changed := differences(before, after)
	if len(changed) == 0 {
		return before, nil, nil
	}
	packs, err := before.packs(ctx, tx)
	if err != nil {
		return before, nil, err
	}
	after.DraftVersion, after.UpdatedAt = before.DraftVersion+1, who.At
	if after.Slug != before.Slug || after.Host != before.Host {
		after.PageStamp++
	}
	if err := after.save(ctx, tx); err != nil {
		return before, nil, err
	}
	if after.Slug != before.Slug {
		if err := keepSlug(ctx, tx, after, before.Slug); err != nil {
			return before, nil, err
		}
	}
	used, err := after.packs(ctx, tx)
	if err != nil {
		return before, nil, err
	}
	return after, changed, knowledge.SetUses(ctx, tx, knowledge.ByPortal(after.ID), packs, used)
}

// maxFormerSlugs bounds how many addresses lead to a portal, the last ones.
const maxFormerSlugs = 20

// keepSlug lets a former address lead to the portal.
func keepSlug(ctx context.Context, tx *tenant.Tx, p Portal, former string) error {
	var slugs []string
	if err := tx.QueryRow(ctx, `
		SELECT former_slugs FROM portal WHERE org_id = $1 AND id = $2`, tx.Org, p.ID).Scan(&slugs); err != nil {
		return err
	}
	slugs = slices.DeleteFunc(slugs, func(s string) bool { return s == p.Slug || s == former })
	slugs = append(slugs, former)
	slugs = slugs[max(0, len(slugs)-maxFormerSlugs):]
	_, err := tx.Exec(ctx, `UPDATE portal SET former_slugs = $3 WHERE org_id = $1 AND id = $2`, tx.Org, p.ID, slugs)
	return err
}

// save writes a portal that Lock found, all but how it was made.
func (p *Portal) save(ctx context.Context, tx *tenant.Tx) error {
	tx.Touch("portal", p.ID)
	_, err := tx.Exec(ctx, `
		UPDATE portal SET name = $3, slug = $4, host = $5, state = $6, persona_id = $7, definition = $8, draft_version = $9,
			published_version = $10, published_at = $11, page_stamp = $12, updated_at = $13, archived_at = $14, host_proven_at = $15,
			host_checked_at = CASE WHEN host_proven_at IS NULL AND $15::TIMESTAMPTZ IS NOT NULL THEN $15 ELSE host_checked_at END,
			host_misses = CASE WHEN host = $5 THEN host_misses ELSE 0 END,
			host_missed_at = CASE WHEN host = $5 THEN host_missed_at END,
			host_lost = CASE WHEN host = $5 AND $15::TIMESTAMPTZ IS NULL THEN host_lost ELSE '' END
		WHERE org_id = $1 AND id = $2`,
		tx.Org, p.ID, p.Name, p.Slug, p.Host, p.State, p.Persona, p.Definition, p.DraftVersion, p.PublishedVersion, p.PublishedAt,
		p.PageStamp, p.UpdatedAt, p.ArchivedAt, p.HostProvenAt)
	return err
}

// differences names what differs between two drafts, as the API does.
func differences(a, b Portal) []string {
	var names []string
	note := func(name string, a, b any) {
		if !reflect.DeepEqual(a, b) {
			names = append(names, name)
		}
	}
	note("name", a.Name, b.Name)
	note("slug", a.Slug, b.Slug)
	note("customDomain", a.Host, b.Host)
	if a.Host == b.Host {
		note("customDomainState", a.HostProvenAt != nil, b.HostProvenAt != nil)
	}
	note("personaId", a.Persona, b.Persona)
	x, y := a.Definition, b.Definition
	note("languages", x.Languages, y.Languages)
	note("defaultLanguage", x.DefaultLanguage, y.DefaultLanguage)
	note("knowledgeBaseIds", x.KnowledgeBaseIDs, y.KnowledgeBaseIDs)
	note("brand", x.Brand, y.Brand)
	note("pages", x.Pages, y.Pages)
	note("privacy", x.Privacy, y.Privacy)
	note("audience", x.Audience, y.Audience)
	note("minAge", x.MinAge, y.MinAge)
	note("guardianConsentUnder", x.GuardianConsentUnder, y.GuardianConsentUnder)
	note("caps", x.Caps, y.Caps)
	note("allowedOrigins", once(x.AllowedOrigins), once(y.AllowedOrigins))
	return names
}

// Unpublish closes the page of a portal that Lock found. The error is an
// errdefs.Conflict.
func Unpublish(ctx context.Context, tx *tenant.Tx, p Portal, who Author) (Portal, error) {
	if p.State != Published {
		return p, &errdefs.Conflict{Noun: Noun, Reason: "not_published", Message: "The portal is not published."}
	}
	p.State, p.UpdatedAt = Unpublished, who.At
	p.PageStamp++
	if err := p.save(ctx, tx); err != nil {
		return p, err
	}
	p.log(tx, "portal.unpublished", []string{"state"}, who)
	return p, nil
}

// Archive puts a portal that Lock found away for good. It makes room for another,
// and uses nothing any more.
func Archive(ctx context.Context, tx *tenant.Tx, p Portal, who Author) (Portal, error) {
	packs, err := p.packs(ctx, tx)
	if err != nil {
		return p, err
	}
	p.State, p.UpdatedAt, p.ArchivedAt = Archived, who.At, &who.At
	p.PageStamp++
	if err := p.save(ctx, tx); err != nil {
		return p, err
	}
	if err := knowledge.SetUses(ctx, tx, knowledge.ByPortal(p.ID), packs, nil); err != nil {
		return p, err
	}
	if err := tx.Decrement(ctx, string(plan.Portals)); err != nil {
		return p, err
	}
	p.log(tx, "portal.archived", []string{"state"}, who)
	return p, nil
}

// log writes a change down, and tells of it.
func (p *Portal) log(tx *tenant.Tx, action string, changed []string, who Author) {
	TellUpdated(tx, *p, changed, who)
	who.Log(tx, action, "portal", p.ID, map[string]any{"version": p.DraftVersion, "changed": changed})
}

// number is a number that is part of a row's key.
type number int64

func (n number) String() string { return strconv.FormatInt(int64(n), 10) }
