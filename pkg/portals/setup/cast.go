package setup

import (
	"context"
	"errors"
	"slices"
	"strings"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/portals/portal/build"
	"visavis.dev/pkg/store/tenant"
)

// Cast is who will speak on a portal: a persona there is, or a face and a voice.
// What is left out is chosen from the library.
type Cast struct {
	Persona id.Persona `json:"persona,omitzero"`
	Avatar  id.Avatar  `json:"avatar,omitzero"`
	Voice   id.Voice   `json:"voice,omitzero"`
}

// Check refuses what the organization does not have. The errors are those of
// persona.Find, avatar.Find and voice.Find.
func (c Cast) Check(ctx context.Context, tx *tenant.Tx, l *avatar.Library) error {
	if !c.Persona.IsZero() {
		_, err := persona.Find(ctx, tx, c.Persona)
		return err
	}
	if !c.Avatar.IsZero() {
		if _, err := avatar.Find(ctx, tx, l, c.Avatar); err != nil {
			return err
		}
	}
	if c.Voice.IsZero() {
		return nil
	}
	_, err := voice.Find(ctx, tx, c.Voice)
	return err
}

// play gives a portal who speaks on it.
func (c Cast) play(d *build.Draft, l *avatar.Library) {
	if !c.Persona.IsZero() {
		d.Portal.Persona = c.Persona
		return
	}
	speaks := native(d.Portal.Definition.DefaultLanguage)
	if c.Voice.IsZero() {
		c.Voice = speaks.ID
	}
	if c.Avatar.IsZero() {
		c.Avatar = looksLike(l, speaks.Gender)
	}
	d.Cast(c.Avatar, c.Voice)
}

// native is the studio's first voice that sounds native in a language, or that
// speaks it at all.
func native(code string) voice.Voice {
	studio := voice.Studio()
	for _, fits := range []func(voice.Voice) bool{
		func(v voice.Voice) bool { return v.PrimaryLanguage == code },
		func(v voice.Voice) bool { return slices.Contains(v.Languages, code) },
	} {
		if i := slices.IndexFunc(studio, fits); i >= 0 {
			return studio[i]
		}
	}
	return studio[0]
}

// looksLike is the library's first face of a gender.
func looksLike(l *avatar.Library, gender string) id.Avatar {
	faces := l.Faces()
	i := slices.IndexFunc(faces, func(a avatar.Avatar) bool { return a.Gender == gender })
	return faces[max(i, 0)].ID
}

// whyNot is the code of a job whose portal cannot be built, or empty.
func whyNot(err error) string {
	var (
		unfit *build.VoiceError
		field *errdefs.Invalid
	)
	switch {
	case errors.Is(err, build.ErrFull):
		return CodePortalsFull
	case errdefs.IsAbsent(err, voice.Noun), errors.As(err, &unfit):
		return CodeVoiceUnfit
	case errdefs.IsAbsent(err, avatar.Noun), errdefs.IsConflict(err, avatar.Noun, avatar.ReasonConsent):
		return CodeFaceGone
	case errors.As(err, &field) && field.Field == "personaId":
		return CodePersonaGone
	case errors.As(err, &field) && strings.HasPrefix(field.Field, "knowledgeBaseIds"):
		return CodeDocumentGone
	default:
		return ""
	}
}

// Codes of jobs that cannot be done, besides those of reading and of models.
const (
	CodePortalsFull   = "portals_full"
	CodePacksFull     = "knowledge_bases_full"
	CodeDocumentsFull = "documents_full"
	CodeSubjectsFull  = "subjects_full"
	CodePersonaGone   = "persona_gone"
	CodeFaceGone      = "avatar_gone"
	CodeVoiceUnfit    = "voice_unfit"
	CodeDocumentGone  = "document_gone"
	CodeTemplateGone  = "template_gone"
)
