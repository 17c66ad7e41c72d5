package results

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/learning/certificate/badge"
	"visavis.dev/pkg/learning/certificate/paper"
	"visavis.dev/pkg/store/tenant"
)

const (
	asPDF = "application/pdf"
	asPNG = "image/png"
	asSVG = "image/svg+xml"
)

func (a *API) registerBadges(s *route.Service) {
	printed := route.Operation{
		ID: "getCertificatePDF", Group: "Results", Method: http.MethodGet, Path: "/certificates/{id}/pdf", Class: "read", Scope: scope.ResultsRead,
		Since: contract.V20261001, Produces: []string{asPDF}, Errors: []problem.Code{problem.Conflict}, Summary: "A certificate to print",
		Description: "One page of A4 across, with a code to scan that leads to verifyUrl. One that was revoked is 409 conflict with the reason revoked.",
	}
	route.File(s, printed, a.printCertificate)

	portable := printed
	portable.ID, portable.Path = "getCertificateBadge", "/certificates/{id}/badge"
	portable.Produces = []string{badge.CredentialType, badge.TokenType, asPNG, asSVG}
	portable.Summary = "A certificate as an Open Badge 3.0"
	portable.Description = "A Verifiable Credential with an embedded proof (eddsa-jcs-2022) as json, or as a VC-JWT (RS256) as jwt; png and svg are a " +
		"picture that holds one of them. The issuer is a did:web, and the status list says whether it was revoked. One that was revoked is " +
		"409 conflict with the reason revoked."
	route.File(s, portable, a.certificateBadge)

	open := route.Operation{Group: "Results", Method: http.MethodGet, Auth: route.Open, Since: contract.V20261001}
	document := open
	document.ID, document.Path, document.Produces = "getIssuerDocument", "/issuers/{id}/did.json", []string{badge.DocumentType}
	document.Summary = "The DID document of an organization that issues badges"
	document.Description = "It has every key that the organization's badges were ever signed with. No key is needed to read it."
	route.File(s, document, a.issuerDocument)

	list := open
	list.ID, list.Path, list.Produces = "getStatusList", "/status-lists/{id}", []string{badge.CredentialType}
	list.Summary = "Which of an organization's badges were revoked"
	list.Description = "A Bitstring Status List credential, whose address badges name. No key is needed to read it."
	route.File(s, list, a.statusList)

	rotate := route.Operation{
		ID: "rotateIssuerKey", Group: "Results", Method: http.MethodPost, Path: "/certificates/rotate-issuer-key", Class: "write",
		Scope: scope.ResultsWrite, Since: contract.V20261001, Errors: []problem.Code{problem.Conflict},
		Summary: "Sign badges with a new key soon",
		Description: "The new key signs once everybody can know it, which is signsFrom. Badges that earlier keys signed stay good. Within an hour of the " +
			"last rotation it answers that one's key. An organization has 20 keys at most; another is 409 conflict with the reason too_many_keys.",
	}
	route.Handle(s, rotate, a.rotateIssuerKey)
}

// usable finds a certificate that may be handed out.
func (a *API) usable(ctx context.Context, c *route.Call, p *CertificatePath) (certificate.Certificate, error) {
	which, err := p.certificate()
	if err != nil {
		return certificate.Certificate{}, err
	}
	k, err := certificate.Get(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return k, err
	}
	return k, k.Usable()
}

func (a *API) printCertificate(ctx context.Context, c *route.Call, p *CertificatePath) (route.Blob, error) {
	k, err := a.usable(ctx, c, p)
	if err != nil {
		return route.Blob{}, err
	}
	by, err := a.Registry.Name(ctx, c.Org())
	if err != nil {
		return route.Blob{}, err
	}
	content := paper.Content{
		Recipient: k.Recipient, Title: k.Title, Organization: by, Number: k.Number.String(), VerifyURL: a.Registry.Links.Verify(k.Number),
		Language: k.Language, Plain: k.Template == certificate.Plain, IssuedAt: k.IssuedAt, ExpiresAt: k.ExpiresAt,
	}
	text, err := json.Marshal(content)
	if err != nil {
		return route.Blob{}, err
	}
	return route.Blob{
		ContentType: asPDF, ETag: tagOf(text), CacheControl: privateAsk, Download: "certificate-" + k.Number.String() + ".pdf",
		Data: func(ctx context.Context) ([]byte, error) { return paper.Print(ctx, content) },
	}, nil
}

