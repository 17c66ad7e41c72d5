package hiring_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/learning/certificate/badge"
)

// Records are signed once a day where they changed, by a key of the organization's DID document.
func TestRecordsAreAnchoredDaily(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	first := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	second := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	anchorer := &candidate.Anchorer{Signer: func(ctx context.Context, org id.Org) (record.Signer, error) {
		which, private, err := w.Registry.Signer(ctx, org)
		return record.Signer{ID: which, Private: private}, err
	}}
	run := func(at time.Time) (looked int) {
		t.Helper()
		for _, shard := range []string{"shard-1", "shard-2"} {
			n, err := anchorer.Run(t.Context(), w.Tenants, shard, at)
			require.NoError(t, err)
			looked += n
		}
		return looked
	}
	today := apitest.Moment()
	require.Equal(t, 1, run(today))
	require.Zero(t, run(today), "nothing changed")
	before, shown := recorded(t, w, first.String())
	require.Equal(t, 1, before.Anchors)
	require.Equal(t, int64(before.Entries), before.Anchored)
	require.Len(t, apitest.At(shown, "record", "anchors").([]any)[0].(map[string]any)["path"], 1, "the other candidate stands beside this one")

	require.Equal(t, http.StatusOK, w.CallAs(t, "holdCandidate", first.String(), w.Acme.New, nil).Status)
	require.Zero(t, run(today), "once a day is enough")
	later, _ := recorded(t, w, first.String())
	require.Equal(t, before.Entries+1, later.Entries)
	require.Equal(t, int64(before.Entries), later.Anchored)
	require.Equal(t, 1, run(today.Add(24*time.Hour)))
	later, _ = recorded(t, w, first.String())
	require.Equal(t, 2, later.Anchors)
	other, _ := recorded(t, w, second.String())
	require.Equal(t, 1, other.Anchors, "what did not change is not signed again")

	o := w.Operation(t, "getIssuerDocument")
	document := w.Call(t, o, apitest.Request{Path: apitest.WithID(o, w.Acme.ID.String())})
	require.Equal(t, http.StatusOK, document.Status, "%s", document.Raw)
	keys, err := badge.EmbeddedKeys(document.Raw)
	require.NoError(t, err)
	for name, key := range later.Signed {
		require.Equal(t, []byte(keys[name]), []byte(key))
	}
	require.Len(t, later.Signed, 1)
}
