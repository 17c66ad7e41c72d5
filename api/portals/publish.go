package portals

import (
	"context"
	"errors"
	"net/http"
	"time"

	"visavis.dev/api/golive"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/launch"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerPublishing(s *route.Service, read, write route.Operation) {
	check := read
	check.ID, check.Method, check.Path = "checkPortal", http.MethodGet, "/portals/{id}/go-live"
	check.Summary = "What keeps the draft of a portal from going live"
	check.Description = "Pictures that there is no copy of are fetched, and a warning says of each that could not be: pages load nothing from elsewhere."
	route.Handle(s, check, a.check)

	publish := write
	publish.ID, publish.Method, publish.Path, publish.Scope = "publishPortal", http.MethodPost, "/portals/{id}/publish", scope.PortalsPublish
	publish.Items, publish.Errors = contract.PortalItem, append(publish.Errors, problem.GoLiveRefused)
	publish.Summary = "Show people the draft of a portal and of its subjects"
	publish.Description = "Its pictures, the logo and those of the subjects, are fetched anew; where one cannot be, the page does without it and GET /portals/{id}/go-live says why. On 2026-07-08 a refusal is 200, with the draft unchanged and publishRefused."
	route.Handle(s, publish, a.publish)

	unpublish := write
	unpublish.ID, unpublish.Method, unpublish.Path, unpublish.Scope = "unpublishPortal", http.MethodPost, "/portals/{id}/unpublish", scope.PortalsPublish
	unpublish.Since, unpublish.Items = contract.V20261001, contract.PortalItem
	unpublish.Summary = "Close the page of a portal"
	route.Handle(s, unpublish, a.unpublish)

	versions := read
	versions.ID, versions.Method, versions.Path = "listPortalVersions", http.MethodGet, "/portals/{id}/versions"
	versions.Since, versions.Summary = contract.V20261001, "What was published of a portal, newest first"
	route.List(s, versions, a.versions)

	restore := write
	restore.ID, restore.Method, restore.Path = "restorePortal", http.MethodPost, "/portals/{id}/restore"
	restore.Since, restore.Items = contract.V20261001, contract.PortalItem
	restore.Errors = append(restore.Errors, problem.VersionConflict)
	restore.Summary = "Make the draft of a portal what was published as a version"
	route.Handle(s, restore, a.restore)
}

func (a *API) check(ctx context.Context, c *route.Call, p *Path) (golive.GoLive, error) {
	wanted, err := p.portal()
	if err != nil {
		return golive.GoLive{}, err
	}
	if err := a.prepare(ctx, c, wanted, false); err != nil {
		return golive.GoLive{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (golive.GoLive, error) {
		found, err := portal.Find(ctx, tx, wanted)
		if err != nil {
			return golive.GoLive{}, asProblem(err)
		}
		r, err := launch.Check(ctx, tx, found, launch.Question{Region: c.Principal.Org.Region, At: c.Now(), Proof: a.Addresses.Proof})
		return golive.Show(r), err
	})
}

// prepare gets what a portal's page needs of others: the proof of its host, and its
// pictures, all of them anew or those that there are not yet.
func (a *API) prepare(ctx context.Context, c *route.Call, p id.Portal, anew bool) error {
	found, err := portal.Get(ctx, a.Tenants, c.Org(), p)
	if err != nil {
		return asProblem(err)
	}
	// A host that is somebody else's stays unproven, which the check says.
	if err := a.Addresses.Prove(ctx, c.Org(), found); err != nil && !errors.Is(err, portal.ErrTaken) {
		return err
	}
	return asProblem(a.Artwork.Collect(ctx, c.Org(), p, anew))
}

// PublishInput is the request to publish a portal.
type PublishInput struct {
	Path
	Body *Publication
}

// Publication says what is published.
type Publication struct {
	ChangeNote *string `json:"changeNote,omitempty" maxLength:"500" doc:"What is new, for the list of versions."`
}

func (a *API) publish(ctx context.Context, c *route.Call, in *PublishInput) (Portal, error) {
	wanted, err := in.portal()
	if err != nil {
		return Portal{}, err
	}
	var note *string
	if in.Body != nil {
		note = in.Body.ChangeNote
	}
	if err := a.prepare(ctx, c, wanted, true); err != nil {
		return Portal{}, err
	}
	now, err := route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Portal, error) {
		found, err := portal.Edit(ctx, tx, wanted)
		if err != nil {
			return Portal{}, asProblem(err)
		}
		done, err := launch.Publish(ctx, tx, found, c.Principal.Org.Region, note, c.Actor())
		if err != nil {
			return Portal{}, err
		}
		if !done.Report.Ready() && !c.Contract.Before(contract.V20261001) {
			return Portal{}, done.Report.Refusal("The portal cannot go live yet; details.problems says why.")
		}
		return a.published(ctx, tx, done)
	})
	return versioned(c, now, err)
}

// published shows what became of publishing.
func (a *API) published(ctx context.Context, tx *tenant.Tx, done launch.Launch) (Portal, error) {
	shown, err := a.shown(ctx, tx, done.Portal.ID)
	if err == nil && !done.Report.Ready() {
		shown = shown.refused(done.Report)
	}
	return shown, err
}

// PortalVersion is a portal as it was published.
type PortalVersion struct {
	Version   int64      `json:"version" doc:"The version's number, from 1."`
	Name      string     `json:"name" doc:"What the portal was called then."`
	PersonaID id.Persona `json:"personaId" doc:"The persona that spoke then."`
	portal.Definition
	ChangeNote  *string   `json:"changeNote" doc:"What was said of it when it was published; null for nothing."`
	PublishedBy string    `json:"publishedBy" doc:"Who published it: a key's id or a person's."`
	PublishedAt time.Time `json:"publishedAt" doc:"When it was published, in UTC."`
}

func showVersion(v portal.Version) PortalVersion {
	if v.Definition.AllowedOrigins == nil {
		v.Definition.AllowedOrigins = []string{}
	}
	return PortalVersion{
		Version: v.Version, Name: v.Name, PersonaID: v.Persona, Definition: v.Definition, ChangeNote: v.ChangeNote,
		PublishedBy: v.PublishedBy, PublishedAt: v.PublishedAt.UTC(),
	}
}

// VersionQuery pages through the versions of a portal.
type VersionQuery struct {
	Path
	route.Paging
}

func (a *API) versions(ctx context.Context, c *route.Call, q *VersionQuery) (route.Page[PortalVersion], error) {
	wanted, err := q.portal()
	if err != nil {
		return route.Page[PortalVersion]{}, err
	}
	return route.Listed(c, q.Paging, func(before int64, limit int) ([]portal.Version, error) {
		if _, err := portal.Get(ctx, a.Tenants, c.Org(), wanted); err != nil {
			return nil, asProblem(err)
		}
		return portal.Versions(ctx, a.Tenants, c.Org(), wanted, before, limit)
	}, func(v portal.Version) int64 { return v.Version }, showVersion)
}
