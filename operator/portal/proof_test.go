package portal_test

import (
	"context"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/pkg/base/id"
	rows "visavis.dev/pkg/portals/portal"
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
	o := w.reconciled(museum)
	w.refused(o, v1alpha1.ReasonNotReady, "_visavis.museum.example.com")
	require.Equal(t, "_visavis.museum.example.com.", dns.asked)

	p := w.row(o)
	require.Nil(t, p.HostProvenAt)
	org, err := id.ParseOrg(o.Status.OrganisationID)
	require.NoError(t, err)
	dns.record = w.Addresses.Proof.Record(org, p.ID, p.Host, p.HostRound).Value
	require.Empty(t, w.ingresses(), "it would take another's visitors")
	w.ready(w.reconciled(museum))
	require.NotNil(t, w.row(o).HostProvenAt)
	require.Len(t, w.ingresses(), 1)

	// The proof of one host proves no other.
	o = w.change(museum, func(o *v1alpha1.Portal) { o.Spec.Host = "www.bank.example.org" })
	w.refused(o, v1alpha1.ReasonNotReady, "_visavis.www.bank.example.org")
	require.Nil(t, w.row(o).HostProvenAt)
	require.Empty(t, w.ingresses())
	o = w.change(museum, func(o *v1alpha1.Portal) { o.Spec.Host = "" })
	w.ready(o)
	o = w.change(museum, func(o *v1alpha1.Portal) { o.Spec.Host = "www.bank.example.org" })
	w.refused(o, v1alpha1.ReasonNotReady, "_visavis.www.bank.example.org")
}

// The newest proof has the host, also that of a younger resource. The one that loses it
// has no Ingress for it any more, and says how to have it again.
func TestTheNewestProofHasTheHost(t *testing.T) {
	w := newWorld(t)
	dns := &zone{}
	w.Addresses.Proof = &rows.Prover{Secret: []byte("the deployment's"), Resolver: dns}
	value := func(message string) string { return regexp.MustCompile(`visavis-proof=\w+`).FindString(message) }
	host := func(o *v1alpha1.Portal) { o.Spec.Host = "museum.example.com" }
	older := w.apply("acme", "museum", host)
	dns.record = value(w.condition(w.reconciled(older), v1alpha1.Ready).Message)
	w.ready(w.reconciled(older))
	younger := w.apply("other", "museum", host)
	o := w.reconciled(younger)
	w.refused(o, v1alpha1.ReasonConflict, "Portal acme/museum, which is older. To have it, enter the TXT record _visavis.museum.example.com")
	dns.record = value(w.condition(o, v1alpha1.Ready).Message)
	w.ready(w.reconciled(younger))
	require.NotNil(t, w.row(w.get(younger)).HostProvenAt)
	require.Equal(t, rows.Overtaken, w.row(w.get(older)).HostLost)
	o = w.reconciled(older)
	w.refused(o, v1alpha1.ReasonConflict, "is that of Portal other/museum. To have it, enter")
	require.Len(t, w.ingresses(), 1)
	require.Equal(t, "other/museum", w.ingresses()[0].Annotations["visavis.dev/portal"])

	dns.record = value(w.condition(o, v1alpha1.Ready).Message)
	w.ready(w.reconciled(older))
	w.refused(w.reconciled(younger), v1alpha1.ReasonConflict, "Portal acme/museum, which is older. To have it, enter")
	require.Len(t, w.ingresses(), 1)
	require.Equal(t, "acme/museum", w.ingresses()[0].Annotations["visavis.dev/portal"])
}

// An Ingress that was left behind is taken again by the Portal of its name.
func TestAReleasedIngressIsTakenAgain(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	host := func(o *v1alpha1.Portal) { o.Spec.Host = "museum.example.com" }
	museum := w.apply("acme", "museum", host)
	made := w.row(w.reconciled(museum)).ID
	o := w.change(museum, func(o *v1alpha1.Portal) { o.Annotations = map[string]string{v1alpha1.ReleaseAnnotation: "true"} })
	w.refused(o, v1alpha1.ReasonReleased, "managed through the API")
	require.NoError(t, w.objects.Delete(ctx, o))
	w.hide = true
	again := w.apply("acme", "museum", func(o *v1alpha1.Portal) {
		host(o)
		o.UID, o.Annotations = "another", map[string]string{v1alpha1.AdoptAnnotation: made.String()}
	})
	w.ready(w.reconciled(again))
	require.Len(t, w.ingresses(), 1)
	require.Equal(t, "visavis-operator", w.ingresses()[0].Labels["app.kubernetes.io/managed-by"])
}
