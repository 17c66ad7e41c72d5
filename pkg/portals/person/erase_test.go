package person_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/eventing/usage"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/memory"
)

// converse makes a conversation of a person that goes on, with a turn.
func (w *world) converse(p id.Person, pod uuid.UUID) (which id.Session) {
	w.t.Helper()
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		m, err := session.Mint(ctx, tx, session.Session{
			ID: id.SessionAt(now), Kind: "conversation", Source: "api", Persona: id.Persona{1}, PersonaVersion: 1, Avatar: id.Avatar{2}, Voice: id.Voice{3},
			Language: "en", Engine: "premier", Transport: "websocket", Channel: "chat", MaxDurationS: 600, IdleTimeoutS: 60, CreatedAt: now,
		}, plan.Terms{}, session.Daily{})
		which = m.Session.ID
		return err
	})
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		a, err := session.Attach(ctx, tx, which, pod, plan.Terms{}, now)
		if err != nil {
			return err
		}
		return session.Keep(ctx, tx, a.Session, session.Turn{
			ID: id.NewTurn(), Speaker: session.User, Text: "I am Kim", Language: "en", Origin: session.Typed, StartedAt: now, EndedAt: &now,
		}, now)
	})
	w.exec(`UPDATE session SET person_id = $3 WHERE org_id = $1 AND id = $2`, which, p)
	return which
}

// exec runs a statement about the first organization.
func (w *world) exec(sql string, args ...any) {
	w.t.Helper()
	_, err := w.db.Exec(context.Background(), sql, append([]any{w.one}, args...)...)
	require.NoError(w.t, err)
}

// count counts rows of the first organization.
func (w *world) count(sql string, args ...any) (n int) {
	w.t.Helper()
	require.NoError(w.t, w.db.QueryRow(context.Background(), sql, append([]any{w.one}, args...)...).Scan(&n))
	return n
}

func (w *world) runner(files *file.Store, clock *clocktest.FakeClock) *job.Runner {
	e := &person.Eraser{Files: files, Forget: memory.ForgetPerson}
	broken := false
	return &job.Runner{
		Tenants: w.tenants, Clock: clock, Log: slog.New(slog.DiscardHandler),
		Steps: map[job.Kind]job.Step{job.Erase: func(ctx context.Context, tx *tenant.Tx, j *job.Job, at time.Time) (time.Duration, error) {
			wait, err := e.Step(ctx, tx, j, at)
			if broken = !broken; broken && err == nil { // each first try is lost before its commit
				return 0, errors.New("the process died")
			}
			return wait, err
		}},
	}
}

