package delivery

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/database"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/webhook"
)

// poll is what a look at the database found.
type poll struct {
	tasks     []*task
	receivers map[id.Webhook]stored
	// full are the webhooks that have more due than was read.
	full map[id.Webhook]bool
	// oldest is when the longest waiting delivery was due; zero when none is.
	oldest time.Time
	err    error
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
	now := c.now()
	marks, busy := map[id.Webhook]mark{}, map[id.Webhook]bool{}
	for w, e := range c.endpoints {
		if busy[w] = e.room() <= 0; !busy[w] {
			marks[w] = e.from(time.Now())
		}
	}
	lanes, places := map[int64]bool{}, c.places
	for lane := range c.lease.epochs {
		lanes[lane] = c.mine(lane)
	}
	go func() {
		ctx, cancel := context.WithTimeout(ctx, pollTimeout)
		defer cancel()
		c.polled <- c.look(ctx, now, lanes, places, marks, busy)
	}()
}

// look finds the webhooks that have something due and reads some of it.
func (c *courier) look(ctx context.Context, now time.Time, lanes map[int64]bool, places places, marks map[id.Webhook]mark, busy map[id.Webhook]bool) (p poll) {
	find := heads
	if c.Lane != 0 {
		find = c.ownHeads
	}
	heads, err := find(ctx, c.db, now)
	if err != nil {
		return poll{err: err}
	}
	var mine, wanted []head
	for _, h := range heads {
		if !lanes[places.laneOf(h.Webhook)] {
			continue
		}
		mine = append(mine, h)
		if !busy[h.Webhook] {
			wanted = append(wanted, h)
		}
	}
	if len(wanted) > 0 {
		p.err = c.read(ctx, now, wanted, marks, &p)
	}
	for _, h := range mine {
		// What is left of a deleted webhook, or of an organisation that moved,
		// waits for nothing.
		_, lives := p.receivers[h.Webhook]
		if lives || busy[h.Webhook] {
			p.waits(h)
		}
	}
	return p
}

// head is the first due delivery of a webhook.
type head struct {
	Org     id.Org
	Webhook id.Webhook
	Due     time.Time
}

// heads steps from webhook to webhook along the index delivery_due. It costs
// as many steps as there are webhooks with something open, however much that is.
func heads(ctx context.Context, db *database.DB, now time.Time) ([]head, error) {
	rows, err := db.Query(ctx, `
		WITH RECURSIVE head (org_id, webhook_id, due_at) AS (
			(SELECT org_id, webhook_id, due_at FROM delivery
				WHERE due_at IS NOT NULL ORDER BY webhook_id, due_at LIMIT 1)
			UNION ALL
			SELECT n.org_id, n.webhook_id, n.due_at FROM head CROSS JOIN LATERAL (
				SELECT d.org_id, d.webhook_id, d.due_at FROM delivery d
				WHERE d.due_at IS NOT NULL AND d.webhook_id > head.webhook_id
				ORDER BY d.webhook_id, d.due_at LIMIT 1
			) AS n
		)
		SELECT org_id, webhook_id, due_at FROM head WHERE due_at <= $1`, now)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[head])
}

// read reads due deliveries with their events, and the webhooks as they are.
func (c *courier) read(ctx context.Context, now time.Time, wanted []head, marks map[id.Webhook]mark, p *poll) error {
	var (
		orgs     = make([]id.Org, len(wanted))
		webhooks = make([]id.Webhook, len(wanted))
		dues     = make([]time.Time, len(wanted))
		ids      = make([]id.Delivery, len(wanted))
	)
	for i, h := range wanted {
		from, ok := marks[h.Webhook]
		if !ok {
			from = theFirst
		}
		orgs[i], webhooks[i], dues[i], ids[i] = h.Org, h.Webhook, from.due, from.id
	}
	at := time.Now()
	p.receivers, p.full = map[id.Webhook]stored{}, map[id.Webhook]bool{}
	var b pgx.Batch
	b.Queue(selectDue, webhooks, dues, ids, now).Query(func(rows pgx.Rows) error { return p.takeTasks(rows, at) })
	b.Queue(selectReceivers, orgs, webhooks).Query(p.takeReceivers)
	return c.db.SendBatch(ctx, &b).Close()
}

// readAhead is how many deliveries of one webhook a look reads at most. It is
// more than an endpoint holds open, so that something new is always among them.
const readAhead = roomFor + 50

// selectDue rides delivery_due once for each webhook, and event_pkey for each
// delivery; the LIMITs keep a planner from joining whole tables instead.
var selectDue = fmt.Sprintf(`
	SELECT d.org_id, d.id, d.webhook_id, d.event_id, d.type, d.api_version, d.attempts, d.created_at, d.first_attempt_at, d.due_at,
		e.created_at, e.data
	FROM unnest($1::UUID[], $2::TIMESTAMPTZ[], $3::UUID[]) AS w (webhook, after_due, after_id)
	CROSS JOIN LATERAL (
		SELECT * FROM delivery d
		WHERE d.webhook_id = w.webhook AND d.due_at <= $4 AND (d.due_at, d.id) > (w.after_due, w.after_id)
		ORDER BY d.due_at, d.id LIMIT %d
	) AS d
	LEFT JOIN LATERAL (
		SELECT e.created_at, e.data FROM event e WHERE e.org_id = d.org_id AND e.id = d.event_id LIMIT 1
	) AS e ON true`, readAhead)

// selectReceivers finds the webhooks whose organisations live here.
const selectReceivers = `
	SELECT w.org_id, w.id, w.url, w.events, w.include_conversation, w.active, w.paused_at, w.failing_since,
		w.api_version, w.delivered_at, w.secret, w.previous_secret, w.previous_until
	FROM unnest($1::UUID[], $2::UUID[]) AS wanted (org_id, id)
	JOIN webhook w ON w.org_id = wanted.org_id AND w.id = wanted.id AND w.deleted_at IS NULL
	JOIN org_fence f ON f.org_id = w.org_id AND f.state IN ('open', 'capture')`

func (p *poll) takeTasks(rows pgx.Rows, at time.Time) error {
	counts := map[id.Webhook]int{}
	for rows.Next() {
		t := &task{read: at}
		var happened *time.Time
		if err := rows.Scan(&t.org, &t.id, &t.webhook, &t.event.ID, &t.event.Type, &t.version, &t.attempts, &t.created, &t.first, &t.due,
			&happened, &t.event.Structure); err != nil {
			return err
		}
		t.event.Org = t.org
		if t.hasEvent = happened != nil; t.hasEvent {
			t.event.At = *happened
		}
		p.tasks = append(p.tasks, t)
		counts[t.webhook]++
		p.full[t.webhook] = counts[t.webhook] == readAhead
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
	c.polling, c.quiet, c.more = false, true, false
	defer clear(c.settled)
	if p.err != nil {
		c.metrics.lose()
		c.report("what is due is not known", p.err)
		return
	}
	c.metrics.waited(p.oldest, c.now())
	for w, s := range p.receivers {
		c.know(w, s)
	}
	for _, t := range p.tasks {
		e, known := c.endpoints[t.webhook]
		if _, read := p.receivers[t.webhook]; !known || !read || !c.may(e) {
			continue
		}
		if _, settled := c.settled[t.id]; settled {
			continue
		}
		if e.room() <= 0 {
			c.more = true
			continue
		}
		if e.enqueue(t) {
			c.quiet = false
		}
		c.queueUp(e)
	}
	for w, full := range p.full {
		if e := c.endpoints[w]; full && e != nil && e.room() > 0 {
			c.more = true
		}
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
