package signin

import (
	"context"
	"time"

	"visavis.dev/pkg/store/tenant"
)

// SweepBatch is how many rows of a kind a run deletes at most.
const SweepBatch = 1000

// Sweep forgets visits, used tokens and signing keys of a shard that let nobody in any
// more.
func Sweep(ctx context.Context, t *tenant.Tenants, shard string, now time.Time) (int, error) {
	all := 0
	for _, s := range []struct {
		sql    string
		before time.Time
	}{
		{`DELETE FROM portal_visit WHERE (org_id, hash) IN (
			SELECT v.org_id, v.hash FROM portal_visit v JOIN org_fence f ON f.org_id = v.org_id AND f.state = 'open'
			WHERE v.expires_at < $1 LIMIT 1000)`, now},
		{`DELETE FROM used_token WHERE (org_id, id) IN (
			SELECT u.org_id, u.id FROM used_token u JOIN org_fence f ON f.org_id = u.org_id AND f.state = 'open'
			WHERE u.expires_at < $1 LIMIT 1000)`, now},
		// A key signs for a time, and the last of its tokens lives on for a day.
		{`DELETE FROM signing_key WHERE (org_id, id) IN (
			SELECT k.org_id, k.id FROM signing_key k JOIN org_fence f ON f.org_id = k.org_id AND f.state = 'open'
			WHERE k.created_at < $1 LIMIT 1000)`, now.Add(-signsFor - longestToken)},
	} {
		n, err := t.SweepRows(ctx, shard, s.sql, s.before)
		if all += n; err != nil {
			return all, err
		}
	}
	return all, nil
}
