package main

import (
	"context"
	"log/slog"
	"time"

	"visavis.dev/api/server"
	"visavis.dev/pkg/process/backend"
	"visavis.dev/pkg/process/front"
	"visavis.dev/pkg/process/worker"
	"visavis.dev/pkg/sessions/minds"
	"visavis.dev/web/portal"
)

// parts are what a role is composed of. What it does without is nil.
type parts struct {
	backend *backend.Backend
	minds   *minds.Minds
	front   *front.Front
	api     *server.Server
	portal  *portal.Server
	worker  *worker.Worker
}

// connectionsLast is how long a worker's connections to a database may lie idle and still be
// used as they are: it looks at an idle shard a few times a second, mostly over the same one.
const connectionsLast = 5 * time.Second

// openParts opens what a role needs. address is where other processes reach its sockets.
func openParts(ctx context.Context, log *slog.Logger, o options, d duties, address string) (_ *parts, err error) {
	p := &parts{}
	if !d.fronts() {
		o.backend.CheckAfter = connectionsLast
	}
	p.backend, err = whenReachable(ctx, log, func() (*backend.Backend, error) { return backend.Open(ctx, o.backend) })
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.backend.Close()
		}
	}()
	b := p.backend
	p.minds = b.NewMinds()
	if d.fronts() {
		p.front, err = whenReachable(ctx, log, func() (*front.Front, error) { return front.Open(ctx, b, p.minds, o.front) })
		if err != nil {
			return nil, err
		}
	}
	if d.api {
		p.api, err = whenReachable(ctx, log, func() (*server.Server, error) { return server.New(ctx, b, p.minds, p.front, o.api) })
		if err != nil {
			return nil, err
		}
	}
	if d.live {
		of := portal.Options{Backend: b, Minds: p.minds, Front: p.front, Address: address, RTC: o.rtc}
		if p.api != nil {
			of.Service = p.api.Service
		}
		p.portal, err = whenReachable(ctx, log, func() (*portal.Server, error) { return portal.New(ctx, of) })
		if err != nil {
			return nil, err
		}
	}
	if d.work {
		p.worker = worker.New(b, p.minds, o.worker)
	}
	return p, nil
}

// start begins what runs beside the requests.
func (p *parts) start() {
	p.minds.Start()
	if p.front != nil {
		p.front.Start()
	}
	if p.api != nil {
		p.api.Start()
	}
	if p.portal != nil {
		p.portal.Start()
	}
	if p.worker != nil {
		p.worker.Start()
	}
}

// stop ends what start began, after the last request, and closes everything. The portal's
// conversations were ended before.
func (p *parts) stop() {
	if p.worker != nil {
		p.worker.Stop()
	}
	if p.front != nil {
		p.front.Stop()
	}
	if p.api != nil {
		p.api.Stop()
	}
	p.minds.Stop()
	p.backend.Close()
}
