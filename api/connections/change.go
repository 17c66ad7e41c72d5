package connections

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/learning/resourcelink"
	"visavis.dev/pkg/learning/statement"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/sessions/notice"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// defaultTimeoutMs bounds a call unless given.
const defaultTimeoutMs = 20_000

// Input is the request for a new connection.
type Input struct{ Body ConnectionInput }

// ConnectionInput is a connection to be made.
type ConnectionInput struct {
	Kind     string                 `json:"kind" enum:"model,speech,recognition,media,avatar,embedding,identity,http,mcp,crm,ats,lms,helpdesk,chat,calendar" doc:"What the service is to do for personas and portals."`
	Provider string                 `json:"provider" enum:"openai_compatible,elevenlabs,deepgram,livekit,beyond_presence,oidc,http,mcp,hubspot,greenhouse,ashby,lti,xapi,zendesk,slack,teams,caldav,google_calendar" doc:"Which interface the service speaks. GET /connections/providers lists them."`
	Name     string                 `json:"name" minLength:"1" maxLength:"80" doc:"What to call the connection, for people."`
	Config   map[string]any         `json:"config,omitempty" doc:"Of the form that GET /connections/providers shows."`
	Secret   *string                `json:"secret,omitempty" minLength:"1" maxLength:"4096" writeOnly:"true" doc:"Write-only: it is never shown again."`
	Limits   *ConnectionLimitsInput `json:"limits,omitempty" doc:"Bounds on the calls; the provider's usual ones when left out."`
	Fallback string                 `json:"fallback,omitempty" enum:"builtin,fail" doc:"What happens where it fails: of the kinds model and speech either, builtin unless given; of kind embedding builtin, as passages are then found by their words alone; of all others fail."`
}

// ConnectionLimitsInput bound the calls of a connection.
type ConnectionLimitsInput struct {
	TimeoutMs *int64 `json:"timeoutMs,omitempty" minimum:"500" maximum:"60000" doc:"Bounds a call; 20000 unless given."`
}

func (a *API) create(ctx context.Context, c *route.Call, in *Input) (Connection, error) {
	if err := a.checkPlan(c); err != nil {
		return Connection{}, err
	}
	b := &in.Body
	offer, ok := connection.FindOffer(connection.Kind(b.Kind), connection.Provider(b.Provider))
	if !ok {
		return Connection{}, problem.Invalid("body.provider", "%s does not offer a connection of kind %s; GET /connections/providers lists those that are.", b.Provider, b.Kind)
	}
	if err := checkScope(c, offer.Kind, offer.Provider); err != nil {
		return Connection{}, err
	}
	if err := checkConfigScopes(c, b.Config); err != nil {
		return Connection{}, err
	}
	config := connection.Config(b.Config)
	if config == nil {
		config = connection.Config{}
	}
	if err := a.checkConfig(ctx, c, offer, config); err != nil {
		return Connection{}, err
	}
	var secret connection.Secret
	if b.Secret != nil {
		secret = connection.Secret(*b.Secret)
	}
	if err := a.checkSecret(ctx, offer, secret); err != nil {
		return Connection{}, err
	}
	made := connection.New(offer, b.Name, config, secret, c.Now())
	made.TimeoutMs, made.Fallback = defaultTimeoutMs, offer.Kind.Fallbacks()[0]
	if b.Limits != nil && b.Limits.TimeoutMs != nil {
		made.TimeoutMs = *b.Limits.TimeoutMs
	}
	if b.Fallback != "" {
		if err := checkFallback(offer.Kind, b.Fallback); err != nil {
			return Connection{}, err
		}
		made.Fallback = b.Fallback
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Connection, error) {
		if err := errors.Join(checkRoles(ctx, tx, made.Kind, made.Config), checkRetention(ctx, tx, made.Config)); err != nil {
			return Connection{}, err
		}
		return show(c, made), connection.Create(ctx, tx, a.Vault, made, secret, c.Actor())
	})
}

// checkFallback refuses what cannot happen where a connection of a kind fails.
func checkFallback(k connection.Kind, fallback string) error {
	can := k.Fallbacks()
	if slices.Contains(can, fallback) {
		return nil
	}
	return problem.Invalid("body.fallback", "A connection of kind %s has only the fallback %s.", k, can[0])
}

