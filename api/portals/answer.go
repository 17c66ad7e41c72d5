package portals

import (
	"errors"
	"fmt"
	"html"
	"slices"
	"time"

	"visavis.dev/api/golive"
	"visavis.dev/api/personas"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/errdefs"
	check "visavis.dev/pkg/base/golive"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/portal"
)

// Portal is one portal, with its draft.
type Portal struct {
	ID           id.Portal `json:"id" doc:"Id of the portal, with the prefix portal_."`
	Name         string    `json:"name" doc:"What the portal is called, for people."`
	Slug         string    `json:"slug" doc:"Names its page, among all portals of the service."`
	CustomDomain *string   `json:"customDomain" doc:"A host of your own that its page is at, once that is proven to be yours."`
	// CustomDomainState and CustomDomainRecord say whether it is, and what proves it.
	CustomDomainState  *string                 `json:"customDomainState" enum:"unproven,proven" nullable:"true" doc:"Whether customDomain is proven to be yours: nothing is shown there before. It is looked for once a day, and unproven again when it was missing for a week, or as soon as another portal proves it; what proves it then is another record. Null without one."`
	CustomDomainRecord route.OrNull[DNSRecord] `json:"customDomainRecord" doc:"What to enter in the DNS of customDomain to prove it, looked for when the portal is checked or published; null where there is nothing to prove."`
	URL                string                  `json:"url" format:"uri" doc:"Its page."`
	Kind               string                  `json:"kind" enum:"learning,support,sales,hiring,reception,custom" doc:"What the portal is for."`
	TemplateKey        string                  `json:"templateKey" doc:"The template that it was built from."`
	State              string                  `json:"state" enum:"draft,published,unpublished,archived" doc:"draft until it is first published; an archived one is gone for people and stays readable."`
	PersonaID          id.Persona              `json:"personaId" doc:"Who speaks."`
	portal.Definition
	Embed                 PortalFrame                         `json:"embed" doc:"How other pages show it in a frame."`
	SubjectIDs            []id.Subject                        `json:"subjectIds" doc:"In their order."`
	WidgetIDs             []id.Widget                         `json:"widgetIds" doc:"Widgets that show its persona."`
	Doors                 Doors                               `json:"doors" doc:"Which ways in are open."`
	DraftVersion          int64                               `json:"draftVersion" doc:"Grows with each change of the draft."`
	PublishedVersion      *int64                              `json:"publishedVersion" doc:"The one that visitors see."`
	PublishedAt           *time.Time                          `json:"publishedAt" doc:"When it was last published, in UTC; null for never."`
	HasUnpublishedChanges bool                                `json:"hasUnpublishedChanges" doc:"Whether publishing would change what visitors see, in the portal or in a subject."`
	PublishRefused        route.OrNull[golive.PublishRefusal] `json:"publishRefused" doc:"Why the publishing that was asked for was refused; null otherwise."`
	ManagedBy             string                              `json:"managedBy" doc:"api, or the resource that declares the portal, such as Portal acme/museum: then what it declares cannot be changed here."`
	CreatedAt             time.Time                           `json:"createdAt" doc:"When the portal was built, in UTC."`
	UpdatedAt             time.Time                           `json:"updatedAt" doc:"When its draft was last changed, in UTC."`
	ArchivedAt            *time.Time                          `json:"archivedAt" doc:"When it was archived, in UTC; null while it was not."`
}

// DNSRecord is what to enter in the DNS of a host.
type DNSRecord struct {
	Name  string `json:"name" doc:"The name to enter it under."`
	Type  string `json:"type" enum:"TXT" doc:"The kind of record."`
	Value string `json:"value" doc:"What to enter."`
}

// PortalFrame is how other pages show the portal in a frame, once that is published.
type PortalFrame struct {
	IframeURL *string `json:"iframeUrl" format:"uri" doc:"What a frame of a page of the allowedOrigins shows; null without any."`
	HTML      *string `json:"html" doc:"The tag for such a page."`
}

// embed is the frame of a portal at an address.
func embed(address string, d portal.Definition) PortalFrame {
	if len(d.AllowedOrigins) == 0 {
		return PortalFrame{}
	}
	tag := fmt.Sprintf(`<iframe src="%s" title="%s" allow="microphone" style="width:100%%;height:100%%;border:0"></iframe>`,
		html.EscapeString(address), html.EscapeString(d.Pages.Title[d.DefaultLanguage]))
	return PortalFrame{&address, &tag}
}

