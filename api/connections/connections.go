// Package connections declares the operations on an organization's connections
// to services of its own (design, Connections).
package connections

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/store/tenant"
)

// feature is what a plan must include to make and use connections.
const feature = "connections"

// examples are bodies of requests, by operation.
//
//go:embed examples.json
var examples []byte

// API is what the operations work with.
type API struct {
	Tenants *tenant.Tenants
	Egress  *egress.Guard
	Plans   *plan.Catalogue
	Vault   *vault.Vault
	Clock   clock.PassiveClock
	// Opener opens connections for those who call, and Reporter notes that they did.
	Opener   *connection.Opener
	Reporter *connection.Reporter
	// Tokens are those of calendars.
	Tokens *connection.Tokens
}

// Register declares the operations. The providers come first: their path would
// be a connection's too.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	read := route.Operation{Group: "Connections", Scope: scope.ConnectionsRead, Class: "read", Since: contract.V20261001, Method: http.MethodGet}
	write := route.Operation{Group: "Connections", Scope: scope.ConnectionsWrite, Class: "write", Since: contract.V20261001, Method: http.MethodPost}

	providers := read
	providers.ID, providers.Path = "listConnectionProviders", "/connections/providers"
	providers.Summary = "What can be connected, with the JSON Schema of each provider's config"
	route.List(s, providers, listProviders)

	list := read
	list.ID, list.Path, list.Summary = "listConnections", "/connections", "The organization's connections, newest first"
	list.Items = contract.ConnectionItem
	route.List(s, list, a.list)

	create := write
	create.ID, create.Path, create.Status, create.Idempotent = "createConnection", "/connections", http.StatusCreated, true
	create.Errors = []problem.Code{problem.NotFound, problem.Conflict}
	create.Items, create.Summary = contract.ConnectionItem, "Connect a service of the organization's own"
	create.Description = "The secret is sealed, and never shown again. The connection is unverified until it was tested or used."
	route.Handle(s, create, a.create)

	get := read
	get.ID, get.Path, get.Errors, get.Summary = "getConnection", "/connections/{id}", []problem.Code{problem.Gone}, "One connection"
	get.Items = contract.ConnectionItem
	route.Handle(s, get, a.get)

	update := write
	update.ID, update.Method, update.Path, update.Items = "updateConnection", http.MethodPatch, "/connections/{id}", contract.ConnectionItem
	update.Errors, update.Summary = []problem.Code{problem.Gone, problem.Conflict}, "Change a connection, or switch it off and on"
	update.Description = "A config replaces the old one whole. A secret is given for the scheme and host of an address: " +
		"with another one it must be given again."
	route.Handle(s, update, a.update)

	remove := write
	remove.ID, remove.Method, remove.Path = "deleteConnection", http.MethodDelete, "/connections/{id}"
	remove.Errors, remove.Summary = []problem.Code{problem.Gone, problem.Conflict}, "Delete a connection that nothing uses, with its secret"
	route.Handle(s, remove, a.delete)

	test := write
	test.ID, test.Path, test.Class = "testConnection", "/connections/{id}/test", "heavy"
	test.Errors, test.Summary = []problem.Code{problem.Gone}, "Ask the service for something small, and say how that went"
	test.Description = "What the test shows is believed at once: the connection is active or failing after it. Of kind chat it is a message in the channel."
	route.Handle(s, test, a.test)

	rotate := write
	rotate.ID, rotate.Path, rotate.Idempotent, rotate.Items = "rotateConnectionSecret", "/connections/{id}/rotate", true, contract.ConnectionItem
	rotate.Errors, rotate.Summary = []problem.Code{problem.Gone, problem.Conflict}, "Give a connection another secret"
	rotate.Description = "For graceS seconds the old secret is tried where the service refuses the new one."
	route.Handle(s, rotate, a.rotate)

	calls := read
	calls.ID, calls.Path, calls.Errors = "listConnectionCalls", "/connections/{id}/calls", []problem.Code{problem.Gone}
	calls.Summary = "The last 100 calls of the service, newest first; no words"
	route.List(s, calls, a.calls)
	a.registerReceive(s)
	a.registerSync(s)
	a.registerUntold(s)
	a.registerCourses(s)
}

