package persona_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
)

// find finds a studio voice.
func find(t require.TestingT, key string) voice.Voice {
	studio := voice.Studio()
	i := slices.IndexFunc(studio, func(v voice.Voice) bool { return v.Key == key })
	require.GreaterOrEqual(t, i, 0, "no voice %s", key)
	return studio[i]
}

// What every voice's personas begin with is good, and normalized once for all.
func TestDefaultsOfEveryVoice(t *testing.T) {
	for _, v := range voice.Studio() {
		begun := persona.Defaults(v)
		d, err := begun.Normalize(v)
		require.NoError(t, err, v.Key)
		require.Equal(t, v.PrimaryLanguage, d.Settings.Language)
		require.Equal(t, v.Engine, d.Settings.Engine)
		require.Equal(t, v.Engine == language.Global, d.Settings.GlobalVoice)
		require.NotEmpty(t, d.Disclosure.Text, "article 50")
		if d.Greeting.Mode == persona.GreetFixed {
			require.NotEmpty(t, d.Greeting.Text[v.PrimaryLanguage])
		}
		again, err := d.Normalize(v)
		require.NoError(t, err)
		require.Equal(t, d, again)
	}
}

func TestEveryDuoLanguageHasWords(t *testing.T) {
	v := find(t, "ka-ho")
	for _, l := range language.Catalogue() {
		d := persona.Defaults(v)
		d.Settings.Language, d.Greeting.Mode = l.Code, persona.GreetFixed
		normalized, err := d.Normalize(v)
		if l.Duo {
			require.NoError(t, err, l.Code)
			require.NotEmpty(t, normalized.Greeting.Text[l.Code])
			require.NotEmpty(t, normalized.Disclosure.Text[l.Code])
		} else {
			require.Error(t, err, "%s: there are no words to greet with", l.Code)
		}
	}
}

