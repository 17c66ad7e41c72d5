package export

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/contract"
)

// A file is written in the contract of whoever asked for it.
func TestOlderFiles(t *testing.T) {
	row := func() []any {
		return append([]any{"inb_1", "new", "hot", "portal_2"}, make([]any, len(records[Leads].columns)-4)...)
	}
	for of, want := range map[contract.Version][]any{
		contract.V20260708: {"leadScore", "2"}, contract.V20261001: {"leadBand", "portal_2"}, "": {"leadBand", "portal_2"},
	} {
		o := Order{Kind: Leads, Contract: of}
		rows := o.older([][]any{row(), make([]any, len(records[Leads].columns))})
		require.Equal(t, want, []any{o.columns()[2], rows[0][3]}, of)
		require.Nil(t, rows[1][3], "of no portal")
	}
	require.Equal(t, "leadBand", records[Leads].columns[2], "what others write stays as it is")
}
