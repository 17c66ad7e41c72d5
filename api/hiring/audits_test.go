package hiring_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/demographics"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// counted enters a cohort of a role.
func counted(t *testing.T, w *apitest.World, role string, at time.Time, counts string) {
	t.Helper()
	r, err := id.ParseRole(role)
	require.NoError(t, err)
	shard, err := w.Tenants.ShardOf(t.Context(), w.Acme.ID)
	require.NoError(t, err)
	db, err := w.Tenants.Shard(t.Context(), shard)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `
		INSERT INTO bias_cohort (org_id, id, portal_id, role_id, at, counts) SELECT org_id, $3, portal_id, id, $4, $5 FROM hiring_role WHERE org_id = $1 AND id = $2`,
		w.Acme.ID, r, uuid.New(), at, json.RawMessage(counts))
	require.NoError(t, err)
}

const cohort = `{"applicants": 60, "selected": 25, "told": [
	{"sex": "female", "applicants": 30, "selected": 10}, {"sex": "male", "applicants": 30, "selected": 15}, {"sex": "female", "race": "asian", "applicants": 15, "selected": 5}]}`

// Audits of a role, of a portal and of a year are sums of the cohorts that they name.
func TestBiasAudits(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	one, other := w.Role(t, w.Acme, nil), w.Role(t, w.Acme, nil)
	last, before := time.Date(2026, 12, 31, 23, 0, 0, 0, time.UTC), time.Date(2025, 12, 31, 23, 0, 0, 0, time.UTC)
	counted(t, w, one, last, cohort)
	counted(t, w, one, before, cohort)
	counted(t, w, other, last, cohort)
	read := func(operation, path, accept string) apitest.Answer {
		return w.Call(t, w.Operation(t, operation), apitest.Request{Path: path, Key: w.Acme.New, Header: map[string]string{"Accept": accept}})
	}
	applicants := func(operation, path string) any {
		answer := read(operation, path, "")
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		return answer.Data(t)["applicants"]
	}
	portal := w.Made["hiring portal"+w.Acme.ID.String()]
	require.EqualValues(t, 60, applicants("getRoleBiasAudit", "/roles/"+one+"/bias-audit?year=2026"))
	require.EqualValues(t, 60, applicants("getRoleBiasAudit", "/roles/"+one+"/bias-audit?year=2025"))
	require.EqualValues(t, 0, applicants("getRoleBiasAudit", "/roles/"+one+"/bias-audit?year=2024"))
	require.EqualValues(t, 120, applicants("getBiasAudit", "/bias-audits?year=2026"))
	require.EqualValues(t, 120, applicants("getBiasAudit", "/bias-audits?year=2026&portalId="+portal))
	answer := read("getBiasAudit", "/bias-audits?year=2026&portalId="+id.NewPortal().String(), "")
	apitest.RequireError(t, answer, http.StatusNotFound, "not_found", "query.portalId")

	shown := read("getBiasAudit", "/bias-audits?year=2026", "").Data(t)
	sexes := apitest.At(shown, "bySex", "categories").([]any)
	require.Len(t, sexes, 2)
	require.Equal(t, map[string]any{
		"sex": "female", "race": nil, "applicants": 60.0, "selected": 20.0, "selectionRate": 0.3333, "impactRatio": 0.6667, "belowFourFifths": true, "leftOut": false,
	}, sexes[0])
	require.EqualValues(t, 0, apitest.At(shown, "bySex", "untold"))
	require.EqualValues(t, 120, apitest.At(shown, "byRace", "untold"))
	require.EqualValues(t, 90, apitest.At(shown, "bySexAndRace", "untold"))

	table := read("getBiasAudit", "/bias-audits?year=2026", "text/csv")
	require.Equal(t, http.StatusOK, table.Status)
	require.Contains(t, string(table.Raw), "sex,female,,60,20,0.3333,0.6667,true,false\n")
	require.Equal(t, 1+1+2+1+6, strings.Count(string(table.Raw), "\n"))
}

