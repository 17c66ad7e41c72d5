package database

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSupported(t *testing.T) {
	for version, ok := range map[string]bool{
		"15.4": true, "17": true, "16.2 (Debian 16.2-1)": true, "18beta1": true, "14.11": false, "9.6.2": false, "": false, "devel": false,
	} {
		err := supported("PostgreSQL", version, oldestPostgres)
		var refused *UnsupportedError
		require.Equal(t, ok, err == nil, version)
		if !ok {
			require.ErrorAs(t, err, &refused)
			require.Contains(t, err.Error(), "PostgreSQL 15 and CockroachDB 23 are the oldest")
		}
	}
}
