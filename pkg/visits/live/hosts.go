package live

import (
	"context"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/speech/playout"
)

// openVoices finds what speaks, if anything does: the session's voice, and those of a duo's hosts.
func (r *room) openVoices(ctx context.Context, own persona.Pronunciations) error {
	if r.server.Voice == nil {
		return nil
	}
	said, err := r.server.Voice(ctx, r.org, r.session.Voice)
	if err != nil {
		return err
	}
	r.said = said.pronouncing(own)
	if r.session.Brief.Duo == nil {
		return nil
	}
	r.hostVoices = map[string]playout.Voice{}
	for _, h := range r.session.Brief.Duo.Hosts {
		v, err := r.server.Voice(ctx, r.org, h.Voice)
		if err != nil {
			return err
		}
		r.hostVoices[h.Seat] = playout.Voice(v.pronouncing(own))
	}
	return nil
}

// host is one of a duo as a client is told of them.
type host struct {
	Seat string `json:"seat"`
	Role string `json:"role"`
	Name string `json:"name"`
	Face any    `json:"face"`
}

// hosts are those of the duo who speaks, the left one first.
func (r *room) hosts() []host {
	var told []host
	for _, seat := range []string{"left", "right"} {
		for _, h := range r.session.Brief.Duo.Hosts {
			if h.Seat == seat {
				told = append(told, host{h.Seat, h.Role, h.Name, r.faceOf(h.Avatar)})
			}
		}
	}
	return told
}

// faceOf is where an avatar's face is.
func (r *room) faceOf(a id.Avatar) map[string]any {
	return map[string]any{"avatarId": a, "assetsUrl": r.server.PublicURL + "/v1/avatars/" + a.String() + "/face"}
}
