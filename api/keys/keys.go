// Package keys declares the operations on API keys. A key that manages keys
// can never make or widen one beyond itself.
package keys

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
)

// examples are bodies of requests, by operation.
//
//go:embed examples.json
var examples []byte

// API is what the operations work with.
type API struct {
	Changes *apikey.Changes
}

// Register declares the operations.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	one := route.Operation{Group: "Keys", Scope: scope.KeysManage, Since: contract.V20261001}

	list := one
	list.ID, list.Method, list.Path, list.Class = "listKeys", http.MethodGet, "/keys", "read"
	list.Summary = "The organization's keys, newest first"
	list.Description = scopesDescription
	route.List(s, list, a.list)

	create := one
	create.ID, create.Method, create.Path, create.Class = "createKey", http.MethodPost, "/keys", "write"
	create.Status, create.Idempotent, create.ShowsSecret, create.FailsClosed = http.StatusCreated, true, true, true
	create.Summary = "Make a key; its secret is shown in this answer only"
	create.Description = "The key can do no more than the one that makes it. " + scopesDescription
	route.Handle(s, create, a.create)

	get := one
	get.ID, get.Method, get.Path, get.Class = "getKey", http.MethodGet, "/keys/{id}", "read"
	get.Summary = "One key"
	route.Handle(s, get, a.get)

	update := one
	update.ID, update.Method, update.Path, update.Class = "updateKey", http.MethodPatch, "/keys/{id}", "write"
	update.Errors = []problem.Code{problem.Conflict}
	update.Summary = "Rename a key, narrow its scopes, change its expiry or its addresses"
	update.Description = "Its scopes only become fewer. Its expiry and its addresses may also become wider, up to those of the key that " +
		"changes it: that one could make such a key as well. What is expired or revoked is so for good."
	route.Handle(s, update, a.update)

	rotate := one
	rotate.ID, rotate.Method, rotate.Path, rotate.Class = "rotateKey", http.MethodPost, "/keys/{id}/rotate", "write"
	rotate.Idempotent, rotate.ShowsSecret, rotate.FailsClosed = true, true, true
	rotate.Errors = []problem.Code{problem.Conflict}
	rotate.Summary = "Give a key another secret; the old one works a while longer"
	route.Handle(s, rotate, a.rotate)

	revoke := one
	revoke.ID, revoke.Method, revoke.Path, revoke.Class = "revokeKey", http.MethodDelete, "/keys/{id}", "write"
	revoke.Errors = []problem.Code{problem.Conflict}
	revoke.Summary = "Revoke a key, on every server within two seconds"
	route.Handle(s, revoke, a.revoke)
}

// scopesDescription says of a scope what its name does not.
const scopesDescription = "The scope webhooks:manage is a strong one: a webhook receives every type of event that it names, or all of them by " +
	"default, with names, e-mail addresses and results of people, whatever else the key may read; only the words of conversations need " +
	"transcripts:read as well. Every change of a webhook's address, types and contract is in the activity log (GET /activity)."

// Key is a key without its secret.
type Key struct {
	ID               id.Key           `json:"id" doc:"Id of the key, with the prefix key_."`
	Name             string           `json:"name" doc:"What the key is called, for people."`
	Last4            string           `json:"last4" doc:"The last four characters of its secret, to tell it by."`
	Scopes           []scope.Scope    `json:"scopes" doc:"The scopes given by name. With webhooks:manage a key receives events of every type, whatever else it may read, but for the words of conversations."`
	FullAccess       bool             `json:"fullAccess" doc:"Whether it has every scope that full access holds, without their being listed."`
	APIVersion       contract.Version `json:"apiVersion" enum:"2026-07-08,2026-10-01" doc:"The contract the key is pinned to."`
	Environment      string           `json:"environment" enum:"live,test" doc:"live, or test: sessions of a test key are sandbox sessions, which cost nothing."`
	State            string           `json:"state" enum:"active,revoked,expired" doc:"active, or revoked or expired: then it is refused."`
	CreatedBy        string           `json:"createdBy" doc:"Who made it: another key's id, or what else made it, such as console."`
	CreatedAt        time.Time        `json:"createdAt" doc:"When the key was made, in UTC."`
	LastUsedAt       *time.Time       `json:"lastUsedAt" doc:"When it was last used, in UTC, to within minutes; null for never."`
	ExpiresAt        *time.Time       `json:"expiresAt" doc:"From when the key is refused, in UTC; null for never."`
	RevokedAt        *time.Time       `json:"revokedAt" doc:"When it was revoked, in UTC; null while it was not."`
	AllowedAddresses []string         `json:"allowedAddresses" nullable:"true" doc:"The ranges (CIDR) the key may be used from; null for anywhere."`
}

// KeyWithSecret is the answer that shows a secret, once.
type KeyWithSecret struct {
	Key
	Secret apikey.Secret `json:"secret" doc:"The key itself. It is never shown again."`
}

