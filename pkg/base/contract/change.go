package contract

import "visavis.dev/pkg/base/problem"

// Change is one difference between a contract and the one before it. Each
// stands alone and is applied, newest first, until the answer reads as the
// caller's contract has it.
type Change struct {
	// Since is the contract that introduced the newer form.
	Since Version
	// Summary says the difference in one line, for the documentation.
	Summary string
	// Failure rewrites the body of a failed answer into the older form. It
	// gets the problem and the body as the newer contract has it.
	Failure func(p *problem.Problem, body map[string]any) map[string]any
	// Event rewrites an event's body into the older form, and may change the
	// one it gets.
	Event func(body map[string]any) map[string]any
	// Answer rewrites an item of a successful answer into the older form, and
	// may change the one it gets.
	Answer func(kind Item, item map[string]any) map[string]any
	// Newer are the fields of items that the older form lacks.
	Newer map[Item][]string
	// Renamed are the names of fields of items in the older form, by those in the newer.
	Renamed map[Item]map[string]string
}

// Changes lists the differences, newest contract first.
func Changes() []Change {
	return []Change{planRefusal, tooLarge, refusedTranscript, smallEnvelope, bareIDs, flatContact, leadScore, noInboxItem, bareDelivery, speakersByName, noStaffPage}
}

// planRefusal: a refusal of the plan was a bare string with its extras beside
// it (Errors, "Older contract").
var planRefusal = Change{
	Since:   V20261001,
	Summary: "Plan refusals are an error object with details.feature, plan and limit; before, error was the string upgrade_required with the extras at the top level.",
	Failure: func(p *problem.Problem, body map[string]any) map[string]any {
		if p.Code != problem.UpgradeRequired {
			return body
		}
		older := map[string]any{
			"error":   string(problem.UpgradeRequired),
			"feature": p.Details["feature"],
			"plan":    p.Details["plan"],
			"message": p.Message,
		}
		if limit, ok := p.Details["limit"]; ok {
			older["limit"] = limit
		}
		return older
	},
}

// tooLarge: 413 had the code invalid_request (Errors; Versioning, 5).
var tooLarge = Change{
	Since:   V20261001,
	Summary: "A body, file or field that is too large is 413 too_large; before, the code was invalid_request.",
	Failure: func(p *problem.Problem, body map[string]any) map[string]any {
		if p.Code == problem.TooLarge {
			body["error"].(map[string]any)["code"] = string(problem.InvalidRequest)
		}
		return body
	},
}

// refusedTranscript: a conversation that nobody may read was plainly forbidden
// (Versioning, 5).
var refusedTranscript = Change{
	Since:   V20261001,
	Summary: "A transcript that may not be read is 403 candidate_interview or learner_conversation; before, the code was forbidden.",
	Failure: func(p *problem.Problem, body map[string]any) map[string]any {
		if p.Code == problem.CandidateInterview || p.Code == problem.LearnerConversation {
			body["error"].(map[string]any)["code"] = string(problem.Forbidden)
		}
		return body
	},
}

// Failure writes a problem's body in a contract.
func Failure(v Version, p *problem.Problem) map[string]any {
	object := map[string]any{"code": string(p.Code), "message": p.Message}
	if p.Param != "" {
		object["param"] = p.Param
	}
	if len(p.Details) > 0 {
		object["details"] = p.Details
	}
	body := map[string]any{"error": object}
	for _, c := range Changes() {
		if v.Before(c.Since) && c.Failure != nil {
			body = c.Failure(p, body)
		}
	}
	return body
}
