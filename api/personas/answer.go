package personas

import (
	"errors"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/patch"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/persona"
)

// Persona is one persona.
type Persona struct {
	ID           id.Persona `json:"id" doc:"Id of the persona, with the prefix pa_."`
	Name         string     `json:"name" doc:"What the persona is called, also in conversations."`
	Kind         string     `json:"kind" enum:"standard,duo" doc:"standard has one face, duo has two."`
	AvatarID     id.Avatar  `json:"avatarId" doc:"Of a duo's persona, the lead host's."`
	VoiceID      id.Voice   `json:"voiceId" doc:"The voice that it speaks with."`
	DuoID        *id.Duo    `json:"duoId" nullable:"true" doc:"The duo that it shows; null for a persona with a single face."`
	Status       string     `json:"status" enum:"ready,preparing,paused" doc:"preparing: a face is being prepared. paused: statusReason says what stands in the way."`
	StatusReason *string    `json:"statusReason" doc:"consent_withdrawn, or face_failed when a face could not be prepared; null unless paused."`
	FaceReadyAt  *time.Time `json:"faceReadyAt" doc:"About when the face is ready; null unless it is being prepared."`
	persona.Definition
	Version   int64       `json:"version" doc:"How many times it was changed, from 1; what baseVersion and If-Match are held against."`
	WidgetIDs []id.Widget `json:"widgetIds" doc:"The widgets that show it."`
	PortalIDs []id.Portal `json:"portalIds" doc:"Those on which it speaks, in the draft or for visitors."`
	CreatedAt time.Time   `json:"createdAt" doc:"When the persona was made, in UTC."`
	UpdatedAt time.Time   `json:"updatedAt" doc:"When it was last changed, in UTC."`
}

func show(c *route.Call, p persona.Persona) Persona {
	shown := Persona{
		ID: p.ID, Name: p.Name, Kind: string(p.Kind), AvatarID: p.Avatar, VoiceID: p.Voice, Status: string(p.Status()),
		FaceReadyAt: route.UTC(p.FaceReadyAt(c.Now())), Definition: p.Definition, Version: p.Version, WidgetIDs: p.Widgets, PortalIDs: p.Portals,
		CreatedAt: p.CreatedAt.UTC(), UpdatedAt: p.UpdatedAt.UTC(),
	}
	if !p.DuoID.IsZero() {
		shown.DuoID = &p.DuoID
	}
	if p.Obstacle != "" {
		reason := string(p.Obstacle)
		shown.StatusReason = &reason
	}
	if shown.WidgetIDs == nil {
		shown.WidgetIDs = []id.Widget{}
	}
	if shown.PortalIDs == nil {
		shown.PortalIDs = []id.Portal{}
	}
	return shown
}

// answer shows a persona that was found, with its version as the ETag.
func answer(c *route.Call) func(persona.Persona, error) (Persona, error) {
	return func(p persona.Persona, err error) (Persona, error) {
		if err != nil {
			return Persona{}, asProblem(err)
		}
		c.SetVersion(p.Version)
		return show(c, p), nil
	}
}

// PersonaVersion is a persona as it was in a version.
type PersonaVersion struct {
	Version  int64     `json:"version" doc:"The version's number, from 1."`
	Name     string    `json:"name" doc:"What the persona was called then."`
	AvatarID id.Avatar `json:"avatarId" doc:"The face that it wore then."`
	VoiceID  id.Voice  `json:"voiceId" doc:"The voice that it spoke with then."`
	persona.Definition
	CreatedBy string    `json:"createdBy" doc:"Who made it: a key's id or a person's."`
	CreatedAt time.Time `json:"createdAt" doc:"When the version was made, in UTC."`
}

func showVersion(v persona.Version) PersonaVersion {
	return PersonaVersion{
		Version: v.Version, Name: v.Name, AvatarID: v.Avatar, VoiceID: v.Voice, Definition: v.Definition,
		CreatedBy: v.CreatedBy, CreatedAt: v.CreatedAt.UTC(),
	}
}

// asProblem says what errors of packages persona, avatar and patch are to a caller.
func asProblem(err error) error {
	var (
		inUse *persona.InUseError
		field *persona.FieldError
		form  *patch.Error
	)
	switch {
	case errors.Is(err, persona.ErrUnknown):
		return problem.Missing("persona").WithParam("path.id")
	case errors.Is(err, persona.ErrGone):
		return problem.New(problem.Gone, "The persona was deleted.").WithParam("path.id")
	case errors.As(err, &inUse):
		return asInUse(inUse)
	case errors.Is(err, persona.ErrDuoStudio):
		return problem.Conflicting("duo_studio_only", "The faces and voices of a duo's persona are changed with the duo: PATCH /duos/{id}.")
	case errors.Is(err, persona.ErrNoVersion):
		return problem.Invalid("body.version", "The persona has no such version; GET /personas/{id}/versions lists them.")
	case errors.As(err, &field):
		return problem.Invalid("body."+field.Field, "%s %s.", field.Field, field.Message)
	case errors.As(err, &form):
		return problem.Invalid("body."+form.Path, "%v.", form)
	}
	return asChoiceProblem(err)
}

// asChoiceProblem is about a face or voice that cannot be chosen.
func asChoiceProblem(err error) error {
	switch {
	case errors.Is(err, persona.ErrNoVoice):
		return problem.Invalid("body.voiceId", "voiceId is not a voice of this organization; GET /voices lists them.")
	case errors.Is(err, avatar.ErrUnknown):
		return problem.Invalid("body.avatarId", "avatarId is not an avatar of this organization; GET /avatars lists them.")
	case errors.Is(err, avatar.ErrGone):
		return problem.Invalid("body.avatarId", "The avatar was deleted.").WithDetail("reason", "deleted")
	case errors.Is(err, avatar.ErrWithdrawn):
		return problem.Conflicting("consent_withdrawn", "The consent that the avatar rests on was withdrawn.").WithParam("body.avatarId")
	}
	return err
}

func asInUse(e *persona.InUseError) error {
	p := problem.Conflicting("in_use", "The persona is used by %d portals, %d widgets and %d live sessions.", e.Portals, e.Widgets, e.Sessions).WithParam("path.id")
	if !e.Duo.IsZero() {
		p = problem.Conflicting("in_use", "The persona belongs to a duo and is deleted with it.").WithParam("path.id").WithDetail("duoId", e.Duo)
	}
	return p
}
