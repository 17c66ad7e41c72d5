package portals

import (
	"context"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/duo"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/tenant"
)

// personaOfDuo is the persona that wears a duo.
func personaOfDuo(ctx context.Context, tx *tenant.Tx, text string) (id.Persona, error) {
	wanted, err := id.ParseDuo(text)
	if err == nil {
		var found duo.Duo
		if found, err = duo.Find(ctx, tx, wanted); err == nil {
			return found.Persona, nil
		}
		if !errdefs.IsAbsent(err, duo.Noun) {
			return id.Persona{}, err
		}
	}
	return id.Persona{}, problem.Invalid("body.duoId", "duoId is not a duo of this organization; GET /duos lists them.")
}

// dress reads what is to change of a persona. Faces and voices may be said by name.
func (a *API) dress(ctx context.Context, tx *tenant.Tx, s PortalSpeaker) (portal.Speaker, error) {
	var change portal.Speaker
	if s.Name != "" {
		change.Name = &s.Name
	}
	if s.Language != "" {
		change.Language = &s.Language
	}
	if s.AvatarID != "" {
		face, err := id.ParseAvatar(s.AvatarID)
		if err != nil {
			return change, problem.Invalid("body.avatarId", "avatarId is not the id of an avatar.")
		}
		change.Avatar = &face
	}
	if s.VoiceID != "" {
		v, err := id.ParseVoice(s.VoiceID)
		if err != nil {
			return change, problem.Invalid("body.voiceId", "voiceId is not the id of a voice.")
		}
		change.Voice = &v
	}
	if s.Face != "" {
		found, err := avatar.Named(ctx, tx, a.Library, s.Face)
		if err != nil {
			return change, err
		}
		if change.Avatar, err = single(found, "body.face", "avatars"); err != nil {
			return change, err
		}
	}
	if s.Voice != "" {
		found, err := voice.Named(ctx, tx, s.Voice)
		if err != nil {
			return change, err
		}
		if change.Voice, err = single(found, "body.voice", "voices"); err != nil {
			return change, err
		}
	}
	return change, nil
}

// single is the one thing that bears a name.
func single[T any](found []T, param, list string) (*T, error) {
	switch len(found) {
	case 0:
		return nil, problem.Invalid(param, "Nothing has this name; GET /%s lists them.", list)
	case 1:
		return &found[0], nil
	}
	return nil, problem.Invalid(param, "Several have this name. Say by id which is meant; GET /%s lists them.", list)
}
