// Package avatars declares the operations on faces (spec, Avatars).
package avatars

import (
	"context"
	_ "embed"
	"net/http"

	"visavis.dev/api/consents"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/avatar/landmark"
	"visavis.dev/pkg/personas/face"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// examples are bodies of requests, by operation.
//
//go:embed examples.json
var examples []byte

// API is what the operations work with.
type API struct {
	Tenants *tenant.Tenants
	Files   *file.Store
	Library *avatar.Library
	Egress  *egress.Guard
	Plans   *plan.Catalogue
	// decoding bounds how many pictures are decoded at a time.
	decoding chan struct{}
}

// New makes the API; at most two pictures are decoded at a time, which bounds
// the memory they take.
func New(t *tenant.Tenants, f *file.Store, l *avatar.Library, g *egress.Guard, p *plan.Catalogue) *API {
	return &API{Tenants: t, Files: f, Library: l, Egress: g, Plans: p, decoding: make(chan struct{}, 2)}
}

const group = "Avatars"

// Register declares the operations.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	route.List(s, route.Operation{
		ID: "listAvatars", Method: http.MethodGet, Path: "/avatars", Group: group, Class: "read", Scope: scope.AvatarsRead,
		Summary: "Library faces first, then the organization's own, oldest first",
	}, a.list)
	route.Handle(s, route.Operation{
		ID: "createAvatar", Method: http.MethodPost, Path: "/avatars", Group: group, Class: "write", Scope: scope.AvatarsWrite,
		Status: http.StatusCreated, Idempotent: true, MaxBody: maxBody,
		Before: a.checkRoom, Detach: []string{"picture", "consent.evidence"},
		Errors:     []problem.Code{problem.ConsentOutdated, problem.UpstreamError, problem.UpstreamTimeout},
		InputCodes: consents.InputCodes,
		Summary:    "Make a face of a portrait, with consent",
		Description: "The picture is a close head-and-shoulders portrait, as a data:image URI or a public https address, " +
			"PNG, JPEG or WebP, at most 6 MB and at least 512 by 512 pixels. A plain green background gives the cleanest cut-out. " +
			"The face looks at the camera with closed lips: the picture is moved while it speaks, by where its eyes, mouth and chin are. " +
			"These are looked for in it, or given as landmarks. Where no face is found and none are given, it stays a still picture.",
	}, a.create)
	route.Handle(s, route.Operation{
		ID: "getConsentPolicy", Method: http.MethodGet, Path: "/avatars/consent-policy", Group: group, Class: "read",
		Since: contract.V20261001, Summary: "What can be declared about a likeness, and the version to name",
	}, consents.Policy(consent.Likeness))
	route.Handle(s, route.Operation{
		ID: "getAvatar", Method: http.MethodGet, Path: "/avatars/{id}", Group: group, Class: "read", Scope: scope.AvatarsRead,
		Errors: []problem.Code{problem.Gone}, Summary: "One face",
	}, a.get)
	route.Handle(s, route.Operation{
		ID: "updateAvatar", Method: http.MethodPatch, Path: "/avatars/{id}", Group: group, Class: "write", Scope: scope.AvatarsWrite,
		Errors: []problem.Code{problem.Gone, problem.Conflict}, Since: contract.V20261001,
		Summary: "Rename a face or set its landmarks",
	}, a.update)
	route.Handle(s, route.Operation{
		ID: "deleteAvatar", Method: http.MethodDelete, Path: "/avatars/{id}", Group: group, Class: "write", Scope: scope.AvatarsWrite,
		Errors: []problem.Code{problem.Gone, problem.Conflict}, Summary: "Delete a face that nobody wears",
	}, a.delete)
	route.File(s, route.Operation{
		ID: "getAvatarPreview", Method: http.MethodGet, Path: "/avatars/{id}/preview", Group: group, Auth: route.MayHaveKey,
		Scope: scope.AvatarsRead, Produces: []string{"image/png", "image/jpeg", "image/webp"},
		Errors:  []problem.Code{problem.FaceNotReady},
		Summary: "The face's picture; a library face's is public",
	}, a.preview)
	route.Handle(s, route.Operation{
		ID: "getAvatarFace", Method: http.MethodGet, Path: "/avatars/{id}/face", Group: group, Auth: route.MayHaveKey,
		Scope: scope.AvatarsRead, Since: contract.V20261001,
		Summary:     "What a client needs to show the face; a library face's is public",
		Description: "An own face is prepared once a persona or a duo puts it on. Until it is ready there are no images.",
	}, a.face)
	route.File(s, route.Operation{
		ID: "getAvatarLayers", Method: http.MethodGet, Path: "/avatars/{id}/layers", Group: group, Auth: route.Open,
		Since: contract.V20261001, Produces: []string{"image/png", RigType},
		Summary:     "A library face in layers, as pages of any origin bring it to life",
		Description: "Both kinds of one size belong together. An own face has no layers.",
	}, a.layers)
	route.Handle(s, route.Operation{
		ID: "withdrawAvatarConsent", Method: http.MethodPost, Path: "/avatars/{id}/consent/withdraw", Group: group,
		Class: "write", Scope: scope.ConsentsWrite, Since: contract.V20261001, Errors: []problem.Code{problem.Gone, problem.Conflict},
		Summary: "Withdraw the consent a face rests on; the face starts no new sessions",
	}, a.withdraw)
}

