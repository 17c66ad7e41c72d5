// Package removal deletes organizations with everything that they own: first
// nothing of one can be used any more, then its rows go, its files, and last what the
// directory knows of it. Every step may be repeated, so that whoever finds one begun
// goes on.
package removal

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// Remover deletes organizations.
type Remover struct {
	Directory *directory.Directory
	Tenants   *tenant.Tenants
	Files     *file.Store
	Clock     clock.PassiveClock
}

// Bounds of one statement or transaction.
const (
	sessionBatch = 50
	rowBatch     = 1000
	fileBatch    = 200
)

// Delete deletes an organization that by manages, and says what is left to do after a
// number of whole batches; nothing is when it is gone, or was before. It goes on where
// the last run ended.
func (r *Remover) Delete(ctx context.Context, org id.Org, by managed.By, batches int) (left string, err error) {
	o, err := r.Directory.Organization(ctx, org)
	if errors.Is(err, directory.ErrUnknown) || err == nil && o.ManagedBy != by {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if err := r.Directory.Condemn(ctx, org, by); err != nil {
		return "", err
	}
	for _, step := range r.steps(o) {
		for more := true; more; batches-- {
			if batches == 0 {
				return step.what, nil
			}
			if more, err = step.do(ctx); err != nil {
				return step.what, fmt.Errorf("delete organization %s: %s: %w", org, step.what, err)
			}
			if !more {
				break
			}
		}
	}
	return "", nil
}

// step is one of those that lead to an organization's end; more says that it has to
// be done again.
type step struct {
	what string
	do   func(context.Context) (more bool, err error)
}

// once is a step that is done at once.
func once(do func(context.Context) error) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) { return false, do(ctx) }
}

func (r *Remover) steps(o directory.Organization) []step {
	steps := []step{
		{"move", func(ctx context.Context) (bool, error) {
			over, err := r.Directory.EndMove(ctx, o.ID)
			return !over, err
		}},
		{"sessions", func(ctx context.Context) (bool, error) { return r.hangUp(ctx, o) }},
		{"access", once(func(ctx context.Context) error { return r.Tenants.Shut(ctx, o.Shard, o.ID) })},
	}
	for _, table := range tenant.Tables {
		steps = append(steps, step{"rows of " + table.Name, func(ctx context.Context) (bool, error) {
			n, err := r.Tenants.Remove(ctx, o.Shard, o.ID, table, rowBatch)
			return n == rowBatch, err
		}})
	}
	return append(steps,
		step{"files", func(ctx context.Context) (bool, error) {
			n, err := r.Files.RemoveAll(ctx, o.ID, fileBatch)
			return n == fileBatch, err
		}},
		step{"shard", once(func(ctx context.Context) error { return r.Tenants.ForgetOrganization(ctx, o.Shard, o.ID) })},
		step{"directory", once(func(ctx context.Context) error {
			r.Directory.Forget(o.ID)
			return r.Directory.Remove(ctx, o.ID)
		})},
	)
}

// hangUp ends sessions that go on. Their owners read of it while the rows go. It
// rides session_active.
func (r *Remover) hangUp(ctx context.Context, o directory.Organization) (more bool, err error) {
	if open, err := r.Tenants.IsOpen(ctx, o.Shard, o.ID); err != nil || !open {
		return false, err // an earlier run shut it, or it never was
	}
	err = r.Tenants.InTx(ctx, o.ID, func(ctx context.Context, tx *tenant.Tx) error {
		rows, err := tx.Query(ctx, `
			SELECT id FROM session WHERE org_id = $1 AND state IN ('created', 'live') ORDER BY id LIMIT $2`, o.ID, sessionBatch)
		if err != nil {
			return err
		}
		going, err := pgx.CollectRows(rows, pgx.RowTo[id.Session])
		if err != nil {
			return err
		}
		more = len(going) == sessionBatch
		return session.EndAll(ctx, tx, going, session.Ending{Reason: session.AccountPaused, At: r.Clock.Now().UTC()})
	}, tenant.Idempotent(true))
	return more, err
}
