// Package voice is the library of studio voices: the built-in ones every
// organisation can use, as the spec's "Voice" describes them. It is data only.
// Ids, previews, an organisation's own clones and their storage live elsewhere.
package voice

import "visavis.dev/pkg/language"

// The values of Voice.Gender.
const (
	Female = "female"
	Male   = "male"
)

// Voice is one studio voice.
type Voice struct {
	// Key names the voice for good, in lower-case ASCII. Ids and files are made
	// from it, so it outlives a change of Name.
	Key string
	// Name is a first name, of the kind speakers of PrimaryLanguage bear.
	Name string
	// Gender is Female or Male.
	Gender string
	// Engine is the key of the engine it runs on, and so decides the engine of
	// any persona that uses it ("Languages").
	Engine string
	// Languages are the codes of all languages it speaks: those of its engine,
	// since "any voice speaks any language in its languages".
	Languages []string
	// PrimaryLanguage is the code of the language it sounds native in.
	PrimaryLanguage string
	// Accent is the key of the accent its English has, or "" for none.
	Accent string
	// Style is its manner in one word.
	Style string
	// Description is one plain sentence for the gallery.
	Description string
	// SpeedMin, SpeedMax and SpeedDefault are factors of its natural pace, which
	// is 1.
	SpeedMin, SpeedMax, SpeedDefault float64
}

// Studio returns the studio voices in the order of the gallery: premier ones
// first, and English before other languages. The slice, and the languages in it,
// are the caller's own.
func Studio() []Voice {
	voices := make([]Voice, len(takes))
	for i, take := range takes {
		span := spans[take.engine]
		voices[i] = Voice{
			Key:             take.key,
			Name:            take.name,
			Gender:          take.gender,
			Engine:          take.engine,
			Languages:       language.EngineLanguages(take.engine),
			PrimaryLanguage: take.primary,
			Accent:          take.accent,
			Style:           take.style,
			Description:     take.description,
			SpeedMin:        span.min,
			SpeedMax:        span.max,
			SpeedDefault:    1,
		}
	}
	return voices
}