// Doors says which ways in are open. GET /portals/{id}/doors tells more.
type Doors struct {
	Visitors   string `json:"visitors" enum:"open,closed" doc:"Whether anybody can come in."`
	Members    string `json:"members" enum:"open,closed" doc:"By link, join code or single sign-on."`
	Embed      string `json:"embed" enum:"open,closed" doc:"Whether your own pages can sign people in."`
	Customers  string `json:"customers" enum:"open,closed" doc:"Whether your customers can come in with a token of yours."`
	Staff      string `json:"staff" enum:"open,closed" doc:"Whether your own people can come in."`
	Candidates string `json:"candidates" enum:"open,closed" doc:"Whether people who apply can come in with their invitation."`
}

func showDoors(open []string) Doors {
	door := func(keys ...string) string {
		if slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(open, key) }) {
			return "open"
		}
		return "closed"
	}
	return Doors{
		Visitors: door("visitors"), Members: door("members_link", "join_code", "sso"), Embed: door("embed"),
		Customers: door("customers"), Staff: door("staff"), Candidates: door("candidates"),
	}
}

func (a *API) show(org id.Org, p portal.Detail) Portal {
	shown := Portal{
		ID: p.ID, Name: p.Name, Slug: p.Slug, URL: a.PortalURL + "/p/" + p.Slug, Kind: string(p.Kind), TemplateKey: p.TemplateKey,
		State: string(p.State), PersonaID: p.Persona, Definition: p.Definition, SubjectIDs: p.Subjects, WidgetIDs: p.Widgets,
		Doors: showDoors(p.Open), DraftVersion: p.DraftVersion, PublishedVersion: p.PublishedVersion, PublishedAt: route.UTC(p.PublishedAt),
		HasUnpublishedChanges: p.Unpublished(), ManagedBy: p.ManagedBy.String(),
		CreatedAt: p.CreatedAt.UTC(), UpdatedAt: p.UpdatedAt.UTC(), ArchivedAt: route.UTC(p.ArchivedAt),
	}
	a.showHost(&shown, org, p.Portal)
	shown.Embed = embed(shown.URL, p.Definition)
	if shown.AllowedOrigins == nil { // nobody was asked when it was made
		shown.AllowedOrigins = []string{}
	}
	if shown.SubjectIDs == nil {
		shown.SubjectIDs = []id.Subject{}
	}
	if shown.WidgetIDs == nil {
		shown.WidgetIDs = []id.Widget{}
	}
	return shown
}

// showHost shows a portal's host, and what it waits for.
func (a *API) showHost(shown *Portal, org id.Org, p portal.Portal) {
	switch {
	case p.Host == "":
	case p.HostProvenAt != nil:
		shown.CustomDomain, shown.CustomDomainState, shown.URL = &p.Host, new("proven"), "https://"+p.Host+"/"
	default:
		shown.CustomDomain, shown.CustomDomainState = &p.Host, new("unproven")
		if proof := a.Addresses.Proof; proof != nil {
			shown.CustomDomainRecord.Value = new(DNSRecord(proof.Record(org, p.ID, p.Host, p.HostRound)))
		}
	}
}

// refused says in an answer why publishing was.
func (p Portal) refused(r check.Report) Portal {
	p.PublishRefused.Value = &golive.PublishRefusal{Problems: r.Problems}
	return p
}

// asProblem answers for what the body names: a slug, a version, or who speaks.
func asProblem(err error) error {
	switch {
	case errors.Is(err, portal.ErrTaken):
		return problem.Conflicting("slug_taken", "The slug is another portal's.").WithParam("body.slug")
	case errdefs.IsNotFound(err, portal.VersionNoun):
		return problem.Invalid("body.version", "The portal never published such a version; GET /portals/{id}/versions lists them.")
	}
	return asSpeakerProblem(err)
}

// asSpeakerProblem is about a face, a voice or a persona that cannot be chosen.
func asSpeakerProblem(err error) error {
	if errdefs.IsAbsent(err, persona.Noun) {
		return problem.Conflicting("persona_gone", "The portal's persona is gone. Choose another one with personaId.")
	}
	return personas.Chosen(err, "body.")
}
