package portal_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"visavis.dev/config"
	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/eventing/event/eventtest"
	"visavis.dev/pkg/portals/door"
	rows "visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

func TestMadeAndPublished(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	museum := w.apply("acme", "museum", nil)
	o := w.reconciled(museum)
	w.ready(o)
	require.Equal(t, metav1.ConditionTrue, w.condition(o, v1alpha1.Published).Status)
	p := w.row(o)
	require.Equal(t, rows.Published, p.State)
	require.Equal(t, "Portal acme/museum", p.ManagedBy.String())
	require.Equal(t, "https://portals.example.com/p/"+p.Slug, o.Status.URL)
	require.EqualValues(t, 1, *o.Status.PublishedVersion)
	doors, err := door.List(ctx, w.Tenants, w.acme, p.ID)
	require.NoError(t, err)
	require.True(t, doors[0].Open)

	var told []string
	for _, e := range eventtest.Log(t, w.Tenants, w.acme) {
		told = append(told, string(e.Type))
	}
	require.Subset(t, told, []string{"portal.created", "workspace.created", "workspace.published", "portal.updated"})

	w.wrote = 0
	require.Equal(t, o.ResourceVersion, w.reconciled(museum).ResourceVersion)
	require.Zero(t, w.wrote)
	require.Equal(t, p, w.row(o), "nothing is written where nothing differs")
}

func TestDriftAndChanges(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	museum := w.apply("acme", "museum", nil)
	o := w.reconciled(museum)
	before := w.row(o)
	_, err := w.shard().Exec(ctx, `UPDATE portal SET name = 'x', definition = jsonb_set(definition, '{privacy,privacyUrl}', 'null') WHERE org_id = $1`, w.acme)
	require.NoError(t, err)
	_, err = w.shard().Exec(ctx, `UPDATE portal_door SET open = false WHERE org_id = $1`, w.acme)
	require.NoError(t, err)
	w.ready(w.reconciled(museum))
	p := w.row(o)
	require.Equal(t, "The museum", p.Name)
	require.Equal(t, "https://example.com/privacy", *p.Definition.Privacy.PrivacyURL)
	require.Equal(t, p.DraftVersion, *p.PublishedVersion, "and published")
	doors, err := door.List(ctx, w.Tenants, w.acme, p.ID)
	require.NoError(t, err)
	require.True(t, doors[0].Open)

	o = w.change(museum, func(o *v1alpha1.Portal) {
		o.Spec.Name, o.Spec.Slug, o.Spec.Speaker.VoiceID, o.Spec.Visitors = "Harbour museum", "harbour", id.NamedVoice("owen").String(), nil
	})
	w.refused(o, v1alpha1.ReasonNotReady, "Every door is closed")
	doors, err = door.List(ctx, w.Tenants, w.acme, p.ID)
	require.NoError(t, err)
	require.False(t, doors[0].Open, "as it is declared")
	o = w.change(museum, func(o *v1alpha1.Portal) { o.Spec.Visitors = &v1alpha1.VisitorsDoor{} })
	w.ready(o)
	p = w.row(o)
	require.Equal(t, []string{"Harbour museum", "harbour"}, []string{p.Name, p.Slug})
	require.Equal(t, before.Persona, p.Persona, "who speaks here alone has another voice")
	require.Equal(t, "https://portals.example.com/p/harbour", o.Status.URL)

	o = w.change(museum, func(o *v1alpha1.Portal) { o.Spec.Published = new(bool) })
	w.ready(o)
	require.Equal(t, rows.Unpublished, w.row(o).State)
	require.Equal(t, v1alpha1.ReasonUnpublished, w.condition(o, v1alpha1.Published).Reason)
	o = w.change(museum, func(o *v1alpha1.Portal) { o.Spec.Published = new(true) })
	require.Equal(t, rows.Published, w.row(o).State)
}

