package event

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFieldBranches(t *testing.T) {
	require.Equal(t, []fieldBranch{
		{name: "a"},
		{name: "b", below: []string{"c", "d[].e"}},
		{name: "f", list: true, below: []string{"g", "h"}},
		{name: "i", list: true},
	}, fieldBranches([]string{"a", "b.c", "f[].g", "b.d[].e", "f[].h", "i[]"}))
}

// What is spelled of a field is spelled of one that exists.
func TestNamedFieldsExist(t *testing.T) {
	var used []string
	for _, k := range Kinds() {
		var structure []string
		for _, b := range fieldBranches(k.Fields.Structure) {
			structure = append(structure, b.name)
		}
		require.Subset(t, structure, slices.Collect(maps.Keys(k.values)), k.Type)
		for _, c := range k.Fields.classes() {
			for _, b := range fieldBranches(c.paths) {
				used = append(used, b.name)
				for _, inner := range fieldBranches(b.below) {
					used = append(used, inner.name)
				}
			}
		}
	}
	require.Subset(t, used, slices.Collect(maps.Keys(namedTypes)))
}
