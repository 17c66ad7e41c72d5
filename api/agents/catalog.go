package agents

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"visavis.dev/api/route"
	"visavis.dev/pkg/visits/agent"
)

// The media types of what a catalog lists, and its own.
const (
	asCatalog    = "application/ai-catalog+json"
	asServerCard = "application/mcp-server-card+json"
	asAgentCard  = "application/a2a-agent-card+json"
)

// aiCatalog is what a host has for AI assistants, by the drafts of AI Catalog and of MCP Catalog, whose entries are the same.
type aiCatalog struct {
	SpecVersion string         `json:"specVersion"`
	Host        catalogHost    `json:"host"`
	Entries     []catalogEntry `json:"entries"`
}

// catalogHost is whose catalog it is.
type catalogHost struct {
	DisplayName string `json:"displayName"`
}

// catalogEntry is something that a catalog lists.
type catalogEntry struct {
	Identifier  string `json:"identifier"`
	DisplayName string `json:"displayName"`
	Description string `json:"description"`
	Type        string `json:"type"`
	URL         string `json:"url"`
}

// serverCard is how an MCP server is reached, by the draft of SEP-2127. Its tools are listed by the server itself.
type serverCard struct {
	Schema      string         `json:"$schema"`
	Name        string         `json:"name"`
	Version     string         `json:"version"`
	Title       string         `json:"title"`
	Description string         `json:"description"`
	WebsiteURL  string         `json:"websiteUrl"`
	Remotes     []serverRemote `json:"remotes"`
}

// serverRemote is where an MCP server is reached.
type serverRemote struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

const (
	// catalogVersion is that of AI Catalog whose form the catalog has.
	catalogVersion   = "0.9"
	serverCardSchema = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
	// longestCardText bounds titles and descriptions of the card, in characters, as its schema does.
	longestCardText = 100
)

// registerCatalog declares what leads assistants to an agent that know nothing but its host.
func (a *API) registerCatalog(s *route.Service, o route.Operation) {
	o.ID, o.Path = "getAgentCatalog", "/agents/{id}/catalog.json"
	s.Protocol(o, a.document(asCatalog, func(of *agent.Agent, shown Agent) any { return catalogOf(of, shown) }))
	o.ID, o.Path = "getAgentServerCard", "/agents/{id}/mcp/server-card"
	s.Protocol(o, a.document(asServerCard, func(of *agent.Agent, shown Agent) any { return serverCardOf(of, shown, a.Version) }))
}

// document answers what describes an agent in a form of its own.
func (a *API) document(kind string, of func(*agent.Agent, Agent) any) func(context.Context, *route.Call, string) (http.Handler, error) {
	return func(ctx context.Context, c *route.Call, id string) (http.Handler, error) {
		c.AllowOrigin("*")
		found, err := a.find(ctx, &Path{id})
		if err != nil {
			return nil, err
		}
		body, err := json.Marshal(of(&found, show(c, found)))
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Cache-Control", fiveMinutes)
			_, _ = w.Write(body) // a caller that went away is nobody's fault
		}), err
	}
}

func catalogOf(of *agent.Agent, shown Agent) aiCatalog {
	entry := func(protocol, kind, at string) catalogEntry {
		return catalogEntry{"urn:air:" + hostOf(shown.Endpoints.Ask) + ":" + protocol + ":" + of.Slug, line(of.Name), line(of.OrganizationName + ": " + of.Description), kind, at}
	}
	return aiCatalog{catalogVersion, catalogHost{line(of.OrganizationName)}, []catalogEntry{
		entry("mcp", asServerCard, shown.Endpoints.MCP+"/server-card"),
		entry("a2a", asAgentCard, shown.Endpoints.Card),
	}}
}

func serverCardOf(of *agent.Agent, shown Agent, version string) serverCard {
	labels := strings.Split(hostOf(shown.Endpoints.MCP), ".")
	slices.Reverse(labels)
	return serverCard{
		serverCardSchema, strings.Join(labels, ".") + "/" + of.Slug, versionOr(version), cut(of.Name), cut(of.OrganizationName + ": " + of.Description), of.HumanURL,
		[]serverRemote{{"streamable-http", shown.Endpoints.MCP}},
	}
}

// cut is a text on one line that the card takes.
func cut(text string) string {
	runes := []rune(line(text))
	if len(runes) <= longestCardText {
		return string(runes)
	}
	return string(runes[:longestCardText-1]) + "…"
}

// hostOf is the host of an address of ours, without a port.
func hostOf(address string) string {
	at, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return at.Hostname()
}
