package result_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func ignore[T any](_ T, err error) error { return err }

// Each statement rides the index its function names, among many results.
func TestStatementsRideTheirIndexes(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	for _, sql := range []string{
		`INSERT INTO result (org_id, id, state, kind, subject_id, portal_id, person_id, membership_id, unit_id, session_id, attempt, rubric_version,
			language, asked, started_at, max_score, criteria, needs_review, on_hold, edition, created_at, updated_at)
		SELECT $1, gen_random_uuid(), CASE i % 50 WHEN 0 THEN 'awaiting_review' ELSE 'released' END, 'assessment', gen_random_uuid(), gen_random_uuid(), gen_random_uuid(),
			gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 1, 1, 'en', '[]', now(), 1, '[]', false, false, 1, now(), now()
		FROM generate_series(1, 5000) AS g (i)`,
		`INSERT INTO review (org_id, id, result_id, state, requested_by, reason_code, changes, created_at)
		SELECT org_id, gen_random_uuid(), id, 'open', 'platform', 'low_confidence', '[]', now() FROM result WHERE org_id = $1`,
		`INSERT INTO contest (org_id, id, result_id, state, words, created_at)
		SELECT org_id, gen_random_uuid(), id, 'open', '', now() FROM result WHERE org_id = $1`,
	} {
		_, err := db.Exec(t.Context(), sql, org)
		require.NoError(t, err)
	}
	for _, table := range []string{"result", "review", "contest"} {
		_, err := db.Exec(t.Context(), `ANALYZE `+table)
		require.NoError(t, err)
	}
	var which id.Result
	var person id.Person
	require.NoError(t, db.QueryRow(t.Context(), `SELECT id, person_id FROM result WHERE org_id = $1 AND state = 'released' LIMIT 1`, org).Scan(&which, &person))
	r, err := result.Get(t.Context(), tenants, org, which)
	require.NoError(t, err)
	list := func(f result.Filter) func(context.Context) error {
		return func(ctx context.Context) error { return ignore(result.List(ctx, tenants, org, f, id.NewResult(), 50)) }
	}
	in := func(fn func(context.Context, *tenant.Tx) error) func(context.Context) error {
		return func(ctx context.Context) error { return tenants.InTx(ctx, org, fn) }
	}
	who := activity.Actor{By: "test", At: time.Now().UTC()}
	for name, tt := range map[string]struct {
		text, index string
		do          func(context.Context) error
	}{
		"results":      {"FROM result\n", "result_pkey", list(result.Filter{})},
		"of a person":  {"FROM result\n", "result_by_person", list(result.Filter{Person: r.Person})},
		"of a unit":    {"FROM result\n", "result_by_unit", list(result.Filter{Unit: r.Unit})},
		"of a subject": {"FROM result\n", "result_by_subject", list(result.Filter{Subject: r.Subject})},
		"of a portal":  {"FROM result\n", "result_by_portal", list(result.Filter{Portal: r.Portal})},
		"in a state":   {"FROM result\n", "result_by_state", list(result.Filter{States: []result.State{result.AwaitingReview}})},
		"of a session": {"AND session_id = $2", "result_by_session", func(ctx context.Context) error {
			return ignore(result.OfSession(ctx, tenants, org, r.Session))
		}},
		"that counts": {"percent IS NOT NULL", "result_attempt", func(ctx context.Context) error {
			return ignore(result.Counts(ctx, tenants, org, person, r.Subject))
		}},
		"reviews": {"FROM review v", "review_pkey", func(ctx context.Context) error {
			return ignore(result.ListReviews(ctx, tenants, org, result.ReviewFilter{}, id.NewReview(), 50))
		}},
		"the latest reviews": {"FROM review WHERE", "review_by_result", func(ctx context.Context) error {
			return ignore(result.LooksAt(ctx, tenants, org, []result.Result{r}))
		}},
		"the latest objections": {"FROM contest WHERE", "contest_by_result", func(ctx context.Context) error {
			return ignore(result.LooksAt(ctx, tenants, org, []result.Result{r}))
		}},
		"an open review": {"result_id = $2 AND state = 'open'", "review_open", in(func(ctx context.Context, tx *tenant.Tx) error {
			return ignore(result.Void(ctx, tx, r, "x", who))
		})},
		"attempts": {"FROM result r LEFT JOIN session s", "result_attempt", in(func(ctx context.Context, tx *tenant.Tx) error {
			return result.Begin(ctx, tx, result.Start{Session: session.Session{ID: id.SessionAt(who.At), Kind: session.Assessment, Subject: r.Subject, Portal: r.Portal, Person: id.NewPerson(), Membership: r.Membership}}, who.At)
		})},
		"of who is erased": {"DELETE FROM result", "result_attempt", in(func(ctx context.Context, tx *tenant.Tx) error {
			return ignore(result.ForgetPerson(ctx, tx, id.NewPerson()))
		})},
	} {
		t.Run(name, func(t *testing.T) {
			for _, s := range sent.Of(t, tt.text, func() error { return tt.do(t.Context()) }) {
				plan := s.Forced(t, db)
				require.Contains(t, plan, tt.index, "%s\n%s", s.SQL, plan)
			}
		})
	}
}
