package contract

import (
	"maps"
	"slices"
	"strings"
)

// Item is a kind of thing in the data of successful answers that contracts
// write differently. It is the name of its schema too.
type Item string

// The items.
const (
	// AssignmentItem is work that is set for people, and AssignmentProgressItem how far one of
	// them got with it.
	AssignmentItem         Item = "Assignment"
	AssignmentProgressItem Item = "AssignmentProgress"
	// AttemptGrantItem is further attempts.
	AttemptGrantItem Item = "AttemptGrant"
	// AttestationItem is a statement that somebody confirmed.
	AttestationItem Item = "Attestation"
	// CandidateItem is somebody who was invited to a role's interview.
	CandidateItem Item = "Candidate"
	// CandidateRequestItem is what a candidate asks for.
	CandidateRequestItem Item = "CandidateRequest"
	// CaseLinkItem is a link to a case.
	CaseLinkItem Item = "CaseLink"
	// CertificateItem is a certificate.
	CertificateItem Item = "Certificate"
	// CompletionItem is what somebody completed.
	CompletionItem Item = "Completion"
	// EscalationItem is a chat that was handed over.
	EscalationItem Item = "Escalation"
	// EventItem is an event, which reads as a webhook's body does.
	EventItem Item = "Event"
	// DeliveryItem is the delivery of an event to a webhook.
	DeliveryItem Item = "WebhookDelivery"
	// GapItem is a question that the knowledge does not answer.
	GapItem Item = "Gap"
	// InboxItemItem is what a visitor left.
	InboxItemItem Item = "InboxItem"
	// JobItem is a piece of work that outlasts a request.
	JobItem Item = "Job"
	// KnowledgeBaseItem is a knowledge pack.
	KnowledgeBaseItem Item = "KnowledgeBase"
	// LogEntryItem is a line of the activity log.
	LogEntryItem Item = "LogEntry"
	// MasteryItem is how well a person masters a subject.
	MasteryItem Item = "Mastery"
	// MembershipItem is a person's place in a portal.
	MembershipItem Item = "Membership"
	// PersonItem is a person with their places.
	PersonItem Item = "Person"
	// PersonaItem is what talks.
	PersonaItem Item = "Persona"
	// ConnectionItem is a connection.
	ConnectionItem Item = "Connection"
	// PortalItem is a portal.
	PortalItem Item = "Portal"
	// PortalPersonaItem is who speaks on a portal.
	PortalPersonaItem Item = "PortalPersona"
	// ReportItem is what results look like on paper.
	ReportItem Item = "Report"
	// ResultItem is what came of a practice or an assessment.
	ResultItem Item = "Result"
	// BiasAuditItem is how often people of each category were selected, or that a portal shows it.
	BiasAuditItem Item = "BiasAudit"
	// RoleItem is a role that candidates are interviewed for.
	RoleItem Item = "Role"
	// SessionItem is a live conversation.
	SessionItem Item = "Session"
	// SetupPlanItem is a plan for a portal.
	SetupPlanItem Item = "SetupPlan"
	// SessionTicketItem is a session with what its client needs to connect.
	SessionTicketItem Item = "SessionTicket"
	// StaffTicketItem is what a team member needs to join a conversation.
	StaffTicketItem Item = "StaffTicket"
	// TranscriptEntryItem is something that a person has to show.
	TranscriptEntryItem Item = "TranscriptEntry"
	// SettingItem is a setting at a scope.
	SettingItem Item = "Setting"
	// SubjectItem is what a portal teaches or asks.
	SubjectItem Item = "Subject"
	// SubjectContentItem is what a subject says.
	SubjectContentItem Item = "SubjectContent"
	// UnitItem is a class, team or group of a portal.
	UnitItem Item = "Unit"
)

// Answer writes an item of a successful answer in a contract. The item is as
// it comes back from JSON, in the newest contract's form; it may be changed and
// be part of the answer.
func Answer(v Version, kind Item, item map[string]any) map[string]any {
	if kind == EventItem {
		return Event(v, item)
	}
	for _, c := range Changes() {
		if v.Before(c.Since) && c.Answer != nil {
			item = c.Answer(kind, item)
		}
	}
	return item
}

// Lacks lists the fields that items of a kind do not have in a contract.
func Lacks(v Version, kind Item) []string {
	var fields []string
	for _, c := range Changes() {
		if v.Before(c.Since) {
			fields = append(fields, c.Newer[kind]...)
		}
	}
	slices.Sort(fields)
	return fields
}

// Renamed are the names that fields of items of a kind have in a contract, by their newest.
func Renamed(v Version, kind Item) map[string]string {
	names := map[string]string{}
	for _, c := range Changes() {
		if v.Before(c.Since) {
			maps.Copy(names, c.Renamed[kind])
		}
	}
	return names
}

// bareDelivery: ids of deliveries had no prefix (Id prefixes).
var bareDelivery = Change{
	Since:   V20261001,
	Summary: "Ids of webhook deliveries start with whd_; before, they were bare.",
	Answer: func(kind Item, item map[string]any) map[string]any {
		if text, ok := item["id"].(string); ok && kind == DeliveryItem {
			item["id"] = strings.TrimPrefix(text, "whd_")
		}
		return item
	},
}

// noStaffPage: a team member had no page to join a conversation on.
var noStaffPage = Change{
	Since:   V20261001,
	Summary: "A team member's token comes with joinUrl, a page that joins the conversation; before, with the token alone.",
	Answer: func(kind Item, item map[string]any) map[string]any {
		if kind == StaffTicketItem {
			delete(item, "joinUrl")
		}
		return item
	},
	Newer: map[Item][]string{StaffTicketItem: {"joinUrl"}},
}

// speakersByName: who speaks on a portal was said by first names (Versioning,
// "Who speaks on a portal").
var speakersByName = Change{
	Since:   V20261001,
	Summary: "Who speaks on a portal is said by id, in avatarId and voiceId; before, by first names alone, in face and voice.",
	Answer: func(kind Item, item map[string]any) map[string]any {
		for _, name := range newerOfSpeaker[kind] {
			delete(item, name)
		}
		return item
	},
	Newer: newerOfSpeaker,
}

var newerOfSpeaker = map[Item][]string{
	PortalPersonaItem: {"personaId", "avatarId", "voiceId", "duoId", "faceStatus", "faceReadyAt"},
}
