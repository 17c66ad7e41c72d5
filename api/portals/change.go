package portals

import (
	"context"
	"slices"
	"strings"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/patch"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/tenant"
)

// UpdateInput is the request for a change of a portal.
type UpdateInput struct {
	Path
	route.Edition
	Body PortalChange
}

// PortalChange is what to change of a portal's draft.
type PortalChange struct {
	BaseVersion          route.Opt[int64]              `json:"baseVersion,omitzero" minimum:"1" doc:"The draftVersion to change, as If-Match says it."`
	Name                 route.Opt[string]             `json:"name,omitzero" minLength:"1" maxLength:"120" doc:"A new name, for people."`
	Slug                 route.Opt[string]             `json:"slug,omitzero" maxLength:"63" doc:"Its name in addresses: letters a to z, digits and hyphens. No two portals share one."`
	CustomDomain         route.OptNull[string]         `json:"customDomain,omitzero" maxLength:"253" doc:"A host of your own whose name leads here; null for none."`
	Languages            route.Opt[[]string]           `json:"languages,omitzero" minItems:"1" maxItems:"50" doc:"By code or name."`
	DefaultLanguage      route.Opt[string]             `json:"defaultLanguage,omitzero" doc:"One of languages."`
	KnowledgeBaseIDs     route.Opt[[]id.KnowledgeBase] `json:"knowledgeBaseIds,omitzero" maxItems:"20" doc:"The packs that its persona answers from, all of them."`
	Brand                route.Part[portal.Brand]      `json:"brand,omitzero" doc:"How the pages look; what is left out stays."`
	Pages                route.Part[portal.Pages]      `json:"pages,omitzero" doc:"What is written on the pages; what is left out stays."`
	Privacy              route.Part[portal.Privacy]    `json:"privacy,omitzero" doc:"What people are told and what is kept of them; what is left out stays."`
	Audience             route.Opt[string]             `json:"audience,omitzero" enum:"visitors,learners,customers,candidates,mixed" doc:"Whom the portal is for."`
	MinAge               route.OptNull[int64]          `json:"minAge,omitzero" minimum:"1" maximum:"120" doc:"How old somebody must be to come in, in years; null for any age."`
	GuardianConsentUnder route.OptNull[int64]          `json:"guardianConsentUnder,omitzero" minimum:"1" maximum:"21" doc:"The age in years below which a guardian must agree; null for none."`
	Caps                 route.Part[portal.Caps]       `json:"caps,omitzero" doc:"Bounds on what one person may use; what is left out stays."`
	AllowedOrigins       route.Opt[[]string]           `json:"allowedOrigins,omitzero" maxItems:"20" doc:"Of the pages that may show the portal in a frame."`
}

func (a *API) update(ctx context.Context, c *route.Call, in *UpdateInput) (Portal, error) {
	wanted, err := in.portal()
	if err != nil {
		return Portal{}, err
	}
	address := portal.Portal{ID: wanted}
	if in.Body.Slug.Set {
		if address.Slug, err = parseSlug(in.Body.Slug.Value); err != nil {
			return Portal{}, err
		}
	}
	if address.Host, err = a.parseHost(c, in.Body.CustomDomain.Value); err != nil {
		return Portal{}, err
	}
	// Nothing is claimed for a portal that is not the caller's.
	found, err := portal.Get(ctx, a.Tenants, c.Org(), wanted)
	if err != nil {
		return Portal{}, asProblem(err)
	}
	address.HostRound = found.HostRound
	held, err := a.claim(ctx, c, address, in.Body.Slug.Set, in.Body.CustomDomain.Set)
	if err != nil {
		return Portal{}, err
	}
	now, err := a.change(ctx, c, wanted, "portal.updated", func(_ context.Context, _ *tenant.Tx, p portal.Portal) (portal.Portal, error) {
		if err := in.Check(p.DraftVersion, in.Body.BaseVersion.Ptr()); err != nil {
			return p, err
		}
		if in.Body.Name.Set {
			p.Name = in.Body.Name.Value
		}
		if in.Body.Slug.Set {
			p.Slug = address.Slug
		}
		if in.Body.CustomDomain.Set {
			p = at(p, address.Host, held, c.Now())
		}
		return p, patch.Merge(&p.Definition, c.Body())
	})
	return now, a.finishClaims(ctx, err, held)
}

