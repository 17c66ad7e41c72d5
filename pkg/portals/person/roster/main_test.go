package roster_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/event/eventtest"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/person/roster"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// world is an organization with a portal, and what imports people.
type world struct {
	t       *testing.T
	tenants *tenant.Tenants
	db      *database.DB
	org     id.Org
	portal  portal.Portal
	files   *file.Store
	clock   *clocktest.FakeClock
	terms   plan.Terms
	work    job.Work
	runner  *job.Runner
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: clocktest.NewFakeClock(tenanttest.Now)}
	w.tenants, w.org, _ = tenanttest.New(t)
	var err error
	w.db, err = w.tenants.Shard(context.Background(), "a")
	require.NoError(t, err)
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { _ = bucket.Close() })
	w.files = file.New(bucket, w.tenants, w.clock)
	w.portal = portaltest.Portal(t, w.tenants, w.org, id.NewPersona())
	w.runner, w.work = w.process()
	return w
}

// process is one that runs jobs.
func (w *world) process() (*job.Runner, job.Work) {
	work := roster.NewImporter(w.tenants, w.files, func(context.Context, id.Org) (plan.Terms, error) { return w.terms, nil }).Work()
	return &job.Runner{
		Tenants: w.tenants, Clock: w.clock, Log: slog.New(slog.DiscardHandler), Works: map[job.Kind]job.Work{job.PeopleImport: work},
	}, work
}

// crash lets every first try of a step die before its commit.
func (w *world) crash() {
	died := false
	w.runner.Works[job.PeopleImport] = job.Work{Prepare: func(ctx context.Context, j job.Job) (job.Step, error) {
		step, err := w.work.Prepare(ctx, j)
		return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
			wait, err := step(ctx, tx, j, now)
			if died = !died; died && err == nil {
				return 0, errors.New("the process died")
			}
			return wait, err
		}, err
	}}
}

// begin queues the import of a text.
func (w *world) begin(text string, dryRun bool) id.Job {
	w.t.Helper()
	ctx := context.Background()
	people, err := roster.Check([]byte(text))
	require.NoError(w.t, err)
	source, err := w.files.Put(ctx, w.org, "text/csv", []byte(text))
	require.NoError(w.t, err)
	var j job.Job
	w.must(func(ctx context.Context, tx *tenant.Tx) (err error) {
		j, err = roster.Begin(ctx, tx, w.files, source, people, dryRun, person.Author{By: "key_test", At: w.clock.Now()})
		return err
	})
	return j.ID
}

// end runs a job to its end.
func (w *world) end(which id.Job) job.Job {
	w.t.Helper()
	for range 200 {
		j := w.job(which)
		if j.State.Ended() {
			return j
		}
		w.clock.Step(time.Minute) // past the lease of a step that was lost
		_, err := w.runner.Advance(context.Background(), "a")
		require.NoError(w.t, err)
	}
	require.Fail(w.t, "the job does not end")
	return job.Job{}
}

// imported is the job of a text, at its end.
func (w *world) imported(text string) job.Job {
	w.t.Helper()
	return w.end(w.begin(text, false))
}

func (w *world) job(which id.Job) job.Job {
	w.t.Helper()
	j, err := job.Get(context.Background(), w.tenants, w.org, which)
	require.NoError(w.t, err)
	return j
}

// rejects is the file that came of a job.
func (w *world) rejects(j job.Job) string {
	w.t.Helper()
	data, err := w.files.Read(context.Background(), w.org, j.File)
	require.NoError(w.t, err)
	return string(data)
}

func (w *world) must(fn func(context.Context, *tenant.Tx) error) {
	w.t.Helper()
	require.NoError(w.t, w.tenants.InTx(context.Background(), w.org, fn))
}

// unit makes a unit with a code.
func (w *world) unit(code string) id.Unit {
	w.t.Helper()
	u := unit.Unit{
		ID: id.NewUnit(), Portal: w.portal.ID, Kind: unit.Class, Name: "Class", Code: &code, Managers: []id.Person{}, Metadata: map[string]string{},
	}
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := unit.Insert(ctx, tx, u, person.Author{By: "key_test", At: w.clock.Now()})
		return err
	})
	return u.ID
}

// people are those of the organization, newest first.
func (w *world) people() []person.With {
	w.t.Helper()
	all, err := person.List(context.Background(), w.tenants, w.org, person.Filter{}, id.Person{}, 1000, w.clock.Now())
	require.NoError(w.t, err)
	return all
}

func (w *world) count(sql string) (n int) {
	w.t.Helper()
	require.NoError(w.t, w.db.QueryRow(context.Background(), sql, w.org).Scan(&n))
	return n
}

// told counts the events of a type.
func (w *world) told(of event.Type) int {
	w.t.Helper()
	return len(eventtest.Log(w.t, w.tenants, w.org, of))
}
