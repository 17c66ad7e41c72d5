package widgets

import (
	"context"
	"fmt"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/widget"
)

// Visit is the request of a page that shows a widget.
type Visit struct {
	Path
	Key    string `query:"key" doc:"The widget's public key."`
	Origin string `header:"Origin" doc:"The page's origin, which browsers send."`
}

// WidgetConfig is what a page needs to show a widget.
type WidgetConfig struct {
	ID      id.Widget     `json:"id" doc:"Id of the widget, with the prefix wid_."`
	Persona ConfigPersona `json:"persona" doc:"What the page is told of the persona."`

	Mode                string            `json:"mode" enum:"bubble,inline,fullscreen,orb" doc:"How it sits on the page."`
	Placement           string            `json:"placement" enum:"bottom_right,bottom_left,top_right,top_left,center" doc:"Which corner it is in."`
	Channels            []string          `json:"channels" doc:"What visitors can choose."`
	DefaultChannel      string            `json:"defaultChannel" doc:"What it begins with."`
	Languages           []string          `json:"languages" doc:"The languages that it can be talked with in, by code; empty for all that the persona speaks."`
	Theme               widget.Theme      `json:"theme" doc:"How it looks."`
	Texts               widget.ByLanguage `json:"texts" doc:"The widget's words, by language."`
	AvatarWhenCollapsed bool              `json:"avatarWhenCollapsed" doc:"Whether the face is seen while the widget is closed."`
	Proactive           widget.Proactive  `json:"proactive" doc:"When it speaks up by itself."`
	LeadForm            widget.LeadForm   `json:"leadForm" doc:"What visitors are asked to leave."`
	Rating              widget.Rating     `json:"rating" doc:"Whether and how visitors rate a conversation."`
	TranscriptVisible   bool              `json:"transcriptVisible" doc:"Whether visitors can read what is said."`
	TextInput           bool              `json:"textInput" doc:"Whether visitors can type."`
	MicMuteable         bool              `json:"micMuteable" doc:"Whether visitors can mute their microphone."`
	Hears               string            `json:"hears" enum:"server,client" doc:"Who understands what visitors say where they are not in a chat: a recognition service that the organization has connected, or the browser, if it can."`
	AINotice            bool              `json:"aiNotice" doc:"Whether to tell people that they talk with an AI."`
	TermsURL            *string           `json:"termsUrl" doc:"Where the terms are; null for none."`
	PrivacyURL          *string           `json:"privacyUrl" doc:"Where the privacy notice is; null for none."`
	Hours               widget.Hours      `json:"hours" doc:"When it can be talked with."`
}

// ConfigPersona is what a page is told of the persona.
type ConfigPersona struct {
	Name       string             `json:"name" doc:"What the persona is called."`
	Language   string             `json:"language" doc:"The language that it begins in, as a code."`
	Languages  []string           `json:"languages" doc:"Those a conversation may switch to."`
	Disclosure persona.Disclosure `json:"disclosure" doc:"How people are told that they talk with an AI."`
	PictureURL *string            `json:"pictureUrl" format:"uri" doc:"Where anybody finds the picture of who speaks; null without one."`
	LayersURL  *string            `json:"layersUrl" doc:"Where the living face is, with {side} and {kind} in the place of what is wanted (GET /avatars/{id}/layers, or of an own face GET /widgets/{id}/picture); null where there is only the picture."`
	Hosts      []ConfigHost       `json:"hosts" doc:"The two of a duo, the left one first; empty where one alone speaks. picture and layers of the persona are the lead's."`
}

// ConfigHost is what a page is told of a host of a duo.
type ConfigHost struct {
	Seat       string  `json:"seat" enum:"left,right" doc:"Where the host sits, as seen by the visitor."`
	Role       string  `json:"role" enum:"lead,partner" doc:"lead steers the conversation, partner comes in."`
	Name       string  `json:"name" doc:"What the host is called."`
	PictureURL *string `json:"pictureUrl" format:"uri" doc:"Where anybody finds the host's picture; null without one."`
	LayersURL  *string `json:"layersUrl" doc:"Where the host's living face is, as the persona's layersUrl; null where there is only the picture."`
}

