package route

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"visavis.dev/pkg/contract"
	"visavis.dev/pkg/problem"
)

// schemaName names the schema of a type in the documents: Envelope[Avatar] is
// AvatarEnvelope. A noun's part is named after the noun: persona.Limits is
// PersonaLimits.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	if _, noun, ok := strings.Cut(t.PkgPath(), "/pkg/"); ok {
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
// sorted keys: the same declarations make the same bytes.
func (s *Service) Document(v contract.Version) ([]byte, error) {
	raw, err := json.Marshal(s.api.OpenAPI())
	if err != nil {
		return nil, err
	}
	var doc object
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, err
	}
	describe(doc, v)
	for _, o := range s.operations {
		o.withoutNewer(doc["components"].(object)["schemas"].(object), v)
		path := doc["paths"].(object)[BasePath+o.Path].(object)
		o.document(path[strings.ToLower(o.Method)].(object), doc["components"].(object)["schemas"].(object), v)
	}
	shorten(doc)
	openAnswers(doc)
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
		"description": "Real-time conversational avatars for organisations. Every answer carries X-Request-Id and " +
			contract.Header + "; clients ignore fields, events and enum values they do not know.",
		"license": object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
	}
	doc["servers"] = []any{object{"url": BasePath}}
	components := doc["components"].(object)
	components["headers"] = answerHeaders()
	components["parameters"] = object{contract.Header: versionParameter(), IdempotencyHeader: idempotencyParameter()}
	components["securitySchemes"] = object{"key": object{
		"type": "http", "scheme": "bearer", "description": "An organisation's API key.",
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

// shorten takes the base path, which the server's address holds, off the paths.
func shorten(doc object) {
	short := object{}
	for path, item := range doc["paths"].(object) {
		short[strings.TrimPrefix(path, BasePath)] = item
	}
	doc["paths"] = short
}

// document completes one operation's entry.
func (o *Operation) document(entry, schemas object, v contract.Version) {
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
		o.Upload.document(entry["requestBody"].(object), schemas)
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
	for status, codes := range byStatus {
		responses[strconv.Itoa(status)] = failureResponse(v, status, codes)
	}
}

func failureResponse(v contract.Version, status int, codes []problem.Code) object {
	schema := ref("schemas", "Error")
	if v.Before(contract.V20261001) && slices.Contains(codes, problem.UpgradeRequired) {
		schema = object{"oneOf": []any{schema, ref("schemas", "PlanRefusal")}}
	}
	names := make([]string, len(codes))
	for i, code := range codes {
		names[i] = string(code)
		if code == problem.TooLarge && v.Before(contract.V20261001) {
			names[i] = string(problem.InvalidRequest)
		}
	}
	headers := headerRefs()
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable || status == http.StatusConflict {
		headers[retryHeader] = ref("headers", retryHeader)
	}
	return object{
		"description": strings.Join(names, ", "),
		"headers":     headers,
		"content":     object{"application/json": object{"schema": schema}},
	}
}

const (
	replayedHeader = "Idempotency-Replayed"
	retryHeader    = "Retry-After"
)

// answerHeaders describes every header of the API's own.
func answerHeaders() object {
	header := func(kind, description string) object {
		return object{"description": description, "schema": object{"type": kind}}
	}
	return object{
		"X-Request-Id":        header("string", "The request's id."),
		contract.Header:       header("string", "The contract the answer is written in."),
		"RateLimit-Limit":     header("integer", "The closer limit, in requests a minute."),
		"RateLimit-Remaining": header("integer", "What is left of it."),
		"RateLimit-Reset":     header("integer", "Seconds until its window resets."),
		replayedHeader:        header("string", "true when the answer is that of an earlier request with the same Idempotency-Key."),
		retryHeader:           header("integer", "Seconds to wait before trying again."),
	}
}

// headerRefs are the headers of every answer.
func headerRefs() object {
	headers := object{}
	for _, name := range []string{"X-Request-Id", contract.Header, "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
		headers[name] = ref("headers", name)
	}
	return headers
}

func ref(section, name string) object { return object{"$ref": "#/components/" + section + "/" + name} }

func versionParameter() object {
	versions := []any{}
	for _, v := range contract.Versions() {
		versions = append(versions, string(v))
	}
	return object{
		"name": contract.Header, "in": "header", "schema": object{"type": "string", "enum": versions},
		"description": "The key's contract or a newer one.",
	}
}

func idempotencyParameter() object {
	return object{
		"name": IdempotencyHeader, "in": "header",
		"schema":      object{"type": "string", "minLength": 1, "maxLength": 255},
		"description": "A name for this request. Sent again within 24 hours it has no second effect and gets the same answer.",
	}
}

// errorSchema is the error object of a failed answer (spec, Error object).
func errorSchema(v contract.Version) object {
	codes := []any{}
	for _, c := range problem.Codes() {
		if c == problem.TooLarge && v.Before(contract.V20261001) {
			continue
		}
		codes = append(codes, string(c))
	}
	return object{
		"type": "object", "required": []any{"error"},
		"properties": object{"error": object{
			"type": "object", "required": []any{"code", "message"},
			"properties": object{
				"code":    object{"type": "string", "description": "Stable and machine-readable. An unknown code is treated by its HTTP status.", "examples": codes},
				"message": object{"type": "string", "description": "Plain English; may be reworded."},
				"param":   object{"type": "string", "description": "The input at fault: body.<field>, query.<field>, path.<name> or header.<name>."},
				"details": object{"type": "object", "additionalProperties": true},
			},
		}},
	}
}

// planRefusalSchema is the older contract's refusal of a plan (spec, Errors).
func planRefusalSchema() object {
	return object{
		"type": "object", "required": []any{"error", "feature", "plan", "message"},
		"properties": object{
			"error":   object{"type": "string", "const": string(problem.UpgradeRequired)},
			"feature": object{"type": "string"},
			"plan":    object{"type": []any{"string", "null"}},
			"message": object{"type": "string"},
			"limit":   object{"type": "integer"},
		},
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
	s.router.Path(path).Methods(http.MethodGet, http.MethodHead).Handler(h)
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
