package certificate

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Get finds a certificate. It rides certificate_pkey. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, which id.Certificate) (Certificate, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(which), `SELECT `+columns+` FROM `+tables+` WHERE c.org_id = $1 AND c.id = $2`, org, which)
}

// ByNumber finds a certificate by its number. It rides certificate_number. The error is
// errdefs.NotFound.
func ByNumber(ctx context.Context, t *tenant.Tenants, org id.Org, n Number) (Certificate, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(n), `SELECT `+columns+` FROM `+tables+` WHERE c.org_id = $1 AND c.number = $2`, org, string(n))
}

// Filter narrows a list; zero fields do not.
type Filter struct {
	Person  id.Person
	Subject id.Subject
	Result  id.Result
	State   State
	Now     time.Time
}

// List is a page of the certificates, newest first, after one of them; the zero id for the
// first page. It rides certificate_pkey, or, where that is asked for, certificate_of_result,
// certificate_by_person, certificate_by_subject or certificate_by_standing: one that came to
// expire in the last minute can be left out of those of a state.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after id.Certificate, limit int) ([]Certificate, error) {
	sql := `
		SELECT ` + columns + ` FROM ` + tables + `
		WHERE c.org_id = $1 AND ($2::UUID IS NULL OR c.id < $2) AND ($3::UUID IS NULL OR c.subject_id = $3)
			AND ($4::UUID IS NULL OR c.result_id = $4)
			AND ($5 = '' OR $5 = CASE WHEN c.revoked_at IS NOT NULL THEN 'revoked' WHEN c.expires_at <= $6 THEN 'expired'
				WHEN c.expires_at <= $7 THEN 'expiring' ELSE 'valid' END)`
	const order = ` ORDER BY c.id DESC LIMIT $8`
	args := []any{org, after, f.Subject, f.Result, string(f.State), f.Now, f.Now.Add(ahead[0]), limit}
	switch {
	case !f.Result.IsZero():
		return tenant.All(ctx, t, org, scan, sql+` AND c.result_id = $9 AND c.result_id IS NOT NULL`+order, append(args, f.Result)...)
	case !f.Person.IsZero():
		return tenant.All(ctx, t, org, scan, sql+` AND c.person_id = $9`+order, append(args, f.Person)...)
	case !f.Subject.IsZero():
		return tenant.All(ctx, t, org, scan, sql+` AND c.subject_id = $9`+order, append(args, f.Subject)...)
	case f.State != "":
		return tenant.All(ctx, t, org, scan, sql+` AND c.standing = $9`+order, append(args, f.State)...)
	}
	return tenant.All(ctx, t, org, scan, sql+order, args...)
}

// OfResults are the certificates that rest on results and were not revoked, by result. It
// rides certificate_by_result.
func OfResults(r *tenant.Reads, org id.Org, of []id.Result, found func(id.Result, id.Certificate)) {
	r.Query(func(rows pgx.Rows) error {
		var (
			result id.Result
			c      id.Certificate
		)
		_, err := pgx.ForEachRow(rows, []any{&result, &c}, func() error {
			found(result, c)
			return nil
		})
		return err
	}, `SELECT result_id, id FROM certificate WHERE org_id = $1 AND result_id = ANY($2) AND result_id IS NOT NULL AND revoked_at IS NULL`, org, of)
}

// revoked are the places of a stretch of the organization's certificates that were revoked.
// It rides certificate_revoked.
func revoked(ctx context.Context, t *tenant.Tenants, org id.Org, first, end int64) ([]int64, error) {
	return tenant.All(ctx, t, org, pgx.RowTo[int64], `
		SELECT ordinal FROM certificate WHERE org_id = $1 AND ordinal >= $2 AND ordinal < $3 AND revoked_at IS NOT NULL`, org, first, end)
}
