package printed_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/printed"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// No statement looks through all reports.
func TestTheStatementsRideTheirIndexes(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `
		INSERT INTO report (org_id, id, kind, result_id, session_id, title, language, format, state, version, words, created_by, created_at)
		SELECT $1, gen_random_uuid(), 'result', gen_random_uuid(), gen_random_uuid(), '', 'en', 'pdf', 'ready', 1, true, 'key', now()
		FROM generate_series(1, 2000)`, org)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `
		INSERT INTO report (org_id, id, kind, title, language, format, state, version, words, created_by, created_at, portal_id, selection)
		SELECT $1, gen_random_uuid(), 'portal', '', 'en', 'pdf', 'ready', 1, false, 'key', now(), gen_random_uuid(), 'of ' || i
		FROM generate_series(1, 2000) AS g (i)`, org)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `ANALYZE report`)
	require.NoError(t, err)
	in := func(fn func(context.Context, *tenant.Tx) error) func() error {
		return func() error { return tenants.InTx(t.Context(), org, fn) }
	}
	list := func(f printed.Filter) func() error {
		return func() error {
			_, err := printed.List(t.Context(), tenants, org, f, id.NewReport(), 10)
			return err
		}
	}
	for name, c := range map[string]struct {
		text, index string
		run         func() error
	}{
		"all":         {"FROM report", "report_pkey", list(printed.Filter{})},
		"of a result": {"FROM report", "report_by_result", list(printed.Filter{Result: id.NewResult()})},
		"in a state":  {"FROM report", "report_by_state", list(printed.Filter{State: printed.Failed})},
		"ids of results": {"SELECT result_id, id FROM report", "report_by_result", func() error {
			return tenants.Read(t.Context(), org, func(r *tenant.Reads) {
				printed.QueueOfResults(r, org, []id.Result{id.NewResult()}, func(id.Result, id.Report) {})
			})
		}},
		"those of the same people": {"selection = $2", "report_by_selection", in(func(ctx context.Context, tx *tenant.Tx) error {
			return printed.Insert(ctx, tx, &printed.Report{ID: id.NewReport(), Kind: printed.OfPortal, Portal: id.NewPortal(), Selection: new("of one")})
		})},
		"the deletion with results": {"FROM report", "report_by_result", in(func(ctx context.Context, tx *tenant.Tx) error {
			return printed.DeleteOfResults(ctx, tx, id.NewResult())
		})},
		"the deletion with words": {"FROM report", "report_by_session", in(func(ctx context.Context, tx *tenant.Tx) error {
			return printed.DeleteWords(ctx, tx, id.NewSession())
		})},
	} {
		t.Run(name, func(t *testing.T) {
			for _, statement := range sent.Of(t, c.text, c.run) {
				plan := statement.Forced(t, db)
				require.Contains(t, plan, c.index, statement.SQL)
				require.NotRegexp(t, `Seq Scan on report`, plan, statement.SQL)
			}
		})
	}
}
