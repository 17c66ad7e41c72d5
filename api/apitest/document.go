package apitest

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/openapi"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
)

// Document is an OpenAPI document that answers can be held against.
type Document struct {
	root      map[string]any
	compiler  *jsonschema.Compiler
	compiling sync.Mutex
}

const documentURL = "mem:///openapi.json"

// documents are those read so far: none is changed once it is.
var documents = struct {
	sync.Mutex
	by map[contract.Version]*Document
}{by: map[contract.Version]*Document{}}

// ReadDocument reads a contract's document, once for all tests. Answers may gain fields, so the
// document leaves their schemas open; here they are closed, and a field that
// is answered but not documented is found.
func ReadDocument(t testing.TB, v contract.Version) *Document {
	t.Helper()
	documents.Lock()
	defer documents.Unlock()
	if documents.by[v] == nil {
		documents.by[v] = readDocument(t, v)
	}
	return documents.by[v]
}

func readDocument(t testing.TB, v contract.Version) *Document {
	t.Helper()
	raw, err := openapi.Document(v)
	require.NoError(t, err)
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	root := parsed.(map[string]any)
	for _, schema := range root["components"].(map[string]any)["schemas"].(map[string]any) {
		closeObject(schema)
	}
	d := &Document{root: root, compiler: jsonschema.NewCompiler()}
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

// At finds a part of the document; nil when there is none.
func (d *Document) At(keys ...string) any {
	v, _ := d.follow(keys)
	return v
}

// follow finds a part of the document, and where it stands once references to
// shared answers are followed.
func (d *Document) follow(keys []string) (v any, place []string) {
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

// Schema compiles the schema at a place of the document.
func (d *Document) Schema(t testing.TB, keys ...string) *jsonschema.Schema {
	t.Helper()
	found, keys := d.follow(keys)
	require.NotNil(t, found, "the document has nothing at %v", keys)
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
	var pointer strings.Builder
	for _, key := range keys {
		pointer.WriteString("/" + escape.Replace(key))
	}
	d.compiling.Lock() // calls may be made side by side
	schema, err := d.compiler.Compile(documentURL + "#" + pointer.String())
	d.compiling.Unlock()
	require.NoError(t, err)
	return schema
}

// Entry is where an operation stands in the document.
func Entry(o *route.Operation, keys ...string) []string {
	return append([]string{"paths", o.Path, strings.ToLower(o.Method)}, keys...)
}

// Success is the status a good request is answered with.
func (d *Document) Success(t testing.TB, o *route.Operation) int {
	t.Helper()
	status := o.Status
	if status == 0 {
		status = http.StatusOK
	}
	require.NotNil(t, d.At(Entry(o, "responses", strconv.Itoa(status))...), "no success is documented")
	return status
}

// HasBody says whether the operation's requests carry a body.
func (d *Document) HasBody(o *route.Operation) bool {
	return d.At(Entry(o, "requestBody")...) != nil
}

// QueryParameter is a documented parameter of a query.
type QueryParameter struct {
	Name   string
	Schema map[string]any
}

func (d *Document) Query(o *route.Operation) []QueryParameter {
	var found []QueryParameter
	parameters, _ := d.At(Entry(o, "parameters")...).([]any)
	for _, p := range parameters {
		p := p.(map[string]any)
		if p["in"] == "query" {
			found = append(found, QueryParameter{p["name"].(string), p["schema"].(map[string]any)})
		}
	}
	return found
}

// IsList says whether the operation answers a list.
func (d *Document) IsList(o *route.Operation) bool {
	ref, _ := d.At(Entry(o, "responses", "200", "content", "application/json", "schema", "$ref")...).(string)
	return strings.HasSuffix(ref, "ListEnvelope")
}

// IsPaged says whether the operation answers a list that is longer than a page.
func (d *Document) IsPaged(o *route.Operation) bool {
	return slices.ContainsFunc(d.Query(o), func(p QueryParameter) bool { return p.Name == "cursor" })
}

// check holds an answer of an operation against the document.
func (d *Document) check(t testing.TB, o *route.Operation, a Answer) {
	t.Helper()
	status := strconv.Itoa(a.Status)
	require.NotNil(t, d.At(Entry(o, "responses", status)...), "status %s is not documented; body: %s", status, a.Raw)
	if len(a.Raw) == 0 {
		return
	}
	mediaType, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	require.NoError(t, err)
	content := Entry(o, "responses", status, "content", mediaType)
	require.NotNil(t, d.At(content...), "content type %s is not documented", mediaType)
	if mediaType != "application/json" {
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.Raw))
	require.NoError(t, err)
	require.NoError(t, d.Schema(t, append(content, "schema")...).Validate(value), "body: %s", a.Raw)
}

// Valid says whether a request body fits the documented schema.
func (d *Document) Valid(t testing.TB, o *route.Operation, body any) bool {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	return d.Schema(t, Entry(o, "requestBody", "content", "application/json", "schema")...).Validate(value) == nil
}
