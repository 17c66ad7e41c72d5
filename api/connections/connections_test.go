package connections_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/model/modeltest"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/tenant"
)

func TestConnectionInput(t *testing.T) {
	c := apitest.NewConnections(t)
	for name, test := range map[string]struct {
		change func(body, config map[string]any)
		param  string
	}{
		"no such offer":    {func(b, _ map[string]any) { b["kind"] = "media" }, "body.provider"},
		"another kind":     {func(b, _ map[string]any) { b["kind"] = "storage" }, "body.kind"},
		"no model":         {func(_, k map[string]any) { delete(k, "model") }, "body.config.model"},
		"a key in it":      {func(_, k map[string]any) { k["apiKey"] = "x" }, "body.config.apiKey"},
		"a private place":  {func(_, k map[string]any) { k["baseUrl"] = "https://10.0.0.1/v1" }, "body.config.baseUrl"},
		"the metadata":     {func(_, k map[string]any) { k["baseUrl"] = "https://169.254.169.254/v1" }, "body.config.baseUrl"},
		"no TLS":           {func(_, k map[string]any) { k["baseUrl"] = "http://example.com/v1" }, "body.config.baseUrl"},
		"a query":          {func(_, k map[string]any) { k["baseUrl"] = "https://example.com/a?b=c" }, "body.config.baseUrl"},
		"a fragment":       {func(_, k map[string]any) { k["baseUrl"] = "https://example.com/a/b#" }, "body.config.baseUrl"},
		"a password":       {func(_, k map[string]any) { k["baseUrl"] = "https://a:b@example.com/v1" }, "body.config.baseUrl"},
		"a secret of two":  {func(b, _ map[string]any) { b["secret"] = "two lines\nX-Evil: 1" }, "body.secret"},
		"a long time":      {func(b, _ map[string]any) { b["limits"] = map[string]any{"timeoutMs": 60001} }, "body.limits.timeoutMs"},
		"another fallback": {func(b, _ map[string]any) { b["fallback"] = "none" }, "body.fallback"},
		"no secret": {func(b, k map[string]any) {
			b["kind"], b["provider"] = "speech", "elevenlabs"
			b["config"] = map[string]any{"baseUrl": k["baseUrl"]}
			delete(b, "secret")
		}, "body.secret"},
		"livekit over https": {func(b, k map[string]any) {
			b["kind"], b["provider"], b["config"] = "media", "livekit", map[string]any{"url": k["baseUrl"], "apiKey": "k"}
		}, "body.config.url"},
		"a tool that refers to a file": {func(b, k map[string]any) {
			b["kind"], b["provider"] = "http", "http"
			b["config"] = map[string]any{"baseUrl": k["baseUrl"], "tools": []any{map[string]any{
				"name": "order", "description": "Finds one.", "method": "GET", "path": "/orders", "parameters": map[string]any{"type": "object", "$ref": "file:///etc/passwd"},
			}}}
		}, "body.config.tools.0.parameters"},
		"a system without tools": {func(b, k map[string]any) {
			b["kind"], b["provider"], b["config"] = "http", "http", map[string]any{"baseUrl": k["baseUrl"], "tools": []any{}}
		}, "body.config.tools"},
		"a face for none": {func(b, k map[string]any) {
			b["kind"], b["provider"], b["config"] = "avatar", "beyond_presence", map[string]any{"baseUrl": k["baseUrl"], "avatarMap": map[string]any{}}
			b["fallback"] = "builtin"
		}, "body.config.avatar"},
		"a face or none": {func(b, k map[string]any) {
			b["kind"], b["provider"], b["config"] = "avatar", "beyond_presence", map[string]any{"baseUrl": k["baseUrl"], "avatar": "a"}
			b["fallback"] = "fail"
		}, "body.fallback"},
		"livekit, private": {func(b, _ map[string]any) {
			b["kind"], b["provider"], b["config"] = "media", "livekit", map[string]any{"url": "wss://10.0.0.1", "apiKey": "k"}
		}, "body.config.url"},
	} {
		t.Run(name, func(t *testing.T) {
			apitest.RequireError(t, c.Connect(t, test.change), http.StatusBadRequest, "invalid_request", test.param)
		})
	}
	require.Empty(t, c.Models.Requests())
	providers := c.Get(c.Acme.New, "/connections/providers").JSON(t)["data"].([]any)
	require.Len(t, providers, 21)
	require.Equal(t, "object", providers[0].(map[string]any)["configSchema"].(map[string]any)["type"])

	starter := c.NewOrg("Starter", "shard-1", "starter")
	o := c.Operation(t, "createConnection")
	e := apitest.RequireError(t, c.Call(t, o, apitest.Request{Path: o.Path, Key: starter.New, Body: c.Body(t, o)}), http.StatusForbidden, "upgrade_required", "")
	require.Equal(t, map[string]any{"feature": "connections", "plan": "team"}, e["details"])
}

