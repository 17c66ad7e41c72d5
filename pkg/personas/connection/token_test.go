package connection_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/calendars"
	"visavis.dev/pkg/provider/googlecalendar/googlecalendartest"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// account is an organization with a connection to a Google Calendar.
type account struct {
	t       *testing.T
	tenants *tenant.Tenants
	org     id.Org
	vault   *vault.Vault
	clock   *clocktest.FakeClock
	service *googlecalendartest.Server
	which   id.Connection
}

func newAccount(t *testing.T) *account {
	t.Helper()
	a := &account{t: t, clock: clocktest.NewFakeClock(tenanttest.Now), service: googlecalendartest.Start()}
	t.Cleanup(a.service.Close)
	a.tenants, a.org, _ = tenanttest.New(t)
	var err error
	a.vault, err = vault.New(vault.NewKey())
	require.NoError(t, err)
	offer, ok := connection.FindOffer(connection.Calendar, connection.GoogleCalendar)
	require.True(t, ok)
	config := connection.Config{"baseUrl": a.service.URL, "tokenUrl": a.service.URL + "/token", "clientId": googlecalendartest.ClientID}
	require.NoError(t, offer.Check(config))
	secret := connection.Secret(a.service.Secret())
	require.Empty(t, offer.CheckSecret(secret))
	c := connection.New(offer, "Ada", config, secret, tenanttest.Now)
	c.TimeoutMs, a.which = 5000, c.ID
	a.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Create(ctx, tx, a.vault, c, secret, activity.Actor{By: "test", At: tenanttest.Now})
	})
	return a
}

func (a *account) inTx(fn func(context.Context, *tenant.Tx) error) {
	a.t.Helper()
	require.NoError(a.t, a.tenants.InTx(context.Background(), a.org, fn))
}

// tokens are those of a process.
func (a *account) tokens() *connection.Tokens {
	return connection.NewTokens(a.tenants, a.vault, a.service.Guard(), a.clock)
}

// ask asks the account for something by the tokens of a process.
func (a *account) ask(ctx context.Context, t *connection.Tokens) error {
	o, err := connection.Open(ctx, a.tenants, a.vault, a.org, a.which, a.clock.Now())
	if err != nil {
		return err
	}
	return o.Calendars(a.service.Guard(), t, a.clock, func(c calendars.Service) error {
		_, err := c.Calendars(ctx)
		return err
	})
}

// Of many processes one redeems a refresh token, which is taken once; the others get what it was given.
func TestARefreshTokenIsUsedOnce(t *testing.T) {
	a := newAccount(t)
	processes := []*connection.Tokens{a.tokens(), a.tokens(), a.tokens(), a.tokens(), a.tokens()}
	for round := 1; round <= 6; round++ {
		var (
			group sync.WaitGroup
			errs  = make([]error, 3*len(processes))
		)
		for n := range errs {
			group.Go(func() { errs[n] = a.ask(context.Background(), processes[n%len(processes)]) })
		}
		group.Wait()
		for _, err := range errs {
			require.NoError(t, err)
		}
		n, revoked := a.service.Redeemed()
		require.False(t, revoked)
		require.Equal(t, round, n, "once for all")
		if round%2 == 0 {
			a.clock.Step(2 * time.Hour) // it expires by the clock
		} else {
			a.service.Expire() // or by the server's own will
		}
	}
	// A process that starts afresh finds what is kept, sealed.
	require.NoError(t, a.ask(t.Context(), a.tokens()))
	db, err := a.tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	var kept []byte
	require.NoError(t, db.QueryRow(t.Context(), `SELECT token FROM connection_token`).Scan(&kept))
	require.NotContains(t, string(kept), "refresh")
	require.NotContains(t, string(kept), "access")
}

// Processes that are killed while they ask leave a token that is taken.
func TestKilledWhileRedeeming(t *testing.T) {
	a := newAccount(t)
	for n := range 12 {
		ctx, kill := context.WithCancel(t.Context())
		a.service.Behave(func(w http.ResponseWriter, r *http.Request) {
			kill() // the caller is gone by the time that the answer comes
			a.service.Serve(w, r)
		})
		err := a.ask(ctx, a.tokens())
		require.Error(t, err, fmt.Sprint(n))
		kill()
		require.NoError(t, a.ask(t.Context(), a.tokens()))
		a.clock.Step(2 * time.Hour)
	}
	n, revoked := a.service.Redeemed()
	require.False(t, revoked)
	require.Equal(t, 12, n)

	// One that died with the lease is waited for, and no longer.
	db, err := a.tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `UPDATE connection_token SET holder = gen_random_uuid(), held_until = $1`, a.clock.Now().Add(time.Minute))
	require.NoError(t, err)
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	require.ErrorIs(t, a.ask(short, a.tokens()), upstream.ErrTimeout)
	a.clock.Step(2 * time.Minute)
	require.NoError(t, a.ask(t.Context(), a.tokens()))

	// Who has less time than a redemption takes begins none.
	a.clock.Step(2 * time.Hour)
	short, cancel = context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	require.ErrorIs(t, a.ask(short, a.tokens()), upstream.ErrTimeout)
	after, _ := a.service.Redeemed()
	require.Equal(t, 13, after)
}

// What fails on the way does not use the token up, and one that was taken back fails until another is given.
func TestTokensThatAreRefused(t *testing.T) {
	a := newAccount(t)
	tokens := a.tokens()
	a.service.Behave(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	require.ErrorIs(t, a.ask(t.Context(), tokens), upstream.ErrUnavailable)
	require.NoError(t, a.ask(t.Context(), tokens), "the lease was given back")

	// Another process was given one while this one asked with the old one.
	a.clock.Step(2 * time.Hour)
	a.service.Behave(func(w http.ResponseWriter, r *http.Request) {
		db, err := a.tenants.Shard(context.Background(), "a")
		assert.NoError(t, err)
		_, err = db.Exec(context.Background(), `UPDATE connection_token SET holder = NULL, held_until = NULL`) // as if it had taken too long
		assert.NoError(t, err)
		assert.NoError(t, a.ask(context.Background(), a.tokens()))
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
	})
	require.NoError(t, a.ask(t.Context(), tokens), "it reads the row again")

	a.service.Revoke()
	require.ErrorIs(t, a.ask(t.Context(), tokens), upstream.ErrRefused)
	a.service.Grant("1//another")
	require.ErrorIs(t, a.ask(t.Context(), tokens), upstream.ErrRefused, "nobody told us of it")
	a.service.Grant("1//another")
	a.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		c, err := connection.Lock(ctx, tx, a.which)
		if err != nil {
			return err
		}
		_, err = connection.Configure(ctx, tx, a.vault, c, connection.Change{Secret: new(connection.Secret(googlecalendartest.ClientSecret + ":1//another"))}, activity.Actor{By: "test", At: a.clock.Now()})
		return err
	})
	require.NoError(t, a.ask(t.Context(), tokens))
	a.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Delete(ctx, tx, a.which, id.Connection{}, activity.Actor{By: "test", At: a.clock.Now()})
	})
	db, err := a.tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	var left int
	require.NoError(t, db.QueryRow(t.Context(), `SELECT count(*) FROM connection_token`).Scan(&left))
	require.Zero(t, left)
}
