package doors

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"visavis.dev/api/people"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/signin"
)

func (a *API) registerTokens(s *route.Service, o route.Operation) {
	o.Status, o.Idempotent, o.ShowsSecret = http.StatusCreated, true, true
	o.Errors = []problem.Code{problem.Conflict, problem.Gone}

	embed := o
	embed.Errors = []problem.Code{problem.Conflict, problem.Gone, problem.UpgradeRequired}
	embed.ID, embed.Path, embed.Summary = "createEmbedToken", "/portals/{id}/embed-tokens", "Sign one of your users in to a portal"
	embed.Description = "The url opens the portal once, in a tab or in a frame of an allowed origin. Name a person by personId, or somebody " +
		"by externalId and name (and email), who is found or added and given a place on the portal."
	route.Handle(s, embed, a.embedToken)

	customer := o
	customer.ID, customer.Path = "createCustomerToken", "/portals/{id}/customer-tokens"
	customer.Summary = "Mint an identity token for a customer who is signed in with you"
	route.Handle(s, customer, a.customerToken)
}

// EmbedInput is the request for an embed token.
type EmbedInput struct {
	Path
	Body EmbedWish
}

// EmbedWish is who is to be signed in.
type EmbedWish struct {
	PersonID       string   `json:"personId,omitempty" maxLength:"80" doc:"A person with a place on the portal."`
	ExternalID     string   `json:"externalId,omitempty" maxLength:"200" doc:"Your own name for somebody, in the place of personId."`
	Name           string   `json:"name,omitempty" maxLength:"200" doc:"With externalId."`
	Email          string   `json:"email,omitempty" maxLength:"254" doc:"With externalId."`
	UnitID         string   `json:"unitId,omitempty" maxLength:"80" doc:"Where somebody by externalId is given a place; outside any unit unless given."`
	Role           string   `json:"role,omitempty" enum:"learner,manager,reviewer,teacher,staff" doc:"That of such a place; learner unless given. A token for a teacher, manager or reviewer lets whoever holds it read and decide what that member may. An administrator is made by POST /people."`
	SubjectID      string   `json:"subjectId,omitempty" maxLength:"80" doc:"What they are taken to; any of the portal's unless given."`
	ExpiresInS     int64    `json:"expiresInS,omitempty" minimum:"60" maximum:"86400" doc:"3600 unless given."`
	AllowedOrigins []string `json:"allowedOrigins,omitempty" maxItems:"20" doc:"Origins of the pages that may show the portal in a frame; none unless given."`
	ReturnURL      string   `json:"returnUrl,omitempty" maxLength:"2048" doc:"Where they go afterwards; https."`
}

// EmbedToken signs one person in, once.
type EmbedToken struct {
	Token        string        `json:"token" doc:"It is never shown again."`
	URL          string        `json:"url" format:"uri" doc:"Opens the portal."`
	ExpiresAt    time.Time     `json:"expiresAt" doc:"From when the token opens nothing, in UTC."`
	PersonID     id.Person     `json:"personId" doc:"The person who is signed in by it."`
	MembershipID id.Membership `json:"membershipId" doc:"The person's place in the portal."`
}

const defaultToken = time.Hour

// trial says whether whoever comes by what is made comes for a trial, as with every
// session of a test key.
func trial(c *route.Call) bool { return c.Principal.Key.Environment == apikey.Test }

// goodFor is how long a token is good for.
func goodFor(seconds int64) time.Duration {
	if seconds == 0 {
		return defaultToken
	}
	return time.Duration(seconds) * time.Second
}

// read checks what can be checked without the database.
func (b *EmbedWish) read(p id.Portal, by string) (signin.Embed, error) {
	w := signin.Embed{
		Portal: p, GoodFor: goodFor(b.ExpiresInS), Details: signin.Details{AllowedOrigins: b.AllowedOrigins, ReturnURL: b.ReturnURL},
		Newcomer: signin.Newcomer{Portal: p, Role: person.Learner, Name: b.Name, By: by},
	}
	var err error
	switch {
	case b.PersonID != "" && b.ExternalID != "":
		return w, problem.Invalid("body.externalId", "Give personId or externalId, not both.")
	case b.PersonID != "":
		if w.Person, err = id.ParsePerson(b.PersonID); err != nil {
			return w, problem.Missing("person").WithParam("body.personId")
		}
	case b.ExternalID == "":
		return w, problem.Invalid("body.personId", "Give personId, or externalId and name.")
	case b.Name == "":
		return w, problem.Invalid("body.name", "Somebody by externalId has a name too.")
	}
	if b.ExternalID != "" {
		w.Newcomer.ExternalID = &b.ExternalID
	}
	if b.Email != "" {
		w.Newcomer.Email = &b.Email
	}
	if b.Role != "" {
		w.Newcomer.Role = person.Role(b.Role)
	}
	if b.UnitID != "" {
		if w.Newcomer.Unit, err = id.ParseUnit(b.UnitID); err != nil {
			return w, problem.Missing("unit of the portal").WithParam("body.unitId")
		}
	}
	if b.SubjectID != "" {
		about, err := id.ParseSubject(b.SubjectID)
		if err != nil {
			return w, problem.Missing("subject").WithParam("body.subjectId")
		}
		w.Details.Subject = &about
	}
	for _, origin := range b.AllowedOrigins {
		if !isOrigin(origin) {
			return w, problem.Invalid("body.allowedOrigins", "%q is not an origin such as https://www.example.com.", origin)
		}
	}
	if u, err := url.Parse(b.ReturnURL); b.ReturnURL != "" && (err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil) {
		return w, problem.Invalid("body.returnUrl", "returnUrl is an https address.")
	}
	return w, nil
}

