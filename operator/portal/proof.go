package portal

import (
	"context"
	"errors"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/portal"
)

// prove looks whether the portal's host is proven to be its organisation's, as
// publishing through the API does: the page is not served there before. The error is a
// Refusal that says what to enter in the DNS.
func (r *Rules) prove(ctx context.Context, w *wanted) error {
	if w.host == "" {
		return nil
	}
	p, err := portal.Get(ctx, r.Tenants, w.org.ID, w.which)
	if err != nil || p.Host == "" || p.HostProvenAt != nil {
		return err
	}
	switch err := r.Addresses.Prove(ctx, w.org.ID, p); {
	case errors.Is(err, portal.ErrTaken):
		return &resource.Refusal{Reason: v1alpha1.ReasonConflict, Message: "Another portal has the host " + p.Host + ".", After: again}
	case err != nil:
		return err
	}
	p, err = portal.Get(ctx, r.Tenants, w.org.ID, w.which)
	if err != nil || p.HostProvenAt != nil || r.Addresses.Proof == nil {
		return err
	}
	record := r.Addresses.Proof.Record(w.org.ID, p.ID, p.Host)
	return &resource.Refusal{
		Reason: v1alpha1.ReasonNotReady, After: again,
		Message: "The host " + p.Host + " is not proven yet: enter the " + record.Type + " record " + record.Name + " with the value " + record.Value + ".",
	}
}
