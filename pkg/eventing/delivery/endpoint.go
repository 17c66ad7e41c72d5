package delivery

import (
	"errors"
	"time"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/webhook"
)

// endpoint is a webhook as a courier knows it.
type endpoint struct {
	org  id.Org
	lane int64
	to   receiver
	// open are the deliveries that were read and are not finished yet: they wait
	// in the queue, are under way, or wait to be written.
	open  map[id.Delivery]struct{}
	queue []*task
	// flying counts the attempts under way, and limit bounds them. It grows with
	// each answer and shrinks with each failure, so that an endpoint gets what
	// it can take and one that hangs holds no more than one attempt.
	flying, limit int
	// best is about the shortest time that an answer took of late.
	best   time.Duration
	health health
	// waiting says that it stands among the ready.
	waiting bool
	// read is how far the due deliveries were read, and readAt since when.
	read   mark
	readAt time.Time
	used   time.Time
}

// health is what is known of whether an endpoint answers.
type health int

const (
	// unproven: it was not tried yet by this worker.
	unproven health = iota
	// well: it answered the last time.
	well
	// sick: it did not answer the last time.
	sick
	healths
)

// mark is a place among a webhook's due deliveries.
type mark struct {
	due time.Time
	id  id.Delivery
}

// receiver is what an attempt needs to know of a webhook, as last read.
type receiver struct {
	webhook webhook.Webhook
	// secret signs; previous signs too while it is not empty.
	secret, previous webhook.Secret
	// target is where to send; nil with a fault where it cannot be.
	target *egress.Target
	fault  error
	// lost is why the secret cannot be read; nil when it can.
	lost error
}

// The bounds of an endpoint.
const (
	doubtLimit = 1
	firstLimit = 4
	topLimit   = 64
	// slack is how much longer than the best an answer may take anyway.
	slack = 2 * time.Millisecond
	// roomFor bounds the deliveries that are read ahead and those under way
	// together.
	roomFor = 200
	// freshFor is how long what was read may be used for a new attempt. After
	// that it is read again: rules and addresses change.
	freshFor = time.Second
	// rereadAfter is when due deliveries are read from the first again, to find
	// any that were entered out of their order.
	rereadAfter = time.Second
)

func newEndpoint(org id.Org, lane int64) *endpoint {
	return &endpoint{org: org, lane: lane, open: map[id.Delivery]struct{}{}, limit: doubtLimit, read: theFirst}
}

// theFirst comes before every delivery that is due.
var theFirst = mark{time.Unix(0, 0), id.FirstDelivery(time.Unix(0, 0))}

// room says how many more deliveries should be read. A slow endpoint gets no
// more than it can begin at once.
func (e *endpoint) room() int {
	if e.limit < firstLimit {
		return e.limit - len(e.open)
	}
	return roomFor - len(e.open)
}

// from is where to read on. When nothing is open there is nothing to skip.
func (e *endpoint) from(now time.Time) mark {
	if len(e.open) == 0 || now.Sub(e.readAt) > rereadAfter {
		e.read, e.readAt = theFirst, now
	}
	return e.read
}

// enqueue takes a delivery that was read; one that is open already is not
// taken twice.
func (e *endpoint) enqueue(t *task) bool {
	e.read = mark{t.due, t.id}
	if _, open := e.open[t.id]; open {
		return false
	}
	e.open[t.id] = struct{}{}
	e.queue = append(e.queue, t)
	e.used = time.Now()
	return true
}

// dequeue is the next delivery to attempt; nil when none may begin. What was
// read too long ago is let go, to be read again.
func (e *endpoint) dequeue() *task {
	for len(e.queue) > 0 && e.flying < e.limit {
		t := e.queue[0]
		e.queue = e.queue[1:]
		if time.Since(t.read) <= freshFor {
			return t
		}
		delete(e.open, t.id)
		e.read = theFirst
	}
	return nil
}

// forgetQueue lets go of what is not under way.
func (e *endpoint) forgetQueue() {
	for _, t := range e.queue {
		delete(e.open, t.id)
	}
	e.queue, e.read = nil, theFirst
}

// learn adapts the limit to what came of an attempt.
func (e *endpoint) learn(o *outcome) {
	switch o.code {
	case "":
		if e.health != well {
			e.health, e.limit = well, firstLimit
		}
		e.pace(o.took)
	case Timeout, Network:
		e.health, e.limit = sick, doubtLimit
	case HTTPStatus, Redirect, AddressRefused:
		e.health, e.limit = well, max(e.limit/2, doubtLimit)
	}
}

// pace allows more attempts at a time while answers take about as long as the
// shortest of late, and fewer once they take longer: then more at a time would
// only wait longer, here or there.
func (e *endpoint) pace(took time.Duration) {
	if e.best == 0 || took < e.best {
		e.best = took
	}
	e.best += e.best / 64
	switch {
	case took > 2*e.best+slack:
		e.limit = max(e.limit-1, min(e.limit, firstLimit))
	case e.flying+1 >= e.limit:
		e.limit = min(e.limit+1, topLimit)
	}
}

// task is a delivery whose attempt is due, as it was read.
type task struct {
	org      id.Org
	id       id.Delivery
	webhook  id.Webhook
	event    event.Event
	hasEvent bool
	version  contract.Version
	attempts int64
	created  time.Time
	first    *time.Time
	due      time.Time
	read     time.Time
	// lane is the one that its attempt was begun in.
	lane int64
}

// outcome is what came of an attempt, or of closing a delivery.
type outcome struct {
	task *task
	to   *receiver
	// code is empty for a delivered one.
	code Code
	// began is zero when the delivery was closed without an attempt.
	began, ended time.Time
	took         time.Duration
	status       int64
	address      string
	patience     time.Duration
	// health is the endpoint's when the attempt began.
	health health
	// cause is for the log.
	cause error
}

// attempted says whether there was an attempt, as against a closing.
func (o *outcome) attempted() bool { return !o.began.IsZero() }

// codeOf says what a failed request is in the log of deliveries.
func codeOf(err error) Code {
	var (
		refused *egress.RefusedError
		invalid *egress.InvalidURLError
	)
	switch {
	case errors.Is(err, egress.ErrRedirect):
		return Redirect
	case errors.Is(err, egress.ErrTimeout):
		return Timeout
	case errors.As(err, &refused), errors.As(err, &invalid):
		return AddressRefused
	}
	return Network
}