// isOrigin says whether a text is a page's origin: https, or http on the
// developer's own machine.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || text != strings.ToLower(u.Scheme+"://"+u.Host) {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1")
}

func (a *API) embedToken(ctx context.Context, c *route.Call, in *EmbedInput) (EmbedToken, error) {
	p, err := a.find(ctx, c, &in.Path)
	if err != nil {
		return EmbedToken{}, err
	}
	wish, err := in.Body.read(p.ID, c.Principal.Key.ID.String())
	if err != nil {
		return EmbedToken{}, err
	}
	wish.Newcomer.Terms, wish.Details.Sandbox = c.Principal.Terms, trial(c)
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (EmbedToken, error) {
		if err := taught(ctx, tx, p.ID, wish.Details.Subject); err != nil {
			return EmbedToken{}, err
		}
		made, err := a.Gate.IssueEmbed(ctx, tx, wish, c.Actor())
		if err != nil {
			return EmbedToken{}, people.AddProblem(asProblem(err), a.Plans, wish.Newcomer.Terms, "body.")
		}
		return EmbedToken{made.Token, a.link(p, "embed", made.Token), made.ExpiresAt, made.Person, made.Membership}, nil
	})
}

// taught refuses a subject that nobody can be taken to.
func taught(ctx context.Context, tx *tenant.Tx, p id.Portal, about *id.Subject) error {
	if about == nil {
		return nil
	}
	s, err := subject.Find(ctx, tx, *about)
	switch {
	case errdefs.IsNotFound(err, subject.Noun), err == nil && s.Portal != p:
		return problem.Missing("subject").WithParam("body.subjectId")
	case err != nil:
		return err
	case s.State != subject.Published:
		return problem.Conflicting("not_published", "The subject is not published.").WithParam("body.subjectId")
	}
	return nil
}

// CustomerInput is the request for a customer's token.
type CustomerInput struct {
	Path
	Body CustomerWish
}

// CustomerWish is who a customer is.
type CustomerWish struct {
	CustomerRef string            `json:"customerRef" minLength:"1" maxLength:"200" doc:"Your own name for the customer."`
	Name        string            `json:"name,omitempty" maxLength:"200" doc:"The customer's full name."`
	Email       string            `json:"email,omitempty" maxLength:"254" doc:"The customer's mail address."`
	Phone       string            `json:"phone,omitempty" maxLength:"40" doc:"The customer's phone number, in any form."`
	Verified    bool              `json:"verified,omitempty" doc:"Whether you vouch for who it is."`
	Attributes  map[string]string `json:"attributes,omitempty" doc:"At most 30 names of at most 40 characters, values of at most 500."`
	ExpiresInS  int64             `json:"expiresInS,omitempty" minimum:"60" maximum:"86400" doc:"3600 unless given."`
}

// CustomerToken says who a customer is.
type CustomerToken struct {
	Token       string    `json:"token" doc:"It is never shown again."`
	ExpiresAt   time.Time `json:"expiresAt" doc:"From when the token is worth nothing, in UTC."`
	CustomerRef string    `json:"customerRef" doc:"The customer's id in your own system, which the token vouches for."`
}

// The bounds of a customer's attributes.
const (
	maxAttributes = 30
	maxAttribute  = 40
	maxValue      = 500
)

func (b *CustomerWish) check() error {
	if len(b.Attributes) > maxAttributes {
		return problem.Invalid("body.attributes", "attributes holds at most %d.", maxAttributes)
	}
	for name, value := range b.Attributes {
		if name == "" || len([]rune(name)) > maxAttribute || len([]rune(value)) > maxValue {
			return problem.Invalid("body.attributes", "An attribute's name has 1 to %d characters, its value at most %d.", maxAttribute, maxValue)
		}
	}
	return nil
}

func (a *API) customerToken(ctx context.Context, c *route.Call, in *CustomerInput) (CustomerToken, error) {
	b := in.Body
	p, err := a.find(ctx, c, &in.Path)
	if err == nil {
		err = b.check()
	}
	if err != nil {
		return CustomerToken{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (CustomerToken, error) {
		made, err := a.Gate.IssueCustomer(ctx, tx, p.ID, signin.Details{
			Ref: b.CustomerRef, Name: b.Name, Email: b.Email, Phone: b.Phone, Verified: b.Verified, Attributes: b.Attributes, Sandbox: trial(c),
		}, goodFor(b.ExpiresInS), c.Actor())
		return CustomerToken{made.Token, made.ExpiresAt, b.CustomerRef}, asProblem(err)
	})
}

// since is the contract that the additions appeared in.
const since = contract.V20261001
