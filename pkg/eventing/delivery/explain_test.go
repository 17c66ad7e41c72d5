package delivery_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/hack/receiver/endpoint"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/managed"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// rows is how many events, and how many deliveries, the shard of these tests has.
const rows = 20_000

// full is a world whose log has rows, a few of which wait for an attempt in an
// hour, with a record of what is sent to the shard.
type full struct {
	*world
	sent *tenanttest.Statements
	db   *database.DB
	// hook, event, delivery and job are one of each; the job opened the delivery.
	hook     id.Webhook
	event    id.Event
	delivery id.Delivery
	job      id.Job
	session  id.Session
	subject  id.Subject
	begin    time.Time
}

func newFull(t *testing.T) *full {
	t.Helper()
	f := &full{world: newWorld(t)}
	f.tenants, f.sent, f.one, f.two = tenanttest.NewTraced(t)
	f.options.Tenants = f.tenants
	f.options.Renderer = &event.Renderer{Tenants: f.tenants, Sources: map[event.Type]event.Source{}}
	var err error
	f.db, err = f.tenants.Shard(context.Background(), "a")
	require.NoError(t, err)
	f.begin = f.now().Add(-rows * time.Minute / 2)
	f.fill()
	return f
}

func (f *full) fill() {
	f.t.Helper()
	const webhooks, jobs = 2000, 3000
	hooks := make([]id.Webhook, webhooks)
	for i := range hooks {
		hooks[i] = id.NewWebhook()
	}
	f.exec(`
		INSERT INTO webhook (org_id, id, url, events, include_conversation, active, failing_since, api_version, secret,
			created_at, updated_at, deleted_at)
		SELECT CASE WHEN i % 2 = 0 THEN $2::UUID ELSE $3::UUID END, w, 'https://example.com/' || i, '{session.started}', false, true,
			CASE WHEN i % 200 = 0 THEN $4::TIMESTAMPTZ END, '2026-10-01', '', $4::TIMESTAMPTZ, $4, CASE WHEN i % 500 = 13 THEN $4::TIMESTAMPTZ END
		FROM unnest($1::UUID[]) WITH ORDINALITY AS w (w, i)`, hooks, f.one, f.two, f.begin)
	events, deliveries := make([]id.Event, rows), make([]id.Delivery, rows)
	types := make([]string, 0, len(event.Kinds()))
	for _, k := range event.Kinds() {
		types = append(types, string(k.Type))
	}
	for i := range rows {
		at := f.begin.Add(time.Duration(i) * 20 * time.Second)
		events[i], deliveries[i] = id.EventAt(at), id.DeliveryAt(at)
	}
	sessions, subjects := make([]uuid.UUID, 500), make([]uuid.UUID, 700)
	for i := range sessions {
		sessions[i] = uuid.New()
	}
	for i := range subjects {
		subjects[i] = uuid.New()
	}
	f.exec(`
		INSERT INTO event (org_id, id, type, created_at, session_id, subject_id, data)
		SELECT CASE WHEN i % 2 = 0 THEN $2::UUID ELSE $3::UUID END, e, ($5::TEXT[])[1 + i % array_length($5::TEXT[], 1)],
			$4::TIMESTAMPTZ, ($6::UUID[])[1 + i % 500], ($7::UUID[])[1 + i % 700], '{}'
		FROM unnest($1::UUID[]) WITH ORDINALITY AS e (e, i)`, events, f.one, f.two, f.begin, types, sessions, subjects)
	f.job = id.NewJob()
	f.exec(`
		INSERT INTO delivery (org_id, id, webhook_id, event_id, type, api_version, state, attempts, due_at, log, created_at, job_id)
		SELECT CASE WHEN i % 2 = 0 THEN $3::UUID ELSE $4::UUID END, d, ($5::UUID[])[1 + (i + 1) % 40], ($2::UUID[])[i], 'session.started', '2026-10-01',
			CASE WHEN i % 100 = 0 THEN 'pending' WHEN i % 30 = 0 THEN 'failed' ELSE 'delivered' END, 0,
			CASE WHEN i % 100 = 0 THEN $6::TIMESTAMPTZ END, '[]', $7, CASE WHEN i % 100 = 0 THEN $8::UUID END
		FROM unnest($1::UUID[]) WITH ORDINALITY AS d (d, i)`,
		deliveries, events, f.one, f.two, hooks, f.now().Add(time.Hour), f.begin, f.job)
	f.exec(`
		INSERT INTO job (org_id, id, kind, state, input, progress, done, total, resource_kind, resource_id, scope, error_code, attempts,
			created_by, created_at, finished_at, due_at)
		SELECT CASE WHEN i % 2 = 0 THEN $2::UUID ELSE $3::UUID END, gen_random_uuid(), $4, CASE WHEN i % 300 = 0 THEN 'running' ELSE 'succeeded' END,
			'{}', '{}', 0, -1, '', '', $5, '', 0, '', $6::TIMESTAMPTZ, CASE WHEN i % 300 = 0 THEN NULL ELSE $6::TIMESTAMPTZ END,
			CASE WHEN i % 300 = 0 THEN $7::TIMESTAMPTZ END
		FROM generate_series(1, $1::BIGINT) AS g (i)`,
		jobs, f.one, f.two, job.WebhookRecover, scope.WebhooksManage, f.now(), f.now().Add(time.Hour))
	// The first organization has the even rows.
	f.hook, f.event, f.delivery = hooks[1], events[rows/2+1], deliveries[rows/2+1]
	f.session, f.subject = id.Session(sessions[2]), id.Subject(subjects[2])
	f.exec(`
		INSERT INTO event_staged (org_id, id, committed_at, place, type, at, data)
		SELECT gen_random_uuid(), gen_random_uuid(), i, 0, 'of.another.release', now(), '{}' FROM generate_series(1, 2000) AS g (i)`)
	for _, table := range []string{"webhook", "event", "event_staged", "delivery", "job"} {
		f.exec(`ANALYZE ` + table)
	}
}

