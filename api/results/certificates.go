package results

import (
	"context"
	"net/http"
	"strings"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/learning/record"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerCertificates(s *route.Service) {
	verify := route.Operation{
		ID: "verifyCertificate", Group: "Results", Method: http.MethodGet, Path: "/certificates/verify/{id}", Auth: route.Open,
		Since: contract.V20261001, Also: []int{http.StatusSeeOther}, Summary: "Whether a certificate counts, for whoever has its number",
		Description: "No key is needed. A browser, which asks for text/html, is sent on to the page that says it in words. A number that no " +
			"certificate has is 404 not_found. Of one that was revoked, nobody learns whose it was.",
	}
	route.Handle(s, verify, a.verifyCertificate)

	list := route.Operation{
		ID: "listCertificates", Group: "Results", Method: http.MethodGet, Path: "/certificates", Class: "read", Scope: scope.ResultsRead,
		Items: contract.CertificateItem, Since: contract.V20261001, Summary: "Certificates, newest first",
	}
	route.List(s, list, a.listCertificates)

	get := list
	get.ID, get.Path, get.Summary = "getCertificate", "/certificates/{id}", "One certificate"
	route.Handle(s, get, a.getCertificate)

	create := list
	create.ID, create.Method, create.Class, create.Scope = "createCertificate", http.MethodPost, "write", scope.ResultsWrite
	create.Status, create.Idempotent = http.StatusCreated, true
	create.Errors = []problem.Code{problem.NotFound, problem.Gone, problem.Conflict, problem.OnHold}
	create.Summary = "Issue a certificate"
	create.Description = "An assessment that is passed and released gives one by itself where its subject has a certificateTemplate. One with a " +
		"resultId is revoked when the result is voided or passes no more; a result has one at a time, and a second is 409 conflict with " +
		"the reason already_certified. That of a practice certifies nothing: 409 conflict with the reason not_assessment. A certificate takes the place of the person's earlier ones of the subject."
	route.Handle(s, create, a.createCertificate)

	revoke := create
	revoke.ID, revoke.Path, revoke.Status, revoke.Idempotent = "revokeCertificate", "/certificates/{id}/revoke", 0, false
	revoke.Errors = []problem.Code{problem.Conflict, problem.OnHold}
	revoke.Summary = "Have a certificate count for nothing, for good"
	revoke.Description = "Another time it is 409 conflict with the reason revoked."
	route.Handle(s, revoke, a.revokeCertificate)
}

// Certificate says that somebody achieved something.
type Certificate struct {
	ID            id.Certificate  `json:"id" doc:"Id of the certificate, with the prefix cert_."`
	Number        string          `json:"number" doc:"What anybody can look it up by."`
	State         string          `json:"state" enum:"valid,expiring,expired,revoked" doc:"expiring for the last 60 days in which it is valid."`
	PersonID      *id.Person      `json:"personId" nullable:"true" doc:"Whose it is; null once they were erased."`
	RecipientName *string         `json:"recipientName" doc:"Their name when it was issued; null once they were erased."`
	SubjectID     *id.Subject     `json:"subjectId" nullable:"true" doc:"What it is for; null once the person was erased."`
	PortalID      *id.Portal      `json:"portalId" nullable:"true" doc:"The subject's portal; null as subjectId is."`
	Title         *string         `json:"title" doc:"What the subject was called; null once the person was erased."`
	ResultID      *id.Result      `json:"resultId" nullable:"true" doc:"The result that it rests on; null for none."`
	Percent       *float64        `json:"percent" doc:"What that result is worth now, in percent; null where it is not released, or there is none."`
	Template      string          `json:"template" enum:"classic,plain" doc:"What it looks like."`
	Language      string          `json:"language" doc:"The language that it is written in, as a code."`
	IssuedAt      time.Time       `json:"issuedAt" doc:"When it was issued, in UTC."`
	ExpiresAt     *time.Time      `json:"expiresAt" doc:"When it ends, in UTC; null for never."`
	RenewedByID   *id.Certificate `json:"renewedById" nullable:"true" doc:"The certificate that took its place; null for none."`
	RevokedAt     *time.Time      `json:"revokedAt" doc:"When it was revoked, in UTC; null for never."`
	ReasonCode    *string         `json:"reasonCode" doc:"Why it was revoked: result_voided, result_changed, withdrawn and erased are the platform's, others are your own."`
	VerifyURL     string          `json:"verifyUrl" format:"uri" doc:"The page that says whether it counts, which anybody can open."`
	PDFURL        string          `json:"pdfUrl" format:"uri" doc:"Where it is to print, for a key with results:read."`

	Badge route.OrNull[BadgeLink] `json:"badge" doc:"Where it is as an Open Badge; null once it was revoked."`
}