// configEdition counts the shapes that WidgetConfig has had, so that a browser takes none that
// it keeps for a newer one: raise it with every change of a property.
const configEdition = 4

// config answers a page. Which origins may show the widget it is not told.
func (a *API) config(ctx context.Context, c *route.Call, in *Visit) (WidgetConfig, error) {
	wanted, err := in.widget()
	if err != nil {
		return WidgetConfig{}, err
	}
	// Another origin gets another answer, also from a cache on the way.
	c.SetHeader("Vary", "Origin")
	org, w, err := widget.Visit(ctx, a.Tenants, wanted, widget.PublicKey(in.Key), in.Origin)
	if err != nil {
		return WidgetConfig{}, err
	}
	p, err := persona.Get(ctx, a.Tenants, org, w.Persona)
	if err != nil {
		return WidgetConfig{}, problem.From(err) // a shown persona is never deleted
	}
	if err := widget.Seen(ctx, a.Tenants, org, w, c.Now()); err != nil {
		return WidgetConfig{}, err
	}
	accent := &w.Definition.Theme.Accent
	if *accent == nil {
		portals, err := portal.AccentOf(ctx, a.Tenants, org, p.ID)
		if err != nil {
			return WidgetConfig{}, err
		}
		*accent = &portals
	}
	layers, edition, err := a.layers(ctx, c, org, w, p.Avatar)
	if err != nil {
		return WidgetConfig{}, err
	}
	hosts, seats, err := a.hosts(ctx, c, org, w, p)
	if err != nil {
		return WidgetConfig{}, err
	}
	hears, err := a.hears(ctx, org)
	if err != nil {
		return WidgetConfig{}, err
	}
	c.AllowOrigin(in.Origin)
	c.SetHeader("Cache-Control", "private, no-cache")
	c.Unchanged(fmt.Sprintf(`"%d.%d.%d.%t.%s.%s.%s.%s"`, configEdition, w.Version, p.Version, w.Definition.AINotice, **accent, edition, hears, seats))
	shown := showConfig(w, p, a.picture(c, w, p.Avatar), layers)
	shown.Persona.Hosts = hosts
	shown.Hears = hears
	return shown, nil
}

// hears is who understands what an organization's visitors say.
func (a *API) hears(ctx context.Context, org id.Org) (string, error) {
	_, err := connection.OldestRecognition(ctx, a.Tenants, org)
	switch {
	case errdefs.IsNotFound(err, connection.Noun):
		return "client", nil
	case err != nil:
		return "", err
	}
	return "server", nil
}

func showConfig(w widget.Widget, p persona.Persona, picture, layers *string) WidgetConfig {
	d, s := w.Definition, p.Definition.Settings
	return WidgetConfig{
		ID: w.ID, Persona: ConfigPersona{
			Name: p.Name, Language: s.Language, Languages: s.Languages, Disclosure: p.Definition.Disclosure, PictureURL: picture, LayersURL: layers,
		},
		Mode: d.Mode, Placement: d.Placement, Channels: d.Channels, DefaultChannel: d.DefaultChannel, Languages: d.Languages,
		Theme: d.Theme, Texts: d.Texts, AvatarWhenCollapsed: d.AvatarWhenCollapsed, Proactive: d.Proactive, LeadForm: d.LeadForm,
		Rating: d.Rating, TranscriptVisible: d.TranscriptVisible, TextInput: d.TextInput, MicMuteable: d.MicMuteable,
		AINotice: d.AINotice, TermsURL: d.TermsURL, PrivacyURL: d.PrivacyURL, Hours: d.Hours,
	}
}