func TestWhatKeepsItFromGoingLive(t *testing.T) {
	w := newWorld(t)
	museum := w.apply("acme", "museum", func(o *v1alpha1.Portal) { o.Spec.Privacy.PrivacyURL = "" })
	o := w.reconciled(museum)
	const why = "The page must link to your privacy notice: people are told what becomes of what they say. Set it with PATCH /portals/{id}."
	w.refused(o, v1alpha1.ReasonNotReady, why)
	require.Equal(t, []v1alpha1.PortalProblem{{Field: "privacy.privacyUrl", Message: why}}, o.Status.Problems)
	published := w.condition(o, v1alpha1.Published)
	require.Equal(t, []string{"False", v1alpha1.ReasonNotReady, why}, []string{string(published.Status), published.Reason, published.Message})
	require.Equal(t, rows.Draft, w.row(o).State)
	o = w.change(museum, func(o *v1alpha1.Portal) { o.Spec.Privacy.PrivacyURL = "https://example.com/privacy" })
	w.ready(o)
	require.Empty(t, o.Status.Problems)
}

func TestWhatCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		change          func(*v1alpha1.Portal)
		reason, message string
	}{
		"organisation": {func(o *v1alpha1.Portal) { o.Spec.Organisation.Name = "nobody" }, v1alpha1.ReasonPending, "The Organisation nobody is not there yet."},
		"template":     {func(o *v1alpha1.Portal) { o.Spec.Template = "zoo" }, v1alpha1.ReasonInvalid, `There is no template "zoo"; the templates are blank`},
		"answer":       {func(o *v1alpha1.Portal) { o.Spec.Answers = map[string]string{"luck": "x"} }, v1alpha1.ReasonInvalid, `asks no question "luck"`},
		"language":     {func(o *v1alpha1.Portal) { o.Spec.Languages = []string{"Elvish"} }, v1alpha1.ReasonInvalid, "languages[0] is not a language"},
		"host":         {func(o *v1alpha1.Portal) { o.Spec.Host = "api.example.com" }, v1alpha1.ReasonInvalid, "cannot be a portal's"},
		"persona":      {func(o *v1alpha1.Portal) { o.Spec.Speaker = v1alpha1.PortalSpeaker{PersonaID: id.NewPersona().String()} }, v1alpha1.ReasonInvalid, "is not a persona"},
		"voice":        {func(o *v1alpha1.Portal) { o.Spec.Speaker.VoiceID = id.NewVoice().String() }, v1alpha1.ReasonInvalid, "is not a voice"},
		"avatar":       {func(o *v1alpha1.Portal) { o.Spec.Speaker.AvatarID = id.NewAvatar().String() }, v1alpha1.ReasonInvalid, "avatar"},
		"adoption": {func(o *v1alpha1.Portal) {
			o.Annotations = map[string]string{v1alpha1.AdoptAnnotation: id.NewPortal().String()}
		}, v1alpha1.ReasonInvalid, "to adopt"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			o := w.reconciled(w.apply("acme", "museum", c.change))
			w.refused(o, c.reason, c.message)
			require.Empty(t, o.Status.ID)
		})
	}
}

func TestThePlanHasRoom(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	require.NoError(t, w.Directory.SetOverrides(ctx, w.acme, plan.Overrides{Limits: plan.Limits{plan.Portals: new(int64)}}))
	museum := w.apply("acme", "museum", func(o *v1alpha1.Portal) { o.Spec.Slug = "museum" })
	w.refused(w.reconciled(museum), v1alpha1.ReasonLimitReached, "portals")
	_, err := w.Directory.Claimed(ctx, directory.Address{Kind: directory.Slug, Name: "museum"})
	require.ErrorIs(t, err, directory.ErrUnknown, "its address is free")
	w.Catalogue, err = plan.Parse(bytes.ReplaceAll(config.Plans, []byte("portals, "), nil), rate.SpecRates())
	require.NoError(t, err)
	w.refused(w.reconciled(w.apply("other", "museum", nil)), v1alpha1.ReasonInvalid, "portals")
}

