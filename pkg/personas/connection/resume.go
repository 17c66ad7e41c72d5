package connection

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/tenant"
)

// told are the kinds whose systems jobs tell.
var told = []Kind{CRM, ATS, LMS, Helpdesk, Chat}

// Resuming is the input of a job that has what waits for a connection told.
type Resuming struct {
	Connection id.Connection `json:"connectionId"`
}

// resume has, with the commit, what waits for a connection told at once, and what is stopped taken up: it was
// mended, or made in the place of another.
func (c Connection) resume(ctx context.Context, tx *tenant.Tx, now time.Time) error {
	if c.State == Disabled || !slices.Contains(told, c.Kind) {
		return nil
	}
	_, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.ConnectionResume, ResourceKind: "connection", ResourceID: c.ID.String(), Connection: c.ID, Scope: scope.ConnectionsRead,
		CreatedBy: "platform", CreatedAt: now,
	}, Resuming{c.ID})
	return err
}

// Predecessors are a connection and those of its kind and provider that are deleted: it may go on with what
// these were to tell. They ride connection_pkey.
func Predecessors(ctx context.Context, tx *tenant.Tx, c Connection) ([]id.Connection, error) {
	before, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Connection], `
		SELECT id FROM connection WHERE org_id = $1 AND kind = $2 AND provider = $3 AND deleted_at IS NOT NULL ORDER BY id`, tx.Org, c.Kind, c.Provider)
	return append([]id.Connection{c.ID}, before...), err
}
