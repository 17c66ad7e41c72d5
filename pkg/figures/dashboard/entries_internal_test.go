package dashboard

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/eventing/event"
)

// Every type of the catalogue can be read, also by a version that counts more of them.
func TestEveryTypeCanBeRead(t *testing.T) {
	t.Parallel()
	counts := 0
	for _, k := range event.Kinds() {
		structure, err := json.Marshal(k.Example(contract.V20261001)["data"])
		require.NoError(t, err)
		_, err = entryOf(event.Event{Type: k.Type, Structure: structure})
		require.NoError(t, err, k.Type)
		if isCounted(k.Type) {
			counts++
		}
	}
	require.Len(t, countedTypes, counts, "all of them are in the catalogue")
}