func TestAdoptedAndReleased(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	museum := w.apply("acme", "museum", nil)
	o := w.change(museum, func(*v1alpha1.Portal) {})
	made := w.row(o).ID
	o = w.change(museum, func(o *v1alpha1.Portal) { o.Annotations = map[string]string{v1alpha1.ReleaseAnnotation: "true"} })
	w.refused(o, v1alpha1.ReasonReleased, "managed through the API")
	require.Equal(t, managed.API, w.row(o).ManagedBy)
	require.NoError(t, w.objects.Delete(ctx, o))
	adopt := func(o *v1alpha1.Portal) { o.Annotations = map[string]string{v1alpha1.AdoptAnnotation: made.String()} }
	next := w.apply("acme", "again", adopt)
	o = w.reconciled(next)
	w.ready(o)
	require.Equal(t, made.String(), o.Status.ID)
	w.refused(w.reconciled(w.apply("acme", "late", adopt)), v1alpha1.ReasonConflict, "It is managed by Portal acme/again, which is older.")
	w.refused(w.reconciled(w.apply("acme", "else", func(o *v1alpha1.Portal) {
		adopt(o)
		o.UID, o.Spec.Template = "else", "course"
	})), v1alpha1.ReasonConflict, "Portal acme/again")
}

func TestDeleted(t *testing.T) {
	for policy, want := range map[v1alpha1.DeletionPolicy]rows.State{v1alpha1.DeletePolicy: rows.Archived, v1alpha1.OrphanPolicy: rows.Published} {
		t.Run(string(policy), func(t *testing.T) {
			w, ctx := newWorld(t), context.Background()
			museum := w.apply("acme", "museum", func(o *v1alpha1.Portal) { o.Spec.DeletionPolicy, o.Spec.Host = policy, "museum.example.com" })
			o := w.reconciled(museum)
			w.ready(o)
			require.NoError(t, w.objects.Delete(ctx, o))
			require.NoError(t, w.look(museum))
			require.True(t, apierrors.IsNotFound(w.objects.Get(ctx, museum, &v1alpha1.Portal{})))
			p := w.row(o)
			require.Equal(t, want, p.State)
			require.Equal(t, managed.API, p.ManagedBy)
			var left networkingv1.IngressList
			require.NoError(t, w.objects.List(ctx, &left))
			require.Len(t, left.Items, map[rows.State]int{rows.Archived: 0, rows.Published: 1}[want])
		})
	}
}

func TestItGoesWithItsOrganisation(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	museum := w.apply("acme", "museum", nil)
	o := w.reconciled(museum)
	require.NoError(t, w.Tenants.Shut(ctx, "a", w.acme))
	require.NoError(t, w.objects.Delete(ctx, o))
	require.NoError(t, w.look(museum))
	require.True(t, apierrors.IsNotFound(w.objects.Get(ctx, museum, &v1alpha1.Portal{})))
}

func TestOfTwoWithOneAddressTheOlderHasIt(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	host := func(o *v1alpha1.Portal) { o.Spec.Host = "museum.example.com" }
	older, younger := w.apply("acme", "museum", host), w.apply("other", "museum", host)
	w.refused(w.reconciled(younger), v1alpha1.ReasonConflict, "The host museum.example.com is claimed by Portal acme/museum, which is older.")
	w.ready(w.reconciled(older))
	w.refused(w.reconciled(younger), v1alpha1.ReasonConflict, "Portal acme/museum")
	require.NoError(t, w.objects.Delete(ctx, w.get(older)))
	require.NoError(t, w.look(older))
	w.clock.Step(rowsClaimed)
	w.ready(w.reconciled(younger))
	require.Equal(t, "museum.example.com", w.row(w.get(younger)).Host)
	require.Equal(t, "https://museum.example.com/", w.get(younger).Status.URL)

	// One that asks for it later gives way only to an older one, and goes on without.
	w.refused(w.reconciled(w.apply("acme", "late", host)), v1alpha1.ReasonConflict, "Portal other/museum")
	slug := func(o *v1alpha1.Portal) { o.Spec.Slug = "museum" }
	w.ready(w.reconciled(w.apply("acme", "first", slug)))
	w.refused(w.reconciled(w.apply("other", "second", slug)), v1alpha1.ReasonConflict, "The slug museum is claimed by Portal acme/first, which is older.")
}

