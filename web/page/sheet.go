package page

import (
	"cmp"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	words "visavis.dev/pkg/base/language"
	"visavis.dev/pkg/portals/portal/published"
)

// sheet is what every page shows; Body is the page's own.
type sheet struct {
	v *view
	// Language and Direction are of the page.
	Language, Direction string
	Title               string
	Brand               phrase
	// Logo is the address of the portal's; empty for none.
	Logo      string
	Languages []choice
	// Notice says that the avatar is an AI; its text is empty where nobody is to be told.
	Notice               phrase
	Footer               phrase
	PrivacyURL, TermsURL string
	// Places are the pages for members; none for others.
	Places []choice
	// Preview is what others show of the page; nil of one that is not to be shared.
	Preview *preview
	// Agent is where the portal's agent is asked; empty where the browser's assistant is offered none.
	Agent string
	// Message is what went wrong.
	Message string
	Body    any
}

// phrase is a customer's text and the language that it is in.
type phrase struct {
	Text      string `json:"text"`
	Language  string `json:"language"`
	Direction string `json:"direction"`
}

// choice is a language to switch to.
type choice struct {
	Code, Name, URL string
	Current         bool
}

// sheet begins a page; title is a key of the strings.
func (v *view) sheet(title string) *sheet {
	d := v.site.Definition
	s := &sheet{
		v: v, Language: v.language, Direction: direction(v.language), Title: v.speech.say(title),
		Brand: v.text(d.Pages.Title), Footer: v.text(d.Pages.Footer), PrivacyURL: pageURL(d.Privacy.PrivacyURL), TermsURL: pageURL(d.Privacy.TermsURL),
	}
	if logo := d.Brand.LogoURL; logo != nil {
		s.Logo = v.pictureAt(*logo)
	}
	if s.Brand.Text == "" {
		s.Brand = phrase{Text: v.site.Name, Direction: "auto"}
	}
	s.Places = v.places()
	if v.offersAgent() {
		s.Agent = strings.TrimSuffix(v.h.PublicURL, "/") + "/v1/agents/" + v.site.Slug
	}
	if d.Privacy.AINotice {
		s.Notice = v.notice()
	}
	if len(d.Languages) > 1 {
		s.Languages = v.choices()
	}
	return s
}

// notice says that who speaks is an AI: in their own words or the page's, rather
// than in another language.
func (v *view) notice() phrase {
	own := v.text(v.site.Speaker.Disclosure)
	if own.Language == v.language || own.Text != "" && !speaks(v.language) {
		return own
	}
	return phrase{v.Say("ai_notice"), v.language, direction(v.language)}
}

// Say is a text of the page's own.
func (v *view) Say(key string, with ...string) string { return v.speech.say(key, with...) }

// text is a customer's text in the page's language, or else in the portal's first.
func (v *view) text(w words.Words) phrase {
	for _, code := range []string{v.language, v.site.Definition.DefaultLanguage} {
		if text := w[code]; text != "" {
			return phrase{text, code, direction(code)}
		}
	}
	return phrase{}
}

// titled is what a subject is called in the page's language.
func (v *view) titled(s *published.Subject) string {
	if title := v.text(s.Content.Title).Text; title != "" {
		return title
	}
	return s.Title
}

// choices are the languages of the portal, by their own names, each with the
// address of this page in it.
func (v *view) choices() []choice {
	made := make([]choice, 0, len(v.site.Definition.Languages))
	path := v.path
	if v.r.Method == http.MethodPost && !isLearning(path) {
		path = "/sign-in" // where the form is that was sent
	}
	for _, code := range v.site.Definition.Languages {
		query := url.Values{languageQuery: {code}}
		if v.about != "" {
			query.Set(inputSubject, v.about)
		}
		if v.checks() && (path == "/sign-in" || path == "/talk") {
			query.Set(inputCheck, "1")
		}
		made = append(made, choice{Code: code, Name: cmp.Or(names()[code], code), URL: v.at(path) + "?" + query.Encode(), Current: code == v.language})
	}
	slices.SortStableFunc(made, func(a, b choice) int { return cmp.Compare(a.Name, b.Name) })
	return made
}

// pageURL is a link of a customer's, or empty where it is none to a web page.
func pageURL(u *string) string {
	if u == nil || !webAddress(*u) {
		return ""
	}
	return *u
}

// Say, Path and what follows are for the templates.

// Say is a text of the page's own.
func (s *sheet) Say(key string, with ...string) string { return s.v.Say(key, with...) }

// Path is the address of a page of the portal.
func (s *sheet) Path(path string) string { return s.v.at(path) }

// About is the address of a page of the portal for a subject; empty for none.
func (s *sheet) About(path, subject string) string {
	if subject == "" {
		return s.v.at(path)
	}
	return s.v.at(path) + "?subject=" + url.QueryEscape(subject)
}

// Spoken says whether conversations are spoken.
func (s *sheet) Spoken() bool { return !s.v.h.Silent }

// Check is About with the wish to check microphone and sound before.
func (s *sheet) Check(path, subject string) string { return checked(s.About(path, subject), true) }

// Asset is the address of a file that pages load.
func (s *sheet) Asset(name string) string { return theAssets().base + name }

// Modules are the addresses of what a script imports, at once and by what it imports.
func (*sheet) Modules(name string) []string {
	a := theAssets()
	addresses := make([]string, 0, len(a.modules[name]))
	for _, each := range a.modules[name] {
		addresses = append(addresses, a.base+each)
	}
	return addresses
}

// Theme is the address of the portal's colours; empty for a page of no portal.
func (s *sheet) Theme() string {
	if s.v.site.Portal.IsZero() {
		return ""
	}
	return s.v.base + s.v.themePath()
}

// Dark is auto, on or off.
func (s *sheet) Dark() string { return cmp.Or(s.v.site.Definition.Brand.Dark, "auto") }

// Portrait is the address of the speaker's picture; empty for none.
func (s *sheet) Portrait() string {
	if s.v.site.Speaker.Avatar.IsZero() {
		return ""
	}
	return s.v.base + portraitPath(s.v.site.Speaker)
}

// portraitPath is where a speaker's picture is within the portal: another face has
// another address.
func portraitPath(s published.Speaker) string { return "/portrait?" + s.Avatar.Bare() }

// Speaker is who speaks.
func (s *sheet) Speaker() string { return s.v.site.Speaker.Name }

// Visit is who is signed in; nil for nobody.
func (s *sheet) Visit() *Visit { return s.v.visit }

// Known says whether there is a portal to go to.
func (s *sheet) Known() bool { return !s.v.site.Portal.IsZero() }

// Markdown is a text as it is shown under a heading of a level.
func (*sheet) Markdown(text string, under int) template.HTML { return markdown(text, under) }

// Plain is a Markdown text without its marks, for a card.
func (*sheet) Plain(text string) string { return plain(text) }

// Stars are the scores of a rating.
func (*sheet) Stars() []string { return []string{"1", "2", "3", "4", "5"} }

// link leads somewhere.
type link struct{ URL, Text string }

// More leads to the next page of a list; nil for none.
func (s *sheet) More(address string) *link {
	if address == "" {
		return nil
	}
	return &link{address, s.Say("more")}
}
