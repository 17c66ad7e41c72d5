package webhook_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/delivery"
	store "visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestAWebhookIsMade(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	o := s.apply("orders", func(o *v1alpha1.Webhook) { o.Spec.Description = "For orders" })
	requireReady(t, o)
	requireCondition(t, o, v1alpha1.Delivering, metav1.ConditionUnknown, v1alpha1.ReasonNothingDelivered)
	row := s.row(o)
	require.Equal(t, "https://192.0.2.1/orders", row.URL)
	require.Equal(t, "For orders", *row.Description)
	require.Equal(t, []string{"session.ended"}, row.Events)
	require.True(t, row.Active)
	require.Equal(t, "Webhook customers/orders", row.ManagedBy.String())
	require.Equal(t, row.ID.String(), o.Status.ID)
	require.Equal(t, s.org.String(), o.Status.OrganisationID)
	require.Equal(t, "orders-signing", o.Status.SecretName)
	require.Equal(t, s.signs(o), s.secret("orders-signing"))
	require.Equal(t, 3, s.writes, "the finalizer, the Secret, the status")

	s.clock.Step(time.Hour)
	s.look("orders")
	require.Equal(t, 3, s.writes, "nothing changed")
	require.Empty(t, s.recorder.Events, "it was well from the first")
}

func TestASpecThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(*stage)
		change  func(*v1alpha1.Webhook)
		reason  string
		message string
	}{
		"a private address": {change: func(o *v1alpha1.Webhook) { o.Spec.URL = "https://10.1.2.3/hook" },
			reason: v1alpha1.ReasonInvalid, message: "The url cannot be used"},
		"no such event": {change: func(o *v1alpha1.Webhook) { o.Spec.Events = []string{"session.ended", "session.paused"} },
			reason: v1alpha1.ReasonInvalid, message: `"session.paused" is not a type of event`},
		"an event with words": {change: func(o *v1alpha1.Webhook) { o.Spec.Events = []string{"session.transcript"} },
			reason: v1alpha1.ReasonInvalid, message: `"session.transcript"`},
		"zero retention": {
			prepare: func(s *stage) {
				require.NoError(s.t, s.tenants.InTx(s.t.Context(), s.org, func(ctx context.Context, tx *tenant.Tx) error {
					return setting.Set(ctx, tx, setting.ZeroRetention, setting.Value("true"), "operator", tenanttest.Now)
				}))
			},
			change: func(o *v1alpha1.Webhook) { o.Spec.IncludeConversation = true },
			reason: v1alpha1.ReasonInvalid, message: "zero data retention"},
		"the plan's limit": {
			prepare: func(s *stage) {
				require.NoError(s.t, s.directory.SetOverrides(s.t.Context(), s.org, plan.Overrides{Limits: plan.Limits{plan.Webhooks: new(int64(0))}}))
			},
			change: func(*v1alpha1.Webhook) {}, reason: v1alpha1.ReasonLimitReached, message: "allows 0 of webhooks"},
		"no organisation": {change: func(o *v1alpha1.Webhook) { o.Spec.Organisation.Name = "other" },
			reason: v1alpha1.ReasonPending, message: "The Organisation other is not there yet."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			if c.prepare != nil {
				c.prepare(s)
			}
			o := s.apply("orders", c.change)
			require.Contains(t, requireCondition(t, o, v1alpha1.Ready, metav1.ConditionFalse, c.reason), c.message)
			require.Zero(t, s.live())
			require.Empty(t, s.secret("orders-signing"))
			writes := s.writes
			s.look("orders")
			require.Equal(t, writes, s.writes, "it says so once")
			require.NoError(t, s.client.Delete(t.Context(), o))
			require.Nil(t, s.look("orders"), "it can go")
		})
	}
}

// What the spec cannot be leaves the webhook as it was.
func TestASpecThatCannotBeAnyMore(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.apply("orders")
	o := s.apply("orders", func(o *v1alpha1.Webhook) { o.Spec.URL = "https://10.1.2.3/hook" })
	requireCondition(t, o, v1alpha1.Ready, metav1.ConditionFalse, v1alpha1.ReasonInvalid)
	require.Equal(t, "https://192.0.2.1/orders", s.row(o).URL)
	requireReady(t, s.apply("orders", func(o *v1alpha1.Webhook) { o.Spec.URL = "https://192.0.2.1/new" }))
	require.Equal(t, "https://192.0.2.1/new", s.row(o).URL)
}

