package delivery

import (
	"context"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/database"
)

// Oldest is since when the delivery that waits longest for a shard's shared workers is
// due, or the event that has no place in its log yet was committed; zero where there is none. It is what their backlog ages say of their own lanes, of all
// of them: more of them would not help a webhook that has a worker of its own, and what
// is left of a deleted one waits for nothing. It rides delivery_due.
func Oldest(ctx context.Context, db *database.DB, now time.Time) (time.Time, error) {
	staged, err := event.OldestStaged(ctx, db)
	if err != nil {
		return staged, err
	}
	found, err := new(heads).find(ctx, db, now)
	if err != nil || len(found.due) == 0 {
		return staged, err
	}
	places, err := readPlaces(ctx, db)
	if err != nil {
		return time.Time{}, err
	}
	p := poll{oldest: staged}
	if err := p.readReceivers(ctx, db, found.due); err != nil {
		return time.Time{}, err
	}
	for _, h := range found.due {
		if _, lives := p.receivers[h.Webhook]; lives && !places.apart(h.Webhook) {
			p.waits(h)
		}
	}
	return p.oldest, nil
}

// waits notes since when a webhook's first delivery is due.
func (p *poll) waits(h head) {
	p.waitsSince(h.Due)
}

func (p *poll) waitsSince(at time.Time) {
	if p.oldest.IsZero() || !at.IsZero() && at.Before(p.oldest) {
		p.oldest = at
	}
}

// readReceivers finds the webhooks of heads, as they are.
func (p *poll) readReceivers(ctx context.Context, db *database.DB, of []head) error {
	p.receivers = map[id.Webhook]stored{}
	orgs, webhooks := make([]id.Org, len(of)), make([]id.Webhook, len(of))
	for i, h := range of {
		orgs[i], webhooks[i] = h.Org, h.Webhook
	}
	rows, err := db.Query(ctx, selectReceivers, orgs, webhooks)
	if err != nil {
		return err
	}
	defer rows.Close()
	return p.takeReceivers(rows)
}
