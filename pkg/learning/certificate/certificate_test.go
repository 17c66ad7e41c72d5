package certificate_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

func ignore[T any](_ T, err error) error { return err }

// A number is read as people write it, and tells its organization.
func TestNumbers(t *testing.T) {
	org := id.NewOrg()
	seen := map[certificate.Number]bool{}
	for range 1000 {
		n := certificate.NewNumber(org)
		require.False(t, seen[n])
		seen[n] = true
		require.Regexp(t, `^([0-9A-HJKMNP-TV-Z]{4}-){4}[0-9A-HJKMNP-TV-Z]{4}$`, n.String())
		require.Equal(t, certificate.CodeOf(org), n.Code())
		for _, written := range []string{n.String(), strings.ToLower(n.String()), strings.ReplaceAll(n.String(), "-", ""), strings.ReplaceAll(strings.ReplaceAll(n.String(), "0", "o"), "1", "l")} {
			read, ok := certificate.ParseNumber(written)
			require.True(t, ok, written)
			require.Equal(t, n, read)
		}
	}
	tail, ok := certificate.TailOf(certificate.CodeOf(org))
	require.True(t, ok)
	require.True(t, strings.HasSuffix(uuid.UUID(org).String(), tail), "as the directory finds it")
	for _, wrong := range []string{"", "0000", strings.Repeat("0", 21), strings.Repeat("U", 20), strings.Repeat("é", 10), strings.Repeat("-", 1000), "0000-0000-0000-0000-000%"} {
		_, ok := certificate.ParseNumber(wrong)
		require.False(t, ok, wrong)
	}
}

func TestStates(t *testing.T) {
	now, day := tenanttest.Now, 24*time.Hour
	at := func(days int) *time.Time { return new(now.Add(time.Duration(days) * day)) }
	for name, tt := range map[string]struct {
		c    certificate.Certificate
		want certificate.State
	}{
		"for ever": {certificate.Certificate{}, certificate.Valid},
		"far":      {certificate.Certificate{ExpiresAt: at(61)}, certificate.Valid},
		"soon":     {certificate.Certificate{ExpiresAt: at(60)}, certificate.Expiring},
		"over":     {certificate.Certificate{ExpiresAt: at(0)}, certificate.Expired},
		"revoked":  {certificate.Certificate{ExpiresAt: at(61), RevokedAt: at(-1)}, certificate.Revoked},
	} {
		require.Equal(t, tt.want, tt.c.State(now), name)
	}
}

// enter enters a certificate that expires then.
func enter(t *testing.T, tenants *tenant.Tenants, org id.Org, number int, expires, notice time.Time) id.Certificate {
	t.Helper()
	k := id.NewCertificate()
	require.NoError(t, tenants.InTx(t.Context(), org, func(ctx context.Context, tx *tenant.Tx) error {
		tx.Touch("certificate", k)
		_, err := tx.Exec(ctx, `
			INSERT INTO certificate (org_id, id, number, ordinal, person_id, subject_id, portal_id, template, language, recipient_name, title,
				issued_at, issued_by, expires_at, notice_at)
			VALUES ($1, $2, $3, $4, $5, $5, $5, 'plain', 'en', 'Kim', 'Knots', $6, 'test', $7, $8)`,
			tx.Org, k, string(certificate.NewNumber(org)), number, uuid.New(), tenanttest.Now, expires, notice)
		return err
	}))
	return k
}

// told are the events of certificates, by certificate, as "type daysLeft".
func told(t *testing.T, tenants *tenant.Tenants, org id.Org) map[string][]string {
	t.Helper()
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	rows, err := db.Query(t.Context(), `
		SELECT data->>'certificateId', type || coalesce(' ' || (data->>'daysLeft'), '') FROM event_staged WHERE org_id = $1 ORDER BY committed_at, place`, org)
	require.NoError(t, err)
	found := map[string][]string{}
	defer rows.Close()
	for rows.Next() {
		var k, what string
		require.NoError(t, rows.Scan(&k, &what))
		found[k] = append(found[k], what)
	}
	require.NoError(t, rows.Err())
	return found
}

