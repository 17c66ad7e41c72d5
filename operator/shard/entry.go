package shard

import (
	"context"
	"errors"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/store/directory"
)

// claim decides whether the Shard may have its name in the directory, and its database.
// Whoever is in the directory with a database has it; of those that are not, the oldest.
func (r *Rules) claim(ctx context.Context, s *v1alpha1.Shard, url string) error {
	entry, err := r.Directory.Shard(ctx, s.Name)
	switch {
	case errors.Is(err, directory.ErrUnknown):
	case err != nil:
		return err
	default:
		if err := resource.Claim(ctx, r.Client, kind, s, &v1alpha1.Shard{}, entry.ManagedBy, resource.Adopts(s) == s.Name); err != nil {
			return err
		}
	}
	mine, _ := placeOf(url)
	entries, err := r.Directory.Shards(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, e := range entries {
		known[e.Name] = true
		if at, ok := placeOf(e.URL); ok && at == mine && e.Name != s.Name {
			return resource.Conflict("Its database, %s, is that of the shard %s.", mine, e.Name)
		}
	}
	return r.oldest(ctx, s, mine, known)
}

// oldest looks for an older Shard whose Secret names the same database, among those that
// are not known to the directory.
func (r *Rules) oldest(ctx context.Context, s *v1alpha1.Shard, mine place, known map[string]bool) error {
	var all v1alpha1.ShardList
	if err := r.Client.List(ctx, &all); err != nil {
		return err
	}
	for i := range all.Items {
		other := &all.Items[i]
		if known[other.Name] || other.Name == s.Name || !resource.Older(other, s) || resource.Released(other) || !other.DeletionTimestamp.IsZero() {
			continue
		}
		url, err := r.secret(ctx, other)
		if err != nil {
			if _, without := errors.AsType[*resource.Refusal](err); without {
				continue
			}
			return err
		}
		if at, _ := placeOf(url); at == mine {
			return resource.Conflict("Its database, %s, is that of the Shard %s, which is older.", mine, other.Name)
		}
	}
	return nil
}

// entry is the shard's entry in the directory, where it has one.
func (r *Rules) entry(ctx context.Context, s *v1alpha1.Shard) (entry directory.Shard, known bool, err error) {
	entry, err = r.Directory.Shard(ctx, s.Name)
	if errors.Is(err, directory.ErrUnknown) {
		return entry, false, nil
	}
	return entry, err == nil, err
}

// enter makes the shard's entry in the directory what the spec says.
func (r *Rules) enter(ctx context.Context, s *v1alpha1.Shard, url string) error {
	want := directory.Shard{Name: s.Name, URL: url, Tier: directory.Tier(s.Spec.Tier), ManagedBy: resource.Managing(kind, s)}
	have, known, err := r.entry(ctx, s)
	if err != nil {
		return err
	}
	if s.Status.Organisations, err = r.Directory.Inhabitants(ctx, s.Name); err != nil {
		return err
	}
	if known && have.ManagedBy != want.ManagedBy {
		if err := r.Directory.HandShard(ctx, s.Name, have.ManagedBy, want.ManagedBy); err != nil {
			return err
		}
	}
	want.CreatedAt = have.CreatedAt
	if have == want {
		return nil
	}
	if err := r.Directory.PutShard(ctx, want); err != nil {
		return err
	}
	if have.URL != url {
		r.Tenants.Forget(s.Name)
	}
	return nil
}
