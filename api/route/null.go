package route

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"visavis.dev/pkg/base/problem"
)

// refuseNulls refuses a change to null of what cannot be null, which would else change nothing and
// be answered as if it had. Elsewhere null is what leaving out is.
func (c *Call) refuseNulls() error {
	if c.Op.Method != http.MethodPatch || !bytes.Contains(c.body, []byte("null")) {
		return nil
	}
	var body any
	if err := json.Unmarshal(c.body, &body); err != nil {
		return err // cannot be: the input was read from it
	}
	described := c.service.api.OpenAPI()
	schema := described.Paths[BasePath+c.Op.Path].Patch.RequestBody.Content["application/json"].Schema
	if param := nullIn(described.Components.Schemas, schema, "body", body); param != "" {
		return problem.Invalid(param, "%s cannot be null.", param)
	}
	return nil
}

// nullIn is the first place of a value that is null where its schema has none; empty where there
// is no such place.
func nullIn(all huma.Registry, s *huma.Schema, at string, v any) string {
	if s != nil && s.Ref != "" {
		s = all.SchemaFromRef(s.Ref)
	}
	if s == nil {
		return ""
	}
	if len(s.AnyOf) > 0 {
		return nullInEach(all, s.AnyOf, at, v)
	}
	switch v := v.(type) {
	case nil:
		if s.Type != "" && s.Type != "null" && !s.Nullable {
			return at
		}
	case []any:
		for i, item := range v {
			if found := nullIn(all, s.Items, fmt.Sprintf("%s[%d]", at, i), item); found != "" {
				return found
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			of, known := s.Properties[name]
			if !known {
				of, _ = s.AdditionalProperties.(*huma.Schema)
			}
			if found := nullIn(all, of, at+"."+name, v[name]); found != "" {
				return found
			}
		}
	}
	return ""
}

// nullInEach is a place that is wrong by every alternative.
func nullInEach(all huma.Registry, alternatives []*huma.Schema, at string, v any) (found string) {
	for _, s := range alternatives {
		if found = nullIn(all, s, at, v); found == "" {
			return ""
		}
	}
	return found
}
