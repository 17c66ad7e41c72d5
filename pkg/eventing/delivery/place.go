package delivery

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/tenant"
)

// place is a webhook that is not simply in the lane of its id, or is not to be.
type place struct {
	Org     id.Org
	Webhook id.Webhook
	// Lane is the lane of its own that it is in, and Goal the one it is to be in; nil
	// for the shared one of its id.
	Lane, Goal *int64
	// Alive says that the worker of the goal lives.
	Alive bool
}

// next is where to take it now. It goes to no lane that nobody delivers in, and stays
// where it is to be whether or not somebody does: the shared workers see to that.
func (p place) next() *int64 {
	switch {
	case p.Goal == nil, p.Alive, p.Lane != nil && *p.Lane == *p.Goal:
		return p.Goal
	}
	return nil
}

// stays says that it is where it should be for now.
func (p place) stays() bool {
	next := p.next()
	return p.Lane == next || p.Lane != nil && next != nil && *p.Lane == *next
}

// lane is the lane that it is in.
func (p place) lane() int64 {
	if p.Lane != nil {
		return *p.Lane
	}
	return laneOf(p.Webhook)
}

// places are the webhooks that are, or are to be, in lanes of their own.
type places map[id.Webhook]place

// apart says whether a webhook has a worker of its own that delivers for it. Where that
// is gone the shared ones stand in.
func (ps places) apart(w id.Webhook) bool {
	p, ok := ps[w]
	return ok && p.Lane != nil && (p.Goal == nil || p.Alive)
}

// laneOf is the lane that a webhook is in.
func (ps places) laneOf(w id.Webhook) int64 {
	if p, ok := ps[w]; ok {
		return p.lane()
	}
	return laneOf(w)
}

// selectPlaces rides webhook_by_lane, webhook_by_own_lane and webhook_pkey. It runs with
// each renewal of a lease, and while no organization has a lane of its own reads nothing
// else.
const selectPlaces = `
	SELECT w.org_id, w.id, w.lane, COALESCE(w.own_lane, o.lane), l.lane IS NOT NULL
	FROM (
		SELECT org_id, id FROM webhook WHERE lane IS NOT NULL
		UNION SELECT org_id, id FROM webhook WHERE own_lane IS NOT NULL
		UNION SELECT h.org_id, h.id FROM dedicated_delivery d JOIN webhook h ON h.org_id = d.org_id
	) AS moved
	JOIN webhook w ON w.org_id = moved.org_id AND w.id = moved.id AND w.deleted_at IS NULL
	JOIN org_fence f ON f.org_id = w.org_id AND f.state IN ('open', 'capture')
	LEFT JOIN dedicated_delivery o ON o.org_id = w.org_id
	LEFT JOIN delivery_lane l ON l.lane = COALESCE(w.own_lane, o.lane) AND l.claimed_until > now()`

func readPlaces(ctx context.Context, db *database.DB) (places, error) {
	rows, err := db.Query(ctx, selectPlaces)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[place])
	ps := make(places, len(found))
	for _, p := range found {
		ps[p.Webhook] = p
	}
	return ps, err
}

// relocate takes webhooks to where they are to be, as far as the lanes that they are in
// are held still. Nothing of them may be under way.
func relocate(ctx context.Context, t *tenant.Tenants, shard string, owner any, epochs map[int64]int64, moves []place) error {
	if len(moves) == 0 {
		return nil
	}
	orgs := map[id.Org]bool{}
	var distinct []id.Org
	for _, p := range moves {
		if !orgs[p.Org] {
			orgs[p.Org] = true
			distinct = append(distinct, p.Org)
		}
	}
	return t.InManyTx(ctx, shard, distinct, func(ctx context.Context, tx *tenant.ManyTx) error {
		var (
			orgs        []id.Org
			webhooks    []id.Webhook
			was, goals  []*int64
			held, epoch []int64
		)
		for _, p := range moves {
			if !tx.Open(p.Org) {
				continue
			}
			tx.Touch(p.Org, "webhook", p.Webhook)
			orgs, webhooks, was, goals = append(orgs, p.Org), append(webhooks, p.Webhook), append(was, p.Lane), append(goals, p.next())
			held, epoch = append(held, p.lane()), append(epoch, epochs[p.lane()])
		}
		_, err := tx.Exec(ctx, `
			UPDATE webhook AS w SET lane = m.goal
			FROM unnest($1::UUID[], $2::UUID[], $3::BIGINT[], $4::BIGINT[], $5::BIGINT[], $6::BIGINT[])
				AS m (org_id, id, was, goal, held, epoch)
			WHERE w.org_id = m.org_id AND w.id = m.id AND w.lane IS NOT DISTINCT FROM m.was
				AND EXISTS (SELECT 1 FROM delivery_lane l WHERE l.lane = m.held AND l.epoch = m.epoch AND l.owner = $7)`,
			orgs, webhooks, was, goals, held, epoch, owner)
		return err
	})
}

// movable lists the webhooks that this worker may take elsewhere now.
func (c *courier) movable() (moves []place) {
	if !c.lease.good() {
		return nil
	}
	for w := range c.moving {
		if e := c.endpoints[w]; e == nil || len(e.open) == 0 {
			moves = append(moves, c.places[w])
		}
	}
	return moves
}

// takePlaces takes note of where the webhooks are. Nothing more is begun for those
// that are to leave a lane of this worker's.
func (c *courier) takePlaces(ps places) {
	c.places, c.moving = ps, map[id.Webhook]bool{}
	for w, p := range ps {
		if _, held := c.lease.epochs[p.lane()]; held && !p.stays() {
			c.moving[w] = true
		}
	}
	for w, e := range c.endpoints {
		e.lane = ps.laneOf(w)
		if c.moving[w] || !c.mine(e.lane) {
			e.forgetQueue()
		}
	}
}

// may says whether an attempt may be begun.
func (c *courier) may(e *endpoint) bool { return c.mine(e.lane) && !c.moving[e.to.webhook.ID] }

// in are the webhooks that are in a lane of their own.
func (ps places) in(lane int64) (webhooks []id.Webhook) {
	for w, p := range ps {
		if p.Lane != nil && *p.Lane == lane {
			webhooks = append(webhooks, w)
		}
	}
	return webhooks
}

// orgsIn are the organizations of those.
func (ps places) orgsIn(lane int64) (orgs []id.Org) {
	for _, p := range ps {
		if p.Lane != nil && *p.Lane == lane && !slices.Contains(orgs, p.Org) {
			orgs = append(orgs, p.Org)
		}
	}
	return orgs
}
