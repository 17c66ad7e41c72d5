package doors

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/sessions/caselink"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/signin"
)

func (a *API) registerCaseLinks(s *route.Service, read, embed route.Operation) {
	list := read
	list.ID, list.Path, list.Items, list.Summary = "listCaseLinks", "/portals/{id}/case-links", contract.CaseLinkItem, "The links to cases of a portal, newest first"
	route.List(s, list, a.caseLinks)

	create := embed
	create.ID, create.Path, create.Items = "createCaseLink", "/portals/{id}/case-links", contract.CaseLinkItem
	create.Status, create.Idempotent, create.ShowsSecret = http.StatusCreated, true, true
	create.Errors = []problem.Code{problem.Conflict, problem.Gone}
	create.Summary = "Make a link by which a customer sees their case and talks about it"
	route.Handle(s, create, a.createCaseLink)

	get := read
	get.ID, get.Path, get.Items, get.Summary = "getCaseLink", "/case-links/{id}", contract.CaseLinkItem, "One link to a case"
	get.Description = "The case's summary needs transcripts:read too; it is null without it."
	route.Handle(s, get, a.caseLink)

	revoke := embed
	revoke.ID, revoke.Method, revoke.Path, revoke.Items = "revokeCaseLink", http.MethodDelete, "/case-links/{id}", contract.CaseLinkItem
	revoke.Summary = "Take a link back: it opens nothing any more"
	route.Handle(s, revoke, a.revokeCaseLink)
}

// CaseLinkInput is the request for a link.
type CaseLinkInput struct {
	Path
	Body CaseLinkWish
}

// CaseLinkWish is a case to be linked to.
type CaseLinkWish struct {
	CaseRef     string            `json:"caseRef" minLength:"1" maxLength:"200" doc:"Your own name for the case."`
	CustomerRef *string           `json:"customerRef,omitempty" maxLength:"200" doc:"The customer's id in your own system."`
	Title       string            `json:"title" minLength:"1" maxLength:"200" doc:"What the page is to call the case."`
	CaseSummary string            `json:"caseSummary,omitempty" maxLength:"8000" doc:"What the avatar knows of the case."`
	Language    string            `json:"language,omitempty" maxLength:"40" doc:"A code or a name; the portal's unless given."`
	Channel     string            `json:"channel,omitempty" enum:"link,email" doc:"link: you send the url yourself; unless given. email: it is mailed to contact.email."`
	Contact     *CaseContact      `json:"contact,omitempty" doc:"Who the link is for, as far as you know."`
	ExpiresInS  int64             `json:"expiresInS,omitempty" minimum:"60" maximum:"7776000" doc:"604800, a week, unless given."`
	MaxOpens    *int64            `json:"maxOpens,omitempty" minimum:"1" maximum:"1000" doc:"How often it opens; any number unless given."`
	ExternalID  *string           `json:"externalId,omitempty" maxLength:"200" doc:"The link's id in your own system, to find it by."`
	Metadata    map[string]string `json:"metadata,omitempty" doc:"At most 20 keys of at most 40 characters, values of at most 500."`
}

// CaseContact is who a link is to be for, as far as it is known.
type CaseContact struct {
	Name  *string `json:"name,omitempty" maxLength:"200" doc:"A full name; null where it is not known."`
	Email *string `json:"email,omitempty" maxLength:"254" doc:"A mail address; null where it is not known."`
	Phone *string `json:"phone,omitempty" maxLength:"40" doc:"A phone number, in any form; null where it is not known."`
}

func (c *CaseContact) kept() *caselink.Contact {
	if c == nil {
		return nil
	}
	return &caselink.Contact{Name: c.Name, Email: c.Email, Phone: c.Phone}
}

