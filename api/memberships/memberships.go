// Package memberships declares the operations on people's places in portals
// (spec, People).
package memberships

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/api/source"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/unit"
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
	// Sources get the evidence of consents.
	Sources source.Sources
}

// Register declares the operations.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	one := route.Operation{
		Group: "People", Path: "/memberships/{id}", Class: "write", Scope: scope.PeopleWrite, Items: contract.MembershipItem,
		Errors: []problem.Code{problem.Gone},
	}
	get := one
	get.ID, get.Method, get.Class, get.Scope, get.Since = "getMembership", http.MethodGet, "read", scope.PeopleRead, contract.V20261001
	get.Summary = "One place and how things stand with it"
	route.Handle(s, get, a.get)

	update := one
	update.ID, update.Method = "updateMembership", http.MethodPatch
	update.Errors = []problem.Code{problem.Gone, problem.Conflict, problem.VersionConflict}
	update.Summary = "Change a place, or switch it off"
	update.Description = "Conversations that go on by a place which is switched off, or is over, end as ended_by_staff."
	route.Handle(s, update, a.update)

	remove := one
	remove.ID, remove.Method, remove.Items = "deleteMembership", http.MethodDelete, ""
	remove.Summary = "Take a place away; the person stays"
	remove.Description = "Conversations that go on by it end as ended_by_staff."
	route.Handle(s, remove, a.delete)

	agree := one
	agree.ID, agree.Method, agree.Path = "recordGuardianConsent", http.MethodPost, "/memberships/{id}/guardian-consent"
	agree.Scope, agree.Items, agree.Status, agree.Idempotent, agree.MaxBody = scope.ConsentsWrite, "", http.StatusCreated, true, maxConsent
	agree.Detach = []string{"evidence"}
	agree.Errors = []problem.Code{problem.Gone, problem.UnsupportedMediaType, problem.UpstreamError, problem.UpstreamTimeout}
	agree.Summary = "Record a parent's or guardian's consent"
	agree.Description = "All consents to a place count together, until they are withdrawn or over: each adds what it is to, and none narrows another. " +
		"Whoever may be younger than a portal's age comes in only with one that is to conversation. GET /consents lists them, and " +
		"POST /consents/{id}/withdraw ends one, what was recorded by it, and the conversations that go on by it where no other is to them. " +
		"A recording that goes on stops once none is to recording any more. guardianConsent of the membership says what holds."
	route.Handle(s, agree, a.consent)
}

// Membership is a person's place in a portal.
type Membership struct {
	ID           id.Membership      `json:"id" doc:"Id of the place, with the prefix mem_."`
	PersonID     id.Person          `json:"personId" doc:"Whose place it is."`
	PortalID     id.Portal          `json:"portalId" doc:"The portal that it is in."`
	UnitID       *id.Unit           `json:"unitId" nullable:"true" doc:"The class, team or group; null for none."`
	Role         person.Role        `json:"role" enum:"learner,manager,reviewer,teacher,staff,admin" doc:"What the person is there."`
	Enabled      bool               `json:"enabled" doc:"Its own switch; its unit's and those above it count beside it."`
	State        person.MemberState `json:"state" enum:"invited,active,disabled,ended" doc:"All switches and the dates taken together; invited until it starts."`
	StartsAt     *time.Time         `json:"startsAt" doc:"From when it counts, in UTC; null for at once."`
	EndsAt       *time.Time         `json:"endsAt" doc:"From when it no longer counts, in UTC; null for never."`
	Guardian     Guardian           `json:"guardianConsent" doc:"How things stand with a guardian's consent."`
	Door         *string            `json:"door" doc:"The way the person came in by last."`
	LastSignInAt *time.Time         `json:"lastSignInAt" doc:"When the person last came in, in UTC; null for never."`
	ExternalID   *string            `json:"externalId" doc:"The place's id in your own system; null where none was given."`
	Metadata     map[string]string  `json:"metadata" doc:"Your own notes on it: at most 20 keys of 40 characters, with values of 500."`
	CreatedAt    time.Time          `json:"createdAt" doc:"When the place was given, in UTC."`
	UpdatedAt    time.Time          `json:"updatedAt" doc:"When it was last changed, in UTC."`
}

