package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/config"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/process/backend"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/minds"
	"visavis.dev/pkg/visits/agent"
	"visavis.dev/pkg/visits/live/livetest"
)

const (
	// agentsAsked are as many agents as are measured, each of an organization of its own: what one is asked is limited.
	agentsAsked = 5
	// flooded is how many conversations speak while agents are asked, and flooding how long, with and without.
	flooded  = 20
	flooding = 30 * time.Second
	// floodPace is how often a second two agents are asked, which is four times what they answer.
	floodPace = 80
)

// asking measures how many answers agents give a second beside the same engine behind a bare handler, and how soon
// avatars speak while others ask the agents of an organization all that they may.
func asking(ctx context.Context, f *fixture) (err error) {
	remove, err := f.buildSpeech()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	h, err := f.startHosting(ctx, "Asking", nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.stop()) }()
	bare, err := f.startBareAgent()
	if err != nil {
		return err
	}
	defer func() { _ = bare.cmd.Process.Kill() }()
	crowd := newCrowd(2 * agent.PerAgent / agent.PerAddress)
	defer crowd.leave()
	for n := range agentsAsked {
		a, err := f.newAgent(ctx, h, fmt.Sprintf("Agent %d", n))
		if err != nil {
			return err
		}
		if err := a.measure(ctx, crowd, bare); err != nil {
			return err
		}
	}
	return f.flood(ctx, h, crowd)
}

// crowd asks from addresses of its own.
type crowd struct{ clients []*http.Client }

func newCrowd(n int) *crowd {
	c := &crowd{make([]*http.Client, n)}
	for i := range c.clients {
		from := &net.TCPAddr{IP: net.IPv4(127, 0, 9, byte(i+1))}
		c.clients[i] = &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{LocalAddr: from}).DialContext}}
	}
	return c
}

func (c *crowd) leave() {
	for _, one := range c.clients {
		one.CloseIdleConnections()
	}
}