// CaseLink is a link to a case.
type CaseLink struct {
	ID          id.CaseLink                    `json:"id" doc:"Id of the link, with the prefix case_."`
	PortalID    id.Portal                      `json:"portalId" doc:"The portal that it leads to."`
	CaseRef     string                         `json:"caseRef" doc:"The case's number in your own system."`
	CustomerRef *string                        `json:"customerRef" doc:"The customer's id in your own system; null where none was given."`
	Title       string                         `json:"title" doc:"What the page calls the case."`
	CaseSummary *string                        `json:"caseSummary" doc:"What the case is about, which the avatar knows in the conversation; null where none was given, and without transcripts:read."`
	Language    string                         `json:"language" doc:"The language that the conversation begins in, as a code."`
	URL         *string                        `json:"url" format:"uri" doc:"Where the customer comes; shown when it is made and never again."`
	Channel     string                         `json:"channel" enum:"link,email,sms" doc:"How the link reaches its person: you pass it on, or it is sent."`
	SentTo      *string                        `json:"sentTo" doc:"Where it was sent, with most of it masked; null where it was not."`
	State       caselink.State                 `json:"state" enum:"created,sent,opened,used,expired,revoked" doc:"How far the link has come: a revoked or expired one opens nothing."`
	ExpiresAt   time.Time                      `json:"expiresAt" doc:"From when the link opens nothing any more, in UTC."`
	MaxOpens    *int64                         `json:"maxOpens" doc:"How many times it can be opened; null for any number."`
	OpenCount   int64                          `json:"openCount" doc:"How many times it was opened."`
	OpenedAt    *time.Time                     `json:"openedAt" doc:"When it was first opened, in UTC; null for never."`
	SessionID   *id.Session                    `json:"sessionId" nullable:"true" doc:"The conversation that came of it; null for none yet."`
	Contact     route.OrNull[caselink.Contact] `json:"contact" doc:"For keys with people:read."`
	ExternalID  *string                        `json:"externalId" doc:"The link's id in your own system; null where none was given."`
	Metadata    map[string]string              `json:"metadata" doc:"Your own notes on it: at most 20 keys of 40 characters, with values of 500."`
	CreatedBy   string                         `json:"createdBy" doc:"Who made it: a key's id or a person's."`
	CreatedAt   time.Time                      `json:"createdAt" doc:"When the link was made, in UTC."`
}

func showCaseLink(c *route.Call, l caselink.Link) CaseLink {
	shown := CaseLink{
		ID: l.ID, PortalID: l.Portal, CaseRef: l.CaseRef, CustomerRef: l.CustomerRef, Title: l.Title, Language: l.Language, Channel: l.Channel,
		SentTo: l.SentTo(), State: l.State(c.Now()), ExpiresAt: l.ExpiresAt.UTC(), MaxOpens: l.MaxOpens, OpenCount: l.OpenCount, OpenedAt: route.UTC(l.OpenedAt),
		SessionID: l.Session.OrNil(), ExternalID: l.ExternalID, Metadata: l.Metadata, CreatedBy: l.CreatedBy, CreatedAt: l.CreatedAt.UTC(),
	}
	if c.Principal.Key.Grant().Holds(scope.PeopleRead) {
		shown.Contact.Value = l.Contact
	}
	if readsWords(c) {
		shown.CaseSummary = &l.Summary
	}
	return shown
}

const defaultCaseLink = 7 * 24 * time.Hour

// mailedTo is the address that a link is to be mailed to; empty for one that is not.
func (a *API) mailedTo(l caselink.Link) (string, error) {
	if l.Channel != caselink.ByEmail {
		return "", nil
	}
	if a.Gate.Mails == nil {
		return "", noMail("body.channel")
	}
	if l.Contact == nil || l.Contact.Email == nil {
		return "", problem.Invalid("body.contact.email", "A link is mailed to contact.email.")
	}
	return *l.Contact.Email, nil
}

// mailProblem says why no mail is sent; param is where the address stands.
func mailProblem(err error, param string) error {
	r, ok := errors.AsType[*signin.Refusal](err)
	switch {
	case ok && r.Code == signin.EmailRequired:
		return problem.Invalid(param, "This is no e-mail address.")
	case ok && r.Code == signin.TooManyMails:
		return r.Problem().WithParam(param)
	}
	return asProblem(err)
}

