package certificate

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/sweep"
	"visavis.dev/pkg/store/tenant"
)

const (
	// noticeEvery is how often it is looked which certificates expire, and noticeBatch how
	// many a run tells of.
	noticeEvery = time.Minute
	noticeBatch = 500
)

// Tasks are the recurring tasks of certificates.
func Tasks(d sweep.Deps) []sweep.Task {
	return []sweep.Task{{
		Name: "tell which certificates expire", Every: noticeEvery, Batch: noticeBatch, Run: d.Dated(Notice),
	}}
}

// due is a certificate of which something is to be told.
type due struct {
	Org id.Org
	ID  id.Certificate
}

// Notice tells of a shard's certificates that expire soon, or did, and answers how many it
// looked at: certificate.expiring 60, 30 and 7 days before, once each, and certificate.expired.
// Of one that was renewed, the former is not told; of what was missed while nobody looked, the
// last. Any number of processes may do it at once.
func Notice(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	now = now.Truncate(time.Microsecond)
	db, err := t.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	// It rides certificate_by_notice.
	rows, err := db.Query(ctx, `
		SELECT c.org_id, c.id FROM certificate c JOIN org_fence f ON f.org_id = c.org_id AND f.state IN ('open', 'capture')
		WHERE c.notice_at <= $1 ORDER BY c.notice_at, c.org_id, c.id LIMIT $2`, now, noticeBatch)
	if err != nil {
		return 0, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[due])
	if err != nil {
		return 0, err
	}
	byOrg := map[id.Org][]id.Certificate{}
	for _, d := range found {
		byOrg[d.Org] = append(byOrg[d.Org], d.ID)
	}
	for org, which := range byOrg {
		if err := t.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
			return noticeEach(ctx, tx, which, now)
		}, tenant.Idempotent(true)); err != nil { // told once by notice_at
			return len(found), err
		}
	}
	return len(found), nil
}

// noticeEach tells of some certificates of an organization what nobody told meanwhile.
func noticeEach(ctx context.Context, tx *tenant.Tx, which []id.Certificate, now time.Time) error {
	if _, err := tx.Exec(ctx, `
		SELECT 1 FROM certificate WHERE org_id = $1 AND id = ANY($2) ORDER BY id FOR UPDATE`, tx.Org, which); err != nil {
		return err
	}
	found, err := tenant.AllIn(ctx, tx, scan, `
		SELECT `+columns+` FROM `+tables+` WHERE c.org_id = $1 AND c.id = ANY($2) AND c.notice_at <= $3 ORDER BY c.id`, tx.Org, which, now)
	if err != nil {
		return err
	}
	for _, c := range found {
		c.tell(tx, now)
		tx.Touch("certificate", c.ID)
		if _, err := tx.Exec(ctx, `
			UPDATE certificate SET notice_at = $3, standing = $4 WHERE org_id = $1 AND id = $2`,
			tx.Org, c.ID, nextNotice(c.ExpiresAt, now), c.State(now)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Certificate) tell(tx *tenant.Tx, now time.Time) {
	d := event.Draft{Type: event.CertificateExpired, At: now, Fields: c.fields(), Subject: c.Subject}
	if now.Before(*c.ExpiresAt) {
		if !c.RenewedBy.IsZero() {
			return
		}
		d.Type, d.Fields["daysLeft"] = event.CertificateExpiring, daysLeft(*c.ExpiresAt, now)
	}
	event.Emit(tx, d)
}
