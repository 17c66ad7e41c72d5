package database_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
)

func TestCollector(t *testing.T) {
	db, err := database.Open(databasetest.URL(t, database.Shard), database.PoolOptions{MaxConns: 3})
	require.NoError(t, err)
	t.Cleanup(db.Close)
	pools := map[string]*database.DB{}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(database.NewCollector(func() map[string]*database.DB { return pools }))
	read := func() map[string]float64 {
		families, err := registry.Gather()
		require.NoError(t, err)
		values := map[string]float64{}
		for _, f := range families {
			require.Len(t, f.GetMetric(), 1)
			m := f.GetMetric()[0]
			require.Equal(t, "shard-1", m.GetLabel()[0].GetValue())
			values[f.GetName()] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
		return values
	}
	require.Empty(t, read(), "no pool is open")

	pools["shard-1"] = db
	conn, err := db.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	busy := read()
	require.Equal(t, 1.0, busy["visavis_database_connections_in_use"])
	require.Equal(t, 3.0, busy["visavis_database_connections_max"])
	require.Equal(t, 1.0, busy["visavis_database_waits_total"], "the first connection had to be made")
	require.Positive(t, busy["visavis_database_wait_seconds_total"])
}
