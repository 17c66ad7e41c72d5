package route

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a library says of its own types is said without them, whatever else there is of an answer stays.
func TestFailuresWithoutTypes(t *testing.T) {
	for said, want := range map[string]string{
		"json: cannot unmarshal string into Go struct field Message.at of type int":             "params.at is of the wrong type, a number is expected.",
		"json: cannot unmarshal string into Go struct field Message.at of type uint8":           "params.at is of the wrong type, a number is expected.",
		"json: cannot unmarshal string into Go struct field Message.at of type float64":         "params.at is of the wrong type, a number is expected.",
		"json: cannot unmarshal string into Go struct field Message.at of type interface {}":    "params.at is of the wrong type.",
		"json: cannot unmarshal string into Go struct field Message.at of type integral":        "params.at is of the wrong type.",
		"unmarshaling \"{\\\"a\\\":5}\" into a *mcp.Params: unrecognized content type \"hush\"": "params cannot be read.",
		"unmarshaling \"5\" into a *mcp.Params: two lines\nand cannot unmarshal":                "params cannot be read.",
		"The stream ended: EOF": "The stream ended: EOF",
	} {
		require.Equal(t, want, plainText(said), said)
	}
	for answer, want := range map[string]string{
		`{"error":{"message":"Broken.","data":{"error":"parse error: EOF"}}}`: `{"error":{"data":{"error":"The body is empty."},"message":"The body is empty."}}`,
		`{"error":{"message":"Broken.","data":{"error":"read: EOF"}}}`:        `{"error":{"data":{"error":"read: EOF"},"message":"Broken."}}`,
		`{"error":{"message":"Broken.","data":{"reason":"EOF"}}}`:             `{"error":{"data":{"reason":"EOF"},"message":"Broken."}}`,
		`{"error":{"message":"Broken: EOF","data":{"error":[1]}}}`:            `{"error":{"data":{"error":[1]},"message":"Broken: EOF"}}`,
	} {
		require.Equal(t, want, string(withoutTypes([]byte(answer))), answer)
	}
}