// at is a portal at a host. Another one has to be proven anew, which the claim of it can
// have been.
func at(p portal.Portal, host string, held []portal.Held, now time.Time) portal.Portal {
	if p.Host != host {
		p.Host, p.HostProvenAt = host, nil
	}
	if host != "" && p.HostProvenAt == nil && slices.ContainsFunc(held, func(h portal.Held) bool { return h.Proven }) {
		p.HostProvenAt = &now
	}
	return p
}

// change makes of a portal's draft what to answers of it.
func (a *API) change(
	ctx context.Context, c *route.Call, which id.Portal, action string,
	to func(context.Context, *tenant.Tx, portal.Portal) (portal.Portal, error),
) (Portal, error) {
	now, err := route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Portal, error) {
		before, err := portal.Edit(ctx, tx, which)
		if err != nil {
			return Portal{}, asProblem(err)
		}
		after, err := to(ctx, tx, before)
		if err != nil {
			return Portal{}, asProblem(err)
		}
		now, _, err := portal.Update(ctx, tx, before, after, portal.Change{Action: action}, c.Actor())
		if err != nil {
			return Portal{}, asProblem(err)
		}
		return a.shown(ctx, tx, now.ID)
	})
	return versioned(c, now, err)
}

func (a *API) archive(ctx context.Context, c *route.Call, p *Path) (Portal, error) {
	return a.move(ctx, c, p, portal.Archive)
}

func (a *API) unpublish(ctx context.Context, c *route.Call, p *Path) (Portal, error) {
	return a.move(ctx, c, p, portal.Unpublish)
}

// move takes a portal to another state.
func (a *API) move(
	ctx context.Context, c *route.Call, p *Path, to func(context.Context, *tenant.Tx, portal.Portal, portal.Author) (portal.Portal, error),
) (Portal, error) {
	wanted, err := p.portal()
	if err != nil {
		return Portal{}, err
	}
	now, err := route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Portal, error) {
		found, err := portal.Edit(ctx, tx, wanted)
		if err != nil {
			return Portal{}, asProblem(err)
		}
		moved, err := to(ctx, tx, found, c.Actor())
		if err != nil {
			return Portal{}, asProblem(err)
		}
		return a.shown(ctx, tx, moved.ID)
	})
	return versioned(c, now, err)
}

// RestoreInput is the request for what was published before.
type RestoreInput struct {
	Path
	route.Edition
	Body PortalRestoration
}

// PortalRestoration names a version.
type PortalRestoration struct {
	Version int64 `json:"version" minimum:"1" doc:"The published version to go back to, which becomes the draft."`
}

func (a *API) restore(ctx context.Context, c *route.Call, in *RestoreInput) (Portal, error) {
	wanted, err := in.portal()
	if err != nil {
		return Portal{}, err
	}
	now, err := a.change(ctx, c, wanted, "portal.restored", func(ctx context.Context, tx *tenant.Tx, p portal.Portal) (portal.Portal, error) {
		if err := in.Check(p.DraftVersion, nil); err != nil {
			return p, err
		}
		v, err := portal.FindVersion(ctx, tx, wanted, in.Body.Version)
		p.Name, p.Persona, p.Definition = v.Name, v.Persona, v.Definition
		return p, err
	})
	return now, notRestorable(c, err, in.Body.Version)
}

// notRestorable: what an old version names can be gone. That is nothing the
// caller sent.
func notRestorable(c *route.Call, err error, version int64) error {
	if err == nil {
		return nil
	}
	p := c.Problem(err)
	if p.Code != problem.InvalidRequest || p.Param == "body.version" || strings.HasPrefix(p.Param, "header.") {
		return err
	}
	return problem.Conflicting("not_restorable", "Version %d cannot be restored: %s", version, p.Message).WithParam("body.version")
}
