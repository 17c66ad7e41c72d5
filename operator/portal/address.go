package portal

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/directory"
)

// claim makes sure that the addresses are the portal's to have, and plans one that is
// to be built. An address that a portal has stays its own, but for a host that is not
// proven and that an older resource asks for: that one is let go. Of those that wait for
// an address, the oldest gets it.
func (r *Rules) claim(ctx context.Context, o *v1alpha1.Portal, w *wanted) (held []portal.Held, err error) {
	there, isNew, err := r.there(ctx, w)
	if err != nil {
		return nil, err
	}
	if isNew && resource.Adopts(o) != "" {
		return nil, resource.Invalid("The organization has no portal %s to adopt.", w.which)
	}
	if o.Spec.Slug != "" && there.Slug != o.Spec.Slug {
		older, err := r.older(ctx, o, bySlug, o.Spec.Slug, "slug")
		if err != nil {
			return nil, err
		}
		if older != nil {
			return nil, older
		}
	}
	if err := r.checkHost(ctx, o, w, there); err != nil {
		return nil, err
	}
	if held, err = r.claimSlug(ctx, o, w, there, isNew); err != nil {
		return held, err
	}
	if w.host != "" && w.rival == nil {
		held, err = r.keep(ctx, o, w, held, directory.Host, w.host, byHost, there.Host == w.host)
	}
	return held, err
}

// checkHost looks for an older resource that asks for the host too: w.rival, unless the
// portal has the host, or proves it. The error is the rival of a portal that is not at
// the host yet.
func (r *Rules) checkHost(ctx context.Context, o *v1alpha1.Portal, w *wanted, there portal.Portal) (err error) {
	if w.host == "" || there.Host == w.host && there.HostProvenAt != nil {
		return nil
	}
	if w.rival, err = r.older(ctx, o, byHost, w.host, "host"); err != nil {
		return err
	}
	if w.rival != nil && r.Addresses.Proof != nil {
		w.rival.Message += r.wayOut(w, w.host, there)
		if r.Addresses.Proof.Proves(ctx, w.org.ID, w.which, w.host, there.HostRound) {
			w.rival = nil // the newest proof has it, however young
		}
	}
	if w.rival != nil && there.Host != w.host {
		return w.rival
	}
	return nil
}

// claimSlug claims the slug that the spec has; a portal to be built has one in any case.
func (r *Rules) claimSlug(ctx context.Context, o *v1alpha1.Portal, w *wanted, there portal.Portal, isNew bool) (held []portal.Held, err error) {
	if !isNew {
		if o.Spec.Slug == "" {
			return nil, nil
		}
		return r.keep(ctx, o, w, nil, directory.Slug, o.Spec.Slug, bySlug, there.Slug == o.Spec.Slug)
	}
	if w.draft, err = r.plan(o, w); err != nil {
		return nil, err
	}
	h, err := w.draft.Claim(ctx, r.Addresses, w.org.ID)
	if err != nil {
		return nil, r.taken(ctx, o, w, err, bySlug, w.draft.Portal.Slug, "slug")
	}
	return []portal.Held{h}, nil
}

// there is the portal, where it is not new.
func (r *Rules) there(ctx context.Context, w *wanted) (p portal.Portal, isNew bool, err error) {
	p, err = portal.Get(ctx, r.Tenants, w.org.ID, w.which)
	if errdefs.IsNotFound(err, portal.Noun) {
		return p, true, nil
	}
	return p, false, err
}

// keep claims an address, unless it is claimed for the portal that has it.
func (r *Rules) keep(
	ctx context.Context, o *v1alpha1.Portal, w *wanted, held []portal.Held, kind directory.AddressKind, name, field string, has bool,
) ([]portal.Held, error) {
	if has {
		c, err := r.Directory.Claimed(ctx, directory.Address{Kind: kind, Name: name})
		if err == nil && c.Org == w.org.ID && c.Portal == w.which {
			return held, nil
		}
		if err != nil && !errors.Is(err, directory.ErrUnknown) {
			return held, err
		}
	}
	h, err := r.Addresses.Claim(ctx, w.org.ID, w.which, kind, name)
	if err != nil {
		return held, r.taken(ctx, o, w, err, field, name, string(kind))
	}
	return append(held, h), nil
}

// older refuses an address that an older resource asks for; nil where none does.
func (r *Rules) older(ctx context.Context, o *v1alpha1.Portal, field, value, what string) (*resource.Refusal, error) {
	others, err := r.others(ctx, o, field, value)
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		if r.Served.Serve(other.Namespace) && !resource.Released(other) && other.DeletionTimestamp.IsZero() && resource.Older(other, o) {
			return resource.Conflict("The %s %s is claimed by Portal %s/%s, which is older.", what, value, other.Namespace, other.Name), nil
		}
	}
	return nil, nil
}

// taken says whose an address is, where that is known.
func (r *Rules) taken(ctx context.Context, o *v1alpha1.Portal, w *wanted, err error, field, value, what string) error {
	if !errors.Is(err, portal.ErrTaken) {
		return err
	}
	others, err := r.others(ctx, o, field, value)
	if err != nil {
		return err
	}
	refusal := resource.Conflict("The %s %s is another portal's.", what, value)
	if len(others) > 0 {
		refusal = resource.Conflict("The %s %s is that of Portal %s/%s.", what, value, others[0].Namespace, others[0].Name)
	}
	if what == string(directory.Host) && r.Addresses.Proof != nil {
		there, _, err := r.there(ctx, w)
		if err != nil {
			return err
		}
		refusal.Message += r.wayOut(w, value, there)
	}
	refusal.After = again
	return refusal
}

// wayOut says how a portal gets a host that another one has.
func (r *Rules) wayOut(w *wanted, host string, there portal.Portal) string {
	record := r.Addresses.Proof.Record(w.org.ID, w.which, host, there.HostRound)
	return " To have it, enter the " + record.Type + " record " + record.Name + " with the value " + record.Value + "."
}

// others are the other resources with a value in a field.
func (r *Rules) others(ctx context.Context, o *v1alpha1.Portal, field, value string) ([]*v1alpha1.Portal, error) {
	var list v1alpha1.PortalList
	if err := r.Client.List(ctx, &list, client.MatchingFields{field: value}); err != nil {
		return nil, err
	}
	var others []*v1alpha1.Portal
	for i := range list.Items {
		if list.Items[i].UID != o.UID {
			others = append(others, &list.Items[i])
		}
	}
	return others, nil
}
