package record_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// anchored is a record of 12 entries that was anchored beside others after 5 of them and at the
// end.
func anchored(t *testing.T) (org id.Org, c id.Candidate, entries []record.Entry, anchors []record.Anchored) {
	t.Helper()
	tenants, org, c, entries := written(t, 12)
	_, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	by := record.Signer{ID: id.NewIssuerKey(), Private: private}
	for _, length := range []int{5, 12} {
		chains := []record.Chain{{Candidate: c, Length: int64(length), Head: entries[length-1].Hash}}
		for range 6 {
			other := id.NewCandidate()
			chains = append(chains, record.Chain{Candidate: other, Length: 3, Head: record.Genesis(other)})
		}
		require.NoError(t, tenants.InTx(t.Context(), org, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := record.Seal(ctx, tx, chains, by, entries[length-1].At.Add(time.Second))
			return err
		}))
	}
	anchors, err = record.Anchors(t.Context(), tenants, org, c)
	require.NoError(t, err)
	require.Len(t, anchors, 2)
	require.NotEmpty(t, anchors[1].Previous)
	return org, c, entries, anchors
}

var update = flag.Bool("update", false, "write testdata/record.json anew, which the page that checks records is tested with")

func TestAnchorsHold(t *testing.T) {
	org, c, entries, anchors := anchored(t)
	text := exported(t, org, c, entries, anchors...)
	if *update {
		require.NoError(t, os.WriteFile("testdata/record.json", text, 0o600))
	}
	v, err := record.Verify(text)
	require.NoError(t, err)
	require.Equal(t, 2, v.Anchors)
	require.Equal(t, int64(12), v.Anchored)
	require.Equal(t, anchors[1].At, v.AnchoredAt)
	require.Len(t, v.Signed, 1)

	kept, err := os.ReadFile("testdata/record.json")
	require.NoError(t, err)
	v, err = record.Verify(kept)
	require.NoError(t, err, "a record that was exported earlier")
	require.Equal(t, 2, v.Anchors)
}

// What a chain of hashes alone cannot show: entries that are cut off at the end, a record that is
// written anew, entries dated back, and anchors that were changed or are another organization's.
func TestTamperingsWithAnchorsAreCaught(t *testing.T) {
	org, c, entries, anchors := anchored(t)
	text := exported(t, org, c, entries, anchors...)
	chance := rand.New(rand.NewPCG(3, 4))
	flip := func(h record.Hash) { h[chance.IntN(len(h))] ^= 1 << chance.IntN(8) }
	tamper := []func(e *record.Export, a *record.Anchored){
		func(e *record.Export, _ *record.Anchored) { e.Entries = e.Entries[:1+chance.IntN(len(e.Entries)-1)] },
		func(e *record.Export, _ *record.Anchored) {
			_, _, _, other := written(t, 1)
			e.Entries = other
		},
		func(_ *record.Export, a *record.Anchored) { flip(a.Root) },
		func(_ *record.Export, a *record.Anchored) { flip(a.Signature) },
		func(_ *record.Export, a *record.Anchored) { flip(a.PublicKey) },
		func(_ *record.Export, a *record.Anchored) { flip(a.Path[chance.IntN(len(a.Path))].Hash) },
		func(_ *record.Export, a *record.Anchored) { s := &a.Path[chance.IntN(len(a.Path))]; s.Left = !s.Left },
		func(_ *record.Export, a *record.Anchored) { a.Path = a.Path[:len(a.Path)-1] },
		func(_ *record.Export, a *record.Anchored) {
			a.At = a.At.Add(time.Duration(1+chance.IntN(1e6)) * time.Microsecond)
		},
		func(_ *record.Export, a *record.Anchored) { a.Number += int64(1 + chance.IntN(9)) },
		func(_ *record.Export, a *record.Anchored) { a.Leaves++ },
		func(_ *record.Export, a *record.Anchored) { a.Length = 1 + (a.Length+int64(chance.IntN(11)))%12 },
		func(_ *record.Export, a *record.Anchored) { a.Previous = append(a.Previous, 1) },
		func(e *record.Export, _ *record.Anchored) { e.Anchors[0], e.Anchors[1] = e.Anchors[1], e.Anchors[0] },
		func(e *record.Export, _ *record.Anchored) { e.Organization = id.NewOrg() },
	}
	for n := range 150 {
		var e record.Export
		require.NoError(t, json.Unmarshal(text, &e))
		how := n % len(tamper)
		tamper[how](&e, &e.Anchors[chance.IntN(2)])
		changed, err := json.Marshal(e)
		require.NoError(t, err)
		_, err = record.Verify(changed)
		require.ErrorIs(t, err, record.ErrBroken, "tampering %d was not caught", how)
	}
}

// An entry that is dated before an anchor that does not hold it was written later.
func TestEntriesAreNotDatedBack(t *testing.T) {
	tenants, org, c, entries := written(t, 3)
	_, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	require.NoError(t, tenants.InTx(t.Context(), org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := record.Seal(ctx, tx, []record.Chain{{Candidate: c, Length: 2, Head: entries[1].Hash}},
			record.Signer{ID: id.NewIssuerKey(), Private: private}, tenanttest.Now.Add(48*time.Hour))
		return err
	}))
	anchors, err := record.Anchors(t.Context(), tenants, org, c)
	require.NoError(t, err)
	_, err = record.Verify(exported(t, org, c, entries, anchors...))
	require.ErrorIs(t, err, record.ErrBroken)
	require.ErrorContains(t, err, "entry 3 is dated before anchor 1")
}
