package event

import (
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/scope"
)

// candidateFields are who a candidate is, by ids alone.
const candidateFields = "candidateId roleId inviteId externalId"

// The values that fields of several types hold.
var (
	decisions      = words("advance reject hold hire withdrawn")
	interviewModes = words("video phone onsite")
)

// hiringKinds are about candidates, whose words and contact details are in no event.
var hiringKinds = []*Kind{
	{
		Type: CandidateScreened, Since: contract.V20260708, Scope: scope.CandidatesRead,
		Description: "A screening interview ended, complete or not, and its scorecard is written.",
		Fields: Fields{
			Structure: words(candidateFields + " screeningId complete questionCount answeredCount durationS language screenedAt"),
			Result:    words("band percent"),
		},
	},
	{
		Type: CandidateDecided, Since: contract.V20260708, Scope: scope.CandidatesRead,
		Description: "A person recorded a decision on a candidate, or the candidate withdrew: then decidedBy is null.",
		Fields:      Fields{Structure: words(candidateFields + " decision decidedBy decidedAt humanReviewed reasonCode previousDecision")},
		values:      fieldValues{"decision": decisions, "previousDecision": decisions},
	},
	{
		Type: CandidateErased, Since: contract.V20260708, Scope: scope.CandidatesRead,
		Description: "A candidate's details were erased; erase your copies too. Sent at most once per candidate.",
		Fields:      Fields{Structure: words(candidateFields + " trigger erasedAt")},
		values:      fieldValues{"trigger": words("request retention deletion")},
	},
	{
		Type: CandidateInvited, Since: contract.V20260708, Scope: scope.CandidatesRead,
		Description: "A candidate was invited to a screening interview. Sent at most once per invite.",
		Fields:      Fields{Structure: words(candidateFields + " channel language expiresAt invitedBy invitedAt")},
		values:      fieldValues{"channel": words("email link")},
	},
	{
		Type: CandidateInviteCancelled, Since: contract.V20260708, Scope: scope.CandidatesRead,
		Description: "An invite was cancelled. Sent at most once per invite.",
		Fields:      Fields{Structure: words(candidateFields + " cancelledBy cancelledAt")},
	},
	{
		Type: CandidateReviewed, Since: contract.V20260708, Scope: scope.CandidatesRead,
		Description: "A team member reviewed a candidate's screening.",
		Fields:      Fields{Structure: words(candidateFields + " screeningId reviewerId reviewedAt")},
	},
	{
		Type: CandidateInterviewOffered, Since: contract.V20260708, Scope: scope.CandidatesRead,
		Description: "A candidate was offered times for an interview with people.",
		Fields:      Fields{Structure: words(candidateFields + " interviewId slotCount mode timezone offeredBy offeredAt expiresAt")},
		values:      fieldValues{"mode": interviewModes},
	},
	{
		Type: CandidateInterviewBooked, Since: contract.V20260708, Scope: scope.CandidatesRead,
		Description: "A time was picked for an interview with people.",
		Fields:      Fields{Structure: words(candidateFields + " interviewId startsAt endsAt timezone mode interviewerIds[] bookedAt")},
		values:      fieldValues{"mode": interviewModes},
	},
	{
		Type: CandidateInterviewCancelled, Since: contract.V20260708, Scope: scope.CandidatesRead,
		Description: "An interview with people was cancelled, offered or booked. Sent at most once per interview.",
		Fields:      Fields{Structure: words(candidateFields + " interviewId startsAt cancelledBy reasonCode cancelledAt")},
	},
}