// Connection is one connection, without its secret.
type Connection struct {
	ID          id.Connection       `json:"id" doc:"Id of the connection, with the prefix con_."`
	Kind        connection.Kind     `json:"kind" enum:"model,speech,recognition,media,avatar,embedding,identity,http,mcp,crm,ats,lms,helpdesk,chat,calendar" doc:"What the service does for personas and portals."`
	Provider    connection.Provider `json:"provider" enum:"openai_compatible,elevenlabs,deepgram,livekit,beyond_presence,oidc,http,mcp,hubspot,greenhouse,ashby,lti,xapi,zendesk,slack,teams,caldav,google_calendar" doc:"Which interface the service speaks."`
	Name        string              `json:"name" doc:"What the connection is called, for people."`
	State       connection.State    `json:"state" enum:"unverified,active,failing,disabled" doc:"unverified until a call worked, active, failing after calls that did not, or disabled by hand."`
	Config      map[string]any      `json:"config" doc:"Of the provider's form; holds no secret."`
	SecretSet   bool                `json:"secretSet" doc:"Whether a secret is stored. The secret itself is never shown."`
	SecretLast4 *string             `json:"secretLast4" doc:"null for a short secret."`
	Tools       []ConnectionTool    `json:"tools" doc:"What a persona's model may have done there, of kind http; of kind mcp what the last test found there, and what config names besides."`
	ServedURL   *string             `json:"servedUrl" format:"uri" doc:"Under which address an applicant tracking system asks, with the secret as user name; null of other kinds."`
	UsedBy      ConnectionUsers     `json:"usedBy" doc:"What would be without the service if the connection went away."`
	Limits      ConnectionLimits    `json:"limits" doc:"Bounds on the calls that are made of the service."`
	Health      ConnectionHealth    `json:"health" doc:"How its latest calls went."`
	Fallback    string              `json:"fallback" enum:"builtin,fail" doc:"What happens where it fails: go on with what is built in, or fail. Nothing built in takes the place of kinds other than model, speech, avatar and embedding."`
	CreatedAt   time.Time           `json:"createdAt" doc:"When the connection was made, in UTC."`
	UpdatedAt   time.Time           `json:"updatedAt" doc:"When it was last changed, in UTC."`
}

// ConnectionUsers are who uses a connection.
type ConnectionUsers struct {
	PersonaIDs  []id.Persona  `json:"personaIds" doc:"Personas whose answers, voices or tools use it."`
	VoiceIDs    []id.Voice    `json:"voiceIds" doc:"Voices that are spoken by it."`
	PortalIDs   []id.Portal   `json:"portalIds" doc:"Portals that use it, for signing people in among others."`
	ScheduleIDs []id.Schedule `json:"scheduleIds" doc:"Schedules whose appointments are kept in a calendar of it."`

	KnowledgeBaseIDs []id.KnowledgeBase `json:"knowledgeBaseIds" doc:"Knowledge packs whose passages are found by its vectors."`
}

// ConnectionLimits bound the calls of a connection.
type ConnectionLimits struct {
	TimeoutMs int64 `json:"timeoutMs" doc:"How long a call may take, in milliseconds, before it counts as failed."`
}

// ConnectionHealth is how well a connection works.
type ConnectionHealth struct {
	LastOKAt            *time.Time     `json:"lastOkAt" doc:"When a call last worked, in UTC; null for never."`
	LastErrorAt         *time.Time     `json:"lastErrorAt" doc:"When a call last failed, in UTC; null for never."`
	ErrorCode           *upstream.Code `json:"errorCode" nullable:"true" enum:"timeout,truncated,refused,rate_limited,unavailable,rejected,malformed,address_refused" doc:"Of the last failed call, until one succeeds."`
	ConsecutiveFailures int64          `json:"consecutiveFailures" doc:"How many calls have failed since the last one that worked."`
	P95Ms               *int64         `json:"p95Ms" doc:"How long 95 of a hundred of the last calls took at most."`
}

