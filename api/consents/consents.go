// Package consents declares the operations by which an organization's owners
// see, export and withdraw consents. A key reaches them only when an owner
// gave it the scope by name (spec, Authentication 5).
package consents

import (
	"context"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// API is what the operations work with.
type API struct {
	Tenants *tenant.Tenants
	Files   *file.Store
}

// Register declares the operations.
func (a *API) Register(s *route.Service) {
	read := route.Operation{Group: "Consents", Scope: scope.ConsentsRead, Class: "read", Since: contract.V20261001, Method: http.MethodGet}

	list := read
	list.ID, list.Path, list.Summary = "listConsents", "/consents", "Consent records, newest first"
	list.Errors = []problem.Code{problem.NotFound} // of an avatarId or a voiceId that is none
	route.List(s, list, a.list)

	get := read
	get.ID, get.Path, get.Summary = "getConsent", "/consents/{id}", "One consent record"
	route.Handle(s, get, a.get)

	evidence := read
	evidence.ID, evidence.Path, evidence.Summary = "getConsentEvidence", "/consents/{id}/evidence", "The file that proves a consent"
	evidence.Produces = EvidenceTypes
	route.File(s, evidence, a.evidence)

	route.Handle(s, route.Operation{
		ID: "withdrawConsent", Method: http.MethodPost, Path: "/consents/{id}/withdraw", Group: "Consents",
		Scope: scope.ConsentsWrite, Class: "write", Since: contract.V20261001,
		Summary:     "Withdraw a consent; what rests on it starts nothing new",
		Description: "Conversations that go on by a guardian's consent end as consent_withdrawn. A recording whose consent is withdrawn is deleted.",
	}, a.withdraw)
}

// EvidenceTypes are the content types a consent's evidence can have.
var EvidenceTypes = []string{"application/pdf", "image/png", "image/jpeg", "image/webp"}

// Consent is one record.
type Consent struct {
	ID            id.Consent     `json:"id" doc:"Id of the consent, with the prefix cons_."`
	Kind          string         `json:"kind" enum:"likeness,voice,guardian,recording" doc:"What the person agreed to: the use of their face, of their voice, a child's taking part, or the recording of their session."`
	State         string         `json:"state" enum:"given,withdrawn" doc:"given, or withdrawn, which is final."`
	Subject       ConsentSubject `json:"subject" doc:"What the consent is about; one of the ids is set."`
	Statement     string         `json:"statement" doc:"The key of what was declared, as the policy lists it."`
	PolicyVersion string         `json:"policyVersion" doc:"The version of the policy that was agreed to, a date: 2026-07-01."`
	Method        string         `json:"method" enum:"api,session,signed_form,email_confirmed,school_authority,in_person" doc:"How it was given."`
	PersonName    string         `json:"personName" doc:"Who agreed; empty once whom a guardian's consent is about was erased."`
	PersonEmail   *string        `json:"personEmail" doc:"How to reach the person; null where it was not given."`
	SignedAt      time.Time      `json:"signedAt" doc:"When the person agreed, in UTC."`
	RecordedAt    time.Time      `json:"recordedAt" doc:"When the consent was put on record, in UTC."`
	RecordedBy    string         `json:"recordedBy" doc:"Who put it on record: a key's id or a person's."`
	WithdrawnAt   *time.Time     `json:"withdrawnAt" doc:"When it was withdrawn, in UTC; null while it holds."`
	EvidenceURL   *string        `json:"evidenceUrl" doc:"Where the signed proof can be read, with consents:read; null where none was given."`
}

// ConsentSubject is what the consent is about.
type ConsentSubject struct {
	AvatarID     *id.Avatar     `json:"avatarId" nullable:"true" doc:"The avatar whose face it is; null for another kind of consent."`
	VoiceID      *id.Voice      `json:"voiceId" nullable:"true" doc:"The cloned voice; null for another kind of consent."`
	MembershipID *id.Membership `json:"membershipId" nullable:"true" doc:"The child's place in a portal; null for another kind of consent."`
	SessionID    *id.Session    `json:"sessionId" nullable:"true" doc:"The session that is recorded; null for another kind of consent."`
}

// Show makes the answer's form of a consent.
func Show(c *route.Call, k consent.Consent) Consent {
	shown := Consent{
		ID: k.ID, Kind: string(k.Kind), State: k.State, Method: event.ConsentByAPI, Statement: k.Statement, PolicyVersion: k.PolicyVersion,
		PersonName: k.PersonName, PersonEmail: k.PersonEmail, SignedAt: k.SignedAt.UTC(), RecordedAt: k.RecordedAt.UTC(),
		RecordedBy: k.RecordedBy, WithdrawnAt: k.WithdrawnAt,
	}
	if !k.Avatar.IsZero() {
		shown.Subject.AvatarID = &k.Avatar
	}
	if !k.Voice.IsZero() {
		shown.Subject.VoiceID = &k.Voice
	}
	if !k.Membership.IsZero() {
		shown.Subject.MembershipID = &k.Membership
	}
	if k.Kind == consent.ToRecording {
		shown.Subject.SessionID, shown.Method = &k.Session, event.ConsentInSession
	}
	if k.Guardian != nil {
		shown.Method = k.Guardian.Method
	}
	if !k.Evidence.IsZero() {
		url := c.URL("/consents/" + k.ID.String() + "/evidence")
		shown.EvidenceURL = &url
	}
	return shown
}

// Query filters and pages the records.
type Query struct {
	route.Paging
	Kind         string `query:"kind" enum:"likeness,voice,guardian,recording" doc:"Only consents of this kind."`
	State        string `query:"state" enum:"given,withdrawn" doc:"Only consents that hold, or that were withdrawn."`
	AvatarID     string `query:"avatarId" maxLength:"80" doc:"Only consents to this face."`
	VoiceID      string `query:"voiceId" maxLength:"80" doc:"Only consents to this voice."`
	MembershipID string `query:"membershipId" maxLength:"80" doc:"Only consents to this place in a portal."`
}

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[Consent], error) {
	after, err := route.After[consent.Position](c, q.Paging)
	if err != nil {
		return route.Page[Consent]{}, err
	}
	filter := consent.Filter{Kind: q.Kind, State: q.State}
	if filter.Avatar, err = route.QueryID(id.ParseAvatar, "avatarId", q.AvatarID); err != nil {
		return route.Page[Consent]{}, err
	}
	if filter.Voice, err = route.QueryID(id.ParseVoice, "voiceId", q.VoiceID); err != nil {
		return route.Page[Consent]{}, err
	}
	if filter.Membership, err = route.QueryID(id.ParseMembership, "membershipId", q.MembershipID); err != nil {
		return route.Page[Consent]{}, err
	}
	found, err := consent.List(ctx, a.Tenants, c.Org(), filter, after, q.Limit+1)
	if err != nil {
		return route.Page[Consent]{}, err
	}
	page, err := route.Paged(c, q.Paging, found, func(k consent.Consent) consent.Position {
		return consent.Position{At: k.RecordedAt, ID: k.ID}
	})
	return route.Map(page, func(k consent.Consent) Consent { return Show(c, k) }), err
}

