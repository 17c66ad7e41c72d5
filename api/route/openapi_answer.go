package route

import (
	"net/http"
	"slices"
	"strings"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/problem"
)

// failureName names the answer that has one of some codes among the document's
// components: ForbiddenOrUpgradeRequired.
func failureName(codes []problem.Code) string {
	names := make([]string, len(codes))
	for i, code := range codes {
		for word := range strings.SplitSeq(string(code), "_") {
			names[i] += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(names, "Or")
}

func failureResponse(v contract.Version, status int, codes []problem.Code) object {
	schema := ref("schemas", "Error")
	if v.Before(contract.V20261001) && slices.Contains(codes, problem.UpgradeRequired) {
		schema = object{"oneOf": []any{schema, ref("schemas", "PlanRefusal")}}
	}
	names := make([]string, len(codes))
	for i, code := range codes {
		names[i] = string(code)
		if code == problem.TooLarge && v.Before(contract.V20261001) {
			names[i] = string(problem.InvalidRequest)
		}
	}
	headers := headerRefs()
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable || status == http.StatusConflict {
		headers[retryHeader] = ref("headers", retryHeader)
	}
	return object{
		"description": strings.Join(names, ", "),
		"headers":     headers,
		"content":     object{"application/json": object{"schema": schema}},
	}
}

const (
	replayedHeader = "Idempotency-Replayed"
	retryHeader    = "Retry-After"
)

// answerHeaders describes every header of the API's own.
func answerHeaders() object {
	header := func(kind, description string) object {
		return object{"description": description, "schema": object{"type": kind}}
	}
	return object{
		"X-Request-Id":        header("string", "The request's id."),
		contract.Header:       header("string", "The contract the answer is written in."),
		"RateLimit-Limit":     header("integer", "The closer limit, in requests a minute."),
		"RateLimit-Remaining": header("integer", "What is left of it."),
		"RateLimit-Reset":     header("integer", "Seconds until its window resets."),
		replayedHeader:        header("string", "true when the answer is that of an earlier request with the same Idempotency-Key."),
		retryHeader:           header("integer", "Seconds to wait before trying again."),
	}
}

// headerRefs are the headers of every answer.
func headerRefs() object {
	headers := object{}
	for _, name := range []string{"X-Request-Id", contract.Header, "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
		headers[name] = ref("headers", name)
	}
	return headers
}

func ref(section, name string) object { return object{"$ref": "#/components/" + section + "/" + name} }

func versionParameter() object {
	versions := []any{}
	for _, v := range contract.Versions() {
		versions = append(versions, string(v))
	}
	return object{
		"name": contract.Header, "in": "header", "schema": object{"type": "string", "enum": versions},
		"description": "The key's contract or a newer one.",
	}
}

func idempotencyParameter() object {
	return object{
		"name": IdempotencyHeader, "in": "header",
		"schema":      object{"type": "string", "minLength": 1, "maxLength": 255},
		"description": "A name for this request. Sent again within 24 hours it has no second effect and gets the same answer.",
	}
}

// errorSchema is the error object of a failed answer (spec, Error object).
func errorSchema(v contract.Version) object {
	codes := []any{}
	for _, c := range problem.Codes() {
		if c == problem.TooLarge && v.Before(contract.V20261001) {
			continue
		}
		codes = append(codes, string(c))
	}
	return object{
		"type": "object", "required": []any{"error"}, "description": "A failure.",
		"properties": object{"error": object{
			"type": "object", "required": []any{"code", "message"}, "description": "What went wrong.",
			"properties": object{
				"code":    object{"type": "string", "description": "Stable and machine-readable. An unknown code is treated by its HTTP status.", "examples": codes},
				"message": object{"type": "string", "description": "Plain English; may be reworded."},
				"param":   object{"type": "string", "description": "The input at fault: body.<field>, query.<field>, path.<name> or header.<name>."},
				"details": object{"type": "object", "additionalProperties": true, "description": "More of some codes, such as reason, currentVersion, limit or problems."},
			},
		}},
	}
}

// planRefusalSchema is the older contract's refusal of a plan (spec, Errors).
func planRefusalSchema() object {
	return object{
		"type": "object", "required": []any{"error", "feature", "plan", "message"}, "description": "A refusal of the plan.",
		"properties": object{
			"error":   object{"type": "string", "const": string(problem.UpgradeRequired), "description": "Always upgrade_required."},
			"feature": object{"type": "string", "description": "What the plan lacks."},
			"plan":    object{"type": []any{"string", "null"}, "description": "The cheapest plan that includes it; null for none."},
			"message": object{"type": "string", "description": "Plain English; may be reworded."},
			"limit":   object{"type": "integer", "description": "How many the plan allows, where it is a count."},
		},
	}
}
