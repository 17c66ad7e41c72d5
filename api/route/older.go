package route

import (
	"bytes"
	"encoding/json"
	"slices"

	"visavis.dev/pkg/base/contract"
)

// older rewrites a successful answer in an older contract.
func older(v contract.Version, kind contract.Item, newest []byte) []byte {
	var body map[string]any
	decoder := json.NewDecoder(bytes.NewReader(newest))
	decoder.UseNumber() // numbers stay as they were written
	if err := decoder.Decode(&body); err != nil {
		panic(err) // as encode
	}
	switch data := body["data"].(type) {
	case map[string]any:
		body["data"] = contract.Answer(v, kind, data)
	case []any:
		for i, item := range data {
			data[i] = contract.Answer(v, kind, item.(map[string]any))
		}
	}
	return encode(body)
}

// withoutNewer takes off the schema of what the operation answers the fields
// that the contract lacks.
func (o *Operation) withoutNewer(schemas object, v contract.Version) {
	for _, field := range contract.Lacks(v, o.Items) {
		schema := schemas[string(o.Items)].(object)
		delete(schema["properties"].(object), field)
		required := schema["required"].([]any)
		schema["required"] = slices.DeleteFunc(required, func(name any) bool { return name == field })
	}
	for newest, name := range contract.Renamed(v, o.Items) {
		schema := schemas[string(o.Items)].(object)
		properties := schema["properties"].(object)
		if property, ok := properties[newest]; ok { // another operation may have been here before
			delete(properties, newest)
			properties[name] = property
		}
		for i, field := range schema["required"].([]any) {
			if field == newest {
				schema["required"].([]any)[i] = name
			}
		}
	}
}
