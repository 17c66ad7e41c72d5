package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/cmd/show"
	"visavis.dev/hack/receiver/endpoint"
)

func TestShow(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	p := newPlatform(t, newDatabase(t), newDatabase(t))
	c := caller{p.serve(t, r.flags...).url, p.key}
	good, bad := c.hook(t, r, "/good"), c.hook(t, r, "/bad/token")
	shown := func(args ...string) []string { return plainly(t, p, append([]string{"show"}, args...)...) }
	row := func(lines []string, n int) []string { return strings.Fields(lines[n]) }

	orgs := shown("orgs")
	require.Len(t, orgs, 2)
	require.Equal(t, []string{"ORGANISATION", "ID", "PLAN", "SHARD", "PAUSED", "MANAGED", "BY", "AGE"}, row(orgs, 0))
	require.Equal(t, []string{"acme", p.org, "enterprise", "one", "false", "api"}, row(orgs, 1)[:6])
	require.Contains(t, shown("orgs", "-o", "wide")[0], "REGION")
	require.Contains(t, strings.Join(shown("orgs", "-o", "yaml"), "\n"), "slug: acme\n")

	shards := shown("shards", "-o", "wide")
	require.Equal(t, []string{"one", "Shared", "1", "0"}, row(shards, 1)[:4])
	require.NotContains(t, shards[1], "@", "neither user nor password")

	worker := p.work(t, r.flags...)
	r.Set("/bad/token", endpoint.Behaviour{Status: http.StatusInternalServerError})
	c.become(t, c.test(t, good), "delivered")
	c.become(t, c.test(t, bad), "retrying")
	worker.stop(t)
	hooks := shown("webhooks", "-O", "acme")
	require.Len(t, hooks, 3)
	require.Equal(t, []string{"acme", good.ID}, row(hooks, 1)[:2])
	require.Equal(t, []string{"active", "0", "api"}, row(hooks, 1)[3:6])
	require.NotContains(t, strings.Join(hooks, "\n"), "token", "an address may hold tokens")
	failing := shown("webhooks", "--failing")
	require.Len(t, failing, 2)
	require.Equal(t, []string{"failing", "1", "api"}, row(failing, 1)[3:6])
	require.Len(t, shown("webhooks", "--limit", "1"), 2)

	deliveries := shown("deliveries", "acme")
	require.Len(t, deliveries, 3)
	require.Equal(t, []string{good.ID, "webhook.test", "delivered", "1", "200"}, row(deliveries, 1)[2:7])
	require.Equal(t, []string{bad.ID, "webhook.test", "retrying", "1", "500"}, row(deliveries, 2)[2:7])
	require.Len(t, shown("deliveries", p.org, "--webhook", good.ID), 2)
	require.Len(t, shown("deliveries", "acme", "--state", "retrying"), 2)
	// What follows ends with its input, which is empty here.
	require.Equal(t, deliveries[0][:7], shown("deliveries", "acme", "--follow", "--attached")[0][:7])

	require.Len(t, shown("portals"), 1)
	limits := strings.Join(shown("limits", "acme"), "\n")
	require.Regexp(t, `webhooks +2 +\S+ +plan enterprise`, limits)

	for _, refused := range []struct {
		args []string
		why  string
	}{
		{[]string{"limits", "nobody"}, `organization "nobody": not in the directory`},
		{[]string{"deliveries", "acme", "--state", "lost"}, `state "lost": want one of`},
		{[]string{"deliveries", "acme", "--webhook", "x"}, `"x" is not a webhook's id`},
		{[]string{"orgs", "-o", "xml"}, `output "xml": want one of table, wide, json, yaml`},
	} {
		_, stderr, code := execute(t, nil, append([]string{"admin", "--database", p.directory, "show"}, refused.args...)...)
		require.Equal(t, 1, code)
		require.Contains(t, stderr, refused.why)
	}
}

func TestEveryCommandShowsSomething(t *testing.T) {
	t.Parallel()
	for _, cmd := range show.Commands(nil) {
		require.Contains(t, showings, cmd.Name())
	}
	require.Len(t, showings, len(show.Commands(nil)))
}
