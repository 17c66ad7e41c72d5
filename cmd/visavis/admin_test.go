package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/store/database"
)

// adminTool runs the admin tool on one directory.
func adminTool[T any](t *testing.T, directory string, args ...string) T {
	t.Helper()
	return runJSON[T](t, append([]string{"admin", "--database", directory}, args...)...)
}

func TestMigrateAndShards(t *testing.T) {
	t.Parallel()
	directory, shard := newDatabase(t), newDatabase(t)

	_, stderr, code := execute(t, nil, "migrate")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "VISAVIS_DATABASE")

	done := runJSON[[]migrated](t, "migrate", "--database", directory)
	require.Len(t, done, 1)
	require.Equal(t, "directory", done[0].Database)
	require.Positive(t, done[0].Version)

	require.Empty(t, adminTool[[]any](t, directory, "shard", "list"))
	_, stderr, code = execute(t, nil, "admin", "--database", directory, "org", "create", "Early")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "no shard")

	alone := runJSON[[]migrated](t, "migrate", "--shard-database", shard)
	require.Len(t, alone, 1)
	require.Equal(t, "the shard", alone[0].Database)

	_, stderr, code = execute(t, nil, "admin", "--database", directory, "shard", "add", "one", "--url", shard, "--tier", "gold")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, `tier "gold": want Shared or Dedicated`)
	added := adminTool[map[string]any](t, directory, "shard", "add", "one", "--url", shard)
	require.Equal(t, float64(alone[0].Version), added["version"])
	require.Equal(t, "one", added["name"])
	require.Positive(t, added["version"])
	shards := adminTool[[]map[string]any](t, directory, "shard", "list")
	require.Len(t, shards, 1)
	require.Equal(t, "one", shards[0]["name"])
	require.Equal(t, "Shared", shards[0]["tier"])
	require.NotContains(t, shards[0], "url", "a shard's URL has its password")

	again := runJSON[[]migrated](t, "migrate", "--database", directory)
	require.Equal(t, append(done, migrated{Database: "shard one", Version: int64(added["version"].(float64))}), again)
}

// away is the URL of a database that is not there.
const away = "postgres://nobody@127.0.0.1:9/none?sslmode=disable"

// One shard that is away keeps no other from the new schema, nor an upgrade of the rest
// where its resource migrates it later.
func TestMigratePastAShardThatIsAway(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, newDatabase(t), newDatabase(t))
	executeSQL(t, p.directory, `INSERT INTO shard (name, url, tier, managed_by, created_at) VALUES ('a', '`+away+`', 'Shared', 'Shard//a/42', now())`)
	stdout, stderr, code := execute(t, nil, "migrate", "--database", p.directory)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "shard one is at version")
	require.NotContains(t, stdout, "shard a")
	require.Contains(t, stderr, "warning: shard a is left to its resource, whose pods wait for it")
	done := runJSON[[]migrated](t, "migrate", "--database", p.directory)
	require.Equal(t, "shard a", done[1].Database)
	require.NotEmpty(t, done[1].Problem)

	executeSQL(t, p.directory, `UPDATE shard SET managed_by = 'api' WHERE name = 'a'`)
	stdout, stderr, code = execute(t, nil, "migrate", "--database", p.directory)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "shard a: ")
	require.Contains(t, stdout, "shard one is at version", "the others are tried all the same")
}

