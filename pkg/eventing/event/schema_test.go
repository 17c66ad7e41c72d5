package event_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/eventing/event"
)

// compiled is a kind's schema as a client that read it from JSON compiles it.
func compiled(t *testing.T, k *event.Kind) *jsonschema.Schema {
	t.Helper()
	text, err := json.Marshal(k.Schema())
	require.NoError(t, err)
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("mem:///data.json", parsed))
	schema, err := c.Compile("mem:///data.json")
	require.NoError(t, err, k.Type)
	return schema
}

// heldBack is the data of an event of which nothing may be told.
func heldBack(t *testing.T, k *event.Kind) map[string]any {
	t.Helper()
	data, err := k.Structure(nil)
	require.NoError(t, err)
	maps.Copy(data, k.Blank())
	return data
}

// sample is a value of what a property's schema describes, not null.
func sample(property map[string]any) any {
	switch property["type"].([]any)[0] {
	case "boolean":
		return true
	case "integer":
		return 7
	case "number":
		return 7.5
	case "array":
		items := property["items"].(map[string]any)
		if of, ok := items["properties"]; ok {
			return []any{sampleObject(of)}
		}
		return []any{"x"}
	case "object":
		return sampleObject(property["properties"])
	}
	if property["format"] == "date-time" {
		return "2026-10-02T08:00:00.123456Z"
	}
	return "x"
}

func sampleObject(properties any) map[string]any {
	object := map[string]any{}
	for name, property := range properties.(map[string]any) {
		object[name] = sample(property.(map[string]any))
	}
	return object
}

func TestSchemas(t *testing.T) {
	for _, k := range event.Kinds() {
		t.Run(string(k.Type), func(t *testing.T) {
			schema := compiled(t, k)
			data := heldBack(t, k)
			require.NoError(t, schema.Validate(data), "every field may be null")
			require.ElementsMatch(t, slices.Collect(maps.Keys(data)), slices.Collect(maps.Keys(k.Schema()["properties"].(map[string]any))))
			require.NoError(t, schema.Validate(sampleObject(k.Schema()["properties"])))

			data["later"] = 1
			require.NoError(t, schema.Validate(data), "fields may be added")
			delete(data, "later")
			for _, name := range slices.Collect(maps.Keys(data)) {
				was := data[name]
				delete(data, name)
				require.Error(t, schema.Validate(data), "%s is always there", name)
				data[name] = map[string]any{}
				require.Error(t, schema.Validate(data), "%s is typed", name)
				data[name] = []any{map[string]any{}}
				require.Error(t, schema.Validate(data), "%s is typed", name)
				if strings.HasSuffix(name, "At") {
					data[name] = "yesterday"
					require.Error(t, schema.Validate(data), name)
				}
				data[name] = was
			}
		})
	}
}

