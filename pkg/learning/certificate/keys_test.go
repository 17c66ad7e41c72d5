package certificate_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// world is an organization that issues certificates to somebody for a subject.
type world struct {
	*testing.T
	tenants *tenant.Tenants
	org     id.Org
	subject subject.Subject
	person  id.Person
	clock   *clocktest.FakePassiveClock
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, person: id.NewPerson(), clock: clocktest.NewFakePassiveClock(tenanttest.Now)}
	w.tenants, _, w.org, _ = tenanttest.NewTraced(t)
	w.subject = portaltest.Subject(t, w.tenants, w.org, portaltest.Portal(t, w.tenants, w.org, id.NewPersona()).ID)
	w.in(func(ctx context.Context, tx *tenant.Tx) error {
		tx.Touch("person", w.person)
		return ignore(tx.Exec(ctx, `
			INSERT INTO person (org_id, id, name, age_band, state, metadata, edition, created_at, updated_at)
			VALUES ($1, $2, 'Kim', 'adult', 'active', '{}', 1, now(), now())`, tx.Org, w.person))
	})
	return w
}

func (w *world) in(fn func(context.Context, *tenant.Tx) error) {
	w.Helper()
	require.NoError(w, w.tenants.InTx(w.Context(), w.org, fn))
}

func (w *world) who() activity.Actor { return activity.Actor{By: "key_test", At: w.clock.Now()} }

// issue issues a certificate until some days from now.
func (w *world) issue(days int) (c certificate.Certificate) {
	w.Helper()
	w.in(func(ctx context.Context, tx *tenant.Tx) (err error) {
		expires := w.clock.Now().AddDate(0, 0, days)
		c, err = certificate.Issue(ctx, tx, certificate.Certificate{Person: w.person, ExpiresAt: &expires}, w.subject, w.who())
		return err
	})
	return c
}

func (w *world) revoke(which id.Certificate) {
	w.Helper()
	w.in(func(ctx context.Context, tx *tenant.Tx) error {
		c, err := certificate.Lock(ctx, tx, which)
		if err != nil {
			return err
		}
		return ignore(certificate.Revoke(ctx, tx, c, "x", w.who()))
	})
}

func (w *world) get(which id.Certificate) certificate.Certificate {
	w.Helper()
	c, err := certificate.Get(w.Context(), w.tenants, w.org, which)
	require.NoError(w, err)
	return c
}

// A certificate whose renewal is revoked goes back to the one that had renewed it before.
func TestRevokingARenewalLeavesThoseBetween(t *testing.T) {
	w := newWorld(t)
	first, second, third := w.issue(100), w.issue(200), w.issue(300)
	require.Equal(t, third.ID, w.get(first.ID).RenewedBy)
	w.revoke(third.ID)
	require.Equal(t, second.ID, w.get(first.ID).RenewedBy)
	require.Zero(t, w.get(second.ID).RenewedBy)
	w.revoke(second.ID)
	require.Zero(t, w.get(first.ID).RenewedBy)
}

// Of one that had expired before it was issued that is told too.
func TestIssuedExpired(t *testing.T) {
	w := newWorld(t)
	c := w.issue(-1)
	for range 2 {
		require.NoError(t, ignore(certificate.Notice(t.Context(), w.tenants, "a", w.clock.Now())))
	}
	require.Equal(t, []string{"certificate.issued", "certificate.expired"}, told(t, w.tenants, w.org)[c.ID.String()])
}

