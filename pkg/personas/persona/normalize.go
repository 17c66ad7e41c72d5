package persona

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/personas/tool"
	"visavis.dev/pkg/personas/voice"
)

func invalid(field, format string, args ...any) error {
	return errdefs.InvalidField(field, format, args...)
}

const (
	// maxWords bounds a text that is said, in characters.
	maxWords = 2000
	// maxConfig bounds a tool's settings, in bytes of JSON.
	maxConfig = 10_000
	// maxRedact and maxOutput bound names, in characters.
	maxRedact = 100
	maxOutput = 40
)

// Normalize answers the definition as it is kept with a voice: languages by their
// codes, what follows from the voice, and words in the persona's own language.
// d is not changed. The error is an [errdefs.Invalid]; the bounds in Definition's tags
// are for whoever takes input to keep.
func (d *Definition) Normalize(v voice.Voice) (Definition, error) {
	normalized := *d
	for _, rule := range []func(*Definition, voice.Voice) error{
		(*Definition).normalizeSettings, (*Definition).normalizeTexts, (*Definition).normalizeWords,
		(*Definition).normalizeGoals, (*Definition).checkGuardrails, (*Definition).normalizeSynonyms, (*Definition).normalizeTools, (*Definition).checkRest,
	} {
		if err := rule(&normalized, v); err != nil {
			return normalized, err
		}
	}
	normalized.Guardrails = whole(d.Guardrails)
	normalized.Knowledge.BaseIDs, normalized.Privacy.Redact = once(d.Knowledge.BaseIDs), whole(d.Privacy.Redact)
	return normalized, nil
}

