package cohort_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/cohort"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// No statement looks through the work or the results of others.
func TestStatementsRideTheirIndexes(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	on, about, work := id.NewPortal(), id.NewSubject(), id.NewAssignment()
	for _, sql := range []string{
		`INSERT INTO result (org_id, id, state, kind, subject_id, portal_id, person_id, membership_id, session_id, attempt, rubric_version,
			language, asked, started_at, max_score, criteria, needs_review, on_hold, edition, created_at, updated_at, percent)
		SELECT $1::UUID, gen_random_uuid(), 'released', 'assessment', CASE i % 200 WHEN 0 THEN $3::UUID ELSE gen_random_uuid() END, $2::UUID, gen_random_uuid(), gen_random_uuid(),
			gen_random_uuid(), 1, 1, 'en', '[]', now(), 1, '[]', false, false, 1, now(), now(), 50
		FROM generate_series(1, 5000) AS g (i), (SELECT $4::UUID) AS w`,
		`INSERT INTO assignment_person (org_id, assignment_id, person_id, membership_id, state, attempts, extra_attempts, late, passed, waiting)
		SELECT $1::UUID, CASE i % 100 WHEN 0 THEN $4::UUID ELSE gen_random_uuid() END, gen_random_uuid(), gen_random_uuid(), 'not_started', 0, 0, false, false, false
		FROM generate_series(1, 5000) AS g (i), (SELECT $2::UUID, $3::UUID) AS w`,
		`INSERT INTO mastery (org_id, person_id, subject_id, objective_key, known, stability, evidence_count, previous_level, updated_at)
		SELECT $1::UUID, gen_random_uuid(), $3::UUID, 'tie', 0.5, 1, 1, 'none', now() FROM generate_series(1, 5000) AS g (i), (SELECT $2::UUID, $4::UUID) AS w`,
		`INSERT INTO cohort_figures (org_id, subject_id, selection, part, prints, figures, edition, counted_at)
		SELECT $1::UUID, gen_random_uuid(), '', '', '\x00', '{}', 1, now() FROM generate_series(1, 2000) AS g (i), (SELECT $2::UUID, $3::UUID, $4::UUID) AS w`,
	} {
		_, err := db.Exec(t.Context(), sql, org, on, about, work)
		require.NoError(t, err)
	}
	for _, table := range []string{"result", "assignment_person", "mastery", "cohort_figures"} {
		_, err := db.Exec(t.Context(), `ANALYZE `+table)
		require.NoError(t, err)
	}
	count := func(s cohort.Selection) func() error {
		return func() error {
			_, err := cohort.Count(t.Context(), tenants, org, s, time.Now())
			return err
		}
	}
	subject := cohort.Selection{Portal: on, Subject: about}
	assigned := cohort.Selection{Portal: on, Subject: about, Assignment: work}
	for name, tt := range map[string]struct {
		text, index string
		do          func() error
	}{
		"results":            {"FROM result r", "result_by_subject", count(subject)},
		"what is set":        {"SELECT id FROM assignment WHERE", "assignment_by_", count(subject)},
		"for whom it is set": {"FROM assignment_person p LEFT JOIN", "assignment_person_pkey", count(assigned)},
		"mastery":            {"FROM mastery", "mastery_pkey", count(subject)},
		"what is kept":       {"FROM cohort_figures", "cohort_figures_pkey", count(subject)},
		"units":              {"SELECT id, name FROM unit", "unit_by_portal", count(subject)},
	} {
		t.Run(name, func(t *testing.T) {
			for _, one := range sent.Of(t, tt.text, tt.do) {
				plan := one.Forced(t, db)
				require.Contains(t, plan, tt.index, "%s\n%s", one.SQL, plan)
			}
		})
	}
}
