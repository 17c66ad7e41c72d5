package apikey_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/apikey"
)

func TestOnlyTheHashIsStored(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	s := w.insert(t, w.key())
	w.requireOpens(t, s)
	for _, table := range []string{"api_key", "api_key_secret", "organization"} {
		rows, _ := w.DB.Query(ctx, `SELECT r::TEXT FROM `+table+` r`)
		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.NotEmpty(t, texts)
		random := string(s[len("vsk_live_") : len(s)-6])
		for _, text := range texts {
			require.NotContains(t, text, random)
			require.NotContains(t, text, fmt.Sprintf("%x", random))
		}
	}
}

func TestRevocationIsSeenWithinASecond(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	k := w.key()
	s := w.insert(t, k)
	w.requireOpens(t, s)
	require.NoError(t, w.Revoke(ctx, w.org, k.ID, now))
	w.requireOpens(t, s)
	w.clock.Step(time.Second)
	w.requireRefused(t, s)

	// The first moment stays.
	require.NoError(t, w.Revoke(ctx, w.org, k.ID, now.Add(time.Hour)))
	k, err := w.Get(ctx, w.org, k.ID)
	require.NoError(t, err)
	require.True(t, k.RevokedAt.Equal(now))
}

func TestRotation(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	k := w.key()
	old := w.insert(t, k)
	w.requireOpens(t, old)
	w.clock.Step(time.Minute)
	fresh := apikey.NewSecret(apikey.Live)
	at, until := w.clock.Now(), w.clock.Now().Add(time.Hour)
	for range 2 { // a repeat is harmless
		require.NoError(t, w.Rotate(ctx, w.org, k.ID, fresh.Hash(), fresh.Last4(), at, until))
	}
	w.clock.Step(time.Second)
	w.requireOpens(t, old)
	w.requireOpens(t, fresh)
	w.clock.SetTime(until.Add(-1))
	w.requireOpens(t, old)
	w.clock.SetTime(until)
	w.requireRefused(t, old) // by the clock, whatever the cache holds
	w.requireOpens(t, fresh)
	k, err := w.Get(ctx, w.org, k.ID)
	require.NoError(t, err)
	require.Equal(t, fresh.Last4(), k.Last4)
}

func TestExpiredKey(t *testing.T) {
	w := newWorld(t)
	k := w.key()
	expires := now.Add(500 * time.Millisecond)
	k.ExpiresAt = &expires
	s := w.insert(t, k)
	w.requireOpens(t, s)
	w.clock.Step(500 * time.Millisecond)
	w.requireRefused(t, s)
}

func TestUnknownSecret(t *testing.T) {
	w := newWorld(t)
	s := apikey.NewSecret(apikey.Live)
	w.requireRefused(t, s)
	require.Equal(t, 1, w.Known(), "a no is remembered")
	w.requireRefused(t, "vsk_live_nonsense")
	require.Equal(t, 1, w.Known(), "nonsense does not reach the database")

	require.NoError(t, w.Insert(context.Background(), w.key(), s.Hash()))
	w.requireRefused(t, s)
	w.clock.Step(time.Second)
	w.requireOpens(t, s)
}

func TestOutage(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	s, unseen := w.insert(t, w.key()), w.insert(t, w.key())
	w.requireOpens(t, s)
	// Every statement now ends as one that ran out of time.
	_, err := w.DB.Exec(ctx, `ALTER TABLE api_key_secret RENAME TO hidden`)
	require.NoError(t, err)
	_, err = w.DB.Exec(ctx, `
		CREATE FUNCTION away() RETURNS BYTEA LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION SQLSTATE '57P03'; END $$;
		CREATE VIEW api_key_secret AS SELECT away() AS hash, key_id, created_at, expires_at FROM hidden`)
	require.NoError(t, err)
	_, err = w.Authenticate(ctx, string(unseen))
	require.Error(t, err)
	require.NotErrorIs(t, err, apikey.ErrUnauthorized, "an outage is not a no")

	w.clock.Step(5*time.Minute - time.Second)
	w.requireOpens(t, s)
	w.clock.Step(time.Second)
	_, err = w.Authenticate(ctx, string(s))
	require.Error(t, err)
	require.NotErrorIs(t, err, apikey.ErrUnauthorized)
}

func TestUseIsNoted(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	k := w.key()
	s := w.insert(t, k)
	w.Start()
	require.Eventually(t, w.clock.HasWaiters, 20*time.Second, time.Millisecond)
	lastUsed := func() *time.Time {
		k, err := w.Get(ctx, w.org, k.ID)
		require.NoError(t, err)
		return k.LastUsedAt
	}
	w.requireOpens(t, s)
	require.Nil(t, lastUsed())
	w.clock.Step(30 * time.Second)
	require.Eventually(t, func() bool { return lastUsed() != nil }, 20*time.Second, 5*time.Millisecond)
	require.True(t, lastUsed().Equal(now))

	w.requireOpens(t, s)
	w.Stop()
	require.True(t, lastUsed().Equal(now.Add(30*time.Second)), "what is left is written at the end")
	require.NoError(t, w.NoteUse(ctx, []id.Key{k.ID}, []time.Time{now}))
	require.True(t, lastUsed().Equal(now.Add(30*time.Second)), "an earlier use never replaces a later one")
}

func TestAllowedFrom(t *testing.T) {
	for name, tt := range map[string]struct {
		ranges []string
		want   bool
	}{
		"anywhere": {nil, true}, "inside": {[]string{"10.0.0.0/8", "192.0.2.0/24"}, true},
		"outside": {[]string{"10.0.0.0/8"}, false}, "nonsense": {[]string{"nonsense"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			k := apikey.Key{AllowedAddresses: tt.ranges}
			require.Equal(t, tt.want, k.AllowedFrom(netip.MustParseAddr("192.0.2.1")))
		})
	}
}

func TestListPages(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	var want []id.Key
	for i := range 5 {
		k := w.key()
		k.CreatedAt = now.Add(time.Duration(i/2) * time.Second)
		w.insert(t, k)
		want = append([]id.Key{k.ID}, want...)
	}
	var (
		got   []id.Key
		after *apikey.Position
	)
	for range want {
		page, err := w.List(ctx, w.org, after, 1)
		require.NoError(t, err)
		require.Len(t, page, 1)
		got, after = append(got, page[0].ID), &apikey.Position{CreatedAt: page[0].CreatedAt, ID: page[0].ID}
	}
	require.Equal(t, want, got)
	none, err := w.List(ctx, id.NewOrg(), nil, 10)
	require.NoError(t, err)
	require.Empty(t, none)
	_, err = w.Get(ctx, id.NewOrg(), want[0])
	require.ErrorIs(t, err, apikey.ErrUnknown)
}
