package delivery

import (
	"context"
	"time"

	"visavis.dev/pkg/database"
	"visavis.dev/pkg/id"
)

// Oldest is since when the delivery of a shard that waits longest is due; zero where
// none is. It is what the workers' backlog ages say of their own lanes, of all of
// them: what is left of a deleted webhook waits for nothing. It rides delivery_due.
func Oldest(ctx context.Context, db *database.DB, now time.Time) (time.Time, error) {
	due, err := heads(ctx, db, now)
	if err != nil || len(due) == 0 {
		return time.Time{}, err
	}
	var p poll
	if err := p.readReceivers(ctx, db, due); err != nil {
		return time.Time{}, err
	}
	for _, h := range due {
		if _, lives := p.receivers[h.Webhook]; lives {
			p.waits(h)
		}
	}
	return p.oldest, nil
}

// waits notes since when a webhook's first delivery is due.
func (p *poll) waits(h head) {
	if p.oldest.IsZero() || h.Due.Before(p.oldest) {
		p.oldest = h.Due
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