// BadgeLink is where a certificate is as a badge.
type BadgeLink struct {
	OpenBadge3 BadgeURL `json:"openBadge3" doc:"As an Open Badge 3.0."`
}

// BadgeURL is the address of a badge.
type BadgeURL struct {
	URL string `json:"url" format:"uri" doc:"For a key with results:read."`
}

func (a *API) showCertificate(c *route.Call, k certificate.Certificate) Certificate {
	shown := Certificate{
		ID: k.ID, Number: k.Number.String(), State: string(k.State(c.Now())), PersonID: k.Person.OrNil(), SubjectID: k.Subject.OrNil(),
		PortalID: k.Portal.OrNil(), ResultID: k.Result.OrNil(), Percent: k.Percent, Template: k.Template, Language: k.Language,
		IssuedAt: k.IssuedAt.UTC(), ExpiresAt: route.UTC(k.ExpiresAt), RenewedByID: k.RenewedBy.OrNil(), RevokedAt: route.UTC(k.RevokedAt),
		ReasonCode: k.ReasonCode, VerifyURL: a.Registry.Links.Verify(k.Number), PDFURL: c.URL("/certificates/" + k.ID.String() + "/pdf"),
	}
	if k.RevokedAt == nil {
		shown.Badge.Value = &BadgeLink{BadgeURL{c.URL("/certificates/" + k.ID.String() + "/badge")}}
	}
	if !k.Person.IsZero() {
		shown.RecipientName, shown.Title = &k.Recipient, &k.Title
	}
	return shown
}

// CertificatePath names a certificate.
type CertificatePath struct {
	ID string `path:"id" doc:"The certificate's id, with or without cert_."`
}

func (p *CertificatePath) certificate() (id.Certificate, error) {
	return route.Lookup(id.ParseCertificate, p.ID, "certificate")
}

// CertificateQuery filters and pages the certificates.
type CertificateQuery struct {
	route.Paging
	PersonID  string `query:"personId" maxLength:"80" doc:"Certificates of this person."`
	SubjectID string `query:"subjectId" maxLength:"80" doc:"Certificates of this subject."`
	ResultID  string `query:"resultId" maxLength:"80" doc:"Certificates that rest on this result."`
	State     string `query:"state" enum:"valid,expiring,expired,revoked" doc:"Only certificates in this state."`
}

func (a *API) listCertificates(ctx context.Context, c *route.Call, q *CertificateQuery) (route.Page[Certificate], error) {
	return route.Listed(c, q.Paging, func(after id.Certificate, limit int) ([]certificate.Certificate, error) {
		who, err := filterOf(q.PersonID, q.SubjectID)
		if err != nil {
			return nil, err
		}
		f := certificate.Filter{Person: who.Person, Subject: who.Subject, State: certificate.State(q.State), Now: c.Now()}
		if f.Result, err = route.QueryID(id.ParseResult, "resultId", q.ResultID); err != nil {
			return nil, err
		}
		return certificate.List(ctx, a.Tenants, c.Org(), f, after, limit)
	}, func(k certificate.Certificate) id.Certificate { return k.ID },
		func(k certificate.Certificate) Certificate { return a.showCertificate(c, k) })
}

