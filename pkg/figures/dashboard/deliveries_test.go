package dashboard_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/figures/dashboard"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// A delivery is counted once, when it came to an end, in the slot in which it was entered.
func TestDeliveriesAreCountedOnce(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	h := newHistory(t, tenants, org)
	send := func(state string, ms any) id.Delivery {
		d := id.DeliveryAt(h.now)
		e := h.tell(event.UnitCreated, nil)
		h.exec(`
			INSERT INTO delivery (org_id, id, webhook_id, event_id, type, api_version, state, attempts, response_ms, created_at, log)
			VALUES ($1, $2, $3, $4, 'unit.created', '2026-10-01', $5, 1, $6, $7, '[]')`, d, id.NewGap(), e.ID, state, ms, h.now)
		return d
	}
	count := func() {
		t.Helper()
		_, err := dashboard.CountDeliveries(context.Background(), tenants, "a", h.now)
		require.NoError(t, err)
	}
	figures := func() []any {
		t.Helper()
		got := h.tiles(dashboard.Delivery, dashboard.Query{Period: dashboard.Period{From: start, To: start.Add(15 * time.Minute), Granularity: dashboard.Hour, Zone: time.UTC}})
		return []any{*got["deliveries"], *got["failed"]}
	}
	send("delivered", 100)
	send("failed", nil)
	late := send("retrying", nil)
	gone := send("pending", nil)
	h.now = h.now.Add(time.Minute)
	count()
	require.Equal(t, []any{0.0, 0.0}, figures(), "they may come to an end yet")
	h.now = h.now.Add(2 * time.Minute)
	count()
	count()
	require.Equal(t, []any{2.0, 1.0}, figures())
	d, err := dashboard.Find(dashboard.Delivery)
	require.NoError(t, err)
	f, err := dashboard.Read(context.Background(), tenants, org, d, hour, h.now)
	require.NoError(t, err)
	require.Equal(t, h.now, f.FreshTo, "whatever else of the log was counted")
	h.now = h.now.Add(23 * time.Hour)
	h.exec(`UPDATE delivery SET state = 'delivered', response_ms = 900 WHERE org_id = $1 AND id = $2`, late)
	h.exec(`DELETE FROM delivery WHERE org_id = $1 AND id = $2`, gone)
	count()
	count()
	require.Equal(t, []any{3.0, 1.0}, figures())
	h.exec(`UPDATE delivery SET state = 'failed' WHERE org_id = $1 AND id = $2`, late)
	count()
	require.Equal(t, []any{3.0, 1.0}, figures(), "its first end counts")
}

// Nothing waits of who is erased, and an erased candidate is forgotten by the event.
func TestNothingWaitsOfWhoIsErased(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	h := newHistory(t, tenants, org)
	waiting := func() (n int) {
		require.NoError(t, tenants.Read(context.Background(), org, func(r *tenant.Reads) {
			r.QueryRow(new(bool), []any{&n}, `SELECT count(*) FROM dashboard_waiting WHERE org_id = $1`, org)
		}))
		return n
	}
	who, portal, role := id.NewPerson(), id.NewPortal(), id.NewRole()
	h.role([16]byte(role), portal)
	c := id.NewCandidate()
	h.candidate(c, [16]byte(role))
	h.tell(event.CandidateInvited, map[string]any{"candidateId": c})
	h.tell(event.AssignmentCompleted, map[string]any{"portalId": portal, "personId": who})
	h.count()
	require.Equal(t, 2, waiting())
	h.tell(event.CandidateErased, map[string]any{"candidateId": c})
	h.count()
	require.Equal(t, 1, waiting())
	require.NoError(t, tenants.InTx(context.Background(), org, func(ctx context.Context, tx *tenant.Tx) error {
		n, err := dashboard.ForgetPerson(ctx, tx, who)
		require.Equal(t, 1, n)
		return err
	}))
	require.Zero(t, waiting())
	h.exec(`
		INSERT INTO person (org_id, id, name, age_band, state, metadata, edition, created_at, updated_at, erased_at)
		VALUES ($1, $2, '', 'unknown', 'erased', '{}', 1, $3, $3, $3)`, who, h.now)
	h.tell(event.AssignmentCompleted, map[string]any{"portalId": portal, "personId": who})
	h.count()
	require.Zero(t, waiting(), "of what was counted after the erasure neither")
}

// Old figures go, and what is younger stays.
func TestOldFiguresGo(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	h := newHistory(t, tenants, org)
	h.tell(event.KnowledgeGap, nil)
	h.tell(event.AssignmentCompleted, map[string]any{"portalId": id.NewPortal(), "personId": id.NewPerson()})
	h.tell(event.LeadCaptured, map[string]any{"inboxItemId": id.InboxItem(id.NewGap()), "leadBand": "hot"})
	h.count()
	for _, tt := range []struct {
		after time.Duration
		gone  int
	}{{dashboard.Kept / 3, 0}, {dashboard.Kept - time.Hour, 2}, {dashboard.Kept + time.Hour, 2}} {
		n, err := dashboard.Sweep(context.Background(), tenants, "a", start.Add(tt.after))
		require.NoError(t, err)
		require.Equal(t, tt.gone, n, tt.after)
	}
}
