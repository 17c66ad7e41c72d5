package route

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/problem"
)

// schemaName names the schema of a type in the documents: Envelope[Avatar] is
// AvatarEnvelope. A noun's part is named after the noun: persona.Limits is
// PersonaLimits.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	if strings.Contains(t.PkgPath(), "/pkg/") {
		noun := path.Base(t.PkgPath())
		noun = strings.ToUpper(noun[:1]) + noun[1:]
		return noun + strings.TrimPrefix(name, noun)
	}
	for _, generic := range []string{"ListEnvelope", "Envelope"} {
		if rest, ok := strings.CutPrefix(name, generic); ok && rest != "" {
			return rest + generic
		}
	}
	return name
}

// object is a JSON object of a document.
type object = map[string]any

// Document is the OpenAPI 3.1 document of a contract, as indented JSON with
// sorted keys: the same declarations make the same bytes. comment is what the
// sources say of a type, in a sentence or two.
func (s *Service) Document(v contract.Version, comment func(reflect.Type) string) ([]byte, error) {
	raw, err := json.Marshal(s.api.OpenAPI())
	if err != nil {
		return nil, err
	}
	var doc object
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, err
	}
	describe(doc, v)
	components := doc["components"].(object)
	for _, o := range s.operations {
		o.withoutNewer(components["schemas"].(object), v)
		path := doc["paths"].(object)[BasePath+o.Path].(object)
		entry := path[strings.ToLower(o.Method)].(object)
		o.document(entry, components, v)
		s.addExample(o, entry)
	}
	s.describeSchemas(components["schemas"].(object), comment)
	keepApart(components["schemas"].(object))
	shorten(doc)
	openAnswers(doc)
	doc["webhooks"] = webhooks(v)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err = encoder.Encode(doc)
	return out.Bytes(), err
}

// describe sets what a document says of the whole.
func describe(doc object, v contract.Version) {
	doc["info"] = object{
		"title":   "Visavis",
		"version": string(v),
		"description": "Real-time conversational avatars for organizations. Every answer carries X-Request-Id and " +
			contract.Header + "; clients ignore fields, events and enum values they do not know.",
		"license": object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
	}
	doc["servers"] = []any{object{"url": BasePath}}
	doc["tags"] = tagObjects()
	components := doc["components"].(object)
	components["responses"] = object{}
	components["headers"] = answerHeaders()
	components["parameters"] = object{contract.Header: versionParameter(), IdempotencyHeader: idempotencyParameter()}
	components["securitySchemes"] = object{"key": object{
		"type": "http", "scheme": "bearer", "description": "An organization's API key.",
	}}
	schemas := components["schemas"].(object)
	// huma's own form of an error, which no answer has.
	delete(schemas, "ErrorModel")
	delete(schemas, "ErrorDetail")
	for _, schema := range schemas {
		allowNull(schema)
	}
	schemas["Error"] = errorSchema(v)
	if v.Before(contract.V20261001) {
		schemas["PlanRefusal"] = planRefusalSchema()
	}
}

// keepApart gives a schema another name in Go where a generator of clients makes a type
// of the same name for a property: SessionSource is also the type of Session.source.
func keepApart(schemas object) {
	for name, schema := range schemas {
		properties, _ := schema.(object)["properties"].(object)
		for property, of := range properties {
			generated := name + strings.ToUpper(property[:1]) + property[1:]
			if same, ok := schemas[generated].(object); ok && hasType(of.(object)) {
				same["x-go-name"] = generated + "Object"
			}
		}
	}
}

// hasType says whether a generator makes a type for a property alone.
func hasType(property object) bool {
	return property["enum"] != nil || property["anyOf"] != nil || property["items"] != nil || property["additionalProperties"] != nil
}

// shorten takes the base path, which the server's address holds, off the paths.
func shorten(doc object) {
	short := object{}
	for path, item := range doc["paths"].(object) {
		short[strings.TrimPrefix(path, BasePath)] = item
	}
	doc["paths"] = short
}

