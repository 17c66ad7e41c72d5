package personas

import (
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
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
			return Persona{}, err
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

// asProblem answers for what the body names: a version, a face or a voice.
func asProblem(err error) error {
	if errdefs.IsNotFound(err, persona.VersionNoun) {
		return problem.Invalid("body.version", "The persona has no such version; GET /personas/{id}/versions lists them.")
	}
	return Chosen(err, "body.")
}

// Chosen answers for a face or a voice that cannot be chosen; at is where the body has
// avatarId and voiceId. Another error it answers as it is.
func Chosen(err error, at string) error {
	switch {
	case errdefs.IsAbsent(err, voice.Noun):
		return problem.Invalid(at+"voiceId", "voiceId is not a voice of this organization; GET /voices lists them.")
	case errdefs.IsNotFound(err, avatar.Noun):
		return problem.Invalid(at+"avatarId", "avatarId is not an avatar of this organization; GET /avatars lists them.")
	case errdefs.IsGone(err, avatar.Noun):
		return problem.Invalid(at+"avatarId", "The avatar was deleted.").WithDetail("reason", "deleted")
	case errdefs.IsConflict(err, avatar.Noun, avatar.ReasonConsent):
		return route.At(err, at+"avatarId")
	}
	return err
}

// duoStudio says where the faces and voices of a duo's persona are changed.
func duoStudio() error {
	return problem.Conflicting("duo_studio_only", "The faces and voices of a duo's persona are changed with the duo: PATCH /duos/{id}.")
}
