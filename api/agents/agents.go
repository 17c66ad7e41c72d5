// Package agents declares the operations by which AI assistants ask portals, without a key
// (spec, Agents).
package agents

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/store/limits"
	"visavis.dev/pkg/visits/agent"
)

// examples are bodies of requests, by operation.
//
//go:embed examples.json
var examples []byte

// API is what the operations work with.
type API struct {
	Agents    *agent.Agents
	Catalogue *agent.Catalogue
	Limiter   *limits.Limiter
	// Version is the program's.
	Version string

	tools *mcp.SchemaCache
}

const (
	asText   = "text/plain"
	asEvents = "text/event-stream"
	// maxBody is more than the longest question and conversation take.
	maxBody = 16 << 10
)

// Register declares the operations.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	a.tools = mcp.NewSchemaCache()
	open := route.Operation{Group: "Agents", Method: http.MethodGet, Auth: route.Open, Since: contract.V20261001, FromPages: true}
	note := "No key is needed. Portals can be asked whose visitors' door is open and requires neither a sign-in nor an age (sso, age_check, minAge, guardianConsentUnder), " +
		"of organizations that switched it on (setting agents.enabled); anything else is 404, and so is a portal for hiring or for candidates."

	list := open
	list.ID, list.Path, list.Summary = "listAgents", "/agents", "Agents of all organizations, by their slugs"
	list.Description = note + " The list follows a change within half a minute; the agent itself at once."
	route.List(s, list, a.list)

	get := open
	get.ID, get.Path, get.Summary, get.Description = "getAgent", "/agents/{id}", "What an agent is and can be asked about", note
	route.Handle(s, get, a.get)

	ask := open
	ask.ID, ask.Method, ask.Path, ask.MaxBody = "askAgent", http.MethodPost, "/agents/{id}/ask", maxBody
	ask.Produces = []string{asEvents}
	ask.Summary = "Ask an agent what its visitors may ask"
	ask.Description = note + fmt.Sprintf(" Answers rest on the portal's packs alone, are written by the built-in engine, and nothing is kept of whoever asks, "+
		"but questions that the packs do not answer. In a minute an address may ask an agent %d questions that are worked out, "+
		"and all agents of an organization %d; a question whose answer is kept counts for a quarter. With Accept: text/event-stream the answer "+
		"comes as one event named answer, whose data is the same JSON.", agent.PerAddress, agent.PerCaller)
	route.HandleOrFile(s, ask, a.ask)

	spoken := ask
	spoken.ID, spoken.Path, spoken.Produces = "askAgentOverMCP", "/agents/{id}/mcp", nil
	s.Protocol(spoken, a.mcp)
	spoken.ID, spoken.Path = "askAgentOverA2A", "/agents/{id}/a2a"
	s.Protocol(spoken, a.a2a)
	card := get
	card.ID, card.Path = "getAgentCard", "/agents/{id}/card.json"
	s.Protocol(card, a.card)
	a.registerCatalog(s, get)

	text := open
	text.ID, text.Path, text.Produces, text.FromPages = "getAgentText", "/agents/{id}/llms.txt", []string{asText}, false
	text.Summary, text.Description = "An agent described for language models (llms.txt)", note
	route.File(s, text, a.text)
}

// Path names an agent.
type Path struct {
	ID string `path:"id" doc:"The agent's slug, which is its portal's."`
}

// Agent is a portal that AI assistants may ask.
type Agent struct {
	Slug             string    `json:"slug" doc:"The portal's slug, which names the agent."`
	Name             string    `json:"name" doc:"What the portal is called."`
	OrganizationName string    `json:"organizationName" doc:"What the organization calls itself."`
	Description      string    `json:"description" doc:"What the portal's first page says, in its default language."`
	Languages        []string  `json:"languages" doc:"Codes of the languages that it answers in, the default one first."`
	Topics           []string  `json:"topics" doc:"Some of what it can be asked about, at most 30."`
	UpdatedAt        time.Time `json:"updatedAt" doc:"When the portal was last published, in UTC."`
	Disclosure       string    `json:"disclosure" doc:"Who answers: an AI. Pass it on."`
	HumanURL         string    `json:"humanUrl" format:"uri" doc:"The portal, for people."`
	Endpoints        Endpoints `json:"endpoints" doc:"Where it can be asked."`
}

