package id

// The kinds that have identifiers, with the prefixes of "Id prefixes".
type (
	activityKind         struct{}
	assignmentKind       struct{}
	attestationKind      struct{}
	avatarKind           struct{}
	callKind             struct{}
	candidateKind        struct{}
	candidateRequestKind struct{}
	caseLinkKind         struct{}
	courseKind           struct{}
	certificateKind      struct{}
	chunkKind            struct{}
	completionKind       struct{}
	connectionKind       struct{}
	consentKind          struct{}
	contestKind          struct{}
	deliveryKind         struct{}
	documentKind         struct{}
	duoKind              struct{}
	escalationKind       struct{}
	eventKind            struct{}
	fileKind             struct{}
	gapKind              struct{}
	grantKind            struct{}
	inboxItemKind        struct{}
	inboxNoteKind        struct{}
	inboxRuleKind        struct{}
	interviewKind        struct{}
	inviteKind           struct{}
	issuerKeyKind        struct{}
	jobKind              struct{}
	keyKind              struct{}
	knowledgeBaseKind    struct{}
	membershipKind       struct{}
	memoryKind           struct{}
	orgKind              struct{}
	personKind           struct{}
	personaKind          struct{}
	personaTestKind      struct{}
	portalKind           struct{}
	requestKind          struct{}
	resultKind           struct{}
	reportKind           struct{}
	reviewKind           struct{}
	roleKind             struct{}
	scheduleKind         struct{}
	screeningKind        struct{}
	sessionKind          struct{}
	setupPlanKind        struct{}
	signingKeyKind       struct{}
	staffKind            struct{}
	subjectKind          struct{}
	turnKind             struct{}
	unitKind             struct{}
	voiceKind            struct{}
	webhookKind          struct{}
	widgetKind           struct{}
)

type (
	// Activity identifies an entry of the activity log.
	Activity = ID[activityKind]
	// Assignment identifies work that is set for people.
	Assignment = ID[assignmentKind]
	// AttemptGrant identifies further attempts that somebody was given.
	AttemptGrant = ID[grantKind]
	// Attestation identifies a statement that somebody confirmed.
	Attestation = ID[attestationKind]
	// Avatar identifies a face.
	Avatar = ID[avatarKind]
	// Call identifies a call of a connected service.
	Call = ID[callKind]
	// Candidate identifies somebody who was invited to a role's interview.
	Candidate = ID[candidateKind]
	// CandidateRequest identifies what a candidate asks for.
	CandidateRequest = ID[candidateRequestKind]
	// CaseLink identifies a link that shows a customer their case.
	CaseLink = ID[caseLinkKind]
	// Course identifies a course of a learning platform.
	Course = ID[courseKind]
	// Certificate identifies a certificate.
	Certificate = ID[certificateKind]
	// Chunk identifies a passage of a document.
	Chunk = ID[chunkKind]
	// Completion identifies what somebody completed.
	Completion = ID[completionKind]
	// Connection identifies a connection to a customer's own system.
	Connection = ID[connectionKind]
	// Consent identifies a consent record.
	Consent = ID[consentKind]
	// Contest identifies a learner's objection to a result.
	Contest = ID[contestKind]
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
	// InboxItem identifies what a visitor left.
	InboxItem = ID[inboxItemKind]
	// InboxNote identifies what the team wrote to an item of the inbox.
	InboxNote = ID[inboxNoteKind]
	// InboxRule identifies a rule of the inbox.
	InboxRule = ID[inboxRuleKind]
	// IssuerKey identifies a key that signs badges.
	IssuerKey = ID[issuerKeyKind]
	// Interview identifies an interview of a candidate with people.
	Interview = ID[interviewKind]
	// Invite identifies an invitation to a role's interview.
	Invite = ID[inviteKind]
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
	// Result identifies what came of a practice or an assessment.
	Result = ID[resultKind]
	// Report identifies what is printed of a result.
	Report = ID[reportKind]
	// Review identifies a person's look at a result.
	Review = ID[reviewKind]
	// Role identifies a role that candidates are interviewed for.
	Role = ID[roleKind]
	// Schedule identifies the hours in which times are offered.
	Schedule = ID[scheduleKind]
	// Screening identifies a candidate's interview with an avatar.
	Screening = ID[screeningKind]
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

func (activityKind) Prefix() string         { return "act" }
func (assignmentKind) Prefix() string       { return "asg" }
func (attestationKind) Prefix() string      { return "att" }
func (avatarKind) Prefix() string           { return "av" }
func (callKind) Prefix() string             { return "call" }
func (candidateKind) Prefix() string        { return "cand" }
func (candidateRequestKind) Prefix() string { return "creq" }
func (interviewKind) Prefix() string        { return "intv" }
func (inviteKind) Prefix() string           { return "inv" }
func (roleKind) Prefix() string             { return "role" }
func (scheduleKind) Prefix() string         { return "sched" }
func (screeningKind) Prefix() string        { return "scr" }
func (caseLinkKind) Prefix() string         { return "case" }
func (courseKind) Prefix() string           { return "crs" }
func (certificateKind) Prefix() string      { return "cert" }
func (chunkKind) Prefix() string            { return "chunk" }
func (completionKind) Prefix() string       { return "cmp" }
func (connectionKind) Prefix() string       { return "con" }
func (consentKind) Prefix() string          { return "cons" }
func (contestKind) Prefix() string          { return "ctst" }
func (deliveryKind) Prefix() string         { return "whd" }
func (documentKind) Prefix() string         { return "doc" }
func (duoKind) Prefix() string              { return "duo" }
func (escalationKind) Prefix() string       { return "esc" }
func (eventKind) Prefix() string            { return "evt" }
func (fileKind) Prefix() string             { return "file" }
func (gapKind) Prefix() string              { return "gap" }
func (grantKind) Prefix() string            { return "grant" }
func (inboxItemKind) Prefix() string        { return "inb" }
func (inboxNoteKind) Prefix() string        { return "note" }
func (inboxRuleKind) Prefix() string        { return "rule" }
func (issuerKeyKind) Prefix() string        { return "ikey" }
func (jobKind) Prefix() string              { return "job" }
func (keyKind) Prefix() string              { return "key" }
func (knowledgeBaseKind) Prefix() string    { return "kb" }
func (membershipKind) Prefix() string       { return "mem" }
func (memoryKind) Prefix() string           { return "memo" }
func (orgKind) Prefix() string              { return "org" }
func (personKind) Prefix() string           { return "per" }
func (personaKind) Prefix() string          { return "pa" }
func (personaTestKind) Prefix() string      { return "ptst" }
func (portalKind) Prefix() string           { return "portal" }
func (requestKind) Prefix() string          { return "req" }
func (resultKind) Prefix() string           { return "res" }
func (reportKind) Prefix() string           { return "rpt" }
func (reviewKind) Prefix() string           { return "rvw" }
func (sessionKind) Prefix() string          { return "sess" }
func (setupPlanKind) Prefix() string        { return "plan" }
func (signingKeyKind) Prefix() string       { return "skey" }
func (staffKind) Prefix() string            { return "staff" }
func (subjectKind) Prefix() string          { return "sub" }
func (turnKind) Prefix() string             { return "turn" }
func (unitKind) Prefix() string             { return "unit" }
func (voiceKind) Prefix() string            { return "vo" }
func (webhookKind) Prefix() string          { return "wh" }
func (widgetKind) Prefix() string           { return "wid" }

// Constructors by name, so that callers need not spell the kind's type.
var (
	NewActivity         = New[activityKind]
	NewAssignment       = New[assignmentKind]
	NewAttemptGrant     = New[grantKind]
	NewAttestation      = New[attestationKind]
	NewAvatar           = New[avatarKind]
	NewCandidate        = New[candidateKind]
	NewCandidateRequest = New[candidateRequestKind]
	NewInterview        = New[interviewKind]
	NewInvite           = New[inviteKind]
	NewRole             = New[roleKind]
	NewSchedule         = New[scheduleKind]
	NewScreening        = New[screeningKind]
	NewCaseLink         = New[caseLinkKind]
	NewCourse           = New[courseKind]
	NewCertificate      = New[certificateKind]
	NewChunk            = New[chunkKind]
	NewCompletion       = New[completionKind]
	NewConnection       = New[connectionKind]
	NewConsent          = New[consentKind]
	NewContest          = New[contestKind]
	NewDocument         = New[documentKind]
	NewDuo              = New[duoKind]
	NewEscalation       = New[escalationKind]
	NewFile             = New[fileKind]
	NewGap              = New[gapKind]
	NewInboxNote        = New[inboxNoteKind]
	NewInboxRule        = New[inboxRuleKind]
	NewIssuerKey        = New[issuerKeyKind]
	NewJob              = New[jobKind]
	NewKey              = New[keyKind]
	NewKnowledgeBase    = New[knowledgeBaseKind]
	NewMembership       = New[membershipKind]
	NewMemory           = New[memoryKind]
	NewOrg              = New[orgKind]
	NewPerson           = New[personKind]
	NewPersona          = New[personaKind]
	NewPersonaTest      = New[personaTestKind]
	NewPortal           = New[portalKind]
	NewRequest          = New[requestKind]
	NewResult           = New[resultKind]
	NewReport           = New[reportKind]
	NewReview           = New[reviewKind]
	NewSession          = New[sessionKind]
	NewSetupPlan        = New[setupPlanKind]
	NewSigningKey       = New[signingKeyKind]
	NewStaff            = New[staffKind]
	NewSubject          = New[subjectKind]
	NewTurn             = New[turnKind]
	NewUnit             = New[unitKind]
	NewVoice            = New[voiceKind]
	NewWebhook          = New[webhookKind]
	NewWidget           = New[widgetKind]

	CallAt         = At[callKind]
	DeliveryAt     = At[deliveryKind]
	EventAt        = At[eventKind]
	FirstEvent     = First[eventKind]
	FirstInboxItem = First[inboxItemKind]
	FirstSession   = First[sessionKind]
	InboxItemAt    = At[inboxItemKind]
	SessionAt      = At[sessionKind]
	FirstDelivery  = First[deliveryKind]

	NamedAvatar = Named[avatarKind]
	NamedKey    = Named[keyKind]
	NamedVoice  = Named[voiceKind]

	OrgNamedAt    = NamedAt[orgKind]
	PortalNamedAt = NamedAt[portalKind]

	ParseAvatar           = Parse[avatarKind]
	ParseAssignment       = Parse[assignmentKind]
	ParseAttestation      = Parse[attestationKind]
	ParseCandidate        = Parse[candidateKind]
	ParseCandidateRequest = Parse[candidateRequestKind]
	ParseInterview        = Parse[interviewKind]
	ParseInvite           = Parse[inviteKind]
	ParseRole             = Parse[roleKind]
	ParseSchedule         = Parse[scheduleKind]
	ParseCaseLink         = Parse[caseLinkKind]
	ParseCourse           = Parse[courseKind]
	ParseCertificate      = Parse[certificateKind]
	ParseChunk            = Parse[chunkKind]
	ParseCompletion       = Parse[completionKind]
	ParseConnection       = Parse[connectionKind]
	ParseConsent          = Parse[consentKind]
	ParseContest          = Parse[contestKind]
	ParseDelivery         = Parse[deliveryKind]
	ParseDocument         = Parse[documentKind]
	ParseDuo              = Parse[duoKind]
	ParseEscalation       = Parse[escalationKind]
	ParseEvent            = Parse[eventKind]
	ParseGap              = Parse[gapKind]
	ParseInboxItem        = Parse[inboxItemKind]
	ParseInboxRule        = Parse[inboxRuleKind]
	ParseIssuerKey        = Parse[issuerKeyKind]
	ParseJob              = Parse[jobKind]
	ParseKey              = Parse[keyKind]
	ParseKnowledgeBase    = Parse[knowledgeBaseKind]
	ParseMembership       = Parse[membershipKind]
	ParseMemory           = Parse[memoryKind]
	ParseOrg              = Parse[orgKind]
	ParsePerson           = Parse[personKind]
	ParsePersona          = Parse[personaKind]
	ParsePersonaTest      = Parse[personaTestKind]
	ParsePortal           = Parse[portalKind]
	ParseResult           = Parse[resultKind]
	ParseReport           = Parse[reportKind]
	ParseReview           = Parse[reviewKind]
	ParseSession          = Parse[sessionKind]
	ParseSetupPlan        = Parse[setupPlanKind]
	ParseSigningKey       = Parse[signingKeyKind]
	ParseStaff            = Parse[staffKind]
	ParseSubject          = Parse[subjectKind]
	ParseTurn             = Parse[turnKind]
	ParseUnit             = Parse[unitKind]
	ParseVoice            = Parse[voiceKind]
	ParseWebhook          = Parse[webhookKind]
	ParseWidget           = Parse[widgetKind]
)