// ride is how a statement is to be planned: over these indexes and over no
// whole table. One that runs all the time is so also where the planner is
// free, for its arguments and for any.
type ride struct {
	text    string
	indexes []string
	often   bool
	run     func(ctx context.Context) error
}

func (f *full) check(t *testing.T, s tenanttest.Statement, r ride) {
	t.Helper()
	forced := s.Forced(t, f.db)
	for _, index := range r.indexes {
		require.Contains(t, forced, " "+index+" ", "%s\n%s", s.SQL, forced)
	}
	plans := []string{forced}
	if r.often {
		plans = append(plans, s.Free(t, f.db), s.Generic(t, f.db))
	}
	for i, plan := range plans {
		if strings.Contains(s.SQL, "WITH RECURSIVE head") {
			require.NotContains(t, plan, "Sort", "it steps along the index\n%s\n%s", s.SQL, plan)
		}
		for _, table := range []string{"event", "delivery", "webhook", "job"} {
			require.NotRegexp(t, `Seq Scan on `+table+`( |$)`, plan, "%s\nplan %d:\n%s", s.SQL, i, plan)
		}
	}
}

// ignore leaves the error of a function that answers something too.
func ignore[T any](_ T, err error) error { return err }

// TestTheReadsRideTheirIndexes explains what lists, finds and sweeps.
func TestTheReadsRideTheirIndexes(t *testing.T) {
	t.Parallel()
	f := newFull(t)
	now := f.now()
	types := []event.Type{event.SessionStarted, event.UnitCreated}
	states := []delivery.State{delivery.Failed, delivery.Retrying}
	cases := map[string]ride{
		"a delivery": {"FROM delivery d", []string{"delivery_pkey", "webhook_pkey"}, true, func(ctx context.Context) error {
			found, _, err := delivery.Get(ctx, f.tenants, f.one, f.delivery)
			return ignore(found, err)
		}},
		"an event": {"FROM event WHERE org_id = $1 AND id", []string{"event_pkey"}, true, func(ctx context.Context) error {
			return ignore(event.Get(ctx, f.tenants, f.one, f.event))
		}},
		"a job": {"FROM job", []string{"job_pkey"}, true, func(ctx context.Context) error {
			return ignore(job.Get(ctx, f.tenants, f.one, f.someJob(t)))
		}},
		"jobs": {"FROM job", []string{"job_pkey"}, true, func(ctx context.Context) error {
			return ignore(job.List(ctx, f.tenants, f.one, job.Filter{States: []job.State{job.Running}}, f.someJob(t), 50))
		}},
		"a webhook": {"FROM webhook", []string{"webhook_pkey"}, true, func(ctx context.Context) error {
			return ignore(webhook.Get(ctx, f.tenants, f.one, f.hook))
		}},
		"webhooks": {"FROM webhook", []string{"webhook_pkey"}, true, func(ctx context.Context) error {
			return ignore(webhook.List(ctx, f.tenants, f.one, f.hook, 50))
		}},
		"the oldest delivery": {"WITH RECURSIVE head", []string{"delivery_due"}, true, func(ctx context.Context) error {
			return ignore(delivery.Oldest(ctx, f.db, now.Add(2*time.Hour)))
		}},
		"the oldest staged event": {"FROM event_staged", []string{"event_staged_order"}, true, func(ctx context.Context) error {
			return ignore(event.OldestStaged(ctx, f.db))
		}},
		"the oldest delivery's webhook": {"FROM unnest", []string{"webhook_pkey"}, true, func(ctx context.Context) error {
			return ignore(delivery.Oldest(ctx, f.db, now.Add(2*time.Hour)))
		}},
		"the oldest job": {"WHERE j.heavy = $1", []string{"job_due_by_kind"}, true, func(ctx context.Context) error {
			return ignore(job.Oldest(ctx, f.db, job.Whole, now))
		}},
		"failing webhooks": {"FROM webhook", []string{"webhook_failing", "delivery_due", "delivery_by_webhook"}, true, func(ctx context.Context) error {
			return ignore(delivery.ListFailing(ctx, f.tenants, "a"))
		}},
		"a sweep of deliveries": {"DELETE FROM delivery", []string{"delivery_pkey"}, false, func(ctx context.Context) error {
			return ignore(delivery.Sweep(ctx, f.tenants, "a", now))
		}},
		"a sweep of events": {"DELETE FROM event", []string{"event_pkey", "delivery_event_key"}, false, func(ctx context.Context) error {
			return ignore(event.Sweep(ctx, f.tenants, "a", now))
		}},
		"a sweep of jobs": {"DELETE FROM job", []string{"job_finished", "job_pkey"}, false, func(ctx context.Context) error {
			return ignore(job.Sweep(ctx, f.tenants, file.New(nil, f.tenants, clock.RealClock{}), "a", now))
		}},
		"a sweep of the logs of deleted webhooks": {"DELETE FROM delivery", []string{"webhook_deleted", "delivery_by_webhook", "delivery_pkey"}, false, func(ctx context.Context) error {
			return ignore(webhook.Sweep(ctx, f.tenants, "a"))
		}},
		"a sweep of deleted webhooks": {"DELETE FROM webhook", []string{"webhook_deleted", "delivery_by_webhook"}, false, func(ctx context.Context) error {
			f.exec(`DELETE FROM delivery WHERE webhook_id IN (SELECT id FROM webhook WHERE deleted_at IS NOT NULL)`)
			return ignore(webhook.Sweep(ctx, f.tenants, "a"))
		}},
	}
	for name, c := range map[string]struct {
		filter delivery.Filter
		index  string
	}{
		"all":              {delivery.Filter{}, "delivery_pkey"},
		"of a webhook":     {delivery.Filter{Webhook: f.hook}, "delivery_by_webhook"},
		"of an event":      {delivery.Filter{Event: f.event}, "delivery_event_key"},
		"of both":          {delivery.Filter{Event: f.event, Webhook: f.hook}, "delivery_event_key"},
		"of a state":       {delivery.Filter{States: states}, "delivery_pkey"},
		"that arrived":     {delivery.Filter{OK: new(true)}, "delivery_pkey"},
		"of a time":        {delivery.Filter{From: f.begin.Add(time.Hour), To: f.begin.Add(2 * time.Hour)}, "delivery_pkey"},
		"of much together": {delivery.Filter{Webhook: f.hook, States: states, From: f.begin.Add(time.Hour)}, "delivery_by_webhook"},
	} {
		for page, after := range map[string]delivery.Position{"": {}, ", a further page": f.delivery} {
			cases["deliveries "+name+page] = ride{"FROM delivery d", []string{c.index, "webhook_pkey"}, true, func(ctx context.Context) error {
				return ignore(delivery.List(ctx, f.tenants, f.one, c.filter, after, 50))
			}}
		}
	}
	for name, c := range map[string]struct {
		filter event.Filter
		index  string
	}{
		"all":                    {event.Filter{}, "event_pkey"},
		"of types":               {event.Filter{Types: types}, "event_by_type"},
		"of a session":           {event.Filter{Session: f.session}, "event_by_session"},
		"of a session and types": {event.Filter{Session: f.session, Types: types}, "event_by_session"},
		"of a subject":           {event.Filter{Subject: f.subject}, "event_by_subject"},
		"of a subject and types": {event.Filter{Subject: f.subject, Types: types}, "event_by_subject"},
		"of both":                {event.Filter{Session: f.session, Subject: f.subject}, "event_by_subject"},
		"of a time":              {event.Filter{From: f.begin.Add(time.Hour), To: f.begin.Add(2 * time.Hour)}, "event_pkey"},
	} {
		for order, ascending := range map[string]bool{"": false, ", oldest first": true} {
			for page, after := range map[string]event.Position{"": {}, ", a further page": f.event} {
				filter := c.filter
				filter.Ascending = ascending
				cases["events "+name+order+page] = ride{"FROM event WHERE org_id = $1 AND id", []string{c.index}, true, func(ctx context.Context) error {
					return ignore(event.List(ctx, f.tenants, f.one, filter, after, 50))
				}}
			}
		}
	}
	for name, r := range cases {
		t.Run(name, func(t *testing.T) {
			for _, s := range f.sent.Of(t, r.text, func() error { return r.run(t.Context()) }) {
				f.check(t, s, r)
			}
		})
	}
}

