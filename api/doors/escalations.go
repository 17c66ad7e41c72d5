package doors

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/sessions/escalation"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerEscalations(s *route.Service, read, embed route.Operation) {
	create := embed
	create.ID, create.Path, create.Class = "createEscalation", "/portals/{id}/escalations", "live"
	create.Status, create.Idempotent, create.ShowsSecret, create.Items = http.StatusCreated, true, true, contract.EscalationItem
	create.Errors = []problem.Code{problem.Conflict, problem.Gone}
	create.Summary = "Hand a chat to the video avatar"
	create.Description = "The url is the customer's, who comes until expiresAt. When the conversation ends, escalation.completed says how."
	route.Handle(s, create, a.escalate)

	get := read
	get.ID, get.Path, get.Since, get.Items, get.Summary = "getEscalation", "/escalations/{id}", since, contract.EscalationItem, "One chat that was handed over"
	get.Description = "What was said in the chat, and the reason, need transcripts:read too; they are empty without it."
	route.Handle(s, get, a.escalation)

	decline := embed
	decline.ID, decline.Method, decline.Path = "declineEscalation", http.MethodDelete, "/escalations/{id}"
	decline.Since, decline.Items, decline.Errors = since, contract.EscalationItem, []problem.Code{problem.Conflict}
	decline.Summary = "Take a chat back that the customer has not come for"
	route.Handle(s, decline, a.decline)
}

// EscalationInput is the request to hand a chat over.
type EscalationInput struct {
	Path
	Body EscalationWish
}

// EscalationWish is a chat to be handed over.
type EscalationWish struct {
	ExternalChatID string            `json:"externalChatId" minLength:"1" maxLength:"200" doc:"Your own name for the chat."`
	Channel        string            `json:"channel,omitempty" maxLength:"40" doc:"Where the chat is held; web unless given."`
	CustomerRef    *string           `json:"customerRef,omitempty" maxLength:"200" doc:"The customer's id in your own system."`
	Context        ChatSoFar         `json:"context,omitzero" doc:"What was said so far."`
	Reason         *string           `json:"reason,omitempty" maxLength:"500" doc:"Why it is handed over, in your words."`
	Language       string            `json:"language,omitempty" maxLength:"40" doc:"A code or a name; the portal's unless given."`
	ExpiresInS     int64             `json:"expiresInS,omitempty" minimum:"60" maximum:"86400" doc:"3600 unless given."`
	ExternalID     *string           `json:"externalId,omitempty" maxLength:"200" doc:"Your own id for the hand-over, to find it by."`
	Metadata       map[string]string `json:"metadata,omitempty" doc:"At most 20 keys of at most 40 characters, values of at most 500."`
}

// ChatSoFar is what was said before a chat is handed over.
type ChatSoFar struct {
	Transcript []ChatLine `json:"transcript,omitempty" maxItems:"200" doc:"What was said, in order."`
	Summary    *string    `json:"summary,omitempty" maxLength:"4000" doc:"The chat in a few sentences."`
}

// ChatLine is something that was said.
type ChatLine struct {
	Speaker string     `json:"speaker" maxLength:"80" doc:"Who said it, by name or role."`
	Text    string     `json:"text" maxLength:"4000" doc:"What was said."`
	At      *time.Time `json:"at,omitempty" doc:"When it was said, in UTC; null where it is not known."`
}

func (c ChatSoFar) kept() escalation.Context {
	kept := escalation.Context{Transcript: make([]escalation.Line, len(c.Transcript)), Summary: c.Summary}
	for i, line := range c.Transcript {
		line.At = route.UTC(line.At)
		kept.Transcript[i] = escalation.Line(line)
	}
	return kept
}

// check refuses moments that no answer could show.
func (c ChatSoFar) check() error {
	for i, line := range c.Transcript {
		if line.At == nil {
			continue
		}
		if err := route.CheckTime(fmt.Sprintf("body.context.transcript[%d].at", i), *line.At); err != nil {
			return err
		}
	}
	return nil
}

// Escalation is a chat that was handed over.
type Escalation struct {
	ID             id.Escalation      `json:"id" doc:"Id of the hand-over, with the prefix esc_."`
	PortalID       id.Portal          `json:"portalId" doc:"The portal that speaks with the customer."`
	State          escalation.State   `json:"state" enum:"waiting,live,completed,expired,declined" doc:"Whether it waits for the customer, goes on, or is over."`
	ExternalChatID string             `json:"externalChatId" doc:"The chat's id in your own system."`
	Channel        string             `json:"channel" doc:"Where the chat was before, as you named it."`
	CustomerRef    *string            `json:"customerRef" doc:"The customer's id in your own system; null where none was given."`
	Context        escalation.Context `json:"context" doc:"What was said before it was handed over."`
	Reason         *string            `json:"reason" doc:"Why it was handed over, in your words; null where none was given."`
	Language       string             `json:"language" doc:"The language that the conversation begins in, as a code."`
	URL            *string            `json:"url" format:"uri" doc:"Where the customer comes; shown when it is made and never again."`
	Token          *escalation.Token  `json:"token" doc:"What the url opens with; shown when it is made and never again."`
	ExpiresAt      time.Time          `json:"expiresAt" doc:"From when nobody can take it up any more, in UTC."`
	SessionID      *id.Session        `json:"sessionId" nullable:"true" doc:"The conversation that came of it; null before it begins."`
	Outcome        *string            `json:"outcome" enum:"resolved,unresolved,handoff,abandoned" nullable:"true" doc:"What came of it; null before it is over."`
	Resolved       *bool              `json:"resolved" doc:"Whether the customer's matter was dealt with; null before it is over."`
	InboxItemID    *id.InboxItem      `json:"inboxItemId" nullable:"true" doc:"What the conversation left in the inbox: its hand-off, or else its lead; null for nothing."`
	StartedAt      *time.Time         `json:"startedAt" doc:"When the customer came, in UTC; null before."`
	CompletedAt    *time.Time         `json:"completedAt" doc:"When it was over, in UTC; null before."`
	ExternalID     *string            `json:"externalId" doc:"Your own id for the hand-over; null where none was given."`
	Metadata       map[string]string  `json:"metadata" doc:"Your own notes on it: at most 20 keys of 40 characters, with values of 500."`
	CreatedAt      time.Time          `json:"createdAt" doc:"When it was handed over, in UTC."`
}

