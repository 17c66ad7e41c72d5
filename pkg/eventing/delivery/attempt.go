package delivery

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/eventing/event"
)

// queueUp puts an endpoint among the ready ones.
func (c *courier) queueUp(e *endpoint) {
	if !e.waiting && len(e.queue) > 0 && e.flying < e.limit {
		e.waiting = true
		c.ready = append(c.ready, e)
	}
}

// dispatch begins attempts, one an endpoint in turn, while there is room.
func (c *courier) dispatch(ctx context.Context) {
	if !c.lease.good() {
		return
	}
	for tries := len(c.ready); tries > 0 && c.flying < c.InFlight; tries-- {
		e := c.ready[0]
		c.ready = c.ready[1:]
		e.waiting = false
		if !c.roomFor(e.health) {
			c.queueUp(e)
			continue
		}
		t := e.dequeue()
		if t == nil {
			c.pace.hinted = true // what was read too long ago is read again
			continue
		}
		if c.may(e) {
			c.begin(ctx, e, t)
		} else {
			delete(e.open, t.id)
			e.read = theFirst
		}
		if c.queueUp(e); e.waiting {
			tries++
		}
	}
}

// roomFor says whether another attempt may be begun to an endpoint. Those that
// did not answer share a quarter of the room, and with those that were not
// tried yet a half: thousands of dead ones leave the rest to the living.
func (c *courier) roomFor(h health) bool {
	doubtful := c.flyingBy[sick] + c.flyingBy[unproven]
	switch h {
	case sick:
		return c.flyingBy[sick] < c.InFlight/4 && doubtful < c.InFlight/2
	case unproven:
		return doubtful < c.InFlight/2
	}
	return true
}

func (c *courier) begin(ctx context.Context, e *endpoint, t *task) {
	e.flying++
	c.flying++
	h, to := e.health, e.to
	t.lane = e.lane
	c.flyingBy[h]++
	go func() {
		o := c.attempt(ctx, t, &to)
		o.health = h
		c.landed <- o
	}()
}

// land takes what came of an attempt.
func (c *courier) land(o *outcome) {
	e := c.endpoints[o.task.webhook]
	e.flying--
	c.flying--
	c.flyingBy[o.health]--
	e.learn(o)
	c.metrics.observe(o)
	if o.cause != nil {
		c.Log.Debug("a delivery failed", "shard", c.shard, "delivery", o.task.id.String(), "code", o.code, "error", o.cause)
	}
	c.unwritten = append(c.unwritten, o)
	c.pace.hurry()
	c.queueUp(e)
}

// attempt makes an attempt, or finds that there is none to be made.
func (c *courier) attempt(ctx context.Context, t *task, to *receiver) (o *outcome) {
	o = &outcome{task: t, to: to}
	defer func() {
		if r := recover(); r != nil {
			o.code, o.cause = InternalError, fmt.Errorf("panic: %v\n%s", r, debug.Stack())
			c.Log.Error("an attempt panicked", "shard", c.shard, "delivery", t.id.String(), "error", o.cause)
		}
		if o.ended = c.now(); o.began.IsZero() && o.code == InternalError {
			o.began = o.ended // it counts as an attempt, or it would be made for ever
		}
	}()
	if o.code = closed(t, to); o.code != "" {
		return o
	}
	body, code, err := c.body(ctx, t, to)
	if o.code, o.cause = code, err; code != "" {
		return o
	}
	c.post(ctx, o, body)
	return o
}

// closed says why a delivery is not attempted any more; empty when it is.
func closed(t *task, to *receiver) Code {
	w := to.webhook
	switch {
	case !t.hasEvent:
		return EventGone
	case !w.Active && w.PausedAt != nil:
		return WebhookPaused
	case !w.Active:
		return WebhookInactive
	}
	kind, known := event.Find(t.event.Type)
	switch {
	case !known:
		return InternalError
	case t.event.Type == event.WebhookTest:
		return "" // sent whatever its list says
	case kind.RequiresConversation && !w.IncludeConversation:
		return Withdrawn
	case !w.Subscription().Wants(kind):
		return Unsubscribed
	}
	return ""
}

// body rebuilds the event as the rules are now (spec, Delivery, 5).
func (c *courier) body(ctx context.Context, t *task, to *receiver) ([]byte, Code, error) {
	if to.lost != nil {
		return nil, InternalError, to.lost
	}
	told, err := c.tell(ctx, t, to)
	switch {
	case err != nil:
		return nil, InternalError, err
	case told.Standing == event.Withdrawn:
		return nil, Withdrawn, nil
	case told.Standing == event.Gone:
		return nil, EventGone, nil
	}
	body, err := event.Body(t.version, t.event, told)
	if err != nil {
		return nil, InternalError, err
	}
	return body, "", nil
}

// tell tells the event as the webhook may know it. Most events have no words,
// and nothing need be asked about them.
func (c *courier) tell(ctx context.Context, t *task, to *receiver) (event.Rendered, error) {
	kind, _ := event.Find(t.event.Type)
	asked := to.webhook.IncludeConversation && len(kind.Fields.Conversation) > 0
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	words, err := c.Renderer.Words(ctx, t.org, asked)
	if err != nil {
		return event.Rendered{}, err
	}
	return c.Renderer.Render(ctx, t.event, words)
}

// post makes the request.
func (c *courier) post(ctx context.Context, o *outcome, body []byte) {
	o.began = c.now()
	if o.to.fault != nil {
		o.code, o.cause = codeOf(o.to.fault), o.to.fault
		return
	}
	began := time.Now()
	reply, err := o.to.target.Post(ctx, header(o.task, o.to, o.began, body), body)
	o.took = time.Since(began)
	if reply.Addr.IsValid() {
		o.address = reply.Addr.String()
	}
	o.status = int64(reply.Status)
	switch {
	case err != nil:
		o.code, o.cause = codeOf(err), err
	case reply.Status < 200 || reply.Status > 299:
		o.code, o.patience = HTTPStatus, patience(reply.RetryAfter, o.began)
	}
}

// header are the headers of an attempt (spec, Delivery).
func header(t *task, to *receiver, at time.Time, body []byte) http.Header {
	stamp, delivery := timestamp(at), t.id.String()
	if t.version.Before(contract.V20261001) {
		delivery = t.id.Bare()
	}
	h := http.Header{
		"Content-Type":  {"application/json"},
		headerSignature: {sign(to.secret, stamp, body)}, headerTimestamp: {stamp},
		headerEvent: {string(t.event.Type)}, headerEventID: {t.event.ID.String()}, headerDeliveryID: {delivery},
	}
	if to.previous != "" {
		h[headerPreviousSignature] = []string{sign(to.previous, stamp, body)}
	}
	return h
}

// patience reads a Retry-After header, in seconds or as a date.
func patience(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
