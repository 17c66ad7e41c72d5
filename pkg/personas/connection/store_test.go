package connection_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

const secretOne, secretTwo connection.Secret = "sk-one-0123456789abcdef", "sk-two-0123456789abcdef"

func TestOpening(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	c := s.add(s.one, secretOne)
	open := func(org id.Org, at time.Time) ([]connection.Secret, error) {
		o, err := connection.Open(ctx, s.tenants, s.vault, org, c.ID, at)
		return o.Secrets, err
	}
	secrets, err := open(s.one, now)
	require.NoError(t, err)
	require.Equal(t, []connection.Secret{secretOne}, secrets)
	_, err = open(s.two, now)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: connection.Noun})

	rotate := func(secret connection.Secret, until time.Time) {
		require.NoError(t, s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) error {
			return connection.ReplaceSecret(ctx, tx, s.vault, c.ID, secret, until)
		}))
	}
	rotate(secretTwo, now.Add(time.Minute))
	secrets, err = open(s.one, now.Add(59*time.Second))
	require.NoError(t, err)
	require.Equal(t, []connection.Secret{secretTwo, secretOne}, secrets)
	secrets, err = open(s.one, now.Add(time.Minute))
	require.NoError(t, err)
	require.Equal(t, []connection.Secret{secretTwo}, secrets)
	rotate(secretOne, time.Time{})
	secrets, err = open(s.one, now)
	require.NoError(t, err)
	require.Equal(t, []connection.Secret{secretOne}, secrets)

	// A sealed secret is good in its place alone.
	other := s.add(s.two, secretTwo)
	shard, err := s.tenants.Shard(ctx, "a")
	require.NoError(t, err)
	_, err = shard.Exec(ctx, `UPDATE connection SET secret = (SELECT secret FROM connection WHERE id = $1) WHERE id = $2`, other.ID, c.ID)
	require.NoError(t, err)
	_, err = open(s.one, now)
	require.Error(t, err)

	none := s.add(s.one, "")
	o, err := connection.Open(ctx, s.tenants, s.vault, s.one, none.ID, now)
	require.NoError(t, err)
	require.Empty(t, o.Secrets)
	require.False(t, o.SecretSet)
}

func TestAnOpenerSeesChangesSoon(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	clock := clocktest.NewFakeClock(now)
	opener := connection.NewOpener(s.tenants, s.vault, clock)
	c := s.add(s.one, secretOne, active)
	o, err := opener.Open(ctx, s.one, c.ID)
	require.NoError(t, err)
	require.Equal(t, connection.Active, o.State)
	c.State = connection.Disabled
	require.NoError(t, s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) error { return connection.Update(ctx, tx, c) }))
	clock.Step(2 * time.Second)
	_, err = opener.Open(ctx, s.one, c.ID)
	require.ErrorIs(t, err, connection.ErrDisabled)
	_, err = opener.Open(ctx, s.two, c.ID)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: connection.Noun})
}

