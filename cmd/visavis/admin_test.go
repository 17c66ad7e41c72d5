package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
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
	require.Equal(t, append(done, migrated{"shard one", int64(added["version"].(float64))}), again)
}

func TestOrganizationsByHand(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, newDatabase(t), newDatabase(t))
	tool := func(args ...string) shownOrg { return adminTool[shownOrg](t, p.directory, args...) }
	adminTool[map[string]any](t, p.directory, "shard", "add", "two", "--url", newDatabase(t))

	globex := tool("org", "create", "Globex & Söhne", "--plan", "team")
	require.Equal(t, "two", globex.Shard, "the shard with the fewest organisations")
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
		"an organisation with no plan": {[]string{"org", "create", "Initech", "--plan", "gold"}, "starter"},
		"a taken slug":                 {[]string{"org", "create", "Other", "--slug", "acme"}, "slug"},
		"a name without a slug":        {[]string{"org", "create", "汉"}, "--slug"},
		"a limit that is not there":    {[]string{"org", "set-limit", p.org, "cats", "3"}, "customAvatars"},
		"a limit that is no number":    {[]string{"org", "set-limit", p.org, "portals", "many"}, "unlimited"},
		"no minutes":                   {[]string{"org", "add-minutes", p.org, "0"}, "minutes"},
		"another kind of id":           {[]string{"org", "pause", "key_0683mPq2v9XKf1sTn7ZQ4b"}, "organisation"},
		"an unknown organisation":      {[]string{"org", "pause", "org_0683mPq2v9XKf1sTn7ZQ4b"}, "organisation"},
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
