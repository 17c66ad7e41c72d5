// Package widget is what websites show of a persona (spec, Widget): how it
// looks, where it may be shown and what it offers visitors.
package widget

import "visavis.dev/pkg/base/language"

// Definition is how a widget looks and behaves. It is kept as JSON in the form
// that the API shows; the tags bound it there.
type Definition struct {
	Mode           string   `json:"mode" enum:"bubble,inline,fullscreen,orb" doc:"How it sits on the page."`
	Placement      string   `json:"placement" enum:"bottom_right,bottom_left,top_right,top_left,center" doc:"Which corner it is in."`
	Channels       []string `json:"channels" minItems:"1" maxItems:"3" enum:"video,voice,chat" doc:"What visitors can choose: a face, a voice, or text alone."`
	DefaultChannel string   `json:"defaultChannel" enum:"video,voice,chat" doc:"What it begins with; one of channels."`
	// AllowedOrigins are those of the pages that may show it; none means no page.
	AllowedOrigins      []string   `json:"allowedOrigins" maxItems:"50" doc:"https://example.com, https://*.example.com for every host below it, or http://localhost with any port. None means nowhere."`
	Languages           []string   `json:"languages" maxItems:"50" doc:"Those a visitor can choose; none means the persona's."`
	Theme               Theme      `json:"theme" doc:"How it looks."`
	Texts               ByLanguage `json:"texts" doc:"By language; what is left out has the widget's own words."`
	AvatarWhenCollapsed bool       `json:"avatarWhenCollapsed" doc:"Whether the face is seen while the widget is closed."`
	Proactive           Proactive  `json:"proactive" doc:"When it speaks up by itself."`
	LeadForm            LeadForm   `json:"leadForm" doc:"What visitors are asked to leave."`
	Rating              Rating     `json:"rating" doc:"Whether and how visitors rate a conversation."`
	TranscriptVisible   bool       `json:"transcriptVisible" doc:"Whether visitors can read what is said."`
	TextInput           bool       `json:"textInput" doc:"Whether visitors can type."`
	MicMuteable         bool       `json:"micMuteable" doc:"Whether visitors can mute their microphone."`
	AINotice            bool       `json:"aiNotice" doc:"Whether visitors are told that they talk with an AI. Cannot be false in the EU region."`
	TermsURL            *string    `json:"termsUrl" maxLength:"2048" doc:"Where your terms are; null for none."`
	PrivacyURL          *string    `json:"privacyUrl" maxLength:"2048" doc:"Where your privacy notice is; null for none."`
	Hours               Hours      `json:"hours" doc:"When it can be talked with."`
	Caps                Caps       `json:"caps" doc:"Bounds on what visitors use."`
}

// Theme is how it looks. Colors are of the form #1a2b3c.
type Theme struct {
	Accent     *string `json:"accent" pattern:"^#[0-9a-fA-F]{6}$" doc:"The color of buttons, as #rrggbb. null, unless given: the accent of the portal on which the persona speaks."`
	Background string  `json:"background" pattern:"^#[0-9a-fA-F]{6}$" doc:"The color behind everything, as #rrggbb."`
	Text       string  `json:"text" pattern:"^#[0-9a-fA-F]{6}$" doc:"The color of words, as #rrggbb."`
	// Radius of corners, in pixels.
	Radius int64  `json:"radius" minimum:"0" maximum:"48" doc:"How round corners are, in pixels."`
	Font   string `json:"font" maxLength:"80" pattern:"^[A-Za-z0-9 ,-]*$" doc:"Families, separated by commas; empty for the page's own."`
	Dark   string `json:"dark" enum:"auto,on,off" doc:"Whether it is dark: as the visitor's device says, always, or never."`
}

// ByLanguage are texts by the language's code. In a patch a language may be
// named in any way.
type ByLanguage map[string]Texts

