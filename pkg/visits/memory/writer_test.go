package memory_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/admission/admissiontest"
	"visavis.dev/pkg/visits/memory"
)

func (w *world) caller() activity.Actor { return activity.Actor{By: "test", At: w.now()} }

func TestAPersonIsRemembered(t *testing.T) {
	w := newWorld(t)
	portal, subject, place := id.NewPortal(), id.NewSubject(), id.NewMembership()
	s := w.talk("Hello. I live in Bern.", map[string]string{"name": "Kim"}, func(s *session.Session) {
		s.Portal, s.Subject, s.Membership = portal, subject, place
	})
	require.Nil(t, w.recall(), "not before its job was done")
	require.Equal(t, 1, w.remember())
	require.Equal(t, []string{"name: Kim", "I live in Bern."}, w.recall())
	written := w.now()

	told := w.events(event.MemoryWritten)
	require.Len(t, told, 1)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(told[0].Structure, &fields))
	m := w.list()[0]
	require.Equal(t, map[string]any{
		"memoryId": m.ID.String(), "personId": w.person.String(), "membershipId": place.String(), "portalId": portal.String(), "subjectId": subject.String(),
		"sessionId": s.ID.String(), "itemCount": 2.0, "writtenAt": written.Format(time.RFC3339), "expiresAt": written.Add(memory.Kept).Format(time.RFC3339),
	}, fields)
	require.NotContains(t, string(told[0].Structure), "Bern")
	require.Empty(t, w.events(event.JobCompleted), "the platform's own business")
	jobs, err := job.List(context.Background(), w.tenants, w.one, job.Filter{}, id.Job{}, 10)
	require.NoError(t, err)
	require.Empty(t, jobs)

	w.clock.Step(time.Hour)
	w.talk("I prefer mornings.", map[string]string{"name": "Kim Meier"})
	w.remember()
	require.Equal(t, []string{"name: Kim Meier", "I prefer mornings.", "I live in Bern."}, w.recall())
	require.Equal(t, m.ID, w.list()[0].ID, "the same memory, refreshed")
	w.clock.Step(time.Hour)
	w.talk("Bye.", nil)
	w.remember()
	require.Len(t, w.events(event.MemoryWritten), 3)
	require.Equal(t, w.now().Add(memory.Kept), w.list()[0].ExpiresAt.UTC(), "whoever comes again is remembered for longer")

	other := w.newPersona("person")
	require.Nil(t, w.recall(func(s *session.Session) { s.Persona = other }), "another persona does not know them")
	require.Nil(t, w.recall(func(s *session.Session) { s.Person = id.Person{} }))
}

func TestWhatIsNotRemembered(t *testing.T) {
	w := newWorld(t)
	forgetful, child, erased := w.newPersona("off"), w.newPerson("13_15"), w.newPerson("adult")
	w.exec(`UPDATE person SET state = 'erased' WHERE id = $1`, erased)
	for name, c := range map[string]struct {
		change func(*session.Session)
		jobs   int
	}{
		"nobody":              {func(s *session.Session) { s.Person = id.Person{} }, 0},
		"a forgetful persona": {func(s *session.Session) { s.Persona = forgetful }, 0},
		"a test":              {func(s *session.Session) { s.Sandbox = true }, 0},
		"a candidate":         {func(s *session.Session) { s.Kind = session.Screening }, 0},
		"withheld words":      {func(s *session.Session) { s.Withheld = new(session.LearnerConversation) }, 0},
		"words of no time":    {func(s *session.Session) { s.Brief.RetainDays = new(int64(0)) }, 0},
		"a minor":             {func(s *session.Session) { s.Person = child }, 1},
		"somebody erased":     {func(s *session.Session) { s.Person = erased }, 1},
		"somebody unknown":    {func(s *session.Session) { s.Person = id.NewPerson() }, 1},
	} {
		w.talk("I live in Bern.", map[string]string{"name": "Kim"}, c.change)
		require.Equal(t, c.jobs, w.remember(), name)
		require.Empty(t, w.events(event.MemoryWritten), name)
	}
	w.talk("Where is it?", nil)
	w.remember()
	require.Empty(t, w.list(), "there was nothing to remember")
}

// What changes between the end of a session and its job counts.
func TestWhatForbidsIt(t *testing.T) {
	w := newWorld(t)
	for name, change := range map[string]func(s id.Session) (undo func()){
		"the switch": func(id.Session) func() {
			w.set(setting.Memory, false)
			return func() { w.set(setting.Memory, true) }
		},
		"zero retention": func(id.Session) func() {
			w.set(setting.ZeroRetention, true)
			return func() { w.set(setting.ZeroRetention, false) }
		},
		"young learners": func(id.Session) func() {
			w.set(setting.YoungLearners, true)
			return func() { w.set(setting.YoungLearners, false) }
		},
		"a hold": func(s id.Session) func() {
			w.exec(`UPDATE session SET on_hold = true WHERE id = $1`, s)
			return func() {}
		},
		"words that are gone": func(s id.Session) func() {
			w.in(func(ctx context.Context, tx *tenant.Tx) error { return session.DeleteWords(ctx, tx, s, time.Now()) })
			return func() {}
		},
		"a flag": func(s id.Session) func() {
			w.exec(`UPDATE session SET flagged = true WHERE id = $1`, s)
			return func() {}
		},
	} {
		undo := change(w.talk("I live in Bern.", nil).ID)
		require.Equal(t, 1, w.remember(), name)
		require.Empty(t, w.list(), name)
		undo()
	}
	w.talk("I live in Bern.", nil)
	w.exec(`UPDATE persona SET deleted_at = now() WHERE id = $1`, w.persona)
	w.remember()
	require.Empty(t, w.list(), "a persona that is gone")
}

