package scope_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/scope"
)

func named(v contract.Version, scopes ...scope.Scope) scope.Grant {
	return scope.Grant{Contract: v, Scopes: scopes}
}

func full(v contract.Version, scopes ...scope.Scope) scope.Grant {
	return scope.Grant{Contract: v, FullAccess: true, Scopes: scopes}
}

const old, now = contract.V20260708, contract.V20261001

func TestScopesOfTheSpecExist(t *testing.T) {
	for _, want := range []string{
		"usage:read", "avatars:read", "avatars:write", "voices:read", "webhooks:manage", "events:read", "transcripts:read",
		"sessions:read", "results:read", "people:read", "inbox:read", "assignments:read", "candidates:read", "candidates:data",
		"consents:", "portals:read", "portals:write", "portals:publish", "embed:write", "widgets:read", "widgets:", "duos:",
		"content:", "personas:", "knowledge:read", "settings:read", "connections:write",
	} {
		require.True(t, slices.ContainsFunc(scope.All(), func(s scope.Scope) bool {
			return string(s) == want || strings.HasSuffix(want, ":") && strings.HasPrefix(string(s), want)
		}), want)
	}
}

func TestAll(t *testing.T) {
	all := scope.All()
	require.True(t, slices.IsSorted(all))
	require.Len(t, slices.Compact(slices.Clone(all)), len(all), "none twice")
	for _, s := range all {
		require.True(t, scope.Known(s))
		require.Regexp(t, `^[a-z]+:(read|write|manage|publish|data)$`, string(s))
	}
	all[0] = "changed"
	require.NotEqual(t, all[0], scope.All()[0], "the list is the caller's own")
	for _, s := range []scope.Scope{"", "avatars", "avatars:", "avatars:*", "Avatars:read", "avatars:read "} {
		require.False(t, scope.Known(s), "%q", s)
	}
}

// Authentication, 4: what the broad scopes of the older contract include.
func TestBroadScopes(t *testing.T) {
	for broad, narrow := range map[scope.Scope][]scope.Scope{
		scope.SessionsRead:   {scope.TranscriptsRead},
		scope.PortalsWrite:   {scope.EmbedWrite, scope.PortalsPublish, scope.ContentRead, scope.ContentWrite},
		scope.PersonasRead:   {scope.DuosRead, scope.WidgetsRead},
		scope.PersonasWrite:  {scope.DuosWrite, scope.WidgetsWrite},
		scope.WebhooksManage: {scope.EventsRead},
		scope.AvatarsWrite:   nil,
		scope.PortalsRead:    nil,
		scope.SessionsWrite:  nil,
		scope.CandidatesRead: nil,
	} {
		require.ElementsMatch(t, append(slices.Clone(narrow), broad), named(old, broad).Effective(), "%s, older contract", broad)
		require.Equal(t, []scope.Scope{broad}, named(now, broad).Effective(), "%s, newer contract", broad)
		for _, n := range narrow {
			require.Equal(t, []scope.Scope{n}, named(old, n).Effective(), "a narrow scope does not include the broad one")
		}
	}
}

