package organisation_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
)

func TestMade(t *testing.T) {
	w := newWorld(t)
	acme := w.apply("acme", "main", func(o *v1alpha1.Organisation) {
		o.Spec.Limits = map[string]string{"webhooks": "7", "read": "10/20"}
	})
	o := w.reconciled(acme)
	w.ready(o)
	require.Equal(t, "acme", o.Status.Slug)
	require.Equal(t, "a", o.Status.Shard)
	row := w.row(o)
	require.Equal(t, directory.Active, row.State)
	require.Equal(t, "Organisation acme/main", row.ManagedBy.String())
	require.EqualValues(t, 7, *row.Overrides.Limits[plan.Webhooks])

	s := w.secret(o)
	require.True(t, metav1.IsControlledBy(s, o))
	require.Equal(t, "visavis-operator", s.Labels["app.kubernetes.io/managed-by"])
	require.Equal(t, o.Status.APIKey.ID, string(s.Data["keyId"]))
	require.Equal(t, "2026-10-01", string(s.Data["apiVersion"]))
	p, err := w.opens(s.Data["key"])
	require.NoError(t, err)
	require.Equal(t, row.ID, p.Org.ID)
	require.Equal(t, []scope.Scope{scope.WebhooksManage}, p.Key.Scopes)

	w.wrote = 0
	require.Equal(t, o.ResourceVersion, w.reconciled(acme).ResourceVersion)
	require.Zero(t, w.wrote, "nothing is written where nothing differs")
}

func TestDriftIsPutRight(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	acme := w.apply("acme", "main", func(o *v1alpha1.Organisation) { o.Spec.Limits = map[string]string{"webhooks": "7"} })
	o := w.reconciled(acme)
	_, err := w.Directory.DB.Exec(ctx, `UPDATE organization SET name = 'x', plan = 'team', timezone = 'UTC', overrides = '{}', paused_at = now()`)
	require.NoError(t, err)
	w.ready(w.reconciled(acme))
	row := w.row(o)
	require.Equal(t, []string{"Acme", "starter", "Europe/Zurich"}, []string{row.Name, row.Plan, row.Timezone})
	require.EqualValues(t, 7, *row.Overrides.Limits[plan.Webhooks])
	require.Nil(t, row.PausedAt)

	w.change(acme, func(o *v1alpha1.Organisation) { o.Spec.Limits, o.Spec.Paused, o.Spec.Plan = nil, true, "business" })
	row = w.row(o)
	require.Empty(t, row.Overrides.Limits)
	require.NotNil(t, row.PausedAt)
	require.Equal(t, "business", row.Plan)
}

func TestWhatCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		change          func(*v1alpha1.Organisation)
		reason, message string
	}{
		"plan":     {func(o *v1alpha1.Organisation) { o.Spec.Plan = "gold" }, v1alpha1.ReasonInvalid, `There is no plan "gold"; the plans are`},
		"limit":    {func(o *v1alpha1.Organisation) { o.Spec.Limits = map[string]string{"luck": "1"} }, v1alpha1.ReasonInvalid, "The limit luck cannot be"},
		"number":   {func(o *v1alpha1.Organisation) { o.Spec.Limits = map[string]string{"webhooks": "many"} }, v1alpha1.ReasonInvalid, "webhooks"},
		"timezone": {func(o *v1alpha1.Organisation) { o.Spec.Timezone = "Mars/Base" }, v1alpha1.ReasonInvalid, `There is no time zone "Mars/Base"`},
		"slug":     {func(o *v1alpha1.Organisation) { o.Spec.Name, o.Spec.Slug = "***", "" }, v1alpha1.ReasonInvalid, "give spec.slug"},
		"shard":    {func(o *v1alpha1.Organisation) { o.Spec.Shard = "b" }, v1alpha1.ReasonPending, "The Shard b is not there yet."},
		"adoption": {func(o *v1alpha1.Organisation) {
			o.Annotations = map[string]string{v1alpha1.AdoptAnnotation: id.NewOrg().String()}
		}, v1alpha1.ReasonInvalid, "to adopt"},
		"scope": {func(o *v1alpha1.Organisation) { o.Spec.APIKey.Scopes = []string{"everything"} }, v1alpha1.ReasonInvalid, `There is no scope "everything"`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.refused(w.reconciled(w.apply("acme", "main", c.change)), c.reason, c.message)
		})
	}
}

func TestTheShardIsWaitedFor(t *testing.T) {
	w := newWorld(t)
	acme := w.apply("acme", "main", func(o *v1alpha1.Organisation) { o.Spec.Shard = "b" })
	w.refused(w.reconciled(acme), v1alpha1.ReasonPending, "Shard b")
	require.NoError(t, w.Directory.AddShard(context.Background(), "b", databasetest.URL(t, database.Shard)))
	o := w.reconciled(acme)
	w.ready(o)
	require.Equal(t, "b", o.Status.Shard)
	_, err := w.Directory.DB.Exec(context.Background(), `UPDATE shard SET tier = 'dedicated' WHERE name = 'b'`)
	require.NoError(t, err)
	for _, name := range []string{"x", "y"} {
		o = w.reconciled(w.apply("acme", name, func(o *v1alpha1.Organisation) { o.Spec.Slug = name }))
		require.Equal(t, "a", o.Status.Shard, "the fewest, of those that take any")
	}
}

