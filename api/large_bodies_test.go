package api_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/spool"
	"visavis.dev/pkg/store/apikey"
)

// heap follows how large the heap gets while something is done.
func heap(t *testing.T, do func()) (grown int64) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	read := func() int64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64())
	}
	runtime.GC()
	before, most := read(), int64(0)
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				most = max(most, read())
			case <-done:
				return
			}
		}
	}()
	do()
	close(done)
	<-watched
	return most - before
}

// recordings is the body of a voice with a sample of some size.
func recordings(t *testing.T, w *apitest.World, size int) []byte {
	t.Helper()
	body := w.Body(t, w.Operation(t, "createVoice")).(map[string]any)
	sample := make([]byte, size)
	copy(sample, "RIFF\x00\x00\x00\x00WAVEfmt ")
	body["samples"] = []string{"data:audio/wav;base64," + base64.StdEncoding.EncodeToString(sample)}
	text, err := json.Marshal(body)
	require.NoError(t, err)
	return text
}

// flood sends a body many times at once and answers how often each code came.
func flood(t *testing.T, w *apitest.World, key apikey.Secret, body []byte, times int) map[string]int {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	codes := map[string]int{}
	for range times {
		all.Go(func() {
			request, err := http.NewRequest(http.MethodPost, w.URL+"/voices", bytes.NewReader(body))
			if err != nil {
				panic(err)
			}
			request.Header.Set("Authorization", "Bearer "+string(key))
			request.Header.Set("Content-Type", "application/json")
			code := "no answer"
			if response, err := http.DefaultTransport.RoundTrip(request); err == nil {
				var answer struct{ Error struct{ Code string } }
				_ = json.NewDecoder(response.Body).Decode(&answer)
				_ = response.Body.Close()
				code = fmt.Sprint(response.StatusCode, " ", answer.Error.Code)
				if response.StatusCode == http.StatusServiceUnavailable && response.Header.Get("Retry-After") == "" {
					code += " without Retry-After"
				}
			} else {
				code += ": " + err.Error()
			}
			mu.Lock()
			defer mu.Unlock()
			codes[code]++
		})
	}
	all.Wait()
	return codes
}

const floods, budget = 20, 128 << 20

func TestLargeBodiesTakeLittleMemory(t *testing.T) {
	s := apitest.NewStudio(t, func(o *apitest.Options) { apitest.Unlimited(o); o.BodyBytes = budget })
	s.Plug(t)
	body := recordings(t, s.World, 31<<20) // 42 MB as base64

	t.Run("of a plan without voices", func(t *testing.T) {
		starter := s.NewOrg("Small", "shard-1", "starter")
		var codes map[string]int
		grown := heap(t, func() { codes = flood(t, s.World, starter.New, body, floods) })
		require.Equal(t, map[string]int{"403 upgrade_required": floods}, codes)
		require.Less(t, grown, int64(64<<20), "nothing of them is read")
	})
	t.Run("that are read", func(t *testing.T) {
		var codes map[string]int
		grown := heap(t, func() { codes = flood(t, s.World, s.Org.New, body, floods) })
		// 25 MB is the most that samples may have.
		require.Equal(t, floods, codes["413 too_large"]+codes["503 capacity"], "%v", codes)
		require.Positive(t, codes["413 too_large"], "%v", codes)
		require.Less(t, grown, int64(budget), "%d MiB", grown>>20)
		t.Logf("the heap grew by %d MiB: %v", grown>>20, codes)
	})
	t.Run("and one that is good", func(t *testing.T) {
		good := recordings(t, s.World, 24<<20)
		require.Equal(t, map[string]int{"202 ": 1}, flood(t, s.World, s.Org.New, good, 1))
	})
	t.Run("and nothing is left of them", func(t *testing.T) {
		require.EqualValues(t, 0, s.Service.Bodies.Used()+s.Service.Disk.Used())
		require.Equal(t, http.StatusAccepted, s.Clone(t, s.Org.New, apitest.Same).Status)
	})
}

