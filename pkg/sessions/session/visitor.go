package session

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/store/tenant"
)

const (
	// VisitorConnectWithin is ConnectWithin for anonymous visitors, whose page connects
	// at once: a reservation that no socket follows is free again within seconds.
	VisitorConnectWithin = 10 * time.Second
	// VisitorSpeaksWithin is how long an anonymous visitor's client that connected may
	// send nothing at all. One that means it sends client-ready at once.
	VisitorSpeaksWithin = 10 * time.Second
)

// VisitorPlaces is how many of an organization's places anonymous visitors may hold at
// once: all but a fifth, and but one at least, which are for whoever has a key or is
// known. The only place of an organization that has one is anybody's.
func VisitorPlaces(places int64) int64 {
	if places <= 1 {
		return places
	}
	return places - max(1, places/5)
}

// blockPlaces is how many of them one address block may hold.
func blockPlaces(places int64) int64 { return max(1, VisitorPlaces(places)/2) }

// visitors are the places that anonymous visitors hold.
type visitors struct {
	held int64
	// ofBlock are those of one address block, whether or not their clients have come.
	ofBlock int64
}

// queueVisitors counts the visitors' places. Whoever took a place has the organization's
// counter until the commit, so nobody else counts meanwhile. It rides session_of_visitors,
// and reads no more rows than the organization has places.
func queueVisitors(tx *tenant.Tx, b *pgx.Batch, mark string, into *visitors) {
	b.Queue(`
		SELECT count(*), count(*) FILTER (WHERE visitor = $2)
		FROM session WHERE org_id = $1 AND slot AND visitor <> ''`, tx.Org, mark).
		QueryRow(func(row pgx.Row) error { return row.Scan(&into.held, &into.ofBlock) })
}

// full says whether no visitor may take a place any more.
func (v visitors) full(terms plan.Terms) bool {
	limit, limited := terms.Limit(plan.MaxConcurrentSessions)
	return limited && (v.held >= VisitorPlaces(limit) || v.ofBlock >= blockPlaces(limit))
}

// takePlace takes one of the organization's places for a session that has lost its own.
func (s Session) takePlace(ctx context.Context, tx *tenant.Tx, terms plan.Terms) error {
	var (
		b      pgx.Batch
		active int64
		others visitors
	)
	queuePlace(tx, &b, terms, &active)
	if s.Visitor != "" {
		queueVisitors(tx, &b, s.Visitor, &others)
	}
	err := tx.SendBatch(ctx, &b).Close()
	if err == nil && (active == 0 || others.full(terms)) {
		return ErrNoPlace
	}
	return err
}