func showEscalation(c *route.Call, e escalation.Escalation) Escalation {
	shown := Escalation{
		ID: e.ID, PortalID: e.Portal, State: e.State, ExternalChatID: e.ExternalChatID, Channel: e.Channel, CustomerRef: e.CustomerRef,
		Context: escalation.Context{Transcript: []escalation.Line{}}, Language: e.Language, ExpiresAt: e.ExpiresAt.UTC(),
		SessionID: e.Session.OrNil(), InboxItemID: e.Left.OrNil(), Outcome: e.Outcome, StartedAt: route.UTC(e.StartedAt), CompletedAt: route.UTC(e.CompletedAt),
		ExternalID: e.ExternalID, Metadata: e.Metadata, CreatedAt: e.CreatedAt.UTC(),
	}
	if e.Outcome != nil {
		shown.Resolved = new(*e.Outcome == "resolved")
	}
	if !readsWords(c) {
		return shown
	}
	shown.Reason = e.Reason
	if e.Context.Transcript != nil {
		shown.Context = e.Context
	}
	return shown
}

// readsWords says whether the key may read conversations (Authentication, 6).
func readsWords(c *route.Call) bool { return c.Principal.Key.Grant().Holds(scope.TranscriptsRead) }

func (a *API) escalate(ctx context.Context, c *route.Call, in *EscalationInput) (Escalation, error) {
	b := in.Body
	p, err := a.find(ctx, c, &in.Path)
	if err != nil {
		return Escalation{}, err
	}
	if err := route.CheckMetadata(b.Metadata); err != nil {
		return Escalation{}, err
	}
	if err := b.Context.check(); err != nil {
		return Escalation{}, err
	}
	e := escalation.Escalation{
		ID: id.NewEscalation(), Portal: p.ID, State: escalation.Waiting, ExternalChatID: b.ExternalChatID, Channel: b.Channel,
		CustomerRef: b.CustomerRef, Context: b.Context.kept(), Reason: b.Reason, ExpiresAt: c.Now().Add(goodFor(b.ExpiresInS)),
		ExternalID: b.ExternalID, Metadata: b.Metadata, CreatedAt: c.Now(), Sandbox: trial(c),
	}
	if e.Language, err = languageOf(b.Language, p.Definition.DefaultLanguage); err != nil {
		return Escalation{}, err
	}
	if e.Channel == "" {
		e.Channel = "web"
	}
	if e.Metadata == nil {
		e.Metadata = map[string]string{}
	}
	token := escalation.NewToken()
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Escalation, error) {
		if err := a.Gate.Opens(ctx, tx, p.ID, door.Customers); err != nil {
			return Escalation{}, asProblem(err)
		}
		if err := escalation.Insert(ctx, tx, e, token, c.Actor()); err != nil {
			return Escalation{}, err
		}
		shown := showEscalation(c, e)
		shown.URL, shown.Token = new(a.link(p, "escalation", string(token))), &token
		return shown, nil
	})
}

// languageOf reads a language of the body.
func languageOf(text, otherwise string) (string, error) {
	if text == "" {
		return otherwise, nil
	}
	l, ok := language.Lookup(text)
	if !ok {
		return "", problem.Invalid("body.language", "There is no language %q; GET /languages lists them.", text)
	}
	return l.Code, nil
}

// EscalationPath names a chat that was handed over.
type EscalationPath struct {
	ID string `path:"id" doc:"The escalation's id, with or without esc_."`
}

func (a *API) escalation(ctx context.Context, c *route.Call, in *EscalationPath) (Escalation, error) {
	wanted, err := route.Lookup(id.ParseEscalation, in.ID, "escalation")
	if err != nil {
		return Escalation{}, err
	}
	e, err := escalation.Get(ctx, a.Tenants, c.Org(), wanted)
	return showEscalation(c, e), err
}

func (a *API) decline(ctx context.Context, c *route.Call, in *EscalationPath) (Escalation, error) {
	wanted, err := route.Lookup(id.ParseEscalation, in.ID, "escalation")
	if err != nil {
		return Escalation{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Escalation, error) {
		e, err := escalation.Decline(ctx, tx, wanted, c.Actor())
		return showEscalation(c, e), err
	})
}
