package api_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
)

// wholeSeconds ends a moment in a body that names no part of a second.
var wholeSeconds = regexp.MustCompile(`("\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)"`)

// A moment that is sent to the nanosecond is answered as it will be read again.
func TestMomentsThatAreSent(t *testing.T) {
	w := apitest.NewWorld(t)
	sent := 0
	w.Each(t, func(t *testing.T, o *route.Operation) {
		body, err := json.Marshal(w.Body(t, o))
		require.NoError(t, err)
		finer := wholeSeconds.ReplaceAll(body, []byte(`$1.123456789$2"`))
		if string(finer) == string(body) {
			return
		}
		sent++
		answer := w.Call(t, o, apitest.Request{Path: freshPath(t, w, o, w.Acme), Body: finer, Key: w.Acme.New})
		require.Less(t, answer.Status, 300, "%s", answer.Raw)
		apitest.CheckMoments(t, answer)
	})
	require.Greater(t, sent, 10)
}
