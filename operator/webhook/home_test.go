package webhook_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"visavis.dev/operator/apis/v1alpha1"
)

// In a cluster made anew on the databases of a lost one, the same manifests have other
// uids: they go on with what those of their names left.
func TestWhatAResourceOfTheNameLeft(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	o := s.apply("orders")
	which, signs := o.Status.ID, s.signs(o)
	s.apply("orders-2")
	o.Finalizers = nil
	require.NoError(t, s.client.Update(t.Context(), o))
	require.NoError(t, s.client.Delete(t.Context(), o))
	require.Nil(t, s.get("orders"))
	var secret corev1.Secret
	require.NoError(t, s.client.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: "orders-signing"}, &secret))
	secret.OwnerReferences = nil // it was brought along
	require.NoError(t, s.client.Update(t.Context(), &secret))

	o = s.apply("orders", func(o *v1alpha1.Webhook) { o.UID = "another" })
	requireReady(t, o)
	require.Equal(t, which, o.Status.ID)
	require.Equal(t, signs, s.secret("orders-signing"))
	require.Equal(t, 2, s.live())
}

// A webhook is not left behind in an organization that another one replaced.
func TestAnotherOrganisationOfTheName(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	o := s.apply("orders")
	requireReady(t, o)
	var organisation v1alpha1.Organisation
	require.NoError(t, s.client.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: "acme"}, &organisation))
	organisation.Status.ID = s.other.String()
	require.NoError(t, s.client.Status().Update(t.Context(), &organisation))
	o = s.look("orders")
	require.Contains(t, requireCondition(t, o, v1alpha1.Ready, metav1.ConditionFalse, v1alpha1.ReasonInvalid), "Delete it and make it again")
	require.Equal(t, s.org.String(), o.Status.OrganisationID)
	require.NoError(t, s.client.Delete(t.Context(), o))
	require.Nil(t, s.look("orders"))
	require.Zero(t, s.live())

	// Where the first is gone with all that it had, it begins anew.
	o = s.apply("again")
	requireReady(t, o)
	organisation.Status.ID = s.org.String()
	require.NoError(t, s.client.Status().Update(t.Context(), &organisation))
	_, err := s.directory.DB.Exec(t.Context(), `DELETE FROM organization WHERE id = $1`, s.other)
	require.NoError(t, err)
	was := o.Status.ID
	o = s.look("again")
	requireReady(t, o)
	require.NotEqual(t, was, o.Status.ID)
	require.Equal(t, s.org.String(), o.Status.OrganisationID)
}