// Key makes a key of what a patch has for it (package patch).
func (ByLanguage) Key(name string) string { return language.Key(name) }

// Texts are a widget's words in a language; null for its own.
type Texts struct {
	Title       *string `json:"title" maxLength:"80" doc:"The heading; null for the widget's own words."`
	Greeting    *string `json:"greeting" maxLength:"300" doc:"What invites visitors; null for the widget's own words."`
	Start       *string `json:"start" maxLength:"40" doc:"The button that begins; null for the widget's own words."`
	End         *string `json:"end" maxLength:"40" doc:"The button that ends; null for the widget's own words."`
	Consent     *string `json:"consent" maxLength:"1000" doc:"What visitors agree to before they begin; null for the widget's own words."`
	Placeholder *string `json:"placeholder" maxLength:"80" doc:"What stands in the empty text field; null for the widget's own words."`
}

// Proactive is when it speaks up by itself; null for never.
type Proactive struct {
	AfterS        *int64   `json:"afterS" minimum:"1" maximum:"3600" doc:"After how many seconds on the page; null for not by time."`
	ScrollPercent *int64   `json:"scrollPercent" minimum:"1" maximum:"100" doc:"Once so much of the page was scrolled, in percent; null for not by scrolling."`
	URLs          []string `json:"urls" maxItems:"20" doc:"Paths of the pages where it does, with * for any part: /pricing*. None means every page."`
}

// LeadForm is what visitors are asked to leave.
type LeadForm struct {
	AskBefore bool     `json:"askBefore" doc:"Before the conversation, not in it."`
	Fields    []string `json:"fields" maxItems:"4" enum:"name,email,phone,company" doc:"What is asked for, in order."`
	Required  []string `json:"required" maxItems:"4" enum:"name,email,phone,company" doc:"What of it cannot be left out."`
}

// Rating is whether and how visitors rate a conversation.
type Rating struct {
	Mode string `json:"mode" enum:"off,end,during" doc:"When visitors are asked: never, at the end, or at any time."`
	// Scale: 2 is thumbs, 5 is stars.
	Scale int64 `json:"scale" enum:"2,5" doc:"2 for thumbs, 5 for stars."`
}

// Hours are when it can be talked with.
type Hours struct {
	Timezone string `json:"timezone" minLength:"1" maxLength:"64" doc:"An IANA time zone, such as Europe/Berlin."`
	Open     []Open `json:"open" maxItems:"50" doc:"None means always."`
}

// Open is a time of the week.
type Open struct {
	Day  string `json:"day" given:"always" enum:"monday,tuesday,wednesday,thursday,friday,saturday,sunday" doc:"The day of the week."`
	From string `json:"from" given:"always" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" doc:"When it opens, as hours and minutes of the hours' time zone: 09:00."`
	To   string `json:"to" given:"always" pattern:"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$" doc:"Later on the same day; 24:00 is its end."`
}

// Caps bound what visitors use; null for what the plan allows.
type Caps struct {
	MaxSessionS              *int64 `json:"maxSessionS" minimum:"30" maximum:"7200" doc:"How long a session may last, in seconds; null for what the plan allows."`
	SessionsPerVisitorPerDay *int64 `json:"sessionsPerVisitorPerDay" minimum:"1" maximum:"1000" doc:"How many sessions one visitor may start in a day; null for any number."`
}

// Defaults is a widget whose maker says nothing.
func Defaults() Definition {
	return Definition{
		Mode: "bubble", Placement: "bottom_right", Channels: []string{"video", "voice", "chat"}, DefaultChannel: "video",
		Theme:               Theme{Background: "#ffffff", Text: "#1b1f29", Radius: 16, Dark: "auto"},
		AvatarWhenCollapsed: true, Rating: Rating{Mode: "end", Scale: 5},
		TranscriptVisible: true, TextInput: true, MicMuteable: true, AINotice: true, Hours: Hours{Timezone: "UTC"},
	}
}