// A tenant that fills its share leaves the others theirs.
func TestOneTenantLeavesOthersRoomForBodies(t *testing.T) {
	w := apitest.NewWorld(t, func(o *apitest.Options) { o.BodyBytes = 4 << 20; o.BodyPartWithin = time.Minute })
	const part = 1 << 20
	held := slowBody(t, w, "personas", w.Acme.New, part)
	_, err := held.Write(bytes.Repeat([]byte(" "), part*3/4))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return w.Service.Bodies.Used() >= part*3/4 }, 20*time.Second, time.Millisecond)
	refused := padded(t, w, w.Acme.New)
	apitest.RequireError(t, refused, http.StatusServiceUnavailable, "capacity", "")
	require.Equal(t, "2", refused.Header.Get("Retry-After"))
	require.Equal(t, http.StatusCreated, padded(t, w, w.Globex.New).Status)
	require.NoError(t, held.Close())
	require.Eventually(t, func() bool { return w.Service.Bodies.Used() == 0 }, 20*time.Second, time.Millisecond)
	require.Equal(t, http.StatusCreated, padded(t, w, w.Acme.New).Status)
}

// padded makes a persona with a body that is not small.
func padded(t *testing.T, w *apitest.World, key apikey.Secret) apitest.Answer {
	t.Helper()
	o := w.Operation(t, "createPersona")
	body, err := json.Marshal(w.Body(t, o))
	require.NoError(t, err)
	return w.Do(apitest.Request{Method: o.Method, Path: o.Path, Key: key, Body: append(body, bytes.Repeat([]byte(" "), 100<<10)...)})
}

// Whoever announces large bodies and sends little takes nobody's room, what lies on disk is
// none of the memory, and a small body is let in whatever others hold.
func TestSlowUploadersTakeOnlyWhatTheySent(t *testing.T) {
	w := apitest.NewStudio(t, func(o *apitest.Options) { o.BodyBytes = 8 << 20; o.BodyPartWithin = time.Minute })
	w.Plug(t)
	const announced = 4 << 20
	send := func(key apikey.Secret, size int) {
		_, err := slowBody(t, w.World, "voices", key, announced).Write(bytes.Repeat([]byte(" "), size))
		require.NoError(t, err)
	}
	used := func(bodies *spool.Budget, least int64) {
		require.Eventually(t, func() bool { return bodies.Used() >= least }, 20*time.Second, time.Millisecond)
	}
	for range 4 {
		send(w.Org.New, 0)
	}
	require.Equal(t, http.StatusCreated, padded(t, w.World, w.Org.New).Status)

	send(w.Org.New, 3<<20)
	used(w.Service.Disk, 2<<20)
	require.LessOrEqual(t, w.Service.Bodies.Used(), int64(1<<20+5))
	send(w.Org.New, 768<<10)
	used(w.Service.Bodies, 1<<20+768<<10)
	apitest.RequireError(t, padded(t, w.World, w.Org.New), http.StatusServiceUnavailable, "capacity", "")
	o := w.Operation(t, "createPersona")
	small, err := json.Marshal(w.Body(t, o))
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, w.Do(apitest.Request{Method: o.Method, Path: o.Path, Key: w.Org.New, Body: small}).Status)
}

// slowBody begins a body and leaves it at that.
func slowBody(t *testing.T, w *apitest.World, to string, key apikey.Secret, length int) net.Conn {
	t.Helper()
	base, err := url.Parse(w.URL)
	require.NoError(t, err)
	c, err := net.Dial("tcp", base.Host)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, err = fmt.Fprintf(c, "POST /v1/%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{",
		to, key, length)
	require.NoError(t, err)
	return c
}

func TestABodyThatDoesNotArrive(t *testing.T) {
	w := apitest.NewWorld(t, func(o *apitest.Options) { o.BodyPartWithin = 50 * time.Millisecond })
	c := slowBody(t, w, "personas", w.Acme.New, 1000)
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	apitest.RequireError(t, apitest.Answer{Status: response.StatusCode, Raw: text}, http.StatusBadRequest, "invalid_request", "body")
	require.EqualValues(t, 0, w.Service.Bodies.Used())
}
