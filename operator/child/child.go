// Package child keeps the objects that a resource is made of, such as Deployments and
// Secrets, as they are wanted, and writes them only where they differ from that.
package child

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/managed"
)

const (
	// Manager is the operator's name as an owner of fields, and the value of
	// ManagedByLabel.
	Manager = "visavis-operator"
	// ManagedByLabel is on every child; only objects that have it are cached.
	ManagedByLabel = "app.kubernetes.io/managed-by"
	// OwnerAnnotation names the resource whose child an object is, also where that
	// is of another namespace and so can be no owner reference.
	OwnerAnnotation = "visavis.dev/owner"
	// AppliedAnnotation is the hash of what was wanted when the child was written last.
	AppliedAnnotation = "visavis.dev/applied"
)

// Writer writes children.
type Writer struct {
	// Client reads from the cache, Reader does not.
	Client client.Client
	Reader client.Reader
}

// Apply makes a child of owner what it is wanted to be. Fields that want leaves out
// are other people's; those that an earlier one named and this one does not are taken
// away. The error is a Refusal where the name is somebody else's object's.
func (w *Writer) Apply(ctx context.Context, owner, want client.Object) error {
	wanted, err := w.complete(owner, want)
	if err != nil {
		return err
	}
	have, err := w.have(ctx, owner, want)
	if err != nil {
		return err
	}
	if have != nil && Same(wanted.Object, have) {
		return nil
	}
	return w.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted), client.FieldOwner(Manager), client.ForceOwnership)
}

// Create makes a child that can only be made, such as a Job, unless it is there, and
// reads it into want.
func (w *Writer) Create(ctx context.Context, owner, want client.Object) error {
	wanted, err := w.complete(owner, want)
	if err != nil {
		return err
	}
	have, err := w.have(ctx, owner, want)
	if err != nil {
		return err
	}
	if have == nil {
		if err := w.Client.Create(ctx, wanted, client.FieldOwner(Manager)); err != nil {
			return err
		}
		have = wanted.Object
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(have, want)
}

// Remove deletes a child, named by its kind, namespace and name, with what it made. One
// that is not there, or is not owner's, is left.
func (w *Writer) Remove(ctx context.Context, owner, o client.Object) error {
	err := w.Client.Get(ctx, client.ObjectKeyFromObject(o), o)
	if err != nil || !w.Owns(owner, o) || !o.GetDeletionTimestamp().IsZero() {
		return client.IgnoreNotFound(err)
	}
	return client.IgnoreNotFound(w.Client.Delete(ctx, o,
		client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: new(o.GetUID())}))
}

// Release lets go of a child, named by its kind, namespace and name: it does not go with
// its owner. It says still whose it was, so that a resource of the owner's name may take
// it again.
func (w *Writer) Release(ctx context.Context, owner, o client.Object) error {
	err := w.Client.Get(ctx, client.ObjectKeyFromObject(o), o)
	if err != nil || !metav1.IsControlledBy(o, owner) {
		return client.IgnoreNotFound(err)
	}
	before := o.DeepCopyObject().(client.Object)
	if err := controllerutil.RemoveControllerReference(owner, o, w.Client.Scheme()); err != nil {
		return err
	}
	return client.IgnoreNotFound(w.Client.Patch(ctx, o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

// have is the child as it is; nil where there is none. The cache holds only what has
// the label, so whatever it does not have is looked for beside it.
func (w *Writer) have(ctx context.Context, owner, want client.Object) (map[string]any, error) {
	have := want.DeepCopyObject().(client.Object)
	key := client.ObjectKeyFromObject(want)
	err := w.Client.Get(ctx, key, have)
	if apierrors.IsNotFound(err) {
		err = w.Reader.Get(ctx, key, have)
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !w.Owns(owner, have) && !w.left(owner, have):
		return nil, resource.Conflict("There is a %s %s/%s already, which it did not make.", w.kind(want), key.Namespace, key.Name)
	case !have.GetDeletionTimestamp().IsZero():
		return nil, resource.Pending(0, "Its %s %s/%s is still being deleted.", w.kind(want), key.Namespace, key.Name)
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(have)
}

// complete is a child with what every child has.
func (w *Writer) complete(owner, want client.Object) (*unstructured.Unstructured, error) {
	gvk, err := apiutil.GVKForObject(want, w.Client.Scheme())
	if err != nil {
		return nil, err
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(want.DeepCopyObject())
	if err != nil {
		return nil, err
	}
	delete(object, "status")
	dropNulls(object)
	u := &unstructured.Unstructured{Object: object}
	u.SetGroupVersionKind(gvk)
	labels, annotations := u.GetLabels(), u.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	labels[ManagedByLabel] = Manager
	annotations[OwnerAnnotation] = string(w.by(owner))
	u.SetLabels(labels)
	u.SetAnnotations(annotations)
	if ns := owner.GetNamespace(); ns == "" || ns == want.GetNamespace() {
		u.SetOwnerReferences([]metav1.OwnerReference{w.reference(owner)})
	}
	text, err := json.Marshal(u.Object)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(text)
	annotations[AppliedAnnotation] = hex.EncodeToString(hash[:8])
	u.SetAnnotations(annotations)
	return u, nil
}

func (w *Writer) reference(owner client.Object) metav1.OwnerReference {
	gvk, _ := apiutil.GVKForObject(owner, w.Client.Scheme()) // by complained of an unknown kind
	return metav1.OwnerReference{
		APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: owner.GetName(), UID: owner.GetUID(),
		Controller: new(true), BlockOwnerDeletion: new(true),
	}
}

// Owns says whether an object is a child of owner.
func (w *Writer) Owns(owner, o client.Object) bool {
	return managed.By(o.GetAnnotations()[OwnerAnnotation]) == w.by(owner) || metav1.IsControlledBy(o, owner)
}

// left says whether an object was a child of a resource of the owner's name, and is
// nobody's now.
func (w *Writer) left(owner, o client.Object) bool {
	was, ok := managed.By(o.GetAnnotations()[OwnerAnnotation]).Resource()
	return ok && was.SameName(resource.Reference(w.kind(owner), owner)) && metav1.GetControllerOf(o) == nil
}

func (w *Writer) by(owner client.Object) managed.By { return resource.Managing(w.kind(owner), owner) }

// kind is a kind of the scheme. That it has one is the programmer's business.
func (w *Writer) kind(o client.Object) string {
	gvk, err := apiutil.GVKForObject(o, w.Client.Scheme())
	if err != nil {
		panic(fmt.Sprintf("child: %v", err))
	}
	return gvk.Kind
}

// dropNulls takes away what the types write for values that were never set.
func dropNulls(object map[string]any) {
	for key, value := range object {
		switch value := value.(type) {
		case nil:
			delete(object, key)
		case map[string]any:
			dropNulls(value)
		case []any:
			for _, item := range value {
				if m, ok := item.(map[string]any); ok {
					dropNulls(m)
				}
			}
		}
	}
}
