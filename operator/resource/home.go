package resource

import (
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/directory"
)

// Home is the organization that a resource of a namespace names, and the Organisation
// there. The error is a Refusal where it is not made yet.
func Home(ctx context.Context, c client.Reader, namespace, name string) (which id.Org, o v1alpha1.Organisation, err error) {
	err = c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &o)
	if client.IgnoreNotFound(err) != nil {
		return which, o, err
	}
	which, malformed := id.ParseOrg(o.Status.ID)
	if err != nil || malformed != nil {
		return which, o, Pending(0, "The Organisation %s is not there yet.", name)
	}
	return which, o, nil
}

// Rehomed says whether a resource of an organization begins anew, since that one is gone
// and another has its name by now. noted is the id of the organization that it has
// something in; empty for none. The error is a Refusal while that organization lives:
// what is there would be left behind.
func Rehomed(ctx context.Context, d *directory.Directory, noted string, now id.Org, name string) (bool, error) {
	was, err := id.ParseOrg(noted)
	if err != nil || was == now {
		return false, nil //nolint:nilerr // nothing is noted
	}
	_, err = d.Organization(ctx, was)
	if errors.Is(err, directory.ErrUnknown) {
		return true, nil
	}
	if err == nil {
		refusal := Invalid("It has something in %s, and the Organisation %s is %s by now. Delete it and make it again.", was, name, now)
		refusal.After = time.Minute
		err = refusal
	}
	return false, err
}
