package idempotency_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/idempotency"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

type world struct {
	*idempotency.Store
	tenants *tenant.Tenants
	clock   *clocktest.FakeClock
	request idempotency.Request
	two     id.Org
	// erased is of whom no answer may tell; empty for nobody.
	erased string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{clock: clocktest.NewFakeClock(now)}
	var one id.Org
	w.tenants, one, w.two = tenanttest.New(t)
	w.Store = idempotency.New(w.tenants, w.clock, func(_ context.Context, _ *tenant.Tx, answer []byte) (bool, error) {
		return w.erased != "" && strings.Contains(string(answer), w.erased), nil
	})
	w.request = idempotency.Request{
		Org: one, Key: id.NewKey(), Method: "POST", Path: "/v1/keys", ClientKey: "once", Body: []byte(`{"name":"a"}`),
	}
	return w
}

func (w *world) claim(t *testing.T, r idempotency.Request) *idempotency.Claim {
	t.Helper()
	c, err := w.Claim(context.Background(), r)
	require.NoError(t, err)
	return c
}

func (w *world) refused(r idempotency.Request) error {
	_, err := w.Claim(context.Background(), r)
	return err
}

var made = idempotency.Answer{Status: 201, Body: []byte(`{"secret":"vsk_live_swordfish"}`)}

func (w *world) complete(c *idempotency.Claim) error {
	return w.tenants.InTx(context.Background(), w.request.Org, func(ctx context.Context, tx *tenant.Tx) error {
		return c.Complete(ctx, tx, made)
	})
}

func (w *world) recheck(c *idempotency.Claim) error {
	return w.tenants.InTx(context.Background(), w.request.Org, func(ctx context.Context, tx *tenant.Tx) error {
		return c.Recheck(ctx, tx)
	})
}

func requireDone(t *testing.T, err error) {
	t.Helper()
	var done *idempotency.Done
	require.ErrorAs(t, err, &done)
	require.Equal(t, made, done.Answer)
}

func TestAnswerIsReplayed(t *testing.T) {
	w := newWorld(t)
	c := w.claim(t, w.request)
	require.ErrorIs(t, w.refused(w.request), idempotency.ErrInProgress)
	require.NoError(t, w.complete(c))
	requireDone(t, w.refused(w.request))
	require.ErrorIs(t, w.complete(c), idempotency.ErrInProgress, "completed already")
	require.NoError(t, c.Release(context.Background()))
	requireDone(t, w.refused(w.request))

	other := w.request
	other.Body = []byte(`{"name":"b"}`)
	require.ErrorIs(t, w.refused(other), idempotency.ErrConflict)
	for name, change := range map[string]func(*idempotency.Request){
		"client key":   func(r *idempotency.Request) { r.ClientKey = "twice" },
		"key":          func(r *idempotency.Request) { r.Key = id.NewKey() },
		"path":         func(r *idempotency.Request) { r.Path += "/x" },
		"method":       func(r *idempotency.Request) { r.Method = "PATCH" },
		"organization": func(r *idempotency.Request) { r.Org = w.two },
	} {
		t.Run("another "+name, func(t *testing.T) {
			r := w.request
			change(&r)
			w.claim(t, r)
		})
	}
}

func TestReleasedClaimIsFree(t *testing.T) {
	w := newWorld(t)
	first := w.claim(t, w.request)
	require.NoError(t, first.Release(context.Background()))
	other := w.request
	other.Body = []byte("other")
	second := w.claim(t, other)
	require.NoError(t, first.Release(context.Background()), "not its own any more")
	require.ErrorIs(t, w.complete(first), idempotency.ErrInProgress)
	require.NoError(t, w.complete(second))
}

