package duos

import (
	"context"
	"fmt"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/patch"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/duo"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/store/tenant"
)

// Host is one of the two to be.
type Host struct {
	Seat     string `json:"seat" enum:"left,right" doc:"Where the host sits, as seen by the visitor."`
	Name     string `json:"name" minLength:"1" maxLength:"80" doc:"What the host is called in the conversation."`
	AvatarID string `json:"avatarId" doc:"The face that the host wears."`
	VoiceID  string `json:"voiceId" doc:"The voice that the host speaks with."`
	Role     string `json:"role" enum:"lead,partner" doc:"lead steers the conversation, partner comes in."`
}

// Input is the request for a new duo.
type Input struct{ Body DuoInput }

// DuoInput is a duo to be made.
type DuoInput struct {
	Name      string                        `json:"name" minLength:"1" maxLength:"80" doc:"What to call the duo, for people."`
	Hosts     []Host                        `json:"hosts" minItems:"2" maxItems:"2" doc:"One sits left and one right, one leads."`
	Languages []string                      `json:"languages" minItems:"1" maxItems:"20" doc:"Of the ten that GET /languages flags duo, by code or name."`
	Interplay route.Part[persona.Interplay] `json:"interplay,omitzero" doc:"How the two share a conversation; what is left out is as usual."`
}

// UpdateInput is the request for a change of a duo.
type UpdateInput struct {
	Path
	Body DuoChange
}

// DuoChange is what to change of a duo.
type DuoChange struct {
	Name      route.Opt[string]             `json:"name,omitzero" minLength:"1" maxLength:"80" doc:"A new name, for people."`
	Hosts     route.Opt[[]Host]             `json:"hosts,omitzero" minItems:"2" maxItems:"2" doc:"Both hosts anew: one for the left seat and one for the right."`
	Languages route.Opt[[]string]           `json:"languages,omitzero" minItems:"1" maxItems:"20" doc:"All languages that the duo is to speak, by code or name."`
	Interplay route.Part[persona.Interplay] `json:"interplay,omitzero" doc:"What to change of how the two share a conversation; what is left out stays."`
}

func parseHosts(sent []Host) ([]persona.Host, error) {
	hosts := make([]persona.Host, len(sent))
	for i, h := range sent {
		param := fmt.Sprintf("body.hosts[%d].", i)
		a, err := id.ParseAvatar(h.AvatarID)
		if err != nil {
			return nil, problem.Invalid(param+"avatarId", "avatarId is not the id of an avatar.")
		}
		v, err := id.ParseVoice(h.VoiceID)
		if err != nil {
			return nil, problem.Invalid(param+"voiceId", "voiceId is not the id of a voice.")
		}
		hosts[i] = persona.Host{Seat: h.Seat, Name: h.Name, Avatar: a, Voice: v, Role: h.Role}
	}
	return hosts, nil
}

func (a *API) create(ctx context.Context, c *route.Call, in *Input) (Duo, error) {
	d := duo.Duo{ID: id.NewDuo(), Persona: id.NewPersona(), Name: in.Body.Name, Languages: in.Body.Languages}
	var err error
	if d.Hosts, err = parseHosts(in.Body.Hosts); err != nil {
		return Duo{}, err
	}
	if d.Interplay, err = merged(c, duo.Defaults()); err != nil {
		return Duo{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Duo, error) {
		made, err := duo.Insert(ctx, tx, a.Library, d, c.Actor())
		return show(made), asProblem(err)
	})
}

func (a *API) update(ctx context.Context, c *route.Call, in *UpdateInput) (Duo, error) {
	wanted, err := in.duo()
	if err != nil {
		return Duo{}, err
	}
	hosts, err := parseHosts(in.Body.Hosts.Value)
	if err != nil {
		return Duo{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Duo, error) {
		before, err := duo.Lock(ctx, tx, wanted)
		if err != nil {
			return Duo{}, err
		}
		after := before
		if in.Body.Name.Set {
			after.Name = in.Body.Name.Value
		}
		if in.Body.Hosts.Set {
			after.Hosts = hosts
		}
		if in.Body.Languages.Set {
			after.Languages = in.Body.Languages.Value
		}
		if after.Interplay, err = merged(c, before.Interplay); err != nil {
			return Duo{}, err
		}
		now, _, err := duo.Update(ctx, tx, a.Library, before, after, c.Actor())
		return show(now), asProblem(err)
	})
}

// merged is an interplay with what was sent of it.
func merged(c *route.Call, i persona.Interplay) (persona.Interplay, error) {
	body := struct {
		Interplay persona.Interplay `json:"interplay"`
	}{i}
	err := patch.Merge(&body, c.Body())
	return body.Interplay, err
}

func (a *API) delete(ctx context.Context, c *route.Call, p *Path) (route.Deleted, error) {
	wanted, err := p.duo()
	if err != nil {
		return route.Deleted{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (route.Deleted, error) {
		return route.Deleted{Deleted: true, ID: wanted.String()}, duo.Delete(ctx, tx, wanted, c.Actor())
	})
}
