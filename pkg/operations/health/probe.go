package health

import (
	"context"
	"sync"
	"time"

	"visavis.dev/pkg/store/database"
)

// probes ask databases whether they are there. Each is asked by one question at a time,
// which goes on when nobody waits for the answer any more: a slow database is one that
// answers.
type probes struct {
	mu sync.Mutex
	by map[string]*probe
}

// probe is what is known of a database.
type probe struct {
	// under is closed when the question under way ends; nil while there is none.
	under chan struct{}
	// known says that it was asked, up that it answered last time, and gone that it is
	// nobody's any more.
	known, up, gone bool
}

// ask asks a database unless it is being asked, and answers a channel that is closed once
// the question ended. gone says, of one that does not answer, whether it is to.
func (p *probes) ask(ctx context.Context, name string, db *database.DB, gone func() bool) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by[name] == nil {
		p.by[name] = &probe{}
	}
	about := p.by[name]
	if about.under != nil {
		return about.under
	}
	done := make(chan struct{})
	about.under = done
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerWithin)
		defer cancel()
		up := db.Ping(ctx) == nil
		without := !up && gone()
		p.mu.Lock()
		defer p.mu.Unlock()
		about.known, about.up, about.gone, about.under = true, up, without, nil
		close(done)
	}()
	return done
}

// of is what is known of a database.
func (p *probes) of(name string) probe {
	p.mu.Lock()
	defer p.mu.Unlock()
	return *p.by[name]
}

// retain forgets all databases but some.
func (p *probes) retain(wanted func(name string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name := range p.by {
		if !wanted(name) {
			delete(p.by, name)
		}
	}
}

// await waits for all of them, for as long as there is patience.
func await(all []<-chan struct{}, patience time.Duration) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for _, done := range all {
		select {
		case <-done:
		case <-late.C:
			return
		}
	}
}
