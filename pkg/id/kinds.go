package id

// The kinds that have identifiers, with the prefixes of "Id prefixes".
type (
	activityKind struct{}
	avatarKind   struct{}
	consentKind  struct{}
	deliveryKind struct{}
	eventKind    struct{}
	fileKind     struct{}
	jobKind      struct{}
	keyKind      struct{}
	orgKind      struct{}
	personaKind  struct{}
	requestKind  struct{}
	sessionKind  struct{}
	subjectKind  struct{}
	voiceKind    struct{}
	webhookKind  struct{}
)

type (
	// Activity identifies an entry of the activity log.
	Activity = ID[activityKind]
	// Avatar identifies a face.
	Avatar = ID[avatarKind]
	// Consent identifies a consent record.
	Consent = ID[consentKind]
	// Delivery identifies the delivery of an event to a webhook.
	Delivery = ID[deliveryKind]
	// Event identifies an event.
	Event = ID[eventKind]
	// File identifies a stored file.
	File = ID[fileKind]
	// Job identifies work that outlasts a request.
	Job = ID[jobKind]
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
	// Subject identifies a subject of a portal.
	Subject = ID[subjectKind]
	// Voice identifies a voice.
	Voice = ID[voiceKind]
	// Webhook identifies a webhook.
	Webhook = ID[webhookKind]
)

func (activityKind) Prefix() string { return "act" }
func (avatarKind) Prefix() string   { return "av" }
func (consentKind) Prefix() string  { return "cons" }
func (deliveryKind) Prefix() string { return "whd" }
func (eventKind) Prefix() string    { return "evt" }
func (fileKind) Prefix() string     { return "file" }
func (jobKind) Prefix() string      { return "job" }
func (keyKind) Prefix() string      { return "key" }
func (orgKind) Prefix() string      { return "org" }
func (personaKind) Prefix() string  { return "pa" }
func (requestKind) Prefix() string  { return "req" }
func (sessionKind) Prefix() string  { return "sess" }
func (subjectKind) Prefix() string  { return "sub" }
func (voiceKind) Prefix() string    { return "vo" }
func (webhookKind) Prefix() string  { return "wh" }

// Constructors by name, so that callers need not spell the kind's type.
var (
	NewActivity = New[activityKind]
	NewAvatar   = New[avatarKind]
	NewConsent  = New[consentKind]
	NewFile     = New[fileKind]
	NewJob      = New[jobKind]
	NewKey      = New[keyKind]
	NewOrg      = New[orgKind]
	NewRequest  = New[requestKind]
	NewSession  = New[sessionKind]
	NewSubject  = New[subjectKind]
	NewWebhook  = New[webhookKind]

	DeliveryAt    = At[deliveryKind]
	EventAt       = At[eventKind]
	FirstEvent    = First[eventKind]
	FirstDelivery = First[deliveryKind]

	NamedAvatar = Named[avatarKind]
	NamedKey    = Named[keyKind]
	NamedVoice  = Named[voiceKind]

	ParseAvatar   = Parse[avatarKind]
	ParseConsent  = Parse[consentKind]
	ParseDelivery = Parse[deliveryKind]
	ParseEvent    = Parse[eventKind]
	ParseJob      = Parse[jobKind]
	ParseKey      = Parse[keyKind]
	ParseOrg      = Parse[orgKind]
	ParseSession  = Parse[sessionKind]
	ParseSubject  = Parse[subjectKind]
	ParseVoice    = Parse[voiceKind]
	ParseWebhook  = Parse[webhookKind]
)