// Path names a consent.
type Path struct {
	ID string `path:"id" doc:"The consent's id, with or without cons_."`
}

func (a *API) find(ctx context.Context, c *route.Call, p *Path) (consent.Consent, error) {
	k, err := route.Lookup(id.ParseConsent, p.ID, "consent")
	if err != nil {
		return consent.Consent{}, err
	}
	found, err := consent.Get(ctx, a.Tenants, c.Org(), k)
	return found, err
}

func (a *API) get(ctx context.Context, c *route.Call, p *Path) (Consent, error) {
	k, err := a.find(ctx, c, p)
	return Show(c, k), err
}

func (a *API) evidence(ctx context.Context, c *route.Call, p *Path) (route.Blob, error) {
	k, err := a.find(ctx, c, p)
	if err != nil {
		return route.Blob{}, err
	}
	if k.Evidence.IsZero() {
		return route.Blob{}, problem.Missing("evidence of this consent").WithParam("path.id")
	}
	data, err := a.Files.Read(ctx, c.Org(), k.Evidence)
	if err != nil {
		return route.Blob{}, err
	}
	c.SetHeader("Content-Disposition", `attachment; filename="evidence"`)
	return route.Blob{
		ContentType: http.DetectContentType(data), ETag: `"` + k.Evidence.Bare() + `"`, CacheControl: "private, no-store",
		Data: func(context.Context) ([]byte, error) { return data, nil },
	}, nil
}

func (a *API) withdraw(ctx context.Context, c *route.Call, p *Path) (Consent, error) {
	k, err := route.Lookup(id.ParseConsent, p.ID, "consent")
	if err != nil {
		return Consent{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Consent, error) {
		withdrawn, err := person.WithdrawConsent(ctx, tx, k, c.Actor())
		return Show(c, withdrawn), err
	})
}

// Emit tells that a consent was given.
func Emit(tx *tenant.Tx, k consent.Consent) { event.EmitConsent(tx, k) }