func TestWhoIsUsedIsNotDeleted(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	a, b := s.add(s.one, secretOne), s.add(s.one, secretTwo)
	persona, voice, portal, schedule, pack := id.NewPersona(), id.NewVoice(), id.NewPortal(), id.NewSchedule(), id.NewKnowledgeBase()
	uses := func(u connection.User, connections ...id.Connection) error {
		return s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) error { return connection.SetUses(ctx, tx, u, connections...) })
	}
	remove := func(org id.Org, c id.Connection) error {
		return s.inTx(org, func(ctx context.Context, tx *tenant.Tx) error {
			return connection.Delete(ctx, tx, c, id.Connection{}, activity.Actor{By: "test", At: now})
		})
	}
	require.NoError(t, uses(connection.ByPersona(persona), a.ID, b.ID))
	require.NoError(t, uses(connection.ByVoice(voice), a.ID))
	require.NoError(t, uses(connection.ByPortal(portal), a.ID))
	require.NoError(t, uses(connection.BySchedule(schedule), a.ID))
	require.NoError(t, uses(connection.ByKnowledgeBase(pack), a.ID))
	require.NoError(t, uses(connection.ByPersona(persona), a.ID), "the other is let go")
	require.Equal(t, connection.Uses{
		Personas: []id.Persona{persona}, Voices: []id.Voice{voice}, Portals: []id.Portal{portal}, Schedules: []id.Schedule{schedule},
		Bases: []id.KnowledgeBase{pack},
	}, s.get(s.one, a.ID).UsedBy)
	require.Empty(t, s.get(s.one, b.ID).UsedBy.Personas)

	var inUse *errdefs.Conflict
	require.ErrorAs(t, remove(s.one, a.ID), &inUse)
	require.Equal(t, "The connection is used by 1 personas, 1 voices, 1 portals, 1 schedules, 1 knowledge packs and 0 live sessions.", inUse.Message)
	require.ErrorIs(t, remove(s.two, a.ID), errdefs.NotFound{Noun: connection.Noun})
	require.NoError(t, uses(connection.ByKnowledgeBase(pack)))
	require.NoError(t, uses(connection.ByPersona(persona)))
	require.NoError(t, uses(connection.ByVoice(voice)))
	require.NoError(t, uses(connection.ByPortal(portal)))
	require.NoError(t, uses(connection.BySchedule(schedule)))
	require.NoError(t, remove(s.one, a.ID))
	require.ErrorIs(t, remove(s.one, a.ID), errdefs.Gone{Noun: connection.Noun})
	_, err := connection.Get(ctx, s.tenants, s.one, a.ID)
	require.ErrorIs(t, err, errdefs.Gone{Noun: connection.Noun})
	require.ErrorIs(t, uses(connection.ByPersona(persona), a.ID), errdefs.Gone{Noun: connection.Noun})
	require.ErrorIs(t, uses(connection.ByPersona(persona), id.NewConnection()), errdefs.NotFound{Noun: connection.Noun})

	n, err := connection.Sweep(ctx, s.tenants, "a", now.Add(89*24*time.Hour))
	require.NoError(t, err)
	require.Zero(t, n)
	n, err = connection.Sweep(ctx, s.tenants, "a", now.Add(91*24*time.Hour))
	require.NoError(t, err)
	require.Equal(t, 1, n)
	_, err = connection.Get(ctx, s.tenants, s.one, a.ID)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: connection.Noun})
}

// Several processes see the same outage at once: it is told once, and again
// only after it was over.
func TestAnOutageIsToldOnce(t *testing.T) {
	s := newStore(t)
	c := s.add(s.one, secretOne, active)
	clock := clocktest.NewFakeClock(now.Add(time.Minute))
	var reporters []*connection.Reporter
	for range 4 {
		reporters = append(reporters, &connection.Reporter{Tenants: s.tenants, Clock: clock, Log: slog.New(slog.DiscardHandler)})
	}
	all := func(code upstream.Code) {
		var group sync.WaitGroup
		for _, r := range reporters {
			for range 3 {
				r.Report(s.one, c.ID, connection.Outcome{At: clock.Now(), Name: "chat", Took: 20 * time.Millisecond, Code: code})
			}
			group.Go(func() { r.Flush(context.Background()) })
		}
		group.Wait()
		clock.Step(time.Second)
	}
	all(upstream.Timeout)
	require.Equal(t, connection.Failing, s.get(s.one, c.ID).State)
	require.EqualValues(t, 12, s.get(s.one, c.ID).Health.Failures)
	all(upstream.Unavailable)
	require.Equal(t, 1, s.told(s.one, "connection.failed"))
	all("")
	got := s.get(s.one, c.ID)
	require.Equal(t, connection.Active, got.State)
	require.EqualValues(t, 20, got.Health.P95Ms)
	require.Equal(t, 1, s.told(s.one, "connection.failed"))
	all(upstream.Refused)
	require.Equal(t, 2, s.told(s.one, "connection.failed"))
	require.Zero(t, s.told(s.two, "connection.failed"))
}