// checkPlan says whether the plan includes connections.
func (a *API) checkPlan(c *route.Call) error {
	if !c.Principal.Terms.Has(feature) {
		return a.Plans.FeatureMissing(c.Principal.Terms, feature)
	}
	return nil
}

// scopes are those that connections of a kind need beside their own: of the kinds crm, helpdesk and chat the inbox is
// written elsewhere, of kind calendar bookings are written and changed
// there, of kind ats candidates are invited from there, and of kind lms people are let in to portals, or results are
// written elsewhere.
var scopes = map[connection.Kind]scope.Scope{
	connection.CRM: scope.InboxRead, connection.Helpdesk: scope.InboxRead, connection.Chat: scope.InboxRead,
	connection.ATS: scope.CandidatesWrite, connection.LMS: scope.EmbedWrite, connection.Calendar: scope.InboxWrite,
}

// checkConfigScopes says whether the key may itself do what a connection of a config does beside the rest: tell of conversations, and change the
// inbox.
func checkConfigScopes(c *route.Call, config connection.Config) error {
	if config.TakesBack() && !c.Principal.Key.Grant().Holds(scope.InboxWrite) {
		return problem.New(problem.Forbidden, "This key lacks the scope %s, which takesBack needs.", scope.InboxWrite)
	}
	if config.On("includeConversation") && !c.Principal.Key.Grant().Holds(scope.TranscriptsRead) {
		return problem.New(problem.Forbidden, "This key lacks the scope %s, which includeConversation needs.", scope.TranscriptsRead)
	}
	return nil
}

// checkRetention refuses words of conversations while the organization keeps none.
func checkRetention(ctx context.Context, tx *tenant.Tx, config connection.Config) error {
	if !config.On("includeConversation") {
		return nil
	}
	zero, err := setting.On(ctx, tx, setting.ZeroRetention)
	if err == nil && zero {
		return problem.Conflicting("zero_retention", "The organization has zero data retention on, so no connection can have includeConversation.").
			WithParam("body.config.includeConversation")
	}
	return err
}

// checkScope says whether the key may do itself what a connection of a kind has others do.
func checkScope(c *route.Call, k connection.Kind, p connection.Provider) error {
	needed, ok := scopes[k]
	if p == connection.XAPI {
		needed = scope.ResultsRead
	}
	if ok && !c.Principal.Key.Grant().Holds(needed) {
		return problem.New(problem.Forbidden, "This key lacks the scope %s, which connections of kind %s need.", needed, k)
	}
	return nil
}

// checkRoles says whether the roles that an applicant tracking system is to offer are the organization's.
func checkRoles(ctx context.Context, tx *tenant.Tx, k connection.Kind, config connection.Config) error {
	if k != connection.ATS {
		return nil
	}
	named := config.Roles()
	found, err := role.Existing(ctx, tx, named)
	if err != nil {
		return err
	}
	for i, r := range named {
		if !slices.Contains(found, r) {
			return problem.Missing("role").WithParam(fmt.Sprintf("body.config.roles.%d", i))
		}
	}
	return nil
}

// checkConfig says whether a config is of its form and its addresses may be reached. A
// look-up can take a while, so it is done before the transaction.
func (a *API) checkConfig(ctx context.Context, c *route.Call, offer connection.Offer, config connection.Config) error {
	if err := offer.Check(config); err != nil {
		return asProblem(err)
	}
	addresses := config.Addresses(offer.Provider)
	for _, name := range slices.Sorted(maps.Keys(addresses)) {
		if err := a.checkAddress(ctx, offer, name, addresses[name]); err != nil {
			return err
		}
	}
	if offer.Kind == connection.Helpdesk && !offer.Provider.Reaches(ctx, a.Egress, config.BaseURL(offer.Provider)) {
		return problem.Invalid("body.config.baseUrl", "The address is none of an account of %s.", offer.Name)
	}
	if offer.Provider != connection.LTI {
		return nil
	}
	p, ok := config.Portal()
	if !ok {
		return problem.Missing("portal").WithParam("body.config.portalId")
	}
	_, err := portal.Get(ctx, a.Tenants, c.Org(), p)
	if errdefs.IsAbsent(err, portal.Noun) {
		return problem.Missing("portal").WithParam("body.config.portalId")
	}
	return err
}

