package session_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

// fill gives the shard 20,000 sessions, of which one in a hundred is live and
// few wait to be swept. It answers one of the first organization's.
func (w *world) fill() id.Session {
	w.t.Helper()
	const sessions = 20_000
	ids := make([]id.Session, sessions)
	for i := range ids {
		ids[i] = id.SessionAt(after(i - sessions))
	}
	personas := make([]uuid.UUID, 100)
	for i := range personas {
		personas[i] = uuid.New()
	}
	w.exec(`
		INSERT INTO session (org_id, id, state, kind, source, persona_id, persona_version, avatar_id, voice_id, external_id, metadata, language,
			engine, transport, channel, sandbox, brief, allowed_origins, max_duration_s, idle_timeout_s, created_at, connect_by, turn_count,
			languages_heard, collected, on_hold, flagged, words_until, slot, owner, epoch, orphaned_at, reconnects, portal_id, person_id, room_due_at)
		SELECT CASE WHEN i % 2 = 0 THEN $2::UUID ELSE $3::UUID END, s, CASE WHEN i % 100 = 0 THEN 'live' WHEN i % 1000 = 1 THEN 'created' ELSE 'ended' END,
			'conversation', 'api', ($4::UUID[])[1 + i % 100], 1, s, s, CASE WHEN i % 10 = 0 THEN 'x' || i % 500 END, '{}', 'en',
			'premier', 'websocket', 'video', false, '{}', '{}', 60, 60, $5::TIMESTAMPTZ, $5::TIMESTAMPTZ + INTERVAL '1 day', 2,
			'{}', '{}', false, false, CASE WHEN i % 3 = 0 THEN $5::TIMESTAMPTZ + INTERVAL '30 days' END, i % 100 = 0,
			CASE WHEN i % 100 = 0 THEN $6::UUID END, 1, CASE WHEN i % 1000 = 7 THEN $5::TIMESTAMPTZ END, 0,
			($4::UUID[])[1 + i % 97], ($4::UUID[])[1 + i % 89], CASE WHEN i % 1000 = 1 THEN $5::TIMESTAMPTZ END
		FROM unnest($1::UUID[]) WITH ORDINALITY AS s (s, i)`, ids, w.one, w.two, personas, now, w.other)
	w.exec(`
		INSERT INTO turn (org_id, session_id, ordinal, id, speaker, name, text, spoken, language, origin, started_at, interrupted, redacted, sources,
			tool_calls, timing)
		SELECT s.org_id, s.id, o, s.id, 'user', '', '', '', 'en', 'voice', $1::TIMESTAMPTZ, false, false, '[]', '[]', '{}'
		FROM session s CROSS JOIN generate_series(0, 1) AS g (o)`, now)
	w.exec(`
		INSERT INTO session_token (org_id, hash, session_id, kind, expires_at)
		SELECT org_id, decode(md5(id::TEXT), 'hex'), id, 'resume', $1::TIMESTAMPTZ + INTERVAL '1 day' FROM session`, now)
	w.exec(`
		INSERT INTO session_command (org_id, session_id, id, owner, kind, body)
		SELECT org_id, id, id, CASE WHEN state = 'live' THEN $1::UUID ELSE gen_random_uuid() END, 'steer', '{}' FROM session`, w.other)
	w.exec(`
		INSERT INTO session_staff (org_id, session_id, id, name, mode, joined_at)
		SELECT org_id, id, id, '', 'listen', $1::TIMESTAMPTZ FROM session`, now)
	for _, table := range tables {
		w.exec(`ANALYZE ` + table)
	}
	return ids[len(ids)/2+1]
}

// tables are those that no statement may scan.
var tables = []string{"session", "turn", "session_token", "session_command", "session_staff"}

// ride is how a statement is to be planned: over these indexes and over no
// whole table, whatever its arguments.
type ride struct {
	text    string
	indexes []string
	run     func(ctx context.Context) error
}

// ignore leaves the error of a function that answers something too.
func ignore[T any](_ T, err error) error { return err }

