package agents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/visits/agent"
)

// mcp answers a request of the Model Context Protocol: each is on its own, no session is
// kept. Older versions of the protocol are the SDK's to speak.
func (a *API) mcp(ctx context.Context, c *route.Call, id string) (http.Handler, error) {
	found, err := a.find(ctx, &Path{id})
	if err != nil {
		return nil, err
	}
	if body := bytes.TrimLeft(c.Body(), " \t\r\n"); len(body) > 0 && body[0] == '[' {
		return nil, problem.Invalid("body", "Send one message at a time: batches are not taken.")
	}
	server := a.server(ctx, c, &found)
	server.AddReceivingMiddleware(recovered(c.Told))
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // no answer tells more than anybody may read
		Logger:                     slog.New(slog.DiscardHandler),
	}), nil
}

// toolQuestion is what the tool ask is given.
type toolQuestion struct {
	Question       string `json:"question" jsonschema:"What to ask, in words, at most 1,000 characters."`
	Language       string `json:"language,omitempty" jsonschema:"One of the agent's languages, by code or name; the question's own unless given."`
	ConversationID string `json:"conversationId,omitempty" jsonschema:"What the answer before gave, so that the question can refer to it."`
}

// toolTopics is what the tool list_topics answers.
type toolTopics struct {
	Topics    []string `json:"topics" jsonschema:"Some of what the agent can be asked about."`
	Languages []string `json:"languages" jsonschema:"Codes of the languages that it answers in, the default one first."`
}

// toolContact is what the tool contact_options answers.
type toolContact struct {
	OrganizationName string `json:"organizationName" jsonschema:"Whose agent it is."`
	HumanURL         string `json:"humanUrl" jsonschema:"Where people go on, in a browser."`
}

// server makes the tools of an agent for one request.
func (a *API) server(asker context.Context, c *route.Call, of *agent.Agent) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: of.Slug, Title: of.Name, Version: versionOr(a.Version), WebsiteURL: of.HumanURL}, &mcp.ServerOptions{
		Instructions: line(of.Disclosure + " " + of.OrganizationName + ": " + of.Description),
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		SchemaCache:  a.tools, Logger: slog.New(slog.DiscardHandler),
	})
	at, household := agentURL(c, of.Slug), c.Household()
	mcp.AddTool(s, readOnly("ask", "Ask a question", "Answers a question from what the organization published, with sources. confidence low is an honest I do not know. "+
		"An AI writes the answers: keep the mark with them."),
		// The library's own context goes on after whoever asked is gone.
		func(_ context.Context, _ *mcp.CallToolRequest, q toolQuestion) (*mcp.CallToolResult, any, error) {
			said, err := a.asked(asker, of, at, household, AgentQuestion(q))
			if err != nil {
				return refusal(c.Told(asker, err)), nil, nil
			}
			return nil, said, nil
		})
	mcp.AddTool(s, readOnly("list_topics", "List topics", "Some of what the agent can be asked about, and in which languages."),
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, toolTopics, error) {
			return nil, toolTopics{append([]string{}, of.Topics...), of.Languages}, nil
		})
	mcp.AddTool(s, readOnly("contact_options", "Contact options", "Where people go on who want more than the agent knows."),
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, toolContact, error) {
			return nil, toolContact{of.OrganizationName, of.HumanURL}, nil
		})
	return s
}

// recovered keeps a fault in one request from ending the process: the library handles each on
// a goroutine of its own.
func recovered(told func(context.Context, error) string) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (answer mcp.Result, err error) {
			defer func() {
				if fault := recover(); fault != nil {
					answer, err = nil, errors.New(told(ctx, fmt.Errorf("fault of the program in %s: %v\n%s", method, fault, debug.Stack())))
				}
			}()
			return next(ctx, method, r)
		}
	}
}

// readOnly declares a tool that changes nothing and reaches nothing but the portal.
func readOnly(name, title, description string) *mcp.Tool {
	return &mcp.Tool{
		Name: name, Title: title, Description: description,
		Annotations: &mcp.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: new(bool), OpenWorldHint: new(bool)},
	}
}

// refusal is a failure as a tool tells it.
func refusal(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}