func TestRules(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*persona.Definition)
		// field is empty for what is allowed.
		field string
	}{
		"nothing":               {func(*persona.Definition) {}, ""},
		"a language by name":    {func(d *persona.Definition) { d.Settings.Language = "French" }, ""},
		"no language":           {func(d *persona.Definition) { d.Settings.Language = "Elvish" }, "settings.language"},
		"one of another engine": {func(d *persona.Definition) { d.Settings.Language = "th" }, "settings.language"},
		"to switch to":          {func(d *persona.Definition) { d.Settings.Languages = []string{"en", "th"} }, "settings.languages[1]"},
		"a pronunciation": {func(d *persona.Definition) {
			d.Settings.Pronunciations = persona.Pronunciations{{Text: "Nguyen", Say: "win", Language: "English"}}
		}, ""},
		"a pronunciation of nothing": {func(d *persona.Definition) {
			d.Settings.Pronunciations = persona.Pronunciations{{Text: " ", Say: "win", Language: "en"}}
		}, "settings.pronunciations[0].text"},
		"a pronunciation in no language": {func(d *persona.Definition) {
			d.Settings.Pronunciations = persona.Pronunciations{{Text: "Nguyen", Say: "win", Language: "Martian"}}
		}, "settings.pronunciations[0].language"},
		"two pronunciations of a word": {func(d *persona.Definition) {
			d.Settings.Pronunciations = persona.Pronunciations{{Text: "Nguyen", Say: "win", Language: "en"}, {Text: "nguyen", Say: "new", Language: "English"}}
		}, "settings.pronunciations[1].text"},
		"an accent":            {func(d *persona.Definition) { d.Settings.Accent = new("french") }, ""},
		"no accent":            {func(d *persona.Definition) { d.Settings.Accent = new("Martian") }, "settings.accent"},
		"too slow":             {func(d *persona.Definition) { d.Settings.Speed = 0.1 }, "settings.speed"},
		"words in no language": {func(d *persona.Definition) { d.Closing = persona.Words{"xx": "x"} }, "closing"},
		"no words":             {func(d *persona.Definition) { d.Greeting.Text = persona.Words{"en": "\t"} }, "greeting.text.en"},
		"goals in a line": {func(d *persona.Definition) {
			d.Goals = []persona.Goal{{Key: "a", Next: new("b")}, {Key: "b"}}
		}, ""},
		"a goal twice":      {func(d *persona.Definition) { d.Goals = []persona.Goal{{Key: "a"}, {Key: "a"}} }, "goals[1].key"},
		"a goal to nowhere": {func(d *persona.Definition) { d.Goals = []persona.Goal{{Key: "a", Next: new("b")}} }, "goals[0].next"},
		"goals in a circle": {func(d *persona.Definition) {
			d.Goals = []persona.Goal{{Key: "a", Next: new("b")}, {Key: "b", Next: new("a")}}
		}, "goals[0].next"},
		"a nameless output":  {func(d *persona.Definition) { d.Goals = []persona.Goal{{Key: "a", Outputs: []string{""}}} }, "goals[0].outputs[0]"},
		"a guardrail twice":  {func(d *persona.Definition) { d.Guardrails = []persona.Guardrail{{Key: "a"}, {Key: "a"}} }, "guardrails[1].key"},
		"a tool":             {func(d *persona.Definition) { d.Tools = []persona.Tool{{Kind: "lead"}} }, ""},
		"an unconnected one": {func(d *persona.Definition) { d.Tools = []persona.Tool{{Kind: "http"}} }, "tools[0].connectionId"},
		"a connected one": {func(d *persona.Definition) {
			d.Tools = []persona.Tool{{Kind: "lead", ConnectionID: new(id.NewConnection())}}
		}, "tools[0].connectionId"},
		"a client's tool": {func(d *persona.Definition) { d.Tools = []persona.Tool{clientTool("show_map"), clientTool("zoom")} }, ""},
		"a client's tool that is not described": {func(d *persona.Definition) {
			d.Tools = []persona.Tool{{Kind: "client"}}
		}, "tools[0].config.name"},
		"a client's tool twice":            {func(d *persona.Definition) { d.Tools = []persona.Tool{clientTool("a"), clientTool("a")} }, "tools[1].config.name"},
		"a client's tool named as our own": {func(d *persona.Definition) { d.Tools = []persona.Tool{clientTool("handoff")} }, "tools[0].config.name"},
		"much to configure": {func(d *persona.Definition) {
			d.Tools = []persona.Tool{{Kind: "lead", Config: map[string]any{"a": string(make([]byte, 10_000))}}}
		}, "tools[0].config"},
		"an early end":              {func(d *persona.Definition) { d.Conversation.EndAfterSilenceS = d.Conversation.IdlePromptS }, "conversation.endAfterSilenceS"},
		"no end":                    {func(d *persona.Definition) { d.Conversation.EndAfterSilenceS = 0 }, ""},
		"synonyms":                  {synonyms([]string{" Rezi ", "Front  Desk"}, []string{"総合受付", "受付"}), ""},
		"one synonym":               {synonyms([]string{"Rezi"}), "knowledge.synonyms[0].words"},
		"nine synonyms":             {synonyms([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}), "knowledge.synonyms[0].words"},
		"a synonym without letters": {synonyms([]string{"Rezi", "…"}), "knowledge.synonyms[0].words[1]"},
		"a long synonym":            {synonyms([]string{"Rezi", strings.Repeat("x", 61)}), "knowledge.synonyms[0].words[1]"},
		"a synonym of two groups":   {synonyms([]string{"Rezi", "desk"}, []string{"Café", "REZI"}), "knowledge.synonyms[1].words[1]"},
		"many groups":               {func(d *persona.Definition) { d.Knowledge.Synonyms = make(persona.Synonyms, 101) }, "knowledge.synonyms"},
		"nothing to hide":           {func(d *persona.Definition) { d.Privacy.Redact = []string{""} }, "privacy.redact[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			v := find(t, "nora")
			d := persona.Defaults(v)
			c.change(&d)
			normalized, err := d.Normalize(v)
			if c.field == "" {
				require.NoError(t, err)
				require.NotNil(t, normalized.Goals)
				return
			}
			var field *errdefs.Invalid
			require.ErrorAs(t, err, &field)
			require.Equal(t, c.field, field.Field)
		})
	}
}

func synonyms(groups ...[]string) func(*persona.Definition) {
	return func(d *persona.Definition) {
		for _, words := range groups {
			d.Knowledge.Synonyms = append(d.Knowledge.Synonyms, persona.SynonymGroup{Words: words})
		}
	}
}

func clientTool(name string) persona.Tool {
	return persona.Tool{Kind: persona.ClientTool, Config: map[string]any{"name": name, "description": "Does it."}}
}

func TestNormalizeSharesNothing(t *testing.T) {
	v := find(t, "nora")
	d := persona.Defaults(v)
	d.Greeting.Text = persona.Words{"de": "Hallo"}
	d.Goals = []persona.Goal{{Key: "a"}}
	_, err := d.Normalize(v)
	require.NoError(t, err)
	require.Equal(t, persona.Words{"de": "Hallo"}, d.Greeting.Text)
	require.Nil(t, d.Goals[0].Outputs)
}