func TestOfTwoWithOneSlugTheOlderHasIt(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	older, younger := w.apply("acme", "main", nil), w.apply("other", "main", nil)
	w.refused(w.reconciled(younger), v1alpha1.ReasonConflict, "Organisation acme/main, which is older")
	w.ready(w.reconciled(older))
	w.refused(w.reconciled(younger), v1alpha1.ReasonConflict, "Organisation acme/main")
	require.NoError(t, w.objects.Delete(ctx, w.get(older)))
	require.NoError(t, w.look(older))
	w.ready(w.reconciled(younger))
}

func TestAdoptedAndReleased(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	acme := w.apply("acme", "main", nil)
	o := w.reconciled(acme)
	first := w.row(o).ID
	key := w.secret(o).Data["key"]

	o = w.change(acme, func(o *v1alpha1.Organisation) { o.Annotations = map[string]string{v1alpha1.ReleaseAnnotation: "true"} })
	w.refused(o, v1alpha1.ReasonReleased, "managed through the API")
	require.Equal(t, managed.API, w.row(o).ManagedBy)
	require.Empty(t, w.secret(o).OwnerReferences, "the Secret outlives the resource")
	require.NoError(t, w.objects.Delete(ctx, o))
	_, err := w.opens(key)
	require.NoError(t, err)

	next := w.apply("acme", "again", func(o *v1alpha1.Organisation) { o.Spec.Slug = "" })
	w.refused(w.reconciled(next), v1alpha1.ReasonConflict, first.String()) // the slug of its name is the first's
	o = w.change(next, func(o *v1alpha1.Organisation) {
		o.Annotations = map[string]string{v1alpha1.AdoptAnnotation: first.String()}
	})
	w.ready(o)
	require.Equal(t, first.String(), o.Status.ID)
	require.Equal(t, "Organisation acme/again", w.row(o).ManagedBy.String())

	late := w.apply("acme", "late", func(o *v1alpha1.Organisation) {
		o.Annotations = map[string]string{v1alpha1.AdoptAnnotation: first.String()}
	})
	o = w.reconciled(late)
	w.refused(o, v1alpha1.ReasonConflict, "Organisation acme/again, which is older")
	require.NoError(t, w.objects.Delete(ctx, o))
	require.NoError(t, w.look(late))
	require.Equal(t, "Organisation acme/again", w.row(w.get(next)).ManagedBy.String(), "it deletes nothing of another's")
}

func TestDeleted(t *testing.T) {
	for policy, want := range map[v1alpha1.DeletionPolicy]error{v1alpha1.DeletePolicy: directory.ErrUnknown, v1alpha1.OrphanPolicy: nil} {
		t.Run(string(policy), func(t *testing.T) {
			w, ctx := newWorld(t), context.Background()
			acme := w.apply("acme", "main", func(o *v1alpha1.Organisation) { o.Spec.DeletionPolicy = policy })
			o := w.reconciled(acme)
			row := w.row(o)
			require.NoError(t, w.objects.Delete(ctx, o))
			require.NoError(t, w.look(acme))
			require.True(t, apierrors.IsNotFound(w.objects.Get(ctx, acme, &v1alpha1.Organisation{})))
			found, err := w.Directory.Organization(ctx, row.ID)
			require.ErrorIs(t, err, want)
			if want == nil {
				require.Equal(t, managed.API, found.ManagedBy)
				require.Equal(t, 1, w.valid(row.ID))
			}
		})
	}
}

func TestADeletionTellsHowFarItIs(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	acme := w.apply("acme", "main", nil)
	o := w.reconciled(acme)
	shard, err := w.Tenants.Shard(ctx, "a")
	require.NoError(t, err)
	_, err = shard.Exec(ctx, `INSERT INTO org_counter (org_id, name, value) SELECT $1, n::TEXT, 1 FROM generate_series(1, 21000) n`, w.row(o).ID)
	require.NoError(t, err)
	require.NoError(t, w.objects.Delete(ctx, o))
	w.refused(w.reconciled(acme), v1alpha1.ReasonDeleting, "Everything that it owns is being deleted: rows of org_counter.")
	require.NoError(t, w.look(acme))
	require.True(t, apierrors.IsNotFound(w.objects.Get(ctx, acme, &v1alpha1.Organisation{})))
}