func TestErase(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	require.NoError(t, usage.GrantMinutes(ctx, w.tenants, w.one, uuid.New(), 100, now, nil))
	pod := uuid.New()
	_, err := session.KeepPod(ctx, w.tenants, "a", pod, "pod", true)
	require.NoError(t, err)
	clock := clocktest.NewFakeClock(now)
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { _ = bucket.Close() })
	files := file.New(bucket, w.tenants, clock)

	kim, _, err := w.find(person.Wanted{Name: "Kim", Email: new("kim@example.com"), ExternalID: new("kim"), Phone: new("+4930123456")})
	require.NoError(t, err)
	lee := w.add("Lee")
	theirs, others := w.join(kim.ID, id.Unit{}), w.join(lee.ID, id.Unit{})
	k, other := w.agree(theirs, now.AddDate(1, 0, 0)), w.agree(others, now.AddDate(1, 0, 0))
	said, left := w.converse(kim.ID, pod), w.converse(lee.ID, pod)
	w.exec(`UPDATE session SET external_id = 'call-of-kim', metadata = '{"pupil": "Kim"}' WHERE org_id = $1`)
	for _, p := range []id.Person{kim.ID, lee.ID} {
		w.exec(`INSERT INTO memory (org_id, persona_id, person_id, id, items, session_id, written_at, expires_at)
			VALUES ($1, $2, $3, $2, '[]', $2, $4, $4)`, uuid.New(), p, now)
		w.exec(`INSERT INTO portal_visit (org_id, hash, portal_id, door, person_id, details, created_at, expires_at)
			VALUES ($1, $2, $3, 'sso', $4, '{}', $5, $5)`, p[:], w.portal.ID, p, now)
	}

	erase := func() error {
		return w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := person.Erase(ctx, tx, kim.ID, who)
			return err
		})
	}
	w.exec(`UPDATE session SET on_hold = true WHERE org_id = $1 AND id = $2`, said)
	require.ErrorIs(t, erase(), person.ErrOnHold)
	w.exec(`UPDATE session SET on_hold = false WHERE org_id = $1 AND id = $2`, said)
	require.NoError(t, erase())
	require.ErrorIs(t, erase(), errdefs.Gone{Noun: person.Noun})
	for answer, want := range map[string]bool{
		`{"id":"` + kim.ID.String() + `"}`: true, kim.ID.Bare(): true, `{"places":["` + theirs.ID.String() + `"]}`: true,
		`{"id":"` + lee.ID.String() + `","place":"` + others.ID.String() + `"}`: false, "x" + kim.ID.Bare(): false, "": false,
	} {
		w.must(func(ctx context.Context, tx *tenant.Tx) error {
			tells, err := person.TellsOfErased(ctx, tx, []byte(answer))
			require.Equal(t, want, tells, answer)
			return err
		})
	}
	_, _, err = person.Get(ctx, w.tenants, w.one, kim.ID, now)
	require.ErrorIs(t, err, errdefs.Gone{Noun: person.Noun})
	require.Equal(t, person.WasErased, w.standing(theirs.ID, now).Reason, "nobody comes in from now on")

	r := w.runner(files, clock)
	for range 40 {
		clock.Step(time.Minute) // past the lease of a step that was lost
		_, err := r.Advance(ctx, "a")
		require.NoError(t, err)
	}
	jobs, err := job.List(ctx, w.tenants, w.one, job.Filter{}, id.Job{}, 10)
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	require.Equal(t, job.Succeeded, jobs[0].State)

	require.Equal(t, 1, w.count(`SELECT count(*) FROM person WHERE org_id = $1 AND name = '' AND email IS NULL AND email_key IS NULL
		AND phone IS NULL AND external_id IS NULL AND state = 'erased' AND id = $2`, kim.ID))
	words := `SELECT count(*) FROM turn WHERE org_id = $1 AND session_id = $2 AND text <> ''`
	require.Zero(t, w.count(words, said))
	require.Equal(t, 1, w.count(words, left), "another's words are left alone")
	noted := `SELECT count(*) FROM session WHERE org_id = $1 AND id = $2 AND external_id IS NOT NULL AND metadata <> '{}'`
	require.Zero(t, w.count(noted, said))
	require.Equal(t, 1, w.count(noted, left))
	require.Equal(t, 1, w.count(`SELECT count(*) FROM memory WHERE org_id = $1`))
	require.Equal(t, 1, w.count(`SELECT count(*) FROM portal_visit WHERE org_id = $1`))
	require.Zero(t, w.count(`SELECT count(*) FROM membership WHERE org_id = $1 AND person_id = $2`, kim.ID))
	require.Equal(t, 1, w.count(`SELECT value FROM org_counter WHERE org_id = $1 AND name = 'members'`))

	forgotten, err := consent.Get(ctx, w.tenants, w.one, k.ID)
	require.NoError(t, err)
	require.Empty(t, forgotten.PersonName)
	require.Nil(t, forgotten.PersonEmail)
	require.Empty(t, forgotten.Guardian.Relationship)
	require.Equal(t, "in_person", forgotten.Guardian.Method, "that it was given stays on record")
	kept, err := consent.Get(ctx, w.tenants, w.one, other.ID)
	require.NoError(t, err)
	require.Equal(t, "Sam", kept.PersonName)

	told := map[event.Type]int{}
	events, err := event.List(ctx, w.tenants, w.one, event.Filter{}, event.Position{}, 100)
	require.NoError(t, err)
	for _, e := range events {
		told[e.Type]++
	}
	require.Equal(t, 1, told[event.MemberRemoved])
	require.Equal(t, 1, told[event.SessionEnded])
	require.Equal(t, 1, told[event.JobCompleted])

	again, created, err := w.find(person.Wanted{Name: "Kim", Email: new("kim@example.com"), ExternalID: new("kim")})
	require.NoError(t, err)
	require.True(t, created)
	require.NotEqual(t, kim.ID, again.ID)
}

// What is put on hold meanwhile is kept until it is not.
func TestEraseWaitsForAHold(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	require.NoError(t, usage.GrantMinutes(ctx, w.tenants, w.one, uuid.New(), 100, now, nil))
	pod := uuid.New()
	_, err := session.KeepPod(ctx, w.tenants, "a", pod, "pod", true)
	require.NoError(t, err)
	clock := clocktest.NewFakeClock(now)
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { _ = bucket.Close() })
	kim := w.add("Kim")
	said := w.converse(kim.ID, pod)
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := person.Erase(ctx, tx, kim.ID, who)
		return err
	})
	w.exec(`UPDATE session SET on_hold = true WHERE org_id = $1 AND id = $2`, said)
	r := w.runner(file.New(bucket, w.tenants, clock), clock)
	advance := func() job.State {
		for range 20 {
			clock.Step(time.Minute)
			_, err := r.Advance(ctx, "a")
			require.NoError(t, err)
		}
		jobs, err := job.List(ctx, w.tenants, w.one, job.Filter{}, id.Job{}, 10)
		require.NoError(t, err)
		return jobs[len(jobs)-1].State
	}
	require.Equal(t, job.Running, advance())
	words := `SELECT count(*) FROM turn WHERE org_id = $1 AND session_id = $2 AND text <> ''`
	require.Equal(t, 1, w.count(words, said))
	// An export that is made meanwhile is there until all is erased.
	w.must(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := job.Insert(ctx, tx, job.Job{ID: id.NewJob(), Kind: job.Export, CreatedAt: now.Add(-time.Hour), Scope: scope.PeopleRead, CreatedBy: who.By}, nil)
		return err
	})
	w.exec(`UPDATE job SET state = 'succeeded', finished_at = $2, due_at = NULL, file_id = id WHERE org_id = $1 AND kind = 'export'`, now)
	files := `SELECT count(*) FROM job WHERE org_id = $1 AND kind = 'export' AND file_id IS NOT NULL`
	for range 3 {
		clock.Step(time.Hour)
		require.Equal(t, job.Running, advance())
		require.Equal(t, 1, w.count(files))
	}
	w.exec(`UPDATE session SET on_hold = false WHERE org_id = $1 AND id = $2`, said)
	clock.Step(time.Hour)
	require.Equal(t, job.Succeeded, advance())
	require.Zero(t, w.count(words, said))
	require.Zero(t, w.count(files))
}
