package shard

import (
	"context"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/directory"
)

// knownBatch is how many organizations a database is asked for at once.
const knownBatch = 5000

// same refuses another database for a shard with organizations unless it has every one
// of them, as the directory has it: the same data under another address. It is asked
// before anything is written there.
func (r *Rules) same(ctx context.Context, s *v1alpha1.Shard, url string, db *database.DB) error {
	entry, known, err := r.entry(ctx, s)
	if err != nil || !known {
		return err
	}
	was, _ := placeOf(entry.URL)
	if now, _ := placeOf(url); now == was {
		return nil
	}
	for after := (id.Org{}); ; {
		some, err := r.Directory.Inhabiting(ctx, s.Name, after, knownBatch)
		if err != nil || len(some) == 0 {
			return err
		}
		missing, err := missing(ctx, db, some)
		if err != nil {
			return err
		}
		if missing > 0 {
			refusal := resource.Invalid("Its Secret names another database now, which does not have all of the organizations that live on the shard.")
			refusal.After = lookAgain
			return refusal
		}
		after = some[len(some)-1].ID
	}
}

// missing is how many organizations a database does not have at their epochs: those of
// the directory, or later ones, which it learns when a move ends.
func missing(ctx context.Context, db *database.DB, of []directory.Inhabitant) (int, error) {
	orgs, epochs := make([]id.Org, len(of)), make([]int64, len(of))
	for i, o := range of {
		orgs[i], epochs[i] = o.ID, o.Epoch
	}
	var found int
	err := db.QueryRow(ctx, `
		SELECT count(*) FROM unnest($1::UUID[], $2::BIGINT[]) AS wanted (org_id, epoch)
		JOIN org_fence f ON f.org_id = wanted.org_id AND f.epoch >= wanted.epoch AND f.state <> 'moved'`, orgs, epochs).Scan(&found)
	if database.NoTable(err) {
		err = nil // it is none of ours
	}
	return len(of) - found, err
}
