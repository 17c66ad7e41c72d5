package event

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// catalogue is every type, in the spec's order (Event types).
var catalogue = complete(slices.Concat(
	sessionKinds, resultKinds, hiringKinds, recordKinds, inboxKinds, peopleKinds, portalKinds))

var catalogueByType = byType(catalogue)

// complete works out what a Kind keeps ready, and makes no list nil.
func complete(kinds []*Kind) []*Kind {
	for _, k := range kinds {
		k.structure = make(map[string]any, len(k.Fields.Structure))
		for _, b := range fieldBranches(k.Fields.Structure) {
			k.structure[b.name] = nil
		}
		k.schema = sync.OnceValue(k.dataSchema)
		for _, paths := range []*[]string{&k.Fields.Contact, &k.Fields.Result, &k.Fields.Conversation} {
			if *paths == nil {
				*paths = []string{}
			}
		}
	}
	return kinds
}

func byType(kinds []*Kind) map[Type]*Kind {
	m := make(map[Type]*Kind, len(kinds))
	for _, k := range kinds {
		if m[k.Type] != nil {
			panic(fmt.Sprintf("the catalogue has %s twice", k.Type))
		}
		m[k.Type] = k
	}
	return m
}

// fieldValues are the values that fields of few values hold, by name. Later
// contracts may add to them.
type fieldValues map[string][]string

// words splits a line of the catalogue.
func words(line string) []string { return strings.Fields(line) }
