package webhooks_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/tenant"
)

func testWebhookSecrets(t *testing.T, w *apitest.World) {
	made := w.Hook(t, nil)
	hook := made["id"].(string)
	parsed, err := id.ParseWebhook(hook)
	require.NoError(t, err)
	stored := func() (secret, previous []byte, until *time.Time) {
		w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
			return tx.QueryRow(ctx, `SELECT secret, previous_secret, previous_until FROM webhook WHERE org_id = $1 AND id = $2`, tx.Org, parsed).
				Scan(&secret, &previous, &until)
		})
		return secret, previous, until
	}
	opens := func(sealed []byte, want any) {
		t.Helper()
		require.NotContains(t, string(sealed), want.(string), "it is sealed")
		got, err := webhook.OpenSecret(w.Vault, parsed, sealed)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	secret, previous, _ := stored()
	opens(secret, made["secret"])
	require.Nil(t, previous)

	rotated := w.CallAs(t, "rotateWebhookSecret", hook, w.Acme.New, map[string]any{"graceS": 3600}).Data(t)
	require.NotEqual(t, made["secret"], rotated["secret"])
	require.Greater(t, rotated["updatedAt"], made["updatedAt"])
	secret, previous, until := stored()
	opens(secret, rotated["secret"])
	opens(previous, made["secret"])
	require.WithinDuration(t, time.Now().Add(time.Hour), *until, time.Minute)

	last := w.CallAs(t, "rotateWebhookSecret", hook, w.Acme.New, nil).Data(t)
	secret, previous, until = stored()
	opens(secret, last["secret"])
	opens(previous, rotated["secret"])
	require.False(t, until.After(time.Now()), "without grace it signs no more")

	for _, path := range []string{"/webhooks", "/webhooks/" + hook, "/activity"} {
		require.NotContains(t, string(w.Get(w.Acme.New, path).Raw), "whsec_", path)
	}
}

func testWebhookReplayShowsTheSecret(t *testing.T, w *apitest.World) {
	o := w.Operation(t, "createWebhook")
	r := apitest.Request{Path: o.Path, Key: w.Acme.New, Body: apitest.HookInput(nil), Header: map[string]string{route.IdempotencyHeader: "once"}}
	first, second := w.Call(t, o, r), w.Call(t, o, r)
	require.Equal(t, http.StatusCreated, first.Status)
	require.Equal(t, first.Data(t), second.Data(t))
	require.NotEmpty(t, second.Data(t)["secret"])
	items, _ := w.Page(t, w.Operation(t, "listWebhooks"), w.Acme.New, nil)
	require.Len(t, items, 1)
	var kept []byte
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT answer FROM idempotency_record WHERE org_id = $1`, tx.Org).Scan(&kept)
	})
	require.NotEmpty(t, kept)
	require.NotContains(t, string(kept), first.Data(t)["secret"], "it is kept sealed")
}

func TestMasterKeysOfTheOperator(t *testing.T) {
	key := []byte(strings.Repeat("k", 32))
	a := apitest.New(t, func(o *apitest.Options) { o.MasterKeys = [][]byte{key} })
	another := apitest.Serve(t, a.Options)
	sealed := a.Vault.Seal("place", []byte("secret"))
	opened, err := another.Vault.Open("place", sealed)
	require.NoError(t, err)
	require.Equal(t, "secret", string(opened))

	o := a.Options
	o.MasterKeys = nil
	own := apitest.Serve(t, o)
	_, err = own.Vault.Open("place", sealed)
	require.Error(t, err, "without it, the directory's own is used")
	again := apitest.Serve(t, o)
	opened, err = again.Vault.Open("place", own.Vault.Seal("place", []byte("secret")))
	require.NoError(t, err)
	require.Equal(t, "secret", string(opened))
}
