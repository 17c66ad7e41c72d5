package connection_test

import (
	"context"
	"io"
	"log"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/event/eventtest"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // net/http tells of connections that were dropped
	databasetest.Main(m)
}

// now is when every test begins.
var now = tenanttest.Now

// store is a shard with two organizations.
type store struct {
	t        *testing.T
	tenants  *tenant.Tenants
	sent     *tenanttest.Statements
	one, two id.Org
	vault    *vault.Vault
}

func newStore(t *testing.T) *store {
	t.Helper()
	s := &store{t: t}
	s.tenants, s.sent, s.one, s.two = tenanttest.NewTraced(t)
	var err error
	s.vault, err = vault.New(vault.NewKey())
	require.NoError(t, err)
	return s
}

func (s *store) inTx(org id.Org, fn func(context.Context, *tenant.Tx) error) error {
	return s.tenants.InTx(context.Background(), org, fn)
}

// draft is a connection to a model as it is entered.
func draft(secret connection.Secret) connection.Connection {
	offer, _ := connection.FindOffer(connection.Model, connection.OpenAICompatible)
	c := connection.New(offer, "m", connection.Config{"baseUrl": "https://models.example/v1", "model": "m"}, secret, now)
	c.TimeoutMs, c.Fallback = 1000, connection.FallbackBuiltin
	return c
}

// add enters a connection.
func (s *store) add(org id.Org, secret connection.Secret, change ...func(*connection.Connection)) connection.Connection {
	s.t.Helper()
	c := draft(secret)
	for _, f := range change {
		f(&c)
	}
	require.NoError(s.t, s.inTx(org, func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Create(ctx, tx, s.vault, c, secret, activity.Actor{By: "test", At: c.CreatedAt})
	}))
	return c
}

func active(c *connection.Connection) { c.State = connection.Active }

func (s *store) get(org id.Org, c id.Connection) connection.Connection {
	s.t.Helper()
	found, err := connection.Get(context.Background(), s.tenants, org, c)
	require.NoError(s.t, err)
	return found
}

// told counts the events of a type.
func (s *store) told(org id.Org, kind string) (n int) {
	s.t.Helper()
	return len(eventtest.Log(s.t, s.tenants, org, event.Type(kind)))
}