func TestTheKey(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	acme := w.apply("acme", "main", nil)
	o := w.reconciled(acme)
	org, first := w.row(o).ID, w.secret(o)

	// Changed scopes and contract change the key in place.
	o = w.change(acme, func(o *v1alpha1.Organisation) {
		o.Spec.APIKey.Scopes, o.Spec.APIKey.FullAccess, o.Spec.APIKey.APIVersion = nil, true, "2026-07-08"
	})
	w.ready(o)
	require.Equal(t, first.Data["key"], w.secret(o).Data["key"])
	require.Equal(t, "2026-07-08", string(w.secret(o).Data["apiVersion"]))
	p, err := w.opens(first.Data["key"])
	require.NoError(t, err)
	require.True(t, p.Key.FullAccess)
	require.Equal(t, contract.V20260708, p.Key.Contract)

	// A Secret that goes makes another key.
	require.NoError(t, w.objects.Delete(ctx, w.secret(o)))
	o = w.reconciled(acme)
	w.ready(o)
	second := w.secret(o)
	_, err = w.opens(first.Data["key"])
	require.ErrorIs(t, err, apikey.ErrUnauthorized)
	_, err = w.opens(second.Data["key"])
	require.NoError(t, err)
	require.Equal(t, 1, w.valid(org))

	// So does a key that was revoked or rotated elsewhere, and a Secret without sense.
	for name, spoil := range map[string]func(id.Key){
		"revoked": func(k id.Key) { require.NoError(t, w.Keys.Revoke(ctx, org, k, w.clock.Now())) },
		"rotated": func(k id.Key) {
			require.NoError(t, w.Keys.Rotate(ctx, org, k, apikey.NewSecret(apikey.Live).Hash(), "xxxx", w.clock.Now(), w.clock.Now()))
		},
		"spoilt": func(id.Key) {
			s := w.secret(w.get(acme))
			s.Data["key"] = []byte("vsk_live_nonsense")
			require.NoError(t, w.objects.Update(ctx, s))
		},
	} {
		k, err := id.ParseKey(w.get(acme).Status.APIKey.ID)
		require.NoError(t, err)
		w.clock.Step(time.Second)
		spoil(k)
		o = w.reconciled(acme)
		w.ready(o)
		p, err = w.opens(w.secret(o).Data["key"])
		require.NoError(t, err, name)
		require.NotEqual(t, k, p.Key.ID)
		require.Equal(t, 1, w.valid(org), name)
	}

	// A Secret that names another key names none.
	s := w.secret(o)
	s.Data["keyId"] = []byte(id.NewKey().String())
	require.NoError(t, w.objects.Update(ctx, s))
	o = w.reconciled(acme)
	require.Equal(t, o.Status.APIKey.ID, string(w.secret(o).Data["keyId"]))

	o = w.change(acme, func(o *v1alpha1.Organisation) { o.Spec.APIKey.SecretName = "elsewhere" })
	w.ready(o)
	require.Equal(t, "elsewhere", w.secret(o).Name)
	require.True(t, apierrors.IsNotFound(w.objects.Get(ctx, client.ObjectKeyFromObject(s), &corev1.Secret{})))
	require.Equal(t, 1, w.valid(org))

	o = w.change(acme, func(o *v1alpha1.Organisation) { o.Spec.APIKey = nil })
	w.ready(o)
	require.Nil(t, o.Status.APIKey)
	require.Zero(t, w.valid(org))
}

func TestASecretOfAnothersIsLeftAlone(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	theirs := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "acme", Name: "main-api-key"}, Data: map[string][]byte{"key": []byte("theirs")}}
	require.NoError(t, w.objects.Create(ctx, theirs))
	o := w.reconciled(w.apply("acme", "main", nil))
	w.refused(o, v1alpha1.ReasonConflict, "A Secret main-api-key exists that is not this Organisation's.")
	require.NoError(t, w.objects.Get(ctx, client.ObjectKeyFromObject(theirs), theirs))
	require.Equal(t, "theirs", string(theirs.Data["key"]))
	require.Zero(t, w.valid(w.row(o).ID))
}

// Wherever the operator dies, there is one organization with one key in the end.
func TestACrashAnywhereConverges(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	converges := func(name string, arm func(int), disarm func() bool) {
		for at := 1; ; at++ {
			slug := fmt.Sprintf("%s-%d", name, at)
			which := w.apply("acme", slug, func(o *v1alpha1.Organisation) { o.Spec.Slug = slug })
			arm(at)
			err := w.look(which)
			if !disarm() {
				require.NoError(t, err)
				require.Greater(t, at, 3, "all were tried")
				return
			}
			o := w.reconciled(which)
			w.ready(o)
			org := w.row(o).ID
			var n int
			require.NoError(t, w.Directory.DB.QueryRow(ctx, `SELECT count(*) FROM organization WHERE slug = $1`, slug).Scan(&n))
			require.Equal(t, 1, n)
			require.Equal(t, 1, w.valid(org), "%s %d", name, at)
			p, err := w.opens(w.secret(o).Data["key"])
			require.NoError(t, err, "%s %d", name, at)
			require.Equal(t, o.Status.APIKey.ID, p.Key.ID.String())
		}
	}
	converges("statement", func(at int) { w.crash.Arm(at) }, func() bool { return w.crash.Arm(0) })
	converges("request", func(at int) { w.failing = at }, func() bool {
		failed := w.failing <= 0
		w.failing = 0
		return failed
	})
}