func (a *API) createCaseLink(ctx context.Context, c *route.Call, in *CaseLinkInput) (CaseLink, error) {
	b := in.Body
	p, err := a.find(ctx, c, &in.Path)
	if err != nil {
		return CaseLink{}, err
	}
	if err := route.CheckMetadata(b.Metadata); err != nil {
		return CaseLink{}, err
	}
	l := caselink.Link{
		ID: id.NewCaseLink(), Portal: p.ID, CaseRef: b.CaseRef, CustomerRef: b.CustomerRef, Title: b.Title, Summary: b.CaseSummary,
		Channel: cmp.Or(b.Channel, caselink.ByHand), Contact: b.Contact.kept(), ExpiresAt: c.Now().Add(defaultCaseLink), MaxOpens: b.MaxOpens, ExternalID: b.ExternalID,
		Metadata: b.Metadata, CreatedBy: c.Principal.Key.ID.String(), CreatedAt: c.Now(), Sandbox: trial(c),
	}
	if b.ExpiresInS > 0 {
		l.ExpiresAt = c.Now().Add(time.Duration(b.ExpiresInS) * time.Second)
	}
	if l.Language, err = languageOf(b.Language, p.Definition.DefaultLanguage); err != nil {
		return CaseLink{}, err
	}
	address, err := a.mailedTo(l)
	if err != nil {
		return CaseLink{}, err
	}
	if l.Metadata == nil {
		l.Metadata = map[string]string{}
	}
	token := caselink.NewToken()
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (CaseLink, error) {
		if err := a.Gate.Opens(ctx, tx, p.ID, door.Customers); err != nil {
			return CaseLink{}, asProblem(err)
		}
		if err := caselink.Insert(ctx, tx, l, token, c.Actor()); err != nil {
			return CaseLink{}, err
		}
		if address != "" {
			if err := a.Gate.SendCase(ctx, tx, p.ID, l.ID, address, string(token), person.Author{By: l.CreatedBy, At: l.CreatedAt}); err != nil {
				return CaseLink{}, mailProblem(err, "body.contact.email")
			}
		}
		shown := showCaseLink(c, l)
		shown.URL = new(a.link(p, "case", string(token)))
		return shown, nil
	})
}

// CaseLinkQuery pages the links of a portal.
type CaseLinkQuery struct {
	Path
	route.Paging
}

func (a *API) caseLinks(ctx context.Context, c *route.Call, q *CaseLinkQuery) (route.Page[CaseLink], error) {
	p, err := a.find(ctx, c, &q.Path)
	if err != nil {
		return route.Page[CaseLink]{}, err
	}
	after, err := route.After[id.CaseLink](c, q.Paging)
	if err != nil {
		return route.Page[CaseLink]{}, err
	}
	if after == nil {
		after = &id.CaseLink{}
	}
	found, err := caselink.List(ctx, a.Tenants, c.Org(), p.ID, *after, q.Limit+1)
	if err != nil {
		return route.Page[CaseLink]{}, err
	}
	page, err := route.Paged(c, q.Paging, found, func(l caselink.Link) id.CaseLink { return l.ID })
	return route.Map(page, func(l caselink.Link) CaseLink { return showCaseLink(c, l) }), err
}

// CaseLinkPath names a link.
type CaseLinkPath struct {
	ID string `path:"id" doc:"The link's id, with or without case_."`
}

func (a *API) caseLink(ctx context.Context, c *route.Call, in *CaseLinkPath) (CaseLink, error) {
	wanted, err := route.Lookup(id.ParseCaseLink, in.ID, "case link")
	if err != nil {
		return CaseLink{}, err
	}
	l, err := caselink.Get(ctx, a.Tenants, c.Org(), wanted)
	return showCaseLink(c, l), err
}

func (a *API) revokeCaseLink(ctx context.Context, c *route.Call, in *CaseLinkPath) (CaseLink, error) {
	wanted, err := route.Lookup(id.ParseCaseLink, in.ID, "case link")
	if err != nil {
		return CaseLink{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (CaseLink, error) {
		l, err := caselink.Revoke(ctx, tx, wanted, c.Actor())
		return showCaseLink(c, l), err
	})
}
