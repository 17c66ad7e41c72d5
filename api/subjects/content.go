package subjects

import (
	"context"
	"net/http"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/patch"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerContent(s *route.Service, read, write route.Operation) {
	read.Scope, read.Items, write.Items = scope.ContentRead, contract.SubjectContentItem, contract.SubjectContentItem
	write.MaxBody = maxBody
	write.Errors = append(write.Errors, problem.VersionConflict)

	get := read
	get.ID, get.Method, get.Path = "getSubjectContent", http.MethodGet, "/subjects/{id}/content"
	get.Summary = "What a subject says: its draft, or a version of it; the ETag is the version"
	route.Handle(s, get, a.content)

	save := write
	save.ID, save.Method, save.Path = "updateSubjectContent", http.MethodPatch, "/subjects/{id}/content"
	save.Summary = "Change what a subject says, as a draft"
	save.Description = "A JSON merge patch: objects are merged member by member, lists replaced; a null removes a text or the scenario. " +
		"Each save that changes something is a version of its own. With baseVersion or If-Match, a version that is no longer " +
		"the last is 409 version_conflict; without, the last save wins, and what it replaced can be restored."
	route.Handle(s, save, a.save)

	versions := read
	versions.ID, versions.Method, versions.Path, versions.Items = "listSubjectVersions", http.MethodGet, "/subjects/{id}/versions", ""
	versions.Summary = "The versions of a subject's content, newest first"
	versions.Description = "Every version that was published is kept, and the newest 200 of the others. GET /subjects/{id}/content?version= reads one."
	route.List(s, versions, a.versions)

	restore := write
	restore.ID, restore.Method, restore.Path = "restoreSubject", http.MethodPost, "/subjects/{id}/restore"
	restore.Since, restore.MaxBody = contract.V20261001, 0
	restore.Summary = "Make a version the draft again, which makes a new one"
	route.Handle(s, restore, a.restore)
}

// ContentQuery names a version of a subject's content.
type ContentQuery struct {
	Path
	Version int64 `query:"version" minimum:"1" doc:"The draft unless given."`
}

func (a *API) content(ctx context.Context, c *route.Call, q *ContentQuery) (SubjectContent, error) {
	wanted, err := q.subject()
	if err != nil {
		return SubjectContent{}, err
	}
	s, v, err := subject.GetContent(ctx, a.Tenants, c.Org(), wanted, q.Version)
	if errdefs.IsNotFound(err, subject.VersionNoun) {
		return SubjectContent{}, problem.Missing("version of this subject").WithParam("query.version")
	}
	if err != nil {
		return SubjectContent{}, asProblem(err)
	}
	c.SetVersion(v.Version)
	return showContent(s, v), nil
}

func (a *API) save(ctx context.Context, c *route.Call, in *ContentInput) (SubjectContent, error) {
	wanted, err := in.subject()
	if err != nil {
		return SubjectContent{}, err
	}
	return a.write(ctx, c, wanted, func(ctx context.Context, tx *tenant.Tx, s subject.Subject) (subject.Version, error) {
		if err := in.Check(s.DraftVersion, in.Body.BaseVersion.Ptr()); err != nil {
			return subject.Version{}, err
		}
		last, err := subject.FindVersion(ctx, tx, s.ID, s.DraftVersion)
		if err != nil {
			return subject.Version{}, err
		}
		content := last.Content
		if err := patch.Merge(&content, c.Body()); err != nil {
			return subject.Version{}, err
		}
		v, _, err := subject.Save(ctx, tx, s, content, nil, c.Actor(), in.Body.ChangeNote.Value)
		return v, err
	})
}

// write makes a subject's draft anew by a rule, which answers the version there is then.
func (a *API) write(
	ctx context.Context, c *route.Call, which id.Subject,
	rule func(context.Context, *tenant.Tx, subject.Subject) (subject.Version, error),
) (SubjectContent, error) {
	saved, err := route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (SubjectContent, error) {
		s, err := subject.Lock(ctx, tx, which)
		if err != nil {
			return SubjectContent{}, asProblem(err)
		}
		v, err := rule(ctx, tx, s)
		if err != nil {
			return SubjectContent{}, asProblem(err)
		}
		s.DraftVersion = v.Version
		return showContent(s, v), nil
	})
	if err == nil {
		c.SetVersion(saved.Version)
	}
	return saved, err
}

// VersionQuery pages through the versions of a subject.
type VersionQuery struct {
	Path
	route.Paging
}

func (a *API) versions(ctx context.Context, c *route.Call, q *VersionQuery) (route.Page[SubjectVersion], error) {
	wanted, err := q.subject()
	if err != nil {
		return route.Page[SubjectVersion]{}, err
	}
	before, err := route.After[int64](c, q.Paging)
	if err != nil {
		return route.Page[SubjectVersion]{}, err
	}
	if before == nil {
		before = new(int64)
	}
	s, err := subject.Get(ctx, a.Tenants, c.Org(), wanted)
	if err != nil {
		return route.Page[SubjectVersion]{}, asProblem(err)
	}
	found, err := subject.Versions(ctx, a.Tenants, c.Org(), wanted, *before, q.Limit+1)
	if err != nil {
		return route.Page[SubjectVersion]{}, err
	}
	page, err := route.Paged(c, q.Paging, found, func(v subject.Version) int64 { return v.Version })
	return route.Map(page, showVersion(s)), err
}

// RestoreInput is the request for an earlier version.
type RestoreInput struct {
	Path
	route.Edition
	Body SubjectRestoration
}

// SubjectRestoration names a version.
type SubjectRestoration struct {
	Version int64 `json:"version" minimum:"1" doc:"The version to go back to, which becomes the draft."`
}

func (a *API) restore(ctx context.Context, c *route.Call, in *RestoreInput) (SubjectContent, error) {
	wanted, err := in.subject()
	if err != nil {
		return SubjectContent{}, err
	}
	return a.write(ctx, c, wanted, func(ctx context.Context, tx *tenant.Tx, s subject.Subject) (subject.Version, error) {
		if err := in.Check(s.DraftVersion, nil); err != nil {
			return subject.Version{}, err
		}
		v, _, err := subject.Restore(ctx, tx, s, in.Body.Version, c.Actor())
		if errdefs.IsNotFound(err, subject.VersionNoun) {
			err = problem.Invalid("body.version", "The subject has no such version; GET /subjects/{id}/versions lists them.")
		}
		return v, err
	})
}
