// Package mcpclient uses the tools of servers of the Model Context Protocol, over streamable
// HTTP. What such a server says is a stranger's: it is bounded, and the server is offered
// nothing that it could ask for.
package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"visavis.dev/pkg/provider/upstream"
)

// Client is a server as it is reached.
type Client struct {
	// HTTP is a guard's, with bounds for one exchange.
	HTTP *http.Client
	// URL is the server's endpoint.
	URL string
	// Secret is sent in Header, or as a bearer token where that is empty; none where it is
	// empty itself.
	Secret, Header string
	// MaxAnswer bounds a message of the server's, in bytes.
	MaxAnswer int
}

// Tool is a tool as its server describes it.
type Tool struct {
	Name, Title, Description string
	// Schema is the JSON Schema of its arguments, as the server wrote it.
	Schema json.RawMessage
}

const (
	// maxTools and maxPages bound what is listed of a server.
	maxTools = 100
	maxPages = 10
)

// Tools lists what the server can do; of more than a hundred the first. The error is an
// upstream.Error or context.Canceled.
func (c Client) Tools(ctx context.Context) ([]Tool, error) {
	var tools []Tool
	err := c.with(ctx, func(s *mcp.ClientSession) error {
		return pages(ctx, s, func(page *mcp.ListToolsResult) (enough bool, err error) {
			for _, t := range page.Tools {
				schema, err := json.Marshal(t.InputSchema)
				if err != nil {
					return false, &upstream.Error{Code: upstream.Malformed, Err: err}
				}
				if tools = append(tools, Tool{Name: t.Name, Title: titleOf(t), Description: t.Description, Schema: schema}); len(tools) == maxTools {
					return true, nil
				}
			}
			return false, nil
		})
	})
	return tools, err
}

// pages reads the list of a server's tools, by pages, until it is enough.
func pages(ctx context.Context, s *mcp.ClientSession, read func(*mcp.ListToolsResult) (enough bool, err error)) error {
	var params mcp.ListToolsParams
	for range maxPages {
		page, err := s.ListTools(ctx, &params)
		if err != nil {
			return err
		}
		if enough, err := read(page); enough || err != nil {
			return err
		}
		if params.Cursor = page.NextCursor; params.Cursor == "" {
			return nil
		}
	}
	return nil
}

func titleOf(t *mcp.Tool) string {
	if t.Title == "" && t.Annotations != nil {
		return t.Annotations.Title
	}
	return t.Title
}

// metaKey is under what the key of a use is sent along with it.
const metaKey = "visavis.dev/idempotency-key"

// mirrored is what a schema says of arguments that are to be sent as headers too.
const mirrored = `"x-mcp-header"`

// Call uses a tool, once: whatever goes wrong, it is not asked for again. The key is sent
// along, so that the server can tell uses apart. The error is a ToolError where the tool
// answered that it failed, an upstream.Error or context.Canceled.
func (c Client) Call(ctx context.Context, t Tool, arguments map[string]any, key string) (string, error) {
	var answer string
	err := c.with(ctx, func(s *mcp.ClientSession) error {
		if strings.Contains(string(t.Schema), mirrored) { // the library knows which by the list alone
			if err := pages(ctx, s, func(page *mcp.ListToolsResult) (bool, error) {
				return slices.ContainsFunc(page.Tools, func(listed *mcp.Tool) bool { return listed.Name == t.Name }), nil
			}); err != nil {
				return err
			}
		}
		result, err := s.CallTool(ctx, &mcp.CallToolParams{Meta: mcp.Meta{metaKey: key}, Name: t.Name, Arguments: arguments})
		switch {
		case err != nil:
			return err
		case result.NeedsInput():
			return &upstream.Error{Code: upstream.Rejected, Err: errors.New("the server asks for what is not offered")}
		}
		answer, err = textOf(result)
		return err
	})
	return answer, err
}

// with opens a session, uses it, and closes it. It takes as long as the context lets it, and
// closesWithin at most besides.
func (c Client) with(ctx context.Context, use func(*mcp.ClientSession) error) error {
	bound, end := context.WithCancel(ctx)
	defer end()
	e := &exchange{client: c, ctx: bound}
	client := mcp.NewClient(&mcp.Implementation{Name: "visavis", Version: "1"}, &mcp.ClientOptions{
		Logger:       slog.New(slog.DiscardHandler),
		Capabilities: &mcp.ClientCapabilities{}, // not even roots
		// The library would use a tool again for a server that asks for more, or says that it is busy.
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	client.AddReceivingMiddleware(refuse)
	s, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: c.URL, HTTPClient: &http.Client{Transport: e}, DisableStandaloneSSE: true, MaxRetries: -1, MaxEventSize: c.MaxAnswer,
	}, nil)
	if err != nil {
		return e.failure(ctx, err)
	}
	defer func() {
		end() // closing waits for what is still asked
		_ = s.Close()
	}()
	return e.failure(ctx, use(s))
}

// errNotOffered is answered to whatever a server asks for.
var errNotOffered = errors.New("nothing is offered to servers")

// refuse lets a server ask whether somebody is there, and nothing else.
func refuse(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if method != "ping" {
			return nil, errNotOffered
		}
		return next(ctx, method, r)
	}
}

// errArguments is told to a model whose arguments a server does not take, or whose tool it has
// no more: the protocol has one code for both.
var errArguments = &ToolError{"the server has no such tool, or the tool does not take these arguments"}

// failure says what an error of the library's amounts to.
func (e *exchange) failure(ctx context.Context, err error) error {
	var (
		failed  *upstream.Error
		refused *ToolError
	)
	switch ended := ctx.Err(); {
	case err == nil, errors.As(err, &failed), errors.As(err, &refused):
		return err
	case errors.Is(ended, context.Canceled):
		return ended
	case ended != nil:
		return &upstream.Error{Code: upstream.Timeout, Err: err}
	}
	asked, last := e.last()
	told, isTold := errors.AsType[*jsonrpc.Error](err)
	switch code := upstream.CodeOf(last); {
	case isTold && told.Code == jsonrpc.CodeInvalidParams && asked == "tools/call" && (code == "" || code == upstream.Rejected):
		return errArguments // what a model wrote says nothing of the server
	case last != nil:
		return last
	case isTold:
		return &upstream.Error{Code: upstream.Rejected, Err: err}
	}
	return &upstream.Error{Code: upstream.Malformed, Err: err}
}