// Show makes the answer's form of a key.
func Show(k apikey.Key, now time.Time) Key {
	shown := Key{
		ID: k.ID, Name: k.Name, Last4: k.Last4, Scopes: k.Scopes, FullAccess: k.FullAccess, APIVersion: k.Contract,
		Environment: string(k.Environment), State: "active", CreatedBy: k.CreatedBy, CreatedAt: k.CreatedAt.UTC(),
		LastUsedAt: route.UTC(k.LastUsedAt), ExpiresAt: route.UTC(k.ExpiresAt), RevokedAt: route.UTC(k.RevokedAt),
	}
	if shown.Scopes == nil {
		shown.Scopes = []scope.Scope{}
	}
	if len(k.AllowedAddresses) > 0 {
		shown.AllowedAddresses = k.AllowedAddresses
	}
	switch {
	case k.RevokedAt != nil:
		shown.State = "revoked"
	case !k.Usable(now):
		shown.State = "expired"
	}
	return shown
}

// ListQuery pages through the keys.
type ListQuery struct{ route.Paging }

type position struct {
	At time.Time `json:"t"`
	ID id.Key    `json:"i"`
}

func (a *API) list(ctx context.Context, c *route.Call, q *ListQuery) (route.Page[Key], error) {
	after, err := route.After[position](c, q.Paging)
	if err != nil {
		return route.Page[Key]{}, err
	}
	var start *apikey.Position
	if after != nil {
		start = &apikey.Position{CreatedAt: after.At, ID: after.ID}
	}
	found, err := a.Changes.Store.List(ctx, c.Org(), start, q.Limit+1)
	if err != nil {
		return route.Page[Key]{}, err
	}
	page, err := route.Paged(c, q.Paging, found, func(k apikey.Key) position { return position{k.CreatedAt, k.ID} })
	return route.Map(page, func(k apikey.Key) Key { return Show(k, c.Now()) }), err
}

// Path names a key.
type Path struct {
	ID string `path:"id" doc:"The key's id, with or without key_."`
}

func (a *API) get(ctx context.Context, c *route.Call, p *Path) (Key, error) {
	k, err := a.find(ctx, c, p.ID)
	return Show(k, c.Now()), err
}

func (a *API) find(ctx context.Context, c *route.Call, text string) (apikey.Key, error) {
	key, err := route.Lookup(id.ParseKey, text, "key")
	if err != nil {
		return apikey.Key{}, err
	}
	k, err := a.Changes.Store.Get(ctx, c.Org(), key)
	if errors.Is(err, apikey.ErrUnknown) {
		return k, problem.Missing("key").WithParam("path.id")
	}
	return k, err
}

// change is what becomes of a key by a request: what the activity log has of it, and the answer.
type change[O any] struct {
	apikey.Change
	changes map[string]any
	answer  O
}

// maxTurns bounds how often a request waits for other changes of the organization's keys.
const maxTurns = 20

// commit decides on a change with the keys as they are, while no other key of the
// organization changes: by the calling key, and of the key that is named, if one is. It
// records the change with the answer, and makes it effective before the caller learns of
// it. Without a change nothing is.
func commit[O any](ctx context.Context, a *API, c *route.Call, text string, decide func(caller, target apikey.Key) (change[O], error)) (O, error) {
	for turn := 1; ; turn++ {
		out, err := route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (none O, err error) {
			if err := a.Changes.Begin(ctx, tx); err != nil {
				return none, err
			}
			caller, err := a.caller(ctx, c)
			if err != nil {
				return none, err
			}
			var target apikey.Key
			if text != "" {
				if target, err = a.find(ctx, c, text); err != nil {
					return none, err
				}
			}
			made, err := decide(caller, target)
			if err != nil || made.Change == (apikey.Change{}) {
				return made.answer, err
			}
			return made.answer, a.Changes.Propose(ctx, tx, made.Change, made.changes, c.Actor())
		})
		if err != nil && (turn == maxTurns || !errors.Is(err, apikey.ErrPending)) {
			return out, err
		}
		if failed := a.Changes.Apply(ctx, c.Org()); failed != nil || err == nil {
			return out, failed
		}
	}
}

// caller is the calling key as it is now: it may have been changed since it was let in.
func (a *API) caller(ctx context.Context, c *route.Call) (apikey.Key, error) {
	k, err := a.Changes.Store.Get(ctx, c.Org(), c.Principal.Key.ID)
	switch {
	case errors.Is(err, apikey.ErrUnknown), err == nil && !k.Usable(c.Now()):
		return k, problem.New(problem.Unauthorized, "The key is not valid any more.").WithParam("header.Authorization")
	case err == nil && !k.Grant().Holds(scope.KeysManage):
		return k, problem.New(problem.Forbidden, "The key does not hold the scope %s any more.", scope.KeysManage)
	}
	return k, err
}
