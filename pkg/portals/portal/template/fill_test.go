package template_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/portals/portal/template"
)

func TestFilled(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		answers map[string]string
		want    string
	}{
		"no placeholder":           {"Hello.", nil, "Hello."},
		"an answer":                {"At {{purpose}}.", map[string]string{"purpose": "home"}, "At home."},
		"typed over two lines":     {"At {{purpose}}.", map[string]string{"purpose": " my \n home "}, "At my home."},
		"no answer":                {"One.\nAt {{purpose}}.\nTwo.", nil, "One.\nTwo."},
		"an empty answer":          {"One.\nAt {{purpose}}.", map[string]string{"purpose": " "}, "One.\n"},
		"what is said otherwise":   {"At {{purpose|our place}}.", nil, "At our place."},
		"not needed":               {"At {{purpose|our place}}.", map[string]string{"purpose": "home"}, "At home."},
		"an answer is not filled":  {"At {{purpose}}.", map[string]string{"purpose": "{{purpose}}"}, "At {{purpose}}."},
		"one of two in a line":     {"At {{purpose|home}}, {{purpose}}.", nil, ""},
		"answers to nothing asked": {"Hello.", map[string]string{"else": "x"}, "Hello."},
	} {
		t.Run(name, func(t *testing.T) {
			made := template.Template{Languages: []string{"en"}}
			made.Definition.Pages.Welcome = map[string]string{"en": c.text}
			filled := made.Filled(c.answers)
			require.Equal(t, c.want, filled.Definition.Pages.Welcome["en"])
			require.Equal(t, c.text, made.Definition.Pages.Welcome["en"], "the template is not changed")
			require.Nil(t, filled.Persona.Definition)
		})
	}
}

func TestPlaceholderOfNoQuestion(t *testing.T) {
	good, err := os.ReadFile("templates/blank.yaml")
	require.NoError(t, err)
	text := strings.Replace(string(good), "en: Ask us anything.", `en: "Ask {{nobody}} anything."`, 1)
	_, err = template.Parse(fstest.MapFS{"blank.yaml": {Data: []byte(text)}, "blank.svg": {Data: []byte("<svg/>")}})
	require.ErrorContains(t, err, "{{nobody}}")
}
