package apitest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// master enters that somebody masters something of a few subjects, which are not there any more.
func (w *World) master(t testing.TB, org *Org, who string) {
	t.Helper()
	of, err := id.ParsePerson(who)
	require.NoError(t, err)
	require.NoError(t, w.Tenants.InTx(context.Background(), org.ID, func(ctx context.Context, tx *tenant.Tx) error {
		for range 3 {
			s := id.NewSubject()
			tx.Touch("mastery", of, s, objective("tie"))
			if _, err := tx.Exec(ctx, `
				INSERT INTO mastery (org_id, person_id, subject_id, objective_key, known, stability, evidence_count, evidence_at, due_at,
					previous_level, updated_at)
				VALUES ($1, $2, $3, 'tie', 0.9, 100, 2, now(), now() + INTERVAL '9 days', 'none', now())`, tx.Org, of, s); err != nil {
				return err
			}
		}
		return nil
	}))
}

// objective is a part of a row's key.
type objective string

func (o objective) String() string { return string(o) }

func init() {
	Kinds["/people/{id}/mastery"] = func(t testing.TB, w *World, org *Org) string {
		who := w.Learner(t, org)
		w.master(t, org, who)
		return who
	}
	Kinds["/people/{id}/transcript-of-record"] = func(t testing.TB, w *World, org *Org) string {
		who := w.Learner(t, org)
		for range 2 {
			w.n++
			body := w.certificateBody(t, org)
			body["personId"] = who
			w.post(t, org, "createCertificate", "/certificates", body)
			body = w.completionBody(t, org)
			body["personId"] = who
			w.post(t, org, "createCompletion", "/completions", body)
		}
		return who
	}
}
