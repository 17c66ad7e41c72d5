package keys_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/apikey"
)

func TestAKeyGivesOnlyWhatItHolds(t *testing.T) {
	w := apitest.NewWorld(t)
	narrow := w.Key(w.Acme, scope.Grant{Contract: contract.Latest, Scopes: []scope.Scope{scope.KeysManage, scope.AvatarsRead}})
	create := func(caller apikey.Secret, scopes ...string) apitest.Answer {
		return w.CallAs(t, "createKey", "", caller, map[string]any{"name": "made", "scopes": scopes})
	}
	for name, test := range map[string]struct {
		caller apikey.Secret
		scopes []string
		status int
	}{
		"its own":        {narrow, []string{"avatars:read"}, http.StatusCreated},
		"all its own":    {narrow, []string{"avatars:read", "keys:manage"}, http.StatusCreated},
		"another":        {narrow, []string{"avatars:write"}, http.StatusForbidden},
		"one beyond":     {narrow, []string{"avatars:read", "consents:read"}, http.StatusForbidden},
		"old, by name":   {w.Acme.Old, []string{"avatars:write"}, http.StatusCreated},
		"old, closed":    {w.Acme.Old, []string{"consents:read"}, http.StatusForbidden},
		"full, everyone": {w.Acme.New, []string{"consents:read", "candidates:data"}, http.StatusCreated},
		"unknown":        {w.Acme.New, []string{"avatars:*"}, http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			answer := create(test.caller, test.scopes...)
			require.Equal(t, test.status, answer.Status, "%s", answer.Raw)
			switch test.status {
			case http.StatusForbidden:
				apitest.RequireError(t, answer, test.status, "forbidden", "body.scopes")
			case http.StatusCreated:
				made := answer.Data(t)
				require.Equal(t, "2026-10-01", made["apiVersion"], "new keys are on the newest contract")
				require.False(t, made["fullAccess"].(bool))
			}
		})
	}

	wide := w.Make(t, w.Acme, "createKey")
	require.Equal(t, http.StatusOK, w.CallAs(t, "rotateKey", wide["id"].(string), narrow, nil).Status)
	beyond := create(w.Acme.New, "avatars:write").Data(t)["id"].(string)
	apitest.RequireError(t, w.CallAs(t, "rotateKey", beyond, narrow, nil), http.StatusForbidden, "forbidden", "")
}

