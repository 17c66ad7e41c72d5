// Package organisation brings Organisation resources about: the organization in the
// directory and on its shard, what it may have, and a key for the API in a Secret.
package organisation

import (
	"cmp"
	"context"
	"errors"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/operations/removal"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/organization"
	"visavis.dev/pkg/store/tenant"
)

// Kind is the kind of resource.
const Kind = "Organisation"

// Rules are those of the kind.
type Rules struct {
	Directory *directory.Directory
	Tenants   *tenant.Tenants
	Keys      *apikey.Store
	Catalogue *plan.Catalogue
	Files     *file.Store
	// Client reads from the cache, which has the Secrets that the operator made;
	// Reader asks the API server.
	Client client.Client
	Reader client.Reader
	Clock  clock.PassiveClock
	// Workers run deliveries of their own.
	Workers Workers
	// Served are the namespaces whose Organisations are brought about; others claim nothing.
	Served resource.Namespaces
}

var _ resource.Rules[*v1alpha1.Organisation] = (*Rules)(nil)

// again is when to look for what somebody else has to do first.
const again = time.Minute

// now is the moment in the microseconds that a database keeps.
func (r *Rules) now() time.Time { return r.Clock.Now().UTC().Truncate(time.Microsecond) }

// Apply makes the organization what the resource says.
func (r *Rules) Apply(ctx context.Context, o *v1alpha1.Organisation) error {
	wanted, err := r.wanted(o)
	if err != nil {
		return err
	}
	which, err := r.identity(ctx, o)
	if err != nil {
		return err
	}
	found, err := r.Directory.Organization(ctx, which)
	switch {
	case errors.Is(err, directory.ErrUnknown):
		found, err = r.make(ctx, o, which, wanted)
	case err == nil:
		found, err = r.take(ctx, o, found)
	}
	if err != nil {
		return err
	}
	if found.State == directory.Creating {
		if err := organization.Create(ctx, r.Directory, r.Tenants, found); err != nil {
			return err
		}
	}
	if differs(found, wanted, o.Spec.Paused) {
		found.Name, found.Timezone, found.Plan, found.Overrides = wanted.Name, wanted.Timezone, wanted.Plan, wanted.Overrides
		if err := r.Directory.Declare(ctx, found, o.Spec.Paused, pauseReason); err != nil {
			return err
		}
	}
	o.Status.ID, o.Status.Slug, o.Status.Shard = found.ID.String(), found.Slug, found.Shard
	if err := r.keepKey(ctx, o, found.ID); err != nil {
		return err
	}
	if err := r.keepWorker(ctx, o, found); err != nil {
		return err
	}
	return r.keepPlace(ctx, o, found)
}

// make makes the organization.
func (r *Rules) make(ctx context.Context, o *v1alpha1.Organisation, which id.Org, wanted directory.Organization) (directory.Organization, error) {
	if resource.Adopts(o) != "" {
		return wanted, resource.Invalid("There is no organization %s to adopt.", which)
	}
	if err := r.unrivalled(ctx, o, wanted.Slug); err != nil {
		return wanted, err
	}
	// Where the directory was restored without it, its data are where they were.
	shard, err := r.place(ctx, cmp.Or(o.Spec.Shard, o.Status.Shard))
	if err != nil {
		return wanted, err
	}
	wanted.ID, wanted.Shard, wanted.Epoch, wanted.CreatedAt = which, shard, 1, r.now()
	wanted.ManagedBy, wanted.State = resource.Managing(Kind, o), directory.Active
	err = organization.Create(ctx, r.Directory, r.Tenants, wanted)
	if errors.Is(err, directory.ErrSlugTaken) {
		return wanted, r.taken(ctx, wanted.Slug)
	}
	return wanted, err
}

// taken says whose a slug is.
func (r *Rules) taken(ctx context.Context, slug string) error {
	holder, err := r.Directory.OrganizationNamed(ctx, slug)
	if err != nil {
		return err
	}
	refusal := resource.Conflict("The slug %q is that of %s, which is managed by %s.", slug, holder.ID, holder.ManagedBy)
	refusal.After = again
	return refusal
}

