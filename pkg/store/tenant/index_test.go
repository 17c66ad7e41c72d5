package tenant_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/usage"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/organization"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// TestStatementsRideTheirIndexes explains every statement of the stores that
// lists: with a planner that scans a whole table only where it must, each
// rides the index its function names.
func TestStatementsRideTheirIndexes(t *testing.T) {
	ctx, org := context.Background(), id.NewOrg()
	sent := &tenanttest.Statements{}
	pool := database.PoolOptions{Tracer: sent}
	directoryURL := databasetest.URL(t, database.Directory)
	db, err := database.Open(directoryURL, pool)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	clock := clocktesting.NewFakeClock(time.Now())
	d := directory.New(db, directory.Options{Clock: clock})
	shard := databasetest.Open(t, database.Shard)
	require.NoError(t, d.AddShard(ctx, "a", shard.Config().ConnString()))
	tenants := tenant.New(d, pool)
	t.Cleanup(tenants.Close)
	require.NoError(t, organization.Create(ctx, d, tenants, directory.Organization{ID: org, Name: "A", Slug: "a", Shard: "a", Epoch: 1}))
	keys := &apikey.Store{DB: db}
	now := clock.Now()

	cases := map[string]struct {
		on    *database.DB
		table string
		index string
		run   func() error
	}{
		"activity": {shard, "activity", "activity_by_time", func() error {
			_, err := activity.List(ctx, tenants, org, activity.Filter{Action: "x"}, nil, 50)
			return err
		}},
		"avatars": {shard, "avatar a", "avatar_by_age", func() error {
			_, err := avatar.List(ctx, tenants, avatar.NewLibrary(), org, avatar.Filter{Kind: avatar.Custom}, nil, 50)
			return err
		}},
		"consents of a kind": {shard, "consent", "consent_by_kind", func() error {
			_, err := consent.List(ctx, tenants, org, consent.Filter{Kind: "recording"}, nil, 50)
			return err
		}},
		"consents of a face": {shard, "consent", "consent_by_avatar", func() error {
			_, err := consent.List(ctx, tenants, org, consent.Filter{Avatar: id.NewAvatar()}, nil, 50)
			return err
		}},
		"consents of a voice": {shard, "consent", "consent_by_voice", func() error {
			_, err := consent.List(ctx, tenants, org, consent.Filter{Voice: id.NewVoice()}, nil, 50)
			return err
		}},
		"consents of a place": {shard, "consent", "consent_by_membership", func() error {
			_, err := consent.List(ctx, tenants, org, consent.Filter{Membership: id.NewMembership(), Kind: "guardian"}, nil, 50)
			return err
		}},
		"consents withdrawn": {shard, "consent", "consent_withdrawn", func() error {
			_, err := consent.List(ctx, tenants, org, consent.Filter{State: consent.Withdrawn}, nil, 50)
			return err
		}},
		"consents": {shard, "consent", "consent_by_time", func() error {
			_, err := consent.List(ctx, tenants, org, consent.Filter{}, nil, 50)
			return err
		}},
		"keys": {db, "api_key k", "api_key_by_org", func() error {
			_, err := keys.List(ctx, org, nil, 50)
			return err
		}},
		"usage": {shard, "usage_block", "usage_block_by_time", func() error {
			_, err := usage.Of(ctx, tenants, org, now.Add(-time.Hour), now, now)
			return err
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, s := range sent.Of(t, "FROM "+c.table, c.run) {
				plan := s.Forced(t, c.on)
				require.Contains(t, plan, c.index, "%s\n%s", s.SQL, plan)
				require.NotContains(t, plan, "Seq Scan on "+strings.Fields(c.table)[0], "%s", s.SQL)
			}
		})
	}
}
