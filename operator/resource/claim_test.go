package resource_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/managed"
)

var began = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// webhook is a resource with a name and a uid, made so many seconds after the beginning.
func webhook(name, uid string, after int) *v1alpha1.Webhook {
	return &v1alpha1.Webhook{ObjectMeta: metav1.ObjectMeta{
		Namespace: "acme", Name: name, UID: types.UID(uid), CreationTimestamp: metav1.NewTime(began.Add(time.Duration(after) * time.Second)),
	}}
}

func TestOlder(t *testing.T) {
	first, second, twin := webhook("a", "9", 0), webhook("b", "1", 1), webhook("c", "10", 0)
	require.True(t, resource.Older(first, second))
	require.False(t, resource.Older(second, first))
	require.True(t, resource.Older(twin, first), "of one second, the lesser uid")
	require.False(t, resource.Older(first, twin))
}

// Who manages a row keeps it, unless it is gone, gave it up, or is younger.
func TestClaim(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	me, older, younger, released := webhook("me", "5", 10), webhook("older", "6", 0), webhook("younger", "7", 20), webhook("released", "8", 0)
	released.Annotations = map[string]string{v1alpha1.ReleaseAnnotation: "true"}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(me, older, younger, released).Build()
	by := func(name, uid string) managed.By {
		return managed.Resource{Kind: "Webhook", Namespace: "acme", Name: name, UID: uid}.By()
	}
	for name, claim := range map[string]struct {
		by    managed.By
		adopt bool
		says  string
	}{
		"its own":                       {by("me", "5"), false, ""},
		"the API's":                     {managed.API, false, "visavis.dev/adopt"},
		"the API's, to be adopted":      {managed.API, true, ""},
		"another kind's":                {managed.Resource{Kind: "Portal", Namespace: "acme", Name: "me", UID: "1"}.By(), true, "Portal acme/me"},
		"an older one's":                {by("older", "6"), true, "It is managed by Webhook acme/older, which is older."},
		"a younger one's":               {by("younger", "7"), false, ""},
		"that of one that gave it up":   {by("released", "8"), false, ""},
		"that of one that is gone":      {by("gone", "1"), false, ""},
		"that of a name's earlier one":  {by("older", "1"), false, ""},
		"that of its own name, earlier": {by("me", "1"), false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := resource.Claim(t.Context(), c, "Webhook", me, &v1alpha1.Webhook{}, claim.by, claim.adopt)
			if claim.says == "" {
				require.NoError(t, err)
				return
			}
			var refused *resource.Refusal
			require.ErrorAs(t, err, &refused)
			require.Equal(t, v1alpha1.ReasonConflict, refused.Reason)
			require.Contains(t, refused.Message, claim.says)
		})
	}
}
