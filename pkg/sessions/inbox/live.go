package inbox

import (
	"context"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Joined notes that a team member came into a conversation, and answers its hand-off; nil where
// nobody asked for one. For who only listens the visitor waits on. The caller holds the conversation's row.
func Joined(ctx context.Context, tx *tenant.Tx, s id.Session, by id.Staff, onlyListens bool, at time.Time) (*Item, error) {
	i, err := lockKind(ctx, tx, s, Handoff)
	if err != nil || i == nil || onlyListens || i.JoinedAt != nil || i.ForgottenAt != nil {
		return i, err
	}
	before, fields := i.State, []string(nil)
	i.Staff, i.JoinedAt = by, &at
	if i.reached(at) {
		fields = append(fields, "slaDueAt")
	}
	if i.State.Active() {
		i.State, i.SnoozedUntil = Open, nil
	}
	if err := i.save(ctx, tx, before, at); err != nil {
		return nil, err
	}
	if i.State != before {
		fields = append([]string{"state"}, fields...)
	}
	if len(fields) > 0 {
		i.tellChanged(tx, before, fields, by.String())
	}
	return i, nil
}

// WaitS is how many seconds a visitor waited for the team member who came first; nil before.
func (i *Item) WaitS() *int64 {
	if i.WaitingSince == nil || i.JoinedAt == nil {
		return nil
	}
	return new(int64(i.JoinedAt.Sub(*i.WaitingSince) / time.Second))
}

// Gone notes that a conversation is over, and answers what it is said to have left: its hand-off,
// or else a booking, or a lead; zero for nothing. Of a visitor who waits for a person still, the team is told
// that they left. The caller holds the conversation's row.
func Gone(ctx context.Context, tx *tenant.Tx, s id.Session, at time.Time) (left id.InboxItem, err error) {
	items, err := lockOf(ctx, tx, s)
	if err != nil {
		return left, err
	}
	most := 0
	for _, i := range items {
		if rank(i.Kind) > most {
			left, most = i.ID, rank(i.Kind)
		}
		if i.Kind != Handoff || i.JoinedAt != nil || !i.State.Active() {
			continue
		}
		if err := i.save(ctx, tx, i.State, at); err != nil {
			return left, err
		}
		i.tellChanged(tx, i.State, []string{"handoff.live"}, platform)
	}
	return left, nil
}

// rank orders kinds by how much a conversation is about them.
func rank(k Kind) int { return map[Kind]int{Lead: 1, Book: 2, Handoff: 3}[k] }

// FindHandoff is the hand-off of a conversation; nil where nobody asked for one. It rides
// inbox_item_by_session.
func FindHandoff(ctx context.Context, t *tenant.Tenants, org id.Org, s id.Session) (*Item, error) {
	found, err := tenant.All(ctx, t, org, scan, `
		SELECT `+columns+` FROM inbox_item i WHERE i.org_id = $1 AND i.session_id = $2 AND i.kind = $3`, org, s, Handoff)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// OfHandoff is the hand-off of a conversation; zero where nobody asked for one. It rides
// inbox_item_by_session.
func OfHandoff(ctx context.Context, tx *tenant.Tx, s id.Session) (id.InboxItem, error) {
	i, err := lockKind(ctx, tx, s, Handoff)
	if err != nil || i == nil {
		return id.InboxItem{}, err
	}
	return i.ID, nil
}