// Guardian is how things stand with guardians' consents to a place.
type Guardian struct {
	Required  bool        `json:"required" doc:"Whether the person may be younger than the portal's age of consent."`
	State     string      `json:"state" enum:"missing,given,withdrawn" doc:"given while any consent holds; else that of the newest: missing where there is none or it is over, or withdrawn."`
	Scopes    []string    `json:"scopes" enum:"conversation,recording,memory,report" doc:"What the consents that hold are to, taken together; empty where none does. A person of whom one is required comes in where conversation is among them."`
	ConsentID *id.Consent `json:"consentId" nullable:"true" doc:"The newest consent that holds, or the newest on record where none does; null where there is none."`
	ExpiresAt *time.Time  `json:"expiresAt" doc:"When that consent ends, in UTC; null where it does not, or where there is none."`
}

// Show makes the answer's form of a place.
func Show(s person.Standing) Membership {
	m := s.Membership
	shown := Membership{
		ID: m.ID, PersonID: m.Person, PortalID: m.Portal, Role: m.Role, Enabled: m.Enabled, State: s.State,
		StartsAt: route.UTC(m.StartsAt), EndsAt: route.UTC(m.EndsAt), Door: m.Door, LastSignInAt: route.UTC(m.LastSignInAt),
		ExternalID: m.ExternalID, Metadata: m.Metadata, CreatedAt: m.CreatedAt.UTC(), UpdatedAt: m.UpdatedAt.UTC(),
		Guardian: Guardian{Required: s.Guardian.Required, State: s.Guardian.State, Scopes: s.Guardian.Scopes, ExpiresAt: route.UTC(s.Guardian.ExpiresAt)},
	}
	if !m.Unit.IsZero() {
		shown.UnitID = &m.Unit
	}
	if !s.Guardian.Consent.IsZero() {
		shown.Guardian.ConsentID = &s.Guardian.Consent
	}
	return shown
}

// Path names a place.
type Path struct {
	ID string `path:"id" doc:"The membership's id, with or without mem_."`
}

func (p *Path) membership() (id.Membership, error) {
	return route.Lookup(id.ParseMembership, p.ID, "membership")
}

func (a *API) get(ctx context.Context, c *route.Call, p *Path) (Membership, error) {
	m, err := p.membership()
	if err != nil {
		return Membership{}, err
	}
	found, err := person.GetMembership(ctx, a.Tenants, c.Org(), m, c.Now())
	if err != nil {
		return Membership{}, AsProblem(err, "body.")
	}
	c.SetVersion(found.Membership.Edition)
	return Show(found), nil
}

// Read reads a place back in the transaction that changed it.
func Read(ctx context.Context, c *route.Call, tx *tenant.Tx, m id.Membership) (Membership, error) {
	s, err := person.Effective(ctx, tx, m, c.Now())
	if err != nil {
		return Membership{}, err
	}
	c.SetVersion(s.Membership.Edition)
	return Show(s), nil
}

// AsProblem makes a problem of an error about a place; at is where the place
// stands in the body.
func AsProblem(err error, at string) error {
	switch {
	case errdefs.IsGone(err, person.Noun): // and the place with them
		return problem.New(problem.Gone, "The membership was removed.").WithParam("path.id")
	case errdefs.IsNotFound(err, portal.Noun):
		return route.At(err, at+"portalId")
	case errdefs.IsArchived(err, portal.Noun):
		return problem.Conflicting("archived", "The portal is archived.").WithParam(at + "portalId")
	case errdefs.IsNotFound(err, unit.OfPortal):
		return route.At(err, at+"unitId")
	case errors.Is(err, person.ErrDates):
		return problem.Invalid(at+"endsAt", "%sendsAt must lie after startsAt.", at)
	}
	return err
}