func (a *API) checkAddress(ctx context.Context, offer connection.Offer, name, address string) error {
	var (
		badURL  *egress.InvalidURLError
		refused *egress.RefusedError
	)
	// What is put after a base would go there, and not on its path.
	if strings.Contains(address, "#") || strings.Contains(address, "?") && offer.Provider != connection.LTI {
		return problem.Invalid("body.config."+name, "The address may have neither a query nor a fragment.")
	}
	err := offer.Kind.Guard(a.Egress).CheckAddress(ctx, address)
	if errors.As(err, &badURL) || errors.As(err, &refused) {
		return problem.Invalid("body.config."+name, "The address cannot be used: %v.", err).WithCause(err)
	}
	return err
}

// checkSecret says whether a secret can be sent, and is there where one must be.
func checkSecret(offer connection.Offer, s connection.Secret) error {
	if s == "" && offer.SecretRequired {
		return problem.Invalid("body.secret", "A connection to %s needs a secret: %s", offer.Provider, offer.Secret)
	}
	for i := range len(s) {
		if offer.Provider == connection.CalDAV && s[i] >= ' ' && s[i] != 0x7f {
			continue // it is sent encoded
		}
		if s[i] <= ' ' || s[i] > '~' {
			return problem.Invalid("body.secret", "A secret consists of printable ASCII characters without spaces.")
		}
	}
	if wrong := offer.CheckSecret(s); wrong != "" {
		return problem.Invalid("body.secret", "The secret %s.", wrong)
	}
	return nil
}

// checkSecret is checkSecret of a secret that may be an address too.
func (a *API) checkSecret(ctx context.Context, offer connection.Offer, s connection.Secret) error {
	if err := checkSecret(offer, s); err != nil {
		return err
	}
	if wrong := offer.CheckHook(ctx, a.Egress, s); wrong != "" {
		return problem.Invalid("body.secret", "The secret %s.", wrong)
	}
	return nil
}

// UpdateInput is the request for a change of a connection.
type UpdateInput struct {
	Path
	Body ConnectionChange
}

// ConnectionChange is what to change of a connection.
type ConnectionChange struct {
	Name     route.Opt[string]         `json:"name,omitzero" minLength:"1" maxLength:"80" doc:"A new name, for people."`
	Config   route.Opt[map[string]any] `json:"config,omitzero" doc:"Replaces the old one whole."`
	Secret   route.Opt[string]         `json:"secret,omitzero" minLength:"1" maxLength:"4096" writeOnly:"true" doc:"Replaces the old one at once; rotate lets both work for a while."`
	Limits   *ConnectionLimitsInput    `json:"limits,omitempty" doc:"New bounds on the calls; those left out stay."`
	Fallback route.Opt[string]         `json:"fallback,omitzero" enum:"builtin,fail" doc:"What happens while the service is away: builtin answers with what is built in, fail ends in an error."`
	Enabled  route.Opt[bool]           `json:"enabled,omitzero" doc:"false switches it off, true on again."`
}

func (a *API) update(ctx context.Context, c *route.Call, in *UpdateInput) (Connection, error) {
	if err := a.checkPlan(c); err != nil {
		return Connection{}, err
	}
	which, err := in.connection()
	if err != nil {
		return Connection{}, err
	}
	// Kind and provider never change, so what is checked here holds below.
	now, err := connection.Get(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return Connection{}, err
	}
	if in.Body.Config.Set || in.Body.Secret.Set || in.Body.Enabled.Set {
		if err := checkScope(c, now.Kind, now.Provider); err != nil {
			return Connection{}, err
		}
		config := now.Config
		if in.Body.Config.Set {
			config = in.Body.Config.Value
		}
		if err := checkConfigScopes(c, config); err != nil {
			return Connection{}, err
		}
	}
	change, err := a.checkChange(ctx, c, now, &in.Body)
	if err != nil {
		return Connection{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Connection, error) {
		before, err := connection.Lock(ctx, tx, which)
		if err != nil {
			return Connection{}, err
		}
		if change.Config != nil {
			if err := errors.Join(checkRoles(ctx, tx, before.Kind, *change.Config), checkRetention(ctx, tx, *change.Config)); err != nil {
				return Connection{}, err
			}
		}
		after, err := connection.Configure(ctx, tx, a.Vault, before, change, c.Actor())
		if err == nil && !after.SettledAt.Equal(before.SettledAt) {
			err = checkConfigScopes(c, after.Config)
		}
		return show(c, after), asProblem(err)
	})
}