// A key that manages keys stays within its own addresses, time and environment, and
// leaves keys alone that can do more than it.
func TestAKeyStaysWithinItself(t *testing.T) {
	w := apitest.NewWorld(t)
	caller := w.CallAs(t, "createKey", "", w.Acme.New, map[string]any{
		"name": "caller", "scopes": []string{"keys:manage", "avatars:read"}, "expiresAt": "2098-01-01T00:00:00Z",
		"allowedAddresses": []string{"127.0.0.0/8"}, "environment": "test",
	}).Data(t)
	secret := apikey.Secret(caller["secret"].(string))
	require.Regexp(t, `^vsk_test_`, string(secret))
	require.Equal(t, "test", caller["environment"])

	made := w.CallAs(t, "createKey", "", secret, map[string]any{"name": "made", "scopes": []string{"avatars:read"}}).Data(t)
	for _, field := range []string{"expiresAt", "allowedAddresses", "environment"} {
		require.Equal(t, caller[field], made[field], "%s is the maker's own unless given", field)
	}
	for param, beyond := range map[string]any{
		"body.environment": "live", "body.allowedAddresses": []string{"0.0.0.0/0"}, "body.expiresAt": "2099-01-01T00:00:00Z",
	} {
		field := strings.TrimPrefix(param, "body.")
		apitest.RequireError(t, w.CallAs(t, "createKey", "", secret, map[string]any{"name": "x", "scopes": []string{"avatars:read"}, field: beyond}),
			http.StatusForbidden, "forbidden", param)
		if field == "environment" {
			continue
		}
		for _, target := range []any{made["id"], caller["id"]} {
			apitest.RequireError(t, w.CallAs(t, "updateKey", target.(string), secret, map[string]any{field: beyond}), http.StatusForbidden, "forbidden", param)
		}
	}
	for _, target := range []any{made["id"], caller["id"]} {
		apitest.RequireError(t, w.CallAs(t, "updateKey", target.(string), secret, map[string]any{"expiresAt": nil}), http.StatusForbidden, "forbidden", "body.expiresAt")
		apitest.RequireError(t, w.CallAs(t, "updateKey", target.(string), secret, map[string]any{"allowedAddresses": []string{}}), http.StatusForbidden, "forbidden", "body.allowedAddresses")
	}

	for name, beyond := range map[string]map[string]any{
		"a live key":         {"name": "live", "scopes": []string{"avatars:read"}, "expiresAt": "2097-01-01T00:00:00Z", "allowedAddresses": []string{"127.0.0.1/32"}},
		"one from elsewhere": {"name": "far", "scopes": []string{"avatars:read"}, "expiresAt": "2097-01-01T00:00:00Z", "environment": "test"},
		"one that stays":     {"name": "long", "scopes": []string{"avatars:read"}, "allowedAddresses": []string{"127.0.0.1/32"}, "environment": "test"},
		"one that does more": {"name": "wide", "scopes": []string{"avatars:write"}, "expiresAt": "2097-01-01T00:00:00Z", "allowedAddresses": []string{"127.0.0.1/32"}, "environment": "test"},
	} {
		target := w.CallAs(t, "createKey", "", w.Acme.New, beyond).Data(t)["id"].(string)
		apitest.RequireError(t, w.CallAs(t, "updateKey", target, secret, map[string]any{"name": "renamed"}), http.StatusForbidden, "forbidden", "")
		apitest.RequireError(t, w.CallAs(t, "rotateKey", target, secret, nil), http.StatusForbidden, "forbidden", "")
		apitest.RequireError(t, w.CallAs(t, "revokeKey", target, secret, nil), http.StatusForbidden, "forbidden", "")
		require.Equal(t, "active", w.CallAs(t, "getKey", target, w.Acme.New, nil).Data(t)["state"], name)
	}
	rotated := w.CallAs(t, "rotateKey", made["id"].(string), secret, nil).Data(t)
	require.Regexp(t, `^vsk_test_`, rotated["secret"])
}

// What has expired stays so, whoever asks.
func TestExpiredKeysStayExpired(t *testing.T) {
	clock := clocktest.NewFakeClock(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))
	w := apitest.NewWorld(t, func(o *apitest.Options) { o.Clock = clock })
	made := w.CallAs(t, "createKey", "", w.Acme.New, map[string]any{
		"name": "made", "scopes": []string{"avatars:read"}, "expiresAt": clock.Now().Add(time.Hour).Format(time.RFC3339),
	}).Data(t)["id"].(string)
	clock.Step(2 * time.Hour)
	require.Equal(t, "expired", w.CallAs(t, "getKey", made, w.Acme.New, nil).Data(t)["state"])
	for _, body := range []map[string]any{{"expiresAt": nil}, {"expiresAt": "2099-01-01T00:00:00Z"}, {"name": "renamed"}} {
		e := apitest.RequireError(t, w.CallAs(t, "updateKey", made, w.Acme.New, body), http.StatusConflict, "conflict", "")
		require.Equal(t, "expired", e["details"].(map[string]any)["reason"])
	}
	apitest.RequireError(t, w.CallAs(t, "rotateKey", made, w.Acme.New, nil), http.StatusConflict, "conflict", "")
	require.Equal(t, http.StatusOK, w.CallAs(t, "revokeKey", made, w.Acme.New, nil).Status)
}

