package resource_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

func TestRehomed(t *testing.T) {
	_, d, one, two := tenanttest.NewDirected(t)
	anew, err := resource.Rehomed(t.Context(), d, "", one, "acme")
	require.NoError(t, err)
	require.False(t, anew, "it has nothing yet")
	anew, err = resource.Rehomed(t.Context(), d, one.String(), one, "acme")
	require.NoError(t, err)
	require.False(t, anew)
	_, err = resource.Rehomed(t.Context(), d, two.String(), one, "acme")
	var refused *resource.Refusal
	require.ErrorAs(t, err, &refused)
	require.Equal(t, v1alpha1.ReasonInvalid, refused.Reason)
	require.Contains(t, refused.Message, two.String())
	anew, err = resource.Rehomed(t.Context(), d, id.NewOrg().String(), one, "acme")
	require.NoError(t, err)
	require.True(t, anew, "what it had is gone")
}
