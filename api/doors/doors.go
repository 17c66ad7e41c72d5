// Package doors declares the operations on how people come in to portals: its doors,
// the tokens by which an organization signs people in, the chats that it hands over,
// and the links to cases that it sends (spec, Portals).
package doors

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/launch"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/signin"
)

// examples are bodies of requests, by operation.
//
//go:embed examples.json
var examples []byte

// API is what the operations work with.
type API struct {
	Tenants *tenant.Tenants
	Gate    *signin.Gate
	Plans   *plan.Catalogue
	// PortalURL is where the portals' pages are, without a path.
	PortalURL string
}

const group = "Portals"

// Register declares the operations.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	read := route.Operation{Group: group, Scope: scope.PortalsRead, Method: http.MethodGet, Class: "read"}
	embed := route.Operation{Group: group, Scope: scope.EmbedWrite, Method: http.MethodPost, Class: "write"}

	list := read
	list.ID, list.Path, list.Summary = "listDoors", "/portals/{id}/doors", "Every way in to a portal"
	route.List(s, list, a.list)
	for _, set := range []struct {
		path, id, summary string
		key               door.Key
	}{
		{"visitors", "setVisitorsDoor", "Open or close the door for whoever comes", door.Visitors},
		{"members-link", "setMembersLinkDoor", "Open or close the door for members, to whom a link is mailed that lets them in", door.MembersLink},
		{"join-code", "setJoinCodeDoor", "Open or close the door for those who know the code, which is another each time that it is opened", door.JoinCode},
		{"embed", "setEmbedDoor", "Open or close the door for learners whom your own system signs in", door.Embed},
		{"customers", "setCustomersDoor", "Open or close the door for customers: identity tokens, escalations and case links", door.Customers},
		{"candidates", "setCandidatesDoor", "Open or close the door for candidates, who come in by their invites", door.Candidates},
		{"staff", "setStaffDoor", "Open or close the door for teachers and other staff whom your own system signs in", door.Staff},
	} {
		o := route.Operation{
			ID: set.id, Method: http.MethodPut, Path: "/portals/{id}/doors/" + set.path, Group: group, Scope: scope.PortalsWrite, Class: "write",
			Errors: []problem.Code{problem.Gone}, Summary: set.summary,
		}
		if set.key == door.Visitors {
			o.Errors = append(o.Errors, problem.Conflict, problem.GoLiveRefused)
		} else {
			o.Since = since
		}
		if set.key == door.Candidates {
			o.Errors = append(o.Errors, problem.UpgradeRequired)
		}
		if set.key == door.MembersLink {
			o.Errors = append(o.Errors, problem.Conflict)
			o.Description = "Where the deployment sends no mail, the answer is 409 conflict, reason no_mail. Of what can be required, consent alone is asked for."
		}
		route.Handle(s, o, func(ctx context.Context, c *route.Call, in *SetInput) (Door, error) {
			return a.set(ctx, c, set.key, in)
		})
	}
	a.registerSSO(s)
	a.registerTokens(s, embed)
	a.registerEscalations(s, read, embed)
	a.registerCaseLinks(s, read, embed)
}

// Path names a portal.
type Path struct {
	ID string `path:"id" doc:"The portal's id, with or without portal_."`
}

// Door is one way in.
type Door struct {
	Key         door.Key   `json:"key" enum:"visitors,members_link,join_code,sso,embed,customers,staff,candidates" doc:"Which way in it is."`
	Open        bool       `json:"open" doc:"Whether people can come in by it now."`
	URL         *string    `json:"url" format:"uri" doc:"Where people come in by themselves; null where a token or a link brings them."`
	Code        *string    `json:"code" doc:"The code to give out, of join_code; for keys with portals:write."`
	Requires    []string   `json:"requires" enum:"name,email,consent,age_check,sso" doc:"What somebody must give before they are let in."`
	Message     *string    `json:"message" doc:"What people read at the door; null for the page's own words."`
	PlanFeature *string    `json:"planFeature" doc:"What a plan must include for the door to be opened."`
	ChangedAt   *time.Time `json:"changedAt" doc:"null where it never was open."`
	ChangedBy   *string    `json:"changedBy" doc:"Who changed it last: a key's id or a person's; null where nobody has."`
	// ConnectionID is the identity provider's, of sso.
	ConnectionID *id.Connection `json:"connectionId" nullable:"true" doc:"Of sso: the connection to the identity provider."`
}

// planFeatures are what plans must include for doors to be opened.
var planFeatures = map[door.Key]string{door.SSO: "sso", door.Candidates: "hiring"}

func (a *API) show(c *route.Call, p portal.Portal, d door.Door) Door {
	shown := Door{
		Key: d.Key, Open: d.Open, Requires: d.Requires, Message: d.Message, ChangedAt: route.UTC(d.ChangedAt), ChangedBy: d.ChangedBy,
		ConnectionID: d.Connection.OrNil(),
	}
	if c.Principal.Key.Grant().Holds(scope.PortalsWrite) {
		shown.Code = d.Code // it lets people in, which reading does not
	}
	if d.Key == door.Visitors || d.Key == door.JoinCode || d.Key == door.MembersLink || d.Key == door.SSO {
		url := a.page(p)
		shown.URL = &url
	}
	if feature, ok := planFeatures[d.Key]; ok {
		shown.PlanFeature = &feature
	}
	return shown
}

