package apitest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/memory"
)

// Remember has a persona remember a person, as after a session.
func (w *World) Remember(t testing.TB, org *Org, persona string, person id.Person) {
	t.Helper()
	p, err := id.ParsePersona(persona)
	require.NoError(t, err)
	now := time.Now().UTC().Truncate(time.Microsecond)
	s := id.NewSession()
	items := []memory.Item{{Key: "name", Text: "Kim", Session: s, At: now}, {Text: "I live in Bern.", Session: s, At: now}}
	require.NoError(t, w.Tenants.InTx(context.Background(), org.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO memory (org_id, persona_id, person_id, id, items, session_id, written_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			org.ID, p, person, id.NewMemory(), items, s, now, now.Add(memory.Kept))
		return err
	}))
}
