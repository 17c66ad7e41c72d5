package organisation

import (
	"cmp"
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/apikey"
)

// Entries of the Secret.
const (
	keyEntry      = "key"
	keyIDEntry    = "keyId"
	contractEntry = "apiVersion"
)

// The label of what the operator made. Its cache has no other Secrets.
const (
	madeLabel = "app.kubernetes.io/managed-by"
	madeHere  = "visavis-operator"
)

// secretName is the name of the Secret that a resource asks for.
func secretName(o *v1alpha1.Organisation) string {
	return cmp.Or(o.Spec.APIKey.SecretName, o.Name+"-api-key")
}

// secret finds the Secret of the resource, or makes it with a fresh secret. The cache
// may lack one that is there: it was made just now, or somebody took the label off, or
// it is another's.
func (r *Rules) secret(ctx context.Context, o *v1alpha1.Organisation, org id.Org) (*corev1.Secret, error) {
	found, name := &corev1.Secret{}, client.ObjectKey{Namespace: o.Namespace, Name: secretName(o)}
	err := r.Client.Get(ctx, name, found)
	if apierrors.IsNotFound(err) {
		owner := metav1.NewControllerRef(o, v1alpha1.GroupVersion.WithKind(Kind))
		found = &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: name.Namespace, Name: name.Name, Labels: map[string]string{madeLabel: madeHere}, OwnerReferences: []metav1.OwnerReference{*owner},
			},
			Data: entries(o, org, apikey.NewSecret(apikey.Live)),
		}
		if err = r.Client.Create(ctx, found); apierrors.IsAlreadyExists(err) {
			found = &corev1.Secret{}
			err = r.Reader.Get(ctx, name, found)
		}
	}
	if err != nil || metav1.IsControlledBy(found, o) {
		return found, err
	}
	kept, err := r.kept(ctx, o, org, found)
	if err == nil && !kept {
		err = resource.Conflict("A Secret %s exists that is not this Organisation's. Delete it, or give spec.apiKey.secretName.", name.Name)
	}
	return found, err
}

// kept says whether a Secret that nobody controls holds a key that a resource of the name
// made: it was kept when that was released, or when its cluster was lost. It is taken.
func (r *Rules) kept(ctx context.Context, o *v1alpha1.Organisation, org id.Org, secret *corev1.Secret) (bool, error) {
	text, ok := apikey.ParseSecret(string(secret.Data[keyEntry]))
	if !ok || metav1.GetControllerOf(secret) != nil {
		return false, nil
	}
	k, err := r.Keys.Get(ctx, org, keyID(org, text))
	if errors.Is(err, apikey.ErrUnknown) {
		return false, nil
	}
	return err == nil && k.CreatedBy == maker(o), err
}

func entries(o *v1alpha1.Organisation, org id.Org, text apikey.Secret) map[string][]byte {
	return map[string][]byte{
		keyEntry: []byte(text), keyIDEntry: []byte(keyID(org, text).String()), contractEntry: []byte(o.Spec.APIKey.APIVersion),
	}
}

// write writes what differs of a Secret, unless somebody changed it meanwhile.
func (r *Rules) write(ctx context.Context, o *v1alpha1.Organisation, secret *corev1.Secret, text apikey.Secret, k apikey.Key) error {
	before := secret.DeepCopy()
	if err := controllerutil.SetControllerReference(o, secret, r.Client.Scheme()); err != nil {
		return err
	}
	metav1.SetMetaDataLabel(&secret.ObjectMeta, madeLabel, madeHere)
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	secret.Data[keyEntry], secret.Data[keyIDEntry], secret.Data[contractEntry] = []byte(text), []byte(k.ID.String()), []byte(k.Contract)
	if equality.Semantic.DeepEqual(before, secret) {
		return nil
	}
	return r.Client.Patch(ctx, secret, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// owned is the Secret that the resource noted; nil where that is not its own.
func (r *Rules) owned(ctx context.Context, o *v1alpha1.Organisation) (*corev1.Secret, error) {
	if o.Status.APIKey == nil {
		return nil, nil
	}
	var found corev1.Secret
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: o.Status.APIKey.SecretName}, &found)
	if err != nil || !metav1.IsControlledBy(&found, o) {
		return nil, client.IgnoreNotFound(err)
	}
	return &found, nil
}

// forgetSecret deletes the Secret that was there before, unless it is still the one.
func (r *Rules) forgetSecret(ctx context.Context, o *v1alpha1.Organisation, now string) error {
	found, err := r.owned(ctx, o)
	if err != nil || found == nil || found.Name == now {
		return err
	}
	return client.IgnoreNotFound(r.Client.Delete(ctx, found))
}

// releaseSecret leaves the Secret to whoever uses it: it stays when the resource goes.
func (r *Rules) releaseSecret(ctx context.Context, o *v1alpha1.Organisation) error {
	found, err := r.owned(ctx, o)
	if err != nil || found == nil {
		return err
	}
	before := found.DeepCopy()
	if err := controllerutil.RemoveControllerReference(o, found, r.Client.Scheme()); err != nil {
		return err
	}
	delete(found.Labels, madeLabel)
	return client.IgnoreNotFound(r.Client.Patch(ctx, found, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}
