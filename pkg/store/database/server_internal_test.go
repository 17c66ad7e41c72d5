package database

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSupported(t *testing.T) {
	for text, ok := range map[string]bool{
		"PostgreSQL 15.4 on x86_64-pc-linux-gnu": true, "PostgreSQL 17": true, "PostgreSQL 16.2 (Debian 16.2-1) on x86_64": true,
		"PostgreSQL 18beta1 on x86_64": true, "PostgreSQL 14.11": false, "PostgreSQL 9.6.2": false, "PostgreSQL ": false, "PostgreSQL devel": false,
		"CockroachDB CCL v25.1.0 (x86_64-pc-linux-gnu, built 2025/02/18)": true, "CockroachDB CCL v25.2.1-rc.1 (x86_64": true,
		"CockroachDB v26.1.0 (": true, "CockroachDB CCL v24.3.9 (x86_64": false, "CockroachDB CCL v25.0.0": false, "CockroachDB CCL devel": false,
	} {
		i := identity{version: text, locks: text[0] == 'P'}
		engine, err := i.engine()
		require.NoError(t, err)
		err = i.supported(engine)
		require.Equal(t, ok, err == nil, text)
		var refused *UnsupportedError
		if !ok {
			require.ErrorAs(t, err, &refused)
			require.Contains(t, err.Error(), "PostgreSQL 15 and CockroachDB 25.1 are the oldest")
		}
	}
}

func TestEngineIsCertain(t *testing.T) {
	for name, tt := range map[string]struct {
		identity
		engine Engine
	}{
		"PostgreSQL":                      {identity{version: "PostgreSQL 17.1 on x86_64", locks: true}, Postgres},
		"CockroachDB":                     {identity{version: "CockroachDB CCL v25.2.0 (", parameter: "CockroachDB CCL v25.2.0 ("}, Cockroach},
		"CockroachDB behind a pooler":     {identity{version: "CockroachDB CCL v25.2.0 ("}, Cockroach},
		"says PostgreSQL, has no locks":   {identity{version: "PostgreSQL 13.0 on x86_64"}, ""},
		"says PostgreSQL and CockroachDB": {identity{version: "PostgreSQL 17.1", parameter: "CockroachDB CCL v25.2.0 (", locks: true}, ""},
		"says CockroachDB, has locks":     {identity{version: "CockroachDB CCL v25.2.0 (", locks: true}, ""},
		"something else":                  {identity{version: "EnterpriseDB 17", locks: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			engine, err := tt.identity.engine()
			require.Equal(t, tt.engine, engine)
			if tt.engine == "" {
				var uncertain *EngineError
				require.ErrorAs(t, err, &uncertain)
				require.Contains(t, err.Error(), tt.version)
			}
		})
	}
}
