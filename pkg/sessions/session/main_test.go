package session_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/usage"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// now is when every test begins.
var now = tenanttest.Now

// after is a moment, so many seconds after the beginning.
func after(seconds int) time.Time { return now.Add(time.Duration(seconds) * time.Second) }

// world is a shard with two organizations that have minutes, and two processes
// that run sessions.
type world struct {
	t          *testing.T
	tenants    *tenant.Tenants
	db         *database.DB
	one, two   id.Org
	pod, other uuid.UUID
	terms      plan.Terms
}

func newWorld(t *testing.T) *world {
	t.Helper()
	tenants, one, two := tenanttest.New(t)
	return worldOf(t, tenants, one, two)
}

func worldOf(t *testing.T, tenants *tenant.Tenants, one, two id.Org) *world {
	t.Helper()
	ctx := context.Background()
	w := &world{t: t, tenants: tenants, one: one, two: two, pod: uuid.New(), other: uuid.New()}
	var err error
	w.db, err = tenants.Shard(ctx, "a")
	require.NoError(t, err)
	for _, org := range []id.Org{one, two} {
		require.NoError(t, usage.GrantMinutes(ctx, tenants, org, uuid.New(), 100, now, nil))
	}
	for _, pod := range []uuid.UUID{w.pod, w.other} {
		lives, err := session.KeepPod(ctx, tenants, "a", pod, "pod-"+pod.String()[:8], true)
		require.NoError(t, err)
		require.True(t, lives)
	}
	return w
}

// limited are terms of so many places.
func limited(places int64) plan.Terms {
	return plan.Terms{Limits: plan.Limits{plan.MaxConcurrentSessions: &places}}
}

// inTx runs fn on the first organization's shard.
func (w *world) inTx(fn func(context.Context, *tenant.Tx) error) error {
	return w.tenants.InTx(context.Background(), w.one, fn)
}

// must is inTx of what cannot fail.
func (w *world) must(fn func(context.Context, *tenant.Tx) error) {
	w.t.Helper()
	require.NoError(w.t, w.inTx(fn))
}

func draft(at time.Time, changes ...func(*session.Session)) session.Session {
	s := session.Session{
		ID: id.SessionAt(at), Kind: "conversation", Source: "api", Persona: id.Persona{1}, PersonaVersion: 3, Avatar: id.Avatar{2}, Voice: id.Voice{3},
		Language: "en", Engine: "premier", Transport: "websocket", Channel: "video", MaxDurationS: 1800, IdleTimeoutS: 120, CreatedAt: at,
	}
	for _, change := range changes {
		change(&s)
	}
	return s
}

// tryMint mints a session.
func (w *world) tryMint(s session.Session, daily *int64) (minted session.Session, token session.Token, err error) {
	err = w.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		m, err := session.Mint(ctx, tx, s, w.terms, session.Daily{OfPersona: daily})
		minted, token = m.Session, m.Token
		return err
	})
	return minted, token, err
}

func (w *world) mint(at time.Time, changes ...func(*session.Session)) (session.Session, session.Token) {
	w.t.Helper()
	s, token, err := w.tryMint(draft(at, changes...), nil)
	require.NoError(w.t, err)
	return s, token
}

func (w *world) tryAttach(s id.Session, pod uuid.UUID, at time.Time) (a session.Attached, err error) {
	err = w.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		a, err = session.Attach(ctx, tx, s, pod, w.terms, at)
		return err
	})
	return a, err
}

func (w *world) attach(s id.Session, pod uuid.UUID, at time.Time) session.Attached {
	w.t.Helper()
	a, err := w.tryAttach(s, pod, at)
	require.NoError(w.t, err)
	return a
}

// live is a session that the first process runs since a moment.
func (w *world) live(at time.Time, changes ...func(*session.Session)) session.Attached {
	w.t.Helper()
	s, _ := w.mint(at, changes...)
	a := w.attach(s.ID, w.pod, at)
	require.Equal(w.t, session.Live, a.Session.State)
	return a
}

func (w *world) end(s id.Session, reason session.Reason, at time.Time) (ended session.Session) {
	w.t.Helper()
	w.must(func(ctx context.Context, tx *tenant.Tx) (err error) {
		ended, err = session.End(ctx, tx, s, session.Ending{Reason: reason, At: at})
		return err
	})
	return ended
}

func (w *world) keep(s session.Session, t session.Turn) error {
	return w.inTx(func(ctx context.Context, tx *tenant.Tx) error { return session.Keep(ctx, tx, s, t, t.StartedAt) })
}

// say keeps a turn that has ended.
func (w *world) say(s session.Session, index int64, who session.Speaker, text string) session.Turn {
	w.t.Helper()
	t := turn(index, who, text)
	t.EndedAt = new(t.StartedAt.Add(time.Second))
	require.NoError(w.t, w.keep(s, t))
	return t
}

// turn is a turn that is under way.
func turn(index int64, who session.Speaker, text string) session.Turn {
	return session.Turn{
		ID: id.NewTurn(), Index: index, Speaker: who, Text: text, Language: "en", Origin: session.Voice, StartedAt: after(int(2 * index)),
		Timing: session.Timing{ResponseMs: -1, RetrievalMs: -1, ModelFirstMs: -1},
	}
}

