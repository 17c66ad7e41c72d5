// Package template is what portals are built from: one YAML file a template, with
// every text by language.
package template

import (
	"encoding/json"

	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
)

// Template is one template. Its file is templates/<key>.yaml, and the picture of
// it templates/<key>.svg.
type Template struct {
	// Key is of the form of a goal's key: ^[a-z][a-z0-9_]{0,39}$.
	Key  string         `json:"key"`
	Name language.Words `json:"name"`
	Kind portal.Kind    `json:"kind"`
	// PlanFeature is what a plan must include besides portals; nil for nothing.
	PlanFeature *string        `json:"planFeature"`
	Description language.Words `json:"description"`
	// Languages are those that every text of it is in, the one that is spoken
	// otherwise first.
	Languages []string `json:"languages"`
	// Includes says in a few words each what comes with it.
	Includes []language.Words `json:"includes"`
	// Questions are what whoever builds the portal is asked about it.
	Questions []Question `json:"questions"`
	Persona   Persona    `json:"persona"`
	// Definition is the portal's. What is left out has portal.Defaults' value;
	// languages and defaultLanguage are left out, they follow from Languages.
	Definition portal.Definition `json:"definition"`
	Subjects   []Subject         `json:"subjects"`
}

// Question is something to know about a portal that is built.
type Question struct {
	Key   string         `json:"key"`
	Label language.Words `json:"label"`
	// Type: text | long_text | url | number | choice | boolean
	Type     string `json:"type"`
	Required bool   `json:"required"`
}

// Persona is who speaks where a portal is made with a face and a voice. What it
// thinks with is written in the portal's default language.
type Persona struct {
	Name         language.Words `json:"name"`
	Role         language.Words `json:"role"`
	Instructions language.Words `json:"instructions"`
	// Greeting and Closing are kept in all the portal's languages.
	Greeting   language.Words `json:"greeting"`
	Closing    language.Words `json:"closing"`
	Goals      []Goal         `json:"goals"`
	Guardrails []Guardrail    `json:"guardrails"`
	Tools      []persona.Tool `json:"tools"`
	// Definition is a merge patch of the other members of persona.Definition over
	// its defaults, such as {knowledge: {mode: prefer}, conversation: {patience: high}}.
	Definition json.RawMessage `json:"definition"`
}

// Goal is a persona.Goal before its language is known.
type Goal struct {
	Key      string         `json:"key"`
	Prompt   language.Words `json:"prompt"`
	Required bool           `json:"required"`
	Outputs  []string       `json:"outputs"`
	Next     *string        `json:"next"`
	Confirm  string         `json:"confirm"`
}

// Guardrail is a persona.Guardrail before its language is known.
type Guardrail struct {
	Key     string         `json:"key"`
	Rule    language.Words `json:"rule"`
	Action  string         `json:"action"`
	Message language.Words `json:"message"`
}

// Subject is a subject that comes with it.
type Subject struct {
	Title language.Words `json:"title"`
	Kind  subject.Kind   `json:"kind"`
	// Definition and Content are as the API has them; lists that are left out are empty.
	Definition subject.Definition `json:"definition"`
	Content    subject.Content    `json:"content"`
}
