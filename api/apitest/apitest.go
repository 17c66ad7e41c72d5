// Package apitest runs the whole API for tests: a directory, two shards, two
// organizations and their keys, behind an HTTP server on loopback.
package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "gocloud.dev/blob/fileblob"
	"k8s.io/utils/clock"

	"visavis.dev/config"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/process/worker"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/organization"
	"visavis.dev/pkg/text/extract"
)

// API is a running API.
type API struct {
	*Process
	// Options are what the process was made with, to make another beside it.
	Options Options
	// Acme lives on shard-1, Globex on shard-2.
	Acme, Globex *Org

	t testing.TB
}

// Org is an organization and its keys.
type Org struct {
	ID id.Org
	// New and Old have full access, on the newest and on the older contract,
	// and every scope by name besides.
	New, Old apikey.Secret
}

// Option changes the options of a process.
type Option func(*Options)

// Unlimited lifts the rate limits out of a test's way.
func Unlimited(o *Options) {
	const many = 1_000_000
	o.PerAddress = many
	for _, c := range rate.Classes() {
		o.Rates[c] = rate.Rate{PerKey: many, PerOrganization: many}
	}
}

// New runs the API until the test ends.
func New(t testing.TB, options ...Option) *API {
	t.Helper()
	awaitHour()
	o := Options{
		Backend: Backend{
			DirectoryURL: databasetest.URL(t, database.Directory),
			FilesURL:     "file://" + filepath.ToSlash(t.TempDir()) + "?no_tmp_dir=true&metadata=skip",
			PlansText:    config.Plans, Rates: rate.Rates{}, MaxConns: 8, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
			AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Mail: shredder{},
			InboundDomain: InboundDomain, InboundSecret: []byte(InboundSecret),
		},
		Front:  Front{PerAddress: rate.SpecPerAddress, Pods: 1},
		Server: Server{Version: "test"},
		Worker: Worker{Tasks: worker.EveryTask(), Extract: extract.Here},
	}
	for _, option := range options {
		option(&o)
	}
	a := &API{Options: o, t: t}
	a.Process = Serve(t, o)
	ctx := context.Background()
	for _, shard := range []string{"shard-1", "shard-2"} {
		require.NoError(t, a.Directory.AddShard(ctx, shard, databasetest.URL(t, database.Shard)))
	}
	a.Acme, a.Globex = a.NewOrg("Acme", "shard-1", "business"), a.NewOrg("Globex", "shard-2", "business")
	return a
}

// Where visitors' answers come to, and the secret of the gateway that hands them over.
const (
	InboundDomain = "answers.example.com"
	InboundSecret = "the secret of the gateway"
)

// shredder is a mail server that takes everything: what is sent is the business of the
// tests of package letter.
type shredder struct{}

// Send implements mail.Sender.
func (shredder) Send(context.Context, mail.Message) error { return nil }

// NewOrg makes an organization with its two keys.
func (a *API) NewOrg(name, shard, plan string) *Org {
	a.t.Helper()
	ctx, now := context.Background(), time.Now().UTC().Truncate(time.Microsecond)
	o := directory.Organization{
		ID: id.NewOrg(), Name: name, Slug: organization.Slug(name), Region: "eu", Timezone: "UTC", Shard: shard,
		Epoch: 1, Plan: plan, CreatedAt: now,
	}
	require.NoError(a.t, organization.Create(ctx, a.Directory, a.Tenants, o))
	org := &Org{ID: o.ID}
	org.New = a.Key(org, scope.Grant{Contract: contract.V20261001, FullAccess: true, Scopes: scope.All()})
	org.Old = a.Key(org, scope.Grant{Contract: contract.V20260708, FullAccess: true, Scopes: scope.All()})
	return org
}

// Key makes a key with a grant.
func (a *API) Key(org *Org, g scope.Grant) apikey.Secret {
	a.t.Helper()
	secret := apikey.NewSecret(apikey.Live)
	now := time.Now().UTC().Truncate(time.Microsecond)
	require.NoError(a.t, a.Keys.Insert(context.Background(), apikey.Key{
		ID: id.NewKey(), Org: org.ID, Name: "test", Last4: secret.Last4(), Scopes: g.Scopes, FullAccess: g.FullAccess,
		Contract: g.Contract, Environment: apikey.Live, CreatedBy: "test", CreatedAt: now,
	}, secret.Hash()))
	return secret
}

// Request is one call of the API.
type Request struct {
	Method, Path string
	// Key is sent when it is not empty.
	Key apikey.Secret
	// Body is sent as JSON; a []byte as it is, an io.Reader in chunks.
	Body any
	// Header replaces what is sent otherwise.
	Header map[string]string
	// Base is another process's address; the API's own unless given.
	Base string
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Raw    []byte
}

// Do makes a call.
func (a *API) Do(r Request) Answer {
	a.t.Helper()
	var body io.Reader
	switch b := r.Body.(type) {
	case nil:
	case []byte:
		body = bytes.NewReader(b)
	case io.Reader:
		body = struct{ io.Reader }{b} // hides the length that net/http would ask for
	default:
		text, err := json.Marshal(b)
		require.NoError(a.t, err)
		body = bytes.NewReader(text)
	}
	base := r.Base
	if base == "" {
		base = a.URL
	}
	request, err := http.NewRequest(r.Method, base+r.Path, body)
	require.NoError(a.t, err)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if r.Key != "" {
		request.Header.Set("Authorization", "Bearer "+string(r.Key))
	}
	for name, value := range r.Header {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(a.t, err)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	require.NoError(a.t, err)
	return Answer{response.StatusCode, response.Header, raw}
}

// Get makes a GET call.
func (a *API) Get(key apikey.Secret, path string) Answer {
	a.t.Helper()
	return a.Do(Request{Method: http.MethodGet, Path: path, Key: key})
}

// JSON is the answer's body.
func (r Answer) JSON(t testing.TB) map[string]any {
	t.Helper()
	var v map[string]any
	require.NoError(t, json.Unmarshal(r.Raw, &v), "body: %s", r.Raw)
	return v
}

// Data is the answer's data, an object.
func (r Answer) Data(t testing.TB) map[string]any {
	t.Helper()
	data, ok := r.JSON(t)["data"].(map[string]any)
	require.True(t, ok, "status %d, body: %s", r.Status, r.Raw)
	return data
}

// Error is the answer's error object.
func (r Answer) Error(t testing.TB) map[string]any {
	t.Helper()
	e, ok := r.JSON(t)["error"].(map[string]any)
	require.True(t, ok, "status %d, body: %s", r.Status, r.Raw)
	return e
}
