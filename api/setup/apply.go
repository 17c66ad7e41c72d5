package setup

import (
	"context"

	"visavis.dev/api/jobs"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/portals/setup"
	"visavis.dev/pkg/store/tenant"
)

// ApplyInput is the request to make a plan true.
type ApplyInput struct {
	Path
	route.Edition
	Body *Casting
}

// Casting is who will speak on the portal.
type Casting struct {
	PersonaID string `json:"personaId,omitempty" minLength:"1" doc:"Who speaks; otherwise a persona is made."`
	AvatarID  string `json:"avatarId,omitempty" minLength:"1" doc:"Its face; one of the library unless given."`
	VoiceID   string `json:"voiceId,omitempty" minLength:"1" doc:"Its voice; one of the studio that speaks the portal's language unless given."`
}

// cast reads who will speak.
func (b *Casting) cast() (cast setup.Cast, err error) {
	if b == nil {
		return cast, nil
	}
	if b.PersonaID != "" {
		if b.AvatarID != "" || b.VoiceID != "" {
			return cast, problem.Invalid("body.personaId", "Send either personaId, or avatarId and voiceId.")
		}
		if cast.Persona, err = id.ParsePersona(b.PersonaID); err != nil {
			return cast, problem.Invalid("body.personaId", "personaId is not the id of a persona.")
		}
	}
	if b.AvatarID != "" {
		if cast.Avatar, err = id.ParseAvatar(b.AvatarID); err != nil {
			return cast, problem.Invalid("body.avatarId", "avatarId is not the id of an avatar.")
		}
	}
	if b.VoiceID != "" {
		if cast.Voice, err = id.ParseVoice(b.VoiceID); err != nil {
			return cast, problem.Invalid("body.voiceId", "voiceId is not the id of a voice.")
		}
	}
	return cast, nil
}

func (a *API) apply(ctx context.Context, c *route.Call, in *ApplyInput) (jobs.Job, error) {
	wanted, err := in.plan()
	if err != nil {
		return jobs.Job{}, err
	}
	cast, err := in.Body.cast()
	if err != nil {
		return jobs.Job{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (jobs.Job, error) {
		p, err := setup.Lock(ctx, tx, wanted)
		if err != nil {
			return jobs.Job{}, asProblem(err, "")
		}
		if err := in.Check(p.Edition, nil); err != nil {
			return jobs.Job{}, err
		}
		if err := cast.Check(ctx, tx, a.Library); err != nil {
			return jobs.Job{}, asProblem(err, "")
		}
		j, err := setup.Apply(ctx, tx, p, cast, c.Actor())
		return jobs.Show(j), asProblem(err, "")
	})
}
