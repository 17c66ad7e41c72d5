package signin

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/identity"
)

// Question is a browser's way to an identity provider.
type Question struct {
	// URL is where it goes, and Cookie what it brings back with the answer.
	URL, Cookie string
	ExpiresAt   time.Time
}

// attempts is where what a browser keeps of a question opens: at the portal alone.
func attempts(org id.Org, p id.Portal) string { return "sso " + org.String() + " " + p.String() }

// AskProvider sends somebody to the organization's identity provider, which answers
// to redirect. The error can be a Refusal.
func (g *Gate) AskProvider(ctx context.Context, org id.Org, p id.Portal, redirect string) (Question, error) {
	c, err := g.provider(ctx, org, p)
	if err != nil {
		return Question{}, err
	}
	at, to, err := g.Asker.Begin(ctx, c, redirect)
	if err != nil {
		return Question{}, asRefusal(err)
	}
	kept, err := json.Marshal(at)
	if err != nil {
		return Question{}, err
	}
	return Question{to, base64.RawURLEncoding.EncodeToString(g.Vault.Seal(attempts(org, p), kept)), at.ExpiresAt}, nil
}

// provider is the identity provider that a portal's people come by.
func (g *Gate) provider(ctx context.Context, org id.Org, p id.Portal) (connection.Opened, error) {
	var by id.Connection
	err := g.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		e, err := g.before(ctx, tx, p)
		if err == nil {
			err = e.open(ctx, tx, door.SSO)
		}
		if err == nil {
			by = e.door.Connection
		}
		return err
	}, tenant.Idempotent(true))
	if err != nil {
		return connection.Opened{}, asRefusal(unpublished(err))
	}
	c, err := g.Connections.Open(ctx, org, by)
	if errdefs.IsAbsent(err, connection.Noun) || errors.Is(err, connection.ErrDisabled) {
		err = refuse(ProviderAway)
	}
	return c, err
}

// BySSO lets in whom the identity provider vouches for: who is known by its name for
// them, or else by the organization's, or by an address that it says is theirs. Nobody
// is added. given is what the browser came back with, and cookie what it kept.
func (g *Gate) BySSO(ctx context.Context, org id.Org, p id.Portal, cookie string, given url.Values) (Entered, error) {
	c, err := g.provider(ctx, org, p)
	if err != nil {
		return Entered{}, err
	}
	at, err := g.attempt(org, p, cookie)
	if err != nil {
		return Entered{}, err
	}
	who, err := g.Asker.Finish(ctx, c, at, given)
	if err != nil {
		return Entered{}, asRefusal(err)
	}
	if !allowed(c.Config.Texts("emailDomains"), who.Email) {
		return Entered{}, refuse(DomainRefused)
	}
	return g.enter(ctx, org, p, func(ctx context.Context, tx *tenant.Tx, e *entrance) (Visit, error) {
		if err := e.open(ctx, tx, door.SSO); err != nil {
			return Visit{}, err
		}
		if e.door.Connection != c.ID {
			return Visit{}, refuse(TokenElsewhere)
		}
		if err := spendOnce(ctx, tx, uuid.UUID(at.ID), at.ExpiresAt); err != nil {
			return Visit{}, err
		}
		if err := person.Hold(ctx, tx, p); err != nil {
			return Visit{}, err
		}
		found, err := e.identified(ctx, tx, person.At{Connection: c.ID, Issuer: who.Issuer, Subject: who.Subject}, who)
		if err != nil {
			return Visit{}, err
		}
		sits, err := person.Seat(ctx, tx, p, found.ID, id.Membership{}, e.now)
		if err != nil {
			return Visit{}, err
		}
		return e.seat(ctx, tx, found.ID, sits.Membership.ID)
	})
}

// attempt is the question that a browser kept.
func (g *Gate) attempt(org id.Org, p id.Portal, cookie string) (at identity.Attempt, err error) {
	sealed, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil || cookie == "" {
		return at, refuse(AnswerRefused)
	}
	kept, err := g.Vault.Open(attempts(org, p), sealed)
	if err != nil {
		return at, refuse(AnswerRefused)
	}
	return at, json.Unmarshal(kept, &at)
}

// identified finds who is meant, and notes who they are at the provider. An address
// that the provider does not vouch for finds nobody: it would be anybody's.
func (e *entrance) identified(ctx context.Context, tx *tenant.Tx, at person.At, who identity.Who) (person.Person, error) {
	found, err := person.ByIdentity(ctx, tx, at)
	if err == nil || !errdefs.IsNotFound(err, person.Noun) {
		return found, err
	}
	err = errdefs.NotFound{Noun: person.Noun}
	if who.ExternalID != "" {
		found, err = person.ByExternalID(ctx, tx, who.ExternalID)
	}
	byAddress := false
	if _, key, ok := person.Address(who.Email); ok && errdefs.IsNotFound(err, person.Noun) {
		found, err = person.ByAddress(ctx, tx, key)
		byAddress = true
	}
	if errdefs.IsNotFound(err, person.Noun) {
		return found, refuse(AccountUnknown)
	}
	if err != nil {
		return found, err
	}
	if found, err = person.Lock(ctx, tx, found.ID); err != nil {
		return found, err
	}
	if byAddress {
		if found, err = person.Vouch(ctx, tx, found, person.Author{By: string(door.SSO), At: e.now}); err != nil {
			return found, err
		}
	}
	return found, person.Identify(ctx, tx, found.ID, at, e.now)
}

// allowed says whether an address is of one of the domains; where none is named,
// every one is.
func allowed(domains []string, address string) bool {
	_, key, ok := person.Address(address)
	_, domain, _ := strings.Cut(key, "@")
	return len(domains) == 0 || ok && slices.ContainsFunc(domains, func(d string) bool { return strings.EqualFold(d, domain) })
}
