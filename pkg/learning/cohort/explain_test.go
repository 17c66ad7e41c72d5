package cohort_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/cohort"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// No statement looks through the results or the ledgers of others. Of those that ask at once, for all of a subject and for
// all but three, one alone is told.
func TestTell(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	on, about, work := id.NewPortal(), id.NewSubject(), id.NewAssignment()
	for _, sql := range []string{
		`INSERT INTO result (org_id, id, state, kind, subject_id, portal_id, person_id, membership_id, session_id, assignment_id, attempt, rubric_version,
			language, asked, started_at, max_score, criteria, needs_review, on_hold, edition, created_at, updated_at, percent, band)
		SELECT $1::UUID, gen_random_uuid(), 'released', 'assessment', CASE i % 200 WHEN 0 THEN $3::UUID ELSE gen_random_uuid() END, $2::UUID, gen_random_uuid(), gen_random_uuid(),
			gen_random_uuid(), CASE WHEN i > 600 THEN $4::UUID END, 1, 1, 'en', '[]', now(), 1, '[]', false, false, 1, now(), now(), 50, 'fail'
		FROM generate_series(1, 5000) AS g (i)`,
		`INSERT INTO person (org_id, id, name, age_band, state, metadata, edition, created_at, updated_at)
		SELECT org_id, person_id, 'Kim', 'adult', 'active', '{}', 1, now(), now() FROM result WHERE org_id = $1::UUID AND $2::UUID IS NOT NULL AND subject_id = $3::UUID AND $4::UUID IS NOT NULL`,
		`INSERT INTO told_ledger (org_id, subject_id, salt, created_at)
		SELECT $1::UUID, gen_random_uuid(), '\x00', now() FROM generate_series(1, 2000) AS g (i), (SELECT $2::UUID, $3::UUID, $4::UUID) AS w`,
		`INSERT INTO told_class (org_id, subject_id, kind, form)
		SELECT $1::UUID, gen_random_uuid(), 'people', '\x' FROM generate_series(1, 2000) AS g (i), (SELECT $2::UUID, $3::UUID, $4::UUID) AS w`,
		`INSERT INTO told_figure (org_id, subject_id, selection, kind, form)
		SELECT $1::UUID, gen_random_uuid(), 'all', 'percent', '\x' FROM generate_series(1, 2000) AS g (i), (SELECT $2::UUID, $3::UUID, $4::UUID) AS w`,
	} {
		_, err := db.Exec(t.Context(), sql, org, on, about, work)
		require.NoError(t, err, sql)
	}
	for _, table := range []string{"result", "told_ledger", "told_class", "told_figure"} {
		_, err := db.Exec(t.Context(), `ANALYZE `+table)
		require.NoError(t, err)
	}
	all := cohort.Selection{Portal: on, Subject: about}
	most := cohort.Selection{Portal: on, Subject: about, Assignment: work}
	var (
		asking  sync.WaitGroup
		figures [8]cohort.Figures
		errs    [8]error
	)
	for i := range figures {
		asking.Go(func() {
			figures[i], errs[i] = cohort.Tell(t.Context(), tenants, org, []cohort.Selection{all, most}[i%2], time.Now())
		})
	}
	asking.Wait()
	told := map[int]int64{}
	for i, f := range figures {
		require.NoError(t, errs[i])
		if f.Results != nil {
			told[i%2] = f.Results.People
		}
	}
	require.Len(t, told, 1)
	require.Contains(t, []map[int]int64{{0: 25}, {1: 22}}, told)

	for text, index := range map[string]string{
		"FROM result r": "result_by_subject", "FROM told_ledger": "told_ledger_pkey", "FROM told_class": "told_class_pkey", "FROM told_figure": "told_figure_pkey",
	} {
		for _, one := range sent.Of(t, text, func() error {
			_, err := cohort.Tell(t.Context(), tenants, org, all, time.Now())
			return err
		}) {
			plan := one.Forced(t, db)
			require.Contains(t, plan, index, "%s\n%s", one.SQL, plan)
		}
	}
}
