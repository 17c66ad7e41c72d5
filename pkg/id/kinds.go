package id

// The kinds that have identifiers, with the prefixes of "Id prefixes".
type (
	activityKind struct{}
	avatarKind   struct{}
	consentKind  struct{}
	fileKind     struct{}
	keyKind      struct{}
	orgKind      struct{}
	personaKind  struct{}
	requestKind  struct{}
	sessionKind  struct{}
	voiceKind    struct{}
)

type (
	// Activity identifies an entry of the activity log.
	Activity = ID[activityKind]
	// Avatar identifies a face.
	Avatar = ID[avatarKind]
	// Consent identifies a consent record.
	Consent = ID[consentKind]
	// File identifies a stored file.
	File = ID[fileKind]
	// Key identifies an API key.
	Key = ID[keyKind]
	// Org identifies an organisation.
	Org = ID[orgKind]
	// Persona identifies a persona.
	Persona = ID[personaKind]
	// Request identifies a request.
	Request = ID[requestKind]
	// Session identifies a live conversation.
	Session = ID[sessionKind]
	// Voice identifies a voice.
	Voice = ID[voiceKind]
)

func (activityKind) Prefix() string { return "act" }
func (avatarKind) Prefix() string   { return "av" }
func (consentKind) Prefix() string  { return "cons" }
func (fileKind) Prefix() string     { return "file" }
func (keyKind) Prefix() string      { return "key" }
func (orgKind) Prefix() string      { return "org" }
func (personaKind) Prefix() string  { return "pa" }
func (requestKind) Prefix() string  { return "req" }
func (sessionKind) Prefix() string  { return "sess" }
func (voiceKind) Prefix() string    { return "vo" }

// Constructors by name, so that callers need not spell the kind's type.
var (
	NewActivity = New[activityKind]
	NewAvatar   = New[avatarKind]
	NewConsent  = New[consentKind]
	NewFile     = New[fileKind]
	NewKey      = New[keyKind]
	NewOrg      = New[orgKind]
	NewRequest  = New[requestKind]

	NamedAvatar = Named[avatarKind]
	NamedKey    = Named[keyKind]
	NamedVoice  = Named[voiceKind]

	ParseAvatar  = Parse[avatarKind]
	ParseConsent = Parse[consentKind]
	ParseKey     = Parse[keyKind]
	ParseOrg     = Parse[orgKind]
	ParseVoice   = Parse[voiceKind]
)