// Query filters and pages the faces.
type Query struct {
	route.Paging
	Kind     string `query:"kind" enum:"builtin,custom" doc:"Only faces of the library, or only your own."`
	Gender   string `query:"gender" enum:"female,male" doc:"Only faces that look so."`
	AgeBand  string `query:"ageBand" enum:"20s,30s,40s,50s,60s" doc:"Only faces that look about that old."`
	Heritage string `query:"heritage" enum:"white,black,indian,chinese,korean,japanese,thai,hispanic,middleeastern,mixed" doc:"Only faces that look to be from there."`
}

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[Avatar], error) {
	after, err := route.After[avatar.Position](c, q.Paging)
	if err != nil {
		return route.Page[Avatar]{}, err
	}
	filter := avatar.Filter{Kind: avatar.Kind(q.Kind), Gender: q.Gender, AgeBand: q.AgeBand, Heritage: q.Heritage}
	found, err := avatar.List(ctx, a.Tenants, a.Library, c.Org(), filter, after, q.Limit+1)
	if err != nil {
		return route.Page[Avatar]{}, err
	}
	page, err := route.Paged(c, q.Paging, found, avatar.PositionOf)
	return route.Map(page, func(f avatar.Avatar) Avatar { return show(c, f) }), err
}

// Path names a face.
type Path struct {
	ID string `path:"id" doc:"The avatar's id, with or without av_."`
}

func (p Path) avatar() (id.Avatar, error) { return route.Lookup(id.ParseAvatar, p.ID, "avatar") }

func (a *API) get(ctx context.Context, c *route.Call, p *Path) (Avatar, error) {
	f, err := p.avatar()
	if err != nil {
		return Avatar{}, err
	}
	found, err := avatar.Get(ctx, a.Tenants, a.Library, c.Org(), f)
	return show(c, found), err
}

// UpdateInput is the request for a change of a face.
type UpdateInput struct {
	Path
	Body AvatarChange
}

// AvatarChange is what to change of a face.
type AvatarChange struct {
	Name      route.Opt[string]    `json:"name,omitzero" minLength:"1" maxLength:"80" doc:"A new name, for people."`
	Landmarks route.Opt[Landmarks] `json:"landmarks,omitzero" doc:"Corrected points of the face, all seven of them; the picture is moved by them from then on."`
}

func (a *API) update(ctx context.Context, c *route.Call, in *UpdateInput) (Avatar, error) {
	f, err := in.avatar()
	if err != nil {
		return Avatar{}, err
	}
	if in.Body.Landmarks.Set {
		if err := in.Body.Landmarks.Value.check(); err != nil {
			return Avatar{}, err
		}
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Avatar, error) {
		changed, err := avatar.Change(ctx, tx, a.Library, f, func(f *avatar.Avatar) {
			if in.Body.Name.Set {
				f.Name = in.Body.Name.Value
			}
			if in.Body.Landmarks.Set {
				f.Landmarks, f.Marked = in.Body.Landmarks.Value.inner(), landmark.Given
			}
		}, c.Actor())
		return show(c, changed), err
	})
}

func (a *API) delete(ctx context.Context, c *route.Call, p *Path) (route.Deleted, error) {
	f, err := p.avatar()
	if err != nil {
		return route.Deleted{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (route.Deleted, error) {
		deleted, err := avatar.DeleteFor(ctx, tx, a.Library, f, c.Actor())
		if err != nil {
			return route.Deleted{}, err
		}
		if err := a.Files.Discard(ctx, tx, deleted.Picture, deleted.Thumbnail); err != nil {
			return route.Deleted{}, err
		}
		if err := face.Forget(ctx, tx, a.Files, f); err != nil {
			return route.Deleted{}, err
		}
		return route.Deleted{Deleted: true, ID: f.String()}, nil
	})
}
