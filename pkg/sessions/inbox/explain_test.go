package inbox_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// The newest item of an address is found without a look through all items.
func TestNewestRidesItsIndex(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `
		INSERT INTO inbox_item (org_id, id, kind, state, language, contact, words, band_chosen, urgency, source, tags, metadata, edition, created_at, updated_at)
		SELECT $1, gen_random_uuid(), 'lead', 'new', 'en', jsonb_build_object('email', 'kim' || n || '@example.com'), '{}', false, 'normal', '{}', '{}', '{}', 1,
			now(), now()
		FROM generate_series(1, 2000) n`, org)
	require.NoError(t, err)
	for _, statement := range sent.Of(t, "FROM inbox_item", func() error {
		found, err := inbox.Newest(t.Context(), tenants, org, inbox.Kinds(), []string{"kim7@example.com", "nobody@example.com"})
		require.Len(t, found, 1)
		return err
	}) {
		plan := statement.Forced(t, db)
		require.Contains(t, plan, "inbox_item_by_email", statement.SQL)
		require.NotContains(t, plan, "Seq Scan on inbox_item", statement.SQL)
	}
}
