package route

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// Scalar is a field that is a boolean or a whole number, as its neighbors say.
type Scalar struct {
	// Value is a bool or an int64, of an answer.
	Value any
	// Text is what was sent.
	Text json.RawMessage
}

// UnmarshalJSON keeps what was sent, for the handler to read.
func (s *Scalar) UnmarshalJSON(text []byte) error {
	s.Text = append(s.Text[:0], text...)
	return nil
}

// MarshalJSON writes the value.
func (s Scalar) MarshalJSON() ([]byte, error) { return json.Marshal(s.Value) }

// Schema allows both. It is described and not checked: which of them it takes only the handler can say.
func (Scalar) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Extensions: map[string]any{anyOf: []*huma.Schema{{Type: huma.TypeBoolean}, {Type: huma.TypeInteger}}}}
}

const anyOf = "anyOf"
