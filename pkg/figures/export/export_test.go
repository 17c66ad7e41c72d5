package export_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/figures/export"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

var (
	who  = activity.Actor{By: "key_1", At: tenanttest.Now}
	year = export.Order{Format: export.CSV, From: tenanttest.Now.AddDate(-1, 0, 0), To: tenanttest.Now.AddDate(1, 0, 0)}
)

// world is an organization whose exports are done by hand.
type world struct {
	*testing.T
	tenants  *tenant.Tenants
	org      id.Org
	files    *file.Store
	exporter *export.Exporter
}

func newWorld(t *testing.T) *world {
	tenants, org, _ := tenanttest.New(t)
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { require.NoError(t, bucket.Close()) })
	files := file.New(bucket, tenants, clocktest.NewFakeClock(tenanttest.Now))
	return &world{t, tenants, org, files, &export.Exporter{Tenants: tenants, Files: files}}
}

func (w *world) tx(do func(ctx context.Context, tx *tenant.Tx) error) {
	w.Helper()
	require.NoError(w, w.tenants.InTx(context.Background(), w.org, do))
}

func (w *world) exec(sql string, args ...any) {
	w.Helper()
	w.tx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, sql, append([]any{w.org}, args...)...)
		return err
	})
}

func (w *world) begin(o export.Order) (j job.Job) {
	w.Helper()
	w.tx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		j, err = export.Begin(ctx, tx, o, who)
		return err
	})
	return j
}

func (w *world) job(which id.Job) job.Job {
	w.Helper()
	j, err := job.Get(context.Background(), w.tenants, w.org, which)
	require.NoError(w, err)
	return j
}

// step does the next step of a job; with crash it is prepared and lost.
func (w *world) step(which id.Job, crash bool) job.Job {
	w.Helper()
	j := w.job(which)
	step, err := w.exporter.Background().Works[job.Export].Prepare(context.Background(), j)
	require.NoError(w, err)
	if crash {
		return j
	}
	w.tx(func(ctx context.Context, tx *tenant.Tx) error {
		if _, err := step(ctx, tx, &j, tenanttest.Now); err != nil {
			return err
		}
		tx.Touch("job", which)
		var finished *time.Time
		if j.State.Ended() {
			finished = &tenanttest.Now
		}
		_, err := tx.Exec(ctx, `UPDATE job SET state = $3, progress = $4, done = $5, file_id = $6, error_code = $7, finished_at = $8 WHERE org_id = $1 AND id = $2`,
			tx.Org, which, j.State, j.Progress, j.Done, j.File, j.ErrorCode, finished)
		return err
	})
	return j
}

// file is what comes of an export, every step of which is lost once.
func (w *world) file(o export.Order) string {
	w.Helper()
	j := w.begin(o)
	for !j.State.Ended() {
		w.step(j.ID, true)
		j = w.step(j.ID, false)
	}
	require.Equal(w, job.Succeeded, j.State)
	data, err := w.files.Read(context.Background(), w.org, j.File)
	require.NoError(w, err)
	return string(data)
}

// table is a file as rows by the names of their columns.
func (w *world) table(text string) (rows []map[string]string) {
	w.Helper()
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(w, err)
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func (w *world) person(name, state string) id.Person {
	p := id.NewPerson()
	w.exec(`INSERT INTO person (org_id, id, name, age_band, state, metadata, edition, created_at, updated_at) VALUES ($1, $2, $3, 'adult', $4, '{}', 1, $5, $5)`,
		p, name, state, tenanttest.Now)
	return p
}

func (w *world) result(state string) id.Result {
	r := id.NewResult()
	w.exec(`
		INSERT INTO result (org_id, id, state, kind, subject_id, portal_id, person_id, membership_id, session_id, attempt, rubric_version,
			language, asked, started_at, percent, score, max_score, passed, criteria, needs_review, on_hold, edition, created_at, updated_at)
		VALUES ($1, $2, $3, 'assessment', $2, $2, $2, $2, $2, $4, 1, 'en', '[]', $5, 88, 8, 10, true, '[]', false, false, 1, $5, $5)`,
		r, state, time.Now().UnixNano(), tenanttest.Now)
	return r
}

// Every record is in the file once, however often a step is lost, and no cell is a formula.
func TestEveryRecordIsWrittenOnce(t *testing.T) {
	w := newWorld(t)
	w.exec(`
		INSERT INTO person (org_id, id, name, age_band, state, metadata, edition, created_at, updated_at)
		SELECT $1, gen_random_uuid(), 'Kim ' || n, 'adult', 'active', '{}', 1, $2, $2 FROM generate_series(1, 2500) AS g (n)`, tenanttest.Now)
	w.person("=HYPERLINK(\"https://example.com\")", "active")
	w.person("Erased", "erased")
	o := year
	o.Kind = export.People
	rows := w.table(w.file(o))
	require.Len(t, rows, 2501)
	seen := map[string]bool{}
	for _, row := range rows {
		seen[row["name"]] = true
	}
	require.Len(t, seen, 2501)
	require.True(t, seen[`'=HYPERLINK("https://example.com")`])
	require.False(t, seen["Erased"])
	o.From = tenanttest.Now.Add(time.Second)
	require.Empty(t, w.table(w.file(o)))
}

func TestNothingUnreleasedIsWritten(t *testing.T) {
	w := newWorld(t)
	shown, hidden := w.result("released"), w.result("awaiting_review")
	o := year
	o.Kind, o.Format = export.Results, export.JSONL
	percents := map[string]any{}
	for line := range strings.Lines(w.file(o)) {
		var row map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &row))
		percents[row["id"].(string)] = []any{row["percent"], row["passed"], row["maxScore"]}
	}
	require.Equal(t, map[string]any{shown.String(): []any{88.0, true, 10.0}, hidden.String(): []any{nil, nil, nil}}, percents)
}