func TestConnectionsAreTested(t *testing.T) {
	c := apitest.NewConnections(t)
	c.Models.Accept("sk-the-right-one-0123")
	made := c.Connect(t, apitest.Same).Data(t)
	which := made["id"].(string)
	require.Equal(t, "unverified", made["state"])
	require.Equal(t, map[string]any{"lastOkAt": nil, "lastErrorAt": nil, "errorCode": nil, "consecutiveFailures": 0.0, "p95Ms": nil}, made["health"])

	failed := c.CallAs(t, "testConnection", which, c.Acme.New, nil).Data(t)
	require.Equal(t, false, failed["ok"])
	step := failed["steps"].([]any)[1].(map[string]any)
	require.Equal(t, []any{"answer", false, "refused", "the service does not take the secret (status 401)"},
		[]any{step["name"], step["ok"], step["errorCode"], step["error"]})
	require.Equal(t, "failing", c.CallAs(t, "getConnection", which, c.Acme.New, nil).Data(t)["state"])
	require.Empty(t, c.Told(t, "connection.failed"))

	rotated := c.CallAs(t, "rotateConnectionSecret", which, c.Acme.New, map[string]any{"secret": "sk-the-right-one-0123", "graceS": 60}).Data(t)
	require.Equal(t, []any{"unverified", "0123"}, []any{rotated["state"], rotated["secretLast4"]})
	good := c.CallAs(t, "testConnection", which, c.Acme.New, nil).Data(t)
	require.Equal(t, true, good["ok"], "%v", good)
	require.Equal(t, "active", good["connection"].(map[string]any)["state"])

	// While the secret is replaced the old one is tried too.
	c.CallAs(t, "rotateConnectionSecret", which, c.Acme.New, map[string]any{"secret": "sk-not-yet-known-4567", "graceS": 60})
	require.Equal(t, true, c.CallAs(t, "testConnection", which, c.Acme.New, nil).Data(t)["ok"])
	c.Models.Behave(modeltest.Status(503, nil))
	require.Equal(t, false, c.CallAs(t, "testConnection", which, c.Acme.New, nil).Data(t)["ok"])
	require.Equal(t, false, c.CallAs(t, "testConnection", which, c.Acme.New, nil).Data(t)["ok"])
	told := c.Told(t, "connection.failed")
	require.Len(t, told, 1, "once per outage")
	data := told[0].(map[string]any)["data"].(map[string]any)
	require.Equal(t, []any{which, "model", "openai_compatible", "failing", "unavailable"},
		[]any{data["connectionId"], data["kind"], data["provider"], data["state"], data["errorCode"]})
	require.NotNil(t, data["lastOkAt"])

	calls := c.CallAs(t, "listConnectionCalls", which, c.Acme.New, nil).JSON(t)["data"].([]any)
	require.Len(t, calls, 5)
	newest := calls[0].(map[string]any)
	require.Equal(t, []any{"test.answer", 503.0, "unavailable"}, []any{newest["name"], newest["status"], newest["errorCode"]})
	for _, key := range []apikey.Secret{c.Acme.New, c.OldNamed} {
		require.Equal(t, calls, paged(t, c.World, which, key))
	}
	apitest.RequireError(t, c.CallAs(t, "listConnectionCalls", which, c.Globex.New, nil), http.StatusNotFound, "not_found", "path.id")
}

