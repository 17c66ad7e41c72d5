package contract_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/contract"
)

func TestVersions(t *testing.T) {
	all := contract.Versions()
	require.Equal(t, []contract.Version{"2026-07-08", "2026-10-01"}, all)
	require.Equal(t, contract.Latest, all[len(all)-1])
	for i, v := range all {
		got, ok := contract.Parse(string(v))
		require.True(t, ok)
		require.Equal(t, v, got)
		require.False(t, v.Before(v))
		for _, later := range all[i+1:] {
			require.True(t, v.Before(later))
			require.False(t, later.Before(v))
		}
	}
	all[0] = "changed"
	require.Equal(t, contract.V20260708, contract.Versions()[0], "the list is the caller's own")
}

func TestNoVersion(t *testing.T) {
	for _, text := range []string{"", "2026-10-02", "2026-10-01 ", "2026-7-8", "20261001", "latest"} {
		_, ok := contract.Parse(text)
		require.False(t, ok, "%q", text)
	}
}
