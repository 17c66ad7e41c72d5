package apitest

import (
	"context"
	"encoding/hex"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/learning/course"
	"visavis.dev/pkg/learning/mastery"
	"visavis.dev/pkg/learning/record"
	"visavis.dev/pkg/learning/resourcelink"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/learning/statement"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/visits/memory"
)

// Mark is a word that nobody else has: whatever it is found in is about the person who
// is marked.
const Mark = "zyqxmark"

// Marked finds every row of every database, and every file, with the mark.
func Marked(t *testing.T, w *World) []string {
	t.Helper()
	return w.Holding(t, Mark)
}

// Holding lists the rows and files that hold a text, which is in small letters.
func (w *World) Holding(t *testing.T, mark string) (found []string) {
	t.Helper()
	databases := map[string]*database.DB{"directory": w.Directory.DB}
	for _, name := range []string{"shard-1", "shard-2"} {
		db, err := w.Tenants.Shard(t.Context(), name)
		require.NoError(t, err)
		databases[name] = db
	}
	for name, db := range databases {
		rows, err := db.Query(t.Context(), `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`)
		require.NoError(t, err)
		tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.NotEmpty(t, tables)
		for _, table := range tables {
			rows, err := db.Query(t.Context(), "SELECT r::TEXT FROM "+pgx.Identifier{table}.Sanitize()+
				" AS r WHERE lower(r::TEXT) LIKE '%' || $1 || '%' OR r::TEXT LIKE '%' || $2 || '%'", mark, hex.EncodeToString([]byte(mark)))
			require.NoError(t, err)
			texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err, table)
			for _, text := range texts {
				found = append(found, name+"."+table+": "+text)
			}
		}
	}
	address, err := url.Parse(w.Options.FilesURL)
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(address.Path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(strings.ToLower(string(text)), mark) {
			found = append(found, "file "+path)
		}
		return err
	}))
	return found
}

// PlacesOf are the places of what was found.
func PlacesOf(found []string) map[string]bool {
	all := map[string]bool{}
	for _, f := range found {
		place, _, _ := strings.Cut(f, ":")
		if strings.HasPrefix(place, "file ") {
			place = "file"
		}
		all[place] = true
	}
	return all
}

// Erase does what is left to do for those who were erased.
func (w *World) Erase(t *testing.T) {
	t.Helper()
	eraser := person.Eraser{Files: w.Files, Forget: person.ForgetEach(memory.ForgetPerson, certificate.ForgetPerson, record.ForgetPerson, result.ForgetPerson, resourcelink.ForgetPerson, course.ForgetPerson, mastery.ForgetPerson, assignment.ForgetPerson, statement.ForgetPerson)}
	w.runJobs(t, map[job.Kind]job.Work{job.Erase: {Prepare: func(context.Context, job.Job) (job.Step, error) { return eraser.Step, nil }}})
}