func (a *API) getCertificate(ctx context.Context, c *route.Call, p *CertificatePath) (Certificate, error) {
	which, err := p.certificate()
	if err != nil {
		return Certificate{}, err
	}
	k, err := certificate.Get(ctx, a.Tenants, c.Org(), which)
	return a.showCertificate(c, k), err
}

// CertificateInput is the request to issue a certificate.
type CertificateInput struct{ Body CertificateBody }

// CertificateBody says who gets a certificate for what.
type CertificateBody struct {
	PersonID      string     `json:"personId" minLength:"1" maxLength:"80" doc:"Who gets it."`
	SubjectID     string     `json:"subjectId" minLength:"1" maxLength:"80" doc:"What for."`
	ResultID      *string    `json:"resultId,omitempty" maxLength:"80" nullable:"true" doc:"The result that it rests on: the person's, of the subject, of an assessment that is passed and released."`
	RecipientName *string    `json:"recipientName,omitempty" minLength:"1" maxLength:"200" nullable:"true" doc:"The name on it; the person's unless given."`
	Template      *string    `json:"template,omitempty" enum:"classic,plain" nullable:"true" doc:"What it looks like; as the subject says unless given."`
	ExpiresAt     *time.Time `json:"expiresAt,omitempty" nullable:"true" doc:"When it ends, in the future; as the subject's validMonths say unless given."`
}

func (b *CertificateBody) certificate(now time.Time) (k certificate.Certificate, err error) {
	if k.Person, k.Subject, err = named(b.PersonID, b.SubjectID); err != nil {
		return k, err
	}
	if b.ResultID != nil {
		if k.Result, err = id.ParseResult(*b.ResultID); err != nil {
			return k, problem.Missing("result").WithParam("body.resultId")
		}
	}
	if b.RecipientName != nil {
		if k.Recipient = strings.TrimSpace(*b.RecipientName); k.Recipient == "" {
			return k, problem.Invalid("body.recipientName", "recipientName has no letters.")
		}
	}
	if b.Template != nil {
		k.Template = *b.Template
	}
	if b.ExpiresAt != nil {
		if err := route.CheckTime("body.expiresAt", *b.ExpiresAt); err != nil {
			return k, err
		}
		if !b.ExpiresAt.After(now) {
			return k, problem.Invalid("body.expiresAt", "expiresAt must lie in the future.")
		}
		k.ExpiresAt = new(b.ExpiresAt.UTC().Truncate(time.Microsecond))
	}
	return k, nil
}

func (a *API) createCertificate(ctx context.Context, c *route.Call, in *CertificateInput) (Certificate, error) {
	k, err := in.Body.certificate(c.Now())
	if err != nil {
		return Certificate{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Certificate, error) {
		if !k.Result.IsZero() {
			if err := passed(ctx, tx, k); err != nil {
				return Certificate{}, err
			}
		}
		made, err := record.Certify(ctx, tx, k, c.Actor())
		if err != nil {
			return Certificate{}, recordProblem(err)
		}
		made, err = certificate.Lock(ctx, tx, made.ID) // with what its result is worth
		return a.showCertificate(c, made), err
	})
}

// passed refuses a certificate that would rest on a result which is another's, or does not
// bear it, and keeps the result as it is until the commit.
func passed(ctx context.Context, tx *tenant.Tx, k certificate.Certificate) error {
	r, err := result.Lock(ctx, tx, k.Result)
	switch {
	case errdefs.IsNotFound(err, result.Noun):
		return route.At(err, "body.resultId")
	case err != nil:
		return err
	case r.Person != k.Person || r.Subject != k.Subject:
		return problem.Invalid("body.resultId", "The result is another person's, or of another subject.")
	case r.OnHold:
		return asProblem(&result.HeldError{ID: r.ID})
	case r.Kind != session.Assessment:
		return &errdefs.Conflict{Noun: result.Noun, ID: r.ID.String(), Reason: "not_assessment", Message: "The result is a practice's, which certifies nothing."}
	case !r.Shown() || r.Passed == nil || !*r.Passed:
		return &errdefs.Conflict{Noun: result.Noun, ID: r.ID.String(), Reason: "not_passed", Message: "The result is not one that is passed and released."}
	}
	return nil
}

