package plan_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/plan"
)

func TestParseOverride(t *testing.T) {
	var o plan.Overrides
	for _, step := range []struct{ name, value, want string }{
		{"portals", "7", `{"limits":{"portals":7}}`},
		{"customAvatars", "0", `{"limits":{"portals":7,"customAvatars":0}}`},
		{"portals", "unlimited", `{"limits":{"portals":null,"customAvatars":0}}`},
		{"heavy", "5/9", `{"limits":{"portals":null,"customAvatars":0},"rates":{"heavy":{"perKey":5,"perOrganization":9}}}`},
		{"customAvatars", "plan", `{"limits":{"portals":null},"rates":{"heavy":{"perKey":5,"perOrganization":9}}}`},
		{"read", "plan", `{"limits":{"portals":null},"rates":{"heavy":{"perKey":5,"perOrganization":9}}}`},
		{"heavy", "plan", `{"limits":{"portals":null}}`},
		{"portals", "plan", `{}`},
		{"portals", "plan", `{}`},
	} {
		require.NoError(t, o.Parse(step.name, step.value), "%s %s", step.name, step.value)
		text, err := json.Marshal(o)
		require.NoError(t, err)
		require.JSONEq(t, step.want, string(text), "%s %s", step.name, step.value)
		var back plan.Overrides
		require.NoError(t, json.Unmarshal(text, &back))
		again, err := json.Marshal(back)
		require.NoError(t, err)
		require.JSONEq(t, step.want, string(again), "what the directory keeps reads the same")
	}
}

func TestParseOverrideRefuses(t *testing.T) {
	for _, c := range []struct{ name, value, says string }{
		{"cats", "7", "customAvatars"},
		{"", "7", "limit"},
		{"portals", "-1", "number"},
		{"portals", "many", "unlimited"},
		{"portals", "", "number"},
		{"portals", "1.5", "number"},
		{"portals", "99999999999999999999", "number"},
		{"heavy", "5", "PER_KEY"},
		{"heavy", "unlimited", "PER_KEY"},
		{"heavy", "0/5", "from 1"},
		{"heavy", "5/9,read=1/1", "PER_KEY"},
	} {
		var o plan.Overrides
		require.ErrorContains(t, o.Parse(c.name, c.value), c.says, "%s %s", c.name, c.value)
		require.Empty(t, o.Limits)
		require.Empty(t, o.Rates)
	}
}
