package personas

import (
	"encoding/json"

	"visavis.dev/api/route"
	"visavis.dev/pkg/contract"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/persona"
	"visavis.dev/pkg/problem"
	"visavis.dev/pkg/voice"
)

// Sections are the parts of a persona that may be sent, whole or in part.
type Sections struct {
	Role         route.OptNull[string]            `json:"role,omitzero" maxLength:"200" doc:"Who it is, in one line."`
	Instructions route.Opt[string]                `json:"instructions,omitzero" maxLength:"20000"`
	Greeting     route.Part[persona.Greeting]     `json:"greeting,omitzero"`
	Closing      route.Part[persona.Words]        `json:"closing,omitzero" doc:"What it says at the end, by language."`
	Knowledge    route.Part[persona.Knowledge]    `json:"knowledge,omitzero"`
	Goals        route.Part[[]persona.Goal]       `json:"goals,omitzero" maxItems:"20"`
	Guardrails   route.Part[[]persona.Guardrail]  `json:"guardrails,omitzero" maxItems:"20"`
	Tools        route.Part[[]persona.Tool]       `json:"tools,omitzero" maxItems:"20"`
	Model        route.Part[persona.Model]        `json:"model,omitzero"`
	Conversation route.Part[persona.Conversation] `json:"conversation,omitzero"`
	Settings     route.Part[persona.Settings]     `json:"settings,omitzero"`
	Privacy      route.Part[persona.Privacy]      `json:"privacy,omitzero"`
	Limits       route.Part[persona.Limits]       `json:"limits,omitzero"`
	Disclosure   route.Part[persona.Disclosure]   `json:"disclosure,omitzero"`
}

// Input is the request for a new persona.
type Input struct{ Body PersonaInput }

// PersonaInput is a persona to be made.
type PersonaInput struct {
	Name     string `json:"name" minLength:"1" maxLength:"80"`
	AvatarID string `json:"avatarId" doc:"A library face, or an own one whose consent stands."`
	VoiceID  string `json:"voiceId"`
	Sections
}

// UpdateInput is the request for a change of a persona.
type UpdateInput struct {
	Path
	route.Edition
	Body PersonaChange
}

// PersonaChange is what to change of a persona.
type PersonaChange struct {
	BaseVersion route.Opt[int64]  `json:"baseVersion,omitzero" minimum:"1" doc:"The version to change, as If-Match says it."`
	Name        route.Opt[string] `json:"name,omitzero" minLength:"1" maxLength:"80"`
	AvatarID    route.Opt[string] `json:"avatarId,omitzero"`
	VoiceID     route.Opt[string] `json:"voiceId,omitzero"`
	Sections
}

func parseAvatar(s string) (id.Avatar, error) {
	a, err := id.ParseAvatar(s)
	if err != nil {
		return a, problem.Invalid("body.avatarId", "avatarId is not the id of an avatar.")
	}
	return a, nil
}

func parseVoice(s string) (id.Voice, error) {
	v, err := id.ParseVoice(s)
	if err != nil {
		return v, problem.Invalid("body.voiceId", "voiceId is not the id of a voice.")
	}
	return v, nil
}

// checkEngine refuses a choice of engine. On 2026-07-08 it could be made; as
// the voice decides it, what is sent must say what the voice does. Since
// 2026-10-01 it cannot be sent (Versioning).
func checkEngine(c *route.Call, v voice.Voice) error {
	var sent struct {
		Settings struct {
			Engine      *string `json:"engine"`
			GlobalVoice *bool   `json:"globalVoice"`
		} `json:"settings"`
	}
	if err := json.Unmarshal(c.Body(), &sent); err != nil {
		return err // what was read before can be read again
	}
	derived := persona.Defaults(v).Settings
	for _, field := range []struct {
		name        string
		sent, agree bool
	}{
		{"engine", sent.Settings.Engine != nil, sent.Settings.Engine != nil && *sent.Settings.Engine == derived.Engine},
		{"globalVoice", sent.Settings.GlobalVoice != nil, sent.Settings.GlobalVoice != nil && *sent.Settings.GlobalVoice == derived.GlobalVoice},
	} {
		switch param := "body.settings." + field.name; {
		case !field.sent:
		case !c.Contract.Before(contract.V20261001):
			return problem.Invalid(param, "%s follows from the voice and cannot be set.", param)
		case !field.agree:
			return problem.Invalid(param, "The voice %s runs on the engine %s; choose a voice of another engine.", v.Name, v.Engine)
		}
	}
	return nil
}