func TestDriftIsPutRight(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	o := s.apply("orders")
	was := s.row(o)
	s.exec(`UPDATE webhook SET url = 'https://elsewhere.example', events = '{*}', active = false, api_version = '2026-07-08', description = 'x'`)
	requireReady(t, s.look("orders"))
	is := s.row(o)
	is.UpdatedAt = was.UpdatedAt
	require.Equal(t, was, is)
	s.exec(`UPDATE webhook SET managed_by = 'api'`)
	s.look("orders")
	require.Equal(t, was.ID, s.row(o).ID, "it takes what it had back")
	s.exec(`DELETE FROM webhook`)
	requireReady(t, s.look("orders"))
	require.NotEqual(t, was.ID, s.row(o).ID)
	require.Equal(t, s.signs(o), s.secret("orders-signing"))
}

func (s *stage) removeEntry(name string) {
	s.t.Helper()
	var found corev1.Secret
	require.NoError(s.t, s.client.Get(s.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &found))
	found.Data = nil
	require.NoError(s.t, s.client.Update(s.t.Context(), &found))
}

func TestTheSecret(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	o := s.apply("orders")
	first := s.secret("orders-signing")
	made := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "orders-signing"}}
	require.NoError(t, s.client.Delete(t.Context(), made))
	s.look("orders")
	require.Equal(t, first, s.secret("orders-signing"), "it is written again")

	s.removeEntry("orders-signing")
	crashed := errors.New("the process ended")
	s.crash = func() error { return crashed }
	require.ErrorIs(t, s.try("orders"), crashed)
	s.crash = nil
	second := s.signs(o)
	require.NotEqual(t, first, second, "it was replaced")
	s.look("orders")
	require.Equal(t, second, s.signs(o), "once")
	require.Equal(t, second, s.secret("orders-signing"))
	var previous []byte
	var until time.Time
	require.NoError(t, s.tenants.InTx(t.Context(), s.org, func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT previous_secret, previous_until FROM webhook WHERE org_id = $1`, tx.Org).Scan(&previous, &until)
	}))
	old, err := store.OpenSecret(s.vault, s.row(o).ID, previous)
	require.NoError(t, err)
	require.Equal(t, first, string(old), "the old one signs too")
	require.Equal(t, s.clock.Now().Add(24*time.Hour), until.UTC())

	s.apply("orders", func(o *v1alpha1.Webhook) { o.Spec.SecretName = "other" })
	require.Equal(t, second, s.secret("other"))
	require.Empty(t, s.secret("orders-signing"), "that of the name before goes")
}

func TestAForeignSecret(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	require.NoError(t, s.client.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "orders-signing"}, Data: map[string][]byte{"secret": []byte("theirs")},
	}))
	o := s.apply("orders")
	require.Contains(t, requireCondition(t, o, v1alpha1.Ready, metav1.ConditionFalse, v1alpha1.ReasonConflict), "orders-signing")
	require.Equal(t, "theirs", s.secret("orders-signing"))
	requireReady(t, s.apply("orders", func(o *v1alpha1.Webhook) { o.Spec.SecretName = "mine" }))
	require.Equal(t, "theirs", s.secret("orders-signing"))
	require.Equal(t, 1, s.live())
}

func TestTheEnd(t *testing.T) {
	t.Parallel()
	for policy, left := range map[v1alpha1.DeletionPolicy]int{v1alpha1.DeletePolicy: 0, v1alpha1.OrphanPolicy: 1} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			o := s.apply("orders", func(o *v1alpha1.Webhook) { o.Spec.DeletionPolicy = policy })
			require.NoError(t, s.client.Delete(t.Context(), o))
			require.Nil(t, s.look("orders"))
			require.Equal(t, left, s.live())
			if left == 1 {
				found, err := store.List(t.Context(), s.tenants, s.org, [16]byte{}, 10)
				require.NoError(t, err)
				require.Equal(t, managed.API, found[0].ManagedBy)
			}
		})
	}
}

func TestRelease(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.apply("orders")
	o := s.apply("orders", func(o *v1alpha1.Webhook) { o.Annotations = map[string]string{v1alpha1.ReleaseAnnotation: "true"} })
	requireCondition(t, o, v1alpha1.Ready, metav1.ConditionFalse, v1alpha1.ReasonReleased)
	found, err := store.List(t.Context(), s.tenants, s.org, [16]byte{}, 10)
	require.NoError(t, err)
	require.Equal(t, managed.API, found[0].ManagedBy)
	var secret corev1.Secret
	require.NoError(t, s.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "orders-signing"}, &secret))
	require.Empty(t, secret.OwnerReferences, "the Secret stays for those who use it")
	require.NoError(t, s.client.Delete(t.Context(), o))
	require.Nil(t, s.look("orders"))
	require.Equal(t, 1, s.live())
}

func adopts(id string) func(*v1alpha1.Webhook) {
	return func(o *v1alpha1.Webhook) { o.Annotations = map[string]string{v1alpha1.AdoptAnnotation: id} }
}

func TestAdoption(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	o := s.apply("orders", func(o *v1alpha1.Webhook) { o.Spec.DeletionPolicy = v1alpha1.OrphanPolicy })
	which, signs := o.Status.ID, s.signs(o)
	require.NoError(t, s.client.Delete(t.Context(), o))
	require.Nil(t, s.look("orders"))

	s.clock.Step(time.Minute)
	younger := s.apply("younger", adopts(which))
	requireReady(t, younger)
	require.Equal(t, which, younger.Status.ID)
	require.Equal(t, signs, s.secret("younger-signing"), "its receivers know the secret")
	require.Equal(t, "https://192.0.2.1/younger", s.row(younger).URL)

	older := s.apply("older", adopts(which), func(o *v1alpha1.Webhook) {
		o.CreationTimestamp = metav1.NewTime(s.clock.Now().Add(-time.Hour))
	})
	requireReady(t, older)
	younger = s.look("younger")
	require.Contains(t, requireCondition(t, younger, v1alpha1.Ready, metav1.ConditionFalse, v1alpha1.ReasonConflict), "Webhook customers/older")
	require.Equal(t, 1, s.live())
	require.NoError(t, s.client.Delete(t.Context(), younger))
	require.Nil(t, s.look("younger"))
	require.Equal(t, 1, s.live(), "who lost it does not delete it")

	o = s.apply("nothing", adopts("wh_0683mPq2v9XKf1sTn7ZQ4b"))
	require.Contains(t, requireCondition(t, o, v1alpha1.Ready, metav1.ConditionFalse, v1alpha1.ReasonInvalid), "wh_0683mPq2v9XKf1sTn7ZQ4b")
}

func TestPauses(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	o := s.apply("orders")
	since := s.clock.Now().Add(-72 * time.Hour)
	pause := func() {
		s.exec(`UPDATE webhook SET active = false, failing_since = $1, paused_at = $2`, since, s.clock.Now())
		requireReady(t, s.look("orders"))
		require.False(t, s.row(o).Active, "a look resumes nothing")
	}
	pause()
	o = s.get("orders")
	require.Contains(t, requireCondition(t, o, v1alpha1.Delivering, metav1.ConditionFalse, v1alpha1.ReasonPaused), since.Format(time.RFC3339))
	require.Equal(t, since, o.Status.FailingSince.UTC())
	require.Equal(t, s.clock.Now(), o.Status.PausedAt.UTC())

	o = s.apply("orders", func(o *v1alpha1.Webhook) { o.Spec.URL = "https://192.0.2.1/mended" })
	require.True(t, s.row(o).Active, "a change does")
	require.Nil(t, o.Status.PausedAt)
	pause()
	again := func(o *v1alpha1.Webhook) { o.Annotations = map[string]string{v1alpha1.ResumeAnnotation: "1"} }
	o = s.apply("orders", again)
	require.True(t, s.row(o).Active, "and the annotation")
	pause()

	o = s.apply("orders", func(o *v1alpha1.Webhook) { o.Spec.Suspended = true })
	requireCondition(t, o, v1alpha1.Delivering, metav1.ConditionFalse, v1alpha1.ReasonSuspended)
	require.Nil(t, s.row(o).PausedAt)
	s.exec(`UPDATE webhook SET active = true`)
	s.look("orders")
	require.False(t, s.row(o).Active, "what was resumed by hand is off again")
	o = s.apply("orders", func(o *v1alpha1.Webhook) { o.Spec.Suspended = false })
	require.True(t, s.row(o).Active)
}

func TestHowDeliveriesFare(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.apply("orders")
	s.exec(`UPDATE webhook SET delivered_at = $1`, s.clock.Now())
	requireCondition(t, s.look("orders"), v1alpha1.Delivering, metav1.ConditionTrue, v1alpha1.ReasonDelivering)
	s.exec(`UPDATE webhook SET failing_since = $1`, s.clock.Now())
	requireCondition(t, s.look("orders"), v1alpha1.Delivering, metav1.ConditionTrue, v1alpha1.ReasonDelivering)
	since := s.clock.Now()
	s.clock.Step(5 * time.Minute)
	o := s.look("orders")
	requireCondition(t, o, v1alpha1.Delivering, metav1.ConditionFalse, v1alpha1.ReasonFailing)
	require.Equal(t, since, o.Status.FailingSince.UTC())
	require.Contains(t, <-s.recorder.Events, "Delivering is True")
	require.Contains(t, <-s.recorder.Events, "Failing")
}

func TestAWorkerOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	dedicated := func(as v1alpha1.Delivery) *v1alpha1.Webhook {
		return s.apply("orders", func(o *v1alpha1.Webhook) { o.Spec.Delivery = as })
	}
	o := dedicated(v1alpha1.DedicatedDelivery)
	require.Contains(t, requireCondition(t, o, v1alpha1.Ready, metav1.ConditionFalse, v1alpha1.ReasonInvalid), "does not include dedicated_delivery")
	require.NoError(t, s.directory.SetPlan(t.Context(), s.org, "enterprise"))
	o = dedicated(v1alpha1.DedicatedDelivery)
	requireReady(t, o)
	lane := delivery.WebhookLane(s.row(o).ID)
	require.Equal(t, lane, *s.row(o).OwnLane)
	require.Equal(t, workers{o.Status.ID: "a"}, s.workers)
	requireCondition(t, o, v1alpha1.Dedicated, metav1.ConditionFalse, v1alpha1.ReasonSharedWorkers)

	s.exec(`UPDATE webhook SET lane = own_lane`)
	requireCondition(t, s.look("orders"), v1alpha1.Dedicated, metav1.ConditionTrue, v1alpha1.ReasonOwnWorker)
	o = dedicated(v1alpha1.SharedDelivery)
	require.Nil(t, s.row(o).OwnLane)
	requireCondition(t, o, v1alpha1.Ready, metav1.ConditionFalse, v1alpha1.ReasonPending)
	require.Len(t, s.workers, 1, "it delivers until its lane was left")
	s.exec(`UPDATE webhook SET lane = NULL`)
	o = s.look("orders")
	requireReady(t, o)
	require.Nil(t, meta.FindStatusCondition(o.Status.Conditions, v1alpha1.Dedicated))
	require.Empty(t, s.workers)

	o = dedicated(v1alpha1.DedicatedDelivery)
	require.Len(t, s.workers, 1)
	require.NoError(t, s.client.Delete(t.Context(), o))
	require.Nil(t, s.look("orders"))
	require.Empty(t, s.workers)
}

// The process may end before and after every request: what comes after makes one of
// everything, and all of it.
func TestACrashAnywhere(t *testing.T) {
	t.Parallel()
	crashed := errors.New("the process ended")
	for at := range 20 {
		s := newStage(t)
		left := at
		s.crash = func() error {
			if left--; left == -1 {
				return crashed
			}
			return nil
		}
		require.NoError(t, s.client.Create(t.Context(), &v1alpha1.Webhook{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "orders", UID: "uid"},
			Spec: v1alpha1.WebhookSpec{
				Organisation: v1alpha1.OrganisationReference{Name: "acme"}, URL: "https://192.0.2.1/a", Events: []string{"*"}, APIVersion: "2026-10-01",
			},
		}))
		first := s.try("orders")
		o := s.look("orders")
		requireReady(t, o)
		require.Equal(t, 1, s.live())
		require.Equal(t, s.signs(o), s.secret("orders-signing"))
		if first == nil {
			require.Equal(t, 6, at, "before and after each of three requests")
			return
		}
	}
	t.Fatal("it never came through")
}
