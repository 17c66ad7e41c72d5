package memory_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/eventing/usage"
	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
	"visavis.dev/pkg/visits/memory"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// world is an organization with a persona that remembers people, and a person.
type world struct {
	t       *testing.T
	tenants *tenant.Tenants
	sent    *tenanttest.Statements
	one     id.Org
	clock   *clocktest.FakeClock
	persona id.Persona
	person  id.Person
	minds   minds
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: clocktest.NewFakeClock(tenanttest.Now)}
	w.tenants, w.sent, w.one, _ = tenanttest.NewTraced(t)
	require.NoError(t, usage.GrantMinutes(context.Background(), w.tenants, w.one, uuid.New(), 1000, w.now(), nil))
	w.persona, w.person = w.newPersona("person"), w.newPerson("adult")
	return w
}

func (w *world) now() time.Time { return w.clock.Now().UTC() }

func (w *world) in(fn func(context.Context, *tenant.Tx) error) {
	w.t.Helper()
	require.NoError(w.t, w.tenants.InTx(context.Background(), w.one, fn))
}

func (w *world) exec(sql string, args ...any) {
	w.t.Helper()
	db, err := w.tenants.Shard(context.Background(), "a")
	require.NoError(w.t, err)
	_, err = db.Exec(context.Background(), sql, args...)
	require.NoError(w.t, err)
}

func (w *world) newPersona(remembers string) id.Persona {
	p := id.NewPersona()
	definition := map[string]any{"privacy": map[string]any{"memory": remembers}}
	w.exec(`
		INSERT INTO persona (org_id, id, name, kind, avatar_id, voice_id, definition, version, created_at, updated_at)
		VALUES ($1, $2, 'Mira', 'standard', $2, $2, $3, 1, $4, $4)`, w.one, p, definition, w.now())
	w.exec(`
		INSERT INTO persona_version (org_id, persona_id, version, name, avatar_id, voice_id, definition, created_by, created_at)
		VALUES ($1, $2, 1, 'Mira', $2, $2, $3, 'test', $4)`, w.one, p, definition, w.now())
	return p
}

func (w *world) newPerson(age string) id.Person {
	p := id.NewPerson()
	w.exec(`
		INSERT INTO person (org_id, id, name, age_band, state, metadata, edition, created_at, updated_at)
		VALUES ($1, $2, 'Kim', $3, 'active', '{}', 1, $4, $4)`, w.one, p, age, w.now())
	return p
}

func (w *world) set(k setting.Key, v setting.Value) {
	w.t.Helper()
	w.in(func(ctx context.Context, tx *tenant.Tx) error { return setting.Set(ctx, tx, k, v, "test", w.now()) })
}

// talk is a session in which the person says something and a goal learns
// something. It is over, and nothing was remembered yet.
func (w *world) talk(said string, collected map[string]string, changes ...func(*session.Session)) session.Session {
	w.t.Helper()
	s := session.Session{
		ID: id.SessionAt(w.now()), Kind: "conversation", Source: "portal", Persona: w.persona, PersonaVersion: 1, Avatar: id.Avatar{2}, Voice: id.Voice{3},
		Language: "en", Engine: "premier", Transport: "websocket", Channel: "chat", MaxDurationS: 1800, IdleTimeoutS: 120, CreatedAt: w.now(), Person: w.person,
	}
	for _, change := range changes {
		change(&s)
	}
	w.in(func(ctx context.Context, tx *tenant.Tx) error {
		m, err := session.Mint(ctx, tx, s, plan.Terms{}, session.Daily{})
		s = m.Session
		return err
	})
	w.in(func(ctx context.Context, tx *tenant.Tx) error {
		a, err := session.Attach(ctx, tx, s.ID, uuid.New(), plan.Terms{}, w.now())
		s = a.Session
		return err
	})
	turn := session.Turn{ID: id.NewTurn(), Speaker: session.User, Text: said, Language: "en", Origin: session.Typed, StartedAt: w.now(), EndedAt: new(w.now())}
	w.in(func(ctx context.Context, tx *tenant.Tx) error { return session.Keep(ctx, tx, s, turn, w.now()) })
	w.in(func(ctx context.Context, tx *tenant.Tx) error {
		return session.Collect(ctx, tx, s.ID, s.Epoch, session.Found{Values: collected}, time.Now())
	})
	w.in(func(ctx context.Context, tx *tenant.Tx) (err error) {
		s, err = session.End(ctx, tx, s.ID, session.Ending{Reason: session.Left, At: w.now()})
		return err
	})
	return s
}

// remember makes the jobs that are due and answers how many.
func (w *world) remember() int {
	w.t.Helper()
	writer := &memory.Writer{Tenants: w.tenants, Minds: w.minds, Clock: w.clock, Log: slog.New(slog.DiscardHandler)}
	runner := &job.Runner{
		Tenants: w.tenants, Works: map[job.Kind]job.Work{job.MemoryWrite: writer.Work()},
		Shards: func(context.Context) ([]string, error) { return []string{"a"}, nil },
		Clock:  w.clock, Log: slog.New(slog.DiscardHandler),
	}
	made := 0
	for {
		n, err := runner.Advance(context.Background(), "a")
		require.NoError(w.t, err)
		if made += n; n == 0 {
			return made
		}
	}
}

// recall is what the persona remembers of the person.
func (w *world) recall(changes ...func(*session.Session)) []string {
	w.t.Helper()
	s := session.Session{Persona: w.persona, Person: w.person}
	for _, change := range changes {
		change(&s)
	}
	lines, err := memory.Recall(context.Background(), w.tenants, w.one, s, w.now())
	require.NoError(w.t, err)
	return lines
}

func (w *world) list() []memory.Memory {
	w.t.Helper()
	found, err := memory.List(context.Background(), w.tenants, w.one, w.persona, id.Person{}, id.Person{}, 100, w.now())
	require.NoError(w.t, err)
	return found
}

func (w *world) events(types ...event.Type) []event.Event {
	w.t.Helper()
	found, err := event.List(context.Background(), w.tenants, w.one, event.Filter{Types: types, Ascending: true}, event.Position{}, 100)
	require.NoError(w.t, err)
	return found
}

// minds give every persona a model that answers the same, or fails.
type minds struct {
	answer string
	fails  bool
}

func (minds) Knowledge(id.Org) conversation.Knowledge { return nil }

func (m minds) Furnish(_ context.Context, _ id.Org, c *conversation.Config) error {
	if m.answer != "" || m.fails {
		c.Model = m
	}
	return nil
}

func (m minds) Stream(_ context.Context, _ model.Request, each func(model.Piece) error) error {
	if m.fails {
		return errors.New("out of order")
	}
	return each(model.Piece{Text: m.answer})
}
