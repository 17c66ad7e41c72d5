package id_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/id"
)

func TestTheTimeOfAnIdentifier(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		us := rapid.Int64Range(0, 1<<57/1000)
		a, b := time.UnixMicro(us.Draw(t, "a")).UTC(), time.UnixMicro(us.Draw(t, "b")).UTC()
		one, two := id.EventAt(a), id.EventAt(b)
		require.Equal(t, a, one.Time())
		require.EqualValues(t, 7, uuid.UUID(one).Version())
		require.Equal(t, uuid.RFC4122, uuid.UUID(one).Variant())
		if !a.Equal(b) {
			require.Equal(t, a.Compare(b), bytes.Compare(one[:], two[:]), "they sort by their moments")
		}
		first := id.FirstEvent(a)
		require.LessOrEqual(t, bytes.Compare(first[:], one[:]), 0)
		later := id.FirstEvent(a.Add(time.Microsecond))
		require.Positive(t, bytes.Compare(later[:], one[:]))
		next := one.Next()
		require.Positive(t, bytes.Compare(next[:], one[:]))
	})
}

func TestNextCarries(t *testing.T) {
	i := id.Event{14: 0x01, 15: 0xff}
	require.Equal(t, id.Event{14: 0x02}, i.Next())
}

func TestMomentsBeforeTheFirst(t *testing.T) {
	require.Equal(t, time.Unix(0, 0).UTC(), id.EventAt(time.Unix(-5, 0)).Time())
	require.False(t, id.FirstEvent(time.Time{}).IsZero(), "a bound is not null")
}

func TestNamesOfAMoment(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	one := id.PortalNamedAt(at, "a")
	require.Equal(t, one, id.PortalNamedAt(at, "a"))
	require.Equal(t, at, one.Time())
	require.EqualValues(t, 7, uuid.UUID(one).Version())
	require.Equal(t, uuid.RFC4122, uuid.UUID(one).Variant())
	require.NotEqual(t, one, id.PortalNamedAt(at, "b"))
	require.NotEqual(t, uuid.UUID(one), uuid.UUID(id.OrgNamedAt(at, "a")), "of another kind")
}