func (a *API) checkChange(ctx context.Context, c *route.Call, now connection.Connection, b *ConnectionChange) (connection.Change, error) {
	change := connection.Change{Name: b.Name.Ptr(), Fallback: b.Fallback.Ptr(), Enabled: b.Enabled.Ptr()}
	offer, _ := connection.FindOffer(now.Kind, now.Provider)
	if b.Limits != nil {
		change.TimeoutMs = b.Limits.TimeoutMs
	}
	if b.Fallback.Set {
		if err := checkFallback(now.Kind, b.Fallback.Value); err != nil {
			return change, err
		}
	}
	if b.Config.Set {
		config := connection.Config(b.Config.Value)
		change.Config = &config
		if err := a.checkConfig(ctx, c, offer, config); err != nil {
			return change, err
		}
	}
	if b.Secret.Set {
		secret := connection.Secret(b.Secret.Value)
		change.Secret = &secret
		return change, a.checkSecret(ctx, offer, secret)
	}
	return change, nil
}

// DeleteInput is the request for a connection's end.
type DeleteInput struct {
	Path
	SuccessorID string `query:"successorId" maxLength:"80" doc:"Another connection of the same kind and provider to the same address, which goes on with what this one did: with the candidates whom an applicant tracking system sent. One that is made after the deletion goes on without being named."`
}

func (a *API) delete(ctx context.Context, c *route.Call, in *DeleteInput) (route.Deleted, error) {
	which, err := in.connection()
	if err != nil {
		return route.Deleted{}, err
	}
	successor, err := route.QueryID(id.ParseConnection, "successorId", in.SuccessorID)
	if err != nil {
		return route.Deleted{}, err
	}
	if !successor.IsZero() { // who may not do what a connection has others do has nobody go on with it
		now, err := connection.Get(ctx, a.Tenants, c.Org(), which)
		if err != nil {
			return route.Deleted{}, err
		}
		if err := checkScope(c, now.Kind, now.Provider); err != nil {
			return route.Deleted{}, err
		}
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (route.Deleted, error) {
		err := connection.Delete(ctx, tx, which, successor, c.Actor())
		if wrong, ok := errors.AsType[*errdefs.Invalid](err); ok {
			err = problem.Invalid("query."+wrong.Field, "%s %s.", wrong.Field, wrong.Message)
		}
		if err != nil {
			return route.Deleted{}, err
		}
		return route.Deleted{Deleted: true, ID: which.String()}, errors.Join(resourcelink.ForgetConnection(ctx, tx, which), statement.ForgetConnection(ctx, tx, which), notice.ForgetConnection(ctx, tx, which))
	})
}

// RotateInput is the request for another secret.
type RotateInput struct {
	Path
	Body ConnectionRotation
}

// ConnectionRotation says how a secret is replaced.
type ConnectionRotation struct {
	Secret string `json:"secret" minLength:"1" maxLength:"4096" writeOnly:"true" doc:"Write-only: it is never shown again."`
	GraceS int64  `json:"graceS,omitempty" minimum:"0" maximum:"604800" doc:"How many seconds the old secret is tried where the new one is refused; 0 unless given."`
}

func (a *API) rotate(ctx context.Context, c *route.Call, in *RotateInput) (Connection, error) {
	if err := a.checkPlan(c); err != nil {
		return Connection{}, err
	}
	which, err := in.connection()
	if err != nil {
		return Connection{}, err
	}
	secret := connection.Secret(in.Body.Secret)
	// Kind and provider never change, so what is checked here holds below.
	now, err := connection.Get(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return Connection{}, err
	}
	offer, _ := connection.FindOffer(now.Kind, now.Provider)
	if err := errors.Join(checkScope(c, now.Kind, now.Provider), checkConfigScopes(c, now.Config)); err != nil {
		return Connection{}, err
	}
	if err := a.checkSecret(ctx, offer, secret); err != nil {
		return Connection{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Connection, error) {
		before, err := connection.Lock(ctx, tx, which)
		if err != nil {
			return Connection{}, err
		}
		if err := checkConfigScopes(c, before.Config); err != nil {
			return Connection{}, err
		}
		if !before.SecretSet {
			return Connection{}, problem.Conflicting("no_secret", "The connection has no secret. Change it to give it one.").WithParam("path.id")
		}
		after, err := connection.Rotate(ctx, tx, a.Vault, before, secret, time.Duration(in.Body.GraceS)*time.Second, c.Actor())
		return show(c, after), err
	})
}
