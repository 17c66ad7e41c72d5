package persona

import (
	"encoding/json"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/speech/speaker"
)

// Words are what is said, by language.
type Words = language.Words

// Definition is what a persona is and how it talks. It is kept as JSON, one a
// version, in the form that the API shows; the tags bound it there.
type Definition struct {
	Role         *string      `json:"role" maxLength:"200" doc:"Who it is, in one line."`
	Instructions string       `json:"instructions" maxLength:"20000" doc:"How to behave, in plain words."`
	Greeting     Greeting     `json:"greeting" doc:"How a conversation begins."`
	Closing      Words        `json:"closing" doc:"What it says at the end, by language."`
	Knowledge    Knowledge    `json:"knowledge" doc:"The packs to answer from, and how."`
	Goals        []Goal       `json:"goals" maxItems:"20" doc:"What to find out or to bring about, in order."`
	Guardrails   []Guardrail  `json:"guardrails" maxItems:"20" doc:"Rules that are kept whatever is asked."`
	Tools        []Tool       `json:"tools" maxItems:"20" doc:"What it can do besides talking."`
	Model        Model        `json:"model" doc:"What writes the answers."`
	Conversation Conversation `json:"conversation" doc:"How turns are taken."`
	Settings     Settings     `json:"settings" doc:"The language and the manner of the voice."`
	Privacy      Privacy      `json:"privacy" doc:"What is kept of conversations."`
	Limits       Limits       `json:"limits" doc:"Bounds on the persona's sessions."`
	Disclosure   Disclosure   `json:"disclosure" doc:"How people are told that they talk with an AI."`
}

// Greeting is how a conversation begins.
type Greeting struct {
	Mode string `json:"mode" enum:"fixed,generated,none" doc:"fixed says the text, generated has the model write it, none waits for the user."`
	Text Words  `json:"text" doc:"The words of a fixed greeting, by language."`
}

// Knowledge is what the persona answers from.
type Knowledge struct {
	BaseIDs []id.KnowledgeBase `json:"baseIds" maxItems:"20" doc:"The packs to answer from; empty for none."`
	// Mode bounds what a connected model may say; the built-in answers are always strict.
	Mode string `json:"mode" enum:"strict,prefer,open" doc:"What a connected model may say; the built-in answers are always strict. Every sentence of a model's is checked before it is said: its numbers, prices, weekdays, times, names and addresses must stand in the passages that it was given or in the persona's instructions (a name, a number or a day may be the visitor's own), and a passage must hold what else it says. strict: what is not supported is held back, except courtesies and questions; where nothing is left, the built-in engine answers. prefer: the model may add what is generally known, and the answer is then marked (grounded is false); held back are unsupported prices, times, telephone numbers and addresses, and what names a passage that does not support it. open: nothing is held back, and what is not supported is marked."`
	// MinScore is the support, 0 to 1, below which an answer is not given.
	MinScore  float64 `json:"minScore" minimum:"0" maximum:"1" doc:"How well passages must support an answer for it to be given, from 0 to 1."`
	Cite      bool    `json:"cite" doc:"Whether answers name their documents."`
	Retrieval string  `json:"retrieval" enum:"fast,balanced,thorough" doc:"How hard to look: fast answers sooner, thorough finds more."`
	// Synonyms are words of the organization's own, beside those that every persona knows.
	Synonyms Synonyms `json:"synonyms" maxItems:"100" doc:"Words that mean the same here, such as an abbreviation or a nickname and what it stands for; questions with one find texts with another. The list takes the place of the one before."`
}

// Synonyms are groups of words that mean the same; nil is written as an empty list.
type Synonyms []SynonymGroup

// SynonymGroup is a group of words that mean the same.
type SynonymGroup struct {
	Words []string `json:"words" given:"always" minItems:"2" maxItems:"8" doc:"Words or phrases of at most 60 characters each, in any language. A word stands in one group only."`
}

// MarshalJSON writes the groups; a definition from before there were any has an empty list.
func (s Synonyms) MarshalJSON() ([]byte, error) { return json.Marshal(whole([]SynonymGroup(s))) }

