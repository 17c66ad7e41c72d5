package sessions

import (
	"context"
	"errors"
	"slices"

	"visavis.dev/pkg/language"
	"visavis.dev/pkg/persona"
	"visavis.dev/pkg/problem"
	"visavis.dev/pkg/session"
	"visavis.dev/pkg/tenant"
	"visavis.dev/pkg/voice"
)

// languageOf reads a language of the body; empty is none.
func languageOf(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	l, ok := language.Lookup(text)
	if !ok {
		return "", problem.Invalid("body.language", "There is no language %q; GET /languages lists them.", text)
	}
	return l.Code, nil
}

// speak settles voice, engine and language of a session with a persona that
// was loaded.
func speak(ctx context.Context, tx *tenant.Tx, p persona.Persona, s *session.Session, r request) error {
	if p.Duo != nil && !r.voice.IsZero() && r.voice != s.Voice {
		return problem.Invalid("body.voiceId", "A duo has the voices of its hosts.")
	}
	if !r.voice.IsZero() {
		s.Voice = r.voice
	}
	v, err := persona.FindVoice(ctx, tx, s.Voice)
	switch {
	case errors.Is(err, persona.ErrNoVoice):
		return problem.Missing("voice").WithParam("body.voiceId")
	case err != nil:
		return err
	case v.Status() == voice.Withdrawn:
		return problem.Conflicting("consent_withdrawn", "The consent that the voice rests on was withdrawn.").WithParam("body.voiceId")
	case v.Status() != voice.Ready:
		return problem.Conflicting("voice_not_ready", "The voice is still being made, or its making failed.").WithParam("body.voiceId")
	}
	s.Engine = v.Engine
	if r.language != "" {
		s.Language = r.language
	}
	switch {
	case p.Duo != nil && !slices.Contains(p.Duo.Languages, s.Language):
		return problem.Invalid("body.language", "The duo does not speak %s.", s.Language)
	case p.Duo == nil && !slices.Contains(v.Languages, s.Language):
		return problem.Invalid("body.language", "The voice %s does not speak %s; give another voice or language.", v.Name, s.Language)
	}
	return nil
}

// respeak is speak for a session that was begun.
func respeak(ctx context.Context, tx *tenant.Tx, s *session.Session, r request) error {
	p, err := persona.Load(ctx, tx, s.Persona)
	if err != nil {
		return err
	}
	return speak(ctx, tx, p, s, r)
}
