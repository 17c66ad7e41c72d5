package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/visits/live/livetest"
)

// TestPlatform is the proof, from nothing: each part finds what those before it left.
func TestPlatform(t *testing.T) {
	p := install(enter(t))
	for _, part := range []struct {
		name string
		run  func(*platform)
	}{
		{"resources become ready", resourcesBecomeReady},
		{"a conversation is held", conversationIsHeld},
		{"a person sees it", aPersonSeesIt},
		{"workers are told of what is committed", workersAreTold},
		{"what is bad is refused", whatIsBadIsRefused},
		{"what is managed is refused to the API", managedIsRefused},
		{"of two claims the older wins", olderClaimWins},
		{"deletion has two policies", deletionPolicies},
		{"a worker dies under load", workerDies},
		{"a webhook has a worker of its own", webhookHasItsOwnWorker},
		{"an organization has a worker of its own", organizationHasItsOwnWorker},
		{"an organization moves to another shard", organizationMoves},
		{"limits are exact on three pods", limitsAreExact},
		{"the operator dies and the API server stands still", operatorDies},
		{"an upgrade fails no request", upgradeFailsNoRequest},
		{"workers follow the backlog", workersFollowTheBacklog},
	} {
		ok := t.Run(part.name, func(t *testing.T) {
			within := *p
			within.T = t
			part.run(&within)
		})
		if !ok {
			t.FailNow()
		}
	}
}

const acme = `
apiVersion: visavis.dev/v1alpha1
kind: Organisation
metadata: {name: acme}
spec: {name: Acme, slug: acme, plan: enterprise, apiKey: {fullAccess: true}}
`

// hook is a Webhook of acme with a path of the receiver.
func hook(p *platform, name, path string) string {
	return fmt.Sprintf(`
apiVersion: visavis.dev/v1alpha1
kind: Webhook
metadata: {name: %s}
spec: {organisation: {name: acme}, url: "https://receiver.%s.svc%s", events: ["*"]}
`, name, p.namespace, path)
}

const museum = `
apiVersion: visavis.dev/v1alpha1
kind: Portal
metadata: {name: museum}
spec:
  organisation: {name: acme}
  name: City Museum
  template: museum_guide
  slug: city-museum
  host: ` + museumHost + `
  answers: {organization: City Museum, hours: daily from ten to six}
  speaker: {avatarId: av_50hSdFlU2cUkDBJTqG0cMi, voiceId: vo_0kxJqmMWXMtKEG15QaWJ43}
  privacy: {privacyUrl: "https://example.com/privacy"}
  visitors: {requires: [name, consent]}
`

func resourcesBecomeReady(p *platform) {
	p.apply(acme)
	p.ready("organisation", "acme")
	p.apply(hook(p, "orders", "/orders"))
	p.ready("webhook", "orders")
	p.receiver("PUT", "/behaviour?path=/orders", "secret:"+p.secret("orders-signing", "secret"))

	// The Secret's key calls the API through the Service.
	key := p.secret("acme-api-key", "key")
	me := p.api(http.StatusOK, key, "GET", "/me", "")
	require.Contains(p, me.text, p.field("organisation", "acme", "{.status.id}"))

	// An event reaches the receiver, signed with the Secret's secret.
	p.apply(museum)
	p.ready("portal", "museum")
	p.eventually(time.Minute, func() error {
		if got := p.received("/orders"); got.Verified == 0 || got.Unverified > 0 {
			return fmt.Errorf("%+v", got)
		}
		return nil
	})
	p.condition("webhook", "orders", "Delivering", "True")

	// The portal answers on its own host and by its slug.
	for _, address := range []string{museumPage, museumSlug} {
		p.eventually(30*time.Second, func() error { return p.page(address) })
	}
	p.published()
}

