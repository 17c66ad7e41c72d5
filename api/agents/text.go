package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"visavis.dev/api/route"
	"visavis.dev/pkg/visits/agent"
)

// asEvent is an answer as an event stream of one event.
func asEvent(a AgentAnswer) (route.Either[AgentAnswer], error) {
	data, err := json.Marshal(a)
	return route.Either[AgentAnswer]{File: &route.Blob{
		ContentType: asEvents, CacheControl: "no-store",
		Data: func(context.Context) ([]byte, error) {
			return fmt.Appendf(nil, "event: answer\ndata: %s\n\n", data), nil
		},
	}}, err
}

// fiveMinutes is how long a description may be kept.
const fiveMinutes = "public, max-age=300"

func (a *API) text(ctx context.Context, c *route.Call, p *Path) (route.Blob, error) {
	c.SetHeader("Access-Control-Allow-Origin", "*")
	found, err := a.find(ctx, p)
	if err != nil {
		return route.Blob{}, err
	}
	return route.Blob{
		ContentType: asText + "; charset=utf-8", CacheControl: fiveMinutes,
		Data: func(context.Context) ([]byte, error) { return []byte(describe(&found, show(c, found))), nil },
	}, nil
}

// describe is an agent in the form of llmstxt.org: Markdown with a title, a quotation that
// sums it up, and lists of links.
func describe(of *agent.Agent, shown Agent) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n> %s\n\n", line(shown.Name), line(shown.OrganizationName+": "+shown.Description))
	fmt.Fprintf(&b, "%s Languages: %s.\n\n", line(shown.Disclosure), line(of.LanguageNames()))
	fmt.Fprintf(&b, "## Ask\n\n- [Ask a question](%s): POST JSON {\"question\": \"…\"}; the answer has sources and says where it does not know\n", shown.Endpoints.Ask)
	fmt.Fprintf(&b, "- [MCP](%s): tools ask, list_topics, contact_options over streamable HTTP\n", shown.Endpoints.MCP)
	fmt.Fprintf(&b, "- [A2A](%s): the card of an agent that answers with messages\n", shown.Endpoints.Card)
	fmt.Fprintf(&b, "- [For people](%s): the same in a browser\n", shown.HumanURL)
	if len(shown.Topics) > 0 {
		b.WriteString("\n## Topics\n\n")
		for _, topic := range shown.Topics {
			fmt.Fprintf(&b, "- %s\n", line(topic))
		}
	}
	return b.String()
}

// line keeps a text from beginning a line of its own.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }
