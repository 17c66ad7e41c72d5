package demographics

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// PublicationNoun is what errors call an audit that is shown on a portal's pages.
const PublicationNoun errdefs.Noun = "published bias audit"

// Page is the path of the page, below the portal's.
const Page = "/bias-audit"

// Publication is the audit of a year that a portal's pages show to everybody.
type Publication struct {
	Portal   id.Portal
	Year     int64
	LeaveOut bool
	By       string
	At       time.Time
}

func scanPublication(row pgx.CollectableRow) (Publication, error) {
	return pgx.RowToStructByPos[Publication](row)
}

const selectPublication = `SELECT portal_id, year, leave_out, published_by, published_at FROM bias_publication WHERE org_id = $1 AND portal_id = $2`

// Published is what a portal's pages show. It rides bias_publication_pkey. The error is
// errdefs.NotFound.
func Published(ctx context.Context, t *tenant.Tenants, org id.Org, p id.Portal) (Publication, error) {
	return tenant.One(ctx, t, org, scanPublication, PublicationNoun.NotFound(p), selectPublication, org, p)
}

// Filter is what is shown: the audit of the year as it is when somebody looks.
func (p Publication) Filter() Filter {
	f := Filter{Portal: p.Portal, LeaveOut: p.LeaveOut}
	f.From, f.To = Year(p.Year)
	return f
}

// Publish has a portal's pages show the audit of a year, in place of another.
func Publish(ctx context.Context, tx *tenant.Tx, p Publication, who activity.Actor) (Publication, error) {
	p.By, p.At = who.By, who.At
	tx.Touch("bias_publication", p.Portal)
	_, err := tx.Exec(ctx, `
		INSERT INTO bias_publication (org_id, portal_id, year, leave_out, published_by, published_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (org_id, portal_id) DO UPDATE SET year = $3, leave_out = $4, published_by = $5, published_at = $6`,
		tx.Org, p.Portal, p.Year, p.LeaveOut, p.By, p.At)
	who.Log(tx, "bias_audit.published", "portal", p.Portal, map[string]any{"year": p.Year, "leaveOutSmall": p.LeaveOut})
	return p, err
}

// Unpublish has a portal's pages show no audit any more. The error is errdefs.NotFound.
func Unpublish(ctx context.Context, tx *tenant.Tx, p id.Portal, who activity.Actor) error {
	tx.Touch("bias_publication", p)
	tag, err := tx.Exec(ctx, `DELETE FROM bias_publication WHERE org_id = $1 AND portal_id = $2`, tx.Org, p)
	switch {
	case err != nil:
		return err
	case tag.RowsAffected() == 0:
		return PublicationNoun.NotFound(p)
	}
	who.Log(tx, "bias_audit.unpublished", "portal", p, nil)
	return nil
}
