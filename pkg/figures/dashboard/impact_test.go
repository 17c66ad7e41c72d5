package dashboard_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/figures/dashboard"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// The dashboard has the cohorts of bias audits that were counted in its period, and no others.
func TestHiringHasTheCountsOfBiasAudits(t *testing.T) {
	tenants, org, other := tenanttest.New(t)
	h := newHistory(t, tenants, org)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	for _, at := range []time.Time{start.Add(-time.Second), start, start.Add(time.Hour)} {
		for _, of := range []any{org, other} {
			_, err = db.Exec(t.Context(), `INSERT INTO bias_cohort (org_id, id, portal_id, role_id, at, counts) VALUES ($1, $2, $2, $2, $3, $4)`, of, uuid.New(), at,
				`{"applicants": 60, "selected": 25, "told": [{"sex": "female", "applicants": 30, "selected": 10}, {"sex": "male", "race": "asian", "applicants": 30, "selected": 15}]}`)
			require.NoError(t, err)
		}
	}
	require.Equal(t, map[string]int64{"female": 30}, h.table(dashboard.Hiring, "impactBySexApplicants"))
	require.Equal(t, map[string]int64{"female": 10}, h.table(dashboard.Hiring, "impactBySexSelected"))
	require.Empty(t, h.table(dashboard.Hiring, "impactByRaceApplicants"))
	require.Equal(t, map[string]int64{"male, asian": 15}, h.table(dashboard.Hiring, "impactBySexAndRaceSelected"))
}