func TestWhatIsNotRecalled(t *testing.T) {
	w := newWorld(t)
	w.talk("I live in Bern.", nil)
	w.remember()
	require.Len(t, w.recall(), 1)
	w.set(setting.Memory, false)
	require.Nil(t, w.recall())
	w.set(setting.Memory, true)
	w.set(setting.ZeroRetention, true)
	require.Nil(t, w.recall())
	w.set(setting.ZeroRetention, false)
	w.set(setting.YoungLearners, true)
	require.Nil(t, w.recall())
	w.set(setting.YoungLearners, false)
	require.Len(t, w.recall(), 1)
	w.exec(`UPDATE person SET age_band = '16_17'`)
	require.Nil(t, w.recall())
	w.exec(`UPDATE person SET age_band = 'adult'`)
	require.Len(t, w.recall(), 1)
	w.clock.Step(memory.Kept)
	require.Nil(t, w.recall(), "it has expired")
	require.Empty(t, w.list())
	w.talk("I work nights.", nil)
	w.remember()
	require.Equal(t, []string{"I work nights."}, w.recall(), "what had expired does not come back")
}

func TestAModelNotes(t *testing.T) {
	w := newWorld(t)
	w.minds.answer = `["Lives in Bern.", "Keeps bees."]`
	w.talk("I live in Bern. It is far.", map[string]string{"name": "Kim"})
	w.remember()
	require.Equal(t, []string{"name: Kim", "Lives in Bern."}, w.recall(), "what rests on nothing that was said is left out")
	for name, m := range map[string]minds{"prose": {answer: "They live in Bern."}, "failing": {fails: true}, "endless": {answer: strings.Repeat("[", 5000)}} {
		w.exec(`DELETE FROM memory`)
		w.minds = m
		w.talk("I live in Bern.", nil)
		w.remember()
		require.Equal(t, []string{"I live in Bern."}, w.recall(), name)
	}
}

func TestForget(t *testing.T) {
	w := newWorld(t)
	first, second, persona2 := w.person, w.newPerson("adult"), w.newPersona("person")
	fill := func() {
		for _, p := range []id.Person{first, second} {
			for _, a := range []id.Persona{w.persona, persona2} {
				w.talk("I live in Bern.", nil, func(s *session.Session) { s.Person, s.Persona = p, a })
			}
		}
		w.remember()
	}
	forget := func(fn func(context.Context, *tenant.Tx) (int, error)) (n int) {
		w.in(func(ctx context.Context, tx *tenant.Tx) (err error) {
			n, err = fn(ctx, tx)
			return err
		})
		return n
	}
	fill()
	require.Len(t, w.list(), 2)
	require.Equal(t, 1, forget(func(ctx context.Context, tx *tenant.Tx) (int, error) {
		return memory.Forget(ctx, tx, w.persona, first, w.caller())
	}))
	require.Equal(t, second, w.list()[0].Person)
	require.Equal(t, 1, forget(func(ctx context.Context, tx *tenant.Tx) (int, error) {
		return memory.Forget(ctx, tx, w.persona, id.Person{}, w.caller())
	}))
	require.Empty(t, w.list())
	fill()
	require.Equal(t, 2, forget(func(ctx context.Context, tx *tenant.Tx) (int, error) { return memory.ForgetPerson(ctx, tx, first) }))
	require.Len(t, w.list(), 1)

	swept := func() int {
		n, err := memory.Sweep(context.Background(), w.tenants, "a", w.now())
		require.NoError(t, err)
		return n
	}
	w.clock.Step(memory.Kept - time.Second)
	require.Zero(t, swept())
	w.clock.Step(time.Second)
	require.Equal(t, 2, swept())
}

func TestPagesOfMemories(t *testing.T) {
	w := newWorld(t)
	var people []id.Person
	for range 3 {
		p := w.newPerson("adult")
		people = append([]id.Person{p}, people...)
		w.talk("I live in Bern.", nil, func(s *session.Session) { s.Person = p })
	}
	w.remember()
	page := func(of, after id.Person) (found []id.Person) {
		all, err := memory.List(context.Background(), w.tenants, w.one, w.persona, of, after, 2, w.now())
		require.NoError(t, err)
		for _, m := range all {
			found = append(found, m.Person)
		}
		return found
	}
	require.Equal(t, people[:2], page(id.Person{}, id.Person{}))
	require.Equal(t, people[2:], page(id.Person{}, people[1]))
	require.Equal(t, people[1:2], page(people[1], id.Person{}))
}

