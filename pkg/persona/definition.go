package persona

import (
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/language"
)

// Words are what is said, by language.
type Words = language.Words

// Definition is what a persona is and how it talks. It is kept as JSON, one a
// version, in the form that the API shows; the tags bound it there.
type Definition struct {
	Role         *string      `json:"role" maxLength:"200" doc:"Who it is, in one line."`
	Instructions string       `json:"instructions" maxLength:"20000"`
	Greeting     Greeting     `json:"greeting"`
	Closing      Words        `json:"closing" doc:"What it says at the end, by language."`
	Knowledge    Knowledge    `json:"knowledge"`
	Goals        []Goal       `json:"goals" maxItems:"20"`
	Guardrails   []Guardrail  `json:"guardrails" maxItems:"20"`
	Tools        []Tool       `json:"tools" maxItems:"20"`
	Model        Model        `json:"model"`
	Conversation Conversation `json:"conversation"`
	Settings     Settings     `json:"settings"`
	Privacy      Privacy      `json:"privacy"`
	Limits       Limits       `json:"limits"`
	Disclosure   Disclosure   `json:"disclosure"`
}

// Greeting is how a conversation begins.
type Greeting struct {
	Mode string `json:"mode" enum:"fixed,generated,none"`
	Text Words  `json:"text" doc:"The words of a fixed greeting, by language."`
}

// Knowledge is what the persona answers from.
type Knowledge struct {
	BaseIDs []id.KnowledgeBase `json:"baseIds" maxItems:"20"`
	// Mode: strict answers from the packs alone; prefer and open let a
	// connected model add what it knows. The built-in answers are always strict.
	Mode string `json:"mode" enum:"strict,prefer,open"`
	// MinScore is the support, 0 to 1, below which an answer is not given.
	MinScore  float64 `json:"minScore" minimum:"0" maximum:"1"`
	Cite      bool    `json:"cite"`
	Retrieval string  `json:"retrieval" enum:"fast,balanced,thorough"`
}

// Goal is something to find out or to bring about in a conversation.
type Goal struct {
	Key      string   `json:"key" given:"always" pattern:"^[a-z][a-z0-9_]{0,39}$"`
	Prompt   string   `json:"prompt" given:"always" minLength:"1" maxLength:"1000" doc:"What the avatar asks."`
	Required bool     `json:"required"`
	Outputs  []string `json:"outputs" maxItems:"10" doc:"Names of what is collected."`
	Next     *string  `json:"next" doc:"The key of the goal that follows."`
	Confirm  string   `json:"confirm" enum:"auto,manual"`
}

// Guardrail is a rule that the persona keeps whatever it is asked.
type Guardrail struct {
	Key     string  `json:"key" given:"always" pattern:"^[a-z][a-z0-9_]{0,39}$"`
	Rule    string  `json:"rule" given:"always" minLength:"1" maxLength:"1000" doc:"What it is about. Words and phrases in double quotes are matched as they are."`
	Action  string  `json:"action" given:"always" enum:"refuse,redirect,handoff,end"`
	Message *string `json:"message" maxLength:"1000"`
}

// Tool is something the persona can do besides talking.
type Tool struct {
	Kind         string         `json:"kind" given:"always" enum:"lead,booking,handoff,end_session,http,mcp,client"`
	ConnectionID *id.Connection `json:"connectionId" nullable:"true"`
	Enabled      bool           `json:"enabled"`
	Config       map[string]any `json:"config" doc:"What the kind needs to know, at most 10,000 bytes as JSON."`
}

// Model is what writes the answers.
type Model struct {
	// ConnectionID is a connection of kind model; null is the built-in engine,
	// which answers with sentences of the packs.
	ConnectionID *id.Connection `json:"connectionId" nullable:"true"`
	Name         *string        `json:"name" maxLength:"200"`
	Temperature  float64        `json:"temperature" minimum:"0" maximum:"2"`
	MaxTokens    int64          `json:"maxTokens" minimum:"16" maximum:"8192"`
	TimeoutMs    int64          `json:"timeoutMs" minimum:"500" maximum:"60000"`
}

// Conversation is how turns are taken.
type Conversation struct {
	Patience          string `json:"patience" enum:"low,medium,high"`
	Interruptible     string `json:"interruptible" enum:"off,low,medium,high"`
	MinInterruptWords int64  `json:"minInterruptWords" minimum:"0" maximum:"20"`
	EndpointMs        int64  `json:"endpointMs" minimum:"100" maximum:"5000"`
	Backchannels      bool   `json:"backchannels"`
	// IdlePromptS and EndAfterSilenceS: zero for never.
	IdlePromptS      int64 `json:"idlePromptS" minimum:"0" maximum:"600"`
	EndAfterSilenceS int64 `json:"endAfterSilenceS" minimum:"0" maximum:"1800"`
	PushToTalk       bool  `json:"pushToTalk"`
	MaxTurnS         int64 `json:"maxTurnS" minimum:"5" maximum:"300"`
}

// Settings are the language and the voice (spec, Languages).
type Settings struct {
	Language string  `json:"language" doc:"By code or name; kept as a code."`
	Accent   *string `json:"accent"`
	// Engine and GlobalVoice follow from the voice. They could be set on 2026-07-08.
	Engine             string   `json:"engine" enum:"premier,global" readOnly:"true" doc:"That of the voice."`
	GlobalVoice        bool     `json:"globalVoice" readOnly:"true"`
	Speed              float64  `json:"speed" minimum:"0.5" maximum:"2"`
	AutoDetectLanguage bool     `json:"autoDetectLanguage"`
	Languages          []string `json:"languages" maxItems:"50" doc:"Those a conversation may switch to."`
}

// Privacy is what is kept of conversations.
type Privacy struct {
	RetainTranscriptDays *int64   `json:"retainTranscriptDays" minimum:"0" maximum:"3650"`
	Memory               string   `json:"memory" enum:"off,person"`
	Redact               []string `json:"redact" maxItems:"20" doc:"What is blotted out of transcripts: email, phone, card, or a word."`
}

// Limits bound the persona's sessions.
type Limits struct {
	MaxSessionS   *int64 `json:"maxSessionS" minimum:"30" maximum:"7200"`
	DailySessions *int64 `json:"dailySessions" minimum:"1"`
}

// Disclosure is how people are told that they talk with an AI.
type Disclosure struct {
	Text   Words `json:"text" doc:"By language."`
	Spoken bool  `json:"spoken"`
}
