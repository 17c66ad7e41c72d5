package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/visits/live/livetest"
)

const (
	// conversations are held at a time.
	conversations = 500
	// pause is about how long somebody thinks before the next question.
	pause = 5 * time.Second
	// talkFor is how long the many talk.
	talkFor = 30 * time.Second
	// alone is how many questions the one asks.
	alone = 200
	mints = 400
)

// talking measures how soon a session is minted, how soon an answer begins in
// one conversation and in five hundred, and what each costs in memory.
func talking(ctx context.Context, f *fixture) (err error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}
	defer client.CloseIdleConnections()
	h, err := f.startHosting(ctx, "Talking", client)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.stop()) }()
	if err := minting(ctx, f, h.api, h.persona); err != nil {
		return err
	}
	one, err := talkAlone(ctx, f, h.api, h.persona)
	if err != nil {
		return err
	}
	return talkTogether(ctx, h.api, h.persona, h.portal, one)
}

// minting measures POST /sessions/tokens beside the statements it cannot do
// without, in a transaction of their own: some callers at a time, all of one
// organization, so that each waits for the others' places.
func minting(ctx context.Context, f *fixture, a livetest.API, persona string) error {
	bare, err := f.newBareTables(ctx)
	if err != nil {
		return err
	}
	defer bare.close(ctx)
	mint := func(n int, took []time.Duration) error {
		began := time.Now()
		_, err := a.Mint(ctx, persona, nil)
		took[n] = time.Since(began)
		return err
	}
	took := make([]time.Duration, mints)
	for _, times := range [][]time.Duration{make([]time.Duration, mints/4), took} { // the first of them warm up
		if err := inParallel(len(times), func(n int) error { return mint(n, times) }); err != nil {
			return err
		}
	}
	if _, err := bare.mints(ctx); err != nil {
		return err
	}
	floor, err := bare.mints(ctx)
	if err != nil {
		return err
	}
	p95, least := atPercent(took, 95), atPercent(floor, 95)
	report("Mint", mints, ms(atPercent(took, 50), "p50"), ms(p95, "p95"),
		ms(atPercent(floor, 50), "floor-p50"), ms(least, "floor-p95"), ratio(p95, least))
	return nil
}

// talkAlone asks one question after the other and measures how soon each answer
// begins. Its floor is a message there and back over the same socket and one
// durable commit, since no word is sent before it is kept.
func talkAlone(ctx context.Context, f *fixture, a livetest.API, persona string) (time.Duration, error) {
	_, c, err := a.Connect(ctx, persona, nil)
	if err != nil {
		return 0, err
	}
	defer c.Leave()
	if err := listening(ctx, c); err != nil {
		return 0, err
	}
	commits, err := f.newBareTables(ctx)
	if err != nil {
		return 0, err
	}
	defer commits.close(ctx)
	var took, floor []time.Duration
	for n := range alone {
		d, err := answered(ctx, c, n)
		if err != nil {
			return 0, err
		}
		least, err := pinged(ctx, c)
		if err != nil {
			return 0, err
		}
		written, err := commits.commit(ctx)
		if err != nil {
			return 0, err
		}
		took, floor = append(took, d), append(floor, least+written)
	}
	p95, least := atPercent(took, 95), atPercent(floor, 95)
	report("Response/one", alone, ms(atPercent(took, 50), "p50"), ms(p95, "p95"),
		ms(atPercent(floor, 50), "floor-p50"), ms(least, "floor-p95"), ratio(p95, least))
	return p95, nil
}

// pinged is how long a message takes there and back.
func pinged(ctx context.Context, c *livetest.Client) (time.Duration, error) {
	began := time.Now()
	if err := c.Send(ctx, "ping", nil); err != nil {
		return 0, err
	}
	m, err := c.UntilType(ctx, "pong")
	return m.At.Sub(began), err
}

// answered asks a question and answers how soon the first words of its answer
// came. It waits for the answer's end, so that the next interrupts nothing.
func answered(ctx context.Context, c *livetest.Client, n int) (time.Duration, error) {
	began := time.Now()
	if err := c.Say(ctx, asked[n%len(asked)]); err != nil {
		return 0, err
	}
	// What comes before the question was understood belongs to something else.
	if _, err := c.UntilType(ctx, "user-transcription"); err != nil {
		return 0, err
	}
	first, err := c.UntilType(ctx, "bot-text")
	if err != nil {
		return 0, err
	}
	return first.At.Sub(began), listening(ctx, c)
}

