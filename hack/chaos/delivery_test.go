package chaos

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/hack/receiver/endpoint"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/database/databasetest"
)

var kills = flag.Int("kills", 3, "how many processes are killed")

func TestMain(m *testing.M) { databasetest.Main(m) }

// lease is short, so that what a killed worker held is soon another's.
const lease = 2 * time.Second

// field is everything that is under fire: two API processes and two workers
// on one directory, and a receiver.
type field struct {
	*apitest.API
	t         *testing.T
	receiver  *endpoint.Server
	processes []*process
	apis      []string
	// workers are those of the processes that deliver.
	workers map[*process]bool

	mu sync.Mutex
	// acknowledged are the ids of events whose write was answered.
	acknowledged []string
	killed       []time.Time
}

func newField(t *testing.T) *field {
	t.Helper()
	f := &field{API: apitest.New(t, apitest.Unlimited), t: t, workers: map[*process]bool{}}
	var err error
	f.receiver, err = endpoint.Start(endpoint.Options{})
	require.NoError(t, err)
	t.Cleanup(f.receiver.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, f.receiver.CA(), 0o600))
	binary := build(t)
	common := []string{
		"--database", f.Options.DirectoryURL, "--files", f.Options.FilesURL, "--allow-address", "127.0.0.0/8", "--trust-ca", ca,
	}
	for range 2 {
		addr, admin := address(t), address(t)
		api := run(t, "http://"+addr+"/v1/health", append([]string{
			binary, "api", "--addr", addr, "--admin-addr", admin, "--address-limit", "100000000", "--rates", "write=100000000/100000000",
		}, common...)...)
		f.apis, f.processes = append(f.apis, "http://"+addr+"/v1"), append(f.processes, api)
		admin = address(t)
		worker := run(t, "http://"+admin+"/livez", append([]string{
			binary, "worker", "--admin-addr", admin, "--delivery-lease", lease.String(),
		}, common...)...)
		f.processes, f.workers[worker] = append(f.processes, worker), true
	}
	for _, p := range f.processes {
		p.await()
	}
	return f
}

// TestNothingIsLost kills processes with SIGKILL under load. Every event whose
// write was acknowledged arrives, nothing arrives that was not recorded, and
// only attempts that were under way at a kill are repeated.
func TestNothingIsLost(t *testing.T) {
	f := newField(t)
	hooks := f.webhooks(8)
	ctx, stop := context.WithCancel(context.Background())
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() { f.write(ctx, i, hooks) })
	}
	for range *kills {
		<-time.After(time.Duration(100+rand.IntN(900)) * time.Millisecond)
		p := f.processes[rand.IntN(len(f.processes))]
		p.kill()
		if f.workers[p] {
			f.killed = append(f.killed, time.Now())
		}
		p.start()
		p.await()
	}
	<-time.After(time.Second)
	stop()
	writers.Wait()
	recorded := f.recorded()
	require.Greater(t, len(f.acknowledged), 20*(*kills), "there was load")

	arrived := f.arrivals(hooks, len(recorded))
	for _, e := range f.acknowledged {
		require.Contains(t, recorded, e, "an acknowledged event was not recorded")
		require.NotEmpty(t, arrived[e], "an acknowledged event did not arrive")
	}
	repeated := 0
	for e, requests := range arrived {
		require.Contains(t, recorded, e, "an event arrived that was not recorded")
		for _, r := range requests {
			require.True(t, r.Verified, r.Why)
		}
		for i := 1; i < len(requests); i++ {
			repeated++
			require.True(t, f.underWay(requests[i-1].At), "event %s was repeated, but no worker was killed after %v", e, requests[i-1].At)
		}
	}
	t.Logf("%d kills, %d of them of workers; %d events acknowledged, %d recorded, all arrived, %d repeated",
		*kills, len(f.killed), len(f.acknowledged), len(recorded), repeated)
}

// underWay says whether an attempt made at a moment may not have been written
// when a worker was killed.
func (f *field) underWay(at time.Time) bool {
	for _, killed := range f.killed {
		if before := killed.Sub(at); before > -50*time.Millisecond && before < time.Second {
			return true
		}
	}
	return false
}

// webhooks makes webhooks through the API, each with a path of its own.
func (f *field) webhooks(n int) map[string]string {
	hooks := map[string]string{}
	for i := range n {
		path := fmt.Sprintf("/hook-%d", i)
		made := f.Do(apitest.Request{Method: http.MethodPost, Path: "/webhooks", Key: f.Acme.New, Body: map[string]any{
			"url": f.receiver.URL(path), "events": []string{"webhook.test"},
		}}).Data(f.t)
		f.receiver.Set(path, endpoint.Behaviour{Secret: made["secret"].(string)})
		hooks[path] = made["id"].(string)
	}
	return hooks
}

// write asks for test events until it is told to stop. A request that fails
// may have been recorded or not; one that was answered has been.
func (f *field) write(ctx context.Context, i int, hooks map[string]string) {
	for n := 0; ctx.Err() == nil; n++ {
		url := f.apis[(i+n)%len(f.apis)] + "/webhooks/" + hooks[fmt.Sprintf("/hook-%d", n%len(hooks))] + "/test"
		e, ok := f.test(ctx, url)
		if !ok {
			<-time.After(5 * time.Millisecond) // the process is down
			continue
		}
		f.mu.Lock()
		f.acknowledged = append(f.acknowledged, e)
		f.mu.Unlock()
	}
}

func (f *field) test(ctx context.Context, url string) (eventID string, ok bool) {
	request, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodPost, url, nil)
	if err != nil {
		return "", false
	}
	request.Header.Set("Authorization", "Bearer "+string(f.Acme.New))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", false
	}
	defer response.Body.Close()
	var body struct{ Data struct{ EventID string } }
	if response.StatusCode != http.StatusAccepted || json.NewDecoder(response.Body).Decode(&body) != nil {
		return "", false
	}
	return body.Data.EventID, true
}

// recorded are the ids of the events in the log.
func (f *field) recorded() map[string]bool {
	found := map[string]bool{}
	var last event.Position
	for {
		page, err := event.List(context.Background(), f.Tenants, f.Acme.ID, event.Filter{Ascending: true}, last, 1000)
		require.NoError(f.t, err)
		for _, e := range page {
			last, found[e.ID.String()] = e.ID, true
		}
		if len(page) < 1000 {
			return found
		}
	}
}

// arrivals waits for every event and answers the requests of each.
func (f *field) arrivals(hooks map[string]string, want int) map[string][]endpoint.Request {
	var found map[string][]endpoint.Request
	require.Eventually(f.t, func() bool {
		found = map[string][]endpoint.Request{}
		for path := range hooks {
			for _, r := range f.receiver.Received(path) {
				found[r.EventID] = append(found[r.EventID], r)
			}
		}
		return len(found) >= want
	}, time.Minute, 100*time.Millisecond, "not everything arrived")
	// What is repeated is repeated soon after.
	<-time.After(2 * lease)
	for path := range hooks {
		for _, r := range f.receiver.Received(path) {
			if last := found[r.EventID]; len(last) > 0 && r.At.After(last[len(last)-1].At) {
				found[r.EventID] = append(last, r)
			}
		}
	}
	return found
}
