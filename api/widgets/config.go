package widgets

import (
	"context"
	"fmt"

	"visavis.dev/api/route"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/persona"
	"visavis.dev/pkg/problem"
	"visavis.dev/pkg/widget"
)

// Visit is the request of a page that shows a widget.
type Visit struct {
	Path
	Key    string `query:"key" doc:"The widget's public key."`
	Origin string `header:"Origin" doc:"The page's origin, which browsers send."`
}

// WidgetConfig is what a page needs to show a widget.
type WidgetConfig struct {
	ID      id.Widget     `json:"id"`
	Persona ConfigPersona `json:"persona"`

	Mode                string            `json:"mode" enum:"bubble,inline,fullscreen,orb"`
	Placement           string            `json:"placement" enum:"bottom_right,bottom_left,top_right,top_left,center"`
	Channels            []string          `json:"channels"`
	DefaultChannel      string            `json:"defaultChannel"`
	Languages           []string          `json:"languages"`
	Theme               widget.Theme      `json:"theme"`
	Texts               widget.ByLanguage `json:"texts"`
	AvatarWhenCollapsed bool              `json:"avatarWhenCollapsed"`
	Proactive           widget.Proactive  `json:"proactive"`
	LeadForm            widget.LeadForm   `json:"leadForm"`
	Rating              widget.Rating     `json:"rating"`
	TranscriptVisible   bool              `json:"transcriptVisible"`
	TextInput           bool              `json:"textInput"`
	MicMuteable         bool              `json:"micMuteable"`
	AINotice            bool              `json:"aiNotice"`
	TermsURL            *string           `json:"termsUrl"`
	PrivacyURL          *string           `json:"privacyUrl"`
	Hours               widget.Hours      `json:"hours"`
}

// ConfigPersona is what a page is told of the persona.
type ConfigPersona struct {
	Name       string             `json:"name"`
	Language   string             `json:"language"`
	Languages  []string           `json:"languages" doc:"Those a conversation may switch to."`
	Disclosure persona.Disclosure `json:"disclosure"`
	PictureURL *string            `json:"pictureUrl" format:"uri" doc:"Where anybody finds the picture of who speaks; null without one."`
}

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
		return WidgetConfig{}, asProblem(err)
	}
	p, err := persona.Get(ctx, a.Tenants, org, w.Persona)
	if err != nil {
		return WidgetConfig{}, problem.From(err) // a shown persona is never deleted
	}
	if err := widget.Seen(ctx, a.Tenants, org, w, c.Now()); err != nil {
		return WidgetConfig{}, err
	}
	c.AllowOrigin(in.Origin)
	c.SetHeader("Cache-Control", "private, no-cache")
	c.Unchanged(fmt.Sprintf(`"%d.%d.%t"`, w.Version, p.Version, w.Definition.AINotice))
	return showConfig(w, p, a.picture(c, w, p)), nil
}

func showConfig(w widget.Widget, p persona.Persona, picture *string) WidgetConfig {
	d, s := w.Definition, p.Definition.Settings
	return WidgetConfig{
		ID: w.ID, Persona: ConfigPersona{p.Name, s.Language, s.Languages, p.Definition.Disclosure, picture},
		Mode: d.Mode, Placement: d.Placement, Channels: d.Channels, DefaultChannel: d.DefaultChannel, Languages: d.Languages,
		Theme: d.Theme, Texts: d.Texts, AvatarWhenCollapsed: d.AvatarWhenCollapsed, Proactive: d.Proactive, LeadForm: d.LeadForm,
		Rating: d.Rating, TranscriptVisible: d.TranscriptVisible, TextInput: d.TextInput, MicMuteable: d.MicMuteable,
		AINotice: d.AINotice, TermsURL: d.TermsURL, PrivacyURL: d.PrivacyURL, Hours: d.Hours,
	}
}
