package connection

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/personas/tool"
	"visavis.dev/pkg/provider/upstream"
)

// HTTPTool is a tool of a connection of kind http: a request that a model may have made.
type HTTPTool struct {
	tool.Tool
	Method string
	// Path comes after the connection's address; {name} in it stands for an argument.
	Path string
}

// RemoteTool is a tool of a connected system, with how it is used. The key is the same for
// every attempt at one use. The error of a use is an upstream.Error, or one of the tool's own.
type RemoteTool struct {
	tool.Tool
	Use func(ctx context.Context, arguments map[string]any, key string) (string, error)
}

// RemoteTools are the tools of a connected system that a model may be offered.
func (o Opened) RemoteTools(g *egress.Guard) ([]RemoteTool, error) {
	if o.Kind == MCP {
		return o.mcpTools(g)
	}
	tools, err := o.Config.HTTPTools()
	remote := make([]RemoteTool, len(tools))
	for i := range tools {
		remote[i] = RemoteTool{tools[i].Tool, func(ctx context.Context, arguments map[string]any, key string) (string, error) {
			return o.UseTool(ctx, g, &tools[i], arguments, key)
		}}
	}
	return remote, err
}

// maxToolAnswer bounds what a system answers to a request of a tool, in bytes.
const maxToolAnswer = 256 << 10

// placeholder is an argument in a path.
var placeholder = regexp.MustCompile(`\{([a-zA-Z_][a-zA-Z0-9_]*)\}`)

// HTTPTools are the tools that a config describes. The error is a ConfigError.
func (c Config) HTTPTools() ([]HTTPTool, error) {
	list, _ := c["tools"].([]any)
	names := map[string]bool{}
	tools := make([]HTTPTool, 0, len(list))
	for i, each := range list {
		described, _ := each.(map[string]any)
		t, err := readHTTPTool(described)
		if wrong, ok := errors.AsType[*errdefs.Invalid](err); ok {
			return nil, &ConfigError{strings.TrimSuffix(fmt.Sprintf("tools.%d.%s", i, wrong.Field), "."), wrong.Message}
		}
		if err != nil {
			return nil, err
		}
		if names[t.Name] {
			return nil, &ConfigError{fmt.Sprintf("tools.%d.name", i), "is another tool's too"}
		}
		names[t.Name] = true
		tools = append(tools, t)
	}
	return tools, nil
}

func readHTTPTool(described map[string]any) (HTTPTool, error) {
	rest := map[string]any{}
	var t HTTPTool
	for key, value := range described {
		switch key {
		case "method":
			t.Method, _ = value.(string)
		case "path":
			t.Path, _ = value.(string)
		default:
			rest[key] = value
		}
	}
	read, err := tool.Read(rest)
	if err != nil {
		return t, err
	}
	t.Tool = read
	var schema struct {
		Required []string `json:"required"`
	}
	if err := json.Unmarshal(t.Parameters, &schema); err != nil {
		return t, errdefs.InvalidField("parameters", "is not a JSON Schema")
	}
	for _, found := range placeholder.FindAllStringSubmatch(t.Path, -1) {
		if !slices.Contains(schema.Required, found[1]) {
			return t, errdefs.InvalidField("path", "names %s, which is no required parameter", found[0])
		}
	}
	return t, nil
}

// UseTool makes the request of a tool. The key is the same for every attempt at one use, so
// that the system does it once. The error is an upstream.Error.
func (o Opened) UseTool(ctx context.Context, g *egress.Guard, t *HTTPTool, arguments map[string]any, key string) (string, error) {
	within := min(t.Within(), o.Timeout())
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	client := o.Kind.Guard(g).ClientWithin(within, maxToolAnswer)
	var answer []byte
	err := o.WithSecret(func(secret string) error {
		req, err := o.toolRequest(ctx, t, arguments, secret)
		if err != nil {
			return &upstream.Error{Code: upstream.Rejected, Err: err}
		}
		if t.Method != http.MethodGet {
			req.Header.Set("Idempotency-Key", key)
		}
		answer, err = upstream.Exchange(client, req)
		return err
	})
	return string(answer), err
}

// toolRequest puts arguments where they belong: into the path, and what is left into the
// query of a request without a body, or into the body.
func (o Opened) toolRequest(ctx context.Context, t *HTTPTool, arguments map[string]any, secret string) (*http.Request, error) {
	rest := maps.Clone(arguments)
	var odd error
	path := placeholder.ReplaceAllStringFunc(t.Path, func(found string) string {
		name := found[1 : len(found)-1]
		text := textOf(rest[name])
		delete(rest, name)
		if text == "" || text == "." || text == ".." {
			odd = errors.New("the argument " + name + " is no part of a path")
		}
		return url.PathEscape(text)
	})
	if odd != nil {
		return nil, odd
	}
	address := o.Config.BaseURL(o.Provider) + path
	var body []byte
	if t.Method == http.MethodGet || t.Method == http.MethodDelete {
		query := url.Values{}
		for name, value := range rest {
			query.Set(name, textOf(value))
		}
		if len(query) > 0 {
			address += "?" + query.Encode()
		}
	} else {
		var err error
		if body, err = json.Marshal(rest); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, t.Method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	o.authorize(req, secret)
	return req, nil
}

// authorize sends the secret as the config wants it.
func (o Opened) authorize(req *http.Request, secret string) {
	switch header := o.Config.Text("secretHeader"); {
	case secret == "":
	case header == "":
		req.Header.Set("Authorization", "Bearer "+secret)
	default:
		req.Header.Set(header, secret)
	}
}

// textOf is an argument as a part of an address.
func textOf(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}

// reach asks a system for its address alone, with the secret: whatever it answers, it is there,
// unless it refuses the secret or fails.
func (o Opened) reach(ctx context.Context, client *http.Client, secret string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.Config.BaseURL(o.Provider), http.NoBody)
	if err != nil {
		return &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	o.authorize(req, secret)
	_, err = upstream.Exchange(client, req)
	if upstream.CodeOf(err) == upstream.Rejected && !errors.Is(err, egress.ErrRedirect) {
		return nil
	}
	return err
}