// whole is a list that is not nil.
func whole[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// once is the items of a list, each in its first place.
func once[T comparable](list []T) []T {
	kept := make([]T, 0, len(list))
	for _, item := range list {
		if !slices.Contains(kept, item) {
			kept = append(kept, item)
		}
	}
	return kept
}

// normalizeSettings: any voice speaks any language in its list, and decides the
// engine (spec, Languages).
func (d *Definition) normalizeSettings(v voice.Voice) error {
	s := &d.Settings
	var err error
	if s.Language, err = spoken("settings.language", s.Language, v); err != nil {
		return err
	}
	codes := make([]string, len(s.Languages))
	for i, asked := range s.Languages {
		if codes[i], err = spoken(fmt.Sprintf("settings.languages[%d]", i), asked, v); err != nil {
			return err
		}
	}
	s.Languages = once(codes)
	if s.Accent != nil && !slices.ContainsFunc(language.Accents(), func(a language.Accent) bool { return a.Key == *s.Accent }) {
		return invalid("settings.accent", "is not an accent; GET /languages lists them")
	}
	if s.Speed < v.SpeedMin || s.Speed > v.SpeedMax {
		return invalid("settings.speed", "must be %g to %g with this voice", v.SpeedMin, v.SpeedMax)
	}
	if err := s.normalizePronunciations(); err != nil {
		return err
	}
	s.Engine, s.GlobalVoice = v.Engine, v.Engine == language.Global
	return nil
}

// The bounds of pronunciations: of the list, and of the characters of what is written and of what is said.
const (
	maxPronunciations = 200
	maxPronounced     = 100
	maxSaid           = 200
)

// normalizePronunciations: one for a text in a language, in one of the catalogue's.
func (s *Settings) normalizePronunciations() error {
	if len(s.Pronunciations) > maxPronunciations {
		return invalid("settings.pronunciations", "must have at most %d entries", maxPronunciations)
	}
	kept := make(Pronunciations, len(s.Pronunciations))
	before := map[Pronunciation]int{}
	for i, p := range s.Pronunciations {
		field := fmt.Sprintf("settings.pronunciations[%d]", i)
		spoken, ok := language.Lookup(p.Language)
		p.Text, p.Say, p.Language = strings.TrimSpace(p.Text), strings.TrimSpace(p.Say), spoken.Code
		if !ok {
			return invalid(field+".language", "is not a language; GET /languages lists them")
		}
		if n := utf8.RuneCountInString(p.Text); n == 0 || n > maxPronounced {
			return invalid(field+".text", "must have 1 to %d characters", maxPronounced)
		}
		if n := utf8.RuneCountInString(p.Say); n == 0 || n > maxSaid {
			return invalid(field+".say", "must have 1 to %d characters", maxSaid)
		}
		key := Pronunciation{Text: strings.ToLower(p.Text), Language: p.Language}
		if other, twice := before[key]; twice {
			return invalid(field+".text", "is that of settings.pronunciations[%d]", other)
		}
		before[key], kept[i] = i, p
	}
	s.Pronunciations = kept
	return nil
}

// spoken finds a language that a voice speaks by its code or name.
func spoken(field, asked string, v voice.Voice) (code string, err error) {
	found, ok := language.Lookup(asked)
	if !ok {
		return "", invalid(field, "is not a language; GET /languages lists them")
	}
	if !slices.Contains(v.Languages, found.Code) {
		return "", invalid(field, "is %s, which the voice %s does not speak", found.Name, v.Name)
	}
	return found.Code, nil
}

func (d *Definition) normalizeTexts(voice.Voice) error {
	for _, t := range []struct {
		field string
		words *Words
	}{
		{"greeting.text", &d.Greeting.Text}, {"closing", &d.Closing}, {"disclosure.text", &d.Disclosure.Text},
	} {
		// The words that are added later are not added to what d shares.
		if *t.words = maps.Clone(*t.words); *t.words == nil {
			*t.words = Words{}
		}
		if err := checkWords(t.field, *t.words); err != nil {
			return err
		}
	}
	return nil
}

func checkWords(field string, w Words) error {
	for _, code := range slices.Sorted(maps.Keys(w)) {
		if _, ok := language.Lookup(code); !ok {
			return invalid(field, "has a key that is not a language; GET /languages lists them")
		}
		if text := w[code]; strings.TrimSpace(text) == "" || utf8.RuneCountInString(text) > maxWords {
			return invalid(field+"."+code, "must have 1 to %d characters", maxWords)
		}
	}
	return nil
}

// normalizeWords adds the words that a persona cannot do without in its language.
func (d *Definition) normalizeWords(voice.Voice) error {
	own := d.Settings.Language
	known, ok := words[own]
	if _, said := d.Greeting.Text[own]; d.Greeting.Mode == GreetFixed && !said {
		if !ok {
			return invalid("greeting.text", "needs the words of a fixed greeting in the persona's language, %s", own)
		}
		d.Greeting.Text[own] = known.greeting
	}
	if _, said := d.Disclosure.Text[own]; said {
		return nil
	}
	if ok {
		d.Disclosure.Text[own] = known.disclosure
	} else if _, said := d.Disclosure.Text[fallback]; !said {
		d.Disclosure.Text[fallback] = words[fallback].disclosure
	}
	return nil
}

// normalizeGoals: every goal has its own key, and following them comes to an end.
func (d *Definition) normalizeGoals(voice.Voice) error {
	d.Goals = whole(slices.Clone(d.Goals))
	at := map[string]int{}
	for i, g := range d.Goals {
		d.Goals[i].Outputs = whole(g.Outputs)
		if _, twice := at[g.Key]; twice {
			return invalid(fmt.Sprintf("goals[%d].key", i), "is another goal's too")
		}
		at[g.Key] = i
		for j, name := range g.Outputs {
			if n := utf8.RuneCountInString(name); n == 0 || n > maxOutput {
				return invalid(fmt.Sprintf("goals[%d].outputs[%d]", i, j), "must have 1 to %d characters", maxOutput)
			}
		}
	}
	for i, g := range d.Goals {
		for steps := 0; g.Next != nil; steps++ {
			next, ok := at[*g.Next]
			if !ok {
				return invalid(fmt.Sprintf("goals[%d].next", at[g.Key]), "is not the key of a goal")
			}
			if steps > len(d.Goals) {
				return invalid(fmt.Sprintf("goals[%d].next", i), "leads in a circle")
			}
			g = d.Goals[next]
		}
	}
	return nil
}

func (d *Definition) checkGuardrails(voice.Voice) error {
	seen := map[string]bool{}
	for i, g := range d.Guardrails {
		if seen[g.Key] {
			return invalid(fmt.Sprintf("guardrails[%d].key", i), "is another guardrail's too")
		}
		seen[g.Key] = true
	}
	return nil
}

// normalizeTools: tools of a customer's own system name its connection, others none; tools of
// the client say what they are.
func (d *Definition) normalizeTools(voice.Voice) error {
	d.Tools = whole(slices.Clone(d.Tools))
	named := map[string]bool{}
	for i, t := range d.Tools {
		field := fmt.Sprintf("tools[%d]", i)
		_, connected := toolConnections[t.Kind]
		switch {
		case connected && t.ConnectionID == nil:
			return invalid(field+".connectionId", "is needed by a tool of kind %s", t.Kind)
		case !connected && t.ConnectionID != nil:
			return invalid(field+".connectionId", "is not for a tool of kind %s", t.Kind)
		}
		if t.Config == nil {
			d.Tools[i].Config = map[string]any{}
		}
		if b, err := json.Marshal(t.Config); err != nil || len(b) > maxConfig {
			return invalid(field+".config", "must have at most %d bytes", maxConfig)
		}
		if check := toolChecks[t.Kind]; check != nil {
			if err := check(t.Config, field); err != nil {
				return err
			}
		}
		if t.Kind != ClientTool {
			continue
		}
		described, err := tool.Read(t.Config)
		if wrong, ok := errors.AsType[*errdefs.Invalid](err); ok {
			return invalid(strings.TrimSuffix(field+".config."+wrong.Field, "."), "%s", wrong.Message)
		}
		if err != nil {
			return err
		}
		if named[described.Name] || slices.Contains(builtinTools, described.Name) {
			return invalid(field+".config.name", "is another tool's too")
		}
		named[described.Name] = true
	}
	return nil
}

// toolChecks check how tools that are built in are configured.
var toolChecks = map[string]func(config map[string]any, field string) error{BookingTool: checkBooking, HandoffTool: checkHandoff}

// checkBooking: a tool booking may name the schedule whose times it books, and a kind of appointment.
func checkBooking(config map[string]any, field string) error {
	if given, ok := config[BookingSchedule]; ok {
		text, _ := given.(string)
		if _, err := id.ParseSchedule(text); err != nil {
			return invalid(field+".config."+BookingSchedule, "is no id of a schedule")
		}
	}
	if given, ok := config[BookingKind]; ok {
		if _, isText := given.(string); !isText {
			return invalid(field+".config."+BookingKind, "is the key of a kind of appointment")
		}
	}
	return nil
}

// What a tool booking is configured by.
const (
	BookingSchedule = "scheduleId"
	BookingKind     = "bookingKind"
)

// HandoffWaitS is what a tool handoff is configured by: after how many seconds a visitor is told
// that nobody is free; 0 for never.
const HandoffWaitS = "waitS"

// The bounds of HandoffWaitS, and what holds unless it is given.
const (
	leastHandoffWaitS = 10
	mostHandoffWaitS  = 600
	handoffWaitS      = 60
)

// HandoffWait is how long a visitor waits for a person before they are told that nobody is free;
// zero for ever.
func (d *Definition) HandoffWait() time.Duration {
	for _, t := range d.Tools {
		if seconds, ok := t.Config[HandoffWaitS].(float64); ok && t.Kind == HandoffTool {
			return time.Duration(seconds) * time.Second
		}
	}
	return handoffWaitS * time.Second
}

// checkHandoff: a tool handoff may say how long a visitor waits.
func checkHandoff(config map[string]any, field string) error {
	given, ok := config[HandoffWaitS]
	if !ok {
		return nil
	}
	seconds, isNumber := given.(float64)
	if !isNumber || seconds != math.Trunc(seconds) || seconds != 0 && (seconds < leastHandoffWaitS || seconds > mostHandoffWaitS) {
		return invalid(field+".config."+HandoffWaitS, "is a whole number of seconds from %d to %d, or 0 for never", leastHandoffWaitS, mostHandoffWaitS)
	}
	return nil
}

// The kinds of tools that are built in, and that of the client's.
const (
	LeadTool       = "lead"
	BookingTool    = "booking"
	HandoffTool    = "handoff"
	EndSessionTool = "end_session"
	ClientTool     = "client"
	HTTPTool       = "http"
)

var builtinTools = []string{LeadTool, BookingTool, HandoffTool, EndSessionTool}

// toolConnections gives the kinds of tools that need a connection its kind.
var toolConnections = map[string]string{HTTPTool: "http", "mcp": "mcp"}

func (d *Definition) checkRest(voice.Voice) error {
	c := d.Conversation
	if c.IdlePromptS > 0 && c.EndAfterSilenceS > 0 && c.EndAfterSilenceS <= c.IdlePromptS {
		return invalid("conversation.endAfterSilenceS", "must be more than idlePromptS, or 0 for never")
	}
	for i, what := range d.Privacy.Redact {
		if n := utf8.RuneCountInString(what); n == 0 || n > maxRedact {
			return invalid(fmt.Sprintf("privacy.redact[%d]", i), "must have 1 to %d characters", maxRedact)
		}
	}
	return nil
}
