package knowledge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
)

// A subject that is there in several languages is looked at in the first that is asked for, and
// what is no subject's, in no known language or in none of those asked for is looked at always.
func TestASubjectIsLookedAtInOneLanguage(t *testing.T) {
	both, frenchAlone := id.NewSubject().String(), id.NewSubject().String()
	documents := map[string]*change{}
	v := newVersions()
	add := func(name, language string, tags ...string) {
		documents[name] = &change{Document: id.NewDocument(), Found: true, Tags: tags, Language: language}
		v.put(documents[name])
	}
	add("english", "en", both)
	add("german", "de", both)
	add("unknown", "", both)
	add("french", "fr", frenchAlone)
	add("shared", "de", both, frenchAlone)
	add("guide", "en", "visit")
	left := func(languages ...string) (names []string) {
		without := v.without(languages)
		for name, c := range documents {
			if without != nil && without(c.Document) {
				names = append(names, name)
			}
		}
		return names
	}
	require.ElementsMatch(t, []string{"german"}, left("en"))
	require.ElementsMatch(t, []string{"english", "french"}, left("de", "en"))
	require.Empty(t, left("it"))
	require.Empty(t, left())

	documents["german"].Found = false
	v.put(documents["german"])
	documents["shared"].Found = false
	v.put(documents["shared"])
	require.Empty(t, left("de"), "there is none in German any more")
	require.Empty(t, left("en"))
}
