package id

// The kinds that have identifiers, with the prefixes of "Id prefixes".
type (
	activityKind      struct{}
	avatarKind        struct{}
	callKind          struct{}
	chunkKind         struct{}
	connectionKind    struct{}
	consentKind       struct{}
	deliveryKind      struct{}
	documentKind      struct{}
	duoKind           struct{}
	eventKind         struct{}
	fileKind          struct{}
	gapKind           struct{}
	jobKind           struct{}
	keyKind           struct{}
	knowledgeBaseKind struct{}
	memoryKind        struct{}
	orgKind           struct{}
	personaKind       struct{}
	portalKind        struct{}
	requestKind       struct{}
	sessionKind       struct{}
	staffKind         struct{}
	subjectKind       struct{}
	turnKind          struct{}
	voiceKind         struct{}
	webhookKind       struct{}
	widgetKind        struct{}
)

type (
	// Activity identifies an entry of the activity log.
	Activity = ID[activityKind]
	// Avatar identifies a face.
	Avatar = ID[avatarKind]
	// Call identifies a call of a connected service.
	Call = ID[callKind]
	// Chunk identifies a passage of a document.
	Chunk = ID[chunkKind]
	// Connection identifies a connection to a customer's own system.
	Connection = ID[connectionKind]
	// Consent identifies a consent record.
	Consent = ID[consentKind]
	// Delivery identifies the delivery of an event to a webhook.
	Delivery = ID[deliveryKind]
	// Document identifies a document of a knowledge pack.
	Document = ID[documentKind]
	// Duo identifies a two-person avatar.
	Duo = ID[duoKind]
	// Event identifies an event.
	Event = ID[eventKind]
	// File identifies a stored file.
	File = ID[fileKind]
	// Gap identifies a question that the knowledge does not answer.
	Gap = ID[gapKind]
	// Job identifies work that outlasts a request.
	Job = ID[jobKind]
	// Key identifies an API key.
	Key = ID[keyKind]
	// KnowledgeBase identifies a knowledge pack.
	KnowledgeBase = ID[knowledgeBaseKind]
	// Memory identifies what a persona remembers of a person.
	Memory = ID[memoryKind]
	// Org identifies an organisation.
	Org = ID[orgKind]
	// Persona identifies a persona.
	Persona = ID[personaKind]
	// Portal identifies a portal.
	Portal = ID[portalKind]
	// Request identifies a request.
	Request = ID[requestKind]
	// Session identifies a live conversation.
	Session = ID[sessionKind]
	// Staff identifies a team member in a live conversation.
	Staff = ID[staffKind]
	// Subject identifies a subject of a portal.
	Subject = ID[subjectKind]
	// Turn identifies a turn of a conversation.
	Turn = ID[turnKind]
	// Voice identifies a voice.
	Voice = ID[voiceKind]
	// Webhook identifies a webhook.
	Webhook = ID[webhookKind]
	// Widget identifies a widget.
	Widget = ID[widgetKind]
)

func (activityKind) Prefix() string      { return "act" }
func (avatarKind) Prefix() string        { return "av" }
func (callKind) Prefix() string          { return "call" }
func (chunkKind) Prefix() string         { return "chunk" }
func (connectionKind) Prefix() string    { return "con" }
func (consentKind) Prefix() string       { return "cons" }
func (deliveryKind) Prefix() string      { return "whd" }
func (documentKind) Prefix() string      { return "doc" }
func (duoKind) Prefix() string           { return "duo" }
func (eventKind) Prefix() string         { return "evt" }
func (fileKind) Prefix() string          { return "file" }
func (gapKind) Prefix() string           { return "gap" }
func (jobKind) Prefix() string           { return "job" }
func (keyKind) Prefix() string           { return "key" }
func (knowledgeBaseKind) Prefix() string { return "kb" }
func (memoryKind) Prefix() string        { return "memo" }
func (orgKind) Prefix() string           { return "org" }
func (personaKind) Prefix() string       { return "pa" }
func (portalKind) Prefix() string        { return "portal" }
func (requestKind) Prefix() string       { return "req" }
func (sessionKind) Prefix() string       { return "sess" }
func (staffKind) Prefix() string         { return "staff" }
func (subjectKind) Prefix() string       { return "sub" }
func (turnKind) Prefix() string          { return "turn" }
func (voiceKind) Prefix() string         { return "vo" }
func (webhookKind) Prefix() string       { return "wh" }
func (widgetKind) Prefix() string        { return "wid" }

// Constructors by name, so that callers need not spell the kind's type.
var (
	NewActivity      = New[activityKind]
	NewAvatar        = New[avatarKind]
	NewChunk         = New[chunkKind]
	NewConnection    = New[connectionKind]
	NewConsent       = New[consentKind]
	NewDocument      = New[documentKind]
	NewDuo           = New[duoKind]
	NewFile          = New[fileKind]
	NewGap           = New[gapKind]
	NewJob           = New[jobKind]
	NewKey           = New[keyKind]
	NewKnowledgeBase = New[knowledgeBaseKind]
	NewMemory        = New[memoryKind]
	NewOrg           = New[orgKind]
	NewPersona       = New[personaKind]
	NewPortal        = New[portalKind]
	NewRequest       = New[requestKind]
	NewSession       = New[sessionKind]
	NewStaff         = New[staffKind]
	NewSubject       = New[subjectKind]
	NewTurn          = New[turnKind]
	NewVoice         = New[voiceKind]
	NewWebhook       = New[webhookKind]
	NewWidget        = New[widgetKind]

	CallAt        = At[callKind]
	DeliveryAt    = At[deliveryKind]
	EventAt       = At[eventKind]
	FirstEvent    = First[eventKind]
	FirstSession  = First[sessionKind]
	SessionAt     = At[sessionKind]
	FirstDelivery = First[deliveryKind]

	NamedAvatar = Named[avatarKind]
	NamedKey    = Named[keyKind]
	NamedVoice  = Named[voiceKind]

	ParseAvatar        = Parse[avatarKind]
	ParseChunk         = Parse[chunkKind]
	ParseConnection    = Parse[connectionKind]
	ParseConsent       = Parse[consentKind]
	ParseDelivery      = Parse[deliveryKind]
	ParseDocument      = Parse[documentKind]
	ParseDuo           = Parse[duoKind]
	ParseEvent         = Parse[eventKind]
	ParseGap           = Parse[gapKind]
	ParseJob           = Parse[jobKind]
	ParseKey           = Parse[keyKind]
	ParseKnowledgeBase = Parse[knowledgeBaseKind]
	ParseMemory        = Parse[memoryKind]
	ParseOrg           = Parse[orgKind]
	ParsePersona       = Parse[personaKind]
	ParsePortal        = Parse[portalKind]
	ParseSession       = Parse[sessionKind]
	ParseStaff         = Parse[staffKind]
	ParseSubject       = Parse[subjectKind]
	ParseTurn          = Parse[turnKind]
	ParseVoice         = Parse[voiceKind]
	ParseWebhook       = Parse[webhookKind]
	ParseWidget        = Parse[widgetKind]
)
