package slot_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// No statement looks through all times that are reserved.
func TestTheStatementsRideTheirIndexes(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `
		INSERT INTO slot_reservation (org_id, holder_id, reserved_by, busy_from, busy_to)
		SELECT $1, gen_random_uuid(), gen_random_uuid(), now(), now() FROM generate_series(1, 2000)`, org)
	require.NoError(t, err)
	ada, at := id.NewPerson(), time.Now().UTC()
	in := func(fn func(context.Context, *tenant.Tx) error) func() error {
		return func() error { return tenants.InTx(t.Context(), org, fn) }
	}
	reserve := in(func(ctx context.Context, tx *tenant.Tx) error {
		return slot.ReserveOf(ctx, tx, []id.Person{ada}, at, at.Add(time.Hour), uuid.New(), nil)
	})
	for name, c := range map[string]struct {
		text, index string
		run         func() error
	}{
		"what is reserved around a time": {"SELECT busy_from", "slot_reservation_by_time", reserve},
		"what something has":             {"DELETE FROM slot_reservation", "slot_reservation_by_reserver", in(func(ctx context.Context, tx *tenant.Tx) error { return slot.Free(ctx, tx, uuid.New(), at) })},
		"the schedules": {"FROM schedule WHERE", "schedule_pkey", func() error {
			_, err := slot.List(t.Context(), tenants, org, id.Schedule{}, 10)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, statement := range sent.Of(t, c.text, c.run) {
				plan := statement.Forced(t, db)
				require.Contains(t, plan, c.index, statement.SQL)
				require.NotRegexp(t, `Seq Scan on s`, plan, statement.SQL)
			}
		})
	}
}
