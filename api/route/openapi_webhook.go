package route

import (
	"maps"
	"slices"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/eventing/event"
)

// webhooks describes what a webhook whose deliveries are written in a contract
// receives: one entry a type of event.
func webhooks(v contract.Version) object {
	// Not shared as components: oapi-codegen takes those that only webhooks use for unused.
	described, headers := object{}, []any{}
	for _, name := range slices.Sorted(maps.Keys(deliveryHeaders())) {
		headers = append(headers, deliveryHeaders()[name])
	}
	for _, k := range event.Kinds() {
		example := k.Example(v)
		described[string(k.Type)] = object{"post": object{
			"operationId": "event." + string(k.Type),
			"summary":     string(k.Type),
			"description": k.Description + eventNotes(k),
			"tags":        []any{"Events"},
			"x-since":     string(k.Since),
			"x-scope":     string(k.Scope),
			"security":    []any{},
			"parameters":  headers,
			"requestBody": object{"required": true, "content": object{"application/json": object{
				"schema": eventSchema(v, k, example), "example": example,
			}}},
			"responses": object{"2XX": object{"description": "The event was taken. Anything else, and no answer within ten seconds, has it sent again."}},
		}}
	}
	return described
}

func eventNotes(k *event.Kind) string {
	notes := ""
	if k.ExplicitOnly {
		notes += " Sent only to webhooks that name the type."
	}
	if k.RequiresConversation {
		notes += " Sent only to webhooks with includeConversation."
	}
	return notes
}

// eventSchema is the schema of an event's body in a contract, of which there is
// an example.
func eventSchema(v contract.Version, k *event.Kind, example map[string]any) object {
	properties := object{
		"id":             object{"type": "string", "description": "The event's id, the same on every delivery: drop repeats by it."},
		"type":           object{"type": "string", "const": string(k.Type), "description": "What happened."},
		"apiVersion":     object{"type": "string", "const": string(v), "description": "The contract that data is written in."},
		"organizationId": object{"type": "string", "description": "The organization that it happened in."},
		"createdAt":      object{"type": "string", "format": "date-time", "description": "When it happened, in UTC; order by it."},
		"data":           eventData(k, example["data"].(map[string]any)),
	}
	maps.DeleteFunc(properties, func(name string, _ any) bool { return example[name] == nil })
	required := slices.Sorted(maps.Keys(properties))
	properties["aiGenerated"] = object{"type": "boolean", "const": true, "description": "Present where data carries words that an avatar wrote."}
	return object{
		"type": "object", "description": "An event of the type " + string(k.Type) + ".", "properties": properties, "required": asAny(required),
	}
}

// eventData is the schema of an event's data in a contract. An older one has the
// newest one's fields, some of them in another place or by another name.
func eventData(k *event.Kind, example map[string]any) object {
	newest := k.Schema()["properties"].(map[string]any)
	within := object{}
	if contact, ok := newest["contact"].(map[string]any); ok {
		within, _ = contact["properties"].(map[string]any)
	}
	properties := object{}
	for name := range example {
		switch {
		case newest[name] != nil:
			properties[name] = newest[name]
		case within[name] != nil:
			properties[name] = within[name]
		case name == "leadScore":
			properties[name] = newest["leadBand"]
		default:
			panic("event " + string(k.Type) + " has a field " + name + " in an older contract that has no schema")
		}
	}
	for name, schema := range properties {
		properties[name] = alternatives(schema.(map[string]any))
	}
	return object{
		"type": "object", "description": "What happened to what. A field that the rules hold back is null.",
		"properties": properties, "required": asAny(slices.Sorted(maps.Keys(properties))), "additionalProperties": true,
	}
}

// alternatives writes a value of one of several types as generators of clients read it.
func alternatives(schema map[string]any) object {
	types, _ := schema["type"].([]any)
	if len(types) < 3 { // one, and null
		return schema
	}
	schema = maps.Clone(schema)
	delete(schema, "type")
	var one []any
	for _, t := range types {
		one = append(one, object{"type": t})
	}
	schema["anyOf"] = one
	return schema
}

// deliveryHeaders are the headers of a delivery (spec, Events, Delivery).
func deliveryHeaders() object {
	header := func(name, kind, description string) object {
		return object{"name": name, "in": "header", "required": true, "description": description, "schema": object{"type": kind}}
	}
	return object{
		"X-Service-Signature":   header("X-Service-Signature", "string", "sha256= and the hex HMAC-SHA256 of <X-Service-Timestamp>.<raw body>, keyed with the webhook's secret. Compare in constant time."),
		"X-Service-Timestamp":   header("X-Service-Timestamp", "integer", "When this attempt was signed, in milliseconds since 1970. Refuse what is more than five minutes old."),
		"X-Service-Event":       header("X-Service-Event", "string", "The event's type."),
		"X-Service-Event-Id":    header("X-Service-Event-Id", "string", "The event's id."),
		"X-Service-Delivery-Id": header("X-Service-Delivery-Id", "string", "The delivery's id."),
	}
}

func asAny(names []string) []any {
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = name
	}
	return list
}
