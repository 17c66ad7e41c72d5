package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
)

// Whatever a document names, it describes: groups, operations, parameters,
// schemas and properties, of requests, answers and events.
func TestDocumentsDescribeEverything(t *testing.T) {
	for _, v := range contract.Versions() {
		t.Run(string(v), func(t *testing.T) {
			d := apitest.ReadDocument(t, v)
			tags := describedTags(t, d)
			for section, items := range map[string]any{"paths": d.At("paths"), "webhooks": d.At("webhooks")} {
				for path, item := range items.(map[string]any) {
					for method, entry := range item.(map[string]any) {
						o := entry.(map[string]any)
						require.NotEmpty(t, o["summary"], "%s %s", method, path)
						require.Subset(t, tags, o["tags"])
						require.Empty(t, undescribed(section+" "+method+" "+path, o))
					}
				}
			}
			for name, schema := range d.At("components", "schemas").(map[string]any) {
				require.NotEmpty(t, schema.(map[string]any)["description"], name)
				require.Empty(t, undescribed(name, schema))
			}
			for name, parameter := range d.At("components", "parameters").(map[string]any) {
				require.NotEmpty(t, parameter.(map[string]any)["description"], name)
			}
		})
	}
}

func describedTags(t *testing.T, d *apitest.Document) []any {
	t.Helper()
	var names []any
	for _, tag := range d.At("tags").([]any) {
		require.NotEmpty(t, tag.(map[string]any)["description"], tag)
		names = append(names, tag.(map[string]any)["name"])
	}
	return names
}

// undescribed lists the parameters and properties in a part of a document that
// have no description.
func undescribed(at string, part any) []string {
	var found []string
	switch part := part.(type) {
	case map[string]any:
		// What schemas hold under these names are values, not schemas.
		for key, value := range part {
			switch key {
			case "example", "examples", "enum", "default":
			case "properties":
				for name, property := range value.(map[string]any) {
					if property.(map[string]any)["description"] == nil {
						found = append(found, at+"."+name)
					}
					found = append(found, undescribed(at+"."+name, property)...)
				}
			case "parameters":
				for _, parameter := range value.([]any) {
					p := parameter.(map[string]any)
					if p["$ref"] == nil && p["description"] == nil {
						found = append(found, at+" "+p["name"].(string))
					}
				}
			default:
				found = append(found, undescribed(at, value)...)
			}
		}
	case []any:
		for _, item := range part {
			found = append(found, undescribed(at, item)...)
		}
	}
	slices.Sort(found)
	return found
}

// A description says more than the name does.
func TestDescriptionsDoNotEchoNames(t *testing.T) {
	for name, schema := range apitest.ReadDocument(t, contract.Latest).At("components", "schemas").(map[string]any) {
		properties, _ := schema.(map[string]any)["properties"].(map[string]any)
		for property, is := range properties {
			text, _ := is.(map[string]any)["description"].(string)
			plain := strings.ToLower(strings.NewReplacer(" ", "", ".", "").Replace(strings.TrimPrefix(strings.ToLower(text), "the ")))
			require.NotEqual(t, strings.ToLower(property), plain, "%s.%s", name, property)
		}
	}
}