// page is where a portal's page is.
func (a *API) page(p portal.Portal) string {
	if p.Host != "" && p.HostProvenAt != nil {
		return "https://" + p.Host
	}
	return a.PortalURL + "/p/" + p.Slug
}

// link is where a token opens a portal. The token stands behind the #, which
// browsers tell no server, so that no log has it.
func (a *API) link(p portal.Portal, kind, token string) string {
	return a.page(p) + "/enter#" + kind + "=" + token
}

func (a *API) list(ctx context.Context, c *route.Call, in *Path) (route.Page[Door], error) {
	p, err := a.find(ctx, c, in)
	if err != nil {
		return route.Page[Door]{}, err
	}
	found, err := door.List(ctx, a.Tenants, c.Org(), p.ID)
	return route.Map(route.Page[door.Door]{Items: found}, func(d door.Door) Door { return a.show(c, p, d) }), err
}

// find finds the portal of a path, an archived one too.
func (a *API) find(ctx context.Context, c *route.Call, in *Path) (portal.Portal, error) {
	wanted, err := route.Lookup(id.ParsePortal, in.ID, "portal")
	if err != nil {
		return portal.Portal{}, err
	}
	p, err := portal.Get(ctx, a.Tenants, c.Org(), wanted)
	return p, asProblem(err)
}

// SetInput is the request to open or close a door.
type SetInput struct {
	Path
	Body DoorChange
}

// DoorChange is how a door is to be.
type DoorChange struct {
	Open     bool     `json:"open" doc:"Whether people can come in by it."`
	Requires []string `json:"requires,omitempty" maxItems:"4" enum:"name,email,consent,age_check" doc:"What is asked of those who come by themselves; nothing unless given."`
	Message  *string  `json:"message,omitempty" maxLength:"500" doc:"What they read at the door."`
}

func (a *API) set(ctx context.Context, c *route.Call, key door.Key, in *SetInput) (Door, error) {
	found, err := a.find(ctx, c, &in.Path)
	if err != nil {
		return Door{}, err
	}
	change := door.Change{Open: in.Body.Open, Requires: in.Body.Requires, Message: in.Body.Message}
	if change.Requires == nil {
		change.Requires = []string{}
	}
	if key == door.MembersLink && change.Open && a.Gate.Mails == nil {
		return Door{}, noMail("body.open")
	}
	if key == door.Candidates && change.Open && !c.Principal.Terms.Has(planFeatures[key]) {
		return Door{}, a.Plans.FeatureMissing(c.Principal.Terms, planFeatures[key])
	}
	return a.change(ctx, c, found.ID, key, change)
}

// change opens or closes a door.
func (a *API) change(ctx context.Context, c *route.Call, which id.Portal, key door.Key, change door.Change) (Door, error) {
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Door, error) {
		p, err := edit(ctx, tx, which, key)
		if err != nil {
			return Door{}, asProblem(err)
		}
		if key == door.Visitors && change.Open {
			if err := checkVisitors(ctx, tx, c, p); err != nil {
				return Door{}, err
			}
		}
		d, err := door.Set(ctx, tx, p, key, change, c.Actor())
		if err != nil {
			return Door{}, route.At(err, "body.connectionId")
		}
		return a.show(c, p, d), nil
	})
}

// edit holds a portal for a change of a door. A resource that declares the portal
// declares its visitors' door; the others are opened and closed here.
func edit(ctx context.Context, tx *tenant.Tx, p id.Portal, key door.Key) (portal.Portal, error) {
	if key == door.Visitors {
		return portal.Edit(ctx, tx, p)
	}
	return portal.Lock(ctx, tx, p)
}

// checkVisitors refuses to open a portal to whoever comes while it cannot be shown
// to them: what is published, or what would be.
func checkVisitors(ctx context.Context, tx *tenant.Tx, c *route.Call, p portal.Portal) error {
	report, err := launch.Check(ctx, tx, p, launch.Question{
		Region: c.Principal.Org.Region, At: c.Now(), Shown: p.State == portal.Published, Opening: []string{string(door.Visitors)},
	})
	if err != nil || report.Ready() {
		return err
	}
	return report.Refusal("The portal cannot be opened to visitors as it is.")
}

// asProblem says what the errors of portals and of doors are to a caller.
func asProblem(err error) error {
	if r, ok := errors.AsType[*signin.Refusal](err); ok {
		return refused(r)
	}
	switch {
	case errdefs.IsNotFound(err, portal.Noun):
		return route.At(err, "path.id")
	case errdefs.IsArchived(err, portal.Noun):
		return problem.New(problem.Gone, "The portal is archived.").WithParam("path.id")
	}
	return err
}

// noMail says that the deployment sends no mail.
func noMail(param string) error {
	return problem.Conflicting(string(signin.NoMail), "This deployment sends no mail. Whoever operates it sets mail-url.").WithParam(param)
}

// refused says why nobody could come in by what is asked for.
func refused(r *signin.Refusal) error {
	switch r.Code {
	case signin.NotPublished:
		return problem.Conflicting(string(r.Code), "The portal is not published.").WithParam("path.id")
	case signin.DoorClosed:
		return problem.Conflicting(string(r.Code), "The door for this is closed. GET /portals/{id}/doors lists the doors, a PUT on one opens it.").WithParam("path.id")
	case signin.PersonGone:
		return problem.Missing("person").WithParam("body.personId")
	}
	return problem.Conflicting(string(r.Code), "%s", r.Error()).WithParam("body.personId")
}
