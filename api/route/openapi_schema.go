package route

import (
	"reflect"
	"strings"
)

// describeSchemas gives every schema that is a type of ours what the sources
// say of the type.
func (s *Service) describeSchemas(schemas object, comment func(reflect.Type) string) {
	registry := s.api.OpenAPI().Components.Schemas
	for name, schema := range schemas {
		schema := schema.(object)
		switch {
		case schema["description"] != nil:
		case strings.HasSuffix(name, "ListEnvelope"):
			schema["description"] = "A page of a list, whose data holds items of the schema " + strings.TrimSuffix(name, "ListEnvelope") + "."
		case strings.HasSuffix(name, "Envelope"):
			schema["description"] = "A success, whose data is of the schema " + strings.TrimSuffix(name, "Envelope") + "."
		default:
			if t := registry.TypeFromRef(ref("schemas", name)["$ref"].(string)); t != nil {
				schema["description"] = comment(t)
			}
		}
	}
}