// What answers is shown while a shard is away, and which one that is.
func TestListsWithAShardThatIsAway(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, newDatabase(t), newDatabase(t))
	executeSQL(t, p.directory, `INSERT INTO shard (name, url, tier, managed_by, created_at) VALUES ('a', '`+away+`', 'Shared', 'api', now())`)
	executeSQL(t, p.directory, `INSERT INTO organization SELECT (jsonb_populate_record(o, '{"id": "00000000-0000-4000-8000-000000000001", "slug": "lost", "shard": "a"}')).* FROM organization o`)
	executeSQL(t, p.shard, `
		INSERT INTO webhook (org_id, id, url, events, include_conversation, active, api_version, created_at, updated_at, secret, description, failing_since)
		SELECT org_id, org_id, 'https://example.com/hook', '{}', false, true, '2026-10-01', now(), now(), '', '', now() FROM org_fence`)
	for _, args := range [][]string{{"webhooks", "list"}, {"show", "webhooks"}, {"show", "webhooks", "--failing"}, {"show", "portals"}} {
		stdout, stderr, code := execute(t, nil, append([]string{"admin", "--database", p.directory}, args...)...)
		require.Equal(t, 1, code, args)
		require.Contains(t, stderr, "shard a did not answer", args)
		require.NotContains(t, stderr, "shard one", args)
		if strings.Contains(strings.Join(args, " "), "webhooks") {
			require.Contains(t, stdout, "https://example.com", args)
		}
	}
}

func TestOrganizationsByHand(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, newDatabase(t), newDatabase(t))
	tool := func(args ...string) shownOrg { return adminTool[shownOrg](t, p.directory, args...) }
	adminTool[map[string]any](t, p.directory, "shard", "add", "two", "--url", newDatabase(t))

	globex := tool("org", "create", "Globex & Söhne", "--plan", "team")
	require.Equal(t, "two", globex.Shard, "the shard with the fewest organizations")
	require.Equal(t, "globex-s-hne", globex.Slug)
	require.Equal(t, "team", globex.Plan)
	require.Nil(t, globex.PausedAt)

	all := adminTool[[]shownOrg](t, p.directory, "org", "list")
	require.Len(t, all, 2)
	require.ElementsMatch(t, []string{p.org, globex.ID}, []string{all[0].ID, all[1].ID})

	require.Equal(t, "business", tool("org", "set-plan", globex.ID, "business").Plan)
	limited := tool("org", "set-limit", globex.ID, "customAvatars", "7")
	require.EqualValues(t, 7, *limited.Overrides.Limits["customAvatars"])
	limited = tool("org", "set-limit", globex.ID, "portals", "unlimited")
	require.Contains(t, limited.Overrides.Limits, "portals")
	require.Nil(t, limited.Overrides.Limits["portals"])
	limited = tool("org", "set-limit", globex.ID, "heavy", "5/9")
	require.Equal(t, map[string]int64{"perKey": 5, "perOrganization": 9}, limited.Overrides.Rates["heavy"])
	limited = tool("org", "set-limit", globex.ID, "customAvatars", "plan")
	require.NotContains(t, limited.Overrides.Limits, "customAvatars")

	paused := tool("org", "pause", globex.ID, "--reason", "unpaid")
	require.NotNil(t, paused.PausedAt)
	require.Equal(t, "unpaid", *paused.Reason)
	resumed := tool("org", "resume", globex.ID)
	require.Nil(t, resumed.PausedAt)
	require.Nil(t, resumed.Reason)

	tool("org", "add-minutes", globex.ID, "90")
	key := adminTool[adminKey](t, p.directory, "key", "create", globex.ID, "--full-access").Secret
	usage := get(t, p.serve(t).url+"/usage", key)
	require.InDelta(t, 90, data[struct{ Minutes struct{ Left float64 } }](t, usage).Minutes.Left, 0)
}

