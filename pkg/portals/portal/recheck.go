package portal

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

const (
	// recheckEvery is how often the proof of a host is looked for again.
	recheckEvery = 24 * time.Hour
	// A host is lost when its proof was not there at so many looks in a row, over so long.
	// Looks that the DNS did not answer do not count: while it is away nobody's page is
	// closed, and whoever has a say over the name takes it by a proof of their own at once.
	lapsesAfterMisses = 7
	lapsesAfter       = 6 * 24 * time.Hour
	// recheckBatch is how many hosts are listed at once, and recheckAtOnce how many are
	// looked up side by side.
	recheckBatch  = 200
	recheckAtOnce = 8
	// directoryWithin is how long the directory may take to say whose a host is, and
	// displaceWithin how long a request waits for telling who lost one.
	directoryWithin = 5 * time.Second
	displaceWithin  = 2 * time.Second
)

// Why a host was lost (Portal.HostLost).
const (
	// Lapsed: its proof was gone from the DNS for days.
	Lapsed = "lapsed"
	// Overtaken: another portal proved it.
	Overtaken = "taken"
)

// platform is who changes a portal by itself, as its events and the activity log say.
const platform = "platform"

// due is a host to look at.
type due struct {
	org       id.Org
	portal    id.Portal
	host      string
	round     int64
	checkedAt time.Time
}

// listDue rides portal_by_host_check.
const listDue = `
	SELECT p.org_id, p.id, p.host, p.host_round, p.host_checked_at
	FROM portal p JOIN org_fence f ON f.org_id = p.org_id AND f.state = 'open'
	WHERE p.host_proven_at IS NOT NULL AND p.archived_at IS NULL AND p.host_checked_at <= $1
		AND (p.host_checked_at, p.org_id, p.id) > ($2, $3, $4)
	ORDER BY p.host_checked_at, p.org_id, p.id
	LIMIT $5`

// Recheck looks for the proofs of a shard's hosts that were last looked for a day ago, and
// answers how many it looked for. A host is lost where its proof was gone for days, or
// where the directory has another portal that proved it: one whose losing nobody told,
// since a process ended or a shard was away. What cannot be looked at for now, as while
// the directory is away, stays as it is. Any number of processes may do it at once.
func (a *Addresses) Recheck(ctx context.Context, shard string) (int, error) {
	if a.Proof == nil {
		return 0, nil
	}
	db, err := a.Tenants.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	var (
		all    int
		failed error
		last   due
		before = a.Clock.Now().UTC().Add(-recheckEvery)
	)
	for {
		rows, err := db.Query(ctx, listDue, before, last.checkedAt, last.org, last.portal, recheckBatch)
		if err != nil {
			return all, errors.Join(failed, err)
		}
		some, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d due, err error) {
			return d, row.Scan(&d.org, &d.portal, &d.host, &d.round, &d.checkedAt)
		})
		if err != nil {
			return all, errors.Join(failed, err)
		}
		failed = errors.Join(failed, a.recheckAll(ctx, some))
		all += len(some)
		if len(some) < recheckBatch || ctx.Err() != nil {
			return all, failed
		}
		last = some[len(some)-1]
	}
}

// recheckAll looks at some hosts. The error is the first one's, of any number.
func (a *Addresses) recheckAll(ctx context.Context, some []due) error {
	var group errgroup.Group
	group.SetLimit(recheckAtOnce)
	for _, d := range some {
		group.Go(func() error { return a.recheck(ctx, d) })
	}
	return group.Wait()
}

func (a *Addresses) recheck(ctx context.Context, d due) error {
	proven, answered := a.Proof.look(ctx, d.org, d.portal, d.host, d.round)
	asking, cancel := context.WithTimeout(ctx, directoryWithin)
	defer cancel()
	has, err := a.Directory.Claimed(asking, hostAddress(d.host))
	switch mine := has.Org == d.org && has.Portal == d.portal; {
	case errors.Is(err, directory.ErrUnknown):
		if proven {
			_, err = a.claim(asking, d.org, d.portal, hostAddress(d.host), true)
		} else {
			err = nil
		}
	case err == nil && !mine:
		return a.contested(asking, d, has, proven)
	}
	if err != nil {
		return err
	}
	return a.checked(ctx, d, proven, answered)
}

// contested looks at a host that the directory has as another portal's. That one proved it,
// or its request ended before it could say so: then the host goes back.
func (a *Addresses) contested(ctx context.Context, d due, has directory.Claim, proven bool) error {
	other, err := a.hasProven(ctx, has, d.host)
	switch {
	case err != nil && !errors.Is(err, directory.ErrUnknown):
		return err
	case other:
		return a.lose(ctx, d.org, d.portal, d.host, Overtaken)
	case a.Clock.Since(has.At) < unclaimedAfter:
		return nil // its request may be under way
	}
	if proven {
		to := directory.Claim{Org: d.org, Portal: d.portal, At: a.Clock.Now().UTC().Truncate(time.Microsecond)}
		if _, err := a.Directory.TakeOver(ctx, hostAddress(d.host), has, to); err != nil {
			return err
		}
	}
	return a.checked(ctx, d, proven, true)
}