func TestAYoungerOneLetsAnUnprovenHostGo(t *testing.T) {
	w := newWorld(t)
	w.Addresses.Proof = &rows.Prover{Secret: []byte("the deployment's"), Resolver: &zone{}}
	older, younger := w.apply("acme", "museum", nil), w.apply("other", "museum", func(o *v1alpha1.Portal) { o.Spec.Host = "museum.example.com" })
	w.refused(w.reconciled(younger), v1alpha1.ReasonNotReady, "is not proven yet")
	o := w.change(older, func(o *v1alpha1.Portal) { o.Spec.Host = "museum.example.com" })
	w.refused(o, v1alpha1.ReasonConflict, "The host museum.example.com is that of Portal other/museum.")
	w.refused(w.reconciled(younger), v1alpha1.ReasonConflict, "Portal acme/museum, which is older")
	require.Empty(t, w.row(w.get(younger)).Host)
	w.clock.Step(rowsClaimed)
	w.refused(w.reconciled(older), v1alpha1.ReasonNotReady, "is not proven yet")
	require.Equal(t, "museum.example.com", w.row(w.get(older)).Host)
}

// Whoever proved that a host is theirs keeps it, whatever an older resource asks for.
func TestAProvenHostStays(t *testing.T) {
	w := newWorld(t)
	older, younger := w.apply("acme", "museum", nil), w.apply("other", "museum", func(o *v1alpha1.Portal) { o.Spec.Host = "museum.example.com" })
	w.ready(w.reconciled(younger))
	o := w.change(older, func(o *v1alpha1.Portal) { o.Spec.Host = "museum.example.com" })
	w.refused(o, v1alpha1.ReasonConflict, "The host museum.example.com is that of Portal other/museum.")
	w.ready(w.reconciled(younger))
	require.Equal(t, "museum.example.com", w.row(w.get(younger)).Host)
}

// rowsClaimed is how long a claim that came to nothing keeps others off.
const rowsClaimed = 11 * 60 * 1e9

func TestTheIngress(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	museum := w.apply("acme", "museum", func(o *v1alpha1.Portal) {
		o.Spec.Host = "museum.example.com"
		o.Spec.Ingress = &v1alpha1.PortalIngress{TLSSecretName: "museum-tls", Annotations: map[string]string{"cert-manager.io/issuer": "le"}}
	})
	w.ready(w.reconciled(museum))
	only := func() *networkingv1.Ingress {
		var list networkingv1.IngressList
		require.NoError(t, w.objects.List(ctx, &list))
		require.Len(t, list.Items, 1)
		return &list.Items[0]
	}
	i := only()
	require.Equal(t, "visavis", i.Namespace)
	require.Equal(t, "nginx", *i.Spec.IngressClassName)
	require.Equal(t, "museum.example.com", i.Spec.Rules[0].Host)
	require.Equal(t, networkingv1.IngressServiceBackend{Name: "a-portal", Port: networkingv1.ServiceBackendPort{Name: "http"}},
		*i.Spec.Rules[0].HTTP.Paths[0].Backend.Service)
	require.Equal(t, []networkingv1.IngressTLS{{Hosts: []string{"museum.example.com"}, SecretName: "museum-tls"}}, i.Spec.TLS)
	require.Equal(t, "le", i.Annotations["cert-manager.io/issuer"])

	// Drift is put right, what others noted stays, and what the spec has no more goes.
	i.Spec.Rules, i.Annotations["other.example/seen"] = nil, "yes"
	i.Spec.DefaultBackend = &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "x"}}
	require.NoError(t, w.objects.Update(ctx, i))
	w.ready(w.change(museum, func(o *v1alpha1.Portal) { o.Spec.Ingress = &v1alpha1.PortalIngress{ClassName: "traefik"} }))
	i = only()
	require.Len(t, i.Spec.Rules, 1)
	require.Equal(t, "traefik", *i.Spec.IngressClassName)
	require.Empty(t, i.Spec.TLS)
	require.Equal(t, "yes", i.Annotations["other.example/seen"])
	require.NotContains(t, i.Annotations, "cert-manager.io/issuer")
	w.wrote = 0
	w.reconciled(museum)
	require.Zero(t, w.wrote)

	w.change(museum, func(o *v1alpha1.Portal) { o.Spec.Host = "" })
	var list networkingv1.IngressList
	require.NoError(t, w.objects.List(ctx, &list))
	require.Empty(t, list.Items)
}