func TestLapsedClaimIsTakenOver(t *testing.T) {
	w := newWorld(t)
	first := w.claim(t, w.request)
	w.clock.Step(time.Minute - time.Second)
	require.ErrorIs(t, w.refused(w.request), idempotency.ErrInProgress)
	w.clock.Step(time.Second)
	other := w.request
	other.Body = []byte("other")
	require.ErrorIs(t, w.refused(other), idempotency.ErrConflict, "the key stays that of its request")

	second := w.claim(t, w.request)
	require.ErrorIs(t, w.complete(first), idempotency.ErrInProgress)
	require.NoError(t, first.Release(context.Background()))
	require.NoError(t, w.complete(second))
	requireDone(t, w.refused(w.request))
	require.NoError(t, w.recheck(first), "the answer is not its own")
}

func TestLateHolderCompletesWhatNobodyTook(t *testing.T) {
	w := newWorld(t)
	c := w.claim(t, w.request)
	w.clock.Step(time.Hour)
	require.NoError(t, w.complete(c))
	requireDone(t, w.refused(w.request))
}

func TestAnswerIsForgottenAfterADay(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	require.NoError(t, w.complete(w.claim(t, w.request)))
	w.clock.Step(24*time.Hour - time.Second)
	requireDone(t, w.refused(w.request))
	n, err := idempotency.Sweep(ctx, w.tenants, "a", w.clock.Now())
	require.NoError(t, err)
	require.Zero(t, n)

	w.clock.Step(time.Second)
	other := w.request
	other.Body = []byte("other")
	w.claim(t, other) // expired, though not swept
	w.clock.Step(24 * time.Hour)
	n, err = idempotency.Sweep(ctx, w.tenants, "a", w.clock.Now())
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

func TestSealedAnswer(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	w.request.Seal = []byte("the caller's secret")
	require.NoError(t, w.complete(w.claim(t, w.request)))
	requireDone(t, w.refused(w.request))

	db, err := w.tenants.Shard(ctx, "a")
	require.NoError(t, err)
	var stored []byte
	require.NoError(t, db.QueryRow(ctx, `SELECT answer FROM idempotency_record`).Scan(&stored))
	require.NotEmpty(t, stored)
	require.NotContains(t, string(stored), "swordfish")
	require.NotContains(t, string(stored), "secret")

	rotated := w.request
	rotated.Seal = []byte("another secret")
	require.ErrorIs(t, w.refused(rotated), idempotency.ErrConflict)
}

func TestRecheck(t *testing.T) {
	w := newWorld(t)
	c := w.claim(t, w.request)
	require.NoError(t, w.recheck(c), "nothing was committed")
	require.NoError(t, w.complete(c))
	requireDone(t, w.recheck(c))
	w.clock.Step(25 * time.Hour)
	_, err := idempotency.Sweep(context.Background(), w.tenants, "a", w.clock.Now())
	require.NoError(t, err)
	require.ErrorIs(t, w.recheck(c), idempotency.ErrInProgress)
}

func TestEffectOfALateHolderIsUndone(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	first := w.claim(t, w.request)
	w.clock.Step(time.Minute)
	second := w.claim(t, w.request)
	effect := func(c *idempotency.Claim) error {
		return w.tenants.InTx(ctx, w.request.Org, func(ctx context.Context, tx *tenant.Tx) error {
			if _, err := tx.Increment(ctx, "effects", 0, false); err != nil {
				return err
			}
			return c.Complete(ctx, tx, made)
		})
	}
	require.NoError(t, effect(second))
	require.ErrorIs(t, effect(first), idempotency.ErrInProgress)
	var (
		n     int64
		found bool
	)
	require.NoError(t, w.tenants.Read(ctx, w.request.Org, func(r *tenant.Reads) {
		r.QueryRow(&found, []any{&n}, `SELECT value FROM org_counter WHERE org_id = $1`, w.request.Org)
	}))
	require.EqualValues(t, 1, n)
}

// From the moment somebody is erased no answer that tells of them is repeated, whether or
// not the records were searched yet.
func TestNobodyIsToldOfTheErased(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.complete(w.claim(t, w.request)))
	requireDone(t, w.refused(w.request))
	w.erased = "swordfish"
	require.ErrorIs(t, w.refused(w.request), idempotency.ErrErased)
}
