package delivery

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/hint"
)

// poll is what a look at the database found.
type poll struct {
	tasks     []*task
	receivers map[id.Webhook]stored
	// full are the webhooks that have more due than was read.
	full map[id.Webhook]bool
	// numbered is what was entered of staged events, and what is left of them.
	numbered event.Numbered
	// next is when something falls due that is not yet; zero where nothing does.
	next time.Time
	// oldest is when the longest waiting delivery was due; zero when none is.
	oldest time.Time
	// numbering is why staged events could not be entered in their logs.
	numbering error
	err       error
}

// stored is a webhook's row.
type stored struct {
	org              id.Org
	webhook          webhook.Webhook
	secret, previous []byte
	previousUntil    *time.Time
}

// pollTimeout bounds a look at the database.
const pollTimeout = 10 * time.Second

// poll looks for what is due in this worker's lanes, beside everything else.
func (c *courier) poll(ctx context.Context) {
	if c.polling || !c.lease.good() || time.Now().Before(c.rest) {
		return
	}
	c.polling = true
	c.pace.begin()
	l := look{now: c.now(), lanes: map[int64]bool{}, places: c.places, marks: map[id.Webhook]mark{}, busy: map[id.Webhook]bool{}}
	for w, e := range c.endpoints {
		if l.busy[w] = e.room() <= 0; !l.busy[w] {
			l.marks[w] = e.from(time.Now())
		}
	}
	shared := 0
	for lane := range c.lease.epochs {
		l.lanes[lane] = c.mine(lane)
		if lane < laneCount {
			shared++
		}
	}
	l.others = shared < laneCount || len(c.places) > 0
	go func() {
		ctx, cancel := context.WithTimeout(ctx, pollTimeout)
		defer cancel()
		c.polled <- c.look(ctx, l)
	}()
}

// look is what a look at the database goes by.
type look struct {
	now time.Time
	// lanes are those held, and whether they are the worker's still.
	lanes  map[int64]bool
	places places
	// marks are how far the due deliveries of webhooks were read, and busy those that are to
	// get no more for now.
	marks map[id.Webhook]mark
	busy  map[id.Webhook]bool
	// others says that some of what is entered may be another worker's.
	others bool
}

const (
	// numberTimeout bounds the numbering of a look, so that what is due already is delivered
	// also where a log cannot be written.
	numberTimeout = 2 * time.Second
	// warnEvery is how often it is told that one cannot.
	warnEvery = time.Minute
)

// probe is one trip that finds what is due, and whether something may be staged. Where it
// may, that comes first, and what is due is looked for again.
func (c *courier) probe(ctx context.Context, l look) (found waiting, staged bool, err error) {
	engine, err := c.db.Engine(ctx)
	if err != nil || c.Lane != 0 || engine == database.Cockroach {
		return found, true, err
	}
	ctx, cancel := context.WithTimeout(ctx, numberTimeout)
	defer cancel()
	var b pgx.Batch
	c.numbering.Queue(&b)
	b.Queue(selectHeads, l.now).Query(func(rows pgx.Rows) error { return found.read(rows, l.now) })
	// Where it fails each is tried by itself: what is due is delivered also where no log can
	// be read.
	err = c.db.SendBatch(ctx, &b).Close()
	return found, err != nil || c.numbering.Staged(), nil
}

// number gives events that were staged their places in the logs, and so makes their deliveries
// due: all of the shard's, or for a worker of a lane of its own those of the organizations
// that have webhooks in it.
func (c *courier) number(ctx context.Context, l look) (done event.Numbered, err error) {
	ctx, cancel := context.WithTimeout(ctx, numberTimeout)
	defer cancel()
	if c.Lane != 0 {
		done, err = event.NumberOf(ctx, c.Tenants, c.shard, l.places.orgsIn(c.Lane))
	} else {
		done, err = c.numbering.Next(ctx)
	}
	if l.others && done.Deliveries > 0 {
		c.Hints.HintOthers(c.shard, hint.Deliveries)
	}
	return done, err
}

