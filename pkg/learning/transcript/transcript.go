// Package transcript lists what somebody has to show: what they completed, the assessments that
// are released, and their certificates (spec, Results).
package transcript

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/store/tenant"
)

// The kinds of entries.
const (
	Completion  = "completion"
	Result      = "result"
	Certificate = "certificate"
)

// Entry is something to show. The ids of all kinds are ordered by the time at which they were
// made.
type Entry struct {
	Kind    string
	ID      uuid.UUID
	Subject id.Subject
	Portal  id.Portal
	// Title is the subject's, or what stands on the certificate.
	Title string
	At    time.Time
	State string
	Until *time.Time
	// Percent, Band and Passed are a result's.
	Percent *float64
	Band    *string
	Passed  *bool
	// Number is a certificate's, as it is kept.
	Number *string
}

// Shown is the id with its prefix.
func (e Entry) Shown() string {
	switch e.Kind {
	case Completion:
		return id.Completion(e.ID).String()
	case Result:
		return id.Result(e.ID).String()
	}
	return id.Certificate(e.ID).String()
}

// PrintedNumber is the number as people read it; nil for none.
func (e Entry) PrintedNumber() *string {
	if e.Number == nil {
		return nil
	}
	return new(certificate.Number(*e.Number).String())
}

// expiring is how long before its end a certificate is expiring.
const expiring = 60 * 24 * time.Hour

// list rides completion_by_person, result_by_person and certificate_by_person, and subject_pkey.
const list = `
	SELECT t.kind, t.id, t.subject_id, t.portal_id, COALESCE(t.title, s.title, ''), t.at, t.state, t.until, t.percent, t.band, t.passed, t.number
	FROM (
		(SELECT 'completion' AS kind, k.id, k.subject_id, k.portal_id, NULL::TEXT AS title, k.completed_at AS at,
			CASE WHEN k.withdrawn_at IS NOT NULL THEN 'withdrawn' WHEN k.valid_until <= $3 THEN 'expired' ELSE 'valid' END AS state,
			k.valid_until AS until, NULL::DOUBLE PRECISION AS percent, NULL::TEXT AS band, NULL::BOOLEAN AS passed, NULL::TEXT AS number
		FROM completion k WHERE k.org_id = $1 AND k.person_id = $2 AND ($5::UUID IS NULL OR k.id < $5) ORDER BY k.id DESC LIMIT $6)
		UNION ALL
		(SELECT 'result', r.id, r.subject_id, r.portal_id, NULL, COALESCE(r.completed_at, r.started_at), r.state, NULL, r.percent, r.band, r.passed, NULL
		FROM result r WHERE r.org_id = $1 AND r.person_id = $2 AND ($5::UUID IS NULL OR r.id < $5) AND r.state IN ('released', 'contested')
			AND r.kind = 'assessment' ORDER BY r.id DESC LIMIT $6)
		UNION ALL
		(SELECT 'certificate', c.id, c.subject_id, c.portal_id, c.title, c.issued_at,
			CASE WHEN c.revoked_at IS NOT NULL THEN 'revoked' WHEN c.expires_at <= $3 THEN 'expired' WHEN c.expires_at <= $4 THEN 'expiring' ELSE 'valid' END,
			c.expires_at, NULL::DOUBLE PRECISION, NULL::TEXT, NULL::BOOLEAN, c.number
		FROM certificate c WHERE c.org_id = $1 AND c.person_id = $2 AND ($5::UUID IS NULL OR c.id < $5) ORDER BY c.id DESC LIMIT $6)
	) AS t LEFT JOIN subject s ON s.org_id = $1 AND s.id = t.subject_id
	ORDER BY t.id DESC LIMIT $6`

// List is a page of what somebody has to show, newest first, after one of it; the zero id for
// the first page. It rides completion_by_person, result_by_person and certificate_by_person.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, who id.Person, now time.Time, after uuid.UUID, limit int) ([]Entry, error) {
	var from *uuid.UUID
	if after != uuid.Nil {
		from = &after
	}
	return tenant.All(ctx, t, org, pgx.RowToStructByPos[Entry], list, org, who, now, now.Add(expiring), from, limit)
}
