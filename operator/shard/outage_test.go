package shard

import (
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/store/tenant/tenanttest"
)

// The shards go on to be measured where the directory had them last, while it does not answer.
func TestShardsAreMeasuredWhileTheDirectoryDoesNotAnswer(t *testing.T) {
	o := tenanttest.NewOutage(t)
	s := NewScaler(&Rules{Directory: o.Directory, Tenants: o.Tenants}, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	known, err := s.addresses(t.Context())
	require.NoError(t, err)
	require.Len(t, known, 4)
	o.FreezeDirectory()
	began := time.Now()
	still, err := s.addresses(t.Context())
	require.NoError(t, err)
	require.Equal(t, known, still)
	require.Less(t, time.Since(began), 2*answerWithin)
}
