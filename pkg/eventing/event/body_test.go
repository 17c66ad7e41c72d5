package event_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
)

// Words stand in a body as somebody wrote them, in every contract.
func TestBodiesAreWrittenAsTheyAreRead(t *testing.T) {
	e := event.Event{Type: event.UnitRenamed, Org: id.NewOrg(), At: time.Now()}
	rendered := event.Rendered{Data: json.RawMessage(`{"name":"R&D <north>","unitId":"unit_1"}`)}
	for _, v := range contract.Versions() {
		body, err := event.Body(v, e, rendered)
		require.NoError(t, err)
		require.Contains(t, string(body), `"R&D <north>"`, string(v))
		require.True(t, json.Valid(body))
		require.NotEqual(t, byte('\n'), body[len(body)-1])
	}
}