// document completes one operation's entry. What it shares with others it adds
// to the components.
func (o *Operation) document(entry, components object, v contract.Version) {
	entry["x-since"] = string(o.Since)
	if o.Class != "" {
		entry["x-rate-class"] = string(o.Class)
	}
	switch o.Auth {
	case WithKey:
		entry["security"] = []any{object{"key": []any{}}}
	case MayHaveKey:
		entry["security"] = []any{object{}, object{"key": []any{}}}
	case Open:
		entry["security"] = []any{}
	}
	if o.Scope != "" {
		entry["x-scope"] = string(o.Scope)
	}
	if o.AndScope != "" {
		entry["x-scope"] = string(o.Scope) + " and " + string(o.AndScope)
	}
	parameters, _ := entry["parameters"].([]any)
	parameters = append(parameters, ref("parameters", contract.Header))
	if o.Idempotent {
		parameters = append(parameters, ref("parameters", IdempotencyHeader))
	}
	entry["parameters"] = parameters

	responses := entry["responses"].(object)
	delete(responses, "default")
	for _, status := range o.Also {
		responses[strconv.Itoa(status)] = maps.Clone(responses[strconv.Itoa(o.status())].(object))
	}
	if o.Upload != nil {
		o.Upload.document(entry["requestBody"].(object), components["schemas"].(object))
	}
	for _, response := range responses {
		headers := headerRefs()
		if o.Idempotent {
			headers[replayedHeader] = ref("headers", replayedHeader)
		}
		response.(object)["headers"] = headers
	}
	byStatus := map[int][]problem.Code{}
	for _, code := range o.Codes() {
		byStatus[code.Status()] = append(byStatus[code.Status()], code)
	}
	shared := components["responses"].(object)
	for status, codes := range byStatus {
		name := failureName(codes)
		shared[name] = failureResponse(v, status, codes)
		responses[strconv.Itoa(status)] = ref("responses", name)
	}
}

// openAnswers lets the objects of answers have fields that are not listed,
// since new ones can appear at any time (General conventions, 4). What
// requests hold too stays closed: unknown input is refused.
func openAnswers(doc object) {
	schemas := doc["components"].(object)["schemas"].(object)
	answered, asked := map[string]bool{}, map[string]bool{}
	for _, item := range doc["paths"].(object) {
		for _, entry := range item.(object) {
			entry := entry.(object)
			collectRefs(entry["responses"], schemas, answered)
			collectRefs(entry["requestBody"], schemas, asked)
		}
	}
	for name := range answered {
		if schema, ok := schemas[name].(object); ok && !asked[name] {
			delete(schema, "additionalProperties")
		}
	}
}

// collectRefs notes every schema that a part of a document leads to.
func collectRefs(v any, schemas object, into map[string]bool) {
	switch v := v.(type) {
	case object:
		if ref, ok := v["$ref"].(string); ok {
			name := ref[strings.LastIndex(ref, "/")+1:]
			if !into[name] {
				into[name] = true
				collectRefs(schemas[name], schemas, into)
			}
		}
		for _, item := range v {
			collectRefs(item, schemas, into)
		}
	case []any:
		for _, item := range v {
			collectRefs(item, schemas, into)
		}
	}
}

// Mount serves something that is no operation, such as the documents, behind
// the same request ids and address limit.
func (s *Service) Mount(path string, h http.Handler) {
	s.router.Method(http.MethodGet, path, h)
	s.router.Method(http.MethodHead, path, h)
}

// DocumentName is the file name of a contract's document.
func DocumentName(v contract.Version) string { return fmt.Sprintf("%s.json", v) }

// allowNull adds null to the values of what may be null: to a JSON Schema an
// enum is the whole truth.
func allowNull(v any) {
	schema, ok := v.(object)
	if !ok {
		return
	}
	kinds, _ := schema["type"].([]any)
	if values, ok := schema["enum"].([]any); ok && slices.Contains(kinds, any("null")) {
		schema["enum"] = append(values, nil)
	}
	properties, _ := schema["properties"].(object)
	for _, property := range properties {
		allowNull(property)
	}
}