// place is the shard of a new organization.
func (r *Rules) place(ctx context.Context, named string) (string, error) {
	if named == "" {
		shard, err := organization.Place(ctx, r.Directory)
		if errors.Is(err, organization.ErrNoShard) {
			err = resource.Pending(again, "There is no Shard yet that takes any organization.")
		}
		return shard, err
	}
	_, err := r.Directory.ShardURL(ctx, named)
	if errors.Is(err, directory.ErrUnknown) {
		err = resource.Pending(again, "The Shard %s is not there yet.", named)
	}
	return named, err
}

// take makes sure that an organization that is there is the resource's.
func (r *Rules) take(ctx context.Context, o *v1alpha1.Organisation, found directory.Organization) (directory.Organization, error) {
	me := resource.Managing(Kind, o)
	if err := resource.Claim(ctx, r.Client, Kind, o, &v1alpha1.Organisation{}, found.ManagedBy, resource.Adopts(o) != ""); err != nil {
		o.Status.ID, o.Status.Slug, o.Status.Shard = "", "", ""
		return found, err
	}
	spec := &o.Spec
	switch {
	case found.State == directory.Deleting:
		return found, resource.Invalid("%s is being deleted.", found.ID)
	case found.Region != spec.Region:
		return found, resource.Invalid("%s is in the region %s, and stays there.", found.ID, found.Region)
	case spec.Slug != "" && found.Slug != spec.Slug:
		return found, resource.Invalid("%s has the slug %s, and keeps it.", found.ID, found.Slug)
	}
	if found.ManagedBy == me {
		return found, nil
	}
	// The key in the Secret of whoever had it opens it no longer.
	if _, ok := found.ManagedBy.Resource(); ok && found.ManagedBy.String() != me.String() {
		if err := r.revoke(ctx, found.ID, found.ManagedBy.String()); err != nil {
			return found, err
		}
	}
	err := r.Directory.HandOver(ctx, found.ID, found.ManagedBy, me)
	found.ManagedBy = me
	return found, err
}

// batches bounds one go at a deletion: some ten thousand rows.
const batches = 20

// Delete deletes the organization with everything that it owns.
func (r *Rules) Delete(ctx context.Context, o *v1alpha1.Organisation) error {
	which, ok, err := r.bound(ctx, o)
	if err != nil || !ok {
		return err
	}
	if err := r.Workers.Delete(ctx, o, which.String()); err != nil {
		return err
	}
	remover := removal.Remover{Directory: r.Directory, Tenants: r.Tenants, Files: r.Files, Clock: r.Clock}
	left, err := remover.Delete(ctx, which, resource.Managing(Kind, o), batches)
	if err == nil && left != "" {
		err = resource.Pending(time.Second, "Everything that it owns is being deleted: %s.", left)
	}
	return err
}

// Release leaves the organization to whoever runs the platform by hand; its Secret and
// the key in it stay. One whose deletion has begun is deleted all the same: parts of it
// are gone.
func (r *Rules) Release(ctx context.Context, o *v1alpha1.Organisation) error {
	which, ok, err := r.bound(ctx, o)
	if err != nil || !ok {
		return err
	}
	if err := r.releaseSecret(ctx, o); err != nil {
		return err
	}
	found, err := r.Directory.Organization(ctx, which)
	if err == nil && found.State == directory.Deleting {
		return r.Delete(ctx, o)
	}
	if err == nil && found.ManagedBy == resource.Managing(Kind, o) {
		err = r.endWorker(ctx, o, which)
	}
	if err != nil && !errors.Is(err, directory.ErrUnknown) {
		return err
	}
	err = r.Directory.HandOver(ctx, which, resource.Managing(Kind, o), managed.API)
	if errors.Is(err, directory.ErrUnknown) { // it is not this one's, or not any more
		err = nil
	}
	return err
}
