package setup_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/portals/setup"
	"visavis.dev/pkg/provider/model/modeltest"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
	"visavis.dev/pkg/text/crawl"
	"visavis.dev/pkg/text/extract"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// by is who asks for everything.
const by = "key_1"

// world is an organization with a website, a model's service that it may connect,
// and what makes the jobs.
type world struct {
	t        *testing.T
	tenants  *tenant.Tenants
	vault    *vault.Vault
	org      id.Org
	other    id.Org
	gallery  *template.Gallery
	clock    *clocktest.FakeClock
	model    *modeltest.Server
	terms    plan.Terms
	site     map[string]string
	fetched  error
	runner   *job.Runner
	reporter *connection.Reporter
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: clocktest.NewFakeClock(portaltest.At), model: modeltest.Start(), site: map[string]string{start: harbour}}
	t.Cleanup(w.model.Close)
	tenants, d, one, two := tenanttest.NewDirected(t)
	w.tenants, w.org, w.other = tenants, one, two
	var err error
	w.gallery, err = template.Load()
	require.NoError(t, err)
	w.vault, err = vault.New(vault.NewKey())
	require.NoError(t, err)
	w.reporter = &connection.Reporter{Tenants: w.tenants, Clock: w.clock, Log: slog.New(slog.DiscardHandler)}
	from := setup.Sources{Tenants: w.tenants, Fetch: w.fetch, Extract: extract.Here}
	scribe := &setup.ModelWriter{
		Tenants: w.tenants, Opener: connection.NewOpener(w.tenants, w.vault, w.clock), Report: w.reporter, Egress: w.model.Guard(), Clock: w.clock,
	}
	terms := func(context.Context, id.Org) (plan.Terms, error) { return w.terms, nil }
	w.runner = &job.Runner{Tenants: w.tenants, Clock: w.clock, Log: slog.New(slog.DiscardHandler), Works: map[job.Kind]job.Work{
		job.PortalPlan: (&setup.Planner{Sources: from, Scribe: scribe, Gallery: w.gallery, Terms: terms}).Work(),
		job.PortalFill: (&setup.Builder{
			Sources: from, Scribe: scribe, Gallery: w.gallery, Library: avatar.NewLibrary(), Terms: terms,
			Addresses: &portal.Addresses{Directory: d, Tenants: w.tenants, Clock: w.clock},
		}).Work(),
	}}
	return w
}

// start is the address of the website.
const start = "https://harbour.example/"

// harbour is a page with a menu, which says too little, and two sections.
const harbour = `<html lang="en"><head><title>Harbour School</title></head><body>
	<h2>Menu</h2><p>Home</p>
	<h2>Knots</h2><p>A bowline makes a loop that does not slip, and it is easily untied after it held the boat in a storm.</p>
	<h2>Prices</h2><p>A lesson of two hours costs ninety euros, and the boat, the life jacket and the tea are part of the price.</p></body></html>`

// fetch answers the site's pages, the first first.
func (w *world) fetch(_ context.Context, url string, _ crawl.Options, each func(crawl.Page) error) error {
	if w.fetched != nil {
		return w.fetched
	}
	for _, address := range []string{url, url + "more"} {
		if text, ok := w.site[address]; ok {
			if err := each(crawl.Page{URL: address, ContentType: "text/html", Data: []byte(text)}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *world) inTx(fn func(context.Context, *tenant.Tx) error) {
	w.t.Helper()
	require.NoError(w.t, w.tenants.InTx(context.Background(), w.org, fn))
}

// connect gives the organization the model, which answers so.
func (w *world) connect(answers modeltest.Behaviour) {
	w.t.Helper()
	offer, ok := connection.FindOffer(connection.Model, "openai_compatible")
	require.True(w.t, ok)
	c := connection.New(offer, "model", connection.Config{"baseUrl": w.model.URL(), "model": "m"}, "sk", portaltest.At)
	c.State, c.Fallback, c.TimeoutMs = connection.Active, connection.FallbackFail, 5000
	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Create(ctx, tx, w.vault, c, "sk", activity.Actor{By: "test", At: c.CreatedAt})
	})
	w.model.Behave(answers)
}

// begin enters a plan.
func (w *world) begin(in setup.Input) setup.Plan {
	w.t.Helper()
	normalized, err := in.Normalize(w.gallery.Templates())
	require.NoError(w.t, err)
	var made setup.Plan
	w.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		made, err = setup.Begin(ctx, tx, normalized, activity.Actor{By: by, At: w.clock.Now()})
		return err
	})
	return made
}

// planned is a plan that is worked out.
func (w *world) planned(in setup.Input) setup.Plan {
	w.t.Helper()
	made := w.begin(in)
	w.runDueJobs()
	return w.plan(made.ID)
}

func (w *world) plan(p id.SetupPlan) setup.Plan {
	w.t.Helper()
	found, err := setup.Get(context.Background(), w.tenants, w.org, p)
	require.NoError(w.t, err)
	return found
}

// apply queues the job that makes a plan true.
func (w *world) apply(p id.SetupPlan, c setup.Cast) id.Job {
	w.t.Helper()
	var j job.Job
	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		found, err := setup.Lock(ctx, tx, p)
		require.NoError(w.t, err)
		j, err = setup.Apply(ctx, tx, found, c, activity.Actor{By: by, At: w.clock.Now()})
		return err
	})
	return j.ID
}

// fill queues the job that fills a portal.
func (w *world) fill(p portal.Portal, r setup.Request) id.Job {
	w.t.Helper()
	var j job.Job
	w.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		j, err = setup.Fill(ctx, tx, p, r, activity.Actor{By: by, At: w.clock.Now()})
		return err
	})
	return j.ID
}

// runDueJobs makes what is due until nothing is.
func (w *world) runDueJobs() {
	w.t.Helper()
	for made := 1; made > 0; {
		var err error
		made, err = w.runner.Advance(context.Background(), "a")
		require.NoError(w.t, err)
	}
}

func (w *world) job(j id.Job) job.Job {
	w.t.Helper()
	found, err := job.Get(context.Background(), w.tenants, w.org, j)
	require.NoError(w.t, err)
	return found
}

// told are the types of the events, oldest first.
func (w *world) told() (types []event.Type) {
	w.t.Helper()
	events, err := event.List(context.Background(), w.tenants, w.org, event.Filter{Ascending: true}, event.Position{}, 100)
	require.NoError(w.t, err)
	for _, e := range events {
		types = append(types, e.Type)
	}
	return types
}

// count counts rows of the organization.
func (w *world) count(table string) (n int) {
	w.t.Helper()
	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT count(*) FROM `+table+` WHERE org_id = $1`, tx.Org).Scan(&n)
	})
	return n
}

// crash makes every other step of a kind of job die before its commit, and answers
// how many steps there were.
func (w *world) crash(kind job.Kind) (steps *int) {
	steps = new(int)
	work := w.runner.Works[kind]
	w.runner.Works[kind] = job.Work{Prepare: func(ctx context.Context, j job.Job) (job.Step, error) {
		step, err := work.Prepare(ctx, j)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
			wait, err := step(ctx, tx, j, now)
			if *steps++; err == nil && *steps%2 == 1 {
				err = context.DeadlineExceeded
			}
			return wait, err
		}, nil
	}}
	return steps
}

// outlast lets leases end until everything is made.
func (w *world) outlast() {
	w.t.Helper()
	for range 8 {
		w.runDueJobs()
		w.clock.Step(time.Minute)
	}
}