func TestOnlyWhatMayBeReadIsWritten(t *testing.T) {
	w := newWorld(t)
	w.exec(`
		INSERT INTO inbox_item (org_id, id, kind, state, language, contact, words, band_chosen, urgency, source, tags, metadata, edition, created_at, updated_at)
		VALUES ($1, $2, 'lead', 'new', 'en', '{"name": "Kim"}', '{"need": "Two guides"}', false, 'low', '{}', '{}', '{}', 1, $3, $3)`, id.NewGap(), tenanttest.Now)
	role := id.NewRole()
	w.exec(`
		INSERT INTO hiring_role (org_id, id, title, portal_id, subject_id, state, definition, questions, metadata, created_by, edition, created_at, updated_at)
		VALUES ($1, $2, '', $2, $2, 'open', '{}', 0, '{}', '', 1, $3, $3)`, role, tenanttest.Now)
	w.exec(`
		INSERT INTO candidate (org_id, id, role_id, invite_id, name, email, language, metadata, state, stage, consent, attempts, extra, on_hold,
			retain_until, record_length, record_head, sandbox, edition, created_at, updated_at)
		VALUES ($1, $2, $3, $2, 'Kim', 'kim@example.com', 'en', '{}', 'invited', 'screening', '{}', 0, 0, false, $4, 0, '', false, 1, $4, $4)`,
		id.NewCandidate(), role, tenanttest.Now)
	for _, may := range []bool{false, true} {
		o := year
		o.Words, o.Personal, o.Kind = may, may, export.Leads
		need, name := "", ""
		if may {
			need, name = "Two guides", "Kim"
		}
		lead := w.table(w.file(o))[0]
		require.Equal(t, []string{"Kim", need}, []string{lead["name"], lead["need"]})
		o.Kind = export.Candidates
		candidate := w.table(w.file(o))[0]
		require.Equal(t, []string{"invited", name}, []string{candidate["state"], candidate["name"]})
		require.Equal(t, may, len(o.Needs()) == 2)
	}
	w.exec(`UPDATE hiring_role SET definition = '{"blind": true}' WHERE org_id = $1`)
	o := year
	o.Kind, o.Personal = export.Candidates, true
	require.Empty(t, w.table(w.file(o))[0]["name"], "nobody decided on them yet")
	for decision, named := range map[string]string{`{"value": "hold"}`: "", `{"value": "reject"}`: "Kim"} {
		w.exec(`UPDATE candidate SET reviewed_at = now(), decision = $2 WHERE org_id = $1`, decision)
		require.Equal(t, named, w.table(w.file(o))[0]["name"])
	}
	for _, k := range []export.Kind{export.Sessions, export.Consents} {
		o.Kind = k
		require.Empty(t, w.table(w.file(o)))
	}
}

// Whoever is erased is in no file any more, nor in one that is being written.
func TestAnErasureTakesTheFiles(t *testing.T) {
	w := newWorld(t)
	p := w.person("Kim", "active")
	o := year
	o.Kind = export.People
	done := w.begin(o)
	w.step(done.ID, false)
	w.step(done.ID, false)
	require.False(t, w.job(done.ID).File.IsZero())
	under := w.begin(o)
	w.step(under.ID, false)

	w.tx(func(ctx context.Context, tx *tenant.Tx) error { return job.DropExports(ctx, tx) })
	w.exec(`UPDATE person SET state = 'erased' WHERE org_id = $1 AND id = $2`, p)
	require.True(t, w.job(done.ID).File.IsZero())
	w.step(under.ID, false)
	j := w.step(under.ID, false)
	data, err := w.files.Read(context.Background(), w.org, j.File)
	require.NoError(t, err)
	require.Empty(t, w.table(string(data)))
}

func TestWhatIsAskedForMustFit(t *testing.T) {
	w := newWorld(t)
	for field, change := range map[string]func(*export.Order){
		"filters.unitId": func(o *export.Order) { o.Kind, o.Unit = export.People, id.NewUnit() },
		"filters.roleId": func(o *export.Order) { o.Kind, o.Role = export.Leads, id.NewRole() },
		"to":             func(o *export.Order) { o.Kind, o.To = export.People, o.From },
	} {
		o := year
		change(&o)
		err := w.tenants.InTx(context.Background(), w.org, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := export.Begin(ctx, tx, o, who)
			return err
		})
		var invalid *errdefs.Invalid
		require.ErrorAs(t, err, &invalid, field)
		require.Equal(t, field, invalid.Field, fmt.Sprint(err))
	}
	require.Equal(t, scope.InboxRead, export.Leads.Scope())
}