// Goal is something to find out or to bring about in a conversation.
type Goal struct {
	Key      string   `json:"key" given:"always" pattern:"^[a-z][a-z0-9_]{0,39}$" doc:"The goal's name, which no other goal has: small letters, digits and underscores."`
	Prompt   string   `json:"prompt" given:"always" minLength:"1" maxLength:"1000" doc:"What the avatar asks."`
	Required bool     `json:"required" doc:"Whether it asks again when the question was passed over."`
	Outputs  []string `json:"outputs" maxItems:"10" doc:"Names of what is collected."`
	Next     *string  `json:"next" doc:"The key of the goal that follows."`
	Confirm  string   `json:"confirm" enum:"auto,manual" doc:"auto takes an answer as it is heard, manual reads it back first."`
}

// Guardrail is a rule that the persona keeps whatever it is asked.
type Guardrail struct {
	Key     string  `json:"key" given:"always" pattern:"^[a-z][a-z0-9_]{0,39}$" doc:"The rule's name, which no other rule has: small letters, digits and underscores."`
	Rule    string  `json:"rule" given:"always" minLength:"1" maxLength:"1000" doc:"What it is about. Words and phrases in double quotes are matched as they are."`
	Action  string  `json:"action" given:"always" enum:"refuse,redirect,handoff,end" doc:"What it does when the rule applies: refuse, speak of something else, hand over, or end."`
	Message *string `json:"message" maxLength:"1000" doc:"What it says then; null for words of its own."`
}

// Tool is something the persona can do besides talking.
type Tool struct {
	Kind         string         `json:"kind" given:"always" enum:"lead,booking,handoff,end_session,http,mcp,client" doc:"What it does. A connected model uses tools by itself; the built-in engine uses those of kind lead, booking, handoff and end_session by what visitors say."`
	ConnectionID *id.Connection `json:"connectionId" nullable:"true" doc:"The connection that does it; null for what is built in."`
	Enabled      bool           `json:"enabled" doc:"Whether it may be used."`
	Config       map[string]any `json:"config" doc:"What the kind needs to know, at most 10,000 bytes as JSON. Of kind client: name, description, and optionally title, parameters (a JSON Schema of type object), confirm (never or visitor) and timeoutMs (100 to 30000). Of kind booking: scheduleId, the schedule whose times a connected model books, and optionally bookingKind; without a schedule, who wants an appointment is a lead. Of kind handoff: waitS, after how many seconds a visitor is told that nobody is free and asked how they are reached: 10 to 600, 0 for never, 60 unless given. The others need nothing."`
}

// Model is what writes the answers.
type Model struct {
	// ConnectionID is a connection of kind model; null is the built-in engine,
	// which answers with sentences of the packs.
	ConnectionID *id.Connection `json:"connectionId" nullable:"true" doc:"A connection of kind model; null for the built-in engine, which answers with sentences of the packs."`
	Name         *string        `json:"name" maxLength:"200" doc:"The model to ask of the connection; null for the connection's own."`
	Temperature  float64        `json:"temperature" minimum:"0" maximum:"2" doc:"How freely it writes: 0 is the most predictable."`
	MaxTokens    int64          `json:"maxTokens" minimum:"16" maximum:"8192" doc:"How long an answer may be, in the model's tokens."`
	TimeoutMs    int64          `json:"timeoutMs" minimum:"500" maximum:"60000" doc:"How long to wait for the first sentence of the model's that can be said, in milliseconds, before the built-in engine answers instead; then how long for each next piece. Where nobody may answer instead, it is waited at least as long as the connection allows. Aloud, one moment is asked for after a second."`
}

