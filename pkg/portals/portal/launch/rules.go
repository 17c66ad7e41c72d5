package launch

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/base/golive"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/artwork"
	"visavis.dev/pkg/portals/widget"
)

// rules are what a portal must keep to be shown to people.
var rules = []golive.Rule[*Candidate]{
	personaCanTalk, personaSpeaks, personaGreets, connectionsWork, somethingToSay, pagesAreWritten,
	aiIsTold, privacyIsTold, minorsAreGuarded, someDoorIsOpen, subjectsAreReady, picturesAreThere, hostIsProven,
}

func personaCanTalk(c *Candidate, r *golive.Report) {
	if c.Persona == nil {
		r.Forbid("personaId", "The persona is gone. Choose who speaks with PUT /portals/{id}/persona.")
		return
	}
	var (
		notReady *persona.FaceNotReadyError
		notLive  *persona.DuoNotLiveError
	)
	switch err := c.Startable; {
	case err == nil:
	case errors.As(err, &notReady):
		r.Forbid("personaId", "The persona's face is still being prepared, which takes about a minute.")
	case errors.As(err, &notLive):
		r.Forbid("personaId", "The persona's duo is not live. Make it live first.")
	case errors.Is(err, persona.ErrConsentWithdrawn):
		r.Forbid("personaId", "The consent that the persona's face or voice rests on was withdrawn. Choose others.")
	case errors.Is(err, persona.ErrVoiceNotReady):
		r.Forbid("personaId", "The persona's voice is still being made, or its making failed.")
	default:
		r.Forbid("personaId", "The persona's face could not be prepared. Choose another one, or the same one again.")
	}
}

// named is a language's name.
func named(code string) string {
	found, _ := language.Lookup(code)
	return found.Name
}

func personaSpeaks(c *Candidate, r *golive.Report) {
	if c.Persona == nil {
		return
	}
	for i, code := range c.Portal.Definition.Languages {
		if !slices.Contains(c.Languages, code) {
			r.Forbid(fmt.Sprintf("languages[%d]", i), fmt.Sprintf("%s does not speak %s. Choose another voice, or take the language out.", c.Persona.Name, named(code)))
		}
	}
}

func personaGreets(c *Candidate, r *golive.Report) {
	if c.Persona == nil || c.Persona.Definition.Greeting.Mode != persona.GreetFixed {
		return
	}
	for _, code := range c.Portal.Definition.Languages {
		if blank(c.Persona.Definition.Greeting.Text, code) {
			r.Forbid("persona.greeting.text."+code, fmt.Sprintf("The persona has no greeting in %s. Write one with PATCH /personas/{id}.", named(code)))
		}
	}
}

// blank says whether a text is missing in a language.
func blank(w language.Words, code string) bool { return strings.TrimSpace(w[code]) == "" }

func connectionsWork(c *Candidate, r *golive.Report) {
	for _, name := range c.Failing {
		r.Forbid("personaId", fmt.Sprintf("The persona's connection %q does not work. Test it with POST /connections/{id}/test.", name))
	}
}

func somethingToSay(c *Candidate, r *golive.Report) {
	if c.Documents > 0 || slices.ContainsFunc(c.Subjects, Taught.hasContent) {
		return
	}
	r.Forbid("knowledgeBaseIds", "There is nothing to talk about: no pack of the portal or of the persona has a document that is ready, and no subject has content.")
}

func (t Taught) hasContent() bool {
	c := t.Content
	return len(c.Sections)+len(c.Questions)+len(c.Intro) > 0 || c.Scenario != nil
}

func pagesAreWritten(c *Candidate, r *golive.Report) {
	pages := c.Portal.Definition.Pages
	for _, code := range c.Portal.Definition.Languages {
		if blank(pages.Title, code) {
			r.Forbid("pages.title."+code, fmt.Sprintf("The page has no title in %s.", named(code)))
		}
		if blank(pages.Welcome, code) {
			r.Forbid("pages.welcome."+code, fmt.Sprintf("The page has no words of welcome in %s.", named(code)))
		}
		if len(pages.Footer) > 0 && blank(pages.Footer, code) {
			r.Warn("pages.footer."+code, fmt.Sprintf("The page's footer is not there in %s.", named(code)))
		}
	}
}

