package webhook_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/operatortest"
)

// A resource that no look could mend is refused when it is applied, with a sentence.
func TestResourcesThatAreRefused(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	c, namespace := operatortest.Client(t, scheme), operatortest.Namespace(t)
	hook := func(change func(*v1alpha1.Webhook)) *v1alpha1.Webhook {
		o := &v1alpha1.Webhook{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "hook-"},
			Spec: v1alpha1.WebhookSpec{
				Organisation: v1alpha1.OrganisationReference{Name: "acme"}, URL: "https://example.com/hooks", Events: []string{"*"},
			},
		}
		change(o)
		return o
	}
	for name, r := range map[string]struct {
		change  func(*v1alpha1.Webhook)
		message string
	}{
		"no address":         {func(o *v1alpha1.Webhook) { o.Spec.URL = "orders" }, "url must be an address such as https://example.com/hooks"},
		"not https":          {func(o *v1alpha1.Webhook) { o.Spec.URL = "http://example.com" }, "url must be an address such as https://example.com/hooks"},
		"no events":          {func(o *v1alpha1.Webhook) { o.Spec.Events = []string{} }, "should have at least 1 items"},
		"all and another":    {func(o *v1alpha1.Webhook) { o.Spec.Events = []string{"*", "session.ended"} }, `"*" stands alone`},
		"an event twice":     {func(o *v1alpha1.Webhook) { o.Spec.Events = []string{"session.ended", "session.ended"} }, "Duplicate value"},
		"no such contract":   {func(o *v1alpha1.Webhook) { o.Spec.APIVersion = "2020-01-01" }, "Unsupported value"},
		"no such delivery":   {func(o *v1alpha1.Webhook) { o.Spec.Delivery = "Mine" }, "Unsupported value"},
		"a long description": {func(o *v1alpha1.Webhook) { o.Spec.Description = string(make([]byte, 201)) }, "may not be more than 200"},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, c.Create(t.Context(), hook(r.change)), r.message)
		})
	}
	made := hook(func(*v1alpha1.Webhook) {})
	require.NoError(t, c.Create(t.Context(), made))
	require.Equal(t, v1alpha1.DeletePolicy, made.Spec.DeletionPolicy)
	require.Equal(t, v1alpha1.SharedDelivery, made.Spec.Delivery)
	require.Equal(t, "2026-10-01", made.Spec.APIVersion)
	moved := made.DeepCopy()
	moved.Spec.Organisation.Name = "other"
	require.ErrorContains(t, c.Patch(t.Context(), moved, client.MergeFrom(made)), "organisation cannot be changed: make another Webhook")
}
