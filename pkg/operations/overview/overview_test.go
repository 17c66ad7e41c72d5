package overview_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/operations/overview"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// What the shards have that answer is shown in time, and of the others that they do not.
func TestListsBesideShardsThatDoNotAnswer(t *testing.T) {
	o := tenanttest.NewOutage(t)
	v := &overview.View{Directory: o.Directory, Tenants: o.Tenants}
	o.Begin()
	began := time.Now()
	shards, err := v.Shards(t.Context())
	require.NoError(t, err)
	require.Less(t, time.Since(began), 8*time.Second)
	problems := map[string]string{}
	for _, s := range shards {
		problems[s.Name] = s.Problem
	}
	require.Empty(t, problems[tenanttest.Healthy])
	require.NotEmpty(t, problems[tenanttest.Frozen])
	require.NotEmpty(t, problems[tenanttest.Dead])

	orgs, err := v.Organizations(t.Context())
	require.NoError(t, err)
	began = time.Now()
	_, err = v.Webhooks(t.Context(), orgs, false, 100)
	require.Less(t, time.Since(began), 8*time.Second)
	var missing *overview.Missing
	require.ErrorAs(t, err, &missing)
	require.NotContains(t, missing.Error(), "shard "+tenanttest.Healthy)
}
