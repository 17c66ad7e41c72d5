package event

import (
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/scope"
)

// attemptFields are what a result is of, and whose.
const attemptFields = "resultId sessionId subjectId portalId personId membershipId unitId assignmentId"

// scoreFields are what a result is worth.
const scoreFields = "percent score maxScore band passed"

// certificateFields are what a certificate is for, and whose.
const certificateFields = "certificateId number personId membershipId subjectId portalId resultId issuedAt expiresAt " +
	"verifyUrl"

// channels are the ways in which a conversation is held.
var channels = words("video voice chat")

// resultKinds are about learning: work set and done, what it was worth, who came in.
var resultKinds = []*Kind{
	{
		Type: ScoreRecorded, Since: contract.V20260708, Scope: scope.ResultsRead,
		Description: "A result was given a score, for one criterion or for the whole, by the avatar or by a person.",
		Fields: Fields{
			Structure: words(attemptFields + " attempt scoredBy rubricVersion recordedAt"),
			Result:    words(scoreFields + " criteria[].key criteria[].score criteria[].maxScore"),
		},
		values: fieldValues{"scoredBy": words("avatar person mixed")},
	},
	{
		Type: MasteryUpdated, Since: contract.V20260708, Scope: scope.ResultsRead,
		Description: "A scored session changed how well a person masters an objective.",
		Fields: Fields{
			Structure: words("personId membershipId subjectId portalId objectiveKey sessionId updatedAt"),
			Result:    words("level previousLevel mastery"),
		},
	},
	{
		Type: MemoryWritten, Since: contract.V20260708, Scope: scope.ResultsRead,
		Description: "The avatar saved or refreshed what it remembers of a person. The remembered words are never sent.",
		Fields:      Fields{Structure: words("memoryId personId membershipId portalId subjectId sessionId itemCount writtenAt expiresAt")},
	},
	{
		Type: AssignmentCreated, Since: contract.V20260708, Scope: scope.AssignmentsRead,
		Description: "Work was set for people or units.",
		Fields:      Fields{Structure: words("assignmentId subjectId portalId unitId personId audience assigneeCount kind dueAt createdBy createdAt")},
		values:      fieldValues{"kind": words("learn practice assess"), "audience": words("everyone unit person")},
	},
	{
		Type: AssignmentStarted, Since: contract.V20260708, Scope: scope.AssignmentsRead,
		Description: "A person began assigned work. Sent at most once per person and assignment.",
		Fields:      Fields{Structure: words("assignmentId subjectId portalId personId membershipId sessionId attempt startedAt")},
	},
	{
		Type: AssignmentCompleted, Since: contract.V20260708, Scope: scope.AssignmentsRead,
		Description: "A person completed assigned work.",
		Fields: Fields{
			Structure: words("assignmentId subjectId portalId personId membershipId resultId completionId attempt late completedAt"),
			Result:    words(scoreFields),
		},
	},
	{
		Type: PracticeStarted, Since: contract.V20260708, Scope: scope.SessionsRead,
		Description: "A practice session went live. Sent at most once per session.",
		Fields:      Fields{Structure: words("sessionId subjectId portalId personId membershipId unitId language startedAt")},
	},
	{
		Type: LearnerSignedIn, Since: contract.V20260708, Scope: scope.SessionsRead,
		Description: "A learner came in to a portal through one of its doors.",
		Fields:      Fields{Structure: words("personId membershipId portalId unitId door firstTime signedInAt")},
		values:      fieldValues{"door": words("members_link join_code sso embed")},
	},
	{
		Type: VisitorSessionEnded, Since: contract.V20260708, Scope: scope.SessionsRead,
		Description: "A visitor's or a customer's conversation on a portal or a widget ended. Sent at most once per session.",
		Fields: Fields{Structure: words("sessionId portalId widgetId subjectId personaId channel door language startedAt endedAt durationS " +
			"endReason turnCount outcome inboxItemId handedOff rated")},
		values: fieldValues{"channel": channels, "door": words("visitors customers embed"), "endReason": endReasons, "outcome": words("resolved lead booking handoff abandoned completed")},
	},
	{
		Type: ReportProduced, Since: contract.V20260708, Scope: scope.ResultsRead,
		Description: "A report on a result, a session or a group was written.",
		Fields: Fields{
			Structure:    words("reportId resultId sessionId subjectId portalId personId unitId kind version language format producedAt"),
			Result:       words(scoreFields),
			Conversation: words("summary feedback[].line feedback[].quote quotes[]"),
		},
		values: fieldValues{"kind": words("result cohort portal session"), "format": words("html pdf json")},
	},
	{
		Type: AssessmentCompleted, Since: contract.V20260708, Scope: scope.ResultsRead,
		Description: "An assessed session ended and has a result, released or waiting for a review. Sent at most once per attempt.",
		Fields: Fields{
			Structure: words(attemptFields + " attempt attemptsLeft state completedAt"),
			Result:    words(scoreFields),
		},
		values: fieldValues{"state": words("awaiting_review released")},
	},
	{
		Type: ReviewRequested, Since: contract.V20260708, Scope: scope.ResultsRead,
		Description: "A person is asked to review a result.",
		Fields:      Fields{Structure: words("reviewId " + attemptFields + " attempt requestedBy reasonCode dueAt requestedAt")},
	},
	{
		Type: ReviewCompleted, Since: contract.V20260708, Scope: scope.ResultsRead,
		Description: "A person finished reviewing a result; outcome says what became of it. Sent at most once per review.",
		Fields: Fields{
			Structure: words("reviewId " + attemptFields + " attempt reviewerId outcome completedAt"),
			Result:    words(scoreFields + " previousPercent"),
		},
		values: fieldValues{"outcome": words("upheld changed voided")},
	},
	{
		Type: ResultContested, Since: contract.V20260708, Scope: scope.ResultsRead,
		Description: "A learner contested a released result. The learner's words are not sent.",
		Fields:      Fields{Structure: words("contestId " + attemptFields + " attempt state contestedAt")},
		values:      fieldValues{"state": words("open upheld rejected withdrawn")},
	},
	{
		Type: CertificateRevoked, Since: contract.V20260708, Scope: scope.ResultsRead,
		Description: "A certificate was revoked, or what it rested on was withdrawn. Sent at most once per certificate.",
		Fields:      Fields{Structure: words(certificateFields + " revokedAt reasonCode revokedBy")},
	},
}
