package identity

import (
	"context"

	"visavis.dev/api/route"
	"visavis.dev/pkg/language"
)

// Languages is the catalogue of languages (spec, Languages).
type Languages struct {
	Languages []Language `json:"languages"`
	Engines   Engines    `json:"engines"`
	Accents   []Accent   `json:"accents"`
}

// Language is one language.
type Language struct {
	Code       string  `json:"code" example:"pt-BR"`
	Name       string  `json:"name"`
	NativeName string  `json:"nativeName"`
	Duo        bool    `json:"duo" doc:"Whether a duo speaks it."`
	DuoName    *string `json:"duoName" doc:"The name to show for a duo; null where duo is false."`
	Beta       bool    `json:"beta"`
}

// Engines are the two voice engines.
type Engines struct {
	Premier Engine `json:"premier"`
	Global  Engine `json:"global"`
}

// Engine is one voice engine.
type Engine struct {
	Name          string `json:"name"`
	LanguageCount int    `json:"languageCount"`
	VoiceCloning  bool   `json:"voiceCloning"`
	Default       bool   `json:"default"`
	Note          string `json:"note"`
}

// Accent makes English speak with another language's accent.
type Accent struct {
	Key   string `json:"key" doc:"A value of settings.accent."`
	Label string `json:"label"`
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