// paged are the calls of a connection, read two by two.
func paged(t *testing.T, c *apitest.World, which string, key apikey.Secret) (all []any) {
	t.Helper()
	for cursor := ""; ; {
		query := url.Values{"limit": {"2"}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		answer := c.Call(t, c.Operation(t, "listConnectionCalls"), apitest.Request{Path: "/connections/" + which + "/calls?" + query.Encode(), Key: key})
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		page := answer.JSON(t)
		all = append(all, page["data"].([]any)...)
		next, more := page["nextCursor"].(string)
		if !more {
			return all
		}
		cursor = next
	}
}

func TestConnectionsAreChanged(t *testing.T) {
	c := apitest.NewConnections(t)
	made := c.Connect(t, func(b, _ map[string]any) { b["secret"] = "sk-0123456789-abcd" }).Data(t)
	which, config := made["id"].(string), made["config"].(map[string]any)
	change := func(body map[string]any) apitest.Answer {
		return c.CallAs(t, "updateConnection", which, c.Acme.New, body)
	}
	require.Equal(t, "other", change(map[string]any{"name": "other"}).Data(t)["name"])
	require.Equal(t, "connection.updated", c.Last(t)["action"])
	config["baseUrl"] = "https://127.0.0.1:9/v1"
	apitest.RequireError(t, change(map[string]any{"config": config}), http.StatusBadRequest, "invalid_request", "body.secret")
	require.Equal(t, "wxyz", change(map[string]any{"config": config, "secret": "sk-9876543210-wxyz"}).Data(t)["secretLast4"])
	require.Equal(t, map[string]any{"config": []any{"baseUrl"}, "secret": "replaced"}, c.Last(t)["changes"])
	apitest.RequireError(t, change(map[string]any{"config": map[string]any{"baseUrl": "https://127.0.0.1:9/v1"}}), http.StatusBadRequest, "invalid_request", "body.config.model")
	require.Equal(t, "disabled", change(map[string]any{"enabled": false}).Data(t)["state"])
	require.Equal(t, "unverified", change(map[string]any{"enabled": true}).Data(t)["state"])
	require.Equal(t, map[string]any{"timeoutMs": 700.0}, change(map[string]any{"limits": map[string]any{"timeoutMs": 700}}).Data(t)["limits"])

	parsed, err := id.ParseConnection(which)
	require.NoError(t, err)
	use := func(connections ...id.Connection) {
		require.NoError(t, c.Tenants.InTx(context.Background(), c.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
			return connection.SetUses(ctx, tx, connection.ByPersona(id.Persona{1}), connections...)
		}))
	}
	use(parsed)
	e := apitest.RequireError(t, c.CallAs(t, "deleteConnection", which, c.Acme.New, nil), http.StatusConflict, "conflict", "path.id")
	require.Equal(t, "in_use", e["details"].(map[string]any)["reason"])
	require.Equal(t, []any{id.Persona{1}.String()}, c.CallAs(t, "getConnection", which, c.Acme.New, nil).Data(t)["usedBy"].(map[string]any)["personaIds"])
	use()
	require.Equal(t, http.StatusOK, c.CallAs(t, "deleteConnection", which, c.Acme.New, nil).Status)
	for _, operation := range []string{"getConnection", "updateConnection", "deleteConnection", "testConnection", "rotateConnectionSecret", "listConnectionCalls"} {
		answer := c.CallAs(t, operation, which, c.Acme.New, c.Body(t, c.Operation(t, operation)))
		apitest.RequireError(t, answer, http.StatusGone, "gone", "path.id")
		apitest.RequireError(t, c.CallAs(t, operation, which, c.Globex.New, c.Body(t, c.Operation(t, operation))), http.StatusNotFound, "not_found", "path.id")
	}
	open := c.Connect(t, func(b, _ map[string]any) { delete(b, "secret") }).Data(t)
	require.Equal(t, []any{false, nil}, []any{open["secretSet"], open["secretLast4"]})
	e = apitest.RequireError(t, c.CallAs(t, "rotateConnectionSecret", open["id"].(string), c.Acme.New, map[string]any{"secret": "s"}), http.StatusConflict, "conflict", "path.id")
	require.Equal(t, "no_secret", e["details"].(map[string]any)["reason"])
}