func TestTheLastCallsAreKept(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	c := s.add(s.one, secretOne, active)
	clock := clocktest.NewFakeClock(now.Add(time.Hour))
	r := &connection.Reporter{Tenants: s.tenants, Clock: clock, Log: slog.New(slog.DiscardHandler)}
	for i := range 250 {
		r.Report(s.one, c.ID, connection.Outcome{At: now.Add(time.Duration(i) * time.Second), Name: "chat", Status: i, Took: time.Duration(i) * time.Millisecond})
		if i%60 == 0 {
			r.Flush(ctx)
		}
	}
	r.Report(s.one, id.NewConnection(), connection.Outcome{At: now, Name: "chat"})
	r.Flush(ctx)
	calls, err := connection.Calls(ctx, s.tenants, s.one, c.ID, id.Call{}, connection.KeptCalls)
	require.NoError(t, err)
	require.Len(t, calls, connection.KeptCalls)
	require.EqualValues(t, 249, calls[0].Status)
	require.EqualValues(t, 150, calls[99].Status)
	require.EqualValues(t, 244, s.get(s.one, c.ID).Health.P95Ms)
	_, err = connection.Calls(ctx, s.tenants, s.two, c.ID, id.Call{}, connection.KeptCalls)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: connection.Noun})
	require.NoError(t, s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Delete(ctx, tx, c.ID, id.Connection{}, activity.Actor{By: "test", At: now})
	}))
	var n int
	require.NoError(t, s.tenants.Read(ctx, s.one, func(r *tenant.Reads) {
		r.QueryRow(new(bool), []any{&n}, `SELECT count(*) FROM connection_call WHERE org_id = $1`, s.one)
	}))
	require.Zero(t, n, "its calls are gone with it")
}

func TestReportsWaitForTheDatabase(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	c := s.add(s.one, secretOne, active)
	r := &connection.Reporter{Tenants: s.tenants, Clock: clocktest.NewFakeClock(now), Log: slog.New(slog.DiscardHandler)}
	r.Report(s.one, c.ID, connection.Outcome{At: now.Add(1), Name: "chat", Code: upstream.Timeout})
	gone, cancel := context.WithCancel(ctx)
	cancel()
	r.Flush(gone)
	require.Zero(t, s.get(s.one, c.ID).Health.Failures)
	r.Start()
	r.Stop()
	require.EqualValues(t, 1, s.get(s.one, c.ID).Health.Failures, "the last are written at the end")
}

func TestLists(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	a, b := s.add(s.one, secretOne), s.add(s.one, "", active)
	s.add(s.two, secretTwo)
	list := func(f connection.Filter, after id.Connection, limit int) (ids []id.Connection) {
		found, err := connection.List(ctx, s.tenants, s.one, f, after, limit)
		require.NoError(t, err)
		for _, c := range found {
			ids = append(ids, c.ID)
		}
		return ids
	}
	require.Equal(t, []id.Connection{b.ID, a.ID}, list(connection.Filter{}, id.Connection{}, 10))
	require.Equal(t, []id.Connection{a.ID}, list(connection.Filter{}, b.ID, 10))
	require.Equal(t, []id.Connection{b.ID}, list(connection.Filter{State: connection.Active}, id.Connection{}, 10))
	require.Empty(t, list(connection.Filter{Kind: connection.Media}, id.Connection{}, 10))
	require.Equal(t, "cdef", s.get(s.one, a.ID).SecretLast4)

	_, err := connection.FirstThatClones(ctx, s.tenants, s.one)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: connection.Noun})
	clones := s.add(s.one, secretOne, active, func(c *connection.Connection) {
		c.Kind, c.Provider, c.Config = connection.Speech, connection.ElevenLabs, connection.Config{}
	})
	found, err := connection.FirstThatClones(ctx, s.tenants, s.one)
	require.NoError(t, err)
	require.Equal(t, clones.ID, found.ID)

	_, err = connection.OldestMedia(ctx, s.tenants, s.one)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: connection.Noun})
	media := func(state connection.State) connection.Connection {
		return s.add(s.one, secretOne, func(c *connection.Connection) {
			c.Kind, c.Provider, c.State, c.Config = connection.Media, connection.LiveKit, state, connection.Config{"url": "wss://m.example", "apiKey": "k"}
		})
	}
	media(connection.Disabled)
	oldest := media(connection.Failing)
	media(connection.Active)
	found, err = connection.OldestMedia(ctx, s.tenants, s.one)
	require.NoError(t, err)
	require.Equal(t, oldest.ID, found.ID, "one that fails is stood in for by its own rule")
}

