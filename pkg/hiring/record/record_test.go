package record_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// written is a record of some entries, as it is stored and read again.
func written(t *testing.T, number int) (*tenant.Tenants, id.Org, id.Candidate, []record.Entry) {
	t.Helper()
	tenants, org, _ := tenanttest.New(t)
	c := id.NewCandidate()
	chain := record.Chain{Candidate: c}
	for n := range number {
		require.NoError(t, tenants.InTx(t.Context(), org, func(ctx context.Context, tx *tenant.Tx) error {
			f := record.Fact{At: tenanttest.Now.Add(time.Duration(n) * time.Minute), Actor: "key_x", Action: fmt.Sprint("step.", n), Data: map[string]any{"n": n, "é": "<&>"}}
			if n%3 == 1 {
				f.Words = fmt.Sprint("They said ", n)
			}
			return record.Add(ctx, tx, &chain, f)
		}))
	}
	entries, err := record.Of(t.Context(), tenants, org, c)
	require.NoError(t, err)
	require.Len(t, entries, number)
	return tenants, org, c, entries
}

func exported(t *testing.T, org id.Org, c id.Candidate, entries []record.Entry, anchors ...record.Anchored) []byte {
	t.Helper()
	text, err := json.Marshal(record.NewExport(org, c, entries, anchors, tenanttest.Now))
	require.NoError(t, err)
	return text
}

func TestARecordVerifiesAlsoOnceItsWordsAreErased(t *testing.T) {
	tenants, org, c, entries := written(t, 9)
	v, err := record.Verify(exported(t, org, c, entries))
	require.NoError(t, err)
	require.Equal(t, record.Verified{Organization: org, Candidate: c, Entries: 9, Head: entries[8].Hash, Signed: map[string]record.Hash{}}, v)
	require.NoError(t, tenants.InTx(t.Context(), org, func(ctx context.Context, tx *tenant.Tx) error { return record.Forget(ctx, tx, c) }))
	entries, err = record.Of(t.Context(), tenants, org, c)
	require.NoError(t, err)
	text := exported(t, org, c, entries)
	require.NotContains(t, string(text), "They said")
	v, err = record.Verify(text)
	require.NoError(t, err)
	require.Equal(t, 3, v.Erased)
}

// Whatever somebody changes, leaves out, adds or swaps is found out.
func TestTamperingsAreCaught(t *testing.T) {
	_, org, c, entries := written(t, 12)
	text := exported(t, org, c, entries)
	chance := rand.New(rand.NewPCG(1, 2))
	copyOf := func() record.Export {
		var e record.Export
		require.NoError(t, json.Unmarshal(text, &e))
		return e
	}
	flip := func(h record.Hash) {
		if len(h) > 0 {
			h[chance.IntN(len(h))] ^= 1 << chance.IntN(8)
		}
	}
	letter := func(s string) string {
		b := []byte(s)
		b[chance.IntN(len(b))] ^= 1 << chance.IntN(5)
		return string(b)
	}
	tamper := []func(e *record.Export, at int) bool{
		func(e *record.Export, at int) bool { e.Entries[at].Actor = letter(e.Entries[at].Actor); return true },
		func(e *record.Export, at int) bool { e.Entries[at].Action = letter(e.Entries[at].Action); return true },
		func(e *record.Export, at int) bool { e.Entries[at].Data = letter(e.Entries[at].Data); return true },
		func(e *record.Export, at int) bool {
			e.Entries[at].At = e.Entries[at].At.Add(time.Duration(1 + chance.IntN(1e12)))
			return true
		},
		func(e *record.Export, at int) bool { flip(e.Entries[at].Hash); return true },
		func(e *record.Export, at int) bool { flip(e.Entries[at].Previous); return true },
		func(e *record.Export, at int) bool {
			flip(e.Entries[at].WordsHash)
			return len(e.Entries[at].WordsHash) > 0
		},
		func(e *record.Export, at int) bool {
			if w := e.Entries[at].Words; w != nil {
				w.Text = letter(w.Text)
			}
			return e.Entries[at].Words != nil
		},
		func(e *record.Export, at int) bool {
			if w := e.Entries[at].Words; w != nil {
				flip(w.Salt)
			}
			return e.Entries[at].Words != nil
		},
		func(e *record.Export, at int) bool { // one before the last is left out
			if at == len(e.Entries)-1 {
				return false
			}
			e.Entries = append(e.Entries[:at:at], e.Entries[at+1:]...)
			return true
		},
		func(e *record.Export, at int) bool {
			e.Entries = append(e.Entries[:at:at], append([]record.Entry{e.Entries[at]}, e.Entries[at:]...)...)
			return true
		},
		func(e *record.Export, at int) bool {
			other := (at + 1 + chance.IntN(len(e.Entries)-1)) % len(e.Entries)
			e.Entries[at], e.Entries[other] = e.Entries[other], e.Entries[at]
			return true
		},
		func(e *record.Export, at int) bool { e.Entries[at].Number += int64(1 + chance.IntN(9)); return true },
		func(e *record.Export, _ int) bool { e.Candidate = id.NewCandidate(); return true },
	}
	for caught := 0; caught < 10_000; {
		e := copyOf()
		how := chance.IntN(len(tamper))
		if !tamper[how](&e, chance.IntN(len(e.Entries))) {
			continue
		}
		changed, err := json.Marshal(e)
		require.NoError(t, err)
		_, err = record.Verify(changed)
		require.ErrorIs(t, err, record.ErrBroken, "tampering %d was not caught", how)
		caught++
	}
}
