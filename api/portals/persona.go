package portals

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerPersona(s *route.Service, read, write route.Operation) {
	get := read
	get.ID, get.Method, get.Path, get.Items = "getPortalPersona", http.MethodGet, "/portals/{id}/persona", contract.PortalPersonaItem
	get.Errors = []problem.Code{problem.Conflict}
	get.Summary = "Who speaks on a portal; its ETag is the portal's draftVersion"
	route.Handle(s, get, a.speaker)

	put := write
	put.ID, put.Method, put.Path, put.Items = "putPortalPersona", http.MethodPut, "/portals/{id}/persona", contract.PortalPersonaItem
	put.Errors = append(put.Errors, problem.VersionConflict)
	put.Summary = "Choose who speaks on a portal"
	put.Description = "Another persona or duo speaks once the draft is published. A face, a voice, a name or a language changes the persona " +
		"itself, at once, where it speaks on this portal alone; where it is shown elsewhere too, the draft has a new persona like it. " +
		"face and voice are first names, as the contract 2026-07-08 has them; on newer ones they are answered with the header Deprecation."
	route.Handle(s, put, a.chooseSpeaker)
}

// PortalPersona is who speaks on a portal.
type PortalPersona struct {
	PersonaID   id.Persona `json:"personaId" doc:"The persona that speaks."`
	AvatarID    id.Avatar  `json:"avatarId" doc:"The face that people see."`
	VoiceID     id.Voice   `json:"voiceId" doc:"The voice that people hear."`
	DuoID       *id.Duo    `json:"duoId" nullable:"true" doc:"The duo that they see; null for a single face."`
	Name        string     `json:"name" doc:"What the speaker is called."`
	Language    string     `json:"language" doc:"The language that it begins in, as a code."`
	Face        string     `json:"face" doc:"The face's first name."`
	Voice       string     `json:"voice" doc:"The voice's first name."`
	FaceStatus  string     `json:"faceStatus" enum:"ready,preparing,paused" doc:"As the persona's status."`
	FaceReadyAt *time.Time `json:"faceReadyAt" doc:"About when the face is ready; null unless it is being prepared."`
}

func (a *API) speaker(ctx context.Context, c *route.Call, p *Path) (PortalPersona, error) {
	wanted, err := p.portal()
	if err != nil {
		return PortalPersona{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (PortalPersona, error) {
		found, err := portal.Find(ctx, tx, wanted)
		if err != nil {
			return PortalPersona{}, asProblem(err)
		}
		return a.showSpeaker(ctx, c, tx, found)
	})
}

func (a *API) showSpeaker(ctx context.Context, c *route.Call, tx *tenant.Tx, p portal.Portal) (PortalPersona, error) {
	s, err := persona.Find(ctx, tx, p.Persona)
	if err != nil {
		return PortalPersona{}, asProblem(err)
	}
	face, err := avatar.Find(ctx, tx, a.Library, s.Avatar)
	if err != nil {
		return PortalPersona{}, err // a worn face is never deleted
	}
	v, err := voice.Find(ctx, tx, s.Voice)
	if err != nil {
		return PortalPersona{}, err
	}
	c.SetVersion(p.DraftVersion)
	shown := PortalPersona{
		PersonaID: s.ID, AvatarID: s.Avatar, VoiceID: s.Voice, Name: s.Name, Language: s.Definition.Settings.Language,
		Face: face.Name, Voice: v.Name, FaceStatus: string(s.Status()), FaceReadyAt: route.UTC(s.FaceReadyAt(c.Now())),
	}
	if !s.DuoID.IsZero() {
		shown.DuoID = &s.DuoID
	}
	return shown, nil
}

// SpeakerInput is the request for another speaker.
type SpeakerInput struct {
	Path
	route.Edition
	Body PortalSpeaker
}

// PortalSpeaker says who is to speak: a persona, a duo, or what to change of the
// persona there is.
type PortalSpeaker struct {
	PersonaID string `json:"personaId,omitempty" doc:"Another persona to speak."`
	DuoID     string `json:"duoId,omitempty" doc:"A live duo to speak in place of a single face."`
	AvatarID  string `json:"avatarId,omitempty" doc:"Another face for the persona that speaks."`
	VoiceID   string `json:"voiceId,omitempty" doc:"Another voice for the persona that speaks."`
	Face      string `json:"face,omitempty" maxLength:"80" doc:"A face's first name, in place of avatarId. Deprecated."`
	Voice     string `json:"voice,omitempty" maxLength:"80" doc:"A voice's first name, in place of voiceId. Deprecated."`
	Name      string `json:"name,omitempty" maxLength:"80" doc:"What to call the speaker."`
	Language  string `json:"language,omitempty" maxLength:"40" doc:"By code or name."`
}

// deprecated is since when first names are (RFC 9745).
var deprecated = "@" + strconv.FormatInt(time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC).Unix(), 10)