// Over two years of hours, by two workers, everything is told of each expiry once: also what
// nobody looked for when it was due, once for all of it.
func TestExpiriesAreToldOnce(t *testing.T) {
	tenants, _, org, _ := tenanttest.NewTraced(t)
	const day = 24 * time.Hour
	start := tenanttest.Now
	far := enter(t, tenants, org, 1, start.Add(400*day), start.Add(340*day))
	near := enter(t, tenants, org, 2, start.Add(20*day+time.Minute), start.Add(13*day+time.Minute))
	missed := enter(t, tenants, org, 3, start.Add(5*day), start.Add(-55*day))
	renewed := enter(t, tenants, org, 4, start.Add(100*day), start.Add(40*day))
	require.NoError(t, tenants.InTx(t.Context(), org, func(ctx context.Context, tx *tenant.Tx) error {
		tx.Touch("certificate", renewed)
		return ignore(tx.Exec(ctx, `UPDATE certificate SET renewed_by = $3 WHERE org_id = $1 AND id = $2`, tx.Org, renewed, far))
	}))
	for at := start; at.Before(start.Add(420 * day)); at = at.Add(6 * time.Hour) {
		for range 2 {
			require.NoError(t, ignore(certificate.Notice(t.Context(), tenants, "a", at)))
		}
	}
	require.Equal(t, map[string][]string{
		far.String():     {"certificate.expiring 60", "certificate.expiring 30", "certificate.expiring 7", "certificate.expired"},
		near.String():    {"certificate.expiring 7", "certificate.expired"},
		missed.String():  {"certificate.expiring 5", "certificate.expired"},
		renewed.String(): {"certificate.expired"},
	}, told(t, tenants, org))
}

// Each statement rides the index its function names, among many records.
func TestStatementsRideTheirIndexes(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `
		INSERT INTO certificate (org_id, id, number, ordinal, person_id, subject_id, portal_id, result_id, completion_id, template, language,
			recipient_name, title, issued_at, issued_by, expires_at, notice_at, revoked_at)
		SELECT $1, gen_random_uuid(), 'N' || n, n, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'plain',
			'en', '', '', now(), 'test', now(), now() + n * INTERVAL '1 hour', CASE WHEN n % 100 = 0 THEN now() END FROM generate_series(1, 5000) AS s (n)`, org)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `ANALYZE certificate`)
	require.NoError(t, err)
	who := activity.Actor{By: "test", At: tenanttest.Now}
	list := func(f certificate.Filter) func(context.Context) error {
		return func(ctx context.Context) error {
			return ignore(certificate.List(ctx, tenants, org, f, id.NewCertificate(), 50))
		}
	}
	in := func(fn func(context.Context, *tenant.Tx) error) func(context.Context) error {
		return func(ctx context.Context) error { return tenants.InTx(ctx, org, fn) }
	}
	for name, tt := range map[string]struct {
		text, index string
		do          func(context.Context) error
	}{
		"a number": {"c.number = $2", "certificate_number", func(ctx context.Context) error {
			_, err := certificate.ByNumber(ctx, tenants, org, "N77")
			return err
		}},
		"all":          {"FROM certificate", "certificate_pkey", list(certificate.Filter{Now: who.At})},
		"of a person":  {"FROM certificate", "certificate_by_person", list(certificate.Filter{Person: id.NewPerson(), Now: who.At})},
		"of a subject": {"FROM certificate", "certificate_by_subject", list(certificate.Filter{Subject: id.NewSubject(), Now: who.At})},
		"of a result":  {"FROM certificate", "certificate_of_result", list(certificate.Filter{Result: id.NewResult(), Now: who.At})},
		"in a state":   {"FROM certificate", "certificate_by_standing", list(certificate.Filter{State: certificate.Expired, Now: who.At})},
		"that rest on a completion": {"c.completion_id = $2", "certificate_by_completion", in(func(ctx context.Context, tx *tenant.Tx) error {
			return certificate.RevokeOfCompletion(ctx, tx, id.NewCompletion(), "x", who)
		})},
		"that rest on a result": {"c.result_id = $2", "_result on certificate", in(func(ctx context.Context, tx *tenant.Tx) error {
			return certificate.RevokeOfResult(ctx, tx, id.NewResult(), "x", who)
		})},
		"that rest on results": {"result_id = ANY($2)", "_result on certificate", func(ctx context.Context) error {
			return tenants.Read(ctx, org, func(r *tenant.Reads) {
				certificate.OfResults(r, org, []id.Result{id.NewResult()}, func(id.Result, id.Certificate) {})
			})
		}},
		"that expire": {"c.notice_at <= $1", "certificate_by_notice", func(ctx context.Context) error {
			return ignore(certificate.Notice(ctx, tenants, "a", tenanttest.Now.Add(-100*365*24*time.Hour)))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, s := range sent.Of(t, tt.text, func() error { return tt.do(t.Context()) }) {
				plan := s.Forced(t, db)
				require.Contains(t, plan, tt.index, "%s\n%s", s.SQL, plan)
			}
		})
	}
}
