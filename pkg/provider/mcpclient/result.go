package mcpclient

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"visavis.dev/pkg/provider/upstream"
)

// ToolError is that a tool answered, and that it failed. Its text is the tool's own words: they
// may be told to a model, as data.
type ToolError struct{ Text string }

func (e *ToolError) Error() string { return e.Text }

// maxWords bounds what is told of why a tool failed, in bytes.
const maxWords = 1000

// textOf is what a tool answered, as text: its structured form where there is one, else its
// texts. What is neither, such as a picture, is left out, and that is said.
func textOf(r *mcp.CallToolResult) (string, error) {
	var (
		texts []string
		left  bool
	)
	for _, c := range r.Content {
		switch said := c.(type) {
		case *mcp.TextContent:
			texts = append(texts, said.Text)
		case *mcp.EmbeddedResource:
			if said.Resource == nil || said.Resource.Text == "" {
				left = true
				continue
			}
			texts = append(texts, said.Resource.Text)
		default:
			left = true
		}
	}
	text := strings.Join(texts, "\n")
	if r.IsError {
		if len(text) > maxWords {
			text = strings.ToValidUTF8(text[:maxWords], "")
		}
		return "", &ToolError{cmp.Or(text, "the tool failed and said nothing of it")}
	}
	if r.StructuredContent != nil {
		structured, err := json.Marshal(r.StructuredContent)
		if err != nil {
			return "", &upstream.Error{Code: upstream.Malformed, Err: err}
		}
		return string(structured), nil
	}
	if left {
		text = strings.TrimPrefix(text+"\n(What is no text was left out.)", "\n")
	}
	return text, nil
}
