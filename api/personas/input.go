package personas

import (
	"encoding/json"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
)

// Sections are the parts of a persona that may be sent, whole or in part.
type Sections struct {
	Role         route.OptNull[string]            `json:"role,omitzero" maxLength:"200" doc:"Who it is, in one line."`
	Instructions route.Opt[string]                `json:"instructions,omitzero" maxLength:"20000" doc:"How to behave, in plain words."`
	Greeting     route.Part[persona.Greeting]     `json:"greeting,omitzero" doc:"How a conversation begins; what is left out stays."`
	Closing      route.Part[persona.Words]        `json:"closing,omitzero" doc:"What it says at the end, by language."`
	Knowledge    route.Part[persona.Knowledge]    `json:"knowledge,omitzero" doc:"The packs to answer from, and how; what is left out stays."`
	Goals        route.Part[[]persona.Goal]       `json:"goals,omitzero" maxItems:"20" doc:"What to find out or to bring about, in order; the list takes the place of the one before."`
	Guardrails   route.Part[[]persona.Guardrail]  `json:"guardrails,omitzero" maxItems:"20" doc:"Rules that are kept whatever is asked; the list takes the place of the one before."`
	Tools        route.Part[[]persona.Tool]       `json:"tools,omitzero" maxItems:"20" doc:"What it can do besides talking; the list takes the place of the one before."`
	Model        route.Part[persona.Model]        `json:"model,omitzero" doc:"What writes the answers; what is left out stays."`
	Conversation route.Part[persona.Conversation] `json:"conversation,omitzero" doc:"How turns are taken; what is left out stays."`
	Settings     route.Part[persona.Settings]     `json:"settings,omitzero" doc:"The language and the manner of the voice; what is left out stays."`
	Privacy      route.Part[persona.Privacy]      `json:"privacy,omitzero" doc:"What is kept of conversations; what is left out stays."`
	Limits       route.Part[persona.Limits]       `json:"limits,omitzero" doc:"Bounds on the persona's sessions; what is left out stays."`
	Disclosure   route.Part[persona.Disclosure]   `json:"disclosure,omitzero" doc:"How people are told that they talk with an AI; what is left out stays."`
}

// Input is the request for a new persona.
type Input struct{ Body PersonaInput }

// PersonaInput is a persona to be made.
type PersonaInput struct {
	Name     string `json:"name" minLength:"1" maxLength:"80" doc:"What to call the persona, also in conversations."`
	AvatarID string `json:"avatarId" doc:"A library face, or an own one whose consent stands."`
	VoiceID  string `json:"voiceId" doc:"The voice to speak with; it decides the engine."`
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
	Name        route.Opt[string] `json:"name,omitzero" minLength:"1" maxLength:"80" doc:"A new name, also used in conversations."`
	AvatarID    route.Opt[string] `json:"avatarId,omitzero" doc:"Another face; sessions start with it once it is ready, in about a minute."`
	VoiceID     route.Opt[string] `json:"voiceId,omitzero" doc:"Another voice; it decides the engine."`
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

// tier is what the body says of the engine; empty for nothing. On 2026-07-08 it could be
// chosen, by either of two fields. Since 2026-10-01 it follows from the voice and cannot
// be sent (Versioning, 5).
func tier(c *route.Call) (engine string, err error) {
	var sent struct {
		Settings struct {
			Engine      *string `json:"engine"`
			GlobalVoice *bool   `json:"globalVoice"`
		} `json:"settings"`
	}
	if err := json.Unmarshal(c.Body(), &sent); err != nil {
		return "", err // what was read before can be read again
	}
	for _, field := range []struct {
		param string
		value *string
	}{
		{"body.settings.engine", sent.Settings.Engine}, {"body.settings.globalVoice", engineOf(sent.Settings.GlobalVoice)},
	} {
		switch {
		case field.value == nil:
		case !c.Contract.Before(contract.V20261001):
			return "", problem.Invalid(field.param, "%s follows from the voice and cannot be set; choose a voice of the engine with voiceId.", field.param)
		case engine != "" && engine != *field.value:
			return "", problem.Invalid(field.param, "settings.engine and settings.globalVoice say different things.")
		default:
			engine = *field.value
		}
	}
	return engine, nil
}

func engineOf(global *bool) *string {
	switch {
	case global == nil:
		return nil
	case *global:
		return new(language.Global)
	}
	return new(language.Premier)
}

// voiceOfTier is the voice, or the nearest to it of the engine that the body asks for,
// with the languages of the settings in mind.
func voiceOfTier(c *route.Call, v voice.Voice, s persona.Settings) (voice.Voice, error) {
	engine, err := tier(c)
	if err != nil || engine == "" || engine == v.Engine {
		return v, err
	}
	var codes []string
	for _, name := range append([]string{s.Language}, s.Languages...) {
		if found, ok := language.Lookup(name); ok {
			codes = append(codes, found.Code)
		}
	}
	near, ok := voice.Nearest(v, engine, codes)
	if !ok {
		return v, problem.Invalid("body.settings.engine", "No voice of the engine %s is like %s; choose one with voiceId.", engine, v.Name)
	}
	return near, nil
}
