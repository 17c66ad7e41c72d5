package move

import (
	"context"
	"errors"
	"fmt"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// Reason says in a word why a move cannot be.
type Reason string

// The reasons.
const (
	NoShard  Reason = "NoShard"
	Here     Reason = "Here"
	Moving   Reason = "Moving"
	Inactive Reason = "Inactive"
	Engine   Reason = "Engine"
	Schema   Reason = "Schema"
	Occupied Reason = "Occupied"
	Damaged  Reason = "Damaged"
)

// Refusal is why a move cannot be, in a sentence for whoever asked for it.
type Refusal struct {
	Reason   Reason
	Sentence string
}

func (r *Refusal) Error() string { return r.Sentence }

func refuse(reason Reason, format string, args ...any) error {
	return &Refusal{reason, fmt.Sprintf(format, args...)}
}

// Begin writes down that an organization is to live on another shard. Workers do the rest.
// The error may be a *Refusal.
func Begin(ctx context.Context, d *directory.Directory, t *tenant.Tenants, org id.Org, to, by string) error {
	o, err := d.Organization(ctx, org)
	if err != nil {
		return err
	}
	if err := admissible(ctx, d, t, o, to); err != nil {
		return err
	}
	err = d.BeginMove(ctx, directory.Move{Org: org, From: o.Shard, To: to, AskedBy: by})
	if errors.Is(err, directory.ErrMoving) {
		return underWay(ctx, d, org)
	}
	return err
}

// underWay says what keeps another move from beginning. What an earlier one left behind is
// given up for the new one.
func underWay(ctx context.Context, d *directory.Directory, org id.Org) error {
	m, err := d.MoveOf(ctx, org)
	if err != nil {
		return err
	}
	if !flipped(m.Phase) {
		return refuse(Moving, "%s is being moved from %s to %s already.", org, m.From, m.To)
	}
	if _, err := d.EndMove(ctx, org); err != nil {
		return err
	}
	return refuse(Moving, "%s was moved from %s to %s just now. What it left on %s is deleted first.", org, m.From, m.To, m.From)
}

// admissible says whether an organization may live on a shard, as far as can be told
// before anything is done.
func admissible(ctx context.Context, d *directory.Directory, t *tenant.Tenants, o directory.Organization, to string) error {
	switch {
	case o.State != directory.Active:
		return refuse(Inactive, "%s is %s and cannot be moved.", o.ID, o.State)
	case o.Shard == to:
		return refuse(Here, "%s lives on the shard %s already.", o.ID, to)
	}
	if _, err := d.Shard(ctx, to); errors.Is(err, directory.ErrUnknown) {
		return refuse(NoShard, "There is no shard %s.", to)
	} else if err != nil {
		return err
	}
	if err := sameEngine(ctx, t, o.Shard, to); err != nil {
		return err
	}
	return sameSchema(ctx, t, o.Shard, to)
}

// sameEngine refuses a move between PostgreSQL and CockroachDB: they write some values as
// different texts, and what is compared are texts.
func sameEngine(ctx context.Context, t *tenant.Tenants, from, to string) error {
	var engines [2]database.Engine
	for i, shard := range []string{from, to} {
		db, err := t.Shard(ctx, shard)
		if err != nil {
			return err
		}
		if engines[i], err = db.Engine(ctx); err != nil {
			return fmt.Errorf("engine of the shard %s: %w", shard, err)
		}
	}
	if engines[0] != engines[1] {
		return refuse(Engine, "The shard %s is on %s, the shard %s on %s. Nothing moves between the two.", from, engines[0].Name(), to, engines[1].Name())
	}
	return nil
}

// sameSchema refuses a move between shards of which one is not migrated yet.
func sameSchema(ctx context.Context, t *tenant.Tenants, from, to string) error {
	var versions [2]int64
	for i, shard := range []string{from, to} {
		db, err := t.Shard(ctx, shard)
		if err != nil {
			return err
		}
		if versions[i], err = db.Applied(ctx); err != nil {
			return fmt.Errorf("schema of the shard %s: %w", shard, err)
		}
	}
	if versions[0] != versions[1] {
		return refuse(Schema, "The shard %s has the schema %d, the shard %s the schema %d. Migrate them first.", from, versions[0], to, versions[1])
	}
	return nil
}
