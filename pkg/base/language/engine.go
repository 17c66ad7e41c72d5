package language

// The keys of the speech engines: what Voice.engine and settings.engine hold.
const (
	Premier = "premier"
	Global  = "global"
)

// Engine is a speech engine. A persona runs on the engine of its voice
// ("Languages").
type Engine struct {
	Key  string
	Name string
	// LanguageCount is how many languages of the catalogue it speaks.
	LanguageCount int
	// VoiceCloning tells whether an organization's own voices run on it.
	VoiceCloning bool
	// Default marks the engine used where nothing chooses one. One of them has it.
	Default bool
	// Note is a plain sentence or two for the person choosing.
	Note string
}

// Engines returns the engines by key. The map is the caller's own.
func Engines() map[string]Engine {
	return map[string]Engine{
		Premier: {
			Key:           Premier,
			Name:          "Premier",
			LanguageCount: len(EngineLanguages(Premier)),
			VoiceCloning:  true,
			Default:       true,
			Note:          "The most natural delivery, in the most widely used languages. Cloned voices run on it.",
		},
		Global: {
			Key:           Global,
			Name:          "Global",
			LanguageCount: len(EngineLanguages(Global)),
			Note:          "Every language of the catalogue, the newest included. Studio voices only.",
		},
	}
}

// EngineLanguages returns the codes of the languages an engine speaks, in the
// order of the catalogue; none for an engine that does not exist.
func EngineLanguages(engine string) []string {
	var codes []string
	for _, language := range catalogue {
		if Speaks(engine, language.Code) {
			codes = append(codes, language.Code)
		}
	}
	return codes
}

// Speaks tells whether an engine speaks the language with this code. The code is
// the catalogue's own; what a caller sent goes through Lookup first.
func Speaks(engine, code string) bool {
	standing, listed := standings[code]
	switch engine {
	case Premier:
		return listed && standing >= both
	case Global:
		return listed
	default:
		return false
	}
}