func TestListsRideTheirIndexes(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	c := s.add(s.one, secretOne)
	shard, err := s.tenants.Shard(ctx, "a")
	require.NoError(t, err)
	for name, test := range map[string]struct {
		text, index string
		run         func() error
	}{
		"connections": {"FROM connection c", "connection_pkey", func() error {
			_, err := connection.List(ctx, s.tenants, s.one, connection.Filter{}, id.Connection{}, 50)
			return err
		}},
		"clones": {"c.provider = ANY", "connection_pkey", func() error {
			_, err := connection.FirstThatClones(ctx, s.tenants, s.one)
			if errdefs.IsNotFound(err, connection.Noun) {
				err = nil
			}
			return err
		}},
		"the oldest media server": {"c.state <> ", "connection_pkey", func() error {
			_, err := connection.OldestMedia(ctx, s.tenants, s.one)
			if errdefs.IsNotFound(err, connection.Noun) {
				err = nil
			}
			return err
		}},
		"calls": {"FROM connection_call", "connection_call_pkey", func() error {
			_, err := connection.Calls(ctx, s.tenants, s.one, c.ID, id.Call{}, connection.KeptCalls)
			return err
		}},
		"predecessors": {"deleted_at IS NOT NULL", "connection_pkey", func() error {
			return s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) error {
				_, err := connection.Predecessors(ctx, tx, c)
				return err
			})
		}},
		"links": {"FROM connection_link", "connection_link_pkey", func() error {
			_, err := connection.Links(ctx, s.tenants, s.one, c.ID, []id.InboxItem{{1}})
			return err
		}},
		"linked": {"FROM connection_link", "connection_link_pkey", func() error {
			_, err := connection.Linked(ctx, s.tenants, s.one, c.ID, id.InboxItem{1}, 10)
			return err
		}},
		"forgotten links": {"UPDATE connection_link SET", "connection_link_pkey", func() error {
			return s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) error {
				return connection.ForgetLinks(ctx, tx, id.InboxItem{1})
			})
		}},
		"followers": {"FROM connection WHERE", "connection_pkey", func() error {
			return s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) error {
				_, err := connection.Followers(ctx, tx, connection.CRM)
				return err
			})
		}},
		"uses": {"FROM connection_use WHERE", "connection_use_by_user", func() error {
			return s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) error {
				return connection.SetUses(ctx, tx, connection.ByPersona(id.NewPersona()))
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, statement := range s.sent.Of(t, test.text, test.run) {
				plan := statement.Forced(t, shard)
				require.Contains(t, plan, test.index, "%s\n%s", statement.SQL, plan)
				require.NotContains(t, plan, "Seq Scan on connection", "%s", statement.SQL)
			}
		})
	}
}

// Other links of the same are found without a look through all of a connection.
func TestLinksOfTheSame(t *testing.T) {
	s := newStore(t)
	shard, err := s.tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	c := id.NewConnection()
	_, err = shard.Exec(t.Context(), `
		INSERT INTO connection_link (org_id, connection_id, item_id, external_id, edition, updated_at)
		SELECT $1, $2, gen_random_uuid(), n::TEXT, 1, now() FROM generate_series(1, 2000) n`, s.one, c)
	require.NoError(t, err)
	_, err = shard.Exec(t.Context(), `ANALYZE connection_link`)
	require.NoError(t, err)
	for _, statement := range s.sent.Of(t, "UPDATE connection_link SET", func() error {
		return s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) error {
			return connection.SaveLinks(ctx, tx, c, []connection.Link{{Item: id.InboxItem{1}, External: "1", Theirs: map[string]string{"phone": "x"}}}, time.Now())
		})
	}) {
		require.Contains(t, statement.Forced(t, shard), "connection_link_by_external", statement.SQL)
	}
	for _, statement := range s.sent.Of(t, "theirs IS NULL", func() error {
		return s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) error {
			found, err := connection.ForgottenIn(ctx, tx, c, []string{"1", "2"})
			require.Len(t, found, 2)
			return err
		})
	}) {
		require.Contains(t, statement.Forced(t, shard), "connection_link_by_external", statement.SQL)
	}
	for _, statement := range s.sent.Of(t, "theirs <> '{}'", func() error {
		found, err := connection.Compared(t.Context(), s.tenants, s.one, c, []string{"1", "2"})
		require.Len(t, found, 1, "of the other nothing was compared")
		return err
	}) {
		require.Contains(t, statement.Forced(t, shard), "connection_link_by_external", statement.SQL)
	}
}
