package widgets

import (
	"context"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/patch"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/portals/widget"
	"visavis.dev/pkg/store/tenant"
)

// Sections are the parts of a widget that may be sent, whole or in part.
type Sections struct {
	Mode                route.Opt[string]             `json:"mode,omitzero" enum:"bubble,inline,fullscreen,orb" doc:"How it sits on the page."`
	Placement           route.Opt[string]             `json:"placement,omitzero" enum:"bottom_right,bottom_left,top_right,top_left,center" doc:"Which corner it is in."`
	Channels            route.Opt[[]string]           `json:"channels,omitzero" minItems:"1" maxItems:"3" enum:"video,voice,chat" doc:"What visitors can choose: a face, a voice, or text alone."`
	DefaultChannel      route.Opt[string]             `json:"defaultChannel,omitzero" enum:"video,voice,chat" doc:"What it begins with; one of channels."`
	AllowedOrigins      route.Opt[[]string]           `json:"allowedOrigins,omitzero" maxItems:"50" doc:"https://example.com, https://*.example.com for every host below it, or http://localhost with any port. None means nowhere."`
	Languages           route.Opt[[]string]           `json:"languages,omitzero" maxItems:"50" doc:"Those a visitor can choose, by code or name; none means the persona's."`
	Theme               route.Part[widget.Theme]      `json:"theme,omitzero" doc:"How it looks; what is left out stays."`
	Texts               route.Part[widget.ByLanguage] `json:"texts,omitzero" doc:"By language."`
	AvatarWhenCollapsed route.Opt[bool]               `json:"avatarWhenCollapsed,omitzero" doc:"Whether the face is seen while the widget is closed."`
	Proactive           route.Part[widget.Proactive]  `json:"proactive,omitzero" doc:"When it speaks up by itself; what is left out stays."`
	LeadForm            route.Part[widget.LeadForm]   `json:"leadForm,omitzero" doc:"What visitors are asked to leave; what is left out stays."`
	Rating              route.Part[widget.Rating]     `json:"rating,omitzero" doc:"Whether and how visitors rate a conversation; what is left out stays."`
	TranscriptVisible   route.Opt[bool]               `json:"transcriptVisible,omitzero" doc:"Whether visitors can read what is said."`
	TextInput           route.Opt[bool]               `json:"textInput,omitzero" doc:"Whether visitors can type."`
	MicMuteable         route.Opt[bool]               `json:"micMuteable,omitzero" doc:"Whether visitors can mute their microphone."`
	AINotice            route.Opt[bool]               `json:"aiNotice,omitzero" doc:"Cannot be false in the EU region."`
	TermsURL            route.OptNull[string]         `json:"termsUrl,omitzero" maxLength:"2048" doc:"Where your terms are; null for none."`
	PrivacyURL          route.OptNull[string]         `json:"privacyUrl,omitzero" maxLength:"2048" doc:"Where your privacy notice is; null for none."`
	Hours               route.Part[widget.Hours]      `json:"hours,omitzero" doc:"When it can be talked with; what is left out stays."`
	Caps                route.Part[widget.Caps]       `json:"caps,omitzero" doc:"Bounds on what visitors use; what is left out stays."`
}

// Input is the request for a new widget.
type Input struct{ Body WidgetInput }

// WidgetInput is a widget to be made.
type WidgetInput struct {
	Name      string `json:"name" minLength:"1" maxLength:"80" doc:"What to call the widget, for people."`
	PersonaID string `json:"personaId" doc:"The persona that it is to show."`
	Enabled   *bool  `json:"enabled,omitempty" doc:"Whether pages show it; true unless given."`
	Sections
}

// UpdateInput is the request for a change of a widget.
type UpdateInput struct {
	Path
	route.Edition
	Body WidgetChange
}

// WidgetChange is what to change of a widget.
type WidgetChange struct {
	BaseVersion route.Opt[int64]  `json:"baseVersion,omitzero" minimum:"1" doc:"The version to change, as If-Match says it."`
	Name        route.Opt[string] `json:"name,omitzero" minLength:"1" maxLength:"80" doc:"A new name, for people."`
	PersonaID   route.Opt[string] `json:"personaId,omitzero" doc:"Another persona to show."`
	Enabled     route.Opt[bool]   `json:"enabled,omitzero" doc:"Whether it is shown and can be talked with."`
	Sections
}

func parsePersona(s string) (id.Persona, error) {
	p, err := id.ParsePersona(s)
	if err != nil {
		return p, problem.Invalid("body.personaId", "personaId is not the id of a persona.")
	}
	return p, nil
}

func author(c *route.Call) widget.Author {
	return widget.Author{Actor: c.Actor(), Region: c.Principal.Org.Region}
}

func (a *API) create(ctx context.Context, c *route.Call, in *Input) (Widget, error) {
	w := widget.Widget{
		ID: id.NewWidget(), Name: in.Body.Name, Enabled: in.Body.Enabled == nil || *in.Body.Enabled,
		Definition: widget.Defaults(), PublicKey: widget.NewPublicKey(c.Org()),
	}
	var err error
	if w.Persona, err = parsePersona(in.Body.PersonaID); err != nil {
		return Widget{}, err
	}
	if err := patch.Merge(&w.Definition, c.Body()); err != nil {
		return Widget{}, err
	}
	made, err := route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Widget, error) {
		made, err := widget.Insert(ctx, tx, w, author(c))
		return show(c, made), err
	})
	return versioned(c, made, err)
}

func (a *API) update(ctx context.Context, c *route.Call, in *UpdateInput) (Widget, error) {
	wanted, err := in.widget()
	if err != nil {
		return Widget{}, err
	}
	return a.change(ctx, c, wanted, func(w *widget.Widget) (err error) {
		if err := in.Check(w.Version, in.Body.BaseVersion.Ptr()); err != nil {
			return err
		}
		if in.Body.Name.Set {
			w.Name = in.Body.Name.Value
		}
		if in.Body.Enabled.Set {
			w.Enabled = in.Body.Enabled.Value
		}
		if in.Body.PersonaID.Set {
			if w.Persona, err = parsePersona(in.Body.PersonaID.Value); err != nil {
				return err
			}
		}
		return patch.Merge(&w.Definition, c.Body())
	})
}

// RotateInput is the request for another public key.
type RotateInput struct {
	Path
	route.Edition
}

func (a *API) rotate(ctx context.Context, c *route.Call, in *RotateInput) (Widget, error) {
	wanted, err := in.widget()
	if err != nil {
		return Widget{}, err
	}
	key := widget.NewPublicKey(c.Org())
	return a.change(ctx, c, wanted, func(w *widget.Widget) error {
		w.PublicKey = key
		return in.Check(w.Version, nil)
	})
}

// change makes a change of a widget.
func (a *API) change(ctx context.Context, c *route.Call, which id.Widget, make func(*widget.Widget) error) (Widget, error) {
	now, err := route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Widget, error) {
		before, err := widget.Lock(ctx, tx, which)
		if err != nil {
			return Widget{}, err
		}
		after := before
		if err := make(&after); err != nil {
			return Widget{}, err
		}
		now, _, err := widget.Update(ctx, tx, before, after, author(c))
		return show(c, now), err
	})
	return versioned(c, now, err)
}

func (a *API) delete(ctx context.Context, c *route.Call, p *Path) (route.Deleted, error) {
	wanted, err := p.widget()
	if err != nil {
		return route.Deleted{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (route.Deleted, error) {
		return route.Deleted{Deleted: true, ID: wanted.String()}, widget.Delete(ctx, tx, wanted, author(c))
	})
}