// A secret is in no answer, no log line, and no column but sealed.
func TestSecretsOfConnectionsAreNowhere(t *testing.T) {
	c := apitest.NewConnections(t)
	const secret, next, last = "sk-needle-1-ccdd8f1e", "sk-needle-2-ccdd8f1e", "sk-needle-3-ccdd8f1e"
	var answers []string
	note := func(a apitest.Answer) apitest.Answer {
		answers = append(answers, string(a.Raw), fmt.Sprint(a.Header))
		return a
	}
	o := c.Operation(t, "createConnection")
	body := c.Body(t, o).(map[string]any)
	body["secret"] = secret
	body["config"].(map[string]any)["baseUrl"] = c.Models.URL()
	var which string
	for range 2 { // the second is replayed
		which = note(c.Call(t, o, apitest.Request{Path: o.Path, Key: c.Acme.New, Body: body, Header: map[string]string{"Idempotency-Key": "needle"}})).Data(t)["id"].(string)
	}
	body["config"].(map[string]any)["unknown"] = secret
	note(c.Call(t, o, apitest.Request{Path: o.Path, Key: c.Acme.New, Body: body}))
	delete(body["config"].(map[string]any), "unknown")
	body["secret"] = []any{secret}
	note(c.Call(t, o, apitest.Request{Path: o.Path, Key: c.Acme.New, Body: body}))
	c.Models.Behave(modeltest.Status(400, nil)) // it repeats what it was sent
	note(c.CallAs(t, "testConnection", which, c.Acme.New, nil))
	note(c.CallAs(t, "rotateConnectionSecret", which, c.Acme.New, map[string]any{"secret": next, "graceS": 60}))
	note(c.CallAs(t, "testConnection", which, c.Acme.New, nil))
	note(c.CallAs(t, "updateConnection", which, c.Acme.New, map[string]any{"secret": last}))
	for _, operation := range []string{"getConnection", "listConnections", "listConnectionCalls", "listActivity", "listEvents"} {
		note(c.CallAs(t, operation, which, c.Acme.New, nil))
	}
	require.Equal(t, "Bearer "+secret, c.Models.Requests()[0].Authorization, "it was used")

	clean := func(where, text string) {
		for _, s := range []string{"needle-1-", "needle-2-", "needle-3-"} {
			require.NotContains(t, text, s, where)
			require.NotContains(t, text, hex.EncodeToString([]byte(s)), where)
		}
	}
	for _, a := range answers {
		clean("an answer", a)
	}
	clean("the log", c.Log.String())
	shard, err := c.Tenants.Shard(context.Background(), "shard-1")
	require.NoError(t, err)
	for _, db := range []*database.DB{shard, c.Directory.DB} {
		dump := dumped(t, db)
		require.NotEmpty(t, dump)
		clean("the database", dump)
	}
}

// dumped is every row of a database as text, bytes in hexadecimal.
func dumped(t *testing.T, db *database.DB) string {
	t.Helper()
	ctx := context.Background()
	rows, err := db.Query(ctx, `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.NotEmpty(t, tables)
	var all strings.Builder
	for _, table := range tables {
		rows, err := db.Query(ctx, `SELECT t::TEXT FROM `+pgx.Identifier{table}.Sanitize()+` t`)
		require.NoError(t, err)
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		all.WriteString(strings.Join(found, "\n"))
	}
	return all.String()
}
