package notify_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/event/eventtest"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/dispatch"
	"visavis.dev/pkg/provider/slack/slacktest"
	"visavis.dev/pkg/provider/teams/teamstest"
	"visavis.dev/pkg/provider/zendesk/zendesktest"
	"visavis.dev/pkg/sessions/exchange"
	"visavis.dev/pkg/sessions/exchange/exchangetest"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/notice"
	"visavis.dev/pkg/sessions/notify"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// bench is an organization whose people are told what visitors leave.
type bench struct {
	t          *testing.T
	tenants    *tenant.Tenants
	org        id.Org
	vault      *vault.Vault
	clock      *clocktest.FakeClock
	report     *connection.Reporter
	work       job.Background
	resume     job.Background
	connection id.Connection
	// told says whether the words of conversations may be sent, and summary how they are summed up.
	told    bool
	summary *string
}

func newBench(t *testing.T, g *egress.Guard) *bench {
	t.Helper()
	b := &bench{t: t, clock: clocktest.NewFakeClock(tenanttest.Now), told: true}
	b.tenants, b.org, _ = tenanttest.New(t)
	var err error
	b.vault, err = vault.New(vault.NewKey())
	require.NoError(t, err)
	b.report = &connection.Reporter{Tenants: b.tenants, Clock: b.clock, Log: slog.New(slog.DiscardHandler)}
	teller := &notify.Teller{
		Tenants: b.tenants, Opener: connection.NewOpener(b.tenants, b.vault, b.clock), Egress: g, Clock: b.clock, Report: b.report,
		Spoken: func(context.Context, id.Org, id.Session) (bool, *string, error) { return b.told, b.summary, nil },
	}
	b.work = teller.Background()
	maps.Copy(b.work.Works, exchange.New(dispatch.New(teller.Opener, b.clock, dispatch.Patience{Away: time.Hour, Longest: time.Minute}),
		map[connection.Kind]exchange.Pass{connection.Helpdesk: teller.Pass}).Background().Works)
	b.resume = dispatch.Resumer{connection.Slack: notice.ResumeSome, connection.Teams: notice.ResumeSome, connection.Zendesk: notice.ResumeSome}.Background()
	return b
}

// connect makes a connection.
func (b *bench) connect(k connection.Kind, p connection.Provider, config connection.Config, secret connection.Secret) id.Connection {
	b.t.Helper()
	offer, ok := connection.FindOffer(k, p)
	require.True(b.t, ok)
	if config == nil {
		config = connection.Config{}
	}
	require.NoError(b.t, offer.Check(config))
	c := connection.New(offer, "Desk", config, secret, b.now())
	c.State, c.TimeoutMs = connection.Active, 5000
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Create(ctx, tx, b.vault, c, secret, b.who())
	})
	b.connection = c.ID
	return c.ID
}

func newSlack(t *testing.T, config connection.Config) (*bench, *slacktest.Server) {
	t.Helper()
	s := slacktest.Start()
	t.Cleanup(s.Close)
	b := newBench(t, s.Guard())
	b.connect(connection.Chat, connection.Slack, config, connection.Secret(s.Hook()))
	return b, s
}

func newTeams(t *testing.T, config connection.Config) (*bench, *teamstest.Server) {
	t.Helper()
	s := teamstest.Start()
	t.Cleanup(s.Close)
	b := newBench(t, s.Guard())
	b.connect(connection.Chat, connection.Teams, config, connection.Secret(s.Hook()))
	return b, s
}

func newZendesk(t *testing.T, changes connection.Config) (*bench, *zendesktest.Server) {
	t.Helper()
	s := zendesktest.Start()
	t.Cleanup(s.Close)
	config := connection.Config{"baseUrl": s.URL, "email": zendesktest.Email}
	maps.Copy(config, changes)
	b := newBench(t, s.Guard())
	s.Set(func(s *zendesktest.Server) { s.Now = b.clock.Now })
	b.connect(connection.Helpdesk, connection.Zendesk, config, zendesktest.Token)
	return b, s
}

func (b *bench) now() time.Time { return b.clock.Now().UTC() }

func (b *bench) who() activity.Actor { return activity.Actor{By: "test", At: b.now()} }

func (b *bench) inTx(fn func(context.Context, *tenant.Tx) error) {
	b.t.Helper()
	require.NoError(b.t, b.tenants.InTx(context.Background(), b.org, fn))
}

// leaves has a visitor leave something of a kind.
func (b *bench) leaves(k inbox.Kind, changes ...func(*inbox.Item)) (i inbox.Item) {
	b.t.Helper()
	b.clock.Step(2 * time.Second)
	name, email, need := "Kim Lee", "kim@example.com", "A guide <b>for</b> 20 & more"
	i.Contact, i.Language, i.Urgency, i.Words = &inbox.Contact{Name: &name, Email: &email}, "en", inbox.NormalUrgency, inbox.Words{Need: &need}
	for _, change := range changes {
		change(&i)
	}
	if k == inbox.Lead {
		b.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
			i, err = inbox.Enter(ctx, tx, i, nil, b.who())
			return err
		})
		return i
	}
	s := id.NewSession()
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return inbox.Capture(ctx, tx, inbox.Origin{Session: s, Channel: "video", Language: "en"},
			inbox.Left{Kind: k, Contact: *i.Contact, Words: i.Words, RequestedBy: inbox.ByVisitor}, b.now())
	})
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		which, err := inbox.OfHandoff(ctx, tx, s)
		if err != nil {
			return err
		}
		i, err = inbox.Find(ctx, tx, which)
		return err
	})
	return i
}

