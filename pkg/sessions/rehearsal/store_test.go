package rehearsal_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/rehearsal"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

var facts = rehearsal.Expectation{Facts: []string{"nine"}, NotFacts: []string{}, DocumentIDs: []id.Document{}}

func TestStore(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	made := w.test("When?", facts)
	read, err := rehearsal.Get(ctx, w.tenants, w.org, made.ID)
	require.NoError(t, err)
	read.CreatedAt, read.UpdatedAt = read.CreatedAt.UTC(), read.UpdatedAt.UTC()
	require.Equal(t, made, read)
	require.Equal(t, []id.PersonaTest{made.ID}, ids(w.tests()))

	other := id.NewDocument()
	w.document(other)
	german := "de"
	after := made
	after.Name, after.Question, after.Language, after.Enabled = "Opening", "Wann?", &german, false
	after.Expect.DocumentIDs = []id.Document{other}
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		before, err := rehearsal.Lock(ctx, tx, made.ID)
		require.NoError(t, err)
		return rehearsal.Update(ctx, tx, before, after, author())
	})
	require.Equal(t, []any{"Opening", "Wann?", &german, false, after.Expect}, func(r rehearsal.Test) []any {
		return []any{r.Name, r.Question, r.Language, r.Enabled, r.Expect}
	}(w.tests()[0]))

	// A document must be there, unless it was expected before.
	_, err = w.db.Exec(ctx, `UPDATE knowledge_document SET deleted_at = created_at WHERE org_id = $1`, w.org)
	require.NoError(t, err)
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		return rehearsal.Update(ctx, tx, after, after, author())
	})
	var wrong *errdefs.Invalid
	require.ErrorAs(t, w.tenants.InTx(ctx, w.org, func(ctx context.Context, tx *tenant.Tx) error {
		return rehearsal.Update(ctx, tx, made, after, author())
	}), &wrong)
	require.Equal(t, "expect.documentIds[0]", wrong.Field)

	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		return rehearsal.Delete(ctx, tx, made.ID, author())
	})
	_, err = rehearsal.Get(ctx, w.tenants, w.org, made.ID)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: rehearsal.Noun})
}

func ids(tests []rehearsal.Test) (all []id.PersonaTest) {
	for _, t := range tests {
		all = append(all, t.ID)
	}
	return all
}

// Its tests are a persona's own: others do not see them, a copy has its own, and they
// go with it.
func TestTestsOfAPersona(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	for range 3 {
		w.test("When does the museum open?", facts)
	}
	w.run()
	originals, original := w.tests(), w.persona
	w.persona = w.insert()
	require.Empty(t, w.tests())
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		return rehearsal.Copy(ctx, tx, original.ID, w.persona.ID, w.clock.Now())
	})
	copies := w.tests()
	require.Len(t, copies, 3)
	for i, c := range copies {
		require.NotEqual(t, originals[i].ID, c.ID)
		require.Equal(t, []any{originals[i].Question, originals[i].Expect}, []any{c.Question, c.Expect})
		require.NotNil(t, originals[i].LastRun)
		require.Nil(t, c.LastRun, "it was never run")
	}
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := persona.Delete(ctx, tx, original.ID, id.Duo{}, author())
		return err
	})
	require.Len(t, w.tests(), 3)
	_, err := rehearsal.Get(ctx, w.tenants, w.org, originals[0].ID)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: rehearsal.Noun})
	require.Equal(t, 3, w.count(`SELECT count(*) FROM persona_test WHERE org_id = $1`))
	require.ErrorIs(t, w.tenants.InTx(ctx, w.org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := rehearsal.Create(ctx, tx, originals[0], author())
		return err
	}), errdefs.Gone{Noun: persona.Noun})
}

func TestAPersonaIsFullOfTests(t *testing.T) {
	w := newWorld(t)
	add := func(ctx context.Context, tx *tenant.Tx) error {
		_, err := rehearsal.Create(ctx, tx, rehearsal.Test{
			ID: id.NewPersonaTest(), Persona: w.persona.ID, Name: "x", Question: "x", Expect: facts, CreatedAt: tenanttest.Now, UpdatedAt: tenanttest.Now,
		}, author())
		return err
	}
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		for range rehearsal.MaxTests {
			if err := add(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	require.ErrorIs(t, w.tenants.InTx(context.Background(), w.org, add), &errdefs.Conflict{Noun: persona.Noun, Reason: "full"})
	require.Len(t, w.tests(), rehearsal.MaxTests)
}

func TestStatementsRideTheirIndexes(t *testing.T) {
	w := newWorld(t)
	w.document(museum)
	for range 200 {
		w.document(id.NewDocument())
	}
	_, err := w.db.Exec(context.Background(), `ANALYZE knowledge_document`)
	require.NoError(t, err)
	w.test("When does the museum open?", rehearsal.Expectation{Facts: []string{"nine"}, DocumentIDs: []id.Document{museum}})
	begun, err := w.beginTests(w.tests())
	require.NoError(t, err)
	for _, test := range []struct {
		text, index string
		run         func() error
	}{
		{"FROM persona_test", "persona_test_by_persona", func() error {
			_, err := rehearsal.List(context.Background(), w.tenants, w.org, w.persona.ID, id.NewPersonaTest(), 10)
			return err
		}},
		{"SELECT count(*) FROM persona_test", "persona_test_by_persona", func() error { w.test("Why?", facts); return nil }},
		{"FROM job\n", "job_rehearsal", func() error {
			_, err := w.beginTests(nil)
			require.Error(t, err)
			return nil
		}},
		{"FROM knowledge_document", "knowledge_document_pkey", func() error { w.end(begun.ID); return nil }},
		{"DELETE FROM persona_test", "persona_test_by_persona", func() error {
			return w.tenants.InTx(context.Background(), w.org, func(ctx context.Context, tx *tenant.Tx) error {
				_, err := persona.Delete(ctx, tx, w.persona.ID, id.Duo{}, author())
				return err
			})
		}},
	} {
		found := w.sent.Of(t, test.text, test.run)
		require.NotEmpty(t, found, test.text)
		for _, s := range found {
			plan := s.Forced(t, w.db)
			require.Contains(t, plan, test.index, "%s", plan)
			require.NotContains(t, plan, "Seq Scan", "%s", plan)
		}
	}
}
