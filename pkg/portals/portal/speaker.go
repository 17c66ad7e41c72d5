package portal

import (
	"context"
	"slices"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/store/tenant"
)

// Speaker is what to change of who speaks on a portal; what is nil stays.
type Speaker struct {
	Avatar         *id.Avatar
	Voice          *id.Voice
	Name, Language *string
}

// Dress changes the face, the voice, the name or the language of who speaks on a
// portal that Lock found. A persona that speaks here alone is changed itself, which
// visitors see at once. One that speaks elsewhere too, or is a duo's, stays as it
// is: the draft has a new one like it. It answers the persona that the draft is to
// have, and whether the one it had is another now; the errors are those of
// persona.Update.
func Dress(ctx context.Context, tx *tenant.Tx, l *avatar.Library, p Portal, s Speaker, who Author) (speaks id.Persona, changed bool, err error) {
	before, err := persona.Lock(ctx, tx, p.Persona)
	if err != nil {
		return p.Persona, false, err
	}
	after := before
	if s.Avatar != nil {
		after.Avatar = *s.Avatar
	}
	if s.Name != nil {
		after.Name = *s.Name
	}
	if s.Voice != nil {
		after.Voice = *s.Voice
	}
	v, err := voice.Find(ctx, tx, after.Voice)
	if err != nil {
		return p.Persona, false, err
	}
	after.Definition.Settings = tuned(after.Definition.Settings, v, p.Definition, s.Language)
	elsewhere, err := speaksElsewhere(ctx, tx, before, p.ID)
	if err != nil {
		return p.Persona, false, err
	}
	if !elsewhere && before.Kind == persona.Standard {
		_, what, err := persona.Update(ctx, tx, l, before, after, who.Unlogged())
		if err != nil || len(what) == 0 {
			return p.Persona, false, err
		}
		return p.Persona, true, Refresh(ctx, tx, p.ID)
	}
	made, err := persona.Insert(ctx, tx, l, persona.Persona{
		ID: id.NewPersona(), Name: after.Name, Kind: persona.Standard, Avatar: after.Avatar, Voice: after.Voice, Definition: after.Definition,
	}, who.Unlogged())
	return made.ID, false, err
}

// tuned are settings that a voice can speak with: in the language that is asked
// for, or else in the one there was, or in one of the portal's.
func tuned(s persona.Settings, v voice.Voice, d Definition, asked *string) persona.Settings {
	speaks := func(code string) bool { return slices.Contains(v.Languages, code) }
	if asked != nil {
		s.Language = *asked
	} else if !speaks(s.Language) {
		s.Language = v.PrimaryLanguage
		for _, code := range append([]string{d.DefaultLanguage}, d.Languages...) {
			if speaks(code) {
				s.Language = code
				break
			}
		}
	}
	s.Languages = slices.DeleteFunc(slices.Clone(s.Languages), func(code string) bool { return !speaks(code) })
	s.Speed = min(max(s.Speed, v.SpeedMin), v.SpeedMax)
	return s
}

// speaksElsewhere says whether somebody else than the portal has the persona:
// another portal, in its draft or for its visitors, or a website of no portal or
// of another.
func speaksElsewhere(ctx context.Context, tx *tenant.Tx, p persona.Persona, but id.Portal) (bool, error) {
	if slices.ContainsFunc(p.Portals, func(other id.Portal) bool { return other != but }) {
		return true, nil
	}
	var elsewhere bool
	err := tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM widget
			WHERE org_id = $1 AND persona_id = $2 AND deleted_at IS NULL AND (portal_id IS NULL OR portal_id <> $3))`,
		tx.Org, p.ID, but).Scan(&elsewhere)
	return elsewhere, err
}