func (a *API) chooseSpeaker(ctx context.Context, c *route.Call, in *SpeakerInput) (PortalPersona, error) {
	wanted, err := in.portal()
	if err != nil {
		return PortalPersona{}, err
	}
	if err := in.Body.check(); err != nil {
		return PortalPersona{}, err
	}
	if (in.Body.Face != "" || in.Body.Voice != "") && !c.Contract.Before(contract.V20261001) {
		c.SetHeader("Deprecation", deprecated)
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (PortalPersona, error) {
		before, err := portal.Edit(ctx, tx, wanted)
		if err != nil {
			return PortalPersona{}, asProblem(err)
		}
		if err := in.Check(before.DraftVersion, nil); err != nil {
			return PortalPersona{}, err
		}
		after, dressed, err := a.chosen(ctx, c, tx, before, in.Body)
		if err != nil {
			return PortalPersona{}, err
		}
		change := portal.Change{Action: "portal.persona_changed"}
		if dressed {
			change.Also = []string{"persona"}
		}
		now, _, err := portal.Update(ctx, tx, before, after, change, c.Actor())
		if err != nil {
			return PortalPersona{}, asProblem(err)
		}
		return a.showSpeaker(ctx, c, tx, now)
	})
}

// check refuses what says several things at a time, or nothing.
func (s PortalSpeaker) check() error {
	other := s
	other.PersonaID, other.DuoID = "", ""
	switch {
	case s == PortalSpeaker{}:
		return problem.Invalid("body", "Send personaId, duoId, or what to change: avatarId, voiceId, name, language.")
	case s.PersonaID != "" && s.DuoID != "":
		return problem.Invalid("body.duoId", "Send either personaId or duoId.")
	case (s.PersonaID != "" || s.DuoID != "") && other != PortalSpeaker{}:
		return problem.Invalid("body.personaId", "A persona or a duo that there is speaks as it is: send nothing else with it.")
	case s.AvatarID != "" && s.Face != "":
		return problem.Invalid("body.face", "Send either avatarId or face.")
	case s.VoiceID != "" && s.Voice != "":
		return problem.Invalid("body.voice", "Send either voiceId or voice.")
	}
	return nil
}

// chosen is the draft with the speaker that was asked for. dressed says that the
// speaker there was is another now.
func (a *API) chosen(ctx context.Context, c *route.Call, tx *tenant.Tx, p portal.Portal, s PortalSpeaker) (after portal.Portal, dressed bool, err error) {
	switch {
	case s.PersonaID != "":
		if p.Persona, err = id.ParsePersona(s.PersonaID); err != nil {
			err = problem.Invalid("body.personaId", "personaId is not the id of a persona.")
		}
		return p, false, err
	case s.DuoID != "":
		p.Persona, err = personaOfDuo(ctx, tx, s.DuoID)
		return p, false, err
	}
	change, err := a.dress(ctx, tx, s)
	if err != nil {
		return p, false, err
	}
	p.Persona, dressed, err = portal.Dress(ctx, tx, a.Library, p, change, c.Actor())
	return p, dressed, asDressProblem(err)
}

// asDressProblem says what a persona that cannot be changed so is to a caller.
func asDressProblem(err error) error {
	var field *errdefs.Invalid
	if !errors.As(err, &field) {
		return asProblem(err)
	}
	if field.Field == "settings.language" || field.Field == "greeting.text" {
		return problem.Invalid("body.language", "language: %s %s.", field.Field, field.Message)
	}
	return problem.Conflicting("persona_unfit", "The persona cannot be changed so: %s %s.", field.Field, field.Message)
}
