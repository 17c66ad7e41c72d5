// Package portal brings Portal resources about: the portal of an organization, built
// and changed by the rules that the API has, published as soon as it can go live, and
// the Ingress of its host.
package portal

import (
	"context"
	"errors"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// Kind is the kind of resource.
const Kind = "Portal"

// Rules are those of the kind.
type Rules struct {
	Directory *directory.Directory
	Tenants   *tenant.Tenants
	Addresses *portal.Addresses
	Gallery   *template.Gallery
	Library   *avatar.Library
	Catalogue *plan.Catalogue
	// Served are the namespaces whose Portals are brought about; others claim nothing.
	Served resource.Namespaces
	// Client reads from the cache, which has the Ingresses that the operator made;
	// Reader asks the API server.
	Client client.Client
	Reader client.Reader
	Clock  clock.PassiveClock
	// Namespace is the operator's: the Services of the shards are there, and so are the
	// Ingresses. Instance is the deployment's name.
	Namespace, Instance string
	// IngressClass is that of an Ingress whose Portal names none; empty for the
	// cluster's own choice.
	IngressClass string
	// PortalURL is where the portals' pages are, without a path; PublicURL and LiveURL
	// are the API's and the sockets'. None of their hosts is a portal's own.
	PortalURL, PublicURL, LiveURL string
}

var _ resource.Rules[*v1alpha1.Portal] = (*Rules)(nil)

// again is when to look for what somebody else has to do first.
const again = time.Minute

// actor is who changes the portal: the operator, as its events say, for a resource.
func (r *Rules) actor(o *v1alpha1.Portal) activity.Actor {
	return activity.Actor{By: "operator", At: r.Clock.Now().UTC().Truncate(time.Microsecond), Resource: resource.Managing(Kind, o).String()}
}

// Apply makes the portal what the resource says.
func (r *Rules) Apply(ctx context.Context, o *v1alpha1.Portal) error {
	org, err := r.home(ctx, o)
	if err != nil {
		return err
	}
	if err := r.stay(ctx, o, org.ID); err != nil {
		return err
	}
	o.Status.OrganisationID = org.ID.String()
	which, err := r.identity(ctx, o, org.ID)
	if err != nil {
		return err
	}
	w, err := r.wanted(o, org, which)
	if err != nil {
		return err
	}
	if err := r.applyPortal(ctx, o, w); err != nil {
		return errors.Join(err, r.closeLost(ctx, o, w))
	}
	unproven, err := r.prove(ctx, w)
	if err != nil {
		return err
	}
	if err := r.keepIngress(ctx, o, w, unproven == nil); err != nil {
		return err
	}
	switch {
	case w.rival != nil:
		return w.rival
	case unproven != nil:
		return unproven
	}
	if len(w.problems) > 0 {
		return &resource.Refusal{Reason: v1alpha1.ReasonNotReady, Message: w.problems[0].Message, After: again}
	}
	return nil
}

// stay keeps a portal with its organization.
func (r *Rules) stay(ctx context.Context, o *v1alpha1.Portal, org id.Org) error {
	if o.Status.ID == "" {
		return nil
	}
	anew, err := resource.Rehomed(ctx, r.Directory, o.Status.OrganisationID, org, o.Spec.Organisation.Name)
	if anew {
		o.Status.ID, o.Status.Slug, o.Status.URL = "", "", ""
	}
	return err
}

// applyPortal claims the addresses that are wanted and writes the portal. What was claimed
// for one that is refused is let go again.
func (r *Rules) applyPortal(ctx context.Context, o *v1alpha1.Portal, w *wanted) error {
	held, err := r.claim(ctx, o, w)
	if err == nil {
		err = r.refuse(w, r.Tenants.InTx(ctx, w.org.ID, func(ctx context.Context, tx *tenant.Tx) error {
			return r.write(ctx, tx, o, w)
		}, tenant.Idempotent(true))) // A portal that was made is found by its id.
	}
	if refusal, ok := errors.AsType[*resource.Refusal](err); ok {
		return errors.Join(refusal, r.Addresses.Release(ctx, held...))
	}
	if err == nil {
		r.Addresses.Displace(ctx, held...)
		r.setStatus(o, w)
	}
	return err
}

// home is the portal's organization.
func (r *Rules) home(ctx context.Context, o *v1alpha1.Portal) (directory.Organization, error) {
	name := o.Spec.Organisation.Name
	which, _, err := resource.Home(ctx, r.Client, o.Namespace, name)
	if err != nil {
		return directory.Organization{}, err
	}
	org, err := r.Directory.Organization(ctx, which)
	if errors.Is(err, directory.ErrUnknown) || err == nil && org.State != directory.Active {
		return org, resource.Pending(again, "The Organisation %s is not there any more.", name)
	}
	return org, err
}

// identity is the id of the portal. A resource that has one adopts no other: it would
// leave the first behind. One that has none goes on with what a resource of its name
// left, in a cluster that was lost or before its finalizer was taken off.
func (r *Rules) identity(ctx context.Context, o *v1alpha1.Portal, org id.Org) (id.Portal, error) {
	if o.Status.ID == "" && resource.Adopts(o) == "" {
		left, err := portal.Declared(ctx, r.Tenants, org, resource.Reference(Kind, o))
		if !errdefs.IsNotFound(err, portal.Noun) {
			return left.ID, err
		}
	}
	which, err := resource.Identity(o, o.Status.ID, id.ParsePortal, id.PortalNamedAt)
	if err == nil && o.Status.ID != "" && o.Status.ID != which.String() {
		err = resource.Invalid("It manages %s already. Make another Portal to adopt %s.", o.Status.ID, which)
	}
	return which, err
}

// bound is the portal that the resource has noted, or that has noted the resource. The
// error is errdefs.NotFound where there is none.
func (r *Rules) bound(ctx context.Context, o *v1alpha1.Portal, org id.Org) (id.Portal, error) {
	if which, err := id.ParsePortal(o.Status.ID); err == nil {
		return which, nil
	}
	p, err := portal.Declared(ctx, r.Tenants, org, resource.Reference(Kind, o))
	return p.ID, err
}

// Delete archives the portal.
func (r *Rules) Delete(ctx context.Context, o *v1alpha1.Portal) error {
	if err := r.end(ctx, o, func(ctx context.Context, tx *tenant.Tx, p portal.Portal) error {
		p, err := portal.Archive(ctx, tx, p, r.actor(o))
		if err != nil {
			return err
		}
		_, err = portal.HandOver(ctx, tx, p, managed.API)
		return err
	}); err != nil {
		return err
	}
	return r.dropIngress(ctx, o)
}

// Release leaves the portal to those who call the API, and the Ingress to those who run
// the cluster.
func (r *Rules) Release(ctx context.Context, o *v1alpha1.Portal) error {
	if err := r.releaseIngress(ctx, o); err != nil {
		return err
	}
	return r.end(ctx, o, func(ctx context.Context, tx *tenant.Tx, p portal.Portal) error {
		p, err := portal.HandOver(ctx, tx, p, managed.API)
		if err != nil {
			return err
		}
		r.actor(o).Log(tx, "portal.released", "portal", p.ID, nil)
		return nil
	})
}

// end does with what the resource manages what ends that. Nothing is left to do where
// it manages nothing, or its organization is gone.
func (r *Rules) end(ctx context.Context, o *v1alpha1.Portal, with func(context.Context, *tenant.Tx, portal.Portal) error) error {
	org, err := id.ParseOrg(o.Status.OrganisationID)
	if err != nil {
		home, err := r.home(ctx, o)
		if _, ok := errors.AsType[*resource.Refusal](err); ok {
			return nil
		}
		if err != nil {
			return err
		}
		org = home.ID
	}
	which, err := r.bound(ctx, o, org)
	if errdefs.IsNotFound(err, portal.Noun) || errors.Is(err, directory.ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	err = r.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		p, err := portal.Lock(ctx, tx, which)
		if errdefs.IsNotFound(err, portal.Noun) || errdefs.IsArchived(err, portal.Noun) || err == nil && p.ManagedBy != resource.Managing(Kind, o) {
			return nil
		}
		if err != nil {
			return err
		}
		return with(ctx, tx, p)
	}, tenant.Idempotent(true))
	if errors.Is(err, directory.ErrUnknown) {
		return nil
	}
	return err
}