func TestChangingKeys(t *testing.T) {
	w := apitest.NewWorld(t)
	made := w.CallAs(t, "createKey", "", w.Acme.New, map[string]any{"name": "made", "scopes": []string{"avatars:read", "avatars:write"}}).Data(t)
	key := made["id"].(string)
	require.Nil(t, made["allowedAddresses"])
	change := func(body map[string]any) apitest.Answer { return w.CallAs(t, "updateKey", key, w.Acme.New, body) }

	apitest.RequireError(t, change(map[string]any{"scopes": []string{"avatars:read", "voices:read"}}), http.StatusBadRequest, "invalid_request", "body.scopes")
	require.Equal(t, []any{"avatars:read"}, change(map[string]any{"scopes": []string{"avatars:read"}}).Data(t)["scopes"])
	apitest.RequireError(t, change(map[string]any{"scopes": []string{"avatars:read", "avatars:write"}}), http.StatusBadRequest, "invalid_request", "body.scopes")
	apitest.RequireError(t, change(map[string]any{"expiresAt": "2020-01-01T00:00:00Z"}), http.StatusBadRequest, "invalid_request", "body.expiresAt")
	apitest.RequireError(t, change(map[string]any{"allowedAddresses": []string{"10.0.0.1"}}), http.StatusBadRequest, "invalid_request", "body.allowedAddresses")
	require.Equal(t, "2099-01-01T00:00:00Z", change(map[string]any{"expiresAt": "2099-01-01T01:00:00+01:00"}).Data(t)["expiresAt"])
	require.Nil(t, change(map[string]any{"expiresAt": nil}).Data(t)["expiresAt"])
	require.Equal(t, "renamed", change(map[string]any{"name": "renamed"}).Data(t)["name"])
	require.Equal(t, w.CallAs(t, "getKey", key, w.Acme.New, nil).Data(t), change(map[string]any{}).Data(t), "nothing changes nothing")

	require.Equal(t, []any{"192.0.2.0/24"}, change(map[string]any{"allowedAddresses": []string{"192.0.2.0/24"}}).Data(t)["allowedAddresses"])
	secret := apikey.Secret(made["secret"].(string))
	require.Eventually(t, func() bool { return w.Get(secret, "/avatars").Status == http.StatusForbidden }, 20*time.Second, 20*time.Millisecond)
}

// A key that is revoked or rotated stops on every server: for how long one remembers a key is
// tested by a clock that stands still, in apikey.
func TestKeysEndEverywhere(t *testing.T) {
	w := apitest.NewWorld(t)
	second := apitest.Serve(t, w.Options).URL
	status := func(base string, key apikey.Secret) int {
		answer := w.Do(apitest.Request{Base: base, Method: http.MethodGet, Path: "/avatars", Key: key})
		apitest.CheckHeaders(t, answer)
		return answer.Status
	}
	ends := func(key apikey.Secret) {
		t.Helper()
		for _, base := range []string{w.URL, second} {
			require.Eventually(t, func() bool { return status(base, key) == http.StatusUnauthorized }, 20*time.Second, 20*time.Millisecond)
		}
	}
	made := w.CallAs(t, "createKey", "", w.Acme.New, map[string]any{"name": "made", "scopes": []string{"avatars:read"}}).Data(t)
	key, first := made["id"].(string), apikey.Secret(made["secret"].(string))
	for _, base := range []string{w.URL, second} {
		require.Equal(t, http.StatusOK, status(base, first), "a key works once it is answered")
	}

	rotated := w.CallAs(t, "rotateKey", key, w.Acme.New, map[string]any{"graceS": 3600}).Data(t)
	graced := apikey.Secret(rotated["secret"].(string))
	require.Equal(t, key, rotated["id"])
	require.NotEqual(t, first, graced)
	require.Equal(t, string(graced[len(graced)-4:]), rotated["last4"])
	for _, base := range []string{w.URL, second} {
		require.Equal(t, http.StatusOK, status(base, graced))
		require.Never(t, func() bool { return status(base, first) != http.StatusOK }, 1200*time.Millisecond, 100*time.Millisecond)
		require.Equal(t, http.StatusOK, status(base, first))
	}
	current := apikey.Secret(w.CallAs(t, "rotateKey", key, w.Acme.New, nil).Data(t)["secret"].(string))
	require.Equal(t, http.StatusOK, status(second, current))
	ends(graced) // without grace at once

	require.Equal(t, map[string]any{"deleted": true, "id": key}, w.CallAs(t, "revokeKey", key, w.Acme.New, nil).Data(t))
	ends(current)
	require.Equal(t, "revoked", w.CallAs(t, "getKey", key, w.Acme.New, nil).Data(t)["state"])
	require.Equal(t, http.StatusOK, w.CallAs(t, "revokeKey", key, w.Acme.New, nil).Status, "again changes nothing")
	for _, operation := range []string{"updateKey", "rotateKey"} {
		e := apitest.RequireError(t, w.CallAs(t, operation, key, w.Acme.New, map[string]any{}), http.StatusConflict, "conflict", "")
		require.Equal(t, "revoked", e["details"].(map[string]any)["reason"])
	}
}

