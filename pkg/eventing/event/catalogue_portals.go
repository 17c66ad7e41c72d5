package event

import (
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/scope"
)

// portalStates are the states of a portal.
var portalStates = words("draft published unpublished archived")

// portalKinds are about portals and what surrounds them, and the types that came with the newer contract.
var portalKinds = []*Kind{
	{
		Type: WorkspaceCreated, Since: contract.V20260708, Scope: scope.PortalsRead,
		Description: "A portal was built: the older name of portal.created, sent beside it. Sent at most once per portal.",
		Fields:      Fields{Structure: words("portalId name templateKey subjectIds[] createdBy createdAt")},
	},
	{
		Type: WorkspacePublished, Since: contract.V20260708, Scope: scope.PortalsRead,
		Description: "A portal, or a subject in it, was published. Not sent when the go-live check refuses.",
		Fields:      Fields{Structure: words("portalId name version subjectIds[] publishedBy publishedAt firstPublish")},
	},
	{
		Type: PortalCreated, Since: contract.V20261001, Scope: scope.PortalsRead,
		Description: "A portal was built. Sent at most once per portal.",
		Fields:      Fields{Structure: words("portalId name kind templateKey state subjectIds[] createdBy createdAt")},
		values:      fieldValues{"kind": words("learning support sales hiring reception custom"), "state": portalStates},
	},
	{
		Type: PortalUpdated, Since: contract.V20261001, Scope: scope.PortalsRead,
		Description: "A portal changed: its settings, who speaks on it, its doors, or whether it is published.",
		Fields:      Fields{Structure: words("portalId name state changedFields[] changedBy updatedAt")},
		values:      fieldValues{"state": portalStates},
	},
	{
		Type: SessionTranscriptReady, Since: contract.V20261001, Scope: scope.TranscriptsRead,
		Description: "A session's transcript is complete and can be read. Carries no words. Sent at most once per session, and not where the transcript may not be read.",
		Fields:      Fields{Structure: words("sessionId portalId subjectId personaId language turnCount durationS summaryAvailable readyAt")},
	},
	{
		Type: SubjectDraftSaved, Since: contract.V20261001, Scope: scope.PortalsRead,
		Description: "A draft of a subject's content was saved.",
		Fields:      Fields{Structure: words("subjectId portalId version baseVersion changedSections[] languages[] savedBy savedAt")},
	},
	{
		Type: WidgetUpdated, Since: contract.V20261001, Scope: scope.WidgetsRead,
		Description: "A widget was changed, or its key was.",
		Fields:      Fields{Structure: words("widgetId portalId changedFields[] enabled allowedOrigins[] changedBy updatedAt")},
	},
	{
		Type: JobCompleted, Since: contract.V20261001, Scope: scope.PortalsRead,
		Description: "A job ended: it succeeded, failed or was cancelled; state says which. Sent at most once per job.",
		Fields:      Fields{Structure: words("jobId kind state portalId subjectId resourceKind resourceId errorCode startedAt finishedAt")},
		values:      fieldValues{"state": words("succeeded failed cancelled")},
	},
	{
		Type: CandidateInviteOpened, Since: contract.V20261001, Scope: scope.CandidatesRead,
		Description: "A candidate opened an invite for the first time. Sent at most once per invite.",
		Fields:      Fields{Structure: words(candidateFields + " openedAt")},
	},
	{
		Type: CandidateInviteExpired, Since: contract.V20261001, Scope: scope.CandidatesRead,
		Description: "An invite expired unused. Sent at most once per invite.",
		Fields:      Fields{Structure: words(candidateFields + " expiredAt opened")},
	},
	{
		Type: WebhookTest, Since: contract.V20261001, Scope: scope.WebhooksManage,
		Description: "A test of a webhook was asked for. Sent to that webhook only, whatever types it names.",
		Fields:      Fields{Structure: words("webhookId message requestedBy")},
	},
	{
		Type: EscalationCompleted, Since: contract.V20261001, Scope: scope.PortalsRead,
		Description: "A chat that was handed to the video avatar ended. Sent at most once per escalation.",
		Fields:      Fields{Structure: words("escalationId portalId sessionId externalChatId outcome resolved durationS inboxItemId startedAt completedAt")},
		values:      fieldValues{"outcome": words("resolved unresolved handoff abandoned")},
	},
	{
		Type: CaseLinkOpened, Since: contract.V20261001, Scope: scope.PortalsRead,
		Description: "A customer opened the link to their case for the first time. Sent at most once per link.",
		Fields: Fields{
			Structure:    words("caseLinkId portalId caseRef customerRef sessionId openedAt openCount"),
			Conversation: words("caseSummary"),
		},
	},
	{
		Type: ConnectionFailed, Since: contract.V20261001, Scope: scope.ConnectionsWrite,
		Description: "A connected system stopped working. Sent at most once per outage.",
		Fields:      Fields{Structure: words("connectionId kind provider state errorCode consecutiveFailures lastOkAt failedAt")},
		values:      fieldValues{"state": words("failing")},
	},
}
