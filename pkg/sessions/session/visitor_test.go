package session_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/sessions/session"
)

// visitor mints a session for an anonymous visitor of an address block.
func (w *world) visitor(at time.Time, mark string) (session.Session, error) {
	s, _, err := w.tryMint(draft(at, func(s *session.Session) { s.Source, s.Visitor = session.FromWidget, mark }), nil)
	return s, err
}

func TestVisitorPlaces(t *testing.T) {
	for places, want := range map[int64]int64{0: 0, 1: 1, 2: 1, 4: 3, 5: 4, 10: 8, 50: 40} {
		require.Equal(t, want, session.VisitorPlaces(places), places)
	}
}

func TestVisitorsLeavePlacesToOthers(t *testing.T) {
	w := newWorld(t)
	w.terms = limited(50)
	take := func(mark string) (taken int) {
		for range 50 {
			_, err := w.visitor(now, mark)
			if err != nil {
				require.ErrorIs(t, err, session.ErrNoPlace)
				return taken
			}
			taken++
		}
		return taken
	}
	require.Equal(t, 20, take("one block"), "a block reserves half of what visitors may have")
	require.Equal(t, 20, take("another"))
	require.Zero(t, take("a third"))
	for range 10 {
		w.mint(now)
	}
	_, _, err := w.tryMint(draft(now), nil)
	require.ErrorIs(t, err, session.ErrNoPlace)
	require.EqualValues(t, 50, w.places())

	// What nobody connects to is free again within seconds; what a key reserved is kept.
	_, err = session.Sweep(t.Context(), w.tenants, "a", after(9))
	require.NoError(t, err)
	require.EqualValues(t, 50, w.places())
	_, err = session.Sweep(t.Context(), w.tenants, "a", after(10))
	require.NoError(t, err)
	require.EqualValues(t, 10, w.places())
	require.Equal(t, 20, take("one block"))
}

// A block whose visitors connect holds no more than one whose visitors do not.
func TestVisitorsOfOneBlockWhoConnect(t *testing.T) {
	w := newWorld(t)
	w.terms = limited(10)
	for i := range 4 {
		s, err := w.visitor(now, "one block")
		require.NoError(t, err, i)
		w.attach(s.ID, w.pod, now)
	}
	_, err := w.visitor(now, "one block")
	require.ErrorIs(t, err, session.ErrNoPlace)
	_, err = w.visitor(now, "another")
	require.NoError(t, err, "others come in")
}
