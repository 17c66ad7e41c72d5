package inbox

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/tenant"
)

// Called is what a mail is about that asks one of the team to join a conversation whose visitor waits. No rule waits for it.
const Called Event = "called"

// mostCalled is how many of the team are asked at once: the first who comes takes over.
const mostCalled = 10

// joiners are those of the team who can be asked to join the conversation of a hand-off and who of them is there: those of its
// department where anybody who joins is of it, and all who join otherwise. known is false where nobody joins at all. It rides
// inbox_member_pkey, person_pkey and membership_by_person.
func (i *Item) joiners(ctx context.Context, tx *tenant.Tx, at time.Time) (there []id.Person, known bool, err error) {
	department := ""
	if i.Department != nil {
		department = strings.ToLower(*i.Department)
	}
	found, err := joining(ctx, tx, department, at)
	if err == nil && len(found) == 0 && department != "" {
		found, err = joining(ctx, tx, "", at)
	}
	for _, s := range found {
		if s.there {
			there = append(there, s.Person)
		}
	}
	return there, len(found) > 0, err
}

// joining are those of a department, in lower case, or of all where it is empty, who join and can be written to.
func joining(ctx context.Context, tx *tenant.Tx, department string, at time.Time) ([]standing, error) {
	return tenant.AllIn(ctx, tx, scanStaff(at), selectStaff+`m.joins AND p.email IS NOT NULL
		AND ($3::TEXT = '' OR EXISTS (SELECT 1 FROM unnest(m.departments) AS one (name) WHERE lower(one.name) = $3)) ORDER BY p.id`, tx.Org, at, department)
}

// The team is called for one conversation a few times, since its visitor has them called by asking: while nobody came, no sooner than
// a moment after the last time.
const (
	mostCalls = 5
	callAgain = time.Minute
)

// countCall counts a call of the team, and answers which one of the conversation's it is, from 1; 0 where they are not called. came says
// that somebody came since the last time.
func (i *Item) countCall(ctx context.Context, tx *tenant.Tx, came bool, at time.Time) (call int64, err error) {
	before := at
	if !came {
		before = at.Add(-callAgain)
	}
	tx.Touch("inbox_item", i.ID)
	err = tx.QueryRow(ctx, `
		UPDATE inbox_item SET calls = calls + 1, called_at = $3
		WHERE org_id = $1 AND id = $2 AND calls < $4 AND (called_at IS NULL OR called_at <= $5) RETURNING calls`,
		tx.Org, i.ID, at, mostCalls, before).Scan(&call)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return call, err
}

// callTeam has those of the team who are there asked by mail to join the conversation of a hand-off: who deals with it first. Whom a
// rule mails of this request is not mailed twice: every mail of a hand-off has the way in, to who joins. came says that somebody
// came since the last call. The item is saved.
func (i *Item) callTeam(ctx context.Context, tx *tenant.Tx, came bool, at time.Time) error {
	there, _, err := i.joiners(ctx, tx, at)
	if err != nil || len(there) == 0 {
		return err
	}
	call, err := i.countCall(ctx, tx, came, at)
	if err != nil || call == 0 {
		return err
	}
	runs, err := RunsIn(ctx, tx, i.ID)
	if err != nil {
		return err
	}
	told := map[id.Person]bool{}
	for _, r := range runs {
		if !r.At.Equal(at) { // it mailed of something before
			continue
		}
		for _, p := range r.Did.Mailed {
			told[p] = true
		}
	}
	for _, p := range first(there, i.Assignee) {
		if told[p] {
			continue
		}
		if _, err := job.Insert(ctx, tx, job.Job{
			ID: id.NewJob(), Kind: job.InboxMail, ResourceKind: "inbox_item", ResourceID: i.ID.String(), Portal: i.Portal, Scope: scope.InboxRead,
			CreatedBy: platform, CreatedAt: at,
		}, Told{Item: i.ID, Person: p, Event: Called, Again: call > 1}); err != nil {
			return err
		}
	}
	return nil
}

// first are some people, of whom one comes first if they are among them, as many as are called.
func first(all []id.Person, one id.Person) []id.Person {
	var sorted []id.Person
	for _, p := range all {
		if p == one {
			sorted = append([]id.Person{p}, sorted...)
		} else {
			sorted = append(sorted, p)
		}
	}
	return sorted[:min(len(sorted), mostCalled)]
}

// Nobody says that nobody can come to the hand-off that a conversation left: there are people who join, and none of them is there. Of
// a conversation that left none it says nothing.
func Nobody(ctx context.Context, tx *tenant.Tx, s id.Session, at time.Time) (bool, error) {
	i, err := lockKind(ctx, tx, s, Handoff)
	if err != nil || i == nil || i.JoinedAt != nil {
		return false, err
	}
	there, known, err := i.joiners(ctx, tx, at)
	return known && len(there) == 0, err
}

// Joins says whether one of the team may be let into the conversation of a hand-off by mail: they join, and the visitor still waits
// for a first one to come.
func (i *Item) Joins(ctx context.Context, tx *tenant.Tx, p id.Person) (bool, error) {
	if i.Kind != Handoff || !i.Live || i.JoinedAt != nil || i.ForgottenAt != nil || !i.State.Active() {
		return false, nil
	}
	var joins bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM inbox_member WHERE org_id = $1 AND person_id = $2 AND joins)`, tx.Org, p).Scan(&joins)
	return joins, err
}
