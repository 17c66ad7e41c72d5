package law_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/hiring/law"
)

func TestNewYorkCityByItsBoroughs(t *testing.T) {
	t.Parallel()
	for _, city := range []string{"Brooklyn", "The Bronx", "Staten Island", "New York, NY", " queens "} {
		require.Equal(t, []law.Key{law.NYC144}, law.At(law.Place{City: city, Region: "US-NY", Country: "US"}), city)
	}
	require.Empty(t, law.At(law.Place{City: "Albany", Region: "NY", Country: "US"}))
}