func TestAnOrganisationsOwnPersonaSpeaks(t *testing.T) {
	w := newWorld(t)
	o := w.reconciled(w.apply("acme", "museum", nil))
	speaker := w.row(o).Persona
	twin := w.reconciled(w.apply("acme", "twin", func(o *v1alpha1.Portal) { o.Spec.Speaker = v1alpha1.PortalSpeaker{PersonaID: speaker.String()} }))
	w.ready(twin)
	require.Equal(t, speaker, w.row(twin).Persona)
}

// Wherever the operator dies, there is one portal in the end.
func TestACrashAnywhereConverges(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	require.NoError(t, w.Directory.SetOverrides(ctx, w.acme, plan.Overrides{Limits: plan.Limits{plan.Portals: nil}}))
	converges := func(kind string, arm func(int), disarm func() bool) {
		for at := 1; ; at++ {
			name := fmt.Sprintf("%s-%d", kind, at)
			which := w.apply("acme", name, func(o *v1alpha1.Portal) { o.Spec.Name, o.Spec.Slug, o.Spec.Host = name, name, name+".example.com" })
			arm(at)
			err := w.look(which)
			if !disarm() {
				require.NoError(t, err)
				require.Greater(t, at, 2, "all were tried")
				return
			}
			o := w.reconciled(which)
			w.ready(o)
			var portals, ingresses int
			require.NoError(t, w.shard().QueryRow(ctx, `SELECT count(*) FROM portal WHERE org_id = $1 AND name = $2`, w.acme, name).Scan(&portals))
			require.Equal(t, 1, portals, name)
			var list networkingv1.IngressList
			require.NoError(t, w.objects.List(ctx, &list))
			for _, i := range list.Items {
				if i.Spec.Rules[0].Host == name+".example.com" {
					ingresses++
				}
			}
			require.Equal(t, 1, ingresses, name)
		}
	}
	converges("statement", func(at int) { w.crash.Arm(at) }, func() bool { return w.crash.Arm(0) })
	converges("request", func(at int) { w.failing = at }, func() bool {
		failed := w.failing <= 0
		w.failing = 0
		return failed
	})
}

func TestThePortalOfAnotherNameIsNotAdopted(t *testing.T) {
	w := newWorld(t)
	o := w.reconciled(w.apply("acme", "museum", nil))
	made := portaltest.Portal(t, w.Tenants, w.acme, w.row(o).Persona)
	adopting := w.reconciled(w.apply("acme", "adopting", func(o *v1alpha1.Portal) {
		o.Annotations = map[string]string{v1alpha1.AdoptAnnotation: made.ID.String()}
	}))
	w.refused(adopting, v1alpha1.ReasonInvalid, "was built from the template course")
	require.Equal(t, managed.API, func() managed.By {
		p, err := rows.Get(context.Background(), w.Tenants, w.acme, made.ID)
		require.NoError(t, err)
		return p.ManagedBy
	}())
	w.refused(w.change(types.NamespacedName{Namespace: "acme", Name: "museum"}, func(o *v1alpha1.Portal) {
		o.Annotations = map[string]string{v1alpha1.AdoptAnnotation: made.ID.String()}
	}), v1alpha1.ReasonInvalid, "It manages")
	require.NoError(t, w.Tenants.InTx(context.Background(), w.acme, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := rows.Edit(ctx, tx, made.ID)
		return err
	}))
}
