package event_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
)

// specTypes are the spec's, in its order (Event types).
var specTypes = []event.Type{
	"session.started", "session.ended", "transcript.final", "voice.clone.completed", "usage.threshold",
	"knowledge.document.processed", "knowledge.document.failed", "score.recorded", "mastery.updated",
	"memory.written", "assignment.created", "assignment.started", "assignment.completed", "practice.started",
	"learner.signed_in", "visitor.session.ended", "report.produced", "assessment.completed", "review.requested",
	"review.completed", "result.contested", "certificate.revoked", "candidate.screened", "candidate.decided",
	"candidate.erased", "candidate.invited", "candidate.invite_cancelled", "candidate.reviewed",
	"candidate.interview_offered", "candidate.interview_booked", "candidate.interview_cancelled",
	"attestation.recorded", "knowledge.gap", "certificate.issued", "completion.recorded",
	"completion.withdrawn", "attempt.granted", "certificate.expiring", "certificate.expired",
	"handoff.requested", "handoff.updated", "lead.captured", "booking.requested", "lead.updated",
	"booking.updated", "handoff.joined", "handoff.left", "visitor.detail_removed", "conversation.rated",
	"consent.recorded", "setting.changed", "member.added", "member.removed", "member.updated",
	"member.disabled", "member.enabled", "unit.created", "unit.updated", "unit.renamed", "unit.disabled",
	"unit.enabled", "unit.deleted", "workspace.created", "workspace.published", "portal.created",
	"portal.updated", "session.transcript_ready", "subject.draft_saved", "widget.updated", "job.completed",
	"candidate.invite_opened", "candidate.invite_expired", "webhook.test", "escalation.completed",
	"case_link.opened", "connection.failed",
}

func TestCatalogueIsTheSpecs(t *testing.T) {
	var types []event.Type
	for _, k := range event.Kinds() {
		types = append(types, k.Type)
		found, ok := event.Find(k.Type)
		require.True(t, ok)
		require.Same(t, k, found)
	}
	require.Equal(t, specTypes, types)
	_, ok := event.Find("session.paused")
	require.False(t, ok)

	event.Kinds()[0] = nil
	require.NotNil(t, event.Kinds()[0], "the list is the caller's own")
}

func TestDescriptions(t *testing.T) {
	seen := map[string]event.Type{}
	for _, k := range event.Kinds() {
		require.True(t, strings.HasSuffix(k.Description, "."), k.Type)
		require.Empty(t, seen[k.Description], "%s says the same", k.Type)
		seen[k.Description] = k.Type
	}
}

func TestSince(t *testing.T) {
	newer := slices.Index(specTypes, event.PortalCreated)
	for i, k := range event.Kinds() {
		want := contract.V20260708
		if i >= newer {
			want = contract.V20261001
		}
		require.Equal(t, want, k.Since, k.Type)
	}
}

func TestExplicitOnly(t *testing.T) {
	for _, k := range event.Kinds() {
		require.Equal(t, k.Type == event.TranscriptFinal, k.ExplicitOnly, k.Type)
		require.Equal(t, k.Type == event.TranscriptFinal, k.RequiresConversation, k.Type)
	}
}

// scopes are rule 2 of "Events", by types or the beginnings of types; the first
// that fits holds. What the rule does not name goes with what it is closest to.
var scopes = []scoped{
	{scope.TranscriptsRead, "transcript.final session.transcript_ready"},
	{scope.SessionsRead, "session. visitor.session.ended practice. learner.signed_in conversation.rated"},
	{scope.ResultsRead, "report. score. review. result. assessment. certificate. completion. mastery. memory. attestation. attempt."},
	{scope.AssignmentsRead, "assignment."},
	{scope.CandidatesRead, "candidate."},
	{scope.InboxRead, "lead. booking. handoff. visitor.detail_removed knowledge.gap"},
	{scope.PeopleRead, "member. unit. consent."},
	{scope.PortalsRead, "portal. workspace. subject. job. escalation. case_link."},
	{scope.WidgetsRead, "widget."},
	{scope.SettingsRead, "setting."},
	{scope.KnowledgeRead, "knowledge.document."},
	{scope.VoicesRead, "voice."},
	{scope.UsageRead, "usage."},
	{scope.WebhooksManage, "webhook."},
	{scope.ConnectionsWrite, "connection."},
}