// listening waits until the avatar has said what it had to say.
func listening(ctx context.Context, c *livetest.Client) error {
	_, err := c.Until(ctx, func(m livetest.Message) bool {
		var d struct{ State string }
		return m.Type == "state" && json.Unmarshal(m.Data, &d) == nil && d.State == "listening"
	})
	return err
}

// talkTogether holds five hundred conversations at a time.
func talkTogether(ctx context.Context, a livetest.API, persona string, portal *process, one time.Duration) error {
	idle, before, err := portal.inUse()
	if err != nil {
		return err
	}
	socket, err := bareSockets(ctx, portal)
	if err != nil {
		return err
	}
	clients := make([]*livetest.Client, conversations)
	if err := inParallel(conversations, func(n int) (err error) {
		_, clients[n], err = a.Connect(ctx, persona, nil)
		return err
	}); err != nil {
		return err
	}
	var (
		mu    sync.Mutex
		took  []time.Duration
		until = time.Now().Add(talkFor)
	)
	err = inParallelBy(conversations, conversations, func(n int) error {
		c := clients[n]
		if err := listening(ctx, c); err != nil {
			return err
		}
		for i := n; time.Now().Before(until); i++ {
			<-time.After(time.Duration(rand.Int64N(int64(2 * pause))))
			d, err := answered(ctx, c, i)
			if err != nil {
				return fmt.Errorf("conversation %d: %w", n, err)
			}
			mu.Lock()
			took = append(took, d)
			mu.Unlock()
		}
		return nil
	})
	if err != nil {
		return err
	}
	resident, after, err := portal.inUse()
	if err != nil {
		return err
	}
	p95 := atPercent(took, 95)
	report("Response/500", len(took), ms(atPercent(took, 50), "p50"), ms(p95, "p95"), ms(one, "one-p95"), ratio(p95, one))
	each := (after - before) * 1024 / conversations
	report("Memory/live-session", conversations, figure{resident, "MiB"}, figure{idle, "idle-MiB"},
		figure{(resident - idle) * 1024 / conversations, "resident-KiB/session"}, figure{each, "KiB/session"},
		figure{socket, "socket-KiB"}, figure{each / socket, "ratio"})
	for _, c := range clients {
		c.Leave()
	}
	return nil
}

// bareSockets is what a socket costs that has not shown its token yet, in KiB.
func bareSockets(ctx context.Context, portal *process) (float64, error) {
	_, before, err := portal.inUse()
	if err != nil {
		return 0, err
	}
	sockets := make([]*livetest.Client, conversations)
	err = inParallel(conversations, func(n int) (err error) {
		sockets[n], err = livetest.Dial(ctx, "ws"+portal.url[len("http"):]+"/live/v1/"+id.NewSession().String(), "")
		return err
	})
	if err != nil {
		return 0, err
	}
	_, after, err := portal.inUse()
	for _, c := range sockets {
		c.Drop()
	}
	return (after - before) * 1024 / conversations, err
}

// atPercent is a percentile by nearest rank.
func atPercent(took []time.Duration, percent int) time.Duration {
	slices.Sort(took)
	return took[(len(took)*percent+99)/100-1]
}

func ms(d time.Duration, name string) figure { return figure{float64(d) / 1e6, name + "-ms"} }

func ratio(d, floor time.Duration) figure { return figure{float64(d) / float64(floor), "ratio"} }

// library is what the persona has read.
var library = map[string]string{
	"Visiting": `The museum opens at nine in the morning and closes at six in the evening. On Mondays it stays closed.
A ticket costs twelve euros. Children under six years pay nothing. Students pay seven euros with their card.
The guided tour begins at eleven and lasts fifty minutes. Dogs must wait outside, except guide dogs.`,
	"Eating": `The café on the second floor serves soup, bread and cake from ten to five. Groups of more than eight should reserve a table.
The picnic garden behind the house may be used by everybody with a ticket.`,
	"History": `The house was built in 1874 for a family of bell founders. It became a museum in 1951.
Its largest bell weighs four tonnes and is rung on the first Sunday of each month.`,
}

var asked = []string{
	"When does the museum open?", "How much is a ticket for students?", "When does the guided tour begin?", "What does the café serve?",
	"When was the house built?", "How heavy is the largest bell?", "May I bring my dog?", "Where can I have a picnic?",
}
