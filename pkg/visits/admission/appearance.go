package admission

import (
	"context"
	"slices"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/face"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// dress gives the session another face. An own one must be prepared.
func (d *Desk) dress(ctx context.Context, tx *tenant.Tx, p persona.Persona, s *session.Session, other id.Avatar) error {
	if other.IsZero() || other == s.Avatar {
		return nil
	}
	if p.Duo != nil {
		return problem.Invalid("avatarId", "A duo has the faces of its hosts.")
	}
	found, err := avatar.Find(ctx, tx, d.Library, other)
	switch {
	case errdefs.IsAbsent(err, avatar.Noun):
		return problem.Missing("avatar").WithParam("avatarId")
	case err != nil:
		return err
	case found.Status() != avatar.Ready:
		return problem.Conflicting("consent_withdrawn", "The consent that the face rests on was withdrawn.").WithParam("avatarId")
	}
	s.Avatar = other
	if found.Kind == avatar.Builtin {
		return nil
	}
	prepared, err := face.Find(ctx, tx, other)
	switch {
	case err != nil:
		return err
	case prepared == nil || prepared.State == face.Failed:
		return problem.Conflicting("face_not_prepared", "The face is prepared when a persona wears it; give it to one first.").WithParam("avatarId")
	case prepared.State != face.Ready:
		return problem.NotReady(face.Wait(prepared.ReadyAt, s.CreatedAt)).WithParam("avatarId")
	}
	return nil
}

// Speak gives a session that was begun another voice or language; what is zero
// stays as it is.
func Speak(ctx context.Context, tx *tenant.Tx, s *session.Session, other id.Voice, language string) error {
	p, err := persona.Load(ctx, tx, s.Persona)
	if err != nil {
		return err
	}
	return speak(ctx, tx, p, s, other, language)
}

// speak chooses voice, engine and language of a session with a persona that was
// loaded.
func speak(ctx context.Context, tx *tenant.Tx, p persona.Persona, s *session.Session, other id.Voice, language string) error {
	if p.Duo != nil && !other.IsZero() && other != s.Voice {
		return problem.Invalid("voiceId", "A duo has the voices of its hosts.")
	}
	if !other.IsZero() {
		s.Voice = other
	}
	v, err := voice.Find(ctx, tx, s.Voice)
	switch {
	case errdefs.IsAbsent(err, voice.Noun):
		return problem.Missing("voice").WithParam("voiceId")
	case err != nil:
		return err
	case v.Status() == voice.Withdrawn:
		return problem.Conflicting("consent_withdrawn", "The consent that the voice rests on was withdrawn.").WithParam("voiceId")
	case v.Status() != voice.Ready:
		return problem.Conflicting("voice_not_ready", "The voice is still being made, or its making failed.").WithParam("voiceId")
	}
	s.Engine = v.Engine
	if language != "" {
		s.Language = language
	}
	switch {
	case p.Duo != nil && !slices.Contains(p.Duo.Languages, s.Language):
		return problem.Invalid("language", "The duo does not speak %s.", s.Language)
	case p.Duo == nil && !slices.Contains(v.Languages, s.Language):
		return problem.Invalid("language", "The voice %s does not speak %s; give another voice or language.", v.Name, s.Language)
	}
	return nil
}