// ask asks a question from the address of a caller.
func (c *crowd) ask(ctx context.Context, caller int, address, question string) (status int, took time.Duration, err error) {
	body, err := json.Marshal(map[string]string{"question": question})
	if err != nil {
		return 0, 0, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return 0, 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	began := time.Now()
	answer, err := c.clients[caller%len(c.clients)].Do(r)
	if err != nil {
		return 0, 0, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, time.Since(began), err
}

// askedAgent is an agent, with the pack that it knows.
type askedAgent struct {
	org     id.Org
	address string // of its questions
	base    string
}

// newAgent makes an organization whose portal can be asked.
func (f *fixture) newAgent(ctx context.Context, h *hosting, name string) (*askedAgent, error) {
	org, key, err := f.newOrg(ctx, name)
	if err != nil {
		return nil, err
	}
	a := livetest.API{Base: h.api.Base, Key: string(key)}
	if err := a.Call(ctx, http.MethodPatch, "/settings/agents.enabled", map[string]any{"value": true}, nil); err != nil {
		return nil, err
	}
	persona, err := a.Persona(ctx, "Amara", library, nil)
	if err != nil {
		return nil, err
	}
	var knows struct{ Knowledge struct{ BaseIDs []string } }
	if err := a.Call(ctx, http.MethodGet, "/personas/"+persona, nil, &knows); err != nil {
		return nil, err
	}
	var portal struct{ Slug string }
	err = a.Call(ctx, http.MethodPost, "/portals", map[string]any{
		"name": name, "templateKey": "blank", "personaId": persona, "languages": []string{"en"},
		"privacy": map[string]any{"privacyUrl": "https://example.com/privacy"}, "visitors": map[string]any{}, "publish": true,
	}, &portal)
	return &askedAgent{org: org, address: h.api.Base + "/agents/" + portal.Slug + "/ask", base: knows.Knowledge.BaseIDs[0]}, err
}

// measure asks an agent all that it answers in a minute, and a bare handler the same.
func (a *askedAgent) measure(ctx context.Context, c *crowd, bare *process) error {
	floor, least, err := c.askAll(ctx, bare.url+"/"+a.org.String()+"/"+a.base)
	if err != nil {
		return fmt.Errorf("the floor: %w", err)
	}
	took, all, err := c.askAll(ctx, a.address)
	if err != nil {
		return err
	}
	rate, most := agent.PerAgent/all.Seconds(), agent.PerAgent/least.Seconds()
	p99, lowest := atPercent(took, 99), atPercent(floor, 99)
	report("Agent/floor", len(floor), figure{most, "answers/s"}, ms(atPercent(floor, 50), "p50"), ms(lowest, "p99"))
	report("Agent/ask", len(took), figure{rate, "answers/s"}, ms(atPercent(took, 50), "p50"), ms(p99, "p99"))
	report("Agent/ratio", 1, figure{rate / most, "throughput-x"}, figure{p99.Seconds() / lowest.Seconds(), "p99-x"})
	return nil
}

// askAll asks as many questions as an agent answers in a minute, each another.
func (c *crowd) askAll(ctx context.Context, address string) (took []time.Duration, all time.Duration, err error) {
	took = make([]time.Duration, agent.PerAgent)
	began := time.Now()
	err = inParallelBy(callers, len(took), func(n int) error {
		status, d, err := c.ask(ctx, n/agent.PerAddress, address, asked[n%len(asked)]+" "+word())
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("question %d: status %d", n, status)
		}
		took[n] = d
		return err
	})
	return took, time.Since(began), err
}

// flood measures how soon avatars speak while two agents of their organization are asked more than they answer.
func (f *fixture) flood(ctx context.Context, h *hosting, c *crowd) error {
	var agents []*askedAgent
	for _, name := range []string{"Flooded 1", "Flooded 2"} {
		a, err := f.newAgent(ctx, h, name)
		if err != nil {
			return err
		}
		agents = append(agents, a)
	}
	all, err := beginTalkers(ctx, h.api, h.persona, flooded, nil)
	if err != nil {
		return err
	}
	defer all.leave()
	var quiet, loud []time.Duration
	for range 2 {
		took, err := all.talk(ctx, flooding)
		if err != nil {
			return err
		}
		quiet = append(quiet, took...)
		within, over := context.WithCancel(ctx)
		var (
			group             sync.WaitGroup
			answered, refused atomic.Int64
		)
		group.Go(func() { c.flood(within, agents, &answered, &refused) })
		took, err = all.talk(ctx, flooding)
		over()
		group.Wait()
		if err != nil {
			return err
		}
		loud = append(loud, took...)
		report("Agent/flood", 1, figure{float64(answered.Load()) / flooding.Seconds(), "answers/s"}, figure{float64(refused.Load()) / flooding.Seconds(), "refused/s"})
	}
	p99, least := atPercent(loud, 99), atPercent(quiet, 99)
	report("Agent/speech-quiet", len(quiet), ms(atPercent(quiet, 50), "p50"), ms(least, "p99"))
	report("Agent/speech-flooded", len(loud), ms(atPercent(loud, 50), "p50"), ms(p99, "p99"))
	report("Agent/speech-ratio", 1, ratio(p99, least))
	return nil
}

// flood asks agents at a pace until the context is over.
func (c *crowd) flood(ctx context.Context, agents []*askedAgent, answered, refused *atomic.Int64) {
	var group sync.WaitGroup
	defer group.Wait()
	tick := time.NewTicker(time.Second / floodPace)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		group.Go(func() {
			status, _, err := c.ask(ctx, n, agents[n%len(agents)].address, asked[n%len(asked)]+" "+word())
			switch {
			case err != nil:
			case status == http.StatusOK:
				answered.Add(1)
			case status == http.StatusTooManyRequests:
				refused.Add(1)
			}
		})
	}
}

// bareAgentRole makes this binary the floor of an agent: net/http and the engine that answers, without limits, kept
// answers, signatures and what makes a portal an agent.
const bareAgentRole = "bare-agent"

func serveBareAgent(addr, directoryURL string) error {
	b, err := backend.Open(context.Background(), backend.Options{
		DirectoryURL: directoryURL, FilesURL: "mem://", PlansText: config.Plans, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	m := b.NewMinds()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /{org}/{base}", func(w http.ResponseWriter, r *http.Request) {
		if err := answerBare(w, r, m); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})
	return http.ListenAndServe(addr, mux)
}

func answerBare(w http.ResponseWriter, r *http.Request, m *minds.Minds) error {
	org, errOrg := id.ParseOrg(r.PathValue("org"))
	base, errBase := id.ParseKnowledgeBase(r.PathValue("base"))
	var body struct{ Question string }
	if err := errors.Join(errOrg, errBase, json.NewDecoder(r.Body).Decode(&body)); err != nil {
		return err
	}
	c := conversation.Config{
		Session: conversation.Facts{Channel: conversation.Chat, Language: "en"}, Persona: persona.Defaults(voice.Studio()[0]), PersonaName: "Amara",
		Clock: clock.RealClock{}, Knowledge: m.Knowledge(org), Bases: []id.KnowledgeBase{base},
	}
	if err := m.Furnish(r.Context(), org, &c); err != nil {
		return err
	}
	reply, err := conversation.Ask(r.Context(), c, body.Question)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(reply)
}

func (f *fixture) startBareAgent() (*process, error) {
	return startSelf(bareAgentRole, f.directoryURL, "/health")
}
