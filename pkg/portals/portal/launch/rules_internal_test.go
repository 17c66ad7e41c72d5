package launch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/golive"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/artwork"
	"visavis.dev/pkg/portals/subject"
)

// good is a portal that keeps every rule.
func good() *Candidate {
	d := portal.Defaults()
	d.Languages, d.DefaultLanguage = []string{"en", "de"}, "en"
	words := func() language.Words { return language.Words{"en": "Welcome", "de": "Willkommen"} }
	d.Pages = portal.Pages{Title: words(), Welcome: words(), Footer: words()}
	d.Privacy.PrivacyURL, d.Privacy.TermsURL = new("https://example.com/privacy"), new("https://example.com/terms")
	return &Candidate{
		Portal: portal.Portal{Kind: portal.Learning, Definition: d}, Region: "eu", Doors: []string{"visitors"},
		Persona:   &persona.Persona{Name: "Mira", Definition: persona.Definition{Greeting: persona.Greeting{Mode: persona.GreetFixed, Text: words()}}},
		Languages: []string{"de", "en"}, Documents: 1,
	}
}

func fields(found []golive.Finding) []string {
	names := []string{}
	for _, f := range found {
		names = append(names, f.Field)
	}
	return names
}

func TestRules(t *testing.T) {
	type list = []string
	lesson := Taught{Content: subject.Content{Intro: language.Words{"en": "Knots"}}}
	for name, c := range map[string]struct {
		change             func(*Candidate)
		problems, warnings list
	}{
		"good":             {func(*Candidate) {}, list{}, list{}},
		"a logo unfetched": {func(c *Candidate) { c.Portal.Definition.Brand.LogoURL = new("https://a.example.com") }, list{}, list{"brand.logoUrl"}},
		"a logo that fails": {func(c *Candidate) {
			c.Portal.Definition.Brand.LogoURL = new("https://a.example.com")
			c.Pictures = artwork.ByURL{"https://a.example.com": {Failure: "the server answered with status 404"}}
		}, list{}, list{"brand.logoUrl"}},
		"a logo of before": {func(c *Candidate) {
			c.Portal.Definition.Brand.LogoURL = new("https://a.example.com")
			c.Pictures = artwork.ByURL{"https://a.example.com": {File: id.NewFile(), Failure: "the request took too long"}}
		}, list{}, list{"brand.logoUrl"}},
		"a logo that is there": {func(c *Candidate) {
			c.Portal.Definition.Brand.LogoURL = new("https://a.example.com")
			c.Pictures = artwork.ByURL{"https://a.example.com": {File: id.NewFile()}}
		}, list{}, list{}},
		"nobody":            {func(c *Candidate) { c.Persona = nil }, list{"personaId"}, list{}},
		"a face underway":   {func(c *Candidate) { c.Startable = &persona.FaceNotReadyError{} }, list{"personaId"}, list{}},
		"a duo not live":    {func(c *Candidate) { c.Startable = &persona.DuoNotLiveError{} }, list{"personaId"}, list{}},
		"no consent":        {func(c *Candidate) { c.Startable = persona.ErrConsentWithdrawn }, list{"personaId"}, list{}},
		"no voice":          {func(c *Candidate) { c.Startable = persona.ErrVoiceNotReady }, list{"personaId"}, list{}},
		"a face that fails": {func(c *Candidate) { c.Startable = persona.ErrPaused }, list{"personaId"}, list{}},
		"mute in German":    {func(c *Candidate) { c.Languages = list{"en"} }, list{"languages[1]"}, list{}},
		"no German hello": {
			func(c *Candidate) { delete(c.Persona.Definition.Greeting.Text, "de") }, list{"persona.greeting.text.de"}, list{},
		},
		"a hello of its own": {func(c *Candidate) {
			c.Persona.Definition.Greeting = persona.Greeting{Mode: persona.GreetGenerated}
		}, list{}, list{}},
		"a broken connection": {func(c *Candidate) { c.Failing = list{"Model"} }, list{"personaId"}, list{}},
		"nothing to say":      {func(c *Candidate) { c.Documents = 0 }, list{"knowledgeBaseIds"}, list{}},
		"only a subject":      {func(c *Candidate) { c.Documents, c.Subjects = 0, []Taught{lesson} }, list{}, list{}},
		"an empty subject":    {func(c *Candidate) { c.Documents, c.Subjects = 0, []Taught{{}} }, list{"knowledgeBaseIds"}, list{}},
		"a blank title":       {func(c *Candidate) { c.Portal.Definition.Pages.Title["de"] = " " }, list{"pages.title.de"}, list{}},
		"no German welcome":   {func(c *Candidate) { delete(c.Portal.Definition.Pages.Welcome, "de") }, list{"pages.welcome.de"}, list{}},
		"no German footer":    {func(c *Candidate) { delete(c.Portal.Definition.Pages.Footer, "de") }, list{}, list{"pages.footer.de"}},
		"no footer":           {func(c *Candidate) { c.Portal.Definition.Pages.Footer = nil }, list{}, list{}},
		"no notice":           {func(c *Candidate) { c.Portal.Definition.Privacy.AINotice = false }, list{"privacy.aiNotice"}, list{}},
		"no notice elsewhere": {func(c *Candidate) {
			c.Portal.Definition.Privacy.AINotice, c.Region = false, "us"
		}, list{}, list{"privacy.aiNotice"}},
		"no privacy link": {func(c *Candidate) { c.Portal.Definition.Privacy.PrivacyURL = nil }, list{"privacy.privacyUrl"}, list{}},
		"none for members": {func(c *Candidate) {
			c.Portal.Definition.Privacy.PrivacyURL, c.Doors = nil, list{"sso"}
		}, list{"privacy.privacyUrl"}, list{}},
		"none for candidates": {func(c *Candidate) {
			c.Portal.Definition.Privacy.PrivacyURL, c.Doors, c.Portal.Kind = nil, list{"candidates"}, portal.Hiring
		}, list{"privacy.privacyUrl"}, list{}},
		"no terms":       {func(c *Candidate) { c.Portal.Definition.Privacy.TermsURL = nil }, list{}, list{"privacy.termsUrl"}},
		"no door":        {func(c *Candidate) { c.Doors = nil }, list{"doors"}, list{}},
		"young learners": {func(c *Candidate) { c.Portal.Definition.Audience = "learners" }, list{"guardianConsentUnder"}, list{}},
		"grown learners": {func(c *Candidate) {
			c.Portal.Definition.Audience, c.Portal.Definition.MinAge = "learners", new(int64(16))
		}, list{}, list{}},
		"guarded learners": {func(c *Candidate) {
			c.Portal.Definition.Audience, c.Portal.Definition.GuardianConsentUnder = "learners", new(int64(16))
		}, list{}, list{}},
		"guarded from nobody": {func(c *Candidate) {
			c.Portal.Definition.MinAge, c.Portal.Definition.GuardianConsentUnder = new(int64(18)), new(int64(16))
		}, list{}, list{"guardianConsentUnder"}},
		"a bad subject": {func(c *Candidate) {
			var r golive.Report
			r.Forbid("content.intro.de", "Write it.")
			r.Warn("objectives[0].text.de", "Write it.")
			c.Subjects = []Taught{lesson, {Report: r}}
		}, list{"subjects[1].content.intro.de"}, list{"subjects[1].objectives[0].text.de"}},
	} {
		t.Run(name, func(t *testing.T) {
			candidate := good()
			c.change(candidate)
			r := golive.Check(candidate, rules, time.Time{})
			require.Equal(t, c.problems, fields(r.Problems))
			require.Equal(t, c.warnings, fields(r.Warnings))
		})
	}
}
