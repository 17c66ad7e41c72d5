package portal_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/pkg/id"
	rows "visavis.dev/pkg/portal"
)

// zone is a DNS with one record for every name.
type zone struct{ asked, record string }

func (z *zone) LookupTXT(_ context.Context, name string) ([]string, error) {
	z.asked = name
	return []string{z.record}, nil
}

func TestAHostIsProven(t *testing.T) {
	w := newWorld(t)
	dns := &zone{}
	w.Addresses.Proof = &rows.Prover{Secret: []byte("the deployment's"), Resolver: dns}
	museum := w.apply("acme", "museum", func(o *v1alpha1.Portal) { o.Spec.Host = "museum.example.com" })
	o := w.settled(museum)
	w.refused(o, v1alpha1.ReasonNotReady, "_visavis.museum.example.com")
	require.Equal(t, "_visavis.museum.example.com.", dns.asked)

	p := w.row(o)
	require.Nil(t, p.HostProvenAt)
	org, err := id.ParseOrg(o.Status.OrganisationID)
	require.NoError(t, err)
	dns.record = w.Addresses.Proof.Record(org, p.ID, p.Host).Value
	w.ready(w.settled(museum))
	require.NotNil(t, w.row(o).HostProvenAt)
}
