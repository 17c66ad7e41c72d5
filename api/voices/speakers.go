package voices

import (
	"context"
	"sync"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/speech/connected"
	"visavis.dev/pkg/speech/speaker"
)

// Requests over HTTP share the speech processes with the conversations that this process
// may hold: few of them speak at once, so that those do not wait for them.
const (
	atOnce    = 2
	waitsFor  = 5 * time.Second
	askedSoon = 2 * time.Second
	// askedLater is when a caller may try where nothing speaks: somebody has to install it.
	askedLater = 5 * time.Minute
	// atServices is how many requests of an organization wait for its services at once.
	atServices = 2
)

// few is what is built in, for few requests at once.
type few struct {
	speaker.Speaker
	speaking chan struct{}
}

// Speak implements speaker.Speaker.
func (f few) Speak(ctx context.Context, r speaker.Request, heard func(speaker.Chunk) error) error {
	waiting, cancel := context.WithTimeout(ctx, waitsFor)
	defer cancel()
	select {
	case f.speaking <- struct{}{}:
		defer func() { <-f.speaking }()
	case <-waiting.Done():
		return speaker.ErrBusy
	}
	return f.Speaker.Speak(ctx, r, heard)
}

// builtin is what is built in; nil for nothing.
func (a *API) builtin() speaker.Speaker {
	if a.Speaker == nil {
		return nil
	}
	return few{a.Speaker, a.speaking}
}

// speakerOf is what speaks with a voice of an organization; nil where nothing does.
func (a *API) speakerOf(ctx context.Context, org id.Org, v voice.Voice) (speaker.Speaker, error) {
	builtin := a.builtin()
	if a.Connected == nil {
		return builtin, nil
	}
	by, err := a.Connected(ctx, org, v, builtin)
	if service, ok := by.(*connected.Speaker); ok {
		return &asked{service, a.asking, org}, err
	}
	return by, err
}

// asked is a service that an organization's requests ask.
type asked struct {
	*connected.Speaker
	asking *asking
	org    id.Org
}

// Say is connected.Speaker's, for few requests of the organization at once.
func (s *asked) Say(ctx context.Context, r speaker.Request, heard func(speaker.Chunk) error) (connected.By, error) {
	if !s.asking.enter(s.org) {
		return connected.Connection, speaker.ErrBusy
	}
	defer s.asking.leave(s.org)
	return s.Speaker.Say(ctx, r, heard)
}

// asking counts the requests that wait for services, by their organizations: one whose service
// is slow holds up nobody else.
type asking struct {
	mu  sync.Mutex
	now map[id.Org]int
}

func (a *asking) enter(org id.Org) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.now[org] >= atServices {
		return false
	}
	if a.now == nil {
		a.now = map[id.Org]int{}
	}
	a.now[org]++
	return true
}

func (a *asking) leave(org id.Org) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.now[org]--; a.now[org] == 0 {
		delete(a.now, org)
	}
}
