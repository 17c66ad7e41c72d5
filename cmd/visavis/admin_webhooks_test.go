package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/hack/receiver/endpoint"
)

// What the admin tool prints of webhooks, as its users read it.
type (
	failingHook struct {
		Shard          string     `json:"shard"`
		OrganizationID string     `json:"organizationId"`
		ID             string     `json:"id"`
		Endpoint       string     `json:"endpoint"`
		FailingSince   *time.Time `json:"failingSince"`
		PausedAt       *time.Time `json:"pausedAt"`
		Waiting        int        `json:"waiting"`
		LastError      string     `json:"lastError"`
	}
	changedHook struct {
		OrganizationID string     `json:"organizationId"`
		ID             string     `json:"id"`
		Active         bool       `json:"active"`
		PausedAt       *time.Time `json:"pausedAt"`
	}
	drainedHook struct {
		OrganizationID string `json:"organizationId"`
		ID             string `json:"id"`
		Closed         int    `json:"closed"`
	}
)

// plainly runs an admin command without --json and answers its lines.
func plainly(t *testing.T, p *platform, args ...string) []string {
	t.Helper()
	stdout, stderr, code := execute(t, nil, append([]string{"admin", "--database", p.directory}, args...)...)
	require.Zero(t, code, "%v: %s", args, stderr)
	return strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
}

// operatorActions are what operators did to an organization's webhooks, newest first.
func operatorActions(t *testing.T, c caller) []string {
	t.Helper()
	var actions []string
	for _, entry := range data[[]struct{ Actor, Action string }](t, get(t, c.base+"/activity?limit=200", c.key)) {
		if entry.Actor == "operator" && strings.HasPrefix(entry.Action, "webhook.") {
			actions = append(actions, entry.Action)
		}
	}
	return actions
}

func TestWebhooksByHand(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	p := newPlatform(t, newDatabase(t), newDatabase(t))
	c := caller{p.serve(t, r.flags...).url, p.key}
	list := func() []failingHook { return adminTool[[]failingHook](t, p.directory, "webhooks", "list") }
	hook := c.hook(t, r, "/hook/token")
	well := c.hook(t, r, "/well")
	require.Empty(t, list())
	require.Len(t, plainly(t, p, "webhooks", "list"), 1, "the names of the columns")

	// It fails: the operator sees it, and closes what waits.
	worker := p.work(t, r.flags...)
	r.Set("/hook/token", endpoint.Behaviour{Status: http.StatusInternalServerError})
	began := time.Now()
	failed := []shownDelivery{c.test(t, hook), c.test(t, hook)}
	for _, d := range failed {
		require.Equal(t, "http_status", *c.become(t, d, "retrying").ErrorCode)
	}
	c.become(t, c.test(t, well), "delivered")
	found := list()
	require.Len(t, found, 1)
	require.WithinDuration(t, began, *found[0].FailingSince, 20*time.Second)
	found[0].FailingSince = nil
	place := strings.TrimSuffix(r.URL("/hook/token"), "/hook/token")
	require.Equal(t, failingHook{
		Shard: "one", OrganizationID: p.org, ID: hook.ID, Endpoint: place, Waiting: 2, LastError: "http_status",
	}, found[0])
	lines := plainly(t, p, "webhooks", "list")
	require.Len(t, lines, 2)
	fields := strings.Fields(lines[1])
	require.Equal(t, []string{"one", p.org, hook.ID, place}, fields[:4])
	require.Equal(t, []string{"-", "2", "http_status"}, fields[5:])
	require.Equal(t, drainedHook{p.org, hook.ID, 2}, adminTool[drainedHook](t, p.directory, "webhooks", "drain", p.org, hook.ID))
	for _, d := range failed {
		closed := c.become(t, d, "failed")
		require.Equal(t, []any{"webhook_inactive", 1, (*time.Time)(nil)}, []any{*closed.ErrorCode, closed.Attempts, closed.NextAttemptAt})
	}
	require.Zero(t, list()[0].Waiting)
	require.Equal(t, []string{hook.ID + ": 0 deliveries are closed"}, plainly(t, p, "webhooks", "drain", p.org, hook.ID))
	require.Zero(t, worker.stop(t))

	// It is paused while something waits, and something happens meanwhile.
	r.Set("/hook/token", endpoint.Behaviour{Secret: hook.Secret})
	before := r.Count("/hook/token").Requests
	waiting := c.test(t, hook)
	paused := adminTool[changedHook](t, p.directory, "webhooks", "pause", p.org, hook.ID)
	require.Equal(t, []any{p.org, hook.ID, false}, []any{paused.OrganizationID, paused.ID, paused.Active})
	require.WithinDuration(t, time.Now(), *paused.PausedAt, 20*time.Second)
	shown := data[shownHook](t, get(t, c.base+"/webhooks/"+hook.ID, c.key))
	require.False(t, shown.Active)
	require.NotNil(t, shown.PausedAt)
	require.NotNil(t, list()[0].PausedAt)
	require.Equal(t, http.StatusConflict, post(t, c.base+"/webhooks/"+hook.ID+"/test", c.key, nil).status)
	require.Equal(t, http.StatusCreated, post(t, c.base+"/avatars", c.key, apitest.AvatarInput()).status)
	p.work(t, r.flags...)
	require.Equal(t, "webhook_paused", *c.become(t, waiting, "failed").ErrorCode)
	r.awaitEvents(t, "/well", 2)
	require.Equal(t, before, r.Count("/hook/token").Requests, "nothing is sent to it")

	resumed := adminTool[changedHook](t, p.directory, "webhooks", "resume", p.org, hook.ID)
	require.Equal(t, changedHook{p.org, hook.ID, true, nil}, resumed)
	require.Empty(t, list(), "its failing run starts afresh")
	c.become(t, c.test(t, hook), "delivered")
	require.Equal(t, before+1, r.Count("/hook/token").Requests)

	require.Regexp(t, `^`+hook.ID+`: active false, paused \d{4}-\S+Z$`, plainly(t, p, "webhooks", "pause", p.org, hook.ID)[0])
	require.Equal(t, []string{hook.ID + ": active true, paused -"}, plainly(t, p, "webhooks", "resume", p.org, hook.ID))
	c.become(t, c.test(t, hook), "delivered")
	require.Equal(t, []string{
		"webhook.resumed", "webhook.paused", "webhook.resumed", "webhook.paused", "webhook.drained", "webhook.drained",
	}, operatorActions(t, c))
}

