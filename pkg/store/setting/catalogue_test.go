package setting_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestCatalogue(t *testing.T) {
	seen := map[setting.Key]bool{}
	for _, d := range setting.Catalogue() {
		require.False(t, seen[d.Key], "%s is there twice", d.Key)
		seen[d.Key] = true
		require.NotEmpty(t, d.Label)
		require.Contains(t, d.At, setting.OfOrganization)
		found, ok := setting.Find(d.Key)
		require.True(t, ok)
		require.Equal(t, d, found)
		if d.Type == setting.Boolean {
			require.IsType(t, true, d.Default)
			continue
		}
		require.Less(t, d.Min, d.Max)
		if d.Default != nil {
			n := d.Default.(int64)
			require.GreaterOrEqual(t, n, d.Min)
			require.LessOrEqual(t, n, d.Max)
		}
	}
	_, ok := setting.Find("no.such")
	require.False(t, ok)
}

func TestParse(t *testing.T) {
	memory, longest := definition(t, setting.Memory), definition(t, setting.MaxDurationS)
	for text, want := range map[string]setting.Value{"true": true, "false": false} {
		v, err := memory.Parse(json.RawMessage(text))
		require.NoError(t, err)
		require.Equal(t, want, v)
	}
	for text, want := range map[string]setting.Value{"30": int64(30), "7200": int64(7200)} {
		v, err := longest.Parse(json.RawMessage(text))
		require.NoError(t, err)
		require.Equal(t, want, v)
	}
	for d, texts := range map[*setting.Definition][]string{
		&memory:  {"", "null", "1", `"true"`, "{}"},
		&longest: {"", "null", "true", "29", "7201", "30.5", "1e2", `"30"`, "-99999999999999999999"},
	} {
		for _, text := range texts {
			_, err := d.Parse(json.RawMessage(text))
			var wrong *setting.ValueError
			require.ErrorAs(t, err, &wrong, "%s %s", d.Key, text)
		}
	}
}

func TestLocks(t *testing.T) {
	rich := anyone.Terms
	for name, c := range map[string]struct {
		key  setting.Key
		by   setting.Viewer
		want setting.Lock
	}{
		"nothing":               {setting.ZeroRetention, anyone, setting.Open},
		"an owner's":            {setting.ZeroRetention, setting.Viewer{Terms: rich, Region: "eu"}, setting.ByTheOwner},
		"the plan first":        {setting.ZeroRetention, setting.Viewer{Region: "eu"}, setting.ByPlan},
		"the law":               {setting.AINotice, setting.Viewer{Terms: rich, Region: "eu", Owner: true}, setting.ByRegion},
		"no law elsewhere":      {setting.AINotice, setting.Viewer{Terms: rich, Region: "us"}, setting.Open},
		"what every plan has":   {setting.Memory, setting.Viewer{}, setting.Open},
		"the plan lacks a door": {setting.Widgets, setting.Viewer{Terms: plan.Terms{}, Owner: true}, setting.ByPlan},
	} {
		require.Equal(t, c.want, definition(t, c.key).Lock(c.by), name)
	}
}

// What a law fixes holds whatever is set; what a plan lacks is off, but what
// somebody promised outlasts the plan.
func TestLockedValues(t *testing.T) {
	tenants, one, _ := tenanttest.New(t)
	w := world{tenants, t}
	poor := setting.Viewer{Region: "eu"}
	require.Equal(t, true, w.stands(one, setting.AINotice, setting.Organization, poor).Value)
	require.Equal(t, false, w.stands(one, setting.AINotice, setting.Organization, anyone).Value)
	require.Equal(t, false, w.stands(one, setting.Widgets, setting.Organization, poor).Value)
	require.Equal(t, true, w.stands(one, setting.Widgets, setting.Organization, anyone).Value)
	w.put(one, setting.ZeroRetention, setting.Organization, true, tenanttest.Now)
	kept := w.stands(one, setting.ZeroRetention, setting.Organization, poor)
	require.Equal(t, true, kept.Value)
	require.Equal(t, setting.ByPlan, kept.LockedBy)
}

func TestRequire(t *testing.T) {
	require.NoError(t, setting.Values{}.Require(setting.Widgets), "on unless set off")
	p := problem.From(setting.Values{setting.Widgets: false}.Require(setting.Widgets))
	require.Equal(t, problem.Conflict, p.Code)
	require.Equal(t, "switched_off", p.Details["reason"])
	require.Equal(t, setting.Widgets, p.Details["setting"])
}
