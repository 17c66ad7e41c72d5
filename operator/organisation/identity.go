package organisation

import (
	"context"
	"errors"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/directory"
)

// identity is the id of the organization. A resource that has one adopts no other: it
// would leave the first behind. One that has none goes on with what a resource of its
// name left, in a cluster that was lost or before its finalizer was taken off.
func (r *Rules) identity(ctx context.Context, o *v1alpha1.Organisation) (id.Org, error) {
	if o.Status.ID == "" && resource.Adopts(o) == "" {
		left, ok, err := r.left(ctx, o)
		if ok || err != nil {
			return left.ID, err
		}
	}
	which, err := resource.Identity(o, o.Status.ID, id.ParseOrg, id.OrgNamedAt)
	if err == nil && o.Status.ID != "" && o.Status.ID != which.String() {
		err = resource.Invalid("It manages %s already. Make another Organisation to adopt %s.", o.Status.ID, which)
	}
	return which, err
}

// left is the organization of the resource's slug that one of its name manages, or
// managed.
func (r *Rules) left(ctx context.Context, o *v1alpha1.Organisation) (found directory.Organization, ok bool, err error) {
	found, err = r.Directory.OrganizationNamed(ctx, slug(o))
	if errors.Is(err, directory.ErrUnknown) {
		return found, false, nil
	}
	by, managed := found.ManagedBy.Resource()
	return found, err == nil && managed && by.SameName(resource.Reference(Kind, o)), err
}

// bound is the organization that the resource has noted, or that has noted the resource;
// ok is false where there is none.
func (r *Rules) bound(ctx context.Context, o *v1alpha1.Organisation) (which id.Org, ok bool, err error) {
	if which, err = id.ParseOrg(o.Status.ID); err == nil {
		return which, true, nil
	}
	candidates := []id.Org{id.OrgNamedAt(o.CreationTimestamp.Time, string(o.UID))}
	if adopted, err := id.ParseOrg(resource.Adopts(o)); err == nil {
		candidates = append(candidates, adopted)
	}
	left, ok, err := r.left(ctx, o)
	if err != nil {
		return which, false, err
	}
	if ok {
		candidates = append(candidates, left.ID)
	}
	for _, which := range candidates {
		found, err := r.Directory.Organization(ctx, which)
		if err == nil && found.ManagedBy == resource.Managing(Kind, o) {
			return which, true, nil
		}
		if err != nil && !errors.Is(err, directory.ErrUnknown) {
			return which, false, err
		}
	}
	return which, false, nil
}
