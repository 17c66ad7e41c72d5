// Package resource reconciles custom resources of every kind alike: it keeps the
// finalizer, obeys the deletion policy and the annotations, and writes the status,
// with events and figures, only when something changed. What a kind does is its
// Rules, one small package each.
package resource

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/pkg/base/managed"
)

// Object is a resource of one of the kinds.
type Object interface {
	client.Object
	// State is the part of its status that every kind has.
	State() *v1alpha1.Status
	// Deletion is the policy of its deletion.
	Deletion() v1alpha1.DeletionPolicy
}

// Rules bring the resources of one kind about. All of them may be repeated at any
// time: the process can end between any two lines.
type Rules[T Object] interface {
	// Apply makes the rows and the children of a resource what its spec says, and
	// notes in its status how they are. The condition Ready follows from the error:
	// nil, a *Refusal, or one that is tried again.
	Apply(ctx context.Context, resource T) error
	// Delete removes what the resource manages.
	Delete(ctx context.Context, resource T) error
	// Release gives what the resource manages back to the API.
	Release(ctx context.Context, resource T) error
}

// Refusal says why a resource cannot be what its spec says, for now or until the
// spec changes. It is an answer, not a failure.
type Refusal struct {
	// Reason is the one of the condition Ready, Message a sentence for people.
	Reason, Message string
	// After is when to look again; zero for the usual time.
	After time.Duration
}

func (r *Refusal) Error() string { return r.Message }

// Invalid refuses what the spec asks for, until it changes.
func Invalid(format string, args ...any) *Refusal {
	return &Refusal{Reason: v1alpha1.ReasonInvalid, Message: fmt.Sprintf(format, args...)}
}

// Conflict refuses what somebody else has.
func Conflict(format string, args ...any) *Refusal {
	return &Refusal{Reason: v1alpha1.ReasonConflict, Message: fmt.Sprintf(format, args...)}
}

// Pending waits for what the resource depends on.
func Pending(after time.Duration, format string, args ...any) *Refusal {
	return &Refusal{Reason: v1alpha1.ReasonPending, Message: fmt.Sprintf(format, args...), After: after}
}

// Soon is no failure: the resource is as it should be, but for something that goes on
// beside it and is to be looked at after a while.
type Soon struct{ After time.Duration }

func (s *Soon) Error() string { return "look again after " + s.After.String() }

// asRefusal is the refusal in an error; nil where it has none.
func asRefusal(err error) *Refusal {
	refusal, _ := errors.AsType[*Refusal](err)
	return refusal
}

// Reference is the resource as sentences name it.
func Reference(kind string, o client.Object) managed.Resource {
	return managed.Resource{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID())}
}

// Managing is the resource as rows note it.
func Managing(kind string, o client.Object) managed.By { return Reference(kind, o).By() }

// Released says whether the resource manages nothing any more, by its annotation.
func Released(o client.Object) bool { return o.GetAnnotations()[v1alpha1.ReleaseAnnotation] == "true" }

// Adopts is the id of what the resource takes over; empty for nothing.
func Adopts(o client.Object) string { return o.GetAnnotations()[v1alpha1.AdoptAnnotation] }

// Older says whether a was made before b. Of two resources that claim one thing, the
// older one has it.
func Older(a, b client.Object) bool {
	x, y := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	if !x.Equal(&y) {
		return x.Before(&y)
	}
	return a.GetUID() < b.GetUID()
}
