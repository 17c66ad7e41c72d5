package move_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/operations/move"
	"visavis.dev/pkg/store/tenant"
)

// A writer that passed an earlier fence may commit on CockroachDB after the fence changed,
// at a timestamp before that. So a mover that reads rows of the source reads the fence in the
// same transaction.
func TestTheSourceIsReadTogetherWithItsFence(t *testing.T) {
	var tables []string
	for _, table := range tenant.Tables {
		tables = append(tables, table.Name)
	}
	rows := regexp.MustCompile(`\b(FROM|INTO|UPDATE)\s+(` + strings.Join(tables, "|") + `)\b`)
	both(t, func(t *testing.T, option func(*move.Options)) {
		w := newWorld(t, option)
		org := w.organization("a")
		w.furnish(org, "a", 10)
		source := w.shards["a"].Config().ConnConfig.Database
		w.begin(org, "b")
		w.before("UPDATE org_fence", func() { w.transactions(source) })
		require.NoError(t, w.advance(w.mover))
		read := 0
		for _, statements := range w.transactions("") {
			all := strings.Join(statements, ";\n")
			if !rows.MatchString(all) {
				continue
			}
			read++
			require.Contains(t, all, "FROM org_fence", "a transaction on the source")
		}
		require.Greater(t, read, 10)
	})
}
