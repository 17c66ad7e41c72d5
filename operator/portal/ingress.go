package portal

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
)

// An Ingress stands where its Service is, in the operator's namespace. Its Portal, which
// is in another, cannot own it, so it says by annotations whose it is and goes with the
// Portal's finalizer.
const (
	madeLabel     = "app.kubernetes.io/managed-by"
	madeHere      = "visavis-operator"
	instanceLabel = "app.kubernetes.io/instance"
	// portalAnnotation names the Portal as namespace/name, uidAnnotation tells it from
	// one that had its name before.
	portalAnnotation = "visavis.dev/portal"
	uidAnnotation    = "visavis.dev/portal-uid"
	// givenAnnotation names the annotations that came from the Portal.
	givenAnnotation = "visavis.dev/portal-annotations"
)

// ingressName is the same for each Portal of a name, however long that is.
func ingressName(o *v1alpha1.Portal) string {
	sum := sha256.Sum256([]byte(o.Namespace + "/" + o.Name))
	return "portal-" + hex.EncodeToString(sum[:10])
}

// keepIngress keeps the Ingress of the portal's host. There is none without a host, nor
// for one that is not proven: it would take another's visitors, and get a certificate.
func (r *Rules) keepIngress(ctx context.Context, o *v1alpha1.Portal, w *wanted, proven bool) error {
	if w.now.Host == "" || !proven {
		return r.dropIngress(ctx, o)
	}
	found, err := r.ingress(ctx, o)
	if err != nil {
		return err
	}
	if found == nil {
		found = &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: ingressName(o)}}
		r.shapeIngress(o, w, found)
		if err := r.Client.Create(ctx, found); !apierrors.IsAlreadyExists(err) {
			return err
		}
		if found, err = r.released(ctx, o); err != nil {
			return err
		}
	}
	before := found.DeepCopy()
	r.shapeIngress(o, w, found)
	if equality.Semantic.DeepEqual(before, found) {
		return nil
	}
	return r.Client.Patch(ctx, found, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// shapeIngress makes of an Ingress what the portal needs. Annotations that others made
// stay.
func (r *Rules) shapeIngress(o *v1alpha1.Portal, w *wanted, i *networkingv1.Ingress) {
	spec := v1alpha1.PortalIngress{}
	if o.Spec.Ingress != nil {
		spec = *o.Spec.Ingress
	}
	metav1.SetMetaDataLabel(&i.ObjectMeta, madeLabel, madeHere)
	metav1.SetMetaDataLabel(&i.ObjectMeta, instanceLabel, r.Instance)
	for key := range strings.SplitSeq(i.Annotations[givenAnnotation], ",") {
		delete(i.Annotations, key)
	}
	for key, value := range spec.Annotations {
		metav1.SetMetaDataAnnotation(&i.ObjectMeta, key, value)
	}
	for key, value := range map[string]string{
		portalAnnotation: o.Namespace + "/" + o.Name, uidAnnotation: string(o.UID),
		givenAnnotation: strings.Join(slices.Sorted(maps.Keys(spec.Annotations)), ","),
	} {
		metav1.SetMetaDataAnnotation(&i.ObjectMeta, key, value)
	}
	i.Spec.IngressClassName = some(cmp.Or(spec.ClassName, r.IngressClass))
	i.Spec.TLS = nil
	if spec.TLSSecretName != "" {
		i.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{w.now.Host}, SecretName: spec.TLSSecretName}}
	}
	i.Spec.Rules = []networkingv1.IngressRule{{Host: w.now.Host, IngressRuleValue: networkingv1.IngressRuleValue{
		HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
			Path: "/", PathType: new(networkingv1.PathTypePrefix),
			Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
				Name: w.org.Shard + "-portal", Port: networkingv1.ServiceBackendPort{Name: "http"},
			}},
		}}},
	}}}
}

// ingress finds the Ingress of the resource; nil for none.
func (r *Rules) ingress(ctx context.Context, o *v1alpha1.Portal) (*networkingv1.Ingress, error) {
	var found networkingv1.Ingress
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: ingressName(o)}, &found)
	if err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return &found, nil
}

// released finds the Ingress that a Portal of the resource's name left to those who run
// the cluster: it has no label any more, so the cache lacks it. The error is a Refusal
// where it is something else.
func (r *Rules) released(ctx context.Context, o *v1alpha1.Portal) (*networkingv1.Ingress, error) {
	var found networkingv1.Ingress
	if err := r.Reader.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: ingressName(o)}, &found); err != nil {
		return nil, err
	}
	if found.Annotations[portalAnnotation] != o.Namespace+"/"+o.Name {
		return nil, resource.Conflict("There is an Ingress %s/%s already, which is not this Portal's.", found.Namespace, found.Name)
	}
	return &found, nil
}

// dropIngress deletes the Ingress that the operator made for the resource.
func (r *Rules) dropIngress(ctx context.Context, o *v1alpha1.Portal) error {
	found, err := r.ingress(ctx, o)
	if err != nil || found == nil || found.Labels[madeLabel] != madeHere || found.Annotations[uidAnnotation] != string(o.UID) {
		return err
	}
	return client.IgnoreNotFound(r.Client.Delete(ctx, found))
}

// releaseIngress leaves the Ingress to those who run the cluster.
func (r *Rules) releaseIngress(ctx context.Context, o *v1alpha1.Portal) error {
	found, err := r.ingress(ctx, o)
	if err != nil || found == nil || found.Labels[madeLabel] != madeHere {
		return err
	}
	before := found.DeepCopy()
	delete(found.Labels, madeLabel)
	return client.IgnoreNotFound(r.Client.Patch(ctx, found, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}