// findHeads finds the webhooks that have something due: all of the shard's, or for a worker of
// a lane of its own, which cannot be slowed by what others have due, those in it.
func (c *courier) findHeads(ctx context.Context, l look) (waiting, error) {
	if c.Lane != 0 {
		return headsOf(ctx, c.db, l.now, l.places.in(c.Lane))
	}
	return c.heads.find(ctx, c.db, l.now)
}

// look finds the webhooks that have something due and reads some of it.
func (c *courier) look(ctx context.Context, l look) (p poll) {
	found, staged, err := c.probe(ctx, l)
	if err == nil && staged {
		// What is due already is delivered also where no more can be entered.
		p.numbered, p.numbering = c.number(ctx, l)
		found, err = c.findHeads(ctx, l)
	}
	if err != nil {
		return poll{err: err}
	}
	if p.numbering != nil || p.numbered.Unknown != "" {
		since, err := event.OldestStaged(ctx, c.db)
		if err != nil {
			return poll{err: err}
		}
		p.waitsSince(since)
	}
	p.next = found.next
	var mine, wanted []head
	for _, h := range found.due {
		if !l.lanes[l.places.laneOf(h.Webhook)] {
			continue
		}
		mine = append(mine, h)
		if !l.busy[h.Webhook] {
			wanted = append(wanted, h)
		}
	}
	if len(wanted) > 0 {
		p.err = c.read(ctx, l.now, wanted, l.marks, &p)
	}
	for _, h := range mine {
		// What is left of a deleted webhook, or of an organization that moved,
		// waits for nothing.
		_, lives := p.receivers[h.Webhook]
		if lives || l.busy[h.Webhook] {
			p.waits(h)
		}
	}
	return p
}

// read reads due deliveries with their events, and the webhooks as they are.
func (c *courier) read(ctx context.Context, now time.Time, wanted []head, marks map[id.Webhook]mark, p *poll) error {
	var (
		orgs     = make([]id.Org, len(wanted))
		webhooks = make([]id.Webhook, len(wanted))
		b        pgx.Batch
	)
	at := time.Now()
	p.receivers, p.full = map[id.Webhook]stored{}, map[id.Webhook]bool{}
	for i, h := range wanted {
		from, ok := marks[h.Webhook]
		if !ok {
			from = theFirst
		}
		orgs[i], webhooks[i] = h.Org, h.Webhook
		b.Queue(selectDue, h.Webhook, from.due, from.id, now).Query(func(rows pgx.Rows) error { return p.takeTasks(rows, h.Webhook, at) })
	}
	b.Queue(selectReceivers, orgs, webhooks).Query(p.takeReceivers)
	return c.db.SendBatch(ctx, &b).Close()
}

// readAhead is how many deliveries of one webhook a look reads at most. It is
// more than an endpoint holds open, so that something new is always among them.
const readAhead = roomFor + 50

// selectDue rides delivery_due, and event_pkey for each delivery. It is sent once for each
// webhook: as one statement of all of them it would be a join of whole tables on CockroachDB.
var selectDue = fmt.Sprintf(`
	SELECT d.org_id, d.id, d.webhook_id, d.event_id, d.type, d.api_version, d.attempts, d.created_at, d.first_attempt_at, d.due_at,
		(SELECT e.data FROM event e WHERE e.org_id = d.org_id AND e.id = d.event_id)
	FROM delivery d
	WHERE d.webhook_id = $1 AND d.due_at <= $4 AND (d.due_at, d.id) > ($2, $3)
	ORDER BY d.due_at, d.id LIMIT %d`, readAhead)

// selectReceivers finds the webhooks whose organizations live here.
const selectReceivers = `
	SELECT w.org_id, w.id, w.url, w.events, w.include_conversation, w.active, w.paused_at, w.failing_since,
		w.api_version, w.delivered_at, w.secret, w.previous_secret, w.previous_until
	FROM unnest($1::UUID[], $2::UUID[]) AS wanted (org_id, id)
	JOIN webhook w ON w.org_id = wanted.org_id AND w.id = wanted.id AND w.deleted_at IS NULL
	JOIN org_fence f ON f.org_id = w.org_id AND f.state IN ('open', 'capture')`

