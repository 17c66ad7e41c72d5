package results

import (
	"context"
	"errors"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/learning/record"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerRecords(s *route.Service) {
	list := route.Operation{
		ID: "listCompletions", Group: "Results", Method: http.MethodGet, Path: "/completions", Class: "read", Scope: scope.ResultsRead,
		Items: contract.CompletionItem, Since: contract.V20261001, Summary: "What people completed, newest first",
	}
	route.List(s, list, a.listCompletions)

	create := list
	create.ID, create.Method, create.Class, create.Scope = "createCompletion", http.MethodPost, "write", scope.ResultsWrite
	create.Status, create.Idempotent, create.Errors = http.StatusCreated, true, []problem.Code{problem.NotFound, problem.Gone}
	create.Summary = "Record that somebody completed a subject"
	create.Description = "An assessment that is passed and released is recorded by itself, and withdrawn when its result is voided or passes no more."
	route.Handle(s, create, a.createCompletion)

	remove := create
	remove.ID, remove.Method, remove.Path, remove.Status, remove.Idempotent = "deleteCompletion", http.MethodDelete, "/completions/{id}", 0, false
	remove.Items, remove.Errors = "", []problem.Code{problem.Gone, problem.OnHold}
	remove.Summary = "Withdraw a completion"
	remove.Description = "It stays in the list as withdrawn. One that rests on a result on hold is 409 on_hold."
	route.Handle(s, remove, a.deleteCompletion)

	attestations := list
	attestations.ID, attestations.Path, attestations.Items = "listAttestations", "/attestations", contract.AttestationItem
	attestations.Summary = "Statements that people confirmed, newest first"
	route.List(s, attestations, a.listAttestations)

	attest := create
	attest.ID, attest.Path, attest.Items = "createAttestation", "/attestations", contract.AttestationItem
	attest.Summary, attest.Description = "Record that somebody confirmed a statement", "It is a record, and cannot be changed."
	route.Handle(s, attest, a.createAttestation)
}

// Completion says that somebody completed a subject.
type Completion struct {
	ID            id.Completion     `json:"id" doc:"Id of the completion, with the prefix cmp_."`
	PersonID      id.Person         `json:"personId" doc:"Who completed it."`
	MembershipID  *id.Membership    `json:"membershipId" nullable:"true" doc:"Their place in the subject's portal; null where they had none."`
	SubjectID     id.Subject        `json:"subjectId" doc:"What was completed."`
	PortalID      id.Portal         `json:"portalId" doc:"The subject's portal."`
	ResultID      *id.Result        `json:"resultId" nullable:"true" doc:"The result that it rests on; null for none."`
	CertificateID *id.Certificate   `json:"certificateId" nullable:"true" doc:"The certificate that was issued for it and not revoked; null for none."`
	Source        string            `json:"source" enum:"session,api,import" doc:"What recorded it: an assessment that was passed, a call, or an import."`
	CompletedAt   time.Time         `json:"completedAt" doc:"When it was completed, in UTC."`
	ValidUntil    *time.Time        `json:"validUntil" doc:"Until when it counts, in UTC; null for ever."`
	State         string            `json:"state" enum:"valid,withdrawn,expired" doc:"valid, withdrawn for good, or expired by its time."`
	Evidence      map[string]string `json:"evidence" doc:"What was noted with it: at most 20 keys of 40 characters, with values of 500."`
}

func showCompletion(k record.Completion, now time.Time) Completion {
	return Completion{
		ID: k.ID, PersonID: k.Person, MembershipID: k.Membership.OrNil(), SubjectID: k.Subject, PortalID: k.Portal, ResultID: k.Result.OrNil(), CertificateID: k.Certificate.OrNil(),
		Source: k.Source, CompletedAt: k.CompletedAt.UTC(), ValidUntil: route.UTC(k.ValidUntil), State: k.State(now), Evidence: k.Evidence,
	}
}

// CompletionQuery filters and pages the completions.
type CompletionQuery struct {
	route.Paging
	PersonID  string `query:"personId" maxLength:"80" doc:"Completions of this person."`
	SubjectID string `query:"subjectId" maxLength:"80" doc:"Completions of this subject."`
	State     string `query:"state" enum:"valid,withdrawn,expired" doc:"Only completions in this state."`
}