func show(call *route.Call, c connection.Connection) Connection {
	shown := Connection{
		ID: c.ID, Kind: c.Kind, Provider: c.Provider, Name: c.Name, State: c.State, Config: c.Config, SecretSet: c.SecretSet,
		SecretLast4: orNull(c.SecretLast4), Tools: showTools(c), UsedBy: ConnectionUsers{c.UsedBy.Personas, c.UsedBy.Voices, c.UsedBy.Portals, c.UsedBy.Schedules, c.UsedBy.Bases}, Limits: ConnectionLimits{c.TimeoutMs},
		Health: ConnectionHealth{
			LastOKAt: route.UTC(c.Health.OKAt), LastErrorAt: route.UTC(c.Health.ErrorAt), ErrorCode: orNull(c.Health.ErrorCode),
			ConsecutiveFailures: c.Health.Failures,
		},
		Fallback: c.FallsBackTo(), CreatedAt: c.CreatedAt.UTC(), UpdatedAt: c.UpdatedAt.UTC(),
	}
	if c.Kind == connection.ATS {
		shown.ServedURL = new(call.URL("/ats/" + c.ID.String() + "." + call.Org().String()))
	}
	if c.Health.P95Ms >= 0 {
		shown.Health.P95Ms = &c.Health.P95Ms
	}
	if shown.Config == nil {
		shown.Config = map[string]any{}
	}
	if shown.UsedBy.PersonaIDs == nil {
		shown.UsedBy.PersonaIDs = []id.Persona{}
	}
	if shown.UsedBy.PortalIDs == nil {
		shown.UsedBy.PortalIDs = []id.Portal{}
	}
	if shown.UsedBy.ScheduleIDs == nil {
		shown.UsedBy.ScheduleIDs = []id.Schedule{}
	}
	if shown.UsedBy.KnowledgeBaseIDs == nil {
		shown.UsedBy.KnowledgeBaseIDs = []id.KnowledgeBase{}
	}
	if shown.UsedBy.VoiceIDs == nil {
		shown.UsedBy.VoiceIDs = []id.Voice{}
	}
	return shown
}

func orNull[T ~string](s T) *T {
	if s == "" {
		return nil
	}
	return &s
}

// Path names a connection.
type Path struct {
	ID string `path:"id" doc:"The connection's id, with or without con_."`
}

func (p Path) connection() (id.Connection, error) {
	return route.Lookup(id.ParseConnection, p.ID, "connection")
}

// Query filters and pages the connections.
type Query struct {
	route.Paging
	Kind     string `query:"kind" enum:"model,speech,recognition,media,avatar,embedding,identity,http,mcp,crm,ats,lms,helpdesk,chat,calendar" doc:"Only services that do this."`
	Provider string `query:"provider" enum:"openai_compatible,elevenlabs,deepgram,livekit,beyond_presence,oidc,http,mcp,hubspot,greenhouse,ashby,lti,xapi,zendesk,slack,teams,caldav,google_calendar" doc:"Only services of this provider."`
	State    string `query:"state" enum:"unverified,active,failing,disabled" doc:"Only connections in this state."`
}

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[Connection], error) {
	filter := connection.Filter{Kind: connection.Kind(q.Kind), Provider: connection.Provider(q.Provider), State: connection.State(q.State)}
	return route.Listed(c, q.Paging, func(after id.Connection, limit int) ([]connection.Connection, error) {
		return connection.List(ctx, a.Tenants, c.Org(), filter, after, limit)
	}, func(x connection.Connection) id.Connection { return x.ID }, func(x connection.Connection) Connection { return show(c, x) })
}