func TestADeletedPersonaForgets(t *testing.T) {
	w := newWorld(t)
	w.talk("I live in Bern.", nil)
	w.remember()
	require.Len(t, w.list(), 1)
	w.in(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := persona.Delete(ctx, tx, w.persona, id.Duo{}, w.caller())
		return err
	})
	require.Empty(t, w.list())
}

func TestTheStatementsRideTheirIndexes(t *testing.T) {
	w := newWorld(t)
	w.exec(`
		INSERT INTO memory (org_id, persona_id, person_id, id, items, session_id, written_at, expires_at)
		SELECT $1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), '[]', $1, $2, $2::TIMESTAMPTZ + i * INTERVAL '1 day' FROM generate_series(1, 5000) AS i`, w.one, w.now())
	w.exec(`ANALYZE memory`)
	db, err := w.tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	in := func(fn func(context.Context, *tenant.Tx) (int, error)) func() error {
		return func() error {
			return w.tenants.InTx(t.Context(), w.one, func(ctx context.Context, tx *tenant.Tx) error {
				_, err := fn(ctx, tx)
				return err
			})
		}
	}
	for name, c := range map[string]struct {
		text, index string
		run         func() error
	}{
		"a page":   {"FROM memory", "memory_pkey", func() error { w.list(); return nil }},
		"one":      {"FROM memory", "memory_(pkey|by_person)", func() error { w.recall(); return nil }},
		"a person": {"DELETE FROM memory", "memory_by_person", in(func(ctx context.Context, tx *tenant.Tx) (int, error) { return memory.ForgetPerson(ctx, tx, w.person) })},
		"a persona": {"DELETE FROM memory", "memory_pkey", in(func(ctx context.Context, tx *tenant.Tx) (int, error) {
			return memory.Forget(ctx, tx, w.persona, id.Person{}, w.caller())
		})},
		"the expiry": {"DELETE FROM memory", "memory_by_expiry", func() error { _, err := memory.Sweep(t.Context(), w.tenants, "a", w.now()); return err }},
	} {
		t.Run(name, func(t *testing.T) {
			for _, s := range w.sent.Of(t, c.text, c.run) {
				require.Regexp(t, c.index, s.Forced(t, db))
				require.NotContains(t, s.Free(t, db), "Seq Scan on memory")
			}
		})
	}
}

// What was remembered from a session alone is forgotten with its words.
func TestForgettingASession(t *testing.T) {
	w := newWorld(t)
	forget := func(s session.Session) {
		w.in(func(ctx context.Context, tx *tenant.Tx) error { return memory.ForgetSession(ctx, tx, s) })
	}
	first := w.talk("I live in Bern.", map[string]string{"name": "Kim"})
	w.remember()
	w.clock.Step(time.Hour)
	second := w.talk("I prefer mornings. I live in Bern.", nil)
	w.remember()
	require.Equal(t, []string{"I live in Bern.", "I prefer mornings.", "name: Kim"}, w.recall())
	other := w.talk("I live in Rome.", nil, func(s *session.Session) { s.Person = w.newPerson("adult") })
	w.remember()

	forget(first)
	require.Equal(t, []string{"I live in Bern.", "I prefer mornings."}, w.recall(), "it was said again later")
	forget(first)
	nobodys := first
	nobodys.Person = id.Person{}
	forget(nobodys)
	require.Len(t, w.recall(), 2)
	forget(second)
	require.Nil(t, w.recall())
	require.Equal(t, other.Person, w.list()[0].Person, "another's is left alone")
	require.Len(t, w.list(), 1)
}

// The settings of the unit hold that the person came by.
func TestTheUnitsSettings(t *testing.T) {
	w := newWorld(t)
	p := portaltest.Portal(t, w.tenants, w.one, w.persona).ID
	quiet, loud := admissiontest.Unit(t, w.tenants, w.one, p, id.Unit{}, true), admissiontest.Unit(t, w.tenants, w.one, p, id.Unit{}, true)
	by := func(u id.Unit) func(*session.Session) {
		m := admissiontest.Membership(t, w.tenants, w.one, w.person, p, func(m *person.Membership) { m.Unit = u })
		return func(s *session.Session) { s.Portal, s.Membership = p, m.ID }
	}
	inQuiet, inLoud := by(quiet), by(loud)
	w.exec(`INSERT INTO setting (org_id, scope_kind, scope_id, key, value, changed_at, changed_by) VALUES ($1, 'unit', $2, $3, 'false', now(), '')`,
		w.one, uuid.UUID(quiet).String(), setting.Memory)
	w.talk("I live in Bern.", nil, inQuiet)
	w.remember()
	require.Empty(t, w.list())
	w.talk("I live in Bern.", nil, inLoud)
	w.remember()
	require.Len(t, w.list(), 1)
	require.Nil(t, w.recall(inQuiet))
	require.Equal(t, []string{"I live in Bern."}, w.recall(inLoud))
}
