package route

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// notBlank is the pattern of texts that cannot be empty.
const notBlank = `\S`

// schemas has texts that cannot be empty be no spaces alone: a name of spaces looks like none to people.
type schemas struct {
	huma.Registry
	seen map[*huma.Schema]bool
	// named is how many types were looked at.
	named int
}

// Schema implements huma.Registry.
func (r *schemas) Schema(t reflect.Type, allowRef bool, hint string) *huma.Schema {
	s := r.Registry.Schema(t, allowRef, hint)
	r.refuseBlank(s)
	if all := r.Map(); len(all) > r.named {
		r.named = len(all)
		for _, one := range all {
			r.refuseBlank(one)
		}
	}
	return s
}

func (r *schemas) refuseBlank(s *huma.Schema) {
	if s == nil || r.seen[s] {
		return
	}
	r.seen[s] = true
	if s.Type == huma.TypeString && s.MinLength != nil && *s.MinLength > 0 && s.Pattern == "" && s.Format == "" && len(s.Enum) == 0 {
		s.Pattern = notBlank
		s.PrecomputeMessages()
	}
	r.refuseBlank(s.Items)
	for _, p := range s.Properties {
		r.refuseBlank(p)
	}
	for _, one := range s.AnyOf {
		r.refuseBlank(one)
	}
	if of, ok := s.AdditionalProperties.(*huma.Schema); ok {
		r.refuseBlank(of)
	}
}

// MarshalJSON writes the schemas by their names.
func (r *schemas) MarshalJSON() ([]byte, error) { return json.Marshal(r.Registry) }