// conversationIsHeld holds one, from the key to the answer, over the WebSocket that the
// ingress controller passes on.
func conversationIsHeld(p *platform) {
	api := livetest.API{Base: "http://" + apiHost + "/v1", Key: p.secret("acme-api-key", "key"), Client: p.web}
	guide, err := api.Persona(p.Context(), "Guide", map[string]string{
		"Hours": "# Opening hours\n\nThe museum is open daily from ten to six.\n",
	}, nil)
	require.NoError(p, err)
	ticket, client, err := api.Connect(p.Context(), guide, map[string]any{"greeting": ""})
	require.NoError(p, err)
	defer client.Leave()
	require.True(p, strings.HasPrefix(ticket.Transport.URL, "ws://"+apiHost+"/live/v1/"), ticket.Transport.URL)
	ctx, cancel := context.WithTimeout(p.Context(), 30*time.Second)
	defer cancel()
	require.NoError(p, client.Say(ctx, "When is the museum open?"))
	answer, err := client.UntilType(ctx, "bot-text")
	require.NoError(p, err)
	p.Logf("%s: %s", ticket.Transport.URL, answer.Data)
	require.Contains(p, string(answer.Data), "ten to six")
}

// workersAreTold sees that datagrams pass between pods, under the chart's network policies.
func workersAreTold(p *platform) {
	const worker = "app.kubernetes.io/component=worker"
	key, orders := p.secret("acme-api-key", "key"), p.field("webhook", "orders", "{.status.id}")
	before := p.figure(worker, "visavis_hints_received_total")
	for range 5 {
		p.tell(key, orders, 1)
	}
	p.eventually(10*time.Second, func() error {
		if n := p.figure(worker, "visavis_hints_received_total") - before; n < 5 {
			return fmt.Errorf("%d hints for 5 commits", n)
		}
		return nil
	})
	p.Logf("missed: %d", p.figure(worker, `visavis_hints_missed_total\{.*\}`))
}

func aPersonSeesIt(p *platform) {
	for _, kind := range []string{"shards", "organisations", "webhooks", "portals"} {
		for _, form := range []string{"", "wide"} {
			arguments := []string{"get", kind}
			if form != "" {
				arguments = append(arguments, "-o", form)
			}
			out := p.kubectl(arguments...)
			p.Logf("kubectl %s\n%s", strings.Join(arguments, " "), out)
			require.Contains(p, out, "True")
		}
	}
	require.Contains(p, p.kubectl("explain", "webhook.spec.url"), "Where events are posted")
	p.eventually(30*time.Second, func() error {
		if told := p.kubectl("get", "events", "--field-selector", "involvedObject.kind=Webhook"); !strings.Contains(told, "Delivering is True") {
			return fmt.Errorf("no event tells of the Webhook: %s", told)
		}
		return nil
	})
	p.Log(p.helm("test", "visavis"))

	dir := p.TempDir()
	build := exec.CommandContext(p.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w",
		"-o", filepath.Join(dir, "kubectl-visavis"), "../../cmd/kubectl-visavis")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(p, err, string(out))
	p.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, c := range []struct{ command, shows string }{
		{"orgs", "Organisation " + p.namespace + "/acme"}, {"shards", p.shard}, {"webhooks", "Webhook " + p.namespace + "/orders"},
		{"portals -o yaml", "slug: city-museum"}, {"deliveries acme --limit 5", "delivered"}, {"limits acme -o wide", "maxConcurrentSessions"},
	} {
		shown, err := p.plugin(c.command)
		require.NoError(p, err, shown)
		p.Logf("kubectl visavis %s\n%s", c.command, shown)
		require.Contains(p, shown, c.shows)
	}
	shown, err := p.plugin("limits nobody")
	require.Error(p, err)
	require.Contains(p, shown, `organization "nobody"`)
}

// plugin runs a command of kubectl visavis and answers what it prints. kubectl takes no
// flags before a plugin's name.
func (p *platform) plugin(command string) (string, error) {
	arguments := append([]string{"visavis"}, strings.Fields(command)...)
	out, err := exec.CommandContext(p.Context(), "kubectl", append(arguments, "--namespace", p.namespace)...).CombinedOutput()
	return string(out), err
}

