package delivery

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// written is what came of writing outcomes.
type written struct {
	outcomes []*outcome
	err      error
}

const (
	// writeBatch bounds the outcomes of one transaction; so many as writeSoon
	// are written at once, fewer wait for the next look at the database.
	writeBatch   = 1000
	writeSoon    = 200
	writeTimeout = 10 * time.Second
)

// write writes what waits, beside everything else. While one batch is being
// written the next gathers.
func (c *courier) write(ctx context.Context) {
	if c.writing || len(c.unwritten) == 0 || time.Now().Before(c.rest) {
		return
	}
	if !c.lease.good() {
		// The lanes may be another's by now: what came of these attempts is for
		// it to find out again.
		c.forgetOutcomes(c.unwritten)
		c.unwritten = nil
		return
	}
	n := min(len(c.unwritten), writeBatch)
	batch := c.unwritten[:n:n]
	c.unwritten = c.unwritten[n:]
	epochs := c.lease.epochs
	c.writing = true
	go func() {
		ctx, cancel := context.WithTimeout(ctx, writeTimeout)
		defer cancel()
		c.written <- written{batch, c.record(ctx, batch, epochs)}
	}()
}

// confirm takes what came of a write. What could not be written is tried again
// for as long as the lease is good.
func (c *courier) confirm(w written) {
	c.writing = false
	if w.err != nil {
		c.report("the results of deliveries are not written", w.err)
		c.unwritten = append(w.outcomes, c.unwritten...)
		return
	}
	c.forgetOutcomes(w.outcomes)
	// Their endpoints have room again, and there may be a next attempt of each.
	c.pace.hurry()
	c.pace.hinted = true
}

// forgetOutcomes forgets deliveries whose outcome is written, or another's.
func (c *courier) forgetOutcomes(outcomes []*outcome) {
	for _, o := range outcomes {
		if e, known := c.endpoints[o.task.webhook]; known {
			delete(e.open, o.task.id)
		}
		if c.polling {
			c.finished[o.task.id] = struct{}{}
		}
	}
}

// record writes outcomes in one transaction.
func (c *courier) record(ctx context.Context, outcomes []*outcome, epochs map[int64]int64) error {
	orgs := map[id.Org]bool{}
	for _, o := range outcomes {
		orgs[o.task.org] = true
	}
	distinct := make([]id.Org, 0, len(orgs))
	for org := range orgs {
		distinct = append(distinct, org)
	}
	paused := 0
	err := c.Tenants.InManyTx(ctx, c.shard, distinct, func(ctx context.Context, tx *tenant.ManyTx) (err error) {
		var b pgx.Batch
		rows := results{}
		for _, o := range outcomes {
			if tx.Open(o.task.org) {
				tx.Touch(o.task.org, "delivery", o.task.id)
				rows.add(o, epochs[o.task.lane])
			}
		}
		rows.queue(&b, c.lanes.owner)
		runs := failingRuns(outcomes, tx.Open)
		runs.queue(&b, tx)
		if err := tx.SendBatch(ctx, &b).Close(); err != nil {
			return err
		}
		paused, err = runs.pause(ctx, tx)
		return err
	})
	if err == nil {
		c.metrics.paused.Add(float64(paused))
	}
	return err
}

// results are outcomes as the columns of an update.
type results struct {
	orgs                []id.Org
	ids                 []id.Delivery
	lanes, epochs       []int64
	before              []int64
	attempts            []int64
	states              []State
	statuses, responses []*int64
	codes               []*Code
	firsts, dues        []*time.Time
	logs                [][]Attempt
}

func (r *results) add(o *outcome, epoch int64) {
	t := o.task
	state, due := o.next()
	r.orgs, r.ids = append(r.orgs, t.org), append(r.ids, t.id)
	r.lanes, r.epochs = append(r.lanes, t.lane), append(r.epochs, epoch)
	r.before = append(r.before, t.attempts)
	r.states, r.dues = append(r.states, state), append(r.dues, due)
	r.firsts = append(r.firsts, o.first())
	code := &o.code
	if o.code == "" {
		code = nil
	}
	r.codes = append(r.codes, code)
	a := Attempt{At: o.began, Code: code}
	if o.status != 0 {
		a.Status = &o.status
	}
	if o.took > 0 {
		ms := o.took.Milliseconds()
		a.ResponseMs = &ms
	}
	if o.address != "" {
		a.Address = &o.address
	}
	r.statuses, r.responses = append(r.statuses, a.Status), append(r.responses, a.ResponseMs)
	if !o.attempted() {
		r.attempts, r.logs = append(r.attempts, 0), append(r.logs, []Attempt{})
		return
	}
	r.attempts, r.logs = append(r.attempts, 1), append(r.logs, []Attempt{a})
}

// first is when the first attempt of the schedule was made.
func (o *outcome) first() *time.Time {
	if o.task.first == nil && o.attempted() {
		return &o.began
	}
	return o.task.first
}

// next says where the delivery stands and when its next attempt is made.
func (o *outcome) next() (State, *time.Time) {
	switch {
	case o.code == "":
		return Delivered, nil
	case !o.attempted():
		return Failed, nil
	}
	if at, ok := next(*o.first(), o.began, o.patience); ok {
		return Retrying, &at
	}
	return Failed, nil
}

