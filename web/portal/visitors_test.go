package portal_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/web/page"
)

// Whoever comes by what a test key made has a trial, and costs the organization nothing;
// whoever comes by what a live key made has none.
func TestWhatATestKeyMakesLeadsToTrials(t *testing.T) {
	t.Parallel()
	v := visit(t, clock.RealClock{})
	live := v.api.Key
	var test struct{ Secret string }
	v.call(http.MethodPost, "/keys", map[string]any{"name": "trying", "environment": "test", "scopes": []string{"embed:write"}}, &test)
	for key, trial := range map[string]bool{live: false, test.Secret: true} {
		v.api.Key = key
		var customer struct{ Token string }
		v.call(http.MethodPost, v.portal+"/customer-tokens", map[string]any{"customerRef": "c-1", "name": "Robin"}, &customer)
		for door, token := range map[string]string{
			page.DoorEmbed:      v.link("embed-tokens", map[string]any{"externalId": "learner-1", "name": "Kim"}),
			page.DoorCustomers:  customer.Token,
			page.DoorCase:       v.link("case-links", map[string]any{"caseRef": "C-1", "title": "Ladder"}),
			page.DoorEscalation: v.link("escalations", map[string]any{"externalChatId": "chat-1"}),
		} {
			v.cookies = nil
			v.enter(door, url.Values{"token": {token}})
			ticket := v.mint()
			var held struct {
				Sandbox      bool
				MaxDurationS int64
			}
			v.api.Key = live
			v.call(http.MethodGet, "/sessions/"+ticket.Session.ID.String(), nil, &held)
			v.api.Key = key
			require.Equal(t, trial, held.Sandbox, "%s", door)
			require.Equal(t, trial, held.MaxDurationS <= 60, "%s", door)
		}
	}
}

// Somebody who comes as they are uses up what visitors from their network may start, and
// nothing of others or of the organization's keys.
func TestAVisitorOfAPortalUsesUpNobodysRoom(t *testing.T) {
	t.Parallel()
	const perMinute = 10
	v := visit(t, clock.RealClock{}, func(o *apitest.Options) {
		// The keys' requests that set the portal up count too.
		o.Rates = rate.Rates{rate.Live: {PerKey: perMinute, PerOrganization: perMinute}}
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	come := func(from string) {
		v.from, v.cookies = from, nil
		v.enter(page.DoorVisitors, url.Values{"old_enough": {"yes"}})
	}
	start := func() int {
		status, _, body := v.send("/sessions", nil)
		if status != http.StatusCreated {
			require.Equal(t, http.StatusTooManyRequests, status, body)
			require.Contains(t, body, "refused.rate")
		}
		return status
	}
	starts := func(times int) (made int) {
		for range times {
			if start() == http.StatusCreated {
				made++
			}
		}
		return made
	}
	come("203.0.113.7")
	made := starts(3 * perMinute)
	// Half of what there is, in a minute; one may have ended meanwhile.
	require.Contains(t, []int{perMinute / 2, perMinute}, made)
	come("192.0.2.1")
	require.Equal(t, http.StatusCreated, start(), "another network has room")
	for n := range 3 * perMinute {
		come(fmt.Sprintf("198.51.%d.1", n))
		start()
	}
	var personas []struct{ ID string }
	v.call(http.MethodGet, "/personas?limit=1", nil, &personas)
	v.call(http.MethodPost, "/sessions/tokens", map[string]any{"personaId": personas[0].ID}, nil)
}