func (a *API) listCompletions(ctx context.Context, c *route.Call, q *CompletionQuery) (route.Page[Completion], error) {
	return route.Listed(c, q.Paging, func(after id.Completion, limit int) ([]record.Completion, error) {
		f, err := filterOf(q.PersonID, q.SubjectID)
		if err != nil {
			return nil, err
		}
		f.State, f.Now = q.State, c.Now()
		return record.Completions(ctx, a.Tenants, c.Org(), f, after, limit)
	}, func(k record.Completion) id.Completion { return k.ID }, func(k record.Completion) Completion { return showCompletion(k, c.Now()) })
}

func filterOf(personID, subjectID string) (f record.Filter, err error) {
	if f.Person, err = route.QueryID(id.ParsePerson, "personId", personID); err != nil {
		return f, err
	}
	f.Subject, err = route.QueryID(id.ParseSubject, "subjectId", subjectID)
	return f, err
}

// CompletionInput is the request to record a completion.
type CompletionInput struct{ Body CompletionBody }

// CompletionBody says who completed what.
type CompletionBody struct {
	PersonID    string            `json:"personId" minLength:"1" maxLength:"80" doc:"Who completed it."`
	SubjectID   string            `json:"subjectId" minLength:"1" maxLength:"80" doc:"What was completed."`
	CompletedAt *time.Time        `json:"completedAt,omitempty" nullable:"true" doc:"When; now unless given, and not in the future."`
	ValidUntil  *time.Time        `json:"validUntil,omitempty" nullable:"true" doc:"Until when it counts; as the subject's validMonths say unless given."`
	Source      string            `json:"source,omitempty" enum:"api,import" doc:"api unless given; import for what another system recorded."`
	Evidence    map[string]string `json:"evidence,omitempty" doc:"What to note with it: 20 keys of 40 characters at most, with values of 500."`
}

// named are the person and the subject that a body names.
func named(personID, subjectID string) (p id.Person, s id.Subject, err error) {
	if p, err = id.ParsePerson(personID); err != nil {
		return p, s, problem.Missing("person").WithParam("body.personId")
	}
	if s, err = id.ParseSubject(subjectID); err != nil {
		return p, s, problem.Missing("subject").WithParam("body.subjectId")
	}
	return p, s, nil
}

// recordProblem names the input that is at fault.
func recordProblem(err error) error {
	if errdefs.IsAbsent(err, person.Noun) {
		return route.At(err, "body.personId")
	}
	if errdefs.IsNotFound(err, subject.Noun) {
		return route.At(err, "body.subjectId")
	}
	return err
}

func (b *CompletionBody) completion(now time.Time) (k record.Completion, err error) {
	if k.Person, k.Subject, err = named(b.PersonID, b.SubjectID); err != nil {
		return k, err
	}
	k.Source, k.Evidence, k.CompletedAt, k.ValidUntil = record.FromAPI, b.Evidence, now, b.ValidUntil
	if b.Source != "" {
		k.Source = b.Source
	}
	if b.CompletedAt != nil {
		if err := route.CheckTime("body.completedAt", *b.CompletedAt); err != nil {
			return k, err
		}
		// A little of the future is a clock that runs fast.
		if b.CompletedAt.After(now.Add(5 * time.Minute)) {
			return k, problem.Invalid("body.completedAt", "completedAt lies in the future.")
		}
		k.CompletedAt = *b.CompletedAt
	}
	if b.ValidUntil != nil {
		if err := route.CheckTime("body.validUntil", *b.ValidUntil); err != nil {
			return k, err
		}
		if !b.ValidUntil.After(k.CompletedAt) {
			return k, problem.Invalid("body.validUntil", "validUntil must lie after completedAt.")
		}
	}
	return k, checkEvidence(b.Evidence)
}

// checkEvidence bounds evidence as metadata is.
func checkEvidence(m map[string]string) error {
	err := route.CheckMetadata(m)
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return problem.Invalid("body.evidence", "evidence takes 20 keys of 40 characters at most, with values of 500.").WithCause(p)
	}
	return err
}

func (a *API) createCompletion(ctx context.Context, c *route.Call, in *CompletionInput) (Completion, error) {
	k, err := in.Body.completion(c.Now())
	if err != nil {
		return Completion{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Completion, error) {
		made, err := record.Complete(ctx, tx, k, c.Actor())
		return showCompletion(made, c.Now()), recordProblem(err)
	})
}

// CompletionPath names a completion.
type CompletionPath struct {
	ID string `path:"id" doc:"The completion's id, with or without cmp_."`
}