// Endpoints are where an agent can be asked.
type Endpoints struct {
	Ask  string `json:"ask" format:"uri" doc:"Questions as JSON (askAgent)."`
	MCP  string `json:"mcp" format:"uri" doc:"The Model Context Protocol, over streamable HTTP."`
	A2A  string `json:"a2a" format:"uri" doc:"The Agent2Agent protocol, as JSON-RPC."`
	Card string `json:"card" format:"uri" doc:"The card of that protocol."`
	LLMs string `json:"llms" format:"uri" doc:"The description for language models."`
}

func (a *API) get(ctx context.Context, c *route.Call, p *Path) (Agent, error) {
	c.AllowOrigin("*")
	found, err := a.find(ctx, p)
	if err != nil {
		return Agent{}, err
	}
	return show(c, found), nil
}

// find finds an agent. Slugs are in lower case; what no database can keep is none.
func (a *API) find(ctx context.Context, p *Path) (agent.Agent, error) {
	none := problem.New(problem.NotFound, "There is no such agent.").WithParam("path.id")
	if !utf8.ValidString(p.ID) || strings.ContainsRune(p.ID, 0) {
		return agent.Agent{}, none
	}
	found, err := a.Agents.Find(ctx, strings.ToLower(p.ID))
	if _, missing := errors.AsType[errdefs.NotFound](err); missing {
		return agent.Agent{}, none
	}
	return found, route.At(err, "path.id")
}

func show(c *route.Call, a agent.Agent) Agent {
	at := agentURL(c, a.Slug)
	return Agent{
		Slug: a.Slug, Name: a.Name, OrganizationName: a.OrganizationName, Description: a.Description, Languages: a.Languages, Topics: a.Topics,
		UpdatedAt: a.UpdatedAt, Disclosure: a.Disclosure, HumanURL: a.HumanURL, Endpoints: Endpoints{Ask: at + "/ask", MCP: at + "/mcp", A2A: at + "/a2a", Card: at + "/card.json", LLMs: at + "/llms.txt"},
	}
}

// AskInput is a question to an agent.
type AskInput struct {
	Path
	Body AgentQuestion
}

// AgentQuestion is a question.
type AgentQuestion struct {
	Question       string `json:"question" minLength:"1" maxLength:"1000" doc:"What to ask, in words."`
	Language       string `json:"language,omitempty" maxLength:"40" doc:"One of the agent's languages, by code or name; the question's own unless given."`
	ConversationID string `json:"conversationId,omitempty" maxLength:"8000" doc:"What the answer before gave, so that the question can refer to it. Nobody keeps it but you, and it is good for an hour."`
}

// AgentAnswer is what an agent answers.
type AgentAnswer struct {
	Answer         string                     `json:"answer" doc:"The answer, in words."`
	Language       string                     `json:"language" doc:"The language of the answer, as a code."`
	Sources        []PublicSource             `json:"sources" doc:"What the answer rests on."`
	Grounded       bool                       `json:"grounded" doc:"Whether the answer rests on the portal's packs."`
	Confidence     string                     `json:"confidence" enum:"low,medium,high" doc:"How sure it is; low is an honest I do not know."`
	FollowUps      []string                   `json:"followUps" doc:"What else it can be asked about, where it does not know."`
	Handoff        route.OrNull[AgentHandoff] `json:"handoff" doc:"Where people go on; null where the question is answered."`
	AIGenerated    bool                       `json:"aiGenerated" enum:"true" doc:"Always true: an AI wrote the answer. Keep the mark with it."`
	ConversationID string                     `json:"conversationId" doc:"To send with the next question."`
	Proof          AgentProof                 `json:"proof" doc:"By which anybody can verify, later and without asking, that the organization's agent answered so."`
}

// AgentProof is how an answer is signed.
type AgentProof struct {
	Agent      string    `json:"agent" format:"uri" doc:"The agent that was asked (getAgent)."`
	Question   string    `json:"question" doc:"What was asked, as it was sent."`
	After      []string  `json:"after" doc:"The questions before it that it could refer to, oldest first, each cut to 300 characters; none for a first one."`
	AnsweredAt time.Time `json:"answeredAt" doc:"When it was answered, in UTC."`
	Edition    string    `json:"edition" doc:"Names what the agent knew: it changes with the published portal, its persona and what its packs hold."`
	IssuerURL  string    `json:"issuerUrl" format:"uri" doc:"The DID document that has the organization's keys (getIssuerDocument)."`
	JWS        string    `json:"jws" doc:"A detached JWS (RS256; RFC 7515, appendix F). Its payload is this answer without conversationId and proof.jws, in canonical form (RFC 8785); its kid is the id of a verification method of the DID document."`
}

