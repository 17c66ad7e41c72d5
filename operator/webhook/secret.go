package webhook

import (
	"context"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/tenant"
)

const (
	// secretKey is the entry of the signing secret.
	secretKey = "secret"
	// grace is how long a replaced signing secret signs too.
	grace = 24 * time.Hour
)

// made is the label of what the operator made.
var made = map[string]string{"app.kubernetes.io/managed-by": "visavis-operator"}

// Made are the labels of the Secrets that the operator makes. The cache of its manager
// is to have no others.
func Made() map[string]string { return maps.Clone(made) }

// keepSecret keeps the Secret as the row has it. The row is the truth, so a crash
// between the two is mended by the next look. An entry that somebody removed asks for
// another signing secret.
func (r *Rules) keepSecret(ctx context.Context, o *v1alpha1.Webhook, org id.Org, d *webhook.Declared) error {
	name := secretName(o)
	secret, err := r.secret(ctx, o, name, d)
	if err != nil {
		return err
	}
	if len(secret.Data[secretKey]) == 0 {
		if err := r.rotate(ctx, o, org, d, string(secret.UID)+"/"+secret.ResourceVersion); err != nil {
			return err
		}
	}
	text, err := webhook.OpenSecret(r.Vault, d.ID, d.Sealed)
	if err != nil {
		return err
	}
	if err := r.correct(ctx, o, secret, text); err != nil {
		return err
	}
	return r.movedTo(ctx, o, name)
}

// secret finds the Secret of the resource, or makes it. The cache may lack one that is
// there: it was made just now, or somebody took the label off, or it is another's.
func (r *Rules) secret(ctx context.Context, o *v1alpha1.Webhook, name string, d *webhook.Declared) (*corev1.Secret, error) {
	found, key := &corev1.Secret{}, client.ObjectKey{Namespace: o.Namespace, Name: name}
	err := r.Client.Get(ctx, key, found)
	if apierrors.IsNotFound(err) {
		var text webhook.Secret
		if text, err = webhook.OpenSecret(r.Vault, d.ID, d.Sealed); err != nil {
			return nil, err
		}
		found = newSecret(o, name, text)
		if err = r.Client.Create(ctx, found); apierrors.IsAlreadyExists(err) {
			found = &corev1.Secret{}
			err = r.Reader.Get(ctx, key, found)
		}
	}
	if err == nil && !metav1.IsControlledBy(found, o) && !r.kept(found, d) {
		err = resource.Conflict("A Secret %s exists that is not this Webhook's. Delete it, or give spec.secretName.", name)
	}
	return found, err
}

// kept says whether a Secret that nobody controls holds what signs already: it was kept
// when the webhook was released, or when its cluster was lost. It is taken.
func (r *Rules) kept(secret *corev1.Secret, d *webhook.Declared) bool {
	text, err := webhook.OpenSecret(r.Vault, d.ID, d.Sealed)
	return err == nil && metav1.GetControllerOf(secret) == nil && string(secret.Data[secretKey]) == string(text)
}

func newSecret(o *v1alpha1.Webhook, name string, text webhook.Secret) *corev1.Secret {
	owner := metav1.NewControllerRef(o, v1alpha1.GroupVersion.WithKind(Kind))
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: name, Labels: made, OwnerReferences: []metav1.OwnerReference{*owner}},
		Data:       map[string][]byte{secretKey: []byte(text)},
	}
}

// correct writes what differs of a Secret, unless somebody changed it meanwhile.
func (r *Rules) correct(ctx context.Context, o *v1alpha1.Webhook, secret *corev1.Secret, text webhook.Secret) error {
	before := secret.DeepCopy()
	if err := controllerutil.SetControllerReference(o, secret, r.Client.Scheme()); err != nil {
		return err
	}
	for k, v := range made {
		metav1.SetMetaDataLabel(&secret.ObjectMeta, k, v)
	}
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	secret.Data[secretKey] = []byte(text)
	if equality.Semantic.DeepEqual(before, secret) {
		return nil
	}
	return r.Client.Patch(ctx, secret, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// rotate replaces the signing secret, once for each removal of the entry.
func (r *Rules) rotate(ctx context.Context, o *v1alpha1.Webhook, org id.Org, d *webhook.Declared, removal string) error {
	return r.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		locked, err := webhook.LockDeclared(ctx, tx, resource.Managing(Kind, o))
		if err != nil || locked == nil {
			return err
		}
		_, err = locked.RotateFor(ctx, tx, r.Vault, removal, grace, r.actor(o))
		*d = *locked
		return err
	}, tenant.Idempotent(true))
}

// movedTo notes where the Secret is, and deletes the one of the name before.
func (r *Rules) movedTo(ctx context.Context, o *v1alpha1.Webhook, name string) error {
	if was := o.Status.SecretName; was != "" && was != name {
		var old corev1.Secret
		err := r.Client.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: was}, &old)
		if err == nil && metav1.IsControlledBy(&old, o) {
			err = r.Client.Delete(ctx, &old)
		}
		if client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	o.Status.SecretName = name
	return nil
}

// releaseSecret leaves the Secret to whoever uses it: it stays when the resource goes.
func (r *Rules) releaseSecret(ctx context.Context, o *v1alpha1.Webhook) error {
	if o.Status.SecretName == "" {
		return nil
	}
	var secret corev1.Secret
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: o.Status.SecretName}, &secret)
	if err != nil || !metav1.IsControlledBy(&secret, o) {
		return client.IgnoreNotFound(err)
	}
	before := secret.DeepCopy()
	if err := controllerutil.RemoveControllerReference(o, &secret, r.Client.Scheme()); err != nil {
		return err
	}
	for k := range made {
		delete(secret.Labels, k)
	}
	return client.IgnoreNotFound(r.Client.Patch(ctx, &secret, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}
