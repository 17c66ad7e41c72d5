// Package widget is what websites show of a persona (spec, Widget): how it
// looks, where it may be shown and what it offers visitors.
package widget

import "visavis.dev/pkg/language"

// Definition is how a widget looks and behaves. It is kept as JSON in the form
// that the API shows; the tags bound it there.
type Definition struct {
	Mode           string   `json:"mode" enum:"bubble,inline,fullscreen,orb"`
	Placement      string   `json:"placement" enum:"bottom_right,bottom_left,top_right,top_left,center"`
	Channels       []string `json:"channels" minItems:"1" maxItems:"3" enum:"video,voice,chat"`
	DefaultChannel string   `json:"defaultChannel" enum:"video,voice,chat"`
	// AllowedOrigins are those of the pages that may show it; none means no page.
	AllowedOrigins      []string   `json:"allowedOrigins" maxItems:"50" doc:"https://example.com, https://*.example.com for every host below it, or http://localhost with any port. None means nowhere."`
	Languages           []string   `json:"languages" maxItems:"50" doc:"Those a visitor can choose; none means the persona's."`
	Theme               Theme      `json:"theme"`
	Texts               ByLanguage `json:"texts" doc:"By language; what is left out has the widget's own words."`
	AvatarWhenCollapsed bool       `json:"avatarWhenCollapsed"`
	Proactive           Proactive  `json:"proactive"`
	LeadForm            LeadForm   `json:"leadForm"`
	Rating              Rating     `json:"rating"`
	TranscriptVisible   bool       `json:"transcriptVisible"`
	TextInput           bool       `json:"textInput"`
	MicMuteable         bool       `json:"micMuteable"`
	AINotice            bool       `json:"aiNotice" doc:"Whether visitors are told that they talk with an AI. Cannot be false in the EU region."`
	TermsURL            *string    `json:"termsUrl" maxLength:"2048"`
	PrivacyURL          *string    `json:"privacyUrl" maxLength:"2048"`
	Hours               Hours      `json:"hours"`
	Caps                Caps       `json:"caps"`
}

// Theme is how it looks. Colours are of the form #1a2b3c.
type Theme struct {
	Accent     string `json:"accent" pattern:"^#[0-9a-fA-F]{6}$"`
	Background string `json:"background" pattern:"^#[0-9a-fA-F]{6}$"`
	Text       string `json:"text" pattern:"^#[0-9a-fA-F]{6}$"`
	// Radius of corners, in pixels.
	Radius int64  `json:"radius" minimum:"0" maximum:"48"`
	Font   string `json:"font" maxLength:"80" pattern:"^[A-Za-z0-9 ,-]*$" doc:"Families, separated by commas; empty for the page's own."`
	Dark   string `json:"dark" enum:"auto,on,off"`
}

// ByLanguage are texts by the language's code. In a patch a language may be
// named in any way.
type ByLanguage map[string]Texts

// Key makes a key of what a patch has for it (package patch).
func (ByLanguage) Key(name string) string { return language.Key(name) }

// Texts are a widget's words in a language; null for its own.
type Texts struct {
	Title       *string `json:"title" maxLength:"80"`
	Greeting    *string `json:"greeting" maxLength:"300"`
	Start       *string `json:"start" maxLength:"40"`
	End         *string `json:"end" maxLength:"40"`
	Consent     *string `json:"consent" maxLength:"1000"`
	Placeholder *string `json:"placeholder" maxLength:"80"`
}

// Proactive is when it speaks up by itself; null for never.
type Proactive struct {
	AfterS        *int64   `json:"afterS" minimum:"1" maximum:"3600"`
	ScrollPercent *int64   `json:"scrollPercent" minimum:"1" maximum:"100"`
	URLs          []string `json:"urls" maxItems:"20" doc:"Paths of the pages where it does, with * for any part: /pricing*. None means every page."`
}

// LeadForm is what visitors are asked to leave.
type LeadForm struct {
	AskBefore bool     `json:"askBefore" doc:"Before the conversation, not in it."`
	Fields    []string `json:"fields" maxItems:"4" enum:"name,email,phone,company"`
	Required  []string `json:"required" maxItems:"4" enum:"name,email,phone,company"`
}

// Rating is whether and how visitors rate a conversation.
type Rating struct {
	Mode string `json:"mode" enum:"off,end,during"`
	// Scale: 2 is thumbs, 5 is stars.
	Scale int64 `json:"scale" enum:"2,5"`
}

// Hours are when it can be talked with.
type Hours struct {
	Timezone string `json:"timezone" minLength:"1" maxLength:"64" doc:"An IANA time zone, such as Europe/Berlin."`
	Open     []Open `json:"open" maxItems:"50" doc:"None means always."`
}

// Open is a time of the week.
type Open struct {
	Day  string `json:"day" given:"always" enum:"monday,tuesday,wednesday,thursday,friday,saturday,sunday"`
	From string `json:"from" given:"always" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$"`
	To   string `json:"to" given:"always" pattern:"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$" doc:"Later on the same day; 24:00 is its end."`
}

// Caps bound what visitors use; null for what the plan allows.
type Caps struct {
	MaxSessionS              *int64 `json:"maxSessionS" minimum:"30" maximum:"7200"`
	SessionsPerVisitorPerDay *int64 `json:"sessionsPerVisitorPerDay" minimum:"1" maximum:"1000"`
}

// Defaults is a widget whose maker says nothing.
func Defaults() Definition {
	return Definition{
		Mode: "bubble", Placement: "bottom_right", Channels: []string{"video", "voice", "chat"}, DefaultChannel: "video",
		Theme:               Theme{Accent: "#3355dd", Background: "#ffffff", Text: "#1b1f29", Radius: 16, Dark: "auto"},
		AvatarWhenCollapsed: true, Rating: Rating{Mode: "end", Scale: 5},
		TranscriptVisible: true, TextInput: true, MicMuteable: true, AINotice: true, Hours: Hours{Timezone: "UTC"},
	}
}