// RevokeInput is the request to revoke a certificate.
type RevokeInput struct {
	CertificatePath
	Body RevokeBody
}

// RevokeBody says why.
type RevokeBody struct {
	ReasonCode string `json:"reasonCode" pattern:"^[a-z][a-z0-9_]{0,39}$" doc:"Why, in a word of your own, such as issued_in_error."`
}

func (a *API) revokeCertificate(ctx context.Context, c *route.Call, in *RevokeInput) (Certificate, error) {
	which, err := in.certificate()
	if err != nil {
		return Certificate{}, err
	}
	// Results are locked before what rests on them.
	before, err := certificate.Get(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return Certificate{}, err
	}
	defer a.Registry.Changed(c.Org(), before)
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Certificate, error) {
		if !before.Result.IsZero() {
			r, err := result.Lock(ctx, tx, before.Result)
			switch {
			case err == nil && r.OnHold:
				return Certificate{}, asProblem(&result.HeldError{ID: r.ID})
			case err != nil && !errdefs.IsNotFound(err, result.Noun):
				return Certificate{}, err
			}
		}
		k, err := certificate.Lock(ctx, tx, which)
		if err != nil {
			return Certificate{}, err
		}
		k, err = certificate.Revoke(ctx, tx, k, in.Body.ReasonCode, c.Actor())
		return a.showCertificate(c, k), err
	})
}

// NumberPath names a certificate by its number.
type NumberPath struct {
	ID string `path:"id" doc:"The certificate's number, with or without its hyphens."`
}

// Verification is what anybody may know of a certificate whose number they have.
type Verification struct {
	Number        string     `json:"number" doc:"The number, as certificates bear it."`
	State         string     `json:"state" enum:"valid,expired,revoked" doc:"Whether it counts now."`
	Organization  string     `json:"organization" doc:"What the organization that issued it calls itself; two can have the same name."`
	IssuerID      id.Org     `json:"issuerId" doc:"Id of the organization that issued it, with the prefix org_, which no other has: the one in the did:web of its badges."`
	RecipientName *string    `json:"recipientName" doc:"Whose it is; null once it was revoked."`
	Title         *string    `json:"title" doc:"What it is for; null once it was revoked."`
	IssuedAt      time.Time  `json:"issuedAt" doc:"When it was issued, in UTC."`
	ExpiresAt     *time.Time `json:"expiresAt" doc:"When it ends, in UTC; null for never."`
	RevokedAt     *time.Time `json:"revokedAt" doc:"When it was revoked, in UTC; null for never."`
	CheckedAt     time.Time  `json:"checkedAt" doc:"The moment that this is of, in UTC."`
}

func (a *API) verifyCertificate(ctx context.Context, c *route.Call, p *NumberPath) (Verification, error) {
	c.SetHeader("Vary", "Accept")
	n, ok := certificate.ParseNumber(p.ID)
	if !ok {
		return Verification{}, problem.Missing("certificate").WithParam("path.id")
	}
	if strings.Contains(c.Header("Accept"), "text/html") {
		c.SetHeader("Location", a.Registry.Links.Verify(n))
		c.AnswerWith(http.StatusSeeOther)
	}
	v, err := a.Registry.Verify(ctx, n)
	if err != nil {
		return Verification{}, err
	}
	shown := Verification{
		Number: v.Number.String(), State: string(v.State), Organization: v.Organization, IssuerID: v.Issuer, IssuedAt: v.IssuedAt.UTC(), ExpiresAt: route.UTC(v.ExpiresAt),
		RevokedAt: route.UTC(v.RevokedAt), CheckedAt: v.CheckedAt,
	}
	if v.Recipient != "" {
		shown.RecipientName, shown.Title = &v.Recipient, &v.Title
	}
	return shown, nil
}