func (w *world) get(s id.Session) session.Session {
	w.t.Helper()
	found, err := session.Get(context.Background(), w.tenants, w.one, s)
	require.NoError(w.t, err)
	return found
}

func (w *world) turns(s id.Session) []session.Turn {
	w.t.Helper()
	found, err := session.Turns(context.Background(), w.tenants, w.one, s, 0, 1000)
	require.NoError(w.t, err)
	return found
}

func (w *world) sweep(at time.Time) int {
	w.t.Helper()
	n, err := session.Sweep(context.Background(), w.tenants, "a", at)
	require.NoError(w.t, err)
	return n
}

// exec runs a statement on the shard.
func (w *world) exec(sql string, args ...any) {
	w.t.Helper()
	_, err := w.db.Exec(context.Background(), sql, args...)
	require.NoError(w.t, err)
}

// count runs a query of one number.
func (w *world) count(sql string, args ...any) (n int64) {
	w.t.Helper()
	require.NoError(w.t, w.db.QueryRow(context.Background(), sql, args...).Scan(&n))
	return n
}

// places are how many places of the first organization are taken.
func (w *world) places() int64 {
	return w.count(`SELECT COALESCE((SELECT value FROM org_counter WHERE org_id = $1 AND name = $2), 0)`, w.one, session.Counter)
}

// leftS are the seconds that the first organization has left.
func (w *world) leftS() int64 {
	return w.count(`SELECT sum(remaining_s)::BIGINT FROM minute_grant WHERE org_id = $1`, w.one)
}

// events are what was recorded of a session, oldest first.
func (w *world) events(s id.Session, types ...event.Type) []event.Event {
	w.t.Helper()
	found, err := event.List(context.Background(), w.tenants, w.one, event.Filter{Session: s, Types: types, Ascending: true}, event.Position{}, 100)
	require.NoError(w.t, err)
	return found
}

func (w *world) types(s id.Session) (types []event.Type) {
	w.t.Helper()
	for _, e := range w.events(s) {
		types = append(types, e.Type)
	}
	return types
}

// fields are an event's.
func fields(t *testing.T, e event.Event) (f map[string]any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(e.Structure, &f))
	return f
}

// silence makes a process fall silent at a moment.
func (w *world) silence(pod uuid.UUID, at time.Time) {
	w.t.Helper()
	w.exec(`UPDATE live_pod SET seen_at = $2, lease_until = now() - INTERVAL '1 second' WHERE id = $1`, pod, at)
}

func (w *world) keepNoWords(on bool) {
	w.t.Helper()
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		return setting.Set(ctx, tx, setting.ZeroRetention, on, "test", now)
	})
}

func (w *world) orders(pod uuid.UUID) (kinds []session.CommandKind) {
	w.t.Helper()
	found, err := session.Orders(context.Background(), w.tenants, "a", pod)
	require.NoError(w.t, err)
	for _, o := range found {
		require.Equal(w.t, w.one, o.Org)
		kinds = append(kinds, o.Command.Kind)
	}
	return kinds
}

func (w *world) order(s id.Session, c session.Command) session.Command {
	w.t.Helper()
	c.ID = id.NewTurn()
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		locked, err := session.Lock(ctx, tx, s)
		if err != nil {
			return err
		}
		return session.Order(ctx, tx, locked, c)
	})
	return c
}

// lost are the writes of an owner, all of which are refused to one that is not.
func (w *world) lost(s session.Session, at time.Time) {
	w.t.Helper()
	for name, write := range map[string]func(context.Context, *tenant.Tx) error{
		"Keep": func(ctx context.Context, tx *tenant.Tx) error {
			return session.Keep(ctx, tx, s, turn(9, session.User, "hi"), at)
		},
		"Pay": func(ctx context.Context, tx *tenant.Tx) error {
			_, err := session.Pay(ctx, tx, s.ID, s.Epoch, 7, w.terms, at)
			return err
		},
		"EndOwn": func(ctx context.Context, tx *tenant.Tx) error {
			_, err := session.EndOwn(ctx, tx, s.ID, s.Epoch, session.Ending{Reason: session.Left, At: at})
			return err
		},
		"Collect": func(ctx context.Context, tx *tenant.Tx) error {
			return session.Collect(ctx, tx, s.ID, s.Epoch, session.Found{Values: map[string]string{"a": "b"}, Outcome: "lead"}, now)
		},
		"Join": func(ctx context.Context, tx *tenant.Tx) error {
			_, err := session.Join(ctx, tx, s.ID, s.Epoch, id.NewStaff(), at)
			return err
		},
		"Leave": func(ctx context.Context, tx *tenant.Tx) error {
			return session.Leave(ctx, tx, s.ID, s.Epoch, id.NewStaff(), at)
		},
		"Active":  func(ctx context.Context, tx *tenant.Tx) error { return session.Active(ctx, tx, s.ID, s.Epoch, at) },
		"Release": func(ctx context.Context, tx *tenant.Tx) error { return session.Release(ctx, tx, s.ID, s.Epoch, at) },
		"Renew": func(ctx context.Context, tx *tenant.Tx) error {
			_, err := session.Renew(ctx, tx, s.ID, s.Epoch, at)
			return err
		},
	} {
		before := w.get(s.ID)
		require.ErrorIs(w.t, w.inTx(write), session.ErrLost, name)
		require.Equal(w.t, before, w.get(s.ID), name)
	}
}
