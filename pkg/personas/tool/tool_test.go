package tool_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/personas/tool"
)

func described(more map[string]any) map[string]any {
	config := map[string]any{"name": "show_map", "description": "Shows a map of the house."}
	maps.Copy(config, more)
	return config
}

func TestReadFillsIn(t *testing.T) {
	read, err := tool.Read(described(nil))
	require.NoError(t, err)
	require.Equal(t, "show map", read.Title)
	require.Equal(t, tool.Never, read.Confirm)
	require.Equal(t, int64(10_000), read.TimeoutMs)
	schema, err := tool.Compile(read.Parameters)
	require.NoError(t, err)
	got, err := schema.Arguments("")
	require.NoError(t, err)
	require.Empty(t, got)
}

// nested are lists in lists.
func nested(deep int) any {
	var value any = map[string]any{}
	for range deep {
		value = []any{value}
	}
	return value
}

// A property may be named as a keyword is.
func TestPropertiesHaveAnyName(t *testing.T) {
	_, err := tool.Read(described(map[string]any{"parameters": map[string]any{"type": "object", "properties": map[string]any{
		"$ref": map[string]any{"type": "string"}, "pattern": map[string]any{"type": "string", "enum": []any{"$ref"}},
	}}}))
	require.NoError(t, err)
}

func TestReadRefuses(t *testing.T) {
	object := func(more map[string]any) map[string]any {
		more["type"] = "object"
		return map[string]any{"parameters": more}
	}
	for field, configs := range map[string][]map[string]any{
		"name":        {{"name": ""}, {"name": "show map"}, {"name": "1st"}, {"name": strings.Repeat("a", 65)}, {"name": 7}},
		"description": {{"description": " "}, {"description": strings.Repeat("a", 1001)}},
		"title":       {{"title": strings.Repeat("a", 201)}},
		"confirm":     {{"confirm": "staff"}},
		"timeoutMs":   {{"timeoutMs": 99}, {"timeoutMs": 30_001}},
		"parameters": {
			{"parameters": map[string]any{"type": "string"}}, {"parameters": []any{}},
			object(map[string]any{"properties": 7}), object(map[string]any{"properties": map[string]any{"a": map[string]any{"type": "no type"}}}),
			object(map[string]any{"$ref": "file:///etc/passwd"}), object(map[string]any{"properties": map[string]any{"a": map[string]any{"$ref": "#"}}}),
			object(map[string]any{"properties": map[string]any{"a": map[string]any{"pattern": "a"}}}),
			object(map[string]any{"patternProperties": map[string]any{"(a{1,999}b?){1}": map[string]any{}}}),
			object(map[string]any{"properties": map[string]any{"a": map[string]any{"format": "regex"}}}),
			object(map[string]any{"allOf": nested(20)}),
		},
		"url": {{"url": "https://example.com"}},
	} {
		for _, config := range configs {
			_, err := tool.Read(described(config))
			var wrong *errdefs.Invalid
			require.ErrorAs(t, err, &wrong, "%v", config)
			require.Equal(t, field, wrong.Field, "%v: %v", config, err)
		}
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	schema, err := tool.Compile([]byte(`{"type":"object","required":["floor"],"additionalProperties":false,
		"properties":{"floor":{"type":"integer","minimum":0,"maximum":3},"mail":{"type":"string","format":"email"}}}`))
	require.NoError(t, err)
	got, err := schema.Arguments(`{"floor": 2}`)
	require.NoError(t, err)
	require.Contains(t, got, "floor")
	for written, wrong := range map[string]string{
		`{"floor": 2`: "not JSON", `[2]`: "not a JSON object", `{}`: "floor", `{"floor": 9}`: "floor", `{"floor": "2"}`: "floor",
		`{"floor": 1e2000000}`: "number", `{"floor": 1e-200}`: "number", `{"floor": ` + strings.Repeat("9", 40) + `}`: "number",
		`{"floor": ` + strings.Repeat("[", 50) + strings.Repeat("]", 50) + `}`: "nested",
		`{"floor": 2, "roof": 1}`: "roof", `{"floor": 2, "mail": "no"}`: "mail", `{"floor":2}{"floor":3}`: "not JSON",
	} {
		_, err := schema.Arguments(written)
		require.ErrorContains(t, err, wrong, written)
	}
}