func TestWebhooksByHandRefuse(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	p := newPlatform(t, newDatabase(t), newDatabase(t))
	c := caller{p.serve(t, r.flags...).url, p.key}
	hook := c.hook(t, r, "/hook")
	waiting := c.test(t, hook)
	globex := adminTool[shownOrg](t, p.directory, "org", "create", "Globex", "--plan", "team")
	for name, refused := range map[string]struct {
		args []string
		says string
	}{
		"another organization's webhook": {[]string{globex.ID, hook.ID}, "no such webhook"},
		"an unknown webhook":             {[]string{p.org, "wh_0683mPq2v9XKf1sTn7ZQ4b"}, "no such webhook"},
		"another kind of id":             {[]string{p.org, "key_0683mPq2v9XKf1sTn7ZQ4b"}, "is not a webhook's id"},
		"an unknown organization":        {[]string{"org_0683mPq2v9XKf1sTn7ZQ4b", hook.ID}, "organization"},
		"no such name":                   {[]string{"nobody", hook.ID}, `organization "nobody"`},
		"no webhook":                     {[]string{p.org}, "accepts 2 arg(s)"},
		"two webhooks":                   {[]string{p.org, hook.ID, hook.ID}, "accepts 2 arg(s)"},
	} {
		for _, command := range []string{"pause", "resume", "drain"} {
			for _, form := range [][]string{nil, {"--json"}} {
				args := append([]string{"admin", "--database", p.directory, "webhooks", command}, refused.args...)
				stdout, stderr, code := execute(t, nil, append(args, form...)...)
				require.Equal(t, 1, code, "%s: %s", command, name)
				require.Empty(t, stdout)
				require.Contains(t, stderr, refused.says, "%s: %s", command, name)
			}
		}
	}
	require.True(t, data[shownHook](t, get(t, c.base+"/webhooks/"+hook.ID, c.key)).Active)
	require.Equal(t, "pending", data[shownDelivery](t, get(t, c.base+"/webhooks/deliveries/"+waiting.ID, c.key)).State)
	require.Empty(t, operatorActions(t, c))

	a, err := attempt(http.MethodDelete, c.base+"/webhooks/"+hook.ID, c.key, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, a.status)
	_, stderr, code := execute(t, nil, "admin", "--database", p.directory, "webhooks", "resume", p.org, hook.ID)
	require.Equal(t, 1, code, "one that was deleted")
	require.Contains(t, stderr, "no such webhook")
}
