package voice

import (
	"slices"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
)

// released is when the studio voices were.
var released = time.Date(2026, 7, 8, 0, 0, 0, 0, time.UTC)

// Studio returns the studio voices in the order of the gallery: premier ones
// first, and English before other languages. The slice, and the languages in it,
// are the caller's own.
func Studio() []Voice {
	voices := make([]Voice, len(takes))
	for i, take := range takes {
		span := spans[take.engine]
		voices[i] = Voice{
			ID:              id.NamedVoice(take.key),
			Kind:            Builtin,
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
			CreatedAt:       released,
			UpdatedAt:       released,
		}
	}
	return voices
}

// studio is Studio for those here, who change nothing in it.
var studio = Studio()

// FindStudio finds a studio voice. The languages in it are the caller's own.
func FindStudio(v id.Voice) (Voice, bool) {
	i := slices.IndexFunc(studio, func(s Voice) bool { return s.ID == v })
	if i < 0 {
		return Voice{}, false
	}
	found := studio[i]
	found.Languages = slices.Clone(found.Languages)
	return found, true
}

// take is what sets one studio voice apart; all else follows from its engine.
type take struct {
	key, name, gender, engine, primary, accent, style, description string
}

// spans is how far from its natural pace a voice of each engine can be set.
// Premier voices are held closer to it: what they are chosen for is sounding like
// a person.
var spans = map[string]struct{ min, max float64 }{
	language.Premier: {min: 0.7, max: 1.2},
	language.Global:  {min: 0.5, max: 1.5},
}

// takes is in the order of the gallery. Every duo language has a premier voice
// that is native in it.
var takes = []take{
	{"nora", "Nora", Female, language.Premier, "en", "", "warm", "Warm and unhurried; at ease with explanations."},
	{"owen", "Owen", Male, language.Premier, "en", "", "steady", "Even and clear, with the patience of a good instructor."},
	{"grace", "Grace", Female, language.Premier, "en", "", "bright", "Bright and quick to smile; made for a first welcome."},
	{"marcus", "Marcus", Male, language.Premier, "en", "", "confident", "Deep and sure of itself; holds attention through a long briefing."},
	{"lucia", "Lucía", Female, language.Premier, "es", "spanish", "lively", "Lively and direct, with a gift for small talk."},
	{"mateo", "Mateo", Male, language.Premier, "es", "", "friendly", "Relaxed and friendly, like a colleague at the next desk."},
	{"camille", "Camille", Female, language.Premier, "fr", "french", "elegant", "Soft-spoken and precise; lends a product tour some polish."},
	{"lukas", "Lukas", Male, language.Premier, "de", "german", "precise", "Crisp and factual; every step of a procedure lands."},
	{"giulia", "Giulia", Female, language.Premier, "it", "italian", "expressive", "Expressive and generous; turns a story into a scene."},
	{"thiago", "Thiago", Male, language.Premier, "pt-BR", "portuguese", "upbeat", "Sunny and full of energy; keeps practice sessions moving."},
	{"priya", "Priya", Female, language.Premier, "hi", "hindi", "encouraging", "Kind and encouraging; gives learners time to think."},
	{"haruto", "Haruto", Male, language.Premier, "ja", "japanese", "courteous", "Courteous and measured, the voice of a careful host."},
	{"seo-yeon", "Seo-yeon", Female, language.Premier, "ko", "", "fresh", "Light and youthful; comfortable with fast questions."},
	{"wei", "Wei", Male, language.Premier, "zh-Hans", "chinese", "composed", "Composed and articulate; suits figures and formal news."},
	{"layla", "Layla", Female, language.Premier, "ar", "", "gentle", "Gentle and reassuring when the subject is a delicate one."},
	{"erik", "Erik", Male, language.Premier, "sv", "", "dry", "Dry and down to earth, with a hint of humour."},

	{"ruth", "Ruth", Female, language.Global, "en", "", "mature", "Mature and trustworthy; reads terms and policies without tiring anyone."},
	{"daniel", "Daniel", Male, language.Global, "en", "", "neutral", "Neutral and easy to follow in any setting."},
	{"shira", "Shira", Female, language.Global, "he", "", "brisk", "Brisk and open; gets to the point and stays pleasant."},
	{"reza", "Reza", Male, language.Global, "fa", "", "lyrical", "Rich and lyrical; slows down where the meaning does."},
	{"amina", "Amina", Female, language.Global, "sw", "", "cheerful", "Cheerful and round, with a melody that invites an answer."},
	{"jordi", "Jordi", Male, language.Global, "ca", "", "casual", "Casual and quick-witted; good company on a help desk."},
	{"meena", "Meena", Female, language.Global, "ta", "", "attentive", "Attentive and articulate; never rushes the listener."},
	{"petar", "Petar", Male, language.Global, "bg", "", "grounded", "Grounded and a little gruff; believable in safety training."},
	{"ploy", "Ploy", Female, language.Global, "th", "", "sweet", "Sweet and polite; softens even a refusal."},
	{"ka-ho", "Ka-ho", Male, language.Global, "yue", "", "energetic", "Energetic and modern; at home in shops and showrooms."},
}