func TestAKeyCannotRevokeItself(t *testing.T) {
	w := apitest.NewWorld(t)
	own := w.Get(w.Acme.New, "/me").Data(t)["key"].(map[string]any)["id"].(string)
	e := apitest.RequireError(t, w.CallAs(t, "revokeKey", own, w.Acme.New, nil), http.StatusConflict, "conflict", "")
	require.Equal(t, "own_key", e["details"].(map[string]any)["reason"])
	require.Equal(t, "active", w.CallAs(t, "getKey", own, w.Acme.New, nil).Data(t)["state"])
}

// Every change leaves an entry in the activity log of its organization alone.
func TestActivity(t *testing.T) {
	w := apitest.NewWorld(t)
	caller := w.Get(w.Acme.New, "/me").Data(t)["key"].(map[string]any)["id"]
	key, avatar := w.Make(t, w.Acme, "createKey")["id"].(string), w.Make(t, w.Acme, "createAvatar")["id"].(string)
	w.CallAs(t, "updateKey", key, w.Acme.New, map[string]any{"name": "other"})
	w.CallAs(t, "rotateKey", key, w.Acme.New, map[string]any{"graceS": 5})
	w.CallAs(t, "revokeKey", key, w.Acme.New, nil)
	w.CallAs(t, "updateAvatar", avatar, w.Acme.New, map[string]any{"name": "Other"})
	w.CallAs(t, "deleteAvatar", avatar, w.Acme.New, nil)
	apitest.RequireError(t, w.CallAs(t, "deleteAvatar", avatar, w.Acme.New, nil), http.StatusGone, "gone", "") // no entry

	o := w.Operation(t, "listActivity")
	entries, _ := w.Page(t, o, w.Acme.New, nil)
	var actions []string
	for _, entry := range entries {
		entry := entry.(map[string]any)
		actions = append(actions, entry["action"].(string))
		require.Equal(t, caller, entry["actor"])
		require.Equal(t, "127.0.0.1", entry["address"])
		require.Contains(t, []string{key, avatar}, entry["targetId"])
	}
	require.Equal(t, []string{
		"avatar.deleted", "avatar.updated", "key.revoked", "key.rotated", "key.updated", "avatar.created", "key.created",
	}, actions)
	require.Equal(t, map[string]any{"name": "other"}, entries[4].(map[string]any)["changes"])
	for query, count := range map[string]int{
		"action=key.updated": 1, "targetId=" + key: 4, "targetId=nobody": 0, "to=2026-01-01T00:00:00Z": 0, "from=2026-01-01T00:00:00Z": 7,
	} {
		values, err := url.ParseQuery(query)
		require.NoError(t, err)
		found, _ := w.Page(t, o, w.Acme.New, values)
		require.Len(t, found, count, query)
	}
	others, _ := w.Page(t, o, w.Globex.New, nil)
	require.Empty(t, others)
	require.NotContains(t, string(w.Get(w.Acme.New, "/activity").Raw), "vsk_", "no secret is written down")
}

// Whoever holds a key does not undo by a request of its own that it is narrowed at the
// same moment, however the two meet.
func TestNarrowingAKeyIsNotUndone(t *testing.T) {
	w := apitest.NewWorld(t)
	wide := map[string]any{"scopes": []string{"keys:manage", "avatars:read", "avatars:write"}}
	for range 10 {
		made := w.CallAs(t, "createKey", "", w.Acme.New, map[string]any{"name": "held", "scopes": wide["scopes"]}).Data(t)
		held, secret := made["id"].(string), apikey.Secret(made["secret"].(string))
		var (
			both    sync.WaitGroup
			narrows apitest.Answer
		)
		both.Go(func() {
			narrows = w.Do(apitest.Request{Method: http.MethodPatch, Path: "/keys/" + held, Key: w.Acme.New, Body: map[string]any{"scopes": []string{"avatars:read"}}})
		})
		both.Go(func() {
			w.Do(apitest.Request{Method: http.MethodPatch, Path: "/keys/" + held, Key: secret, Body: wide})
		})
		both.Wait()
		require.Equal(t, http.StatusOK, narrows.Status, "%s", narrows.Raw)
		require.Equal(t, []any{"avatars:read"}, w.CallAs(t, "getKey", held, w.Acme.New, nil).Data(t)["scopes"])
	}
}
