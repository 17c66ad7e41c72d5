package event

import (
	"slices"
	"strings"
)

// dataSchema makes the schema of a kind's data.
func (k *Kind) dataSchema() map[string]any {
	f := k.Fields
	schema := objectSchema(slices.Concat(f.Structure, f.Contact, f.Result, f.Conversation))
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["title"] = string(k.Type)
	properties := schema["properties"].(map[string]any)
	for _, c := range f.classes() {
		for _, b := range fieldBranches(c.paths) {
			describe(properties[b.name].(map[string]any), b.name, k.values[b.name], c.null)
		}
	}
	return schema
}

// objectSchema is the schema of an object with the given paths. Every field is
// there and may be null: one that does not apply is, and one that the rules
// hold back. Others may be added (spec, Versioning, 8).
func objectSchema(paths []string) map[string]any {
	properties, required := map[string]any{}, []any{}
	for _, b := range fieldBranches(paths) {
		properties[b.name] = nullable(branchSchema(b))
		required = append(required, b.name)
	}
	return map[string]any{
		"type": "object", "properties": properties, "required": required, "additionalProperties": true,
	}
}

func branchSchema(b fieldBranch) map[string]any {
	schema := plainSchema(b.name)
	if len(b.below) > 0 {
		schema = objectSchema(b.below)
	}
	if b.list {
		schema = map[string]any{"type": "array", "items": schema}
	}
	schema["description"] = meanings[b.name]
	return schema
}

func nullable(schema map[string]any) map[string]any {
	switch types := schema["type"].(type) {
	case string:
		schema["type"] = []any{types, "null"}
	case []any:
		schema["type"] = append(types, "null")
	}
	return schema
}

// describe says what a field holds, what values it takes and when it is null.
// The values are examples: more can be added without a new contract (spec,
// Versioning, 8).
func describe(schema map[string]any, name string, values []string, null string) {
	said := []string{meanings[name]}
	if strings.HasSuffix(name, "By") && len(values) == 0 {
		said = append(said, "A person's id, a key's id or system.")
	}
	if len(values) > 0 {
		examples := make([]any, len(values))
		for i, v := range values {
			examples[i] = v
		}
		schema["examples"] = examples
		said = append(said, "One of "+strings.Join(values, ", ")+"; more may be added.")
	}
	if null != "" {
		said = append(said, null)
	}
	schema["description"] = strings.Join(said, " ")
}

// plainSchema is the schema of a value without members, which its name tells.
// Fields are named so that most need no entry in namedTypes.
func plainSchema(name string) map[string]any {
	switch {
	case namedTypes[name] != "":
		return map[string]any{"type": namedTypes[name]}
	case name == "value", name == "previousValue":
		return map[string]any{"type": []any{"boolean", "number", "string"}}
	case strings.HasSuffix(name, "At"), name == "validUntil", name == "periodStart", name == "periodEnd":
		return map[string]any{"type": "string", "format": "date-time"}
	case strings.HasSuffix(name, "S"), strings.HasSuffix(name, "Count"),
		strings.HasPrefix(name, "minutes"), strings.HasSuffix(name, "Minutes"):
		return map[string]any{"type": "integer"}
	}
	return map[string]any{"type": "string"}
}

// namedTypes are the types that a field's name does not tell.
var namedTypes = map[string]string{
	"complete":            "boolean",
	"contactConsent":      "boolean",
	"enabled":             "boolean",
	"firstPublish":        "boolean",
	"firstTime":           "boolean",
	"handedOff":           "boolean",
	"humanReviewed":       "boolean",
	"interrupted":         "boolean",
	"late":                "boolean",
	"opened":              "boolean",
	"passed":              "boolean",
	"rated":               "boolean",
	"refreshed":           "boolean",
	"resolved":            "boolean",
	"retryable":           "boolean",
	"returnedToAvatar":    "boolean",
	"sandbox":             "boolean",
	"summaryAvailable":    "boolean",
	"transcriptAvailable": "boolean",

	"attempt":             "integer",
	"attemptsAllowed":     "integer",
	"attemptsLeft":        "integer",
	"baseVersion":         "integer",
	"bytes":               "integer",
	"consecutiveFailures": "integer",
	"daysLeft":            "integer",
	"extraAttempts":       "integer",
	"index":               "integer",
	"pages":               "integer",
	"rating":              "integer",
	"rubricVersion":       "integer",
	"scale":               "integer",
	"threshold":           "integer", // per cent
	"version":             "integer",

	"mastery":         "number",
	"maxScore":        "number",
	"percent":         "number",
	"previousPercent": "number",
	"score":           "number",
}
