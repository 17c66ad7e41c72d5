package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/hack/receiver/endpoint"
	"visavis.dev/pkg/base/vault"
)

// receiver is a webhook receiver on loopback.
type receiver struct {
	*endpoint.Server
	// flags let a process reach it.
	flags []string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	server, err := endpoint.Start(endpoint.Options{})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, server.CA(), 0o600))
	return &receiver{server, []string{"--allow-address", "127.0.0.0/8", "--trust-ca", ca}}
}

// awaitEvents waits until a path received so many distinct events.
func (r *receiver) awaitEvents(t *testing.T, path string, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	require.NoError(t, r.Await(ctx, path, n))
}

// workerProcess is a worker process and its operations' address.
type workerProcess struct {
	*program
	operations string
}

func (p *platform) work(t *testing.T, args ...string) *workerProcess {
	t.Helper()
	started := p.role(t, "worker", args...)
	return &workerProcess{started, "http://" + started.awaitLine(t, "working").Admin}
}

// caller calls an API with one key.
type caller struct{ base, key string }

type shownHook struct {
	ID       string
	Secret   string
	Active   bool
	PausedAt *string
}

type shownDelivery struct {
	ID            string
	WebhookID     string
	EventID       string
	State         string
	OK            bool
	Attempts      int
	ErrorCode     *string
	NextAttemptAt *time.Time
	AttemptLog    []struct{ ErrorCode, Address *string }
}

// hook makes a webhook whose endpoint verifies the secret of the answer.
func (c caller) hook(t *testing.T, r *receiver, path string) shownHook {
	t.Helper()
	made := data[shownHook](t, post(t, c.base+"/webhooks", c.key, map[string]any{"url": r.URL(path)}))
	require.NotEmpty(t, made.Secret)
	r.Set(path, endpoint.Behaviour{Secret: made.Secret})
	return made
}

// test asks for a test delivery.
func (c caller) test(t *testing.T, hook shownHook) shownDelivery {
	t.Helper()
	a := post(t, c.base+"/webhooks/"+hook.ID+"/test", c.key, nil)
	require.Equal(t, http.StatusAccepted, a.status, "%s", a.body)
	return data[shownDelivery](t, a)
}

// become waits until a delivery is in a state and answers it.
func (c caller) become(t *testing.T, d shownDelivery, state string) shownDelivery {
	t.Helper()
	var last answer
	require.Eventually(t, func() bool {
		a, err := attempt(http.MethodGet, c.base+"/webhooks/deliveries/"+d.ID, c.key, nil)
		last = a
		return err == nil && bytes.Contains(a.body, []byte(`"state":"`+state+`"`))
	}, 20*time.Second, 20*time.Millisecond, "delivery %s is not %s", d.ID, state)
	return data[shownDelivery](t, last)
}

// metric sums a process's values of a metric with some labels.
func metric(t *testing.T, operations, name string, labels ...string) (sum float64, found bool) {
	t.Helper()
	page := get(t, operations+"/metrics", "")
	require.Equal(t, http.StatusOK, page.status)
lines:
	for s := bufio.NewScanner(bytes.NewReader(page.body)); s.Scan(); {
		series, value, _ := strings.Cut(s.Text(), "} ")
		if !strings.HasPrefix(series, name+"{") {
			continue
		}
		for _, label := range labels {
			if !strings.Contains(series, label) {
				continue lines
			}
		}
		n, err := strconv.ParseFloat(value, 64)
		require.NoError(t, err, s.Text())
		sum, found = sum+n, true
	}
	return sum, found
}

