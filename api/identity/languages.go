package identity

import (
	"context"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/language"
)

// Languages is the catalogue of languages (spec, Languages).
type Languages struct {
	Languages []Language `json:"languages" doc:"Every language that an avatar speaks."`
	Engines   Engines    `json:"engines" doc:"The two voice engines, by key."`
	Accents   []Accent   `json:"accents" doc:"Accents of other languages that English can be spoken with."`
}

// Language is one language.
type Language struct {
	Code       string  `json:"code" example:"pt-BR" doc:"The language as a BCP 47 code."`
	Name       string  `json:"name" doc:"The language in English."`
	NativeName string  `json:"nativeName" doc:"The language in its own words."`
	Duo        bool    `json:"duo" doc:"Whether a duo speaks it."`
	DuoName    *string `json:"duoName" doc:"The name to show for a duo; null where duo is false."`
	Beta       bool    `json:"beta" doc:"Whether the language is still being tried out."`
}

// Engines are the two voice engines.
type Engines struct {
	Premier Engine `json:"premier" doc:"The engine with the most natural voices, in fewer languages."`
	Global  Engine `json:"global" doc:"The engine that speaks every language of the catalogue."`
}

// Engine is one voice engine.
type Engine struct {
	Name          string `json:"name" doc:"What the engine is called, for people."`
	LanguageCount int    `json:"languageCount" doc:"How many languages its voices speak."`
	VoiceCloning  bool   `json:"voiceCloning" doc:"Whether voices can be cloned for it."`
	Default       bool   `json:"default" doc:"Whether a voice is of this engine unless it says otherwise."`
	Note          string `json:"note" doc:"What the engine is good for, in a sentence."`
}

// Accent makes English speak with another language's accent.
type Accent struct {
	Key   string `json:"key" doc:"A value of settings.accent."`
	Label string `json:"label" doc:"What the accent is called, for people."`
}

// catalogue never changes while the program runs.
var catalogue = func() Languages {
	var out Languages
	for _, l := range language.Catalogue() {
		shown := Language{l.Code, l.Name, l.NativeName, l.Duo, nil, l.Beta}
		if l.Duo {
			shown.DuoName = &l.DuoName
		}
		out.Languages = append(out.Languages, shown)
	}
	for _, a := range language.Accents() {
		out.Accents = append(out.Accents, Accent{a.Key, a.Label})
	}
	engines := language.Engines()
	out.Engines = Engines{engine(engines[language.Premier]), engine(engines[language.Global])}
	return out
}()

func engine(e language.Engine) Engine {
	return Engine{e.Name, e.LanguageCount, e.VoiceCloning, e.Default, e.Note}
}

func languages(context.Context, *route.Call, *struct{}) (Languages, error) { return catalogue, nil }
