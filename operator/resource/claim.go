package resource

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"visavis.dev/pkg/base/managed"
)

// Claim decides who manages a row that a resource claims: nil where it is the
// resource's, or its to take, since whoever has it is gone, gave it up, or is younger.
// The error is a Refusal where somebody else keeps it. The API keeps what it manages
// unless adopt says that the resource may take it over.
//
// holder is an empty resource of the kind, to read whoever has the row into.
func Claim(ctx context.Context, c client.Reader, kind string, me, holder client.Object, by managed.By, adopt bool) error {
	if by == Managing(kind, me) {
		return nil
	}
	other, ok := by.Resource()
	if !ok {
		if adopt {
			return nil
		}
		return Conflict("It exists already and is managed through the API. Annotate this %s with visavis.dev/adopt to take it over.", kind)
	}
	if other.Kind != kind {
		return Conflict("It is managed by %s.", other)
	}
	err := c.Get(ctx, client.ObjectKey{Namespace: other.Namespace, Name: other.Name}, holder)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case string(holder.GetUID()) != other.UID, Released(holder), Older(me, holder):
		return nil
	}
	return Conflict("It is managed by %s, which is older.", other)
}