func TestSchemaTypes(t *testing.T) {
	for _, c := range []struct {
		of             event.Type
		field          string
		takes, refuses []any
	}{
		{event.SessionStarted, "sessionId", []any{"sess_1"}, []any{1, true}},
		{event.SessionStarted, "sandbox", []any{true}, []any{"true", 1}},
		{event.SessionStarted, "kind", []any{"case", "later"}, []any{1}},
		{event.SessionEnded, "durationS", []any{62}, []any{62.5, "62"}},
		{event.SessionEnded, "turnCount", []any{0}, []any{0.5}},
		{event.SessionEnded, "summary", []any{"They talked."}, []any{1}},
		{event.UsageThreshold, "monthlyCapMinutes", []any{600}, []any{0.5, "600"}},
		{event.UsageThreshold, "minutesLeft", []any{600}, []any{0.5, "600"}},
		{event.UsageThreshold, "periodStart", []any{"2026-10-01T00:00:00Z"}, []any{"2026-10-01", 1}},
		{event.ScoreRecorded, "percent", []any{71, 71.5}, []any{"71"}},
		{event.ScoreRecorded, "criteria", []any{[]any{}, []any{map[string]any{"key": "tone", "score": 2.5, "maxScore": nil}}},
			[]any{map[string]any{}, []any{map[string]any{"key": "tone"}}, []any{map[string]any{"key": "tone", "score": "2", "maxScore": 4}}, []any{nil}}},
		{event.ScoreRecorded, "passed", []any{false}, []any{"false"}},
		{event.MasteryUpdated, "mastery", []any{0.25}, []any{"0.25"}},
		{event.CompletionRecorded, "validUntil", []any{"2027-10-01T00:00:00Z"}, []any{"2027"}},
		{event.LeadCaptured, "contact", []any{map[string]any{"name": "Ada", "email": nil, "phone": nil, "company": nil, "preferredChannel": "email"}},
			[]any{"Ada", map[string]any{"name": "Ada"}}},
		{event.LeadUpdated, "changedFields", []any{[]any{"state"}, []any{}}, []any{"state", []any{1}, []any{nil}}},
		{event.SettingChanged, "value", []any{true, 3, 0.5, "strict"}, []any{[]any{true}, map[string]any{}}},
		{event.SettingChanged, "previousValue", []any{true, 3, 0.5, "strict"}, []any{[]any{true}, map[string]any{}}},
		{event.ConsentRecorded, "policyVersion", []any{"2026-07-01"}, []any{20260701}},
		{event.SubjectDraftSaved, "version", []any{3}, []any{"3"}},
		{event.CertificateIssued, "number", []any{"C-7"}, []any{7}},
	} {
		k, _ := event.Find(c.of)
		schema, data := compiled(t, k), heldBack(t, k)
		for _, value := range c.takes {
			data[c.field] = value
			require.NoError(t, schema.Validate(data), "%s: %s %v", c.of, c.field, value)
		}
		for _, value := range c.refuses {
			data[c.field] = value
			require.Error(t, schema.Validate(data), "%s: %s %v", c.of, c.field, value)
		}
	}
}

func TestSchemaDescribes(t *testing.T) {
	for _, c := range []struct {
		of          event.Type
		field, says string
		examples    []any
	}{
		{event.HandoffJoined, "mode", "How it takes place. One of listen, speak, takeover; more may be added.", []any{"listen", "speak", "takeover"}},
		{event.HandoffJoined, "waitS", "How long the visitor waited, in seconds.", nil},
		{event.HandoffRequested, "requestedBy", "Who asked for it. One of visitor, avatar, rule; more may be added.", []any{"visitor", "avatar", "rule"}},
		{event.UnitRenamed, "changedBy", "Who changed it. A person's id, a key's id or system.", nil},
		{event.ScoreRecorded, "percent", "The share of points, in percent. Null until the result is released.", nil},
		{event.SessionEnded, "summary", "What was said, in a few sentences. Null without includeConversation, and where the privacy rules hold it back.", nil},
	} {
		k, _ := event.Find(c.of)
		property := k.Schema()["properties"].(map[string]any)[c.field].(map[string]any)
		require.Equal(t, c.says, property["description"], "%s: %s", c.of, c.field)
		if c.examples == nil {
			require.NotContains(t, property, "examples")
		} else {
			require.Equal(t, c.examples, property["examples"])
		}
	}
}

// Every field says what it holds, in data, in its objects and in its lists.
func TestSchemasDescribeEveryField(t *testing.T) {
	var check func(t *testing.T, at string, schema map[string]any)
	check = func(t *testing.T, at string, schema map[string]any) {
		properties, _ := schema["properties"].(map[string]any)
		for name, property := range properties {
			property := property.(map[string]any)
			require.NotEmpty(t, property["description"], "%s.%s", at, name)
			check(t, at+"."+name, property)
			if items, ok := property["items"].(map[string]any); ok {
				check(t, at+"."+name, items)
			}
		}
	}
	for _, k := range event.Kinds() {
		check(t, string(k.Type), k.Schema())
	}
}

// What the examples show is what their schemas allow; no field is left out.
func TestExamples(t *testing.T) {
	for _, k := range event.Kinds() {
		example := k.Example(contract.Latest)
		require.Equal(t, string(k.Type), example["type"])
		require.NoError(t, compiled(t, k).Validate(plain(t, example["data"])), k.Type)
		require.NotContains(t, k.Example(contract.V20260708), "apiVersion")
	}
}

// plain is a value as it comes back from JSON.
func plain(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	return parsed
}
