package rate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/rate"
)

func TestSpecRates(t *testing.T) {
	require.Equal(t, rate.Rates{
		"read": {600, 1200}, "write": {120, 240}, "live": {30, 60}, "heavy": {20, 40}, "search": {120, 240},
	}, rate.SpecRates())
	require.Equal(t, 600, rate.SpecPerAddress)
	require.Len(t, rate.Classes(), len(rate.SpecRates()))
	for _, c := range rate.Classes() {
		require.Contains(t, rate.SpecRates(), c)
	}
}

func TestParseRates(t *testing.T) {
	for text, want := range map[string]rate.Rates{
		"":                                {},
		" , ":                             {},
		"read=1/2":                        {rate.Read: {1, 2}},
		" read=1/2 , write=30/40,":        {rate.Read: {1, 2}, rate.Write: {30, 40}},
		"heavy=5/5,live=6/6,search=7/7":   {rate.Heavy: {5, 5}, rate.Live: {6, 6}, rate.Search: {7, 7}},
		"read=1/2,read=3/4":               {rate.Read: {3, 4}},
		"read=9000000000000000000/100000": {rate.Read: {9_000_000_000_000_000_000, 100_000}},
	} {
		got, err := rate.ParseRates(text)
		require.NoError(t, err, "%q", text)
		require.Equal(t, want, got, "%q", text)
	}
}

func TestParseRatesRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"cats=1/2":                      `"cats"`,
		"=1/2":                          "class",
		"Read=1/2":                      `"Read"`,
		"read":                          "PER_KEY",
		"read=":                         "PER_KEY",
		"read=1":                        "PER_KEY",
		"read=1/":                       "PER_KEY",
		"read=/2":                       "PER_KEY",
		"read=0/2":                      "from 1",
		"read=1/0":                      "from 1",
		"read=-1/2":                     "from 1",
		"read=1.5/2":                    "whole",
		"read=1/2/3":                    "PER_KEY",
		"read=1/2,write":                "write",
		"read=99999999999999999999/100": "whole",
	} {
		_, err := rate.ParseRates(text)
		require.ErrorContains(t, err, says, "%q", text)
	}
}

func TestWith(t *testing.T) {
	base := rate.Rates{rate.Read: {1, 2}, rate.Write: {3, 4}}
	other := rate.Rates{rate.Write: {5, 6}, rate.Live: {7, 8}}
	require.Equal(t, rate.Rates{rate.Read: {1, 2}, rate.Write: {5, 6}, rate.Live: {7, 8}}, base.With(other))
	require.Equal(t, rate.Rates{rate.Read: {1, 2}, rate.Write: {3, 4}}, base, "the base stays")
	require.Equal(t, base, base.With(nil))
	require.Equal(t, other, rate.Rates(nil).With(other))
	base.With(nil)[rate.Read] = rate.Rate{}
	require.Equal(t, rate.Rate{PerKey: 1, PerOrganization: 2}, base[rate.Read], "a copy")
}
