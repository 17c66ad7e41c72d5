package report

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/few"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/cohort"
	"visavis.dev/pkg/learning/mastery"
	"visavis.dev/pkg/sessions/printed"
)

// A report of people together says all of its tables in every language, in either direction of writing.
func TestGroupsAreWrittenInEveryLanguage(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	red := id.NewUnit()
	f := cohort.Figures{
		Began: new(int64(24)), Scored: new(int64(18)), Passed: new(int64(12)), AveragePercent: new(71.0), CountedAt: at,
		Spread:     []cohort.Range{{From: 0, To: 60, Passed: new(false), People: 6}, {From: 60, To: 100, Passed: new(true), People: 12}},
		Periods:    []cohort.Period{{From: "2026-09-01", To: "2026-11-01", People: 8, AveragePercent: 62}, {From: "2026-11-01", To: "2026-12-01", People: 10, AveragePercent: 78}},
		Units:      []cohort.Group{{Unit: &red, Name: "Red <b>", People: 9, AveragePercent: 70}, {People: 9, AveragePercent: 72}},
		Objectives: []cohort.Objective{{Key: "tie", Text: "Ties knots", People: new(int64(18)), AverageMastery: 0.62, Level: mastery.Emerging}},
	}
	for i := range 8 {
		f.Criteria = append(f.Criteria, cohort.Criterion{Key: fmt.Sprint("k", i), Label: fmt.Sprint("Criterion ", i), People: new(int64(18)), AveragePercent: float64(20 + 10*i), Hard: i < 3})
	}
	for _, code := range Languages() {
		c := &Group{
			ReportID: id.NewReport(), Kind: printed.OfPortal, Version: 1, Language: code, ProducedAt: at, AIGenerated: true, PortalID: id.NewPortal(), Portal: "Harbour & school",
			FewestPeople: few.Least, Untold: []string{"Sails"},
			Cohorts: []Cohort{{Subject: "Knots", Figures: f}, {Subject: "Ropes", Figures: f}},
		}
		page, err := c.html()
		require.NoError(t, err)
		w, err := wordsIn(code)
		require.NoError(t, err)
		for _, key := range []string{
			"portalTitle", "few", "overview", "asked", "began", "completedBy", "scored", "passed", "average", "spread", "hardest", "hardestHint", "criteria", "objectives",
			"progress", "units", "others", "counted", "untold", "groupNotice", "notPassed", "secureBy", "pointsShare",
		} {
			require.NotEmpty(t, w[key], "%s %s", code, key)
			require.Contains(t, string(page), w[key], "%s %s", code, key)
		}
		require.Contains(t, string(page), "Red &lt;b&gt;")
		require.Contains(t, string(page), "2026-09 – 2026-10")
		data, err := c.pdf(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, data)
		if folder := os.Getenv("VISAVIS_REPORTS"); folder != "" { // to be looked at
			require.NoError(t, os.WriteFile(filepath.Join(folder, "group-"+code+".pdf"), data, 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(folder, "group-"+code+".html"), page, 0o600))
		}
	}
}
