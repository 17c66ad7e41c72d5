package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/config"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/rate"
)

const small = `
plans:
  - key: free
    name: Free
    features: [avatars]
    limits: {customAvatars: 1, portals: 0}
  - key: pro
    name: Pro
    features: [avatars, duos]
    limits: {customAvatars: 10, portals: 5, webhooks: 3}
    rates: {heavy: {perKey: 50, perOrganization: 60}}
  - key: max
    name: Max
    unlimitedMinutes: true
    features: [avatars, duos, sso]
    limits: {customAvatars: null, portals: 5, webhooks: null}
`

func catalogue(t *testing.T) *plan.Catalogue {
	t.Helper()
	c, err := plan.Parse([]byte(small), rate.Rates{rate.Read: {PerKey: 7, PerOrganization: 8}, rate.Heavy: {PerKey: 1, PerOrganization: 2}})
	require.NoError(t, err)
	return c
}

func TestPlansThatShip(t *testing.T) {
	c, err := plan.Parse(config.Plans, rate.SpecRates())
	require.NoError(t, err)
	plans := c.Plans()
	require.GreaterOrEqual(t, len(plans), 4)
	for i, p := range plans {
		require.NotEmpty(t, p.Name)
		require.NotEmpty(t, p.Features)
		for _, l := range []plan.Limit{plan.CustomAvatars, plan.ClonedVoices, plan.Portals, plan.Webhooks, plan.MaxConcurrentSessions} {
			value, stated := p.Limits[l]
			require.True(t, stated, "%s says nothing of %s", p.Key, l)
			if i == 0 {
				continue
			}
			require.Subset(t, p.Features, plans[i-1].Features, "a dearer plan has no less")
			before := plans[i-1].Limits[l]
			require.True(t, value == nil || before != nil && *value >= *before, "%s of %s", l, p.Key)
		}
	}
	plans[0].Key = "changed"
	_, ok := c.Plan("starter")
	require.True(t, ok, "the list is the caller's own")
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"nothing":             {"", "none"},
		"no plan":             {"plans: []", "none"},
		"no YAML":             {"plans: [", "plans"},
		"an unknown field":    {"plans: [{key: a, cats: 3}]", "cats"},
		"an unknown top":      {"plan: [{key: a}]", "plan"},
		"a key missing":       {"plans: [{name: A}]", `""`},
		"a key twice":         {"plans: [{key: a}, {key: a}]", `"a"`},
		"an unknown limit":    {"plans: [{key: a, limits: {cats: 1}}]", `"cats"`},
		"a limit below zero":  {"plans: [{key: a, limits: {portals: -1}}]", "portals"},
		"a limit as a word":   {"plans: [{key: a, limits: {portals: many}}]", "plans"},
		"a limit as a half":   {"plans: [{key: a, limits: {portals: 1.5}}]", "plans"},
		"a rate misspelt":     {"plans: [{key: a, rates: {heavy: {perKye: 1}}}]", "perKye"},
		"a key twice in YAML": {"plans: [{key: a, key: b}]", "key"},
		"an unknown class":    {"plans: [{key: a, rates: {cats: {perKey: 1, perOrganization: 1}}}]", "cats"},
		"a rate of nothing":   {"plans: [{key: a, rates: {heavy: {perKey: 5}}}]", "heavy"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := plan.Parse([]byte(c.text), rate.SpecRates())
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestPlan(t *testing.T) {
	c := catalogue(t)
	p, ok := c.Plan("pro")
	require.True(t, ok)
	require.Equal(t, "Pro", p.Name)
	_, ok = c.Plan("gold")
	require.False(t, ok)
}

func TestTerms(t *testing.T) {
	c := catalogue(t)
	for name, s := range map[string]struct {
		key       string
		overrides plan.Overrides
		plan      string
		avatars   *int64
		read      int64
		heavy     int64
	}{
		"a plan's own":              {"pro", plan.Overrides{}, "pro", new(int64(10)), 7, 50},
		"the deployment's rates":    {"free", plan.Overrides{}, "free", new(int64(1)), 7, 1},
		"no limit":                  {"max", plan.Overrides{}, "max", nil, 7, 1},
		"a plan no longer sold":     {"gold", plan.Overrides{}, "free", new(int64(1)), 7, 1},
		"more":                      {"free", plan.Overrides{Limits: plan.Limits{plan.CustomAvatars: new(int64(99))}}, "free", new(int64(99)), 7, 1},
		"less":                      {"pro", plan.Overrides{Limits: plan.Limits{plan.CustomAvatars: new(int64(0))}}, "pro", new(int64(0)), 7, 50},
		"unlimited":                 {"pro", plan.Overrides{Limits: plan.Limits{plan.CustomAvatars: nil}}, "pro", nil, 7, 50},
		"a limit where none was":    {"max", plan.Overrides{Limits: plan.Limits{plan.CustomAvatars: new(int64(3))}}, "max", new(int64(3)), 7, 1},
		"rates over the plan's own": {"pro", plan.Overrides{Rates: rate.Rates{rate.Heavy: {PerKey: 9, PerOrganization: 9}}}, "pro", new(int64(10)), 7, 9},
	} {
		t.Run(name, func(t *testing.T) {
			terms := c.Terms(s.key, s.overrides)
			require.Equal(t, s.plan, terms.Plan.Key)
			n, limited := terms.Limit(plan.CustomAvatars)
			require.Equal(t, s.avatars != nil, limited)
			if limited {
				require.Equal(t, *s.avatars, n)
			}
			require.Equal(t, s.read, terms.Rates[rate.Read].PerKey)
			require.Equal(t, s.heavy, terms.Rates[rate.Heavy].PerKey)
		})
	}
}

func TestTermsOfOneOrganizationDoNotReachAnother(t *testing.T) {
	c := catalogue(t)
	c.Terms("pro", plan.Overrides{Limits: plan.Limits{plan.CustomAvatars: new(int64(99))}, Rates: rate.Rates{rate.Read: {PerKey: 1, PerOrganization: 1}}})
	terms := c.Terms("pro", plan.Overrides{})
	n, _ := terms.Limit(plan.CustomAvatars)
	require.EqualValues(t, 10, n)
	require.EqualValues(t, 7, terms.Rates[rate.Read].PerKey)
}

func TestTermsOfAPlanWithoutLimits(t *testing.T) {
	c, err := plan.Parse([]byte("plans: [{key: bare, name: Bare}]"), rate.SpecRates())
	require.NoError(t, err)
	terms := c.Terms("bare", plan.Overrides{Limits: plan.Limits{plan.Portals: new(int64(3))}})
	n, limited := terms.Limit(plan.Portals)
	require.True(t, limited)
	require.EqualValues(t, 3, n)
}

func TestHas(t *testing.T) {
	terms := catalogue(t).Terms("pro", plan.Overrides{})
	require.True(t, terms.Has("duos"))
	require.False(t, terms.Has("sso"))
	require.False(t, terms.Has(""))
}

func TestLimitReached(t *testing.T) {
	c := catalogue(t)
	for name, s := range map[string]struct {
		key       string
		overrides plan.Limits
		limit     plan.Limit
		count     int64
		cheapest  any
	}{
		"the next plan":                  {"free", nil, plan.CustomAvatars, 1, "pro"},
		"an unlimited plan":              {"pro", nil, plan.CustomAvatars, 10, "max"},
		"no plan has more":               {"pro", nil, plan.Portals, 5, nil},
		"an override beyond the next":    {"free", plan.Limits{plan.CustomAvatars: new(int64(50))}, plan.CustomAvatars, 50, "max"},
		"an override below one's own":    {"pro", plan.Limits{plan.CustomAvatars: new(int64(2))}, plan.CustomAvatars, 2, "pro"},
		"a cheaper plan that has more":   {"max", plan.Limits{plan.Portals: new(int64(1))}, plan.Portals, 1, "pro"},
		"a plan that says nothing of it": {"free", plan.Limits{plan.Webhooks: new(int64(0))}, plan.Webhooks, 0, "pro"},
	} {
		t.Run(name, func(t *testing.T) {
			p := c.LimitReached(c.Terms(s.key, plan.Overrides{Limits: s.overrides}), s.limit)
			require.Equal(t, problem.UpgradeRequired, p.Code)
			require.Equal(t, map[string]any{"feature": string(s.limit), "plan": s.cheapest, "limit": s.count}, p.Details)
		})
	}
}

func TestFeatureMissing(t *testing.T) {
	c := catalogue(t)
	for feature, cheapest := range map[string]any{"duos": "pro", "sso": "max", "teleport": nil} {
		p := c.FeatureMissing(c.Terms("free", plan.Overrides{}), feature)
		require.Equal(t, problem.UpgradeRequired, p.Code)
		require.Equal(t, map[string]any{"feature": feature, "plan": cheapest}, p.Details)
		require.Contains(t, p.Message, "Free")
	}
}

func TestAtMost(t *testing.T) {
	two, nine := int64(2), int64(9)
	terms := plan.Terms{Limits: plan.Limits{plan.Webhooks: &nine, plan.Members: nil}}
	for name, c := range map[string]struct {
		limit   plan.Limit
		n, want int64
	}{
		"lower":       {plan.Webhooks, 2, 2},
		"higher":      {plan.Webhooks, 10, 9},
		"of no limit": {plan.Members, 2, 2},
		"of none yet": {plan.Portals, 2, 2},
	} {
		n, limited := terms.AtMost(c.limit, c.n).Limit(c.limit)
		require.True(t, limited, name)
		require.Equal(t, c.want, n, name)
	}
	require.Equal(t, plan.Limits{plan.Webhooks: &nine, plan.Members: nil}, terms.Limits, "what they were made from stays")
	n, _ := (plan.Terms{}).AtMost(plan.Webhooks, two).Limit(plan.Webhooks)
	require.Equal(t, two, n)
}
