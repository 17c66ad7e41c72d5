package agents

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/visits/agent"
)

// a2a answers a request of the Agent2Agent protocol: of 1.0, or of 0.3 where it names no
// version. A question is answered by a message at once; nothing is a task.
func (a *API) a2a(ctx context.Context, c *route.Call, id string) (http.Handler, error) {
	found, err := a.find(ctx, &Path{id})
	if err != nil {
		return nil, err
	}
	answers := &messages{api: a, call: c, of: &found, at: agentURL(c, found.Slug), household: c.Household()}
	switch version := c.Header(a2a.SvcParamVersion); version {
	case "", string(a2av0.Version):
		c.SetHeader("Content-Type", "application/json") // which its handler does not say
		return flushed(a2av0.NewJSONRPCHandler(answers)), nil
	case string(a2a.Version):
	default:
		answers.refused = a2a.NewError(a2a.ErrVersionNotSupported, "The agent speaks "+string(a2a.Version)+" and "+string(a2av0.Version)+".")
	}
	return flushed(a2asrv.NewJSONRPCHandler(answers)), nil
}

// flushed gives a handler a writer that can be flushed: the library answers a call for a stream,
// also to refuse it, to no other.
func flushed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(flusher{w}, r) })
}

type flusher struct{ http.ResponseWriter }

// Flush implements http.Flusher.
func (f flusher) Flush() { _ = http.NewResponseController(f.ResponseWriter).Flush() } // a caller that went away is nobody's fault

// messages answers what an agent is sent. Its protocol's library calls it beside whatever
// writes the answer.
type messages struct {
	api  *API
	call *route.Call
	of   *agent.Agent
	// at is where the agent is described.
	at, household string
	// refused is why nothing is answered; nil where it is.
	refused error
}

// SendMessage implements a2asrv.RequestHandler.
func (m *messages) SendMessage(ctx context.Context, r *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	if m.refused != nil {
		return nil, m.refused
	}
	text, err := textOf(r.Message)
	if err != nil {
		return nil, err
	}
	said, err := m.api.asked(ctx, m.of, m.at, m.household, AgentQuestion{Question: text, ConversationID: r.Message.ContextID})
	if err != nil {
		kind := a2a.ErrInvalidParams
		if p, known := errors.AsType[*problem.Problem](err); !known || p.Code != problem.InvalidRequest {
			kind = a2a.ErrServerError
		}
		return nil, a2a.NewError(kind, m.call.Told(ctx, err))
	}
	answer := a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart(said.Answer), a2a.NewDataPart(said))
	answer.ContextID = said.ConversationID
	return answer, nil
}

// textOf is what a message asks.
func textOf(m *a2a.Message) (string, error) {
	if m == nil || len(m.Parts) == 0 {
		return "", a2a.NewError(a2a.ErrInvalidParams, "The message has no parts.")
	}
	if m.TaskID != "" {
		return "", a2a.NewError(a2a.ErrTaskNotFound, "The agent has no tasks.")
	}
	var parts []string
	for _, part := range m.Parts {
		if part == nil {
			return "", a2a.NewError(a2a.ErrInvalidParams, "A part of the message is null.")
		}
		text, ok := part.Content.(a2a.Text)
		if !ok {
			return "", a2a.NewError(a2a.ErrUnsupportedContentType, "The agent reads text alone.")
		}
		parts = append(parts, string(text))
	}
	return strings.Join(parts, "\n"), nil
}

// or is why nothing is answered, or else an error.
func (m *messages) or(err error) error {
	if m.refused != nil {
		return m.refused
	}
	return err
}

// never is the stream of what is not supported.
func (m *messages) never() iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) { yield(nil, m.or(a2a.ErrUnsupportedOperation)) }
}

// SendStreamingMessage implements a2asrv.RequestHandler: the card says that nothing is streamed.
func (m *messages) SendStreamingMessage(context.Context, *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error] {
	return m.never()
}

