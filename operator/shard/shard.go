// Package shard is the rules of the resource Shard: the entry in the directory, the
// migration of its database before anything uses that, and the workers and portals
// that serve it.
//
// A shard's entry holds its organizations, so it is deleted only once none lives
// there, and is served until then; its database is never touched but by migrations. The
// children are owned by the Shard and go with it. A Shard that is released, or orphans
// what it manages, lets go of them first: they run as they are.
package shard

import (
	"context"
	"errors"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/child"
	"visavis.dev/operator/pods"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

const kind = "Shard"

// Rules bring Shards about.
type Rules struct {
	// Client reads from the cache, Reader does not: Secrets that the operator did not
	// make are not cached.
	Client client.Client
	Reader client.Reader

	Directory *directory.Directory
	Tenants   *tenant.Tenants
	Clock     clock.WithTicker

	// Namespace is the operator's own, where the Secrets are and the pods run;
	// PodConfig is the name of the ConfigMap with the templates of pods.
	Namespace, PodConfig string

	databases databases
}

// Apply makes a shard what its spec says, in the order that keeps it safe: nothing
// uses a database before it has the schema that the pods expect.
func (r *Rules) Apply(ctx context.Context, s *v1alpha1.Shard) error {
	url, err := r.secret(ctx, s)
	if err != nil {
		return err
	}
	if err := r.claim(ctx, s, url); err != nil {
		return err
	}
	db, err := r.databases.open(s.Name, url)
	if err != nil {
		return invalidURL(s)
	}
	if err := check(ctx, db, url); err != nil {
		return err
	}
	if err := r.same(ctx, s, url, db); err != nil {
		return err
	}
	config, err := pods.Load(ctx, r.Client, client.ObjectKey{Namespace: r.Namespace, Name: r.PodConfig})
	if err != nil {
		return err
	}
	mark, err := r.fingerprint(ctx, url)
	if err != nil {
		return err
	}
	if err := r.migrate(ctx, s, config, mark); err != nil {
		return err
	}
	if err := r.note(ctx, s, db); err != nil {
		return err
	}
	if err := r.enter(ctx, s, url); err != nil {
		return err
	}
	if err := r.serve(ctx, s, config, mark); err != nil {
		return err
	}
	return r.rolled(ctx, s)
}

// Delete takes a shard off the directory, and its children away.
func (r *Rules) Delete(ctx context.Context, s *v1alpha1.Shard) error {
	err := r.Directory.RemoveShard(ctx, s.Name, resource.Managing(kind, s))
	var others *managed.Error
	switch {
	case errors.Is(err, directory.ErrInhabited):
		return r.inhabited(ctx, s)
	case err != nil && !errors.As(err, &others):
		return err
	}
	r.forget(s)
	return r.each(ctx, s, r.writer().Remove)
}

// inhabited refuses to delete a shard that organizations live on, and goes on serving
// them.
func (r *Rules) inhabited(ctx context.Context, s *v1alpha1.Shard) error {
	err := r.Apply(ctx, s)
	if _, refused := errors.AsType[*resource.Refusal](err); err != nil && !refused {
		return err
	}
	n, err := r.Directory.Inhabitants(ctx, s.Name)
	if err != nil {
		return err
	}
	s.Status.Organisations = n
	if n == 1 {
		return resource.Pending(inhabitedAgain, "1 organization lives on it.")
	}
	return resource.Pending(inhabitedAgain, "%d organizations live on it.", n)
}

// Release gives the entry to the API, and lets go of what serves the shard.
func (r *Rules) Release(ctx context.Context, s *v1alpha1.Shard) error {
	err := r.Directory.HandShard(ctx, s.Name, resource.Managing(kind, s), managed.API)
	var others *managed.Error
	if err != nil && !errors.Is(err, directory.ErrUnknown) && !errors.As(err, &others) {
		return err
	}
	r.forget(s)
	return r.each(ctx, s, r.writer().Release)
}

func (r *Rules) forget(s *v1alpha1.Shard) {
	r.databases.close(s.Name)
	r.Tenants.Forget(s.Name)
}

func (r *Rules) writer() *child.Writer { return &child.Writer{Client: r.Client, Reader: r.Reader} }
