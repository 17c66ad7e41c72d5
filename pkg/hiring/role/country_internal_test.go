package role

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/hiring/law"
)

// A role that was kept before countries were looked at stays as it is and can be ended; it opens nowhere that is no country.
func TestAMistakenCountryThatWasKept(t *testing.T) {
	at := func(country string, state State) *Role {
		r := &Role{State: state}
		r.Location = law.Place{Country: country}
		return r
	}
	for name, c := range map[string]struct {
		from, to *Role
		ok       bool
	}{
		"closed":             {at("UK", Open), at("UK", Closed), true},
		"paused":             {at("UK", Open), at("UK", Paused), true},
		"changed while open": {at("UK", Open), at("UK", Open), true},
		"opened":             {at("UK", Paused), at("UK", Open), false},
		"opened, mended":     {at("UK", Paused), at("GB", Open), true},
		"given another":      {at("UK", Paused), at("XX", Paused), false},
		"a draft given one":  {at("", Draft), at("UK", Draft), false},
		"a draft without":    {at("GB", Draft), at("", Draft), true},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.from.checkMove(c.to)
			if c.ok {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, "location.country")
			}
		})
	}
}