// A portal shows the audit of a year until it shows none, and says where.
func TestAnAuditIsPublished(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	w.Role(t, w.Acme, nil)
	portal := w.Made["hiring portal"+w.Acme.ID.String()]
	missing := w.CallAs(t, "setPortalBiasAudit", portal, w.Acme.New, map[string]any{"published": true})
	apitest.RequireError(t, missing, http.StatusBadRequest, "invalid_request", "body.year")
	set := func(body map[string]any) map[string]any {
		answer := w.CallAs(t, "setPortalBiasAudit", portal, w.Acme.New, body)
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		return answer.Data(t)
	}
	shown := set(map[string]any{"published": true, "year": 2026})
	require.EqualValues(t, 2026, shown["year"])
	require.True(t, strings.HasSuffix(shown["url"].(string), "/bias-audit"))
	for range 2 {
		gone := set(map[string]any{"published": false})
		require.Equal(t, false, gone["published"])
		require.Nil(t, gone["url"])
	}
}

// A decision settles a candidate once: who was advanced stays selected, whatever comes later, and who
// is on hold is decided on later. A withdrawal and their erasure delete what they said.
func TestDecisionsSettleAndErasureForgets(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, map[string]any{"voluntaryDemographics": true})
	shard, err := w.Tenants.ShardOf(t.Context(), w.Acme.ID)
	require.NoError(t, err)
	db, err := w.Tenants.Shard(t.Context(), shard)
	require.NoError(t, err)
	off := w.CallAs(t, "updateRole", w.Role(t, w.Acme, nil), w.Acme.New, map[string]any{"voluntaryDemographics": true})
	require.Equal(t, "role_state", apitest.Reason(t, off, "path.id"), "who was decided on before was not asked")
	manager, store := w.HiringManager(t, w.Acme), &demographics.Store{Tenants: w.Tenants, Vault: w.Vault}
	var all []id.Candidate
	decide := func(who id.Candidate, d string) {
		t.Helper()
		answer := w.CallAs(t, "decideCandidate", who.String(), w.Acme.New, map[string]any{"decision": d, "decidedBy": manager, "reasonCode": "other"})
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		require.NotContains(t, string(answer.Raw), "asian")
	}
	settled := func(who id.Candidate) (is bool) {
		require.NoError(t, db.QueryRow(t.Context(), `SELECT settled_at IS NOT NULL FROM candidate WHERE org_id = $1 AND id = $2`, w.Acme.ID, who).Scan(&is))
		return is
	}
	for _, c := range []struct {
		decisions         []string
		settled, selected bool
	}{
		{[]string{"advance", "reject"}, true, true}, {[]string{"hold", "reject"}, true, false}, {[]string{"hire"}, true, true},
		{[]string{"hold"}, false, false}, {[]string{"withdrawn"}, false, false}, {[]string{"early", "reject"}, true, true},
	} {
		who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
		if c.decisions[0] == "early" { // advanced before the interview
			decide(who, "advance")
			require.False(t, settled(who), "who was not interviewed is not counted")
			c.decisions = c.decisions[1:]
		}
		w.Interview(t, w.Acme, who, apitest.RightAnswer, session.EndedByUser)
		require.Equal(t, http.StatusOK, w.CallAs(t, "reviewCandidate", who.String(), w.Acme.New, map[string]any{"reviewerId": manager}).Status)
		var held id.Session
		require.NoError(t, db.QueryRow(t.Context(), `SELECT session_id FROM screening WHERE org_id = $1 AND candidate_id = $2`, w.Acme.ID, who).Scan(&held))
		require.NoError(t, w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
			return store.Put(ctx, tx, who, held, demographics.Answer{Sex: demographics.Female, Race: demographics.Asian})
		}))
		for _, d := range c.decisions {
			decide(who, d)
		}
		var selected bool
		require.NoError(t, db.QueryRow(t.Context(), `SELECT selected FROM candidate WHERE org_id = $1 AND id = $2`, w.Acme.ID, who).Scan(&selected))
		require.Equal(t, c.settled, settled(who), c.decisions)
		require.Equal(t, c.selected, selected, c.decisions)
		require.NotContains(t, string(w.CallAs(t, "getCandidateCompliance", who.String(), w.Acme.New, nil).Raw), "asian")
		all = append(all, who)
	}
	kept := func() (n int) {
		require.NoError(t, db.QueryRow(t.Context(), `SELECT count(*) FROM demographic_answer WHERE org_id = $1`, w.Acme.ID).Scan(&n))
		return n
	}
	require.Equal(t, 5, kept(), "all but of who withdrew")
	for _, who := range all {
		require.Equal(t, http.StatusAccepted, w.CallAs(t, "eraseCandidate", who.String(), w.Acme.New, nil).Status)
	}
	w.EraseCandidates(t)
	require.Zero(t, kept())
}