func TestAWorkerDeliversWhatTheAPIRecords(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	p := newPlatform(t, newDatabase(t), newDatabase(t))
	c := caller{p.serve(t, r.flags...).url, p.key}
	// The lease is longer than this test waits for anything.
	first := p.work(t, append(r.flags, "--delivery-lease", "2m")...)
	requireStatus(t, http.StatusOK, first.operations+"/readyz", "")

	hook := c.hook(t, r, "/hook")
	asked := c.test(t, hook)
	r.awaitEvents(t, "/hook", 1)
	received := r.Received("/hook")
	require.Len(t, received, 1)
	require.True(t, received[0].Verified, "signed with the secret that was shown")
	require.Equal(t, []string{asked.EventID, asked.ID, "webhook.test"}, []string{received[0].EventID, received[0].DeliveryID, received[0].Type})

	done := c.become(t, asked, "delivered")
	require.Equal(t, []any{true, 1}, []any{done.OK, done.Attempts})
	listed := data[[]shownDelivery](t, get(t, c.base+"/webhooks/deliveries", c.key))
	require.Len(t, listed, 1)
	require.Equal(t, []string{asked.ID, hook.ID, "delivered"}, []string{listed[0].ID, listed[0].WebhookID, listed[0].State})
	event := get(t, c.base+"/events/"+asked.EventID, c.key)
	require.JSONEq(t, string(received[0].Body), string(decode[struct{ Data json.RawMessage }](t, event).Data), "the log says what was sent")
	events := data[[]struct{ ID, Type string }](t, get(t, c.base+"/events", c.key))
	require.Len(t, events, 1)
	require.Equal(t, asked.EventID, events[0].ID)

	delivered, _ := metric(t, first.operations, "visavis_delivery_attempts_total", `outcome="delivered"`)
	require.InDelta(t, 1, delivered, 0)
	arrived, _ := metric(t, first.operations, "visavis_delivery_arrival_seconds_count", `shard="one"`)
	require.InDelta(t, 1, arrived, 0)
	age, found := metric(t, first.operations, "visavis_delivery_backlog_age_seconds", `shard="one"`)
	require.True(t, found)
	require.Less(t, age, 5.0, "next to nothing waits")
	lanes, _ := metric(t, first.operations, "visavis_delivery_lanes", `shard="one"`)
	require.Positive(t, lanes)

	require.Zero(t, first.stop(t), "exit code after SIGTERM")
	held := func() int64 { return executeSQL(t, p.shard, "SELECT 1 FROM delivery_lane WHERE lease_until > now()") }
	require.Zero(t, held(), "lanes are free at once")
	late := c.test(t, hook)
	began := time.Now()
	second := p.work(t, append(r.flags, "--delivery-lease", "2m")...)
	r.awaitEvents(t, "/hook", 2)
	require.Less(t, time.Since(began), 10*time.Second)
	t.Logf("the second worker started and delivered within %v", time.Since(began))
	c.become(t, late, "delivered")
	require.NotZero(t, held())
	require.Zero(t, second.stop(t))
	require.Zero(t, r.Count("/hook").Unverified+r.Count("/hook").Repeats)
}

// keyFile writes a file of master keys.
func keyFile(t *testing.T, keys ...[]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "master-keys")
	var text strings.Builder
	for _, key := range keys {
		text.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	}
	require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
	return path
}

func TestAWorkerWithAnotherMasterKeySendsNothing(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	p := newPlatform(t, newDatabase(t), newDatabase(t))
	key, other := vault.NewKey(), vault.NewKey()
	c := caller{p.serve(t, append(r.flags, "--master-keys", keyFile(t, key))...).url, p.key}
	hook := c.hook(t, r, "/hook")
	asked := c.test(t, hook)
	wrong := p.work(t, append(r.flags, "--master-keys", keyFile(t, other))...)

	waits := c.become(t, asked, "retrying")
	require.Equal(t, "internal_error", *waits.ErrorCode)
	require.Equal(t, 1, waits.Attempts)
	require.WithinDuration(t, time.Now().Add(time.Minute), *waits.NextAttemptAt, 20*time.Second)
	require.Len(t, waits.AttemptLog, 1)
	require.Nil(t, waits.AttemptLog[0].Address, "nobody was connected to")
	require.Zero(t, r.Count("/hook").Requests)
	failures, _ := metric(t, wrong.operations, "visavis_delivery_attempts_total", `outcome="internal_error"`)
	require.InDelta(t, 1, failures, 0)
	require.Empty(t, adminTool[[]any](t, p.directory, "webhooks", "list"), "our fault is not the endpoint's")
	require.Zero(t, wrong.stop(t))

	// With both keys at hand it goes on.
	p.work(t, append(r.flags, "--master-keys", keyFile(t, other, key))...)
	require.Equal(t, http.StatusAccepted, post(t, c.base+"/webhooks/deliveries/"+asked.ID+"/retry", c.key, nil).status)
	require.Equal(t, 2, c.become(t, asked, "delivered").Attempts)
	require.Equal(t, 1, r.Count("/hook").Verified)
}
