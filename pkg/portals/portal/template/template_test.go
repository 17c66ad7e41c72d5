package template_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/portals/portal/template"
)

func TestGallery(t *testing.T) {
	g, err := template.Load()
	require.NoError(t, err)
	require.NotEmpty(t, g.Templates())
	for _, made := range g.Templates() {
		t.Run(made.Key, func(t *testing.T) {
			found, ok := g.Find(made.Key)
			require.True(t, ok)
			require.Equal(t, made, found)
			picture, ok := g.Picture(made.Key)
			require.True(t, ok)
			requireDrawing(t, picture)
		})
	}
	_, ok := g.Find("none")
	require.False(t, ok)
}

// requireDrawing: a picture is shown on pages, so it is well formed, asks nobody
// for anything and runs nothing.
func requireDrawing(t *testing.T, picture []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(picture))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		if element, ok := token.(xml.StartElement); ok {
			require.NotContains(t, []string{"script", "foreignObject", "image", "use", "a", "style"}, element.Name.Local)
			for _, a := range element.Attr {
				require.False(t, strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href", "%s has %s", element.Name.Local, a.Name.Local)
			}
		}
	}
}

func TestBuild(t *testing.T) {
	g, err := template.Load()
	require.NoError(t, err)
	made, ok := g.Find("blank")
	require.True(t, ok)
	studio := voice.Studio()
	v := studio[slices.IndexFunc(studio, func(v voice.Voice) bool {
		return slices.Contains(v.Languages, "de") && slices.Contains(v.Languages, "nl") && slices.Contains(v.Languages, "en")
	})]

	d := made.Portal([]string{"de", "nl"})
	require.Equal(t, "de", d.DefaultLanguage)
	require.True(t, d.Privacy.AINotice, "what is left out has its default")
	require.Equal(t, map[string]string{"de": "Willkommen"}, map[string]string(d.Pages.Title))
	p, err := made.Speaker(v, []string{"de", "nl"})
	require.NoError(t, err)
	require.Contains(t, p.Instructions, "Beantworte")
	require.Equal(t, []string{"de", "nl"}, p.Settings.Languages)
	require.True(t, p.Settings.AutoDetectLanguage)
	require.Equal(t, "Begleitung", made.SpeakerName("de"))

	p, err = made.Speaker(v, []string{"nl", "en"})
	require.NoError(t, err)
	require.Contains(t, p.Instructions, "Answer what", "what is not there in a language is in the template's first")
	require.Equal(t, "Guide", made.SpeakerName("nl"))

	p, err = made.Speaker(v, []string{"nl"})
	require.NoError(t, err)
	require.False(t, p.Settings.AutoDetectLanguage, "there is no other language to go on in")
}

func TestBadTemplates(t *testing.T) {
	good, err := os.ReadFile("templates/blank.yaml")
	require.NoError(t, err)
	parse := func(text string) error {
		_, err := template.Parse(fstest.MapFS{"blank.yaml": {Data: []byte(text)}, "blank.svg": {Data: []byte("<svg/>")}})
		return err
	}
	require.NoError(t, parse(string(good)))
	for name, c := range map[string]struct{ from, to, says string }{
		"another key":        {"key: blank", "key: other", "its key"},
		"an unknown field":   {"key: blank", "key: blank\nkeys: 1", "unknown field"},
		"an unknown kind":    {"kind: custom", "kind: zoo", "kind"},
		"a text too few":     {"name: {en: Guide, de: Begleitung}", "name: {en: Guide}", "persona.name is missing in de"},
		"a text too many":    {"name: {en: Guide, de: Begleitung}", "name: {en: Guide, de: Begleitung, fr: Guide}", "none of languages"},
		"a strange language": {"languages: [en, de]", "languages: [en, xx]", `no language "xx"`},
		"no language":        {"languages: [en, de]", "languages: []", "languages are missing"},
		"a bad question":     {"type: long_text", "type: essay", "questions[0]"},
		"an insecure link":   {"audience: visitors", "audience: visitors\n  privacy: {privacyUrl: http://example.com}", "definition"},
		"a goal to nowhere":  {"definition:\n", "  goals: [{key: a, prompt: {en: Why so, de: Warum}, next: b}]\ndefinition:\n", "goals[0].next"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(string(good), c.from, c.to, 1)
			require.NotEqual(t, string(good), changed)
			require.ErrorContains(t, parse(changed), c.says)
		})
	}
	_, err = template.Parse(fstest.MapFS{"blank.yaml": {Data: good}})
	require.ErrorContains(t, err, "no picture")
}
