package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
)

// Every body has an example that its schema allows in every contract, and that
// the operation takes.
func TestExamples(t *testing.T) {
	w := apitest.NewWorld(t)
	w.Each(t, func(t *testing.T, o *route.Operation) {
		if !w.Documents[contract.Latest].HasBody(o) {
			require.Nil(t, w.Service.Example(o.ID), "an example of no body")
			return
		}
		for _, d := range w.Documents {
			for mediaType, content := range d.At(apitest.Entry(o, "requestBody", "content")...).(map[string]any) {
				c := content.(map[string]any)
				require.True(t, c["example"] != nil || c["examples"] != nil, mediaType)
			}
		}
		example := w.Service.Example(o.ID)
		require.NotNil(t, example, "give the operation an example in its group's examples.json")
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(example))
		require.NoError(t, err)
		for _, d := range w.Documents {
			require.NoError(t, d.Schema(t, apitest.Entry(o, "requestBody", "content", "application/json", "schema")...).Validate(value))
		}
		delete(w.Made, apitest.Kind(t, o)+w.Acme.ID.String()) // what another example was about may be over
		path := w.Path(t, o, w.Acme)
		answer := w.Call(t, o, apitest.Request{Path: path, Key: w.Acme.New, Body: real(t, w, o, example)})
		require.Less(t, answer.Status, http.StatusMultipleChoices, "%s", answer.Raw)
	})
}

// exampleID is an id in an example that stands for one of the reader's.
var exampleID = regexp.MustCompile(`\b([a-z]+)_06Hn2VfM1kXqT4yPzS8bRd\b`)

// real puts things that there are in the place of those that an example makes
// up: ids, and addresses of other people's.
func real(t *testing.T, w *apitest.World, o *route.Operation, example []byte) any {
	t.Helper()
	path := map[string]string{
		"con": "/connections/{id}", "doc": "/knowledge/documents/{id}", "per": "/people/{id}", "res": "/results/{id}/reviews", "sub": "/subjects/{id}", "kb": "/knowledge/bases/{id}", "pa": "/personas/{id}",
		"portal": "/portals/{id}", "unit": "/units/{id}",
	}
	text := exampleID.ReplaceAllStringFunc(string(example), func(text string) string {
		prefix, _, _ := strings.Cut(text, "_")
		require.Contains(t, path, prefix)
		if o.ID == "setSSODoor" { // which takes one kind of connection alone
			return identityProvider(t, w)
		}
		if prefix == "per" && strings.HasPrefix(o.Path, "/assignments/") { // which are for one person alone
			return w.Assignee(t, w.Acme)
		}
		if prefix == "sub" && o.ID == "createRole" { // which asks what candidates are asked
			return w.Questions(t, w.Acme)
		}
		if prefix == "per" && (strings.HasPrefix(o.Path, "/candidates/") || strings.HasPrefix(o.Path, "/candidate-requests/")) { // whom a hiring manager decides on
			return w.HiringManager(t, w.Acme)
		}
		return apitest.Kinds[path[prefix]](t, w, w.Acme)
	})
	text = strings.NewReplacer(
		"https://www.example.com/kim.png", apitest.Portrait(), "https://www.example.com/kim.wav", apitest.Recording,
		"wpk_yourWidgetsPublicKey", apitest.AnyKey, "https://www.example.com/museum", "https://127.0.0.1:9/museum",
		"https://www.example.com/hooks/visavis", "https://127.0.0.1:9/hook", "https://models.example.com", "https://127.0.0.1:9",
	).Replace(text)
	var body any
	require.NoError(t, json.Unmarshal([]byte(text), &body))
	return body
}

// identityProvider is a connection that people can be signed in by.
func identityProvider(t *testing.T, w *apitest.World) string {
	t.Helper()
	o := w.Operation(t, "createConnection")
	answer := w.Call(t, o, apitest.Request{Path: o.Path, Key: w.Acme.New, Body: map[string]any{
		"kind": "identity", "provider": "oidc", "name": "Staff", "secret": "s3cret-of-the-client",
		"config": map[string]any{"issuer": "https://127.0.0.1:9", "clientId": "visavis", "emailDomains": []any{"example.com"}},
	}})
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	return answer.Data(t)["id"].(string)
}