type scoped struct {
	scope scope.Scope
	types string
}

func (s scoped) fits(t event.Type) bool {
	return slices.ContainsFunc(strings.Fields(s.types), func(start string) bool { return strings.HasPrefix(string(t), start) })
}

func TestScopes(t *testing.T) {
	for _, k := range event.Kinds() {
		i := slices.IndexFunc(scopes, func(s scoped) bool { return s.fits(k.Type) })
		require.GreaterOrEqual(t, i, 0, k.Type)
		require.Equal(t, scopes[i].scope, k.Scope, k.Type)
		require.True(t, scope.Known(k.Scope), k.Type)
	}
}

// conversation is what "includeConversation" says of each type.
var conversation = map[event.Type]string{
	event.TranscriptFinal:   "text",
	event.SessionEnded:      "summary",
	event.ReportProduced:    "summary feedback[].line feedback[].quote quotes[]",
	event.LeadCaptured:      "need budget timeline answers[].question answers[].answer summary",
	event.LeadUpdated:       "need budget timeline answers[].question answers[].answer summary",
	event.BookingRequested:  "need answers[].question answers[].answer summary reason",
	event.BookingUpdated:    "need answers[].question answers[].answer summary reason",
	event.HandoffRequested:  "reason summary",
	event.HandoffUpdated:    "reason summary",
	event.ConversationRated: "comment",
	event.KnowledgeGap:      "questions[]",
	event.CaseLinkOpened:    "caseSummary",
}

func TestConversationFields(t *testing.T) {
	for _, k := range event.Kinds() {
		require.Equal(t, strings.Fields(conversation[k.Type]), k.Fields.Conversation, k.Type)
	}
}

func TestContactFields(t *testing.T) {
	for _, k := range event.Kinds() {
		family, _, _ := strings.Cut(string(k.Type), ".")
		want := []string{}
		if slices.Contains([]string{"lead", "booking", "handoff"}, family) {
			want = []string{"contact.name", "contact.email", "contact.phone", "contact.company", "contact.preferredChannel"}
			for _, path := range want {
				_, flat, _ := strings.Cut(path, ".")
				require.NotContains(t, k.Schema()["properties"], flat, "%s: the older contract has it flat", k.Type)
			}
		}
		require.Equal(t, want, k.Fields.Contact, k.Type)
	}
}

// results are the types that say what a result is worth.
var results = []event.Type{
	event.ScoreRecorded, event.MasteryUpdated, event.AssignmentCompleted, event.ReportProduced,
	event.AssessmentCompleted, event.ReviewCompleted, event.CandidateScreened, event.CertificateIssued,
	event.CompletionRecorded,
}

func TestResultFields(t *testing.T) {
	var types []event.Type
	for _, k := range event.Kinds() {
		require.NotNil(t, k.Fields.Result, k.Type)
		if len(k.Fields.Result) > 0 {
			types = append(types, k.Type)
		}
	}
	require.Equal(t, results, types)
}

func TestConsentRecorded(t *testing.T) {
	k, _ := event.Find(event.ConsentRecorded)
	require.Equal(t, []string{"consentId", "kind", "state", "membershipId", "personId", "avatarId", "voiceId",
		"policyVersion", "method", "recordedAt"}, k.Fields.Structure)
}

// A field has one class, and structure is flat: Structure knows names only.
func TestFields(t *testing.T) {
	for _, k := range event.Kinds() {
		owner := map[string]string{}
		for class, paths := range map[string][]string{
			"structure": k.Fields.Structure, "contact": k.Fields.Contact, "result": k.Fields.Result, "conversation": k.Fields.Conversation,
		} {
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(paths))), len(paths), "%s has a %s field twice", k.Type, class)
			for _, path := range paths {
				require.Regexp(t, `^[a-z][a-zA-Z]*(\[\])?(\.[a-z][a-zA-Z]*)?$`, path, k.Type)
				name, _, _ := strings.Cut(path, ".")
				name = strings.TrimSuffix(name, "[]")
				if was, ok := owner[name]; ok {
					require.Equal(t, was, class, "%s: %s", k.Type, name)
				}
				owner[name] = class
			}
		}
		require.NotEmpty(t, k.Fields.Structure, k.Type)
		require.NotContains(t, strings.Join(k.Fields.Structure, " "), ".", k.Type)
	}
}