func TestAdminRefuses(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, newDatabase(t), newDatabase(t))
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"a plan that is not there":     {[]string{"org", "set-plan", p.org, "gold"}, "starter"},
		"an organization with no plan": {[]string{"org", "create", "Initech", "--plan", "gold"}, "starter"},
		"a taken slug":                 {[]string{"org", "create", "Other", "--slug", "acme"}, "slug"},
		"a name without a slug":        {[]string{"org", "create", "汉"}, "--slug"},
		"a limit that is not there":    {[]string{"org", "set-limit", p.org, "cats", "3"}, "customAvatars"},
		"a limit that is no number":    {[]string{"org", "set-limit", p.org, "portals", "many"}, "unlimited"},
		"no minutes":                   {[]string{"org", "add-minutes", p.org, "0"}, "minutes"},
		"another kind of id":           {[]string{"org", "pause", "key_0683mPq2v9XKf1sTn7ZQ4b"}, "organization"},
		"an unknown organization":      {[]string{"org", "pause", "org_0683mPq2v9XKf1sTn7ZQ4b"}, "organization"},
		"a key without rights":         {[]string{"key", "create", p.org}, "--full-access"},
		"a scope that is not there":    {[]string{"key", "create", p.org, "--scope", "cats:read"}, "avatars:read"},
		"a contract that is not there": {[]string{"key", "create", p.org, "--full-access", "--contract", "2020-01-01"}, "2026-10-01"},
		"an unknown key":               {[]string{"key", "revoke", p.org, "key_0683mPq2v9XKf1sTn7ZQ4b"}, "key"},
	} {
		t.Run(name, func(t *testing.T) {
			_, stderr, code := execute(t, nil, append([]string{"admin", "--database", p.directory}, c.args...)...)
			require.Equal(t, 1, code)
			require.Contains(t, stderr, c.says)
		})
	}
	require.Len(t, adminTool[[]shownOrg](t, p.directory, "org", "list"), 1)
	require.Len(t, adminTool[[]adminKey](t, p.directory, "key", "list", p.org), 1)
}

func TestWhatAResourceDeclaresIsNotChangedByHand(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, newDatabase(t), newDatabase(t))
	db, err := database.Open(p.directory, database.PoolOptions{})
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(t.Context(), `UPDATE organization SET managed_by = 'Organisation/acme/main/42'`)
	require.NoError(t, err)
	for _, args := range [][]string{
		{"set-plan", p.org, "business"}, {"set-limit", p.org, "portals", "7"}, {"pause", p.org}, {"resume", p.org},
	} {
		_, stderr, code := execute(t, nil, append([]string{"admin", "--database", p.directory, "org"}, args...)...)
		require.Equal(t, 1, code)
		require.Contains(t, stderr, "is managed by Organisation acme/main: change it there")
	}
	adminTool[shownOrg](t, p.directory, "org", "add-minutes", p.org, "90")
}

func TestKeysByHand(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, newDatabase(t), newDatabase(t))
	api := p.serve(t)
	made := adminTool[adminKey](t, p.directory, "key", "create", p.org, "--name", "CI", "--scope", "avatars:read",
		"--scope", "voices:read", "--contract", "2026-07-08", "--expires-in", "1h", "--test")
	require.Equal(t, p.org, made.OrgID)
	require.Equal(t, "CI", made.Name)
	require.Equal(t, []string{"avatars:read", "voices:read"}, made.Scopes)
	require.Equal(t, "2026-07-08", made.APIVersion)
	require.NotNil(t, made.ExpiresAt)
	require.Regexp(t, `^vsk_test_.*`+made.Last4+"$", made.Secret)

	listed := adminTool[[]adminKey](t, p.directory, "key", "list", p.org)
	require.Len(t, listed, 2)
	for _, k := range listed {
		require.Empty(t, k.Secret, "a secret is shown once")
	}

	require.Equal(t, http.StatusOK, get(t, api.url+"/avatars", made.Secret).status)
	require.Equal(t, http.StatusForbidden, get(t, api.url+"/usage", made.Secret).status)
	revoked := adminTool[adminKey](t, p.directory, "key", "revoke", p.org, made.ID)
	require.NotNil(t, revoked.RevokedAt)
	requireStatus(t, http.StatusUnauthorized, api.url+"/me", made.Secret)
	require.Equal(t, http.StatusOK, get(t, api.url+"/me", p.key).status, "the other key")
}
