package sessions

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/portals/widget"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/admission"
)

func (a *API) registerVisit(s *route.Service) {
	route.Handle(s, route.Operation{
		ID: "createWidgetSession", Method: http.MethodPost, Path: "/widgets/{id}/sessions", Group: "Widget", Auth: route.Open, Class: "live",
		Since: since2026, Status: http.StatusCreated, FailsClosed: true, FromPages: true,
		Errors: []problem.Code{
			problem.InsufficientMinutes, problem.FeatureNotInPlan, problem.AccountPaused, problem.Conflict, problem.DuoNotLive,
			problem.FaceNotReady, problem.ConcurrencyLimit,
		},
		Summary: "Start a visitor's live session with a widget's persona",
		Description: "Asked by browsers, with the widget's public key, from a page of an allowed origin; anything else, and a widget that is not " +
			"enabled, is 404. The session is for pages of that origin, and has to be connected to within ten seconds. Visitors use up nothing of " +
			"what keys may ask for: a widget may start as many sessions a minute as the organization may in the class live, half of them from one " +
			"network (/24, /56), and visitors hold at most four fifths of maxConcurrentSessions. " +
			"Outside the widget's hours it is 409 with the reason closed, and details.hours. What the lead form was left is in the session's collected.",
	}, a.visit)
}

// VisitInput is a visitor's request for a session.
type VisitInput struct {
	ID     string `path:"id" doc:"The widget's id, with or without wid_."`
	Origin string `header:"Origin" doc:"The page's origin, which browsers send."`
	Body   WidgetSession
}

// WidgetSession is a session to be started by a visitor.
type WidgetSession struct {
	Key      string            `json:"key" maxLength:"200" doc:"The widget's public key."`
	Language string            `json:"language,omitempty" maxLength:"40" doc:"One of the widget's, by code or name; the persona's unless given."`
	Channel  string            `json:"channel,omitempty" enum:"video,voice,chat" doc:"One of the widget's; its default unless given."`
	Contact  VisitorContact    `json:"contact,omitzero" doc:"What the widget's lead form asks for."`
	Metadata map[string]string `json:"metadata,omitempty" doc:"At most 20 keys of at most 40 characters, values of at most 500."`
	Page     VisitedPage       `json:"page,omitzero" doc:"The page that the visitor is on; of another origin than it is asked from it is left out."`
}

// VisitedPage is where somebody is on the web. Of its addresses neither queries nor fragments are kept, but the campaign that utm_source, utm_medium,
// utm_campaign and utm_term name.
type VisitedPage struct {
	URL      string `json:"url,omitempty" maxLength:"2048" doc:"Its address. The source of what is left for the inbox has it without query and fragment, and as the campaign what utm_source, utm_medium, utm_campaign and utm_term say."`
	Referrer string `json:"referrer,omitempty" maxLength:"2048" doc:"The address of the page that led there, likewise; one of the same site is left out."`
}

// VisitorContact is what a visitor left in the lead form.
type VisitorContact struct {
	Name    string `json:"name,omitempty" maxLength:"200" doc:"The visitor's name."`
	Email   string `json:"email,omitempty" maxLength:"200" doc:"The visitor's mail address."`
	Phone   string `json:"phone,omitempty" maxLength:"200" doc:"The visitor's phone number."`
	Company string `json:"company,omitempty" maxLength:"200" doc:"The visitor's company."`
}

// visit starts a session for a visitor. Until key, origin and widget are known to
// be good it tells nothing; from then on the page can read why it is refused.
func (a *API) visit(ctx context.Context, c *route.Call, in *VisitInput) (SessionTicket, error) {
	org, w, err := a.visited(ctx, in)
	if err != nil {
		return SessionTicket{}, err
	}
	c.AllowOrigin(in.Origin)
	var host admission.Host
	if host.Organization, host.Terms, err = a.Organization(ctx, org); err != nil {
		return SessionTicket{}, err
	}
	block := admission.AddressBlock(c.Address)
	reading, err := a.Counted.Count(ctx, host, w.ID.String(), block)
	if err := c.Limited(reading, err); err != nil {
		return SessionTicket{}, err
	}
	if err := host.Allow("personas", "widgets"); err != nil {
		return SessionTicket{}, err
	}
	r, err := visitOf(w, in)
	if err != nil {
		return SessionTicket{}, err
	}
	now := c.Now()
	r.Host, r.Visitor = host, a.Visitors.Mark(org, block, now).String()
	if !w.Definition.Hours.OpenAt(now) {
		return SessionTicket{}, problem.Conflicting("closed", "It is outside the opening hours.").WithDetail("hours", w.Definition.Hours)
	}
	var ticket SessionTicket
	err = a.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		// The session comes first: it holds the organization's places, so that
		// visitors of one address follow each other.
		made, err := a.desk().Enter(ctx, tx, r, now)
		if err != nil {
			return inBody(err)
		}
		if ticket, err = a.ticket(c, made, nil); err != nil {
			return err
		}
		return widget.CountVisit(ctx, tx, w, a.Visitors.Mark(org, c.Household(), now), now)
	})
	if errors.Is(err, widget.ErrVisits) {
		err = problem.Conflicting("visitor_sessions", "The visitor has had as many sessions today as the widget's caps allow.")
	}
	return ticket, err
}

// visited finds the widget that a page shows. Whatever is wrong, it is 404.
func (a *API) visited(ctx context.Context, in *VisitInput) (id.Org, widget.Widget, error) {
	wanted, err := route.Lookup(id.ParseWidget, in.ID, "widget")
	if err != nil {
		return id.Org{}, widget.Widget{}, err
	}
	return widget.Visit(ctx, a.Tenants, wanted, widget.PublicKey(in.Body.Key), in.Origin)
}

// visitOf is what a visitor may ask for of a widget.
func visitOf(w widget.Widget, in *VisitInput) (admission.Request, error) {
	d, b := w.Definition, in.Body
	r := admission.Request{
		Channel: cmp.Or(b.Channel, d.DefaultChannel), Metadata: b.Metadata, AllowedOrigins: []string{in.Origin},
		Persona: w.Persona, Source: session.FromWidget, Widget: w.ID,
	}
	if u, err := url.Parse(b.Page.URL); err == nil && strings.EqualFold(u.Scheme+"://"+u.Host, in.Origin) {
		r.Came = inbox.Came(b.Page.URL, b.Page.Referrer)
	}
	if d.Caps.MaxSessionS != nil {
		r.MaxDurationS = *d.Caps.MaxSessionS
	}
	if !slices.Contains(d.Channels, r.Channel) {
		return r, problem.Invalid("body.channel", "The widget offers %v.", d.Channels)
	}
	var err error
	if r.Language, err = languageOf(b.Language); err != nil {
		return r, err
	}
	if r.Language != "" && len(d.Languages) > 0 && !slices.Contains(d.Languages, r.Language) {
		return r, problem.Invalid("body.language", "The widget offers %v.", d.Languages)
	}
	r.Collected, err = d.LeadForm.Normalize(widget.Contact{"name": b.Contact.Name, "email": b.Contact.Email, "phone": b.Contact.Phone, "company": b.Contact.Company})
	if field, ok := errors.AsType[*errdefs.Invalid](err); ok {
		return r, problem.Invalid("body.contact."+field.Field, "%s %s.", field.Field, field.Message)
	}
	return r, route.CheckMetadata(b.Metadata)
}
