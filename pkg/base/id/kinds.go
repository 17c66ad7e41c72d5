package id

// The kinds that have identifiers, with the prefixes of "Id prefixes".
type (
	activityKind      struct{}
	avatarKind        struct{}
	callKind          struct{}
	caseLinkKind      struct{}
	chunkKind         struct{}
	connectionKind    struct{}
	consentKind       struct{}
	deliveryKind      struct{}
	documentKind      struct{}
	duoKind           struct{}
	escalationKind    struct{}
	eventKind         struct{}
	fileKind          struct{}
	gapKind           struct{}
	jobKind           struct{}
	keyKind           struct{}
	knowledgeBaseKind struct{}
	membershipKind    struct{}
	memoryKind        struct{}
	orgKind           struct{}
	personKind        struct{}
	personaKind       struct{}
	personaTestKind   struct{}
	portalKind        struct{}
	requestKind       struct{}
	sessionKind       struct{}
	setupPlanKind     struct{}
	signingKeyKind    struct{}
	staffKind         struct{}
	subjectKind       struct{}
	turnKind          struct{}
	unitKind          struct{}
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
	// CaseLink identifies a link that shows a customer their case.
	CaseLink = ID[caseLinkKind]
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
	// Escalation identifies a chat that is handed to the avatar.
	Escalation = ID[escalationKind]
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
	// Membership identifies a person's place in a portal.
	Membership = ID[membershipKind]
	// Memory identifies what a persona remembers of a person.
	Memory = ID[memoryKind]
	// Org identifies an organization.
	Org = ID[orgKind]
	// Person identifies a person of an organization.
	Person = ID[personKind]
	// Persona identifies a persona.
	Persona = ID[personaKind]
	// PersonaTest identifies a question that a persona is to answer well.
	PersonaTest = ID[personaTestKind]
	// Portal identifies a portal.
	Portal = ID[portalKind]
	// Request identifies a request.
	Request = ID[requestKind]
	// Session identifies a live conversation.
	Session = ID[sessionKind]
	// SetupPlan identifies a plan for a portal.
	SetupPlan = ID[setupPlanKind]
	// SigningKey identifies a key that signs tokens.
	SigningKey = ID[signingKeyKind]
	// Staff identifies a team member in a live conversation.
	Staff = ID[staffKind]
	// Subject identifies a subject of a portal.
	Subject = ID[subjectKind]
	// Turn identifies a turn of a conversation.
	Turn = ID[turnKind]
	// Unit identifies a class, a team or a group.
	Unit = ID[unitKind]
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
func (caseLinkKind) Prefix() string      { return "case" }
func (chunkKind) Prefix() string         { return "chunk" }
func (connectionKind) Prefix() string    { return "con" }
func (consentKind) Prefix() string       { return "cons" }
func (deliveryKind) Prefix() string      { return "whd" }
func (documentKind) Prefix() string      { return "doc" }
func (duoKind) Prefix() string           { return "duo" }
func (escalationKind) Prefix() string    { return "esc" }
func (eventKind) Prefix() string         { return "evt" }
func (fileKind) Prefix() string          { return "file" }
func (gapKind) Prefix() string           { return "gap" }
func (jobKind) Prefix() string           { return "job" }
func (keyKind) Prefix() string           { return "key" }
func (knowledgeBaseKind) Prefix() string { return "kb" }
func (membershipKind) Prefix() string    { return "mem" }
func (memoryKind) Prefix() string        { return "memo" }
func (orgKind) Prefix() string           { return "org" }
func (personKind) Prefix() string        { return "per" }
func (personaKind) Prefix() string       { return "pa" }
func (personaTestKind) Prefix() string   { return "ptst" }
func (portalKind) Prefix() string        { return "portal" }
func (requestKind) Prefix() string       { return "req" }
func (sessionKind) Prefix() string       { return "sess" }
func (setupPlanKind) Prefix() string     { return "plan" }
func (signingKeyKind) Prefix() string    { return "skey" }
func (staffKind) Prefix() string         { return "staff" }
func (subjectKind) Prefix() string       { return "sub" }
func (turnKind) Prefix() string          { return "turn" }
func (unitKind) Prefix() string          { return "unit" }
func (voiceKind) Prefix() string         { return "vo" }
func (webhookKind) Prefix() string       { return "wh" }
func (widgetKind) Prefix() string        { return "wid" }

// Constructors by name, so that callers need not spell the kind's type.
var (
	NewActivity      = New[activityKind]
	NewAvatar        = New[avatarKind]
	NewCaseLink      = New[caseLinkKind]
	NewChunk         = New[chunkKind]
	NewConnection    = New[connectionKind]
	NewConsent       = New[consentKind]
	NewDocument      = New[documentKind]
	NewDuo           = New[duoKind]
	NewEscalation    = New[escalationKind]
	NewFile          = New[fileKind]
	NewGap           = New[gapKind]
	NewJob           = New[jobKind]
	NewKey           = New[keyKind]
	NewKnowledgeBase = New[knowledgeBaseKind]
	NewMembership    = New[membershipKind]
	NewMemory        = New[memoryKind]
	NewOrg           = New[orgKind]
	NewPerson        = New[personKind]
	NewPersona       = New[personaKind]
	NewPersonaTest   = New[personaTestKind]
	NewPortal        = New[portalKind]
	NewRequest       = New[requestKind]
	NewSession       = New[sessionKind]
	NewSetupPlan     = New[setupPlanKind]
	NewSigningKey    = New[signingKeyKind]
	NewStaff         = New[staffKind]
	NewSubject       = New[subjectKind]
	NewTurn          = New[turnKind]
	NewUnit          = New[unitKind]
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

	OrgNamedAt    = NamedAt[orgKind]
	PortalNamedAt = NamedAt[portalKind]

	ParseAvatar        = Parse[avatarKind]
	ParseCaseLink      = Parse[caseLinkKind]
	ParseChunk         = Parse[chunkKind]
	ParseConnection    = Parse[connectionKind]
	ParseConsent       = Parse[consentKind]
	ParseDelivery      = Parse[deliveryKind]
	ParseDocument      = Parse[documentKind]
	ParseDuo           = Parse[duoKind]
	ParseEscalation    = Parse[escalationKind]
	ParseEvent         = Parse[eventKind]
	ParseGap           = Parse[gapKind]
	ParseJob           = Parse[jobKind]
	ParseKey           = Parse[keyKind]
	ParseKnowledgeBase = Parse[knowledgeBaseKind]
	ParseMembership    = Parse[membershipKind]
	ParseMemory        = Parse[memoryKind]
	ParseOrg           = Parse[orgKind]
	ParsePerson        = Parse[personKind]
	ParsePersona       = Parse[personaKind]
	ParsePersonaTest   = Parse[personaTestKind]
	ParsePortal        = Parse[portalKind]
	ParseSession       = Parse[sessionKind]
	ParseSetupPlan     = Parse[setupPlanKind]
	ParseSigningKey    = Parse[signingKeyKind]
	ParseStaff         = Parse[staffKind]
	ParseSubject       = Parse[subjectKind]
	ParseTurn          = Parse[turnKind]
	ParseUnit          = Parse[unitKind]
	ParseVoice         = Parse[voiceKind]
	ParseWebhook       = Parse[webhookKind]
	ParseWidget        = Parse[widgetKind]
)
