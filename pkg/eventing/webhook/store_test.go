package webhook_test

import (
	"context"
	"encoding/hex"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// store is a shard with two organizations.
type store struct {
	t        *testing.T
	tenants  *tenant.Tenants
	one, two id.Org
	vault    *vault.Vault
}

func newStore(t *testing.T) *store {
	t.Helper()
	s := &store{t: t}
	s.tenants, s.one, s.two = tenanttest.New(t)
	var err error
	s.vault, err = vault.New(vault.NewKey())
	require.NoError(t, err)
	return s
}

func (s *store) inTx(org id.Org, fn func(context.Context, *tenant.Tx) error) error {
	return s.tenants.InTx(context.Background(), org, fn)
}

// draft is a webhook as it is entered.
func draft() webhook.Webhook {
	return webhook.Webhook{
		ID: id.NewWebhook(), URL: "https://example.com/a", Events: []string{"*"}, Active: true, APIVersion: contract.Latest,
		CreatedAt: tenanttest.Now, UpdatedAt: tenanttest.Now, ManagedBy: managed.API,
	}
}

var who = activity.Actor{By: "key_1", At: tenanttest.Now}

// insert enters a webhook under terms; false says that there was no room.
func (s *store) insert(org id.Org, w webhook.Webhook, secret webhook.Secret, terms plan.Terms) bool {
	s.t.Helper()
	var full bool
	require.NoError(s.t, s.inTx(org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		full, err = webhook.Insert(ctx, tx, s.vault, w, secret, terms, nil, who)
		return err
	}))
	return !full
}

// add enters a webhook.
func (s *store) add(org id.Org) id.Webhook {
	s.t.Helper()
	w := draft()
	require.True(s.t, s.insert(org, w, webhook.NewSecret(), plan.Terms{}))
	return w.ID
}

func (s *store) delete(org id.Org, w id.Webhook) error {
	return s.inTx(org, func(ctx context.Context, tx *tenant.Tx) error {
		return webhook.Delete(ctx, tx, w, managed.API, who)
	})
}

// counted is the organization's counter of webhooks.
func (s *store) counted(org id.Org) (n int64) {
	s.t.Helper()
	var found bool
	require.NoError(s.t, s.tenants.Read(context.Background(), org, func(r *tenant.Reads) {
		r.QueryRow(&found, []any{&n}, `SELECT value FROM org_counter WHERE org_id = $1 AND name = $2`, org, plan.Webhooks)
	}))
	return n
}

// find reads a webhook in every way there is; they must agree. nil when there
// is none.
func (s *store) find(org id.Org, w id.Webhook) *webhook.Webhook {
	s.t.Helper()
	var (
		peeked *webhook.Webhook
		locked webhook.Webhook
	)
	got, getErr := webhook.Get(context.Background(), s.tenants, org, w)
	lockErr := s.inTx(org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		if peeked, err = webhook.Peek(ctx, tx, w); err != nil {
			return err
		}
		locked, err = webhook.Lock(ctx, tx, w)
		return err
	})
	if peeked == nil {
		require.ErrorIs(s.t, getErr, errdefs.NotFound{Noun: webhook.Noun})
		require.ErrorIs(s.t, lockErr, errdefs.NotFound{Noun: webhook.Noun})
		return nil
	}
	require.NoError(s.t, getErr)
	require.NoError(s.t, lockErr)
	require.Equal(s.t, got, *peeked)
	require.Equal(s.t, got, locked)
	for _, at := range []*time.Time{got.PausedAt, got.FailingSince, &got.CreatedAt, &got.UpdatedAt} {
		if at != nil {
			*at = at.UTC()
		}
	}
	return &got
}

func TestAWebhookIsKept(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	w := draft()
	w.Description, w.Events, w.IncludeConversation, w.Active = new("mine"), []string{"session.ended", "*"}, true, false
	require.True(t, s.insert(s.one, w, webhook.NewSecret(), plan.Terms{}))
	require.Equal(t, &w, s.find(s.one, w.ID))
	require.Nil(t, s.find(s.two, w.ID), "another organization's")
	require.Nil(t, s.find(s.one, id.NewWebhook()))

	w.URL, w.Description, w.Events, w.IncludeConversation, w.Active = "https://example.org/b", nil, []string{"session.started"}, false, true
	w.APIVersion, w.UpdatedAt = contract.V20260708, tenanttest.Now.Add(time.Hour)
	w.PausedAt, w.FailingSince = new(tenanttest.Now.Add(2*time.Hour)), new(tenanttest.Now.Add(time.Hour))
	require.NoError(t, s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) error {
		return webhook.Update(ctx, tx, w, webhook.Updated, nil, who)
	}))
	require.Equal(t, &w, s.find(s.one, w.ID))
}

func TestPages(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var want []id.Webhook
	for i := range 9 {
		w := s.add(s.one)
		if i%4 == 1 {
			require.NoError(t, s.delete(s.one, w))
			continue
		}
		want = append([]id.Webhook{w}, want...)
		s.add(s.two)
	}
	for limit := 1; limit <= len(want)+1; limit++ {
		var (
			got  []id.Webhook
			last id.Webhook
		)
		for {
			page, err := webhook.List(context.Background(), s.tenants, s.one, last, limit)
			require.NoError(t, err)
			require.LessOrEqual(t, len(page), limit)
			for _, w := range page {
				got, last = append(got, w.ID), w.ID
			}
			if len(page) < limit {
				break
			}
		}
		require.Equal(t, want, got, "in pages of %d", limit)
	}
}

