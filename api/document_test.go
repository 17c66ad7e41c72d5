package api_test

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/openapi"
	"visavis.dev/api/openapi/comment"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
)

// The committed documents are what the declarations make of themselves.
func TestDocumentsAreCurrent(t *testing.T) {
	a := apitest.New(t)
	for _, v := range contract.Versions() {
		t.Run(string(v), func(t *testing.T) {
			committed, err := openapi.Document(v)
			require.NoError(t, err)
			made, err := a.Service.Document(v, comment.NewReader("..").Of)
			require.NoError(t, err)
			require.True(t, bytes.Equal(made, committed), "run make generate")
			served := a.Do(apitest.Request{Base: strings.TrimSuffix(a.URL, route.BasePath), Method: http.MethodGet, Path: "/openapi/" + route.DocumentName(v)})
			require.True(t, bytes.Equal(committed, served.Raw), "what is served is what is committed")
		})
	}
}

// document is an OpenAPI document that answers can be held against.
type document struct {
	root     map[string]any
	compiler *jsonschema.Compiler
}

const documentURL = "mem:///openapi.json"

// readDocument reads a contract's document. Answers may gain fields, so the
// document leaves their schemas open; here they are closed, and a field that
// is answered but not documented is found.
func readDocument(t testing.TB, v contract.Version) *document {
	t.Helper()
	raw, err := openapi.Document(v)
	require.NoError(t, err)
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	root := parsed.(map[string]any)
	for _, schema := range root["components"].(map[string]any)["schemas"].(map[string]any) {
		closeObject(schema)
	}
	d := &document{root, jsonschema.NewCompiler()}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	d.compiler.AssertFormat()
	require.NoError(t, d.compiler.AddResource(documentURL, root))
	return d
}

func closeObject(v any) {
	schema, _ := v.(map[string]any)
	properties, ok := schema["properties"].(map[string]any)
	if _, said := schema["additionalProperties"]; ok && !said {
		schema["additionalProperties"] = false
	}
	for _, property := range properties {
		closeObject(property)
	}
}

// at finds a part of the document; nil when there is none.
func (d *document) at(keys ...string) any {
	v, _ := d.follow(keys)
	return v
}

// follow finds a part of the document, and where it stands once references to
// shared answers are followed.
func (d *document) follow(keys []string) (v any, place []string) {
	v = d.root
	for _, key := range keys {
		object, _ := v.(map[string]any)
		if ref, ok := object["$ref"].(string); ok && strings.HasPrefix(ref, "#/components/responses/") {
			v, place = d.follow(strings.Split(ref, "/")[1:])
			object, _ = v.(map[string]any)
		}
		v, place = object[key], append(place, key)
	}
	return v, place
}

// schema compiles the schema at a place of the document.
func (d *document) schema(t testing.TB, keys ...string) *jsonschema.Schema {
	t.Helper()
	found, keys := d.follow(keys)
	require.NotNil(t, found, "the document has nothing at %v", keys)
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
	pointer := ""
	for _, key := range keys {
		pointer += "/" + escape.Replace(key)
	}
	schema, err := d.compiler.Compile(documentURL + "#" + pointer)
	require.NoError(t, err)
	return schema
}

// entry is where an operation stands in the document.
func entry(o *route.Operation, keys ...string) []string {
	return append([]string{"paths", o.Path, strings.ToLower(o.Method)}, keys...)
}

// success is the status a good request is answered with.
func (d *document) success(t testing.TB, o *route.Operation) int {
	t.Helper()
	status := o.Status
	if status == 0 {
		status = http.StatusOK
	}
	require.NotNil(t, d.at(entry(o, "responses", strconv.Itoa(status))...), "no success is documented")
	return status
}

// hasBody says whether the operation's requests carry a body.
func (d *document) hasBody(o *route.Operation) bool {
	return d.at(entry(o, "requestBody")...) != nil
}

// queryParameter is a documented parameter of a query.
type queryParameter struct {
	name   string
	schema map[string]any
}

func (d *document) query(o *route.Operation) []queryParameter {
	var found []queryParameter
	parameters, _ := d.at(entry(o, "parameters")...).([]any)
	for _, p := range parameters {
		p := p.(map[string]any)
		if p["in"] == "query" {
			found = append(found, queryParameter{p["name"].(string), p["schema"].(map[string]any)})
		}
	}
	return found
}

// isList says whether the operation answers a list.
func (d *document) isList(o *route.Operation) bool {
	ref, _ := d.at(entry(o, "responses", "200", "content", "application/json", "schema", "$ref")...).(string)
	return strings.HasSuffix(ref, "ListEnvelope")
}

// isPaged says whether the operation answers a list that is longer than a page.
func (d *document) isPaged(o *route.Operation) bool {
	return slices.ContainsFunc(d.query(o), func(p queryParameter) bool { return p.name == "cursor" })
}

// check holds an answer of an operation against the document.
func (d *document) check(t testing.TB, o *route.Operation, a apitest.Answer) {
	t.Helper()
	status := strconv.Itoa(a.Status)
	require.NotNil(t, d.at(entry(o, "responses", status)...), "status %s is not documented; body: %s", status, a.Raw)
	if len(a.Raw) == 0 {
		return
	}
	mediaType, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	require.NoError(t, err)
	content := entry(o, "responses", status, "content", mediaType)
	require.NotNil(t, d.at(content...), "content type %s is not documented", mediaType)
	if mediaType != "application/json" {
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.Raw))
	require.NoError(t, err)
	require.NoError(t, d.schema(t, append(content, "schema")...).Validate(value), "body: %s", a.Raw)
}

// valid says whether a request body fits the documented schema.
func (d *document) valid(t testing.TB, o *route.Operation, body any) bool {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	return d.schema(t, entry(o, "requestBody", "content", "application/json", "schema")...).Validate(value) == nil
}