// change changes an item.
func (b *bench) change(which id.InboxItem, change func(*inbox.Item)) {
	b.t.Helper()
	b.clock.Step(time.Second)
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return exchangetest.Change(ctx, tx, which, change, b.who())
	})
}

func state(s inbox.State) func(*inbox.Item) { return func(i *inbox.Item) { i.State = s } }

func (b *bench) note(which id.InboxItem, text string) {
	b.t.Helper()
	b.clock.Step(time.Second)
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := inbox.AddNote(ctx, tx, which, text, b.who())
		return err
	})
}

func (b *bench) forget(which id.InboxItem) {
	b.t.Helper()
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error { return exchangetest.Forget(ctx, tx, which, b.who()) })
}

// queued are the jobs that are due, oldest first.
func (b *bench) queued() (all []job.Job) {
	b.t.Helper()
	b.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		all, err = tenant.AllIn(ctx, tx, func(row pgx.CollectableRow) (j job.Job, err error) {
			j.Org = b.org
			return j, row.Scan(&j.ID, &j.Kind, &j.Input, &j.Progress)
		}, `SELECT id, kind, input, progress FROM job WHERE org_id = $1 AND due_at <= $2 AND kind IN ('inbox_tell', 'connection_resume') ORDER BY id`, tx.Org, b.now())
		return err
	})
	return all
}

// prepare asks the service for a job, and answers what is left to commit.
func (b *bench) prepare(j job.Job) (commit func()) {
	b.t.Helper()
	step := b.resume.Steps[j.Kind]
	if step == nil {
		var err error
		step, err = b.work.Works[j.Kind].Prepare(context.Background(), j)
		require.NoError(b.t, err)
	}
	return func() {
		b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			wait, err := step(ctx, tx, &j, b.now())
			if err != nil {
				return err
			}
			if j.State.Ended() {
				_, err = tx.Exec(ctx, `DELETE FROM job WHERE org_id = $1 AND id = $2`, tx.Org, j.ID)
				return err
			}
			_, err = tx.Exec(ctx, `UPDATE job SET progress = $3, due_at = $4 WHERE org_id = $1 AND id = $2`, tx.Org, j.ID, j.Progress, b.now().Add(wait))
			return err
		})
	}
}

// tell makes the steps that are due until none is.
func (b *bench) tell() {
	b.t.Helper()
	for range 100 {
		due := b.queued()
		if len(due) == 0 {
			return
		}
		for _, j := range due {
			b.prepare(j)()
		}
	}
	require.Fail(b.t, "the jobs do not end")
}

// tellFor makes the steps of some time.
func (b *bench) tellFor(all time.Duration) {
	b.t.Helper()
	for until := b.now().Add(all); b.now().Before(until); b.clock.Step(min(all/200, 10*time.Minute)) {
		b.tell()
	}
}

// untold are the troubles of what is not told.
func (b *bench) untold() (troubles []string) {
	b.t.Helper()
	all, err := notice.Untold(context.Background(), b.tenants, b.org, b.connection)
	require.NoError(b.t, err)
	for _, n := range all {
		troubles = append(troubles, n.Trouble)
	}
	return troubles
}

// settle gives the connection another secret.
func (b *bench) settle(secret string) {
	b.t.Helper()
	b.clock.Step(2 * time.Second)
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		c, err := connection.Lock(ctx, tx, b.connection)
		if err != nil {
			return err
		}
		_, err = connection.Configure(ctx, tx, b.vault, c, connection.Change{Secret: new(connection.Secret(secret))}, b.who())
		return err
	})
	b.clock.Step(2 * time.Second)
}

// configure gives the connection another config.
func (b *bench) configure(c connection.Config) {
	b.t.Helper()
	b.clock.Step(2 * time.Second)
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		was, err := connection.Lock(ctx, tx, b.connection)
		if err != nil {
			return err
		}
		config := maps.Clone(was.Config)
		maps.Copy(config, c)
		_, err = connection.Configure(ctx, tx, b.vault, was, connection.Change{Config: &config}, b.who())
		return err
	})
	b.clock.Step(2 * time.Second)
}

// failures are the events that the connection failed.
func (b *bench) failures() int {
	b.t.Helper()
	b.report.Flush(b.t.Context())
	return len(eventtest.Log(b.t, b.tenants, b.org, event.ConnectionFailed))
}

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if len(header) == 2 {
			w.Header().Set(header[0], header[1])
		}
		w.WriteHeader(code)
	}
}

func says(code int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = w.Write([]byte(text))
	}
}

// zeroRetention switches it on.
func (b *bench) zeroRetention() {
	b.t.Helper()
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO setting (org_id, scope_kind, scope_id, key, value, changed_by, changed_at)
			VALUES ($1, 'organization', '', 'privacy.zero_data_retention', $2, 'test', $3)`, tx.Org, json.RawMessage("true"), b.now())
		return err
	})
}
