package main

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/store/database/databasetest"
)

// within bounds every request for an organization whose shard is well: one that waits for
// another shard takes 25 seconds.
const within = 15 * time.Second

// promptly makes a request that succeeds in time.
func (c caller) promptly(t *testing.T, method, path string, body any) answer {
	t.Helper()
	began := time.Now()
	a, err := attempt(method, c.base+path, c.key, body)
	require.NoError(t, err)
	require.Less(t, a.status, 300, "%s %s: %s", method, path, a.body)
	require.Less(t, time.Since(began), within, "%s %s", method, path)
	return a
}

// requireTold makes a request for an organization whose shard does not answer, which waits
// until a request's time is up.
func requireTold(t *testing.T, url, key string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+key)
	response, err := http.DefaultTransport.RoundTrip(r)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode, "%s", body)
	require.Equal(t, "capacity", answer{response.StatusCode, response.Header, body}.failure(t).Code)
	require.NotEmpty(t, response.Header.Get("Retry-After"))
}

// Processes of every role serve the organizations of a healthy shard while one shard is
// frozen, one is gone and one is slow, and while the directory is frozen too. Whoever is on
// a shard that does not answer is told so.
func TestProcessesBesideShardsThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	directory := databasetest.NewFront(t, newDatabase(t))
	p := newPlatform(t, directory.URL, newDatabase(t))
	adminTool[shownOrg](t, p.directory, "org", "add-minutes", p.org, "30")
	shards, keys := map[string]*databasetest.Front{}, map[string]string{}
	for _, name := range []string{"dead", "frozen", "slow"} {
		shards[name] = databasetest.NewFront(t, newDatabase(t))
		runJSON[map[string]any](t, "admin", "--database", p.directory, "shard", "add", name, "--url", shards[name].URL)
		org := runJSON[shownOrg](t, "admin", "--database", p.directory, "org", "create", name, "--plan", "enterprise", "--shard", name).ID
		keys[name] = runJSON[adminKey](t, "admin", "--database", p.directory, "key", "create", org, "--full-access").Secret
	}
	const pages = "learn.visavis.example"
	r := newReceiver(t)
	_, sockets := p.portal(t, "--portal-url", "https://"+pages)
	api := p.serve(t, append(r.flags, "--live-url", sockets, "--portal-url", "https://"+pages)...)
	worker := p.work(t, r.flags...)
	well := caller{api.url, p.key}
	for _, key := range keys { // what a process knows goes on to be known
		require.Equal(t, http.StatusOK, get(t, api.url+"/usage", key).status)
	}
	hook := well.hook(t, r, "/hook")
	course := well.course(t)
	at, err := url.Parse(course.URL)
	require.NoError(t, err)
	process := sockets[len("ws://"):]
	require.Equal(t, http.StatusOK, page(t, process, pages, at.Path).status)
	persona := well.persona(t, well.makes(t, "/knowledge/bases", map[string]any{"name": "Museum"}), map[string]any{
		"greeting": map[string]any{"mode": "fixed", "text": map[string]any{"en": "Welcome."}},
	})
	before := well.mint(t, persona, "chat")
	visitor := visit(t, before.Transport.URL, before.Token)
	visitor.hear()

	shards["frozen"].Freeze()
	shards["dead"].Die()
	shards["slow"].Slow(2 * time.Second)
	t.Cleanup(shards["frozen"].Die)
	for _, frozen := range []bool{false, true} {
		if frozen {
			directory.Freeze()
			t.Cleanup(directory.Die)
		}
		for range 3 {
			well.promptly(t, http.MethodGet, "/usage", nil)
			well.promptly(t, http.MethodPost, "/avatars", apitest.AvatarInput())
			visitor.ask("Are you there?")
			require.Equal(t, http.StatusOK, page(t, process, pages, at.Path).status)
		}
		after := well.mint(t, persona, "chat")
		greeting, _ := visit(t, after.Transport.URL, after.Token).hear()
		require.Equal(t, "Welcome.", greeting)
		delivered := data[shownDelivery](t, well.promptly(t, http.MethodPost, "/webhooks/"+hook.ID+"/test", nil))
		well.become(t, delivered, "delivered")
		for _, name := range []string{"dead", "frozen"} {
			requireTold(t, api.url+"/usage", keys[name])
		}
		require.Equal(t, http.StatusOK, get(t, api.operations+"/readyz", "").status)
	}
	worker.stop(t) // in time, although what is frozen stays so
	api.stop(t)
}
