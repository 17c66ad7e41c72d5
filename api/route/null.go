package route

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"visavis.dev/pkg/base/problem"
)

// refuseNulls refuses a change to null of a property that cannot be null, which would else change
// nothing and be answered as if it had. What lies deeper is the handler's: where a change is merged,
// null puts a part back. Elsewhere than in a PATCH null is what leaving out is.
func (c *Call) refuseNulls() error {
	if c.Op.Method != http.MethodPatch || !bytes.Contains(c.body, []byte("null")) {
		return nil
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal(c.body, &body); err != nil {
		return err // cannot be: the input was read from it
	}
	described := c.service.api.OpenAPI()
	all := described.Components.Schemas
	properties := resolved(all, described.Paths[BasePath+c.Op.Path].Patch.RequestBody.Content["application/json"].Schema).Properties
	for _, name := range slices.Sorted(maps.Keys(body)) {
		if string(body[name]) == "null" && !takesNull(all, properties[name]) {
			return problem.Invalid("body."+name, "%s cannot be null.", name)
		}
	}
	return nil
}

// takesNull says whether a value of a schema can be null.
func takesNull(all huma.Registry, s *huma.Schema) bool {
	s = resolved(all, s)
	return s == nil || s.Nullable || s.Type == "null" || s.Type == "" && len(s.AnyOf) == 0 && s.Extensions[anyOf] == nil ||
		slices.ContainsFunc(s.AnyOf, func(one *huma.Schema) bool { return takesNull(all, one) })
}

func resolved(all huma.Registry, s *huma.Schema) *huma.Schema {
	if s != nil && s.Ref != "" {
		return all.SchemaFromRef(s.Ref)
	}
	return s
}
