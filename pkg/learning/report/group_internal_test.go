package report

import (
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
	f := cohort.Figures{
		Results: &cohort.Results{
			People: 18, AveragePercent: 71, Passed: new(int64(12)), NotPassed: new(int64(6)), CountedAt: at,
			Bands: []cohort.Band{{From: "fail", To: "fail", People: 6}, {From: "pass", To: "distinction", People: 12}},
		},
		Objectives: []cohort.Objective{{Key: "tie", Text: "Ties <b>knots", People: 18, AverageMastery: 0.62, Level: mastery.Emerging, CountedAt: at}},
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
			"portalTitle", "few", "overview", "scored", "passed", "average", "spread", "objectives", "counted", "untold", "groupNotice", "notPassed", "secureBy", "distinction",
		} {
			require.NotEmpty(t, w[key], "%s %s", code, key)
			require.Contains(t, string(page), w[key], "%s %s", code, key)
		}
		require.Contains(t, string(page), "Ties &lt;b&gt;knots")
		data, err := c.pdf(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, data)
		if folder := os.Getenv("VISAVIS_REPORTS"); folder != "" { // to be looked at
			require.NoError(t, os.WriteFile(filepath.Join(folder, "group-"+code+".pdf"), data, 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(folder, "group-"+code+".html"), page, 0o600))
		}
	}
}