func TestAPlanAllowsSoMany(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	terms := plan.Terms{Limits: plan.Limits{plan.Webhooks: new(int64(2))}}
	first, second, third := draft(), draft(), draft()
	insert := func(w webhook.Webhook) bool {
		t.Helper()
		return s.insert(s.one, w, webhook.NewSecret(), terms)
	}
	require.True(t, insert(first))
	require.True(t, insert(second))
	require.False(t, insert(third))
	require.Nil(t, s.find(s.one, third.ID))
	require.EqualValues(t, 2, s.counted(s.one))
	require.Zero(t, s.counted(s.two))

	require.NoError(t, s.delete(s.one, first.ID))
	require.EqualValues(t, 1, s.counted(s.one))
	require.ErrorIs(t, s.delete(s.one, first.ID), errdefs.NotFound{Noun: webhook.Noun}, "it is deleted once")
	require.ErrorIs(t, s.delete(s.two, second.ID), errdefs.NotFound{Noun: webhook.Noun}, "another organization's")
	require.EqualValues(t, 1, s.counted(s.one))
	require.True(t, insert(third), "the place is free again")
	require.False(t, insert(draft()))
	require.Nil(t, s.find(s.one, first.ID))
	require.NotNil(t, s.find(s.one, third.ID))
}

// sealed are the columns of a webhook's row that keep secrets, and all of the
// row as text.
type sealed struct {
	Secret, Previous []byte
	Until            *time.Time
	Row              string
}

func (s *store) sealed(w id.Webhook) sealed {
	s.t.Helper()
	db, err := s.tenants.Shard(context.Background(), "a")
	require.NoError(s.t, err)
	rows, err := db.Query(context.Background(), `
		SELECT w.secret, w.previous_secret, w.previous_until,
			w::TEXT || encode(w.secret, 'escape') || COALESCE(encode(w.previous_secret, 'escape'), '')
		FROM webhook w WHERE w.id = $1`, w)
	require.NoError(s.t, err)
	row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[sealed])
	require.NoError(s.t, err)
	return row
}

func TestSecretsAreSealed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	first, second := webhook.NewSecret(), webhook.NewSecret()
	require.NotEqual(t, first, second)
	w, until := draft(), tenanttest.Now.Add(24*time.Hour)
	require.True(t, s.insert(s.one, w, first, plan.Terms{}))
	opens := func(want webhook.Secret, box []byte) {
		t.Helper()
		got, err := webhook.OpenSecret(s.vault, w.ID, box)
		require.NoError(t, err)
		require.Equal(t, want, got)
		_, err = webhook.OpenSecret(s.vault, id.NewWebhook(), box)
		require.ErrorIs(t, err, vault.ErrCannotOpen, "another webhook's row")
		other, err := vault.New(vault.NewKey())
		require.NoError(t, err)
		_, err = webhook.OpenSecret(other, w.ID, box)
		require.ErrorIs(t, err, vault.ErrCannotOpen, "another key")
	}
	nowhere := func(row sealed) {
		t.Helper()
		for _, secret := range []webhook.Secret{first, second} {
			for _, part := range []string{string(secret), string(secret[len("whsec_"):])} {
				require.NotContains(t, row.Row, part)
				require.NotContains(t, row.Row, hex.EncodeToString([]byte(part)))
			}
		}
		require.Contains(t, row.Row, w.URL, "it is the row that was looked at")
	}
	row := s.sealed(w.ID)
	opens(first, row.Secret)
	require.Empty(t, row.Previous)
	nowhere(row)

	rotated := activity.Actor{By: "key_1", At: tenanttest.Now.Add(time.Minute)}
	require.NoError(t, s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) error {
		return webhook.Rotate(ctx, tx, s.vault, w.ID, second, until.Sub(rotated.At), rotated)
	}))
	row = s.sealed(w.ID)
	opens(second, row.Secret)
	opens(first, row.Previous)
	require.Equal(t, until, row.Until.UTC())
	require.Equal(t, tenanttest.Now.Add(time.Minute), s.find(s.one, w.ID).UpdatedAt)
	nowhere(row)

	require.NoError(t, s.delete(s.one, w.ID))
	row = s.sealed(w.ID)
	require.Empty(t, row.Secret, "nothing is kept of the secrets of a deleted webhook")
	require.Empty(t, row.Previous)
}

// While a webhook is locked nobody else changes it.
func TestALockedWebhook(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	w := s.add(s.one)
	const writers = 8
	done := make(chan error, writers)
	for range writers {
		go func() {
			done <- s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) error {
				found, err := webhook.Lock(ctx, tx, w)
				if err != nil {
					return err
				}
				found.UpdatedAt = found.UpdatedAt.Add(time.Second)
				return webhook.Update(ctx, tx, found, webhook.Updated, nil, who)
			})
		}()
	}
	for range writers {
		require.NoError(t, <-done)
	}
	require.Equal(t, tenanttest.Now.Add(writers*time.Second), s.find(s.one, w).UpdatedAt, "no change is lost")
}
