package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/mastery"
)

// long is a report of many criteria, with words that a page must not take for its own.
func long(language, label string) *Content {
	at := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	percent, score, band, passed := 72.5, 29.0, "good", true
	pass, confidence, by := int64(60), 0.81, "mixed"
	c := &Content{
		ReportID: id.NewReport(), Kind: "result", Version: 1, Language: language, ProducedAt: at, AIGenerated: true,
		ResultID: id.NewResult(), State: "released", ResultKind: "assessment", PersonName: "Kim <b>Lee</b>", Subject: "Knots & ropes", Portal: "Harbour school",
		Attempt: 2, CompletedAt: &at, ReleasedAt: &at, Percent: &percent, Score: &score, MaxScore: 40, Band: &band, Passed: &passed, PassPercent: &pass,
		Confidence: &confidence, ScoredBy: &by,
	}
	for i := range 40 {
		points, level, why := 1.0, int64(1), "It is said which knot holds, and why it does not slip when the boat pulls at it from the side all night long."
		c.Criteria = append(c.Criteria, Criterion{
			Key: fmt.Sprint("k", i), Label: fmt.Sprint(label, " ", i+1), Score: &points, MaxScore: 1, Weight: 1, Level: &level, Confidence: 0.9,
			DecidedBy: "avatar", Rationale: &why, Quotes: []string{"A bowline, because its loop does not slip."},
		})
	}
	c.Objectives = []Objective{{Key: "tie", Text: "Ties knots", Level: mastery.Level("secure"), Mastery: 0.8}}
	return c
}

// A report of many criteria goes over several pages and loses none of them, in either direction
// of writing.
func TestLongReports(t *testing.T) {
	for language, label := range map[string]string{"en": "Criterion", "ar": "معيار"} {
		t.Run(language, func(t *testing.T) {
			c := long(language, label)
			page, err := c.html()
			require.NoError(t, err)
			require.Contains(t, string(page), "Kim &lt;b&gt;Lee&lt;/b&gt;")
			require.NotContains(t, string(page), "<b>Lee")
			require.Contains(t, string(page), label+" 40")
			data, err := c.pdf(t.Context())
			require.NoError(t, err)
			require.Greater(t, strings.Count(string(data), "/Type /Page\n")+strings.Count(string(data), "/Type/Page/")+strings.Count(string(data), "/Type /Page "), 2, "there are several pages")
			if folder := os.Getenv("VISAVIS_REPORTS"); folder != "" { // to be looked at
				require.NoError(t, os.WriteFile(filepath.Join(folder, language+".pdf"), data, 0o600))
				require.NoError(t, os.WriteFile(filepath.Join(folder, language+".html"), page, 0o600))
			}
		})
	}
}
