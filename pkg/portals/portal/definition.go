package portal

import (
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
)

// Definition is how a portal looks and whom it is for. It is kept as JSON in the
// form that the API shows; the tags bound it there.
type Definition struct {
	Languages        []string           `json:"languages" minItems:"1" maxItems:"50" doc:"Those a visitor can choose."`
	DefaultLanguage  string             `json:"defaultLanguage" doc:"One of languages."`
	KnowledgeBaseIDs []id.KnowledgeBase `json:"knowledgeBaseIds" maxItems:"20" doc:"Packs to answer from, besides the persona's."`
	// SubjectBaseID is the pack that what the subjects teach is kept in; null before
	// the first of them was published. It is no change of the draft.
	SubjectBaseID *id.KnowledgeBase `json:"subjectBaseId" nullable:"true" readOnly:"true" doc:"The pack of what the portal's subjects teach."`
	Brand         Brand             `json:"brand" doc:"How the pages look."`
	Pages         Pages             `json:"pages" doc:"What is written on the pages."`
	Privacy       Privacy           `json:"privacy" doc:"What people are told and what is kept of them."`
	Audience      string            `json:"audience" enum:"visitors,learners,customers,candidates,mixed" doc:"Whom the portal is for."`
	// MinAge is how old somebody must be to come in; null for any age.
	MinAge *int64 `json:"minAge" minimum:"1" maximum:"120" doc:"How old somebody must be to come in, in years; null for any age."`
	// GuardianConsentUnder is the age below which a guardian must agree; null for none.
	GuardianConsentUnder *int64 `json:"guardianConsentUnder" minimum:"1" maximum:"21" doc:"The age in years below which a guardian must agree; null for none."`
	// AllowedOrigins are as a browser sends them; those of a token come to them.
	AllowedOrigins []string `json:"allowedOrigins" maxItems:"20" doc:"Of the pages that may show the portal in a frame; *. stands for every host below one. None unless given, but for those that an embed token allows."`
	Caps           Caps     `json:"caps" doc:"Bounds on what one person may use."`
}

// Brand is how the pages look. Colors are of the form #1a2b3c.
type Brand struct {
	LogoURL *string `json:"logoUrl" maxLength:"2048" doc:"The public https address of a PNG, JPEG or WebP picture, which publishing copies."`
	Accent  string  `json:"accent" pattern:"^#[0-9a-fA-F]{6}$" doc:"The color of buttons and links, as #rrggbb."`
	Font    string  `json:"font" maxLength:"80" pattern:"^[A-Za-z0-9 ,-]*$" doc:"Families, separated by commas; empty for the browser's own."`
	Dark    string  `json:"dark" enum:"auto,on,off" doc:"Whether the pages are dark: as the visitor's device says, always, or never."`
}

// Pages are what is written on the pages, by language.
type Pages struct {
	// Title and Welcome greet on the first page, Footer ends every page.
	Title   language.Words `json:"title" doc:"The heading of the first page, by language."`
	Welcome language.Words `json:"welcome" doc:"What greets people on the first page, by language."`
	Footer  language.Words `json:"footer" doc:"What ends every page, by language."`
}

// Privacy is what people are told and what is kept of them.
type Privacy struct {
	AINotice      bool    `json:"aiNotice" doc:"Whether people are told that they talk with an AI. Cannot be false in the EU region."`
	PrivacyURL    *string `json:"privacyUrl" maxLength:"2048" doc:"Where your privacy notice is; null for none."`
	TermsURL      *string `json:"termsUrl" maxLength:"2048" doc:"Where your terms are; null for none."`
	RetentionDays *int64  `json:"retentionDays" minimum:"0" maximum:"3650" doc:"How long conversations are kept; null for as long as the persona's are."`
	Recordings    bool    `json:"recordings" doc:"Whether sessions are recorded, where the setting privacy.recordings lets that be and the user agrees."`
}

// Caps bound what one person may use.
type Caps struct {
	MaxSessionS             *int64 `json:"maxSessionS" minimum:"30" maximum:"7200" doc:"How long a session may last, in seconds; null for what the plan allows."`
	SessionsPerPersonPerDay *int64 `json:"sessionsPerPersonPerDay" minimum:"1" doc:"How many sessions one person may start in a day; null for any number."`
}
