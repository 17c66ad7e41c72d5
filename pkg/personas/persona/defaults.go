package persona

import (
	"encoding/json"

	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/personas/voice"
)

// Defaults are what a persona is made with where its maker says nothing. The
// words are added in its language when it is normalized.
func Defaults(v voice.Voice) Definition {
	d := Definition{
		Greeting: Greeting{Mode: GreetFixed},
		Knowledge: Knowledge{
			Mode: "strict", MinScore: 0.35, Cite: true, Retrieval: "balanced",
		},
		Model: Model{Temperature: 0.3, MaxTokens: 512, TimeoutMs: 2500},
		Conversation: Conversation{
			Patience: "medium", Interruptible: "medium", MinInterruptWords: 2, EndpointMs: 600, Backchannels: true,
			IdlePromptS: 30, EndAfterSilenceS: 120, MaxTurnS: 60,
		},
		Settings: Settings{
			Language: v.PrimaryLanguage, Engine: v.Engine, GlobalVoice: v.Engine == language.Global, Speed: v.SpeedDefault,
		},
		Privacy:    Privacy{Memory: "off"},
		Disclosure: Disclosure{Spoken: false},
	}
	if v.Accent != "" {
		d.Settings.Accent = &v.Accent
	}
	if _, ok := words[v.PrimaryLanguage]; !ok {
		d.Greeting.Mode = GreetGenerated
	}
	return d
}

// The modes of a greeting.
const (
	GreetFixed     = "fixed"
	GreetGenerated = "generated"
	GreetNone      = "none"
)

// phrases are the words that a persona begins with in a language.
type phrases struct{ greeting, disclosure string }

// words are the phrases of the main languages. The disclosure says what
// article 50 of the EU's AI Act asks for: that one talks with an AI.
var words = map[string]phrases{
	"de":      {"Hallo! Wie kann ich Ihnen helfen?", "Sie sprechen mit einer künstlichen Intelligenz, nicht mit einem Menschen."},
	"en":      {"Hello! How can I help you?", "You are talking with an artificial intelligence, not with a person."},
	"es":      {"¡Hola! ¿En qué puedo ayudarle?", "Está hablando con una inteligencia artificial, no con una persona."},
	"fr":      {"Bonjour ! Comment puis-je vous aider ?", "Vous parlez avec une intelligence artificielle, et non avec une personne."},
	"hi":      {"नमस्ते! मैं आपकी क्या मदद कर सकता हूँ?", "आप किसी व्यक्ति से नहीं, कृत्रिम बुद्धिमत्ता से बात कर रहे हैं।"},
	"it":      {"Buongiorno! Come posso aiutarla?", "Sta parlando con un'intelligenza artificiale, non con una persona."},
	"ja":      {"こんにちは。どのようなご用件でしょうか。", "お話しの相手は人ではなく、人工知能です。"},
	"ko":      {"안녕하세요! 무엇을 도와드릴까요?", "지금 사람이 아닌 인공지능과 대화하고 계십니다."},
	"pt-BR":   {"Olá! Como posso ajudar?", "Você está conversando com uma inteligência artificial, não com uma pessoa."},
	"zh-Hans": {"您好！有什么可以帮您？", "您正在与人工智能对话，而不是真人。"},
}

// fallback is the language of what has to be said in a language without words
// of its own here.
const fallback = "en"

// UnmarshalJSON reads a goal; what is left out has its default.
func (g *Goal) UnmarshalJSON(b []byte) error {
	type plain Goal
	*g = Goal{Confirm: "auto", Outputs: []string{}}
	return json.Unmarshal(b, (*plain)(g))
}

// UnmarshalJSON reads a tool; what is left out has its default.
func (t *Tool) UnmarshalJSON(b []byte) error {
	type plain Tool
	*t = Tool{Enabled: true, Config: map[string]any{}}
	return json.Unmarshal(b, (*plain)(t))
}