// privateAsk lets nobody between keep what is somebody's own.
const privateAsk = "private, no-cache"

// BadgeQuery chooses a form of a badge.
type BadgeQuery struct {
	CertificatePath
	Format string `query:"format" enum:"json,jwt,png,svg" default:"json" doc:"json has an embedded proof, jwt is a VC-JWT, png and svg are pictures that hold one of them."`
	Proof  string `query:"proof" enum:"embedded,jwt" default:"embedded" doc:"What a picture holds."`
}

func (a *API) certificateBadge(ctx context.Context, c *route.Call, q *BadgeQuery) (route.Blob, error) {
	k, err := a.usable(ctx, c, &q.CertificatePath)
	if err != nil {
		return route.Blob{}, err
	}
	picture := q.Format == "png" || q.Format == "svg"
	token := q.Format == "jwt" || picture && q.Proof == "jwt"
	data, err := a.Registry.Badge(ctx, c.Org(), k, token)
	if err != nil {
		return route.Blob{}, err
	}
	kind, ending := badge.CredentialType, "json"
	switch {
	case q.Format == "png":
		kind, ending = asPNG, "png"
		if data, err = badge.PNG(data); err != nil {
			return route.Blob{}, err
		}
	case q.Format == "svg":
		kind, ending, data = asSVG, "svg", badge.SVG(data, token)
	case token:
		kind, ending = badge.TokenType, "jwt"
	}
	b := blobOf(kind, privateAsk, data)
	b.Download = "badge-" + k.Number.String() + "." + ending
	return b, nil
}

// blobOf is an answer of bytes that are there.
func blobOf(kind, cache string, data []byte) route.Blob {
	return route.Blob{
		ContentType: kind, ETag: tagOf(data), CacheControl: cache,
		Data: func(context.Context) ([]byte, error) { return bytes.Clone(data), nil },
	}
}

// tagOf is an ETag of bytes that make an answer.
func tagOf(data []byte) string {
	sum := sha256.Sum256(data)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// IssuerPath names an organization that issues badges.
type IssuerPath struct {
	ID string `path:"id" doc:"The organization's id, with or without org_."`
}

// publicMinute lets everybody keep an answer for a minute (certificate.DocumentFor).
const publicMinute = "public, max-age=60"

func (a *API) issuerDocument(ctx context.Context, c *route.Call, p *IssuerPath) (route.Blob, error) {
	org, err := route.Lookup(id.ParseOrg, p.ID, "issuer")
	if err != nil {
		return route.Blob{}, err
	}
	data, err := a.Registry.DIDDocument(ctx, org)
	if err != nil {
		return route.Blob{}, err
	}
	c.AllowOrigin("*")
	return blobOf(badge.DocumentType, publicMinute, data), nil
}

// ListPath names a status list.
type ListPath struct {
	ID string `path:"id" doc:"The organization's id, a full stop and the list's number, from 0."`
}

func (a *API) statusList(ctx context.Context, c *route.Call, p *ListPath) (route.Blob, error) {
	org, list, ok := certificate.ParseList(p.ID)
	if !ok {
		return route.Blob{}, problem.Missing("status list").WithParam("path.id")
	}
	data, err := a.Registry.StatusList(ctx, org, list)
	if err != nil {
		return route.Blob{}, err
	}
	c.AllowOrigin("*")
	return blobOf(badge.CredentialType, publicMinute, data), nil
}

// IssuerKey is the key that an organization's badges are signed with.
type IssuerKey struct {
	ID        id.IssuerKey `json:"id" doc:"Id of the key, with the prefix ikey_; the DID document names it."`
	CreatedAt time.Time    `json:"createdAt" doc:"When it was made, in UTC."`
	SignsFrom time.Time    `json:"signsFrom" doc:"From when on it signs, in UTC: once nobody keeps a DID document without it."`
}

func (a *API) rotateIssuerKey(ctx context.Context, c *route.Call, _ *struct{}) (IssuerKey, error) {
	keys, err := certificate.NewKeys()
	if err != nil {
		return IssuerKey{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (IssuerKey, error) {
		k, err := certificate.Rotate(ctx, tx, a.Registry.Vault, keys, c.Actor())
		return IssuerKey{k.ID, k.CreatedAt.UTC(), k.SignsFrom.UTC()}, err
	})
}
