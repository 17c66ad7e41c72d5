package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/eventing/usage"
	"visavis.dev/pkg/visits/live/livetest"
)

// hosting is what conversations run on: a portal, an API and a worker process with an
// organization of their own that has minutes enough, and a persona.
type hosting struct {
	api     livetest.API
	persona string
	portal  *process
	started []*process
}

// startHosting starts the processes. client makes the calls, nil for the usual one; more are
// further arguments of the portal.
func (f *fixture) startHosting(ctx context.Context, name string, client *http.Client, more ...string) (h *hosting, err error) {
	org, key, err := f.newOrg(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := usage.GrantMinutes(ctx, f.backend.Tenants, org, uuid.New(), 1_000_000, time.Now(), nil); err != nil {
		return nil, err
	}
	h = &hosting{}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.stop())
		}
	}()
	if h.portal, err = h.start(f.startPortal(append(unlimited, more...)...)); err != nil {
		return h, err
	}
	api, err := h.start(f.startAPI(append(unlimited, "--live-url", "ws"+h.portal.url[len("http"):],
		"--rates", "live=100000000/100000000,write=100000000/100000000,read=100000000/100000000")...))
	if err != nil {
		return h, err
	}
	if _, err := h.start(f.startWorker()); err != nil {
		return h, err
	}
	h.api = livetest.API{Base: api.url + "/v1", Key: string(key), Client: client}
	h.persona, err = h.api.Persona(ctx, "Amara", library, nil)
	return h, err
}

// start keeps a process that was started, to stop it.
func (h *hosting) start(p *process, err error) (*process, error) {
	if err == nil {
		h.started = append(h.started, p)
	}
	return p, err
}

// stop stops the processes, the last first.
func (h *hosting) stop() (err error) {
	for i := range h.started {
		err = errors.Join(err, h.started[len(h.started)-1-i].stop())
	}
	return err
}