// queue writes the rows. A row that another worker took over, or that someone
// opened again or closed meanwhile, is left as it is: the number of attempts
// tells, and the epoch of the lane. A delivery that was closed keeps its last
// attempt's status.
func (r *results) queue(b *pgx.Batch, owner any) {
	b.Queue(`
		UPDATE delivery AS d SET state = r.state, attempts = d.attempts + r.attempts, error_code = r.code,
			status = CASE WHEN r.attempts > 0 THEN r.status ELSE d.status END,
			response_ms = CASE WHEN r.attempts > 0 THEN r.response ELSE d.response_ms END,
			first_attempt_at = r.first, due_at = r.due, log = d.log || r.entry
		FROM unnest($1::UUID[], $2::UUID[], $3::BIGINT[], $4::BIGINT[], $5::BIGINT[], $6::BIGINT[], $7::TEXT[], $8::BIGINT[],
			$9::BIGINT[], $10::TEXT[], $11::TIMESTAMPTZ[], $12::TIMESTAMPTZ[], $13::JSONB[])
			AS r (org_id, id, lane, epoch, before, attempts, state, status, response, code, first, due, entry)
		WHERE d.org_id = r.org_id AND d.id = r.id AND d.attempts = r.before AND d.due_at IS NOT NULL
			AND EXISTS (SELECT 1 FROM delivery_lane l WHERE l.lane = r.lane AND l.epoch = r.epoch AND l.owner = $14)`,
		r.orgs, r.ids, r.lanes, r.epochs, r.before, r.attempts, r.states, r.statuses, r.responses, r.codes, r.firsts, r.dues, r.logs, owner)
}

// run is how a webhook fared in a batch.
type run struct {
	org     id.Org
	webhook id.Webhook
	// known is since when it fails as far as was read.
	known *time.Time
	// delivered says that something arrived; failed is the first failure after
	// it, and last the last one. arrived is when something arrived where nothing
	// had before, as far as was read.
	delivered             bool
	failed, last, arrived time.Time
}

// runs are the webhooks of a batch.
type runs map[id.Webhook]*run

// failingRuns finds how each webhook fared. Our own faults say nothing of it.
func failingRuns(outcomes []*outcome, open func(id.Org) bool) runs {
	found := runs{}
	for _, o := range outcomes {
		if !o.attempted() || o.code == InternalError || !open(o.task.org) {
			continue
		}
		r := found[o.task.webhook]
		if r == nil {
			r = &run{org: o.task.org, webhook: o.task.webhook, known: o.to.webhook.FailingSince}
			found[o.task.webhook] = r
		}
		switch {
		case o.code == "":
			r.delivered, r.failed = true, time.Time{}
			if o.to.webhook.DeliveredAt == nil {
				r.arrived = o.began
			}
		case r.failed.IsZero() || o.began.Before(r.failed):
			r.failed = o.began
		}
		if o.code != "" && o.began.After(r.last) {
			r.last = o.began
		}
	}
	return found
}

// queue writes the runs that changed: nothing for a webhook that goes on as it
// did, which is every one that is well.
func (rs runs) queue(b *pgx.Batch, tx *tenant.ManyTx) {
	for _, r := range rs {
		if !r.arrived.IsZero() {
			b.Queue(`UPDATE webhook SET delivered_at = $3 WHERE org_id = $1 AND id = $2 AND delivered_at IS NULL`, r.org, r.webhook, r.arrived)
			tx.Touch(r.org, "webhook", r.webhook)
		}
		switch {
		case r.delivered && r.failed.IsZero():
			if r.known == nil {
				continue
			}
			b.Queue(`
				UPDATE webhook SET failing_since = NULL
				WHERE org_id = $1 AND id = $2 AND failing_since IS NOT NULL`, r.org, r.webhook)
		case r.delivered:
			b.Queue(`UPDATE webhook SET failing_since = $3 WHERE org_id = $1 AND id = $2`, r.org, r.webhook, r.failed)
		case r.known == nil:
			b.Queue(`
				UPDATE webhook SET failing_since = $3
				WHERE org_id = $1 AND id = $2 AND active AND failing_since IS NULL`, r.org, r.webhook, r.failed)
		default:
			continue
		}
		tx.Touch(r.org, "webhook", r.webhook)
	}
}

// pause pauses the webhooks that failed for three days, and says so in their
// organizations' activity logs. It tells how many there were.
func (rs runs) pause(ctx context.Context, tx *tenant.ManyTx) (paused int, err error) {
	for _, r := range rs {
		if r.delivered || r.known == nil || r.last.Sub(*r.known) < PauseAfter {
			continue
		}
		tag, err := tx.Exec(ctx, `
			UPDATE webhook SET active = false, paused_at = $3, updated_at = $3
			WHERE org_id = $1 AND id = $2 AND active AND failing_since <= $4`, r.org, r.webhook, r.last, r.last.Add(-PauseAfter))
		if err != nil {
			return 0, err
		}
		if tag.RowsAffected() == 0 {
			continue
		}
		tx.Touch(r.org, "webhook", r.webhook)
		if err := activity.RecordIn(ctx, tx, r.org, activity.Entry{
			At: r.last, Actor: "system", Action: "webhook.paused", TargetKind: "webhook", TargetID: r.webhook.String(),
			Changes: map[string]any{"active": false, "failingSince": r.known},
		}); err != nil {
			return 0, err
		}
		paused++
	}
	return paused, nil
}