// takeTasks takes what is due of a webhook.
func (p *poll) takeTasks(rows pgx.Rows, of id.Webhook, at time.Time) error {
	count := 0
	for ; rows.Next(); count++ {
		t := &task{read: at}
		if err := rows.Scan(&t.org, &t.id, &t.webhook, &t.event.ID, &t.event.Type, &t.version, &t.attempts, &t.created, &t.first, &t.due,
			&t.event.Structure); err != nil {
			return err
		}
		t.event.Org, t.event.At, t.hasEvent = t.org, t.event.ID.Time(), t.event.Structure != nil
		p.tasks = append(p.tasks, t)
	}
	if count > 0 {
		p.full[of] = count == readAhead
	}
	return rows.Err()
}

func (p *poll) takeReceivers(rows pgx.Rows) error {
	for rows.Next() {
		var s stored
		w := &s.webhook
		if err := rows.Scan(&s.org, &w.ID, &w.URL, &w.Events, &w.IncludeConversation, &w.Active, &w.PausedAt, &w.FailingSince,
			&w.APIVersion, &w.DeliveredAt, &s.secret, &s.previous, &s.previousUntil); err != nil {
			return err
		}
		p.receivers[w.ID] = s
	}
	return rows.Err()
}

// take takes what a look found.
func (c *courier) take(p poll) {
	c.polling, c.quiet, c.more = false, !p.numbered.More, p.numbered.More
	defer clear(c.finished)
	c.pace.looked(c.now(), p)
	if p.err != nil {
		c.metrics.lose()
		c.report("what is due is not known", p.err)
		return
	}
	c.warnOfStaged(p)
	c.metrics.waited(p.oldest, c.now())
	for w, s := range p.receivers {
		c.know(w, s)
	}
	for _, t := range p.tasks {
		e, known := c.endpoints[t.webhook]
		if _, read := p.receivers[t.webhook]; !known || !read || !c.may(e) {
			continue
		}
		if _, finished := c.finished[t.id]; finished {
			continue
		}
		if e.room() <= 0 {
			c.more = true
			continue
		}
		if e.enqueue(t) {
			c.quiet = false
			c.pace.hurry()
		}
		c.queueUp(e)
	}
	for w, full := range p.full {
		if e := c.endpoints[w]; full && e != nil && e.room() > 0 {
			c.more = true
		}
	}
}

// warnOfStaged tells why committed events wait for their places in the logs.
func (c *courier) warnOfStaged(p poll) {
	if p.numbering == nil && p.numbered.Unknown == "" || time.Since(c.warned) < warnEvery {
		return
	}
	c.warned = time.Now()
	if p.numbering != nil {
		c.Log.Warn("failed to enter committed events in their logs", "shard", c.shard, "error", p.numbering)
	}
	if p.numbered.Unknown != "" {
		c.Log.Warn("events of a type that this release does not know wait for a newer one's processes, and what their organizations did since",
			"shard", c.shard, "type", string(p.numbered.Unknown))
	}
}

// know takes what a webhook is now.
func (c *courier) know(w id.Webhook, s stored) {
	e, known := c.endpoints[w]
	if !known {
		e = newEndpoint(s.org, c.places.laneOf(w))
		if s.webhook.FailingSince != nil {
			e.health = sick
		}
		c.endpoints[w] = e
	}
	e.org = s.org
	to := receiver{webhook: s.webhook}
	if e.to.webhook.URL == s.webhook.URL {
		to.target, to.fault = e.to.target, nil
	}
	if to.target == nil {
		to.target, to.fault = c.Egress.Target(s.webhook.URL)
	}
	to.secret, to.lost = webhook.OpenSecret(c.Vault, w, s.secret)
	if to.lost != nil && e.to.lost == nil {
		// Each delivery of it fails until a key is there again: somebody has to know.
		c.Log.Error("a webhook's secret cannot be opened: a master key is missing, or the row was altered",
			"shard", c.shard, "organization", s.org.String(), "webhook", w.String(), "error", to.lost)
	}
	if s.previousUntil != nil && c.now().Before(*s.previousUntil) {
		to.previous, _ = webhook.OpenSecret(c.Vault, w, s.previous)
	}
	e.to = to
}