// Authentication, 5: what full access leaves out.
func TestFullAccess(t *testing.T) {
	closed := []scope.Scope{
		scope.CandidatesData, scope.CandidatesRead, scope.CandidatesWrite, scope.ConsentsRead, scope.ConsentsWrite,
		scope.InboxRead, scope.InboxWrite, scope.PeopleRead, scope.PeopleWrite,
	}
	byName := []scope.Scope{scope.CandidatesData, scope.ConsentsRead, scope.ConsentsWrite, scope.KeysManage}
	for name, c := range map[string]struct {
		grant   scope.Grant
		without []scope.Scope
	}{
		"new":                        {full(now), byName},
		"new, one added":             {full(now, scope.CandidatesData), []scope.Scope{scope.ConsentsRead, scope.ConsentsWrite, scope.KeysManage}},
		"new, all added":             {full(now, byName...), nil},
		"old":                        {full(old), append(slices.Clone(closed), scope.KeysManage)},
		"old, keys added":            {full(old, scope.KeysManage), closed},
		"old, closed ones added":     {full(old, closed...), append(slices.Clone(closed), scope.KeysManage)},
		"old, everything added":      {full(old, scope.All()...), closed},
		"new, what it has anyway":    {full(now, scope.AvatarsRead), byName},
		"old, broad ones change not": {full(old, scope.PersonasWrite), append(slices.Clone(closed), scope.KeysManage)},
	} {
		t.Run(name, func(t *testing.T) {
			want := slices.DeleteFunc(scope.All(), func(s scope.Scope) bool { return slices.Contains(c.without, s) })
			require.Equal(t, want, c.grant.Effective())
			if strings.HasPrefix(name, "old") {
				require.ElementsMatch(t, closed, c.grant.Closed())
			} else {
				require.Empty(t, c.grant.Closed())
			}
			for _, s := range scope.All() {
				require.Equal(t, slices.Contains(want, s), c.grant.Holds(s), s)
			}
		})
	}
}

// An older key with named scopes keeps what it had: only full access is closed.
func TestNamedScopesOfOldKeys(t *testing.T) {
	for _, s := range scope.All() {
		require.True(t, named(old, s).Holds(s), s)
		require.True(t, named(now, s).Holds(s), s)
		require.False(t, named(old).Holds(s), s)
		require.False(t, named(now).Holds(s), s)
	}
	require.Empty(t, named(old, scope.PortalsRead).Closed())
}

func TestCovers(t *testing.T) {
	for name, c := range map[string]struct {
		grant, other scope.Grant
		want         bool
	}{
		"itself":                              {named(now, scope.AvatarsRead), named(now, scope.AvatarsRead), true},
		"nothing":                             {named(now), named(now), true},
		"a part":                              {named(now, scope.AvatarsRead, scope.AvatarsWrite), named(now, scope.AvatarsRead), true},
		"more":                                {named(now, scope.AvatarsRead), named(now, scope.AvatarsRead, scope.AvatarsWrite), false},
		"named by full":                       {full(now), named(now, scope.PeopleRead), true},
		"by name only, by full":               {full(now), named(now, scope.ConsentsRead), false},
		"by name only, by full with it":       {full(now, scope.ConsentsRead), named(now, scope.ConsentsRead), true},
		"full by every scope by name":         {named(now, scope.All()...), full(now), true},
		"full with more by full":              {full(now), full(now, scope.KeysManage), false},
		"old full by new full":                {full(now), full(old), true},
		"new full by old full":                {full(old), full(now), false},
		"closed to old, by old full":          {full(old, scope.PeopleRead), named(now, scope.PeopleRead), false},
		"an old broad scope, by the same new": {named(now, scope.SessionsRead), named(old, scope.SessionsRead), false},
		"a narrow scope, by an old broad one": {named(old, scope.SessionsRead), named(now, scope.TranscriptsRead), true},
		"an old broad scope, by its parts":    {named(now, scope.SessionsRead, scope.TranscriptsRead), named(old, scope.SessionsRead), true},
	} {
		require.Equal(t, c.want, c.grant.Covers(c.other), name)
	}
}

var grants = rapid.Custom(func(t *rapid.T) scope.Grant {
	return scope.Grant{
		Contract:   rapid.SampledFrom(contract.Versions()).Draw(t, "contract"),
		FullAccess: rapid.Bool().Draw(t, "full"),
		Scopes:     rapid.SliceOfN(rapid.SampledFrom(scope.All()), 0, 6).Draw(t, "scopes"),
	}
})

func TestCoversIsAnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := grants.Draw(t, "a"), grants.Draw(t, "b"), grants.Draw(t, "c")
		require.True(t, a.Covers(a))
		if a.Covers(b) && b.Covers(c) {
			require.True(t, a.Covers(c))
		}
		if a.Covers(b) && b.Covers(a) {
			require.Equal(t, a.Effective(), b.Effective())
		}
	})
}