// SubscribeToTask implements a2asrv.RequestHandler.
func (m *messages) SubscribeToTask(context.Context, *a2a.SubscribeToTaskRequest) iter.Seq2[a2a.Event, error] {
	return m.never()
}

// GetTask implements a2asrv.RequestHandler: there are no tasks.
func (m *messages) GetTask(context.Context, *a2a.GetTaskRequest) (*a2a.Task, error) {
	return nil, m.or(a2a.ErrTaskNotFound)
}

// CancelTask implements a2asrv.RequestHandler.
func (m *messages) CancelTask(context.Context, *a2a.CancelTaskRequest) (*a2a.Task, error) {
	return nil, m.or(a2a.ErrTaskNotFound)
}

// ListTasks implements a2asrv.RequestHandler.
func (m *messages) ListTasks(context.Context, *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	return nil, m.or(a2a.ErrUnsupportedOperation)
}

// GetTaskPushConfig implements a2asrv.RequestHandler: nothing is pushed.
func (m *messages) GetTaskPushConfig(context.Context, *a2a.GetTaskPushConfigRequest) (*a2a.TaskPushConfig, error) {
	return nil, m.or(a2a.ErrPushNotificationNotSupported)
}

// ListTaskPushConfigs implements a2asrv.RequestHandler.
func (m *messages) ListTaskPushConfigs(context.Context, *a2a.ListTaskPushConfigRequest) ([]*a2a.TaskPushConfig, error) {
	return nil, m.or(a2a.ErrPushNotificationNotSupported)
}

// CreateTaskPushConfig implements a2asrv.RequestHandler.
func (m *messages) CreateTaskPushConfig(context.Context, *a2a.CreateTaskPushConfigRequest) (*a2a.TaskPushConfig, error) {
	return nil, m.or(a2a.ErrPushNotificationNotSupported)
}

// DeleteTaskPushConfig implements a2asrv.RequestHandler.
func (m *messages) DeleteTaskPushConfig(context.Context, *a2a.DeleteTaskPushConfigRequest) error {
	return m.or(a2a.ErrPushNotificationNotSupported)
}

// GetExtendedAgentCard implements a2asrv.RequestHandler: everybody sees the whole card.
func (m *messages) GetExtendedAgentCard(context.Context, *a2a.GetExtendedAgentCardRequest) (*a2a.AgentCard, error) {
	return nil, m.or(a2a.ErrExtendedCardNotConfigured)
}

// card answers the card of an agent, which clients of either version read.
func (a *API) card(ctx context.Context, c *route.Call, id string) (http.Handler, error) {
	c.AllowOrigin("*")
	found, err := a.find(ctx, &Path{id})
	if err != nil {
		return nil, err
	}
	body, err := a2av0.NewStaticAgentCardProducer(cardOf(&found, show(c, found), a.Version)).(interface {
		CardJSON(ctx context.Context) ([]byte, error)
	}).CardJSON(ctx)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", fiveMinutes)
		_, _ = w.Write(body) // a caller that went away is nobody's fault
	}), err
}

func cardOf(of *agent.Agent, shown Agent, version string) *a2a.AgentCard {
	old := a2a.NewAgentInterface(shown.Endpoints.A2A, a2a.TransportProtocolJSONRPC)
	old.ProtocolVersion = a2av0.Version
	return &a2a.AgentCard{
		Name: of.Name, Description: line(of.OrganizationName + ": " + of.Description + " " + of.Disclosure), Version: versionOr(version),
		Provider:            &a2a.AgentProvider{Org: of.OrganizationName, URL: of.HumanURL},
		SupportedInterfaces: []*a2a.AgentInterface{a2a.NewAgentInterface(shown.Endpoints.A2A, a2a.TransportProtocolJSONRPC), old},
		DefaultInputModes:   []string{asText}, DefaultOutputModes: []string{asText, "application/json"},
		Skills: []a2a.AgentSkill{{
			ID: "ask", Name: "Ask a question", Description: "Answers questions from what the organization published, with sources.",
			Tags: append([]string{}, of.Topics...),
		}},
	}
}