// The lists of states have what came to be in them.
func TestListsOfStates(t *testing.T) {
	w := newWorld(t)
	want := map[certificate.State]id.Certificate{
		certificate.Expired: w.issue(-1).ID, certificate.Expiring: w.issue(5).ID, certificate.Valid: w.issue(100).ID, certificate.Revoked: w.issue(200).ID,
	}
	w.revoke(want[certificate.Revoked])
	list := func(s certificate.State) (ids []id.Certificate) {
		all, err := certificate.List(t.Context(), w.tenants, w.org, certificate.Filter{State: s, Now: w.clock.Now()}, id.Certificate{}, 50)
		require.NoError(t, err)
		for _, c := range all {
			ids = append(ids, c.ID)
		}
		return ids
	}
	for s, which := range want {
		require.Equal(t, []id.Certificate{which}, list(s), s)
	}
	w.clock.SetTime(w.clock.Now().AddDate(0, 0, 50))
	require.NoError(t, ignore(certificate.Notice(t.Context(), w.tenants, "a", w.clock.Now())))
	require.ElementsMatch(t, []id.Certificate{want[certificate.Expired], want[certificate.Expiring]}, list(certificate.Expired))
	require.Equal(t, []id.Certificate{want[certificate.Valid]}, list(certificate.Expiring))
}

// An organization has few keys; a new one signs once nobody can have missed it, and those that
// sign no more cannot any more.
func TestKeys(t *testing.T) {
	w := newWorld(t)
	sealing, err := vault.New(vault.NewKey())
	require.NoError(t, err)
	r := &certificate.Registry{
		Tenants: w.tenants, Clock: w.clock, Vault: sealing, Links: certificate.Links{Pages: "https://portal.example.com", API: "https://api.example.com"},
		Name: func(context.Context, id.Org) (string, error) { return "Acme", nil },
	}
	c := w.issue(1000)
	badge := func() string {
		b, err := r.Badge(t.Context(), w.org, c, false)
		require.NoError(t, err)
		return string(b)
	}
	keys, err := certificate.NewKeys()
	require.NoError(t, err)
	rotate := func() (k certificate.Key, err error) {
		return k, w.tenants.InTx(t.Context(), w.org, func(ctx context.Context, tx *tenant.Tx) (err error) {
			k, err = certificate.Rotate(ctx, tx, sealing, keys, w.who())
			return err
		})
	}
	first := badge()
	again, err := rotate()
	require.NoError(t, err)
	require.Contains(t, first, again.ID.String(), "the one that was made a moment ago")

	w.clock.SetTime(w.clock.Now().Add(certificate.RotateEvery))
	second, err := rotate()
	require.NoError(t, err)
	require.Equal(t, first, badge(), "nobody can know the new one yet")
	w.clock.SetTime(second.SignsFrom)
	require.Contains(t, badge(), second.ID.String())
	document, err := r.DIDDocument(t.Context(), w.org)
	require.NoError(t, err)
	require.Contains(t, string(document), again.ID.String())
	require.Contains(t, string(document), second.ID.String())

	for range certificate.MaxKeys - 2 {
		w.clock.SetTime(w.clock.Now().Add(certificate.RotateEvery))
		require.NoError(t, ignore(rotate()))
	}
	db, err := w.tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	var all, able int
	require.NoError(t, db.QueryRow(t.Context(), `
		SELECT count(*), count(*) FILTER (WHERE secret <> '') FROM issuer_key WHERE org_id = $1`, w.org).Scan(&all, &able))
	require.Equal(t, []int{certificate.MaxKeys, 2}, []int{all, able})
	w.clock.SetTime(w.clock.Now().Add(certificate.RotateEvery))
	require.NotEmpty(t, badge())
	_, err = rotate()
	require.True(t, errdefs.IsConflict(err, certificate.IssuerNoun, certificate.ReasonTooManyKeys))

	list, err := r.StatusList(t.Context(), w.org, 0)
	require.NoError(t, err)
	w.revoke(c.ID)
	kept, err := r.StatusList(t.Context(), w.org, 0)
	require.NoError(t, err)
	require.Equal(t, list, kept, "signed for all who ask within half a minute")
	w.clock.SetTime(w.clock.Now().Add(31 * time.Second))
	kept, err = r.StatusList(t.Context(), w.org, 0)
	require.NoError(t, err)
	require.NotEqual(t, list, kept)
	_, err = r.StatusList(t.Context(), w.org, 1)
	require.True(t, errdefs.IsNotFound(err, certificate.IssuerNoun), "no certificate lies in it")
}