// aiIsTold: article 50 of the EU's AI Act has people told that they talk with an AI.
func aiIsTold(c *Candidate, r *golive.Report) {
	switch {
	case c.Portal.Definition.Privacy.AINotice:
	case c.Region == widget.EU:
		r.Forbid("privacy.aiNotice", "In the EU region people must be told that they talk with an AI.")
	default:
		r.Warn("privacy.aiNotice", "People are not told that they talk with an AI.")
	}
}

func privacyIsTold(c *Candidate, r *golive.Report) {
	p := c.Portal.Definition.Privacy
	if p.PrivacyURL == nil {
		r.Forbid("privacy.privacyUrl", "The page must link to your privacy notice: people are told what becomes of what they say. Set it with PATCH /portals/{id}.")
	}
	if p.TermsURL == nil {
		r.Warn("privacy.termsUrl", "The page does not link to terms of use.")
	}
}

// ofConsent is the age from which nobody in the EU needs a guardian's consent to
// have their data processed (GDPR, article 8).
const ofConsent = 16

func minorsAreGuarded(c *Candidate, r *golive.Report) {
	d := c.Portal.Definition
	youngest := int64(0)
	if d.MinAge != nil {
		youngest = *d.MinAge
	}
	switch {
	case d.GuardianConsentUnder != nil && *d.GuardianConsentUnder <= youngest:
		r.Warn("guardianConsentUnder", "Nobody that young can come in, so no guardian is ever asked.")
	case d.GuardianConsentUnder == nil && d.Audience == "learners" && youngest < ofConsent:
		r.Forbid("guardianConsentUnder", "Learners may be younger than 16: say under which age a guardian must agree, or let nobody in below 16 with minAge.")
	}
}

func someDoorIsOpen(c *Candidate, r *golive.Report) {
	if len(c.Doors) == 0 {
		r.Forbid("doors", "Every door is closed, so nobody could come in. Open one, such as the visitors' with PUT /portals/{id}/doors/visitors.")
	}
}

func subjectsAreReady(c *Candidate, r *golive.Report) {
	for i, t := range c.Subjects {
		r.Add(fmt.Sprintf("subjects[%d].", i), t.Report)
	}
}

// picturesAreThere: a page without its logo shows the portal's name, and one without a
// picture a link to it. Nobody is kept waiting for somebody else's server.
func picturesAreThere(c *Candidate, r *golive.Report) {
	lessons := make([]artwork.Lesson, len(c.Subjects))
	for i, t := range c.Subjects {
		lessons[i] = artwork.Lesson{Subject: t.Subject.ID, Content: t.Content}
	}
	for _, w := range artwork.Wishes(c.Portal.Definition, lessons) {
		switch found, ok := c.Pictures[w.URL]; {
		case !ok:
			r.Warn(w.Field, "The picture was not fetched yet, so the page does not show it. GET /portals/{id}/go-live fetches it.")
		case found.Failure != "" && found.File.IsZero():
			r.Warn(w.Field, fmt.Sprintf("The picture could not be fetched, so the page does not show it: %s.", found.Failure))
		case found.Failure != "":
			r.Warn(w.Field, fmt.Sprintf("The picture could not be fetched again, so the page shows the one of before: %s.", found.Failure))
		}
	}
}

func hostIsProven(c *Candidate, r *golive.Report) {
	if since := c.Portal.HostMissedAt; since != nil && c.Portal.HostProvenAt != nil {
		r.Warn("customDomain", fmt.Sprintf("The record that proves that %s is yours is not found since %s. The page is no longer shown there when it has been missing for a week.",
			c.Portal.Host, since.UTC().Format(time.RFC3339)))
	}
	if p := c.Proof; p != nil {
		switch c.Portal.HostLost {
		case portal.Overtaken:
			r.Warn("customDomain", fmt.Sprintf("Another portal has proven that %s is its organization's, so this one was closed there.", c.Portal.Host))
		case portal.Lapsed:
			r.Warn("customDomain", fmt.Sprintf("The record that proved that %s is yours was missing for a week, so the portal was closed there.", c.Portal.Host))
		}
		r.Warn("customDomain", fmt.Sprintf("Nothing is shown at %s until it is proven to be yours: enter the record %s of type %s with the value %q in its DNS, and publish or check again.",
			c.Portal.Host, p.Name, p.Type, p.Value))
	}
}