func whatIsBadIsRefused(p *platform) {
	for manifest, sentence := range map[string]string{
		strings.Replace(hook(p, "bad", "/x"), "https://", "http://", 1):                                                                                      "url must be an address such as https://example.com/hooks",
		strings.Replace(hook(p, "bad", "/x"), `["*"]`, `["*", "session.ended"]`, 1):                                                                          `"*" stands alone`,
		strings.Replace(acme, "enterprise", "enterprise, region: mars", 1):                                                                                   `supported values: "eu", "us"`,
		strings.Replace(acme, "slug: acme", "slug: other", 1):                                                                                                "slug cannot be changed",
		strings.Replace(museum, "avatarId: av_50hSdFlU2cUkDBJTqG0cMi,", "", 1):                                                                               "give either personaId, or avatarId and voiceId",
		"apiVersion: visavis.dev/v1alpha1\nkind: Shard\nmetadata: {name: bad}\nspec: {database: {secretName: x}, workers: {minReplicas: 3, maxReplicas: 2}}": "minReplicas is more than maxReplicas",
	} {
		require.Contains(p, p.refused(manifest), sentence)
	}
	// What only the databases know is said by a condition.
	p.apply(strings.Replace(hook(p, "unknown", "/x"), `"*"`, `"no.such_event"`, 1))
	reason, message := p.condition("webhook", "unknown", "Ready", "False")
	require.Equal(p, "Invalid", reason)
	require.Contains(p, message, "no.such_event")
	p.kubectl("delete", "webhook", "unknown")
}

func managedIsRefused(p *platform) {
	key := p.secret("acme-api-key", "key")
	hook, portal := p.field("webhook", "orders", "{.status.id}"), p.field("portal", "museum", "{.status.id}")
	for _, c := range [][3]string{
		{"PATCH", "/webhooks/" + hook, `{"description": "mine"}`}, {"DELETE", "/webhooks/" + hook, ""},
		{"PATCH", "/portals/" + portal, `{"name": "mine"}`}, {"DELETE", "/portals/" + portal, ""},
	} {
		a := p.api(http.StatusConflict, key, c[0], c[1], c[2])
		require.Equal(p, "conflict", a.Error.Code)
		require.Equal(p, "managed", a.Error.Details["reason"])
		require.Contains(p, a.text, p.namespace+"/")
	}
}

func olderClaimWins(p *platform) {
	second := strings.NewReplacer("name: museum}", "name: museum-2}", museumHost, "other.e2e.test").Replace(museum)
	p.apply(second)
	reason, message := p.condition("portal", "museum-2", "Ready", "False")
	require.Equal(p, "Conflict", reason)
	p.Log(message)
	p.ready("portal", "museum")
	p.kubectl("delete", "portal", "museum-2")
}

func deletionPolicies(p *platform) {
	key := p.secret("acme-api-key", "key")
	p.apply(hook(p, "gone", "/gone"))
	p.apply(strings.Replace(hook(p, "stays", "/stays"), "events:", "deletionPolicy: Orphan, events:", 1))
	p.ready("webhook", "gone")
	p.ready("webhook", "stays")
	gone, stays := p.field("webhook", "gone", "{.status.id}"), p.field("webhook", "stays", "{.status.id}")
	p.kubectl("delete", "webhook", "gone", "stays", "--timeout=60s")
	p.api(http.StatusNotFound, key, "GET", "/webhooks/"+gone, "")
	kept := p.api(http.StatusOK, key, "GET", "/webhooks/"+stays, "")
	require.Contains(p, kept.text, `"managedBy":"api"`)
	p.api(http.StatusOK, key, "DELETE", "/webhooks/"+stays, "")
}

// webhooks are all of an organization, by their ids.
func (p *platform) webhooks(key string) map[string]string {
	p.Helper()
	found, cursor := map[string]string{}, ""
	for {
		a := p.api(http.StatusOK, key, "GET", "/webhooks?limit=200"+cursor, "")
		var page struct {
			Data       []struct{ ID, URL string }
			NextCursor *string
		}
		require.NoError(p, json.Unmarshal([]byte(a.text), &page))
		for _, w := range page.Data {
			found[w.ID] = w.URL
		}
		if page.NextCursor == nil {
			return found
		}
		cursor = "&cursor=" + *page.NextCursor
	}
}