// checked notes what a look came to, unless another process has looked meanwhile.
func (a *Addresses) checked(ctx context.Context, d due, proven, answered bool) error {
	now := a.Clock.Now().UTC().Truncate(time.Microsecond)
	return a.Tenants.InTx(ctx, d.org, func(ctx context.Context, tx *tenant.Tx) error {
		p, err := Lock(ctx, tx, d.portal)
		if errdefs.IsNotFound(err, Noun) || errdefs.IsArchived(err, Noun) {
			return nil
		}
		if err != nil || p.Host != d.host || p.HostProvenAt == nil || p.HostRound != d.round {
			return err
		}
		var (
			checked time.Time
			misses  int64
			since   *time.Time
		)
		if err := tx.QueryRow(ctx, `
			SELECT host_checked_at, host_misses, host_missed_at FROM portal WHERE org_id = $1 AND id = $2`, tx.Org, p.ID).
			Scan(&checked, &misses, &since); err != nil || !checked.Equal(d.checkedAt) {
			return err
		}
		switch {
		case proven:
			misses, since = 0, nil
		case answered:
			if misses++; since == nil {
				since = &now
				warn(tx, p, now)
			}
		}
		if !proven && answered && misses >= lapsesAfterMisses && now.Sub(*since) >= lapsesAfter {
			return lost(ctx, tx, p, Lapsed, now)
		}
		tx.Touch("portal", p.ID)
		_, err = tx.Exec(ctx, `
			UPDATE portal SET host_checked_at = $3, host_misses = $4, host_missed_at = $5 WHERE org_id = $1 AND id = $2`,
			tx.Org, p.ID, now, misses, since)
		return err
	}, tenant.Idempotent(true)) // done once by host_checked_at
}

// warn notes in the activity log that the proof of a portal's host is missing, and when the
// host is lost if it stays so.
func warn(tx *tenant.Tx, p Portal, now time.Time) {
	activity.Record(tx, activity.Entry{
		At: now, Actor: platform, Action: "portal.host_proof_missing", TargetKind: "portal", TargetID: p.ID.String(),
		Changes: map[string]any{"customDomain": p.Host, "lostAfter": now.Add(lapsesAfter)},
	})
}

// Displace tells whoever lost a host to what was claimed that they have. Where that cannot
// be done now, Recheck does it: what the directory says holds already.
func (a *Addresses) Displace(ctx context.Context, held ...Held) {
	for _, h := range held {
		if h.from == nil || !h.Proven {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, displaceWithin)
		_ = a.lose(ctx, h.from.Org, h.from.Portal, h.address.Name, Overtaken)
		cancel()
	}
}

// lose takes a host that was proven from a portal, unless the directory has it as that
// portal's again.
func (a *Addresses) lose(ctx context.Context, org id.Org, which id.Portal, host, why string) error {
	err := a.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		p, err := Lock(ctx, tx, which)
		if err != nil || p.Host != host || p.HostProvenAt == nil {
			return err
		}
		has, err := a.Directory.Claimed(ctx, hostAddress(host))
		if err != nil || has.Org == org && has.Portal == which {
			return err
		}
		return lost(ctx, tx, p, why, a.Clock.Now().UTC().Truncate(time.Microsecond))
	}, tenant.Idempotent(true)) // a host is lost once
	if errdefs.IsNotFound(err, Noun) || errdefs.IsArchived(err, Noun) || errors.Is(err, directory.ErrUnknown) {
		return nil
	}
	return err
}

// lost notes and tells that a portal that Lock found has its host no more. What proved it
// proves nothing from now on.
func lost(ctx context.Context, tx *tenant.Tx, p Portal, why string, now time.Time) error {
	tx.Touch("portal", p.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE portal SET host_proven_at = NULL, host_round = host_round + 1, host_lost = $3, page_stamp = page_stamp + 1,
			host_misses = 0, host_missed_at = NULL, updated_at = $4
		WHERE org_id = $1 AND id = $2`, tx.Org, p.ID, why, now); err != nil {
		return err
	}
	p.HostProvenAt, p.UpdatedAt = nil, now
	activity.Record(tx, activity.Entry{
		At: now, Actor: platform, Action: "portal.host_lost", TargetKind: "portal", TargetID: p.ID.String(),
		Changes: map[string]any{"customDomain": p.Host, "customDomainState": "unproven", "reason": why},
	})
	TellUpdated(tx, p, []string{"customDomainState"}, Author{By: platform, At: now})
	return nil
}
