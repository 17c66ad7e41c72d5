package law_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/hiring/law"
)

func TestLawsOfPlaces(t *testing.T) {
	for _, c := range []struct {
		place law.Place
		want  []law.Key
	}{
		{law.Place{City: "New York", Region: "NY", Country: "US"}, []law.Key{law.NYC144}},
		{law.Place{City: "Albany", Region: "NY", Country: "US"}, []law.Key{}},
		{law.Place{City: "Chicago", Region: "illinois ", Country: "US"}, []law.Key{law.ILVideo, law.ILHumanRights}},
		{law.Place{Region: "CO", Country: "US"}, []law.Key{law.Colorado}},
		{law.Place{Region: "CA", Country: "US"}, []law.Key{law.California}},
		{law.Place{Region: "CA", Country: "IT"}, []law.Key{law.EUAct}},
		{law.Place{Country: "GB"}, []law.Key{}},
		{law.Place{}, []law.Key{}},
	} {
		require.Equal(t, c.want, law.At(c.place), "%+v", c.place)
	}
	require.Equal(t, []law.Key{law.EUAct, law.NYC144}, law.Together(law.Place{Country: "DE"}, []law.Key{law.NYC144, law.EUAct}))
	for _, k := range law.Keys() {
		l, known := law.Of(k)
		require.True(t, known)
		require.Equal(t, k, l.Key)
		require.NotEmpty(t, l.Jurisdiction)
	}
}

// Ten business days from the Monday before Thanksgiving: neither that day nor weekends count.
func TestBusinessDaysLeaveOutHolidays(t *testing.T) {
	nyc := law.Place{City: "New York", Region: "NY", Country: "US", Timezone: "America/New_York"}
	told := time.Date(2026, 11, 23, 22, 0, 0, 0, time.UTC)
	require.Equal(t, time.Date(2026, 12, 8, 22, 0, 0, 0, time.UTC), law.After(nyc, told, 10))
	require.Equal(t, time.Date(2026, 12, 7, 22, 0, 0, 0, time.UTC), law.After(law.Place{}, told, 10), "where there is no such day")
	require.Equal(t, told, law.After(nyc, told, 0))
	// Late in the evening it is the next day in UTC already, but not there.
	late := time.Date(2026, 11, 24, 3, 0, 0, 0, time.UTC)
	require.Equal(t, time.Date(2026, 12, 9, 3, 0, 0, 0, time.UTC), law.After(nyc, late, 10))
	require.False(t, law.BusinessDay(nyc, time.Date(2026, 7, 3, 16, 0, 0, 0, time.UTC)), "the fourth is a Saturday: Friday is observed")
	// The clock goes back on the first of November: the hour on the wall stays.
	require.Equal(t, time.Date(2026, 11, 2, 17, 0, 0, 0, time.UTC), law.After(nyc, time.Date(2026, 10, 30, 16, 0, 0, 0, time.UTC), 1))
}

func TestIsCountry(t *testing.T) {
	for letters, is := range map[string]bool{"US": true, "GB": true, "GR": true, "XK": true, "UK": false, "EL": false, "EU": false, "XX": false, "ZZ": false, "us": false, "": false} {
		require.Equal(t, is, law.IsCountry(letters), letters)
	}
}
