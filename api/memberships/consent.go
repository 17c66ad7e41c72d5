package memberships

import (
	"context"
	"time"

	"visavis.dev/api/consents"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/tenant"
)

// maxConsent holds the largest evidence as a data: URI, and the rest.
const maxConsent = consents.MaxEvidence*4/3 + 64<<10

// ConsentInput is the request to record a guardian's consent.
type ConsentInput struct {
	Path
	Body GuardianConsent
}

// GuardianConsent is a parent's or guardian's consent to a place.
type GuardianConsent struct {
	GuardianName  string     `json:"guardianName" minLength:"1" maxLength:"200" doc:"The guardian's full name."`
	GuardianEmail string     `json:"guardianEmail" minLength:"1" maxLength:"320" doc:"How to reach the guardian."`
	Relationship  string     `json:"relationship" minLength:"1" maxLength:"80" doc:"To the person, such as mother."`
	Method        string     `json:"method" enum:"signed_form,email_confirmed,school_authority,in_person" doc:"How the guardian agreed."`
	PolicyVersion string     `json:"policyVersion" minLength:"1" maxLength:"40" doc:"Of the organization's own policy."`
	GivenAt       time.Time  `json:"givenAt" doc:"When the guardian agreed; not in the future."`
	ExpiresAt     *time.Time `json:"expiresAt,omitempty" nullable:"true" doc:"When it ends by itself; never unless given."`
	Evidence      *string    `json:"evidence,omitempty" minLength:"1" nullable:"true" doc:"A data: URI or a public https address of a PDF or a picture, at most 6 MB."`
	Scopes        []string   `json:"scopes" minItems:"1" maxItems:"4" enum:"conversation,recording,memory,report" doc:"What is agreed to, and nothing else: to come in and converse, to be recorded, to have reports of results. memory has no effect, since nobody who needs a guardian is remembered; it is kept on record."`
}

// GuardianConsentRecord is a guardian's consent on record.
type GuardianConsentRecord struct {
	ID            id.Consent    `json:"id" doc:"Id of the consent, with the prefix cons_."`
	MembershipID  id.Membership `json:"membershipId" doc:"The place in a portal that it allows."`
	PersonID      id.Person     `json:"personId" doc:"The young person."`
	State         string        `json:"state" enum:"given,withdrawn" doc:"given, or withdrawn, which is final."`
	GuardianName  string        `json:"guardianName" doc:"The guardian's full name."`
	GuardianEmail *string       `json:"guardianEmail" doc:"How to reach the guardian; null once it was erased."`
	Relationship  string        `json:"relationship" doc:"What the guardian is to the young person."`
	Method        string        `json:"method" enum:"signed_form,email_confirmed,school_authority,in_person" doc:"How the guardian agreed."`
	PolicyVersion string        `json:"policyVersion" doc:"The version of the policy that was agreed to, a date."`
	Scopes        []string      `json:"scopes" doc:"What the guardian agreed to: conversation, recording, report, and memory, which has no effect."`
	GivenAt       time.Time     `json:"givenAt" doc:"When the guardian agreed, in UTC."`
	ExpiresAt     *time.Time    `json:"expiresAt" doc:"When the consent ends, in UTC; null where it does not."`
	EvidenceURL   *string       `json:"evidenceUrl" doc:"Where the signed proof can be read, with consents:read; null where none was given."`
	RecordedAt    time.Time     `json:"recordedAt" doc:"When it was put on record, in UTC."`
	RecordedBy    string        `json:"recordedBy" doc:"Who put it on record: a key's id or a person's."`
}

func show(c *route.Call, k consent.Consent) GuardianConsentRecord {
	return GuardianConsentRecord{
		ID: k.ID, MembershipID: k.Membership, PersonID: k.Person, State: k.State, GuardianName: k.PersonName, GuardianEmail: k.PersonEmail,
		Relationship: k.Guardian.Relationship, Method: k.Guardian.Method, PolicyVersion: k.PolicyVersion, Scopes: k.Guardian.Scopes,
		GivenAt: k.SignedAt.UTC(), ExpiresAt: route.UTC(k.Guardian.ExpiresAt), EvidenceURL: consents.Show(c, k).EvidenceURL,
		RecordedAt: k.RecordedAt.UTC(), RecordedBy: k.RecordedBy,
	}
}

// take makes the record, with its evidence stored.
func (a *API) take(ctx context.Context, c *route.Call, b GuardianConsent) (consent.Consent, error) {
	email, _, ok := person.Address(b.GuardianEmail)
	if !ok {
		return consent.Consent{}, problem.Invalid("body.guardianEmail", "guardianEmail is no e-mail address.")
	}
	if err := route.CheckTime("body.givenAt", b.GivenAt); err != nil {
		return consent.Consent{}, err
	}
	// A little of the future is a clock that runs fast.
	if b.GivenAt.After(c.Now().Add(5 * time.Minute)) {
		return consent.Consent{}, problem.Invalid("body.givenAt", "givenAt lies in the future.")
	}
	if b.ExpiresAt != nil {
		if err := route.CheckTime("body.expiresAt", *b.ExpiresAt); err != nil {
			return consent.Consent{}, err
		}
		if !b.ExpiresAt.After(b.GivenAt) {
			return consent.Consent{}, problem.Invalid("body.expiresAt", "expiresAt must lie after givenAt.")
		}
	}
	k, err := consents.Take(ctx, c, a.Files, a.Sources, consents.ConsentInput{
		PolicyVersion: b.PolicyVersion, PersonName: b.GuardianName, PersonEmail: &email, SignedAt: b.GivenAt, Evidence: b.Evidence,
	}, "body.evidence")
	k.Guardian = &consent.Guardian{Relationship: b.Relationship, Method: b.Method, Scopes: b.Scopes, ExpiresAt: route.UTC(b.ExpiresAt)}
	return k, err
}

func (a *API) consent(ctx context.Context, c *route.Call, in *ConsentInput) (GuardianConsentRecord, error) {
	wanted, err := in.membership()
	if err != nil {
		return GuardianConsentRecord{}, err
	}
	if _, err := person.GetMembership(ctx, a.Tenants, c.Org(), wanted, c.Now()); err != nil {
		return GuardianConsentRecord{}, AsProblem(err, "body.") // before anything is fetched and stored
	}
	k, err := a.take(ctx, c, in.Body)
	if err != nil {
		return GuardianConsentRecord{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (GuardianConsentRecord, error) {
		m, err := person.LockMembership(ctx, tx, wanted)
		if err != nil {
			return GuardianConsentRecord{}, AsProblem(err, "body.")
		}
		_, recorded, err := person.Consent(ctx, tx, m, k, c.Actor())
		if err != nil {
			return GuardianConsentRecord{}, err
		}
		if !k.Evidence.IsZero() {
			if err := a.Files.Keep(ctx, tx, k.Evidence); err != nil {
				return GuardianConsentRecord{}, err
			}
		}
		return show(c, recorded), nil
	})
}