func (a *API) get(ctx context.Context, c *route.Call, p *Path) (Connection, error) {
	which, err := p.connection()
	if err != nil {
		return Connection{}, err
	}
	found, err := connection.Get(ctx, a.Tenants, c.Org(), which)
	return show(c, found), err
}

// ProviderOffer is a provider that can be connected.
type ProviderOffer struct {
	Kind           connection.Kind     `json:"kind" enum:"model,speech,recognition,media,avatar,embedding,identity,http,mcp,crm,ats,lms,helpdesk,chat,calendar" doc:"What services of this provider do."`
	Provider       connection.Provider `json:"provider" enum:"openai_compatible,elevenlabs,deepgram,livekit,beyond_presence,oidc,http,mcp,hubspot,greenhouse,ashby,lti,xapi,zendesk,slack,teams,caldav,google_calendar" doc:"The value to send as a connection's provider."`
	Name           string              `json:"name" doc:"What the provider is called, for people."`
	Secret         string              `json:"secret" doc:"What the secret is."`
	SecretRequired bool                `json:"secretRequired" doc:"Whether a connection to it needs a secret."`
	Clones         bool                `json:"clones" doc:"Whether voices can be made with it."`
	ConfigSchema   route.Object        `json:"configSchema" doc:"The JSON Schema of config."`
}

// ProvidersQuery is empty: the catalogue is one page.
type ProvidersQuery struct{}

func listProviders(context.Context, *route.Call, *ProvidersQuery) (route.Page[ProviderOffer], error) {
	var page route.Page[ProviderOffer]
	for _, o := range connection.Offers() {
		page.Items = append(page.Items, ProviderOffer{o.Kind, o.Provider, o.Name, o.Secret, o.SecretRequired, o.Clones, route.Object(o.Schema)})
	}
	return page, nil
}

// ConnectionCall is a call that was made of a service.
type ConnectionCall struct {
	At        time.Time      `json:"at" doc:"When the call began, in UTC."`
	Name      string         `json:"name" doc:"What was asked for; webhook and the event for what the service told."`
	Status    *int64         `json:"status" doc:"The HTTP status of a failure; null for a good call and where there was none."`
	Ms        int64          `json:"ms" doc:"How long it took, in milliseconds."`
	ErrorCode *upstream.Code `json:"errorCode" nullable:"true" enum:"timeout,truncated,refused,rate_limited,unavailable,rejected,malformed,address_refused" doc:"null for a good call."`
}

// CallsQuery pages the calls of a connection.
type CallsQuery struct {
	Path
	route.Paging
}

func (a *API) calls(ctx context.Context, c *route.Call, q *CallsQuery) (route.Page[ConnectionCall], error) {
	return route.Listed(c, q.Paging, func(after id.Call, limit int) ([]connection.Call, error) {
		which, err := q.connection()
		if err != nil {
			return nil, err
		}
		return connection.Calls(ctx, a.Tenants, c.Org(), which, after, limit)
	}, func(made connection.Call) id.Call { return made.ID }, showCall)
}

func showCall(made connection.Call) ConnectionCall {
	shown := ConnectionCall{At: made.ID.Time(), Name: made.Name, Ms: made.Ms, ErrorCode: orNull(made.Code)}
	if made.Status != 0 {
		shown.Status = &made.Status
	}
	return shown
}

// asProblem says what of the body is wrong.
func asProblem(err error) error {
	if errors.Is(err, connection.ErrSecretNeeded) {
		return problem.Invalid("body.secret", "The secret was given for another address. Give it again together with the new one.")
	}
	if config, ok := errors.AsType[*connection.ConfigError](err); ok {
		param := "body.config"
		if config.Path != "" {
			param += "." + config.Path
		}
		return problem.Invalid(param, "%s: %s.", param, config.Message)
	}
	return err
}