// Conversation is how turns are taken.
type Conversation struct {
	Patience          string `json:"patience" enum:"low,medium,high" doc:"How long it lets the user think before it answers."`
	Interruptible     string `json:"interruptible" enum:"off,low,medium,high" doc:"How easily the user can interrupt it."`
	MinInterruptWords int64  `json:"minInterruptWords" minimum:"0" maximum:"20" doc:"How many words it takes to interrupt it."`
	EndpointMs        int64  `json:"endpointMs" minimum:"100" maximum:"5000" doc:"How long a pause, in milliseconds, ends the user's turn."`
	Backchannels      bool   `json:"backchannels" doc:"Whether it nods where somebody who speaks for long pauses, to show that it listens."`
	// IdlePromptS and EndAfterSilenceS: zero for never.
	IdlePromptS      int64 `json:"idlePromptS" minimum:"0" maximum:"600" doc:"After how many seconds of silence it asks whether anybody is there; 0 for never."`
	EndAfterSilenceS int64 `json:"endAfterSilenceS" minimum:"0" maximum:"1800" doc:"After how many seconds of silence it ends the conversation; 0 for never."`
	PushToTalk       bool  `json:"pushToTalk" doc:"Whether the user holds a button to speak."`
	MaxTurnS         int64 `json:"maxTurnS" minimum:"5" maximum:"300" doc:"How long one of its turns may be, in seconds."`
}

// Settings are the language and the voice (spec, Languages).
type Settings struct {
	Language string  `json:"language" doc:"By code or name; kept as a code."`
	Accent   *string `json:"accent" doc:"The accent of English, by a key of GET /languages; null for the voice's own. The service's own voices read English without it."`
	// Engine and GlobalVoice follow from the voice. They could be set on 2026-07-08.
	Engine             string   `json:"engine" enum:"premier,global" readOnly:"true" doc:"That of the voice."`
	GlobalVoice        bool     `json:"globalVoice" readOnly:"true" doc:"Whether the voice is of the global engine; it follows from the voice."`
	Speed              float64  `json:"speed" minimum:"0.5" maximum:"2" doc:"How fast it speaks; 1 is the voice's natural pace."`
	AutoDetectLanguage bool     `json:"autoDetectLanguage" doc:"Whether it goes on in the language that the user speaks."`
	Languages          []string `json:"languages" maxItems:"50" doc:"Those a conversation may switch to."`
	// Pronunciations come before the voice's own.
	Pronunciations Pronunciations `json:"pronunciations" maxItems:"200" doc:"How the persona says particular words, such as a name, whatever its voice. The list takes the place of the one before."`
}

// Pronunciations are how particular words are said; nil is written as an empty list.
type Pronunciations []Pronunciation

// Pronunciation is how a word is said in a language.
type Pronunciation struct {
	Text     string `json:"text" given:"always" minLength:"1" maxLength:"100" doc:"What is written, to be said in another way: whole words, in capital or small letters."`
	Say      string `json:"say" given:"always" minLength:"1" maxLength:"200" doc:"How to say it, spelled as it sounds."`
	Language string `json:"language" given:"always" minLength:"1" maxLength:"100" doc:"By code or name; kept as a code."`
}

// MarshalJSON writes the list; a definition from before there were any has an empty one.
func (p Pronunciations) MarshalJSON() ([]byte, error) { return json.Marshal(whole([]Pronunciation(p))) }

// Of are those of a language.
func (p Pronunciations) Of(code string) (all []speaker.Pronunciation) {
	for _, one := range p {
		if one.Language == code {
			all = append(all, speaker.Pronunciation{Text: one.Text, Say: one.Say})
		}
	}
	return all
}

// Privacy is what is kept of conversations.
type Privacy struct {
	RetainTranscriptDays *int64   `json:"retainTranscriptDays" minimum:"0" maximum:"3650" doc:"For how many days words are kept; null for as long as the organization's setting says."`
	Memory               string   `json:"memory" enum:"off,person" doc:"person remembers people from one session to the next, off forgets them."`
	Redact               []string `json:"redact" maxItems:"20" doc:"What is blotted out of transcripts: email, phone, card, or a word."`
}

// Limits bound the persona's sessions.
type Limits struct {
	MaxSessionS   *int64 `json:"maxSessionS" minimum:"30" maximum:"7200" doc:"How long a session may last, in seconds; null for what the plan allows."`
	DailySessions *int64 `json:"dailySessions" minimum:"1" doc:"How many sessions may start in a day; null for no limit."`
}

// Disclosure is how people are told that they talk with an AI.
type Disclosure struct {
	Text   Words `json:"text" doc:"By language."`
	Spoken bool  `json:"spoken" doc:"Whether it is said aloud too, at the beginning."`
}
