package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
)

// insistent is a caller that sends each request until it is answered.
type insistent struct {
	key  string
	base atomic.Pointer[string]
	stop atomic.Bool
	// repeated counts the answers that an earlier run had recorded.
	sent, repeated atomic.Int64

	mu      sync.Mutex
	avatars map[string]string // by idempotency key
	wrong   []string
}

// makeAvatars makes one avatar after the other until told to stop.
func (c *insistent) makeAvatars(caller int) {
	for n := 0; !c.stop.Load(); n++ {
		c.makeAvatar(fmt.Sprintf("caller %d avatar %d", caller, n))
	}
}

func (c *insistent) makeAvatar(name string) {
	body := inputNamed(name)
	for deadline := time.Now().Add(40 * time.Second); time.Now().Before(deadline); {
		c.sent.Add(1)
		a, err := attempt(http.MethodPost, *c.base.Load()+"/avatars", c.key, body, "Idempotency-Key", name)
		switch {
		case err != nil, a.status == http.StatusConflict, a.status >= http.StatusInternalServerError:
			<-time.After(5 * time.Millisecond) // the process is being started again
		case a.status == http.StatusCreated:
			c.note(name, a)
			return
		default:
			c.fail(fmt.Sprintf("%s: %d %s", name, a.status, a.body))
			return
		}
	}
	c.fail(name + ": never answered")
}

func (c *insistent) note(name string, a answer) {
	if a.header.Get("Idempotency-Replayed") != "" {
		c.repeated.Add(1)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.avatars[name] = string(a.body)
}

func (c *insistent) fail(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = append(c.wrong, what)
}

func TestOneAvatarPerIdempotencyKeyAcrossKills(t *testing.T) {
	t.Parallel()
	const rounds, callers = 8, 3
	p := newPlatform(t, newDatabase(t), newDatabase(t))
	serve := func() *apiProcess {
		return p.serve(t, "--address-limit", "1000000", "--rates", "read=1000000/1000000,write=1000000/1000000")
	}
	c := &insistent{key: p.key, avatars: map[string]string{}}
	api := serve()
	c.base.Store(&api.url)
	var group sync.WaitGroup
	for caller := range callers {
		group.Go(func() { c.makeAvatars(caller) })
	}
	interrupted := int64(0)
	for round := range rounds {
		<-time.After(time.Duration(100+rand.IntN(400)) * time.Millisecond)
		if round%2 == 1 {
			awaitCommit(t, p.shard)
		}
		api.kill()
		// Nobody holds these claims any more; their minute is cut short.
		interrupted += executeSQL(t, p.shard, "UPDATE idempotency_record SET lease_until = now() - interval '1 second' WHERE state = 'running'")
		api = serve()
		c.base.Store(&api.url)
	}
	c.stop.Store(true)
	group.Wait()
	require.Empty(t, c.wrong)
	require.NotZero(t, interrupted, "no kill hit a request under way")
	t.Logf("%d avatars, %d requests, %d cut off, %d answered again", len(c.avatars), c.sent.Load(), interrupted, c.repeated.Load())

	found := customAvatars(t, api.url, p.key)
	require.Len(t, found, len(c.avatars))
	for name, body := range c.avatars {
		require.Len(t, found[name], 1, name)
		require.Contains(t, body, found[name][0], "what was answered is what is there")
		again, err := attempt(http.MethodPost, api.url+"/avatars", p.key, inputNamed(name), "Idempotency-Key", name)
		require.NoError(t, err)
		require.Equal(t, "true", again.header.Get("Idempotency-Replayed"), name)
		require.Equal(t, body, string(again.body), name)
	}
}

// awaitCommit returns right after a request was committed, which its caller may
// not have been told yet.
func awaitCommit(t *testing.T, shard string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), shard)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(context.Background())) })
	count := func() (n int) {
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM idempotency_record WHERE state = 'done'").Scan(&n))
		return n
	}
	for before, deadline := count(), time.Now().Add(patience); count() == before; {
		require.True(t, time.Now().Before(deadline), "nothing is committed")
	}
}

func inputNamed(name string) map[string]any {
	body := apitest.AvatarInput()
	body["name"] = name
	return body
}

// customAvatars lists the ids of the organization's own avatars by name.
func customAvatars(t *testing.T, base, key string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for cursor := ""; ; {
		page := decode[struct {
			Data       []struct{ ID, Name string }
			NextCursor *string
		}](t, get(t, base+"/avatars?kind=custom&limit=200"+cursor, key))
		for _, a := range page.Data {
			found[a.Name] = append(found[a.Name], a.ID)
		}
		if page.NextCursor == nil {
			return found
		}
		cursor = "&cursor=" + *page.NextCursor
	}
}
