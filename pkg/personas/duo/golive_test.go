package duo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/personas/duo"
	"visavis.dev/pkg/personas/face"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
)

func TestProblems(t *testing.T) {
	english := voice.Voice{Name: "Nora", Kind: voice.Builtin, Languages: []string{"en", "de"}}
	thai := voice.Voice{Name: "Som", Kind: voice.Builtin, Languages: []string{"en"}}
	withdrawn := voice.Voice{Name: "Kim", Kind: voice.Custom, Made: voice.Ready, Consent: voice.Consent{State: string(voice.Withdrawn)}, Languages: english.Languages}
	unmade := voice.Voice{Name: "Lee", Kind: voice.Custom, Made: voice.Training, Languages: english.Languages}
	for name, c := range map[string]struct {
		change func(*duo.State)
		fields []string
	}{
		"none":        {func(*duo.State) {}, []string{}},
		"a deleted":   {func(s *duo.State) { s.Hosts[1].Deleted = true }, []string{"hosts[1].avatarId"}},
		"withdrawn":   {func(s *duo.State) { s.Hosts[0].Withdrawn, s.Hosts[0].Face = true, face.Preparing }, []string{"hosts[0].avatarId"}},
		"unprepared":  {func(s *duo.State) { s.Hosts[0].Face = face.Preparing }, []string{"hosts[0].avatarId"}},
		"failed":      {func(s *duo.State) { s.Hosts[1].Face = face.Failed }, []string{"hosts[1].avatarId"}},
		"no voice":    {func(s *duo.State) { s.Hosts[0].Voice = nil }, []string{"hosts[0].voiceId"}},
		"not German":  {func(s *duo.State) { s.Hosts[1].Voice = &thai }, []string{"hosts[1].voiceId"}},
		"no consent":  {func(s *duo.State) { s.Hosts[1].Voice = &withdrawn }, []string{"hosts[1].voiceId"}},
		"not made":    {func(s *duo.State) { s.Hosts[1].Voice = &unmade }, []string{"hosts[1].voiceId"}},
		"no persona":  {func(s *duo.State) { s.Persona = false }, []string{"personaId"}},
		"all of that": {func(s *duo.State) { s.Hosts[0].Deleted, s.Hosts[1].Voice, s.Persona = true, nil, false }, []string{"hosts[0].avatarId", "hosts[1].voiceId", "personaId"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := duo.State{
				Duo: duo.Duo{Languages: []string{"en", "de"}}, Persona: true,
				Hosts: []duo.HostState{{Face: face.Ready, Voice: &english}, {Face: face.Ready, Voice: &english}},
			}
			c.change(&s)
			fields := []string{}
			for _, p := range s.Problems() {
				require.NotEmpty(t, p.Message)
				fields = append(fields, p.Field)
			}
			require.Equal(t, c.fields, fields)
		})
	}
}

func TestNormalize(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*duo.Duo)
		field  string
	}{
		"good":       {func(*duo.Duo) {}, ""},
		"three":      {func(d *duo.Duo) { d.Hosts = append(d.Hosts, d.Hosts[0]) }, "hosts"},
		"nameless":   {func(d *duo.Duo) { d.Hosts[1].Name = "" }, "hosts[1].name"},
		"one seat":   {func(d *duo.Duo) { d.Hosts[1].Seat = duo.Left }, "hosts[1].seat"},
		"two leads":  {func(d *duo.Duo) { d.Hosts[1].Role = duo.Lead }, "hosts[1].role"},
		"speechless": {func(d *duo.Duo) { d.Languages = nil }, "languages"},
		"Dutch":      {func(d *duo.Duo) { d.Languages = []string{"en", "nl"} }, "languages[1]"},
	} {
		t.Run(name, func(t *testing.T) {
			d := duo.Duo{
				Hosts:     []persona.Host{{Seat: duo.Left, Name: "Ada", Role: duo.Lead}, {Seat: duo.Right, Name: "Ben", Role: duo.Partner}},
				Languages: []string{"English", "en", "de"},
			}
			c.change(&d)
			normalized, err := d.Normalize()
			if c.field == "" {
				require.NoError(t, err)
				require.Equal(t, []string{"en", "de"}, normalized.Languages)
				return
			}
			var field *errdefs.Invalid
			require.ErrorAs(t, err, &field)
			require.Equal(t, c.field, field.Field)
		})
	}
}
