package dashboard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/tenant"
)

// stepEvents bounds the events of a step.
const stepEvents = 200

// Advance counts the next events of an organization's log, in one transaction with how far it
// got: whoever does so at the same time waits, and whoever does so again finds nothing of it
// left. It answers how many there were; fewer than StepEvents where the log ended. An event that
// cannot be read is left out for ever; the error says so, and what else there was is counted.
func Advance(ctx context.Context, t *tenant.Tenants, org id.Org) (n int, err error) {
	var unread error
	err = t.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		n, unread = 0, nil
		at, err := lockCursor(ctx, tx, fromEvents)
		if err != nil {
			return err
		}
		page, err := event.Follow(ctx, tx, at.after, stepEvents)
		if err != nil || len(page) == 0 {
			return err
		}
		var all []entry
		all, unread = entriesOf(page)
		n, at.after = len(page), page[len(page)-1].ID
		return step(ctx, tx, at, all)
	}, tenant.Idempotent(true))
	if err == nil {
		err = unread
	}
	return n, err
}

// errUnread says that events were left out that cannot be read.
var errUnread = errors.New("events cannot be counted")

// entriesOf are those of a page that are counted. The error says which cannot be read: they keep no
// others waiting.
func entriesOf(page []event.Event) (all []entry, unread error) {
	for _, e := range page {
		if !isCounted(e.Type) {
			continue
		}
		n, err := entryOf(e)
		if err != nil {
			unread = errors.Join(unread, fmt.Errorf("%w: %s %s: %w", errUnread, e.Type, e.ID, err))
			continue
		}
		all = append(all, n)
	}
	return all, unread
}

// StepEvents is how many events a step counts at most.
const StepEvents = stepEvents

// step counts events, and commits what came of it.
func step(ctx context.Context, tx *tenant.Tx, at cursor, all []entry) error {
	c := &counting{
		cells: map[place]counts{}, live: at.live, changed: map[waiter]bool{}, changes: map[factKey]bool{},
	}
	var err error
	if c.found, err = find(ctx, tx, all); err != nil {
		return err
	}
	c.erased = c.found.erased
	if c.facts, err = readFacts(ctx, tx, factsOf(all)); err != nil {
		return err
	}
	measures, portals, people := c.groupsOf(all)
	if c.waiting, err = readWaiting(ctx, tx, measures, portals, people); err != nil {
		return err
	}
	for _, n := range all {
		c.count(n)
	}
	var b pgx.Batch
	if len(c.cells) > 0 {
		if err := addCells(ctx, tx, &b, c.cells); err != nil {
			return err
		}
	}
	queueFacts(tx, &b, c.facts, c.changes)
	var last time.Time
	for _, n := range all {
		last = n.at
	}
	queueWaiting(tx, &b, c.waiting, c.changed, last)
	at.queueSave(tx, &b)
	return tx.SendBatch(ctx, &b).Close()
}

// factsOf are the facts that events can change.
func factsOf(all []entry) (keys []factKey) {
	for _, s := range ids(all, func(n entry) id.Session { return n.Session }, event.ConversationRated) {
		keys = append(keys, factKey{rated, uuid.UUID(s)})
	}
	for _, i := range ids(all, func(n entry) id.InboxItem { return n.Item }, event.LeadCaptured, event.LeadUpdated) {
		keys = append(keys, factKey{captured, uuid.UUID(i)})
	}
	for _, r := range ids(all, func(n entry) id.Result { return n.Result }) {
		keys = append(keys, factKey{scored, uuid.UUID(r)})
	}
	for _, k := range ids(all, func(n entry) id.Completion { return n.Completion }) {
		keys = append(keys, factKey{completed, uuid.UUID(k)})
	}
	return keys
}

// measuresOf are what events can have wait.
var measuresOf = map[event.Type][]string{
	event.ConversationRated: {"ratings"}, event.AssignmentCompleted: {"assignments"}, event.MasteryUpdated: {"mastery"},
	event.ScoreRecorded: {"results"}, event.AssessmentCompleted: {"results"}, event.ReviewCompleted: {"results"}, event.ResultContested: {"results"},
	event.CompletionRecorded: {"completions"}, event.CompletionWithdrawn: {"completions"},
	event.CandidateInvited: {"invited"}, event.CandidateInviteOpened: {"opened"}, event.CandidateScreened: {"screened"},
	event.CandidateReviewed: {"reviewed"}, event.CandidateDecided: decisions,
}

// measures are what an event can have wait.
func (f *found) measures(n entry) []string {
	if n.kind == event.SessionEnded && !f.whose(n).IsZero() {
		return slices.Collect(maps.Keys(f.breakdown(n)))
	}
	return measuresOf[n.kind]
}

// groupsOf are the measures and portals in which events can have something wait, and the
// people of whom nothing is to wait any more.
func (c *counting) groupsOf(all []entry) (measures []string, portals, people []uuid.UUID) {
	seen, at := map[string]bool{}, map[uuid.UUID]bool{}
	for _, n := range all {
		if n.kind == event.CandidateErased {
			people = append(people, uuid.UUID(n.Candidate))
		}
		for _, m := range c.found.measures(n) {
			if !seen[m] {
				seen[m] = true
				measures = append(measures, m)
			}
			for _, p := range []id.Portal{
				n.Portal, c.found.sessions[n.Session].Portal, c.found.results[n.Result].Portal, c.found.candidates[n.Candidate].Portal,
			} {
				if !at[uuid.UUID(p)] {
					at[uuid.UUID(p)] = true
					portals = append(portals, uuid.UUID(p))
				}
			}
		}
	}
	return measures, portals, people
}
