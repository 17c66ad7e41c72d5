package apikey_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/apikey"
)

// use is one thing that somebody does with a key.
type use struct {
	scope scope.Scope
	from  netip.Addr
	at    time.Time
	live  bool
}

var (
	addressRanges = []string{"10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "192.0.2.0/24", "2001:db8::/32", "::/0", "0.0.0.0/0"}
	addresses     = []string{"10.1.2.3", "10.1.9.9", "10.9.9.9", "192.0.2.1", "203.0.113.1", "2001:db8::1", "2001:db9::1"}
	moments       = []time.Duration{time.Hour, 2 * time.Hour, 48 * time.Hour, 1000 * 24 * time.Hour}
)

func can(k *apikey.Key, u use) bool {
	return k.Usable(u.at) && k.AllowedFrom(u.from) && k.Grant().Holds(u.scope) && (k.Environment == apikey.Live) == u.live
}

// exceeds finds a use that one key allows and the other does not. A live key stands
// above a test key, whose effects are of another world.
func exceeds(t *rapid.T, more, less *apikey.Key, from time.Time) {
	if more.FullAccess && !less.FullAccess {
		t.Fatalf("%+v has full access, beyond %+v", more, less)
	}
	for _, s := range scope.All() {
		for _, a := range addresses {
			for _, after := range append([]time.Duration{0}, moments...) {
				u := use{s, netip.MustParseAddr(a), from.Add(after), more.Environment == apikey.Live}
				allowed := *less
				if less.Environment == apikey.Live {
					allowed.Environment = more.Environment
				}
				if can(more, u) && !can(&allowed, u) {
					t.Fatalf("%+v can %+v, beyond %+v", more, u, less)
				}
			}
		}
	}
}

func anyKey(t *rapid.T, label string, scopes ...scope.Scope) apikey.Key {
	k := apikey.Key{
		ID: id.NewKey(), Contract: rapid.SampledFrom(contract.Versions()).Draw(t, label+" contract"),
		Environment: rapid.SampledFrom([]apikey.Environment{apikey.Live, apikey.Test}).Draw(t, label+" environment"),
		FullAccess:  rapid.Bool().Draw(t, label+" full"), Scopes: append(drawScopes(t, label), scopes...),
		AllowedAddresses: drawRanges(t, label), ExpiresAt: drawExpiry(t, label),
	}
	if rapid.IntRange(0, 4).Draw(t, label+" revoked") == 0 {
		k.RevokedAt = &now
	}
	return k
}

func drawScopes(t *rapid.T, label string) []scope.Scope {
	return rapid.SliceOfN(rapid.SampledFrom(scope.All()), 0, 5).Draw(t, label+" scopes")
}

func drawRanges(t *rapid.T, label string) []string {
	return rapid.SliceOfN(rapid.SampledFrom(addressRanges), 0, 3).Draw(t, label+" ranges")
}

func drawExpiry(t *rapid.T, label string) *time.Time {
	after := rapid.SampledFrom(append([]time.Duration{0, -time.Hour}, moments...)).Draw(t, label+" expiry")
	if after == 0 {
		return nil
	}
	at := now.Add(after)
	return &at
}

// Whatever somebody who has a key that manages keys makes, changes and rotates, no key
// whose secret they learn can do more than the one they began with, and nothing that was
// over begins anew.
func TestNobodyGoesBeyondTheirKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		began := anyKey(t, "caller", scope.KeysManage)
		began.RevokedAt, began.ExpiresAt = nil, drawExpiry(t, "caller again")
		clock := now
		if !began.Usable(clock) || !began.Grant().Holds(scope.KeysManage) {
			t.Skip("it manages no keys")
		}
		keys := []apikey.Key{began}
		known := map[id.Key]bool{began.ID: true}
		for i := range rapid.IntRange(0, 4).Draw(t, "others") {
			keys = append(keys, anyKey(t, string(rune('a'+i))))
		}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			clock = clock.Add(rapid.SampledFrom([]time.Duration{0, 0, 90 * time.Minute}).Draw(t, "later"))
			callers := slices.DeleteFunc(slices.Clone(keys), func(k apikey.Key) bool {
				return !known[k.ID] || !k.Usable(clock) || !k.Grant().Holds(scope.KeysManage)
			})
			if len(callers) == 0 {
				return
			}
			caller := rapid.SampledFrom(callers).Draw(t, "by")
			target := rapid.IntRange(0, len(keys)-1).Draw(t, "of")
			ended := !keys[target].Usable(clock)
			switch rapid.SampledFrom([]string{"make", "change", "rotate"}).Draw(t, "step") {
			case "make":
				made, err := caller.Make(apikey.Wanted{
					Name: "made", Scopes: drawScopes(t, "made"), AllowedAddresses: drawRanges(t, "made"), ExpiresAt: drawExpiry(t, "made"),
					Environment: rapid.SampledFrom([]apikey.Environment{"", apikey.Live, apikey.Test}).Draw(t, "made environment"),
				}, clock)
				if err == nil {
					made.ID = id.NewKey()
					known[made.ID] = true
					keys = append(keys, made)
				}
			case "change":
				var u apikey.Update
				if rapid.Bool().Draw(t, "new scopes") {
					s := drawScopes(t, "changed")
					u.Scopes, u.FullAccess = &s, new(bool)
				}
				if rapid.Bool().Draw(t, "new ranges") {
					r := drawRanges(t, "changed")
					u.AllowedAddresses = &r
				}
				if rapid.Bool().Draw(t, "new expiry") {
					u.SetExpiry, u.ExpiresAt = true, drawExpiry(t, "changed")
				}
				changed, err := caller.Change(keys[target], u, clock)
				if err == nil {
					require.False(t, ended, "what is over is not changed")
					require.Equal(t, keys[target].Environment, changed.Environment)
					keys[target] = changed
				}
			case "rotate":
				if caller.MayChange(&keys[target], clock) == nil {
					require.False(t, ended, "what is over is not rotated")
					known[keys[target].ID] = true
				}
			}
			for _, k := range keys {
				if known[k.ID] {
					exceeds(t, &k, &began, clock)
				}
			}
		}
	})
}