// PublicSource is a document that an answer rests on.
type PublicSource struct {
	Title   string  `json:"title" doc:"The document's title."`
	URL     *string `json:"url" doc:"The address that it was read from; null for a file or a text."`
	Snippet string  `json:"snippet" doc:"The beginning of the passage."`
	SHA256  string  `json:"sha256" doc:"The SHA-256 of the passage's whole text, in hexadecimal."`
}

// AgentHandoff is where people go on.
type AgentHandoff struct {
	URL string `json:"url" format:"uri" doc:"The portal, for people."`
}

func (a *API) ask(ctx context.Context, c *route.Call, in *AskInput) (route.Either[AgentAnswer], error) {
	c.AllowOrigin("*")
	answered, err := a.answer(ctx, c, in)
	if err != nil || c.Prefers() != asEvents {
		return route.Either[AgentAnswer]{Data: answered}, err
	}
	return asEvent(answered)
}

func (a *API) answer(ctx context.Context, c *route.Call, in *AskInput) (AgentAnswer, error) {
	found, err := a.find(ctx, &in.Path)
	if err != nil {
		return AgentAnswer{}, err
	}
	var charge agent.Charge
	said, err := a.reply(ctx, &found, agentURL(c, found.Slug), in.Body, func() (*agent.Charge, error) {
		charge, err = a.count(ctx, &found, c.Household())
		return &charge, c.Limited(charge.Reading, err)
	})
	if err != nil {
		return AgentAnswer{}, err
	}
	return said, c.Limited(charge.Reading, nil) // it can have cost less than was counted
}

// agentURL is where an agent is described.
func agentURL(c *route.Call, slug string) string { return c.URL("/agents/" + slug) }

// count counts a question of a household.
func (a *API) count(ctx context.Context, found *agent.Agent, household string) (agent.Charge, error) {
	return agent.Budget{Limiter: a.Limiter}.Count(ctx, found, household)
}

// reply answers a question, by whatever protocol it came. What can be answered is counted.
func (a *API) reply(ctx context.Context, found *agent.Agent, at string, asked AgentQuestion, count func() (*agent.Charge, error)) (AgentAnswer, error) {
	q := agent.Question{Text: asked.Question, Thread: asked.ConversationID}
	if strings.TrimSpace(q.Text) == "" {
		return AgentAnswer{}, problem.Invalid("body.question", "question has no words.")
	}
	var err error
	if q.Language, err = languageOf(found, asked.Language); err != nil {
		return AgentAnswer{}, err
	}
	said, err := a.Agents.Ask(ctx, found, q, count)
	if errors.Is(err, agent.ErrThread) {
		err = problem.Invalid("body.conversationId", "conversationId was given by no agent of the organization, or is older than an hour.")
	}
	if err != nil {
		return AgentAnswer{}, err
	}
	shown := showAnswer(found, said)
	shown.Proof = AgentProof{Agent: at, Question: asked.Question, After: said.After, AnsweredAt: said.At, Edition: said.Edition, IssuerURL: a.Agents.IssuerURL(found)}
	text, err := json.Marshal(shown)
	if err != nil {
		return AgentAnswer{}, err
	}
	shown.Proof.JWS, err = a.Agents.Sign(ctx, found, text)
	return shown, err
}

// languageOf is the code of a language that an agent answers in, by its code or name.
func languageOf(of *agent.Agent, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	l, ok := language.Lookup(text)
	if !ok || !of.Speaks(l.Code) {
		return "", problem.Invalid("body.language", "The agent answers in %s.", strings.Join(of.Languages, ", "))
	}
	return l.Code, nil
}

func showAnswer(of *agent.Agent, s agent.Answer) AgentAnswer {
	shown := AgentAnswer{
		Answer: s.Text, Language: s.Language, Sources: []PublicSource{}, Grounded: s.Grounded, Confidence: string(s.Confidence), FollowUps: s.FollowUps,
		AIGenerated: true, ConversationID: s.Thread,
	}
	for _, source := range s.Sources {
		shown.Sources = append(shown.Sources, PublicSource{Title: source.Title, URL: source.URL, Snippet: source.Snippet, SHA256: source.SHA256})
	}
	if s.Handoff {
		shown.Handoff.Value = &AgentHandoff{of.HumanURL}
	}
	return shown
}
