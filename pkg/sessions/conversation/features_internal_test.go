package conversation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/text/answer"
)

// A sentence of the form that is asked for needs less to be said, but not one of another day, row,
// date or age, nor a name, which any two capitals may seem to be.
func TestWhatASentenceNeedsToBeSaid(t *testing.T) {
	exact := features{fits: 0.5, margin: alonest}
	require.InDelta(t, exactShare, exact.leastShare(answer.Price), 0)
	for _, kind := range []answer.Kind{answer.Who, answer.Whom} {
		require.InDelta(t, 1, exact.leastShare(kind), 0, kind)
	}
	for _, other := range []feature{dayOther, rowOther, dateOther, ageFails} {
		f := exact
		f[other] = 1
		require.InDelta(t, 1, f.leastShare(answer.Price), 0, names[other])
	}
}
