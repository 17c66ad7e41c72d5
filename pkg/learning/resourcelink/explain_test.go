package resourcelink_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/resourcelink"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// Each statement rides the index its function names, among many links.
func TestStatementsRideTheirIndexes(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	connections, people := make([]id.Connection, 20), make([]id.Person, 500)
	for i := range connections {
		connections[i] = id.NewConnection()
	}
	for i := range people {
		people[i] = id.NewPerson()
	}
	about := id.NewSubject()
	_, err = db.Exec(t.Context(), `
		INSERT INTO resource_link (org_id, person_id, subject_id, id, connection_id, issuer, client_id, deployment_id, user_id, line_item,
			edition, told, trouble, changed_at, created_at)
		SELECT $1, ($2::UUID[])[1 + i % 500], CASE WHEN i < 500 THEN $4 ELSE gen_random_uuid() END, gen_random_uuid(), ($3::UUID[])[1 + i % 20],
			'', '', '', i::TEXT, '', CASE i % 100 WHEN 0 THEN 2 ELSE 1 END, 1, '', now(), now()
		FROM generate_series(1, 10000) AS g (i)`, org, people, connections, about)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `ANALYZE resource_link`)
	require.NoError(t, err)
	who, now := people[1], time.Now().UTC()
	in := func(fn func(context.Context, *tenant.Tx) error) func(context.Context) error {
		return func(ctx context.Context) error { return tenants.InTx(ctx, org, fn) }
	}
	link := resourcelink.Link{Key: resourcelink.Key{Person: who, Subject: about}, Connection: connections[0], LineItem: "https://moodle.example.com/1"}
	for name, tt := range map[string]struct {
		text, index string
		do          func(context.Context) error
	}{
		"the others of somebody": {"SELECT count(*) FROM resource_link", "resource_link_pkey", in(func(ctx context.Context, tx *tenant.Tx) error {
			return resourcelink.Keep(ctx, tx, link, now)
		})},
		"of somebody's results": {"SET edition = edition + 1", "resource_link_pkey", in(func(ctx context.Context, tx *tenant.Tx) error {
			return resourcelink.Follow(ctx, tx, who, about, now)
		})},
		"one": {"AND id = $4", "resource_link_pkey", func(ctx context.Context) error {
			_, err := resourcelink.Get(ctx, tenants, org, resourcelink.Key{Person: who, Subject: about})
			if errdefs.IsNotFound(err, resourcelink.Noun) {
				return nil
			}
			return err
		}},
		"told": {"SET told = $5", "resource_link_pkey", in(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := resourcelink.Tell(ctx, tx, link)
			return err
		})},
		"stopped": {"SET trouble = $6", "resource_link_pkey", in(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := resourcelink.Stop(ctx, tx, link, "x")
			return err
		})},
		"untold": {"ORDER BY changed_at DESC", "resource_link_untold", func(ctx context.Context) error {
			found, err := resourcelink.Untold(ctx, tenants, org, connections[0])
			if err == nil && len(found) == 0 {
				return context.Canceled
			}
			return err
		}},
		"of who is erased": {"DELETE FROM resource_link", "resource_link_pkey", in(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := resourcelink.ForgetPerson(ctx, tx, id.NewPerson())
			return err
		})},
		"of a deleted connection": {"DELETE FROM resource_link", "resource_link_by_connection", in(func(ctx context.Context, tx *tenant.Tx) error {
			return resourcelink.ForgetConnection(ctx, tx, id.NewConnection())
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
