package event

import (
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/scope"
)

// completionFields are what was completed, and by whom.
const completionFields = "completionId personId membershipId subjectId portalId assignmentId"

// recordKinds are about what people have to show for their work, and what the knowledge lacks.
var recordKinds = []*Kind{
	{
		Type: AttestationRecorded, Since: contract.V20260708, Scope: scope.ResultsRead,
		Description: "A person confirmed a statement, or a witness confirmed it for them.",
		Fields:      Fields{Structure: words("attestationId personId membershipId subjectId portalId statementKey statementVersion method witnessId recordedAt")},
		values:      fieldValues{"method": words("click spoken signed witness")},
	},
	{
		Type: KnowledgeGap, Since: contract.V20260708, Scope: scope.InboxRead,
		Description: "Visitors ask what the knowledge does not answer: a gap was found or grew. Sent at most once per gap and day.",
		Fields: Fields{
			Structure:    words("gapId portalId personaId knowledgeBaseIds[] language questionCount firstSeenAt lastSeenAt state"),
			Conversation: words("questions[]"),
		},
		values: fieldValues{"state": words("open answered dismissed")},
	},
	{
		Type: CertificateIssued, Since: contract.V20260708, Scope: scope.ResultsRead,
		Description: "A certificate was issued. Sent at most once per certificate.",
		Fields: Fields{
			Structure: words(certificateFields + " templateKey"),
			Result:    words("percent band"),
		},
	},
	{
		Type: CompletionRecorded, Since: contract.V20260708, Scope: scope.ResultsRead,
		Description: "A person's completion of a subject was recorded.",
		Fields: Fields{
			Structure: words(completionFields + " resultId certificateId source completedAt validUntil"),
			Result:    words(scoreFields),
		},
		values: fieldValues{"source": words("session attestation api import")},
	},
	{
		Type: CompletionWithdrawn, Since: contract.V20260708, Scope: scope.ResultsRead,
		Description: "A completion was withdrawn, by hand or because a review voided its result. Sent at most once per completion.",
		Fields:      Fields{Structure: words(completionFields + " reasonCode withdrawnBy withdrawnAt")},
	},
	{
		Type: AttemptGranted, Since: contract.V20260708, Scope: scope.ResultsRead,
		Description: "A person was given further attempts.",
		Fields:      Fields{Structure: words("grantId personId membershipId subjectId portalId assignmentId extraAttempts attemptsAllowed grantedBy grantedAt")},
	},
	{
		Type: CertificateExpiring, Since: contract.V20260708, Scope: scope.ResultsRead,
		Description: "A certificate expires in 60, 30 or 7 days. Sent at most once per certificate and step.",
		Fields:      Fields{Structure: words(certificateFields + " daysLeft")},
	},
	{
		Type: CertificateExpired, Since: contract.V20260708, Scope: scope.ResultsRead,
		Description: "A certificate expired. Sent at most once per certificate.",
		Fields:      Fields{Structure: words(certificateFields)},
	},
}
