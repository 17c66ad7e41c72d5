package session_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// inRoom makes a session one over a media server.
func inRoom(s *session.Session) { s.Transport, s.Media = session.LiveKit, id.Connection{7} }

// claims takes the rooms that are due at a moment.
func (w *world) claims(at time.Time) []session.Claim {
	w.t.Helper()
	claims, err := session.ClaimRooms(context.Background(), w.tenants, "a", at, 100)
	require.NoError(w.t, err)
	return claims
}

func TestARoomIsClaimed(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	w.mint(now)
	require.Empty(t, w.claims(now), "a session over a socket has none")
	s, _ := w.mint(now, inRoom)
	first := w.claims(now)
	require.Len(t, first, 1)
	require.Equal(t, []any{w.one, s.ID}, []any{first[0].Org, first[0].Session})
	require.Empty(t, w.claims(after(9)), "it is the claimer's")
	require.NoError(t, first[0].Keep(ctx, w.tenants, after(9)))
	require.Empty(t, w.claims(after(15)))

	// A silent one loses it, and holds nothing any more.
	second := w.claims(after(20))
	require.Len(t, second, 1)
	hold := func(c session.Claim) error {
		return w.inTx(func(ctx context.Context, tx *tenant.Tx) error { return c.Hold(ctx, tx) })
	}
	require.ErrorIs(t, first[0].Keep(ctx, w.tenants, after(20)), session.ErrLost)
	require.ErrorIs(t, hold(first[0]), session.ErrLost)
	require.NoError(t, hold(second[0]))
	require.NoError(t, second[0].Drop(ctx, w.tenants, after(21)))
	third := w.claims(after(21))
	require.Len(t, third, 1, "at once")

	// From when it is live it is its owner's.
	a := w.attach(s.ID, w.pod, after(22))
	require.Empty(t, w.claims(after(1000)))
	require.ErrorIs(t, third[0].Keep(ctx, w.tenants, after(23)), session.ErrLost)
	require.ErrorIs(t, hold(third[0]), session.ErrLost)
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		return session.Release(ctx, tx, s.ID, a.Session.Epoch, after(30))
	})
	require.Len(t, w.claims(after(30)), 1, "until that gives it back")
	w.end(s.ID, session.EndedByAPI, after(31))
	require.Empty(t, w.claims(after(1000)), "and once it is over, nobody's")
}

// While an organization is being copied elsewhere its visitors come as ever, and the copy
// learns of it.
func TestARoomIsClaimedDuringAMove(t *testing.T) {
	w := newWorld(t)
	s, _ := w.mint(now, inRoom)
	w.exec(`UPDATE org_fence SET state = 'capture' WHERE org_id = $1`, w.one)
	require.Len(t, w.claims(now), 1)
	require.EqualValues(t, 1, w.count(`SELECT count(*) FROM move_dirty WHERE org_id = $1 AND table_name = 'session' AND pk = $2`, w.one, s.ID.String()))
	w.exec(`UPDATE org_fence SET state = 'fenced' WHERE org_id = $1`, w.one)
	require.Empty(t, w.claims(after(1000)))
}

// However many look at the same time, each room is claimed once.
func TestRoomsAreClaimedOnce(t *testing.T) {
	w := newWorld(t)
	for range 20 {
		w.mint(now, inRoom)
	}
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		seen  = map[id.Session]int{}
	)
	for range 4 {
		group.Go(func() {
			for range 10 {
				claims, err := session.ClaimRooms(context.Background(), w.tenants, "a", now, 3)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for _, c := range claims {
					seen[c.Session]++
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	require.Len(t, seen, 20)
	for which, n := range seen {
		require.Equal(t, 1, n, which)
	}
}

// A session's connection is used until it is over.
func TestASessionUsesItsConnection(t *testing.T) {
	w := newWorld(t)
	offer, _ := connection.FindOffer(connection.Media, connection.LiveKit)
	c := connection.New(offer, "media", connection.Config{"url": "wss://m.example", "apiKey": "k"}, "", now)
	s := draft(now, func(s *session.Session) { s.Transport, s.Media = session.LiveKit, c.ID })
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		if err := connection.Create(ctx, tx, nil, c, "", activity.Actor{By: "test", At: c.CreatedAt}); err != nil {
			return err
		}
		if err := connection.SetUses(ctx, tx, connection.BySession(s.ID), c.ID); err != nil {
			return err
		}
		_, err := session.Mint(ctx, tx, s, w.terms, session.Daily{})
		return err
	})
	remove := func() error {
		return w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			return connection.Delete(ctx, tx, c.ID, id.Connection{}, activity.Actor{By: "test", At: now})
		})
	}
	require.ErrorIs(t, remove(), connection.Noun.InUse(c.ID, ""))
	_, err := session.Sweep(context.Background(), w.tenants, "a", after(61))
	require.NoError(t, err)
	require.Equal(t, session.Expired, w.get(s.ID).State)
	require.NoError(t, remove())
}
