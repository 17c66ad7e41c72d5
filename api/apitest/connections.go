package apitest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/course"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/lti"
	"visavis.dev/pkg/provider/model/modeltest"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// connections is a world beside a model's service.
type connections struct {
	*World
	Models *modeltest.Server
	Log    *lines
}

// lines is a log that is looked at.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func NewConnections(t *testing.T, options ...func(*Options)) *connections {
	t.Helper()
	c := &connections{Models: modeltest.Start(), Log: &lines{}}
	t.Cleanup(c.Models.Close)
	c.World = NewWorld(t, func(o *Options) {
		o.RootCAs = c.Models.Roots()
		o.Log = slog.New(slog.NewTextHandler(c.Log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		for _, option := range options {
			option(o)
		}
	})
	return c
}

// Connect makes a connection to the service, of a good body that was changed.
func (c *connections) Connect(t *testing.T, change func(body, config map[string]any)) Answer {
	t.Helper()
	o := c.Operation(t, "createConnection")
	body := c.Body(t, o).(map[string]any)
	config := body["config"].(map[string]any)
	config["baseUrl"] = c.Models.URL()
	change(body, config)
	return c.Call(t, o, Request{Path: o.Path, Key: c.Acme.New, Body: body})
}

func Same(_, _ map[string]any) {}

// Told counts Acme's events of a type.
func (w *World) Told(t *testing.T, kind string) []any {
	t.Helper()
	items, _ := w.Page(t, w.Operation(t, "listEvents"), w.Acme.New, map[string][]string{"type": {kind}})
	return items
}

func connectionBody(n int) map[string]any {
	return map[string]any{
		"name":   fmt.Sprint("connection ", n),
		"config": map[string]any{"baseUrl": "https://127.0.0.1:9/v1", "model": fmt.Sprint("m", n), "tokensParameter": "max_tokens", "omitTemperature": true},
		"secret": fmt.Sprint("sk-tests-of-every-operation-", n), "limits": map[string]any{"timeoutMs": 1000 + n}, "fallback": "fail",
	}
}

// CRM gives an organization a HubSpot at an address.
func (w *World) CRM(t testing.TB, org *Org, address string) id.Connection {
	t.Helper()
	offer, ok := connection.FindOffer(connection.CRM, connection.HubSpot)
	require.True(t, ok)
	c := connection.New(offer, "crm", connection.Config{"baseUrl": address}, "pat-good", time.Now().UTC())
	c.Fallback, c.TimeoutMs = connection.FallbackBuiltin, 1000
	require.NoError(t, w.Tenants.InTx(context.Background(), org.ID, func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Create(ctx, tx, w.Vault, c, "pat-good", activity.Actor{By: "test", At: c.CreatedAt}.Unlogged())
	}))
	return c.ID
}

// Connect gives an organization a service that clones voices, as if it had been
// tested.
func (w *World) Connect(t testing.TB, org *Org) {
	t.Helper()
	offer, ok := connection.FindOffer(connection.Speech, connection.ElevenLabs)
	require.True(t, ok)
	c := connection.New(offer, "voices", connection.Config{"baseUrl": "https://127.0.0.1:9"}, "xi-tests", time.Now().UTC())
	c.State, c.Fallback, c.TimeoutMs = connection.Active, connection.FallbackFail, 1000
	require.NoError(t, w.Tenants.InTx(context.Background(), org.ID, func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Create(ctx, tx, w.Vault, c, "xi-tests", activity.Actor{By: "test", At: c.CreatedAt}.Unlogged())
	}))
}

// Course gives an organization a learning platform with three courses from which somebody who teaches them came, and answers one.
func (w *World) Course(t testing.TB, org *Org) course.Course {
	t.Helper()
	offer, ok := connection.FindOffer(connection.LMS, connection.LTI)
	require.True(t, ok)
	now := time.Now().UTC().Truncate(time.Microsecond)
	c := connection.New(offer, "platform", connection.Config{"issuer": "https://127.0.0.1:9", "clientId": "1"}, "", now)
	c.State, c.Fallback, c.TimeoutMs = connection.Active, connection.FallbackFail, 1000
	require.NoError(t, w.Tenants.InTx(context.Background(), org.ID, func(ctx context.Context, tx *tenant.Tx) error {
		if err := connection.Create(ctx, tx, w.Vault, c, "", activity.Actor{By: "test", At: now}.Unlogged()); err != nil {
			return err
		}
		for _, name := range []string{"knots", "sails", "tides"} {
			from := lti.Course{ID: name, Title: name, Members: "https://127.0.0.1:9/members/" + name}
			if err := course.Came(ctx, tx, &connection.Opened{Connection: c, Org: org.ID}, id.NewPortal(), &lti.Launch{Course: from}, now); err != nil {
				return err
			}
		}
		return nil
	}))
	found, err := course.List(context.Background(), w.Tenants, org.ID, c.ID, id.Course{}, 3)
	require.NoError(t, err)
	require.Len(t, found, 3)
	return found[0].Course
}