func TestWhatAKeyCovers(t *testing.T) {
	soon, later := now.Add(time.Hour), now.Add(2*time.Hour)
	base := apikey.Key{Contract: contract.Latest, Environment: apikey.Live, Scopes: []scope.Scope{scope.KeysManage, scope.AvatarsRead}}
	of := func(change func(k *apikey.Key)) *apikey.Key {
		k := base
		change(&k)
		return &k
	}
	for name, c := range map[string]struct {
		key, other *apikey.Key
		want       apikey.Excess
	}{
		"itself":             {&base, &base, apikey.NoExcess},
		"a scope":            {&base, of(func(k *apikey.Key) { k.Scopes = []scope.Scope{scope.AvatarsWrite} }), apikey.ExcessScopes},
		"all there is now":   {of(func(k *apikey.Key) { k.Scopes = scope.All() }), of(func(k *apikey.Key) { k.FullAccess = true }), apikey.ExcessFullAccess},
		"a live key of test": {of(func(k *apikey.Key) { k.Environment = apikey.Test }), &base, apikey.ExcessEnvironment},
		"a test key of live": {&base, of(func(k *apikey.Key) { k.Environment = apikey.Test }), apikey.NoExcess},
		"anywhere":           {of(func(k *apikey.Key) { k.AllowedAddresses = []string{"10.0.0.0/8"} }), &base, apikey.ExcessAddresses},
		"a wider range": {of(func(k *apikey.Key) { k.AllowedAddresses = []string{"10.0.0.0/8"} }),
			of(func(k *apikey.Key) { k.AllowedAddresses = []string{"10.1.0.0/16", "0.0.0.0/0"} }), apikey.ExcessAddresses},
		"a narrower range": {of(func(k *apikey.Key) { k.AllowedAddresses = []string{"10.0.0.0/8"} }),
			of(func(k *apikey.Key) { k.AllowedAddresses = []string{"10.1.0.0/16"} }), apikey.NoExcess},
		"for ever":    {of(func(k *apikey.Key) { k.ExpiresAt = &soon }), &base, apikey.ExcessExpiry},
		"longer":      {of(func(k *apikey.Key) { k.ExpiresAt = &soon }), of(func(k *apikey.Key) { k.ExpiresAt = &later }), apikey.ExcessExpiry},
		"not as long": {of(func(k *apikey.Key) { k.ExpiresAt = &later }), of(func(k *apikey.Key) { k.ExpiresAt = &soon }), apikey.NoExcess},
	} {
		require.Equal(t, c.want, c.key.Excess(c.other), name)
	}
}
