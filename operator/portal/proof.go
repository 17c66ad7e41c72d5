package portal

import (
	"context"
	"errors"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/portals/portal"
)

// closeLost takes away the Ingress of a host that the portal has lost: another one of the
// host is who has it now.
func (r *Rules) closeLost(ctx context.Context, o *v1alpha1.Portal, w *wanted) error {
	p, isNew, err := r.there(ctx, w)
	if err != nil || isNew || p.HostLost == "" {
		return err
	}
	return r.dropIngress(ctx, o)
}

// prove looks whether the portal's host is proven to be its organization's, as
// publishing through the API does: the page is not served there before. The refusal says
// what to enter in the DNS, or who has the host; nil where nothing is to be proven.
func (r *Rules) prove(ctx context.Context, w *wanted) (*resource.Refusal, error) {
	if w.now.Host == "" || w.now.HostProvenAt != nil {
		return nil, nil
	}
	switch err := r.Addresses.Prove(ctx, w.org.ID, w.now); {
	case errors.Is(err, portal.ErrTaken):
		return &resource.Refusal{Reason: v1alpha1.ReasonConflict, Message: "Another portal has the host " + w.now.Host + ".", After: again}, nil
	case err != nil:
		return nil, err
	}
	p, err := portal.Get(ctx, r.Tenants, w.org.ID, w.which)
	if err != nil {
		return nil, err
	}
	w.now = p
	if p.Host == "" || p.HostProvenAt != nil || r.Addresses.Proof == nil {
		return nil, nil
	}
	record := r.Addresses.Proof.Record(w.org.ID, p.ID, p.Host, p.HostRound)
	return &resource.Refusal{
		Reason: v1alpha1.ReasonNotReady, After: again,
		Message: "The host " + p.Host + " is not proven yet: enter the " + record.Type + " record " + record.Name + " with the value " + record.Value + ".",
	}, nil
}
