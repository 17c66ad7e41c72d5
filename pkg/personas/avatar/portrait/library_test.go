package portrait_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/avatar/portrait"
)

func TestLibraryCoversEveryHeritageAndAge(t *testing.T) {
	heritages, bands, genders := map[string]int{}, map[string]int{}, map[string]int{}
	pairs := map[string]int{}
	for _, face := range portrait.Library() {
		heritages[face.Heritage]++
		bands[face.AgeBand]++
		genders[face.Gender]++
		pairs[face.Heritage+" "+face.Gender]++
	}
	known := []string{"white", "black", "indian", "chinese", "korean", "japanese", "thai", "hispanic", "middleeastern", "mixed"}
	require.Len(t, heritages, len(known))
	for _, heritage := range known {
		require.GreaterOrEqual(t, heritages[heritage], 3, heritage)
		require.Positive(t, pairs[heritage+" female"], heritage)
		require.Positive(t, pairs[heritage+" male"], heritage)
	}
	require.Len(t, bands, 5)
	for _, band := range []string{"20s", "30s", "40s", "50s", "60s"} {
		require.GreaterOrEqual(t, bands[band], 5, band)
	}
	require.Len(t, genders, 2)
	require.InDelta(t, genders["female"], genders["male"], 2)
}

func TestKeysAndNamesAreUnique(t *testing.T) {
	lower := regexp.MustCompile(`^[a-z]+$`)
	keys, names, seeds := map[string]bool{}, map[string]bool{}, map[uint64]bool{}
	for _, face := range portrait.Library() {
		require.Regexp(t, lower, face.Key)
		require.Equal(t, face.Key, strings.ToLower(face.Name))
		require.False(t, keys[face.Key], "key %s is used twice", face.Key)
		require.False(t, names[face.Name], "name %s is used twice", face.Name)
		require.False(t, seeds[face.Look.Seed], "the seed of %s is used twice", face.Key)
		keys[face.Key], names[face.Name], seeds[face.Look.Seed] = true, true, true
	}
}

func TestYearsMatchTheAgeBand(t *testing.T) {
	for _, face := range portrait.Library() {
		decade, err := strconv.Atoi(strings.TrimSuffix(face.AgeBand, "s"))
		require.NoError(t, err, face.Key)
		require.Equal(t, decade, face.Look.Years/10*10, face.Key)
	}
}

func TestOlderFacesAreGrey(t *testing.T) {
	for _, face := range portrait.Library() {
		if face.AgeBand == "60s" {
			require.Greater(t, face.Look.Hair.Grey, 0.5, face.Key)
		}
		if face.AgeBand == "20s" {
			require.Zero(t, face.Look.Hair.Grey, face.Key)
		}
	}
}

func TestLibraryHasAFixedOrderAndIsACopy(t *testing.T) {
	first := portrait.Library()
	key := first[0].Key
	first[0].Key = "changed"
	second := portrait.Library()
	require.Equal(t, key, second[0].Key)
	require.True(t, slices.Equal(first[1:], second[1:]))
}
