package jobs_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/store/apikey"
)

// TestKeyThatTheDirectoryTakesLate: the change is committed on the shard but
// the directory refuses it. The caller is told of the failure and of no
// secret; the key works once the change is carried over, and the repeated
// request shows it.
func TestKeyThatTheDirectoryTakesLate(t *testing.T) {
	a, ctx := apitest.New(t), context.Background()
	execute := func(sql string) {
		_, err := a.Directory.DB.Exec(ctx, sql)
		require.NoError(t, err)
	}
	request := apitest.Request{
		Method: http.MethodPost, Path: "/keys", Key: a.Acme.New,
		Body:   map[string]any{"name": "late", "scopes": []string{"avatars:read"}},
		Header: map[string]string{"Idempotency-Key": "late"},
	}
	execute(`ALTER TABLE api_key ADD CONSTRAINT refuses_late CHECK (name <> 'late')`)
	failed := a.Do(request)
	require.Equal(t, http.StatusInternalServerError, failed.Status)
	require.Equal(t, "server_error", failed.Error(t)["code"])
	require.NotContains(t, string(failed.Raw), "vsk_")

	execute(`ALTER TABLE api_key DROP CONSTRAINT refuses_late`)
	swept, err := a.Changes.Sweep(ctx, "shard-1", time.Now().Add(time.Minute))
	require.NoError(t, err)
	require.Equal(t, 1, swept)
	repeated := a.Do(request)
	require.Equal(t, http.StatusCreated, repeated.Status)
	secret := apikey.Secret(repeated.Data(t)["secret"].(string))
	require.Equal(t, http.StatusOK, a.Get(secret, "/avatars").Status)
}
