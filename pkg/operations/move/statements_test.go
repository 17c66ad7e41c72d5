package move_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/store/tenant"
)

// Statements over the rows of a whole shard pass by organizations that do not live there:
// while one is copied its rows are on two shards. Every statement on a tenant table names
// the organization or the fence; those that need neither say why.
func TestStatementsKnowWhereOrganizationsLive(t *testing.T) {
	exempt := map[string]string{
		"DISTINCT w.lane":                "which lanes there are: whose they are is read with the fence",
		"WITH RECURSIVE head":            "where due deliveries are: their webhooks are read with the fence",
		"webhook_id > $1 ORDER BY":       "the same, step by step",
		"WHERE webhook_id = $1 AND due_": "the same, of one lane",
		"WHERE d.webhook_id = $1 AND d.": "the same, their rows",
		"event_staged WHERE org_id > $1": "whose events wait: they are taken with the fence",
		"s.place >= 0)":                  "the same, of some",
		"l.lane >= $3 AND l.lease_until": "which lanes there are",
		"DELETE FROM live_pod":           "a process stays listed while any row says that it owns a session",
		"FROM person p WHERE`":           "the condition that follows begins with the organization",
		"FROM session s`":                "the same",
		"= subject.org_id AND":           "columns of a list of one organization's subjects",
		"UPDATE assignment_person AS p":  "the condition that follows the columns begins with the organization",
		"c.org_id = completion.org_id":   "columns of a list of one organization's completions",
		"SELECT due_at FROM job":         "when to look again: what is then due is taken with the fence",
		"i.org_id = escalation.org_id":   "columns of a list of one organization's escalations",
		"FROM membership m`":             "the condition that follows begins with the organization",
		"FROM inbox_item i WHERE `":      "the condition that follows begins with the organization",
		"OR EXISTS (SELECT 1 FROM sessi": "whether there is anything to sweep: it is read with the fence",
	}
	var names []string
	for _, table := range tenant.Tables {
		names = append(names, table.Name)
	}
	touches := regexp.MustCompile(`(?i)\b(FROM|JOIN|UPDATE|INTO)\s+(` + strings.Join(names, "|") + `)\b`)
	literal := regexp.MustCompile("(?s)`[^`]*`")
	checked := 0
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "move" || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, sql := range literal.FindAllString(string(text), -1) {
			if !touches.MatchString(sql) {
				continue
			}
			checked++
			known := strings.Contains(sql, "org_id") && regexp.MustCompile(`org_id(\s*=|,)|\(org_id|org_fence`).MatchString(sql)
			scoped := regexp.MustCompile(`org_id\s*=\s*(\$\d|ANY|[a-z]\.org_id|wanted|m\.org_id)|INSERT INTO|org_fence`).MatchString(sql)
			if known && scoped {
				continue
			}
			excused := false
			for part := range exempt {
				excused = excused || strings.Contains(sql, part)
			}
			if !excused {
				t.Errorf("%s: neither the organization nor the fence is named in %s", path, sql)
			}
		}
		return nil
	}))
	require.Greater(t, checked, 300)
}