func (w *world) rides(t *testing.T, sent *tenanttest.Statements, r ride) {
	for _, s := range sent.Of(t, r.text, func() error { return r.run(t.Context()) }) {
		forced := s.Forced(t, w.db)
		for _, index := range r.indexes {
			require.Contains(t, forced, " "+index+" ", "%s\n%s", s.SQL, forced)
		}
		for _, plan := range []string{forced, s.Free(t, w.db), s.Generic(t, w.db)} {
			for _, table := range tables {
				require.NotRegexp(t, `Seq Scan on `+table+`( |$)`, plan, "%s\n%s", s.SQL, plan)
			}
		}
	}
}

func TestTheStatementsRideTheirIndexes(t *testing.T) {
	tenants, sent, one, two := tenanttest.NewTraced(t)
	w := worldOf(t, tenants, one, two)
	some := w.fill()
	minted, token := w.mint(now)
	live := w.live(now).Session
	in := func(fn func(context.Context, *tenant.Tx) error) func(context.Context) error {
		return func(ctx context.Context) error { return w.tenants.InTx(ctx, w.one, fn) }
	}
	sweep := func(ctx context.Context) error { return ignore(session.Sweep(ctx, tenants, "a", now)) }
	silent := func(ctx context.Context) error {
		w.exec(`INSERT INTO live_pod (id, address, seen_at, lease_until) VALUES ($1, '', now(), now() - INTERVAL '1 second')`, uuid.New())
		return sweep(ctx)
	}
	cases := map[string]ride{
		"a session": {"FROM session WHERE", []string{"session_pkey"}, func(ctx context.Context) error {
			return ignore(session.Get(ctx, tenants, one, some))
		}},
		"turns": {"FROM turn", []string{"turn_pkey"}, func(ctx context.Context) error {
			return ignore(session.Turns(ctx, tenants, one, some, 1, 50))
		}},
		"staff": {"FROM session_staff", []string{"session_staff_pkey"}, func(ctx context.Context) error {
			return ignore(session.Details(ctx, tenants, one, []id.Session{some, minted.ID}))
		}},
		"whether words are kept": {"AND NOT t.redacted", []string{"turn_pkey"}, func(ctx context.Context) error {
			return ignore(session.Details(ctx, tenants, one, []id.Session{some, minted.ID}))
		}},
		"idle sessions": {"COALESCE(last_activity_at, created_at)", []string{"session_active"}, func(ctx context.Context) error {
			return ignore(session.IdleSince(ctx, tenants, one, session.IdleFilter{Before: now, Now: now}))
		}},
		"live sessions": {"count(*) FROM session s JOIN org_fence", []string{"session_by_owner"}, func(ctx context.Context) error {
			db, err := tenants.Shard(ctx, "a")
			if err != nil {
				return err
			}
			return ignore(session.CountLive(ctx, db))
		}},
		"orders": {"FROM session_command", []string{"session_command_by_owner"}, func(ctx context.Context) error {
			return ignore(session.Orders(ctx, tenants, "a", w.other))
		}},
		"a token": {"FROM session_token", nil, func(ctx context.Context) error {
			_, _, err := session.Admit(ctx, tenants, minted.ID, token)
			return err
		}},
		"the day's sessions": {"count(*) FROM session", []string{"session_by_persona"}, in(func(ctx context.Context, tx *tenant.Tx) error {
			return ignore(session.Mint(ctx, tx, draft(now), w.terms, session.Daily{OfPersona: new(int64(100))}))
		})},
		"the day's sessions of a person": {"person_id = $2", []string{"session_by_person"}, in(func(ctx context.Context, tx *tenant.Tx) error {
			s := draft(now)
			s.Person, s.Portal = id.Person{1}, id.Portal{1}
			return ignore(session.Mint(ctx, tx, s, w.terms, session.Daily{OfPerson: new(int64(100))}))
		})},
		"renewing": {"UPDATE session_token", []string{"session_token_by_session"}, in(func(ctx context.Context, tx *tenant.Tx) error {
			return ignore(session.Renew(ctx, tx, live.ID, live.Epoch, now))
		})},
		"a turn that is kept": {"UPDATE session SET", nil, in(func(ctx context.Context, tx *tenant.Tx) error {
			return session.Keep(ctx, tx, live, turn(0, session.User, "x"), now)
		})},
		"rooms": {"SET room_claim", []string{"session_room_due", "session_pkey"}, func(ctx context.Context) error {
			return ignore(session.ClaimRooms(ctx, tenants, "a", now, 16))
		}},
		"whose rooms": {"SELECT DISTINCT due.org_id", []string{"session_room_due", "org_fence_pkey"}, func(ctx context.Context) error {
			return ignore(session.ClaimRooms(ctx, tenants, "a", now, 16))
		}},
		"expiring":                 {"s.state = 'created'", []string{"session_waiting"}, sweep},
		"orphans":                  {"s.orphaned_at <= ", []string{"session_orphaned"}, sweep},
		"silent processes":         {"WHERE s.owner = $1", []string{"session_by_owner"}, silent},
		"news of silent processes": {"DELETE FROM session_command WHERE (org", []string{"session_command_by_owner"}, silent},
		"words":                    {"s.words_until <= ", []string{"session_words"}, func(ctx context.Context) error { return ignore(session.SweepWords(ctx, tenants, "a", now)) }},
		"answers": {"n.words_until <= ", []string{"inbox_note_words"}, func(ctx context.Context) error {
			db, err := tenants.Shard(ctx, "a")
			if err != nil {
				return err
			}
			for _, sql := range []string{
				`INSERT INTO inbox_note (org_id, item_id, id, author, text, at, words_until)
				SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'visitor', 'x', now(), CASE WHEN n % 1000 = 0 THEN now() END FROM generate_series(1, 5000) n`,
				`ANALYZE inbox_note`,
			} {
				if _, err := db.Exec(ctx, sql); err != nil {
					return err
				}
			}
			return ignore(session.SweepAnswers(ctx, tenants, "a", now))
		}},
		"tokens": {"DELETE FROM session_token", []string{"session_token_by_expiry", "session_token_pkey"}, func(ctx context.Context) error { return ignore(session.SweepTokens(ctx, tenants, "a", now)) }},
	}
	for name, c := range map[string]struct {
		filter session.Filter
		index  string
	}{
		"all":              {session.Filter{}, "session_pkey"},
		"of a persona":     {session.Filter{Persona: id.Persona{1}}, "session_by_persona"},
		"of a caller's id": {session.Filter{ExternalID: new("x1")}, "session_by_external"},
		"of both":          {session.Filter{ExternalID: new("x1"), Persona: id.Persona{1}}, "session_by_external"},
		"of a portal":      {session.Filter{Portal: id.Portal{1}}, "session_by_portal"},
		"of a person":      {session.Filter{Person: id.Person{1}}, "session_by_person"},
		"not over":         {session.Filter{States: []session.State{session.Live}}, "session_active"},
		"of a state":       {session.Filter{States: []session.State{session.Live, session.Ended}}, "session_pkey"},
		"of a time":        {session.Filter{From: after(-100), To: after(100), Language: "en"}, "session_pkey"},
	} {
		for order, ascending := range map[string]bool{"": false, ", oldest first": true} {
			for page, last := range map[string]id.Session{"": {}, ", a further page": some} {
				filter := c.filter
				filter.Ascending = ascending
				cases["sessions "+name+order+page] = ride{"FROM session", []string{c.index}, func(ctx context.Context) error {
					return ignore(session.List(ctx, tenants, one, filter, last, 50))
				}}
			}
		}
	}
	for name, r := range cases {
		t.Run(name, func(t *testing.T) { w.rides(t, sent, r) })
	}
	// Last, since they end what the others look at.
	for name, r := range map[string]ride{
		"the turns of an end":    {"turn ", []string{"turn_pkey"}, nil},
		"the staff of an end":    {"UPDATE session_staff", []string{"session_staff_pkey"}, nil},
		"the tokens of an end":   {"UPDATE session_token", []string{"session_token_by_session"}, nil},
		"the commands of an end": {"DELETE FROM session_command", []string{"session_command_pkey"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := w.live(now).Session
			r.run = in(func(ctx context.Context, tx *tenant.Tx) error {
				return ignore(session.End(ctx, tx, s.ID, session.Ending{Reason: session.Left, At: now}))
			})
			w.rides(t, sent, r)
		})
	}
}
