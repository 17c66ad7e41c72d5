package route

import (
	"encoding/json"
	"maps"
)

// Examples notes, for each operation of a group whose requests have a body, an
// example of it, by the operation's id. It comes before the operations are
// declared. Ids in an example are made up.
func (s *Service) Examples(text []byte) {
	var byID map[string]json.RawMessage
	if err := json.Unmarshal(text, &byID); err != nil {
		panic("the examples of a group are no JSON object: " + err.Error())
	}
	maps.Copy(s.examples, byID)
}

// Example is an example of an operation's body as JSON text; nil for none.
func (s *Service) Example(operation string) json.RawMessage { return s.examples[operation] }

// addExample puts the operation's example beside the schema of its JSON body.
func (s *Service) addExample(o *Operation, entry object) {
	body, ok := entry["requestBody"].(object)
	if example := s.examples[o.ID]; ok && example != nil {
		body["content"].(object)["application/json"].(object)["example"] = example
	}
}