func (a *API) deleteCompletion(ctx context.Context, c *route.Call, p *CompletionPath) (route.Deleted, error) {
	which, err := route.Lookup(id.ParseCompletion, p.ID, "completion")
	if err != nil {
		return route.Deleted{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (route.Deleted, error) {
		return route.Deleted{Deleted: true, ID: which.String()}, asProblem(result.WithdrawCompletion(ctx, tx, which, c.Actor()))
	})
}

// Attestation says that somebody confirmed a statement.
type Attestation struct {
	ID               id.Attestation `json:"id" doc:"Id of the attestation, with the prefix att_."`
	PersonID         id.Person      `json:"personId" doc:"Who confirmed it."`
	SubjectID        id.Subject     `json:"subjectId" doc:"The subject that it belongs to."`
	PortalID         id.Portal      `json:"portalId" doc:"The subject's portal."`
	StatementKey     string         `json:"statementKey" doc:"The statement's name, as you gave it."`
	StatementVersion string         `json:"statementVersion" doc:"Which version of it was confirmed."`
	Text             string         `json:"text" doc:"What was confirmed, word for word."`
	Method           string         `json:"method" enum:"click,spoken,signed,witness" doc:"How it was confirmed."`
	WitnessID        *id.Person     `json:"witnessId" nullable:"true" doc:"Who confirmed it for them; null for nobody, and once that person was erased."`
	RecordedAt       time.Time      `json:"recordedAt" doc:"When it was put on record, in UTC."`
}

func showAttestation(k record.Attestation) Attestation {
	return Attestation{
		ID: k.ID, PersonID: k.Person, SubjectID: k.Subject, PortalID: k.Portal, StatementKey: k.StatementKey, StatementVersion: k.StatementVersion,
		Text: k.Text, Method: k.Method, WitnessID: k.Witness.OrNil(), RecordedAt: k.RecordedAt.UTC(),
	}
}

// AttestationQuery filters and pages the attestations.
type AttestationQuery struct {
	route.Paging
	PersonID  string `query:"personId" maxLength:"80" doc:"Attestations of this person."`
	SubjectID string `query:"subjectId" maxLength:"80" doc:"Attestations that belong to this subject."`
}

func (a *API) listAttestations(ctx context.Context, c *route.Call, q *AttestationQuery) (route.Page[Attestation], error) {
	return route.Listed(c, q.Paging, func(after id.Attestation, limit int) ([]record.Attestation, error) {
		f, err := filterOf(q.PersonID, q.SubjectID)
		if err != nil {
			return nil, err
		}
		return record.Attestations(ctx, a.Tenants, c.Org(), f, after, limit)
	}, func(k record.Attestation) id.Attestation { return k.ID }, showAttestation)
}

// AttestationInput is the request to record an attestation.
type AttestationInput struct{ Body AttestationBody }

// AttestationBody says who confirmed what, and how.
type AttestationBody struct {
	PersonID         string  `json:"personId" minLength:"1" maxLength:"80" doc:"Who confirmed it."`
	SubjectID        string  `json:"subjectId" minLength:"1" maxLength:"80" doc:"The subject that it belongs to."`
	StatementKey     string  `json:"statementKey" pattern:"^[a-z][a-z0-9_]{0,39}$" doc:"Your own name for the statement, such as code_of_conduct."`
	StatementVersion string  `json:"statementVersion" minLength:"1" maxLength:"40" doc:"Which version of it."`
	Text             string  `json:"text" minLength:"1" maxLength:"10000" doc:"What was confirmed, word for word."`
	Method           string  `json:"method" enum:"click,spoken,signed,witness" doc:"How it was confirmed."`
	WitnessID        *string `json:"witnessId,omitempty" maxLength:"80" nullable:"true" doc:"Who confirmed it for them, of the method witness."`
}

func (a *API) createAttestation(ctx context.Context, c *route.Call, in *AttestationInput) (Attestation, error) {
	b := in.Body
	k := record.Attestation{StatementKey: b.StatementKey, StatementVersion: b.StatementVersion, Text: b.Text, Method: b.Method}
	var err error
	if k.Person, k.Subject, err = named(b.PersonID, b.SubjectID); err != nil {
		return Attestation{}, err
	}
	if b.WitnessID != nil {
		if k.Witness, err = id.ParsePerson(*b.WitnessID); err != nil {
			return Attestation{}, problem.Missing("person").WithParam("body.witnessId")
		}
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Attestation, error) {
		made, err := record.Attest(ctx, tx, k, c.Actor())
		return showAttestation(made), recordProblem(err)
	})
}