func (f *full) runner() *job.Runner {
	return &job.Runner{
		Tenants: f.tenants, Shards: f.options.Shards, Clock: f.clock, Log: f.options.Log,
		Steps: map[job.Kind]job.Step{job.WebhookRecover: delivery.Recover},
	}
}

func (f *full) someJob(t *testing.T) id.Job {
	t.Helper()
	var found id.Job
	require.NoError(t, f.db.QueryRow(t.Context(), `SELECT id FROM job WHERE org_id = $1 ORDER BY id OFFSET 500 LIMIT 1`, f.one).Scan(&found))
	return found
}

// sentBy are the statements that each of a pass of work sends, by a text of them.
func (f *full) sentBy(t *testing.T, rides []ride, run func()) {
	t.Helper()
	all := f.sent.Of(t, "", func() error { run(); return nil })
	for _, r := range rides {
		t.Run(strings.Join(strings.Fields(r.text), " "), func(t *testing.T) {
			seen := map[string]bool{}
			for _, s := range all {
				if strings.Contains(s.SQL, r.text) && !seen[s.SQL] {
					seen[s.SQL] = true
					f.check(t, s, r)
				}
			}
			require.NotEmpty(t, seen, "it was not sent")
		})
	}
}

// TestTheWorkRidesItsIndexes explains what delivers, what makes jobs' steps
// and what recovers.
func TestTheWorkRidesItsIndexes(t *testing.T) {
	t.Parallel()
	t.Run("delivering", func(t *testing.T) {
		t.Parallel()
		f := newFull(t)
		f.world.hook(f.one, "/hook")
		f.world.hook(f.one, "/down")
		f.receiver.Set("/down", endpoint.Behaviour{Status: 500})
		f.emit(f.one)
		f.sentBy(t, []ride{
			{"WITH RECURSIVE head", []string{"delivery_due"}, true, nil},
			{"(d.due_at, d.id) > ($2, $3)", []string{"delivery_due", "event_pkey"}, true, nil},
			{"AS wanted (org_id, id)", []string{"webhook_pkey", "org_fence_pkey"}, true, nil},
			{"UPDATE delivery AS d", []string{"delivery_pkey", "delivery_lane_pkey"}, true, nil},
			{"UPDATE webhook SET failing_since", []string{"webhook_pkey"}, true, nil},
		}, f.deliver)
		require.Equal(t, 1, f.receiver.Count("/hook").Requests)
	})
	t.Run("in lanes of one's own", func(t *testing.T) {
		t.Parallel()
		f := newFull(t)
		h := f.world.hook(f.one, "/hook")
		f.dedicate(h, true)
		f.exec(`UPDATE webhook SET lane = own_lane`)
		f.emit(f.one)
		f.sentBy(t, []ride{
			{"SELECT w.org_id, w.id, w.lane, COALESCE", []string{"webhook_by_lane", "webhook_by_own_lane", "webhook_pkey"}, false, nil},
			{"INSERT INTO delivery_lane (lane, epoch, lease_until)\n\t\tSELECT", []string{"webhook_by_lane"}, true, nil},
			{"WHERE l.lane >= $3", []string{"webhook_by_lane"}, true, nil},
		}, f.deliver)
		require.Equal(t, 1, f.receiver.Count("/hook").Requests, "its own worker never was there")
		f.options.Lane = delivery.WebhookLane(h)
		f.emit(f.one)
		f.clock.Step(time.Second)
		f.exec(`UPDATE delivery_lane SET lease_until = now() - INTERVAL '1 second'`)
		f.sentBy(t, []ride{
			{"WHERE webhook_id = $1 AND due_at IS NOT NULL", []string{"delivery_due"}, true, nil},
		}, f.deliver)
		require.Equal(t, 2, f.receiver.Count("/hook").Requests)
	})
	t.Run("recording", func(t *testing.T) {
		t.Parallel()
		f := newFull(t)
		f.sentBy(t, []ride{
			{"SELECT id FROM event", []string{"event_pkey"}, true, nil},
			{"SELECT org_id, id, events, include_conversation", []string{"webhook_pkey"}, false, nil},
			{"FROM event_staged WHERE org_id > $1", []string{"event_staged_order"}, true, nil},
			{"ORDER BY committed_at, place", []string{"event_staged_order"}, true, nil},
			{"DELETE FROM event_staged", []string{"event_staged_pkey"}, true, nil},
		}, func() {
			f.tell(f.one)
			f.deliver()
		})
	})
	t.Run("recovering", func(t *testing.T) {
		t.Parallel()
		f := newFull(t)
		runner := f.runner()
		from := f.begin.Add(24 * time.Hour)
		j := f.propose(delivery.Recovery{Webhook: f.hook, From: from, To: from.Add(12 * time.Hour), States: delivery.States(), Missed: true})
		f.sentBy(t, []ride{
			{"SELECT DISTINCT due.org_id", []string{"job_due_by_kind", "org_fence_pkey"}, true, nil},
			{"j.org_id = ANY", []string{"job_due_by_kind", "job_pkey"}, true, nil},
			{"FROM job WHERE org_id = $1 AND id = $2 FOR UPDATE", []string{"job_pkey"}, true, nil},
			{"UPDATE job SET state", []string{"job_pkey"}, true, nil},
			{"AND job_id = $2 AND due_at IS NOT NULL", []string{"delivery_by_job"}, true, nil},
			{"SELECT count(*) FROM delivery\n\t\tWHERE org_id = $1 AND webhook_id = $2", []string{"delivery_by_webhook"}, true, nil},
			{"SELECT count(*) FROM event e", []string{"event_by_type"}, true, nil},
			{"UPDATE delivery SET state = CASE", []string{"delivery_by_webhook", "delivery_pkey"}, true, nil},
			{"LEFT JOIN delivery d", []string{"event_pkey"}, true, nil},
			{"INSERT INTO delivery", nil, true, nil},
		}, func() {
			for range 3 {
				require.NoError(t, ignore(runner.Advance(t.Context(), "a")))
				f.clock.Step(time.Second)
			}
			found, err := job.Get(t.Context(), f.tenants, f.one, j.ID)
			require.NoError(t, err)
			require.Equal(t, found.Total, found.Done, "all of it was made")
		})
	})
	t.Run("looking for jobs", func(t *testing.T) {
		t.Parallel()
		f := newFull(t)
		f.sentBy(t, []ride{
			{"SELECT 1 FROM job j", []string{"job_due_by_kind", "org_fence_pkey"}, true, nil},
			{"due_at > $2 AND kind = ANY", []string{"job_due_by_kind"}, true, nil},
		}, func() {
			runner := f.runner()
			runner.Start()
			defer runner.Stop()
			for range 2 { // the first may be found by the first call of its line
				j := f.propose(delivery.Recovery{Webhook: f.hook, From: f.begin, To: f.begin.Add(time.Hour), States: delivery.States()})
				require.Eventually(t, func() bool {
					found, err := job.Get(t.Context(), f.tenants, f.one, j.ID)
					return err == nil && found.State != job.Queued
				}, 20*time.Second, 10*time.Millisecond)
			}
		})
	})
	t.Run("closing", func(t *testing.T) {
		t.Parallel()
		f := newFull(t)
		ctx := context.Background()
		f.sentBy(t, []ride{
			{"UPDATE delivery SET state = 'failed'", []string{"delivery_due", "delivery_pkey"}, true, nil},
			{"FROM delivery d WHERE d.org_id = $1 AND d.id = $2", []string{"delivery_pkey", "webhook_pkey"}, true, nil},
			{"first_attempt_at = NULL", []string{"delivery_pkey"}, true, nil},
			{"UPDATE webhook SET deleted_at", []string{"webhook_pkey"}, true, nil},
		}, func() {
			f.inTx(f.one, func(ctx context.Context, tx *tenant.Tx) error {
				found, err := delivery.Find(ctx, tx, f.delivery)
				if err != nil {
					return err
				}
				return ignore(delivery.Reopen(ctx, tx, found, f.who()))
			})
			require.NoError(t, ignore(delivery.Drain(ctx, f.tenants, f.one, f.hook, f.who())))
			f.inTx(f.one, func(ctx context.Context, tx *tenant.Tx) error {
				return webhook.Delete(ctx, tx, f.hook, managed.API, f.who())
			})
		})
	})
}
