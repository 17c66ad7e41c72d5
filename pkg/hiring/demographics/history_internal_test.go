package demographics

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// world has an organization with a role that asks.
type world struct {
	*testing.T
	db     *database.DB
	store  *Store
	org    id.Org
	role   id.Role
	portal id.Portal
	now    time.Time
}

func newWorld(t *testing.T, tenants *tenant.Tenants, org id.Org) *world {
	t.Helper()
	v, err := vault.New(vault.NewKey())
	require.NoError(t, err)
	db, err := tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	w := &world{t, db, &Store{tenants, v}, org, id.NewRole(), id.NewPortal(), tenanttest.Now}
	w.exec(`
		INSERT INTO hiring_role (org_id, id, title, portal_id, subject_id, state, definition, questions, metadata, created_by, edition, created_at, updated_at)
		VALUES ($1, $2, 'Rigger', $3, gen_random_uuid(), 'open', $4, 1, '{}', 'key_1', 1, $5, $5)`,
		org, w.role, w.portal, role.Definition{Demographics: true, KeepDays: 365}, w.now)
	w.exec(`INSERT INTO hiring_role_count (org_id, role_id, invited, opened, screened, reviewed, advanced, rejected, hired) VALUES ($1, $2, 0, 0, 0, 0, 0, 0, 0)`, org, w.role)
	return w
}

func (w *world) exec(sql string, args ...any) {
	w.Helper()
	_, err := w.db.Exec(w.Context(), sql, args...)
	require.NoError(w, err)
}

func (w *world) tx(fn func(context.Context, *tenant.Tx) error) error {
	return w.store.Tenants.InTx(w.Context(), w.org, fn)
}

// screened is a candidate who was interviewed.
func (w *world) screened() id.Candidate {
	w.Helper()
	c := id.NewCandidate()
	w.exec(`
		INSERT INTO candidate (org_id, id, role_id, invite_id, name, language, metadata, state, stage, consent, attempts, extra, screened_at, on_hold,
			retain_until, record_length, record_head, sandbox, edition, created_at, updated_at)
		VALUES ($1, $2, $3, gen_random_uuid(), 'Kim', 'en', '{}', 'reviewed', 'screening', '{}', 1, 0, $4, false, $4, 0, '', false, 1, $4, $4)`,
		w.org, c, w.role, w.now)
	w.exec(`
		INSERT INTO screening (org_id, id, candidate_id, role_id, session_id, subject_id, subject_version, language, state, kept, asked, complete, answered,
			criteria, knockouts, started_at)
		VALUES ($1, $2, $2, $3, $4, $2, 1, 'en', 'complete', 'all', '[]', true, 1, '[]', '[]', $5)`, w.org, c, w.role, held(c), w.now)
	w.exec(`UPDATE candidate SET screening_id = id WHERE org_id = $1 AND id = $2`, w.org, c)
	return c
}

func (w *world) settle(c id.Candidate, selected bool) {
	w.Helper()
	w.exec(`UPDATE candidate SET settled_at = $3, selected = $4, state = 'decided' WHERE org_id = $1 AND id = $2`, w.org, c, w.now, selected)
	require.NoError(w, w.tx(func(ctx context.Context, tx *tenant.Tx) error {
		r, err := role.Find(ctx, tx, w.role)
		if err != nil {
			return err
		}
		return Settle(ctx, tx, &r, w.now)
	}))
}

func (w *world) put(c id.Candidate, a Answer) error {
	return w.tx(func(ctx context.Context, tx *tenant.Tx) error { return w.store.Put(ctx, tx, c, held(c), a) })
}

// held is the session of a candidate's interview.
func held(c id.Candidate) id.Session { return id.Session(c) }

func (w *world) run() {
	w.Helper()
	_, err := w.store.Run(w.Context(), w.store.Tenants, "a", w.now)
	require.NoError(w, err)
}

func (w *world) read() Audit {
	w.Helper()
	a, err := Read(w.Context(), w.store.Tenants, w.org, Filter{Role: w.role, To: w.now.Add(time.Hour)})
	require.NoError(w, err)
	return a
}

func (w *world) offers(c id.Candidate) bool {
	w.Helper()
	r, err := role.Get(w.Context(), w.store.Tenants, w.org, w.role)
	require.NoError(w, err)
	open, err := w.store.Offers(w.Context(), w.org, &r, c, held(c))
	require.NoError(w, err)
	return open
}

// known is what a test knows of a candidate.
type known struct {
	Answer
	settled, selected, counted, gone bool
}

// told is an audit by category, those of unknown ones together.
func told(a Audit) map[Answer]Count {
	all := map[Answer]Count{}
	if a.Applicants > 0 {
		all[Answer{}] = a.Count
	}
	for _, l := range a.Lines() {
		all[Answer{l.Sex, l.Race}] = l.Count
	}
	return all
}

// Whatever candidates and people do, in whatever order: an audit grows by cohorts of candidates alone,
// of each of whom it counts exactly what they said, or nothing at all.
func TestAnAuditIsARecountOfItsCohorts(t *testing.T) {
	tenants, one, two := tenanttest.New(t)
	for seed, org := range []id.Org{one, two} {
		w, r := newWorld(t, tenants, org), rand.New(rand.NewPCG(uint64(seed), 7))
		people := map[id.Candidate]*known{}
		var order []id.Candidate
		sum, grown := map[Answer]Count{}, 0
		for range 24 {
			for range 10 {
				c := w.screened()
				people[c], order = &known{Answer: unknown}, append(order, c)
			}
			for range 40 {
				w.act(r, order[r.IntN(len(order))], people)
			}
			w.run()
			grown += w.check(people, sum)
			w.now = w.now.Add(20 * day)
		}
		require.Greater(t, grown, 1, "cohorts were counted")
		require.NotEmpty(t, w.read().Lines(), "categories were told")
	}
}

// act does something with a candidate.
func (w *world) act(r *rand.Rand, c id.Candidate, people map[id.Candidate]*known) {
	w.Helper()
	p := people[c]
	switch what := r.IntN(10); {
	case p.gone:
		require.Error(w, w.put(c, Answer{Female, White}))
	case what < 5:
		a := Answer{[]Sex{Female, Female, Male, Male, UnknownSex}[r.IntN(5)], []Race{White, White, Black, UnknownRace}[r.IntN(4)]}
		if err := w.put(c, a); p.counted {
			require.ErrorContains(w, err, "counted already")
		} else {
			require.NoError(w, err)
			p.Answer = a
		}
	case what < 8:
		if !p.settled {
			p.settled, p.selected = true, r.IntN(2) == 0
			w.settle(c, p.selected)
		}
	case what < 9:
		require.NoError(w, w.tx(func(ctx context.Context, tx *tenant.Tx) error { return w.store.TakeBack(ctx, tx, c) }))
		if !p.counted {
			p.Answer = unknown
		}
	case r.IntN(2) == 0:
		p.gone = true
		w.exec(`UPDATE candidate SET state = 'erased' WHERE org_id = $1 AND id = $2`, w.org, c)
		require.NoError(w, w.tx(func(ctx context.Context, tx *tenant.Tx) error { return w.store.Forget(ctx, tx, c) }))
	}
}

// check holds an audit against what was counted since the last one.
func (w *world) check(people map[id.Candidate]*known, before map[Answer]Count) int {
	w.Helper()
	now := told(w.read())
	if now[Answer{}] == before[Answer{}] {
		require.Equal(w, before, now)
		return 0
	}
	recount := map[Answer]Count{}
	add := func(a Answer, n Count) { recount[a] = recount[a].plus(n) }
	for c, p := range people {
		if p.gone || p.counted || w.offers(c) {
			continue
		}
		require.True(w, p.settled, "nobody is counted who is not decided on")
		p.counted = true
		n := Count{Applicants: 1}
		if p.selected {
			n.Selected = 1
		}
		for _, a := range []Answer{{}, {Sex: p.Sex}, {Race: p.Race}, p.Answer} {
			add(a, n)
		}
	}
	all := recount[Answer{}]
	require.GreaterOrEqual(w, all.Applicants, int64(fewest))
	require.GreaterOrEqual(w, all.Selected, int64(few))
	require.GreaterOrEqual(w, all.Applicants-all.Selected, int64(few))
	require.Equal(w, before[Answer{}].plus(all), now[Answer{}])
	for a, n := range now {
		if n != before[a] {
			require.Equal(w, before[a].plus(recount[a]), n, "%v", a)
		}
		before[a] = n
	}
	return 1
}

// No column tells whose an answer is, or what it says, or that it was counted.
func TestNoRowTellsOfACandidate(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	w := newWorld(t, tenants, org)
	seen := map[uuid.UUID]bool{}
	var sizes []int
	for i := range 30 {
		c := w.screened()
		seen[uuid.UUID(c)] = true
		require.NoError(t, w.put(c, Answer{Sexes()[i%2], Races()[i%7]}))
		w.settle(c, i%2 == 0)
	}
	look := func() (ids []uuid.UUID) {
		rows, err := w.db.Query(t.Context(), `SELECT id, length(sealed) FROM demographic_answer WHERE org_id = $1`, org)
		require.NoError(t, err)
		defer rows.Close()
		for rows.Next() {
			var (
				at   uuid.UUID
				size int
			)
			require.NoError(t, rows.Scan(&at, &size))
			require.False(t, seen[at])
			ids, sizes = append(ids, at), append(sizes, size)
		}
		return ids
	}
	require.Len(t, look(), 30)
	w.now = w.now.Add(patience)
	w.run()
	require.EqualValues(t, 30, w.read().Applicants)
	require.Len(t, look(), 30, "that they were counted is kept, not what they said")
	for _, size := range sizes {
		require.Equal(t, sizes[0], size)
	}
	for _, at := range look() {
		var sealed []byte
		require.NoError(t, w.db.QueryRow(t.Context(), selectAnswer, org, at).Scan(&sealed))
		a, done, err := w.store.open(org, at, sealed)
		require.NoError(t, err)
		require.True(t, done)
		require.Equal(t, unknown, a)
		_, _, err = w.store.open(org, uuid.New(), sealed)
		require.ErrorIs(t, err, vault.ErrCannotOpen, "it opens at its own place alone")
	}
}

// Who is on hold, in a sandbox, of a role that does not ask, or among too few, is not counted.
func TestWhoWaits(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	w := newWorld(t, tenants, org)
	var all []id.Candidate
	for i := range 24 {
		c := w.screened()
		all = append(all, c)
		w.settle(c, i%2 == 0)
	}
	count := func() int64 {
		w.Helper()
		w.exec(`UPDATE demographic_role SET due_at = $2 WHERE org_id = $1`, org, w.now)
		w.run()
		return w.read().Applicants
	}
	require.Zero(t, count(), "they can answer for a week")
	w.now = w.now.Add(grace)
	require.Zero(t, count(), "a cohort waits until it is full")
	w.now = w.now.Add(patience - grace)
	w.exec(`UPDATE candidate SET on_hold = true WHERE org_id = $1 AND id = ANY($2)`, org, all[:3])
	w.exec(`UPDATE candidate SET sandbox = true WHERE org_id = $1 AND id = ANY($2)`, org, all[3:5])
	require.Zero(t, count(), "19 are too few")
	w.exec(`UPDATE candidate SET on_hold = false, screened_at = NULL WHERE org_id = $1 AND on_hold`, org)
	require.Zero(t, count(), "who was never interviewed was not asked")
	w.exec(`UPDATE candidate SET screened_at = $2 WHERE org_id = $1`, org, w.now)
	w.exec(`UPDATE candidate SET on_hold = false WHERE org_id = $1`, org)
	w.exec(`UPDATE candidate SET selected = false WHERE org_id = $1 AND id <> ALL($2)`, org, all[6:12])
	require.Zero(t, count(), "too few were selected")
	w.exec(`UPDATE candidate SET selected = true WHERE org_id = $1 AND id = ANY($2)`, org, all[6:12])
	w.exec(`UPDATE hiring_role SET definition = definition || '{"voluntaryDemographics": false}' WHERE org_id = $1`, org)
	require.Zero(t, count())
	require.Error(t, w.put(all[0], Answer{Female, White}))
	w.exec(`UPDATE hiring_role SET definition = definition || '{"voluntaryDemographics": true}' WHERE org_id = $1`, org)
	require.EqualValues(t, 22, count())
	require.EqualValues(t, 22, count(), "nobody is counted twice")
}

// What cannot be counted any more is deleted: of a role that asks no more, and of one that is closed with
// too few, once nobody is left to be decided on.
func TestWhatCannotBeCountedIsDeleted(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	kept := func(w *world) (n int) {
		require.NoError(t, w.tx(func(ctx context.Context, tx *tenant.Tx) error { return Wake(ctx, tx, w.role, w.now) }))
		w.run()
		require.NoError(t, w.db.QueryRow(t.Context(), `SELECT count(*) FROM demographic_answer WHERE org_id = $1`, org).Scan(&n))
		return n
	}
	for _, end := range []string{`state = 'closed'`, `definition = definition || '{"voluntaryDemographics": false}'`} {
		w := newWorld(t, tenants, org)
		c, late := w.screened(), w.screened()
		require.NoError(t, w.put(c, Answer{Female, White}))
		w.settle(c, true)
		require.Equal(t, 1, kept(w))
		w.exec(`UPDATE hiring_role SET `+end+` WHERE org_id = $1 AND id = $2`, org, w.role)
		if end == `state = 'closed'` {
			require.Equal(t, 1, kept(w), "somebody is left")
		}
		w.settle(late, true)
		require.Zero(t, kept(w))
		require.Zero(t, w.read().Cohorts)
	}
}

// Whoever did not hold the interview neither answers nor takes back, and a role that does not ask any more
// takes nothing but what is taken back.
func TestWhoHeldTheInterviewAnswersAlone(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	w := newWorld(t, tenants, org)
	c, other := w.screened(), w.screened()
	by := func(s id.Session, a Answer) error {
		return w.tx(func(ctx context.Context, tx *tenant.Tx) error { return w.store.Put(ctx, tx, c, s, a) })
	}
	kept := func() (n int) {
		require.NoError(t, w.db.QueryRow(t.Context(), `SELECT count(*) FROM demographic_answer WHERE org_id = $1`, org).Scan(&n))
		return n
	}
	require.NoError(t, by(held(c), Answer{Female, White}))
	for _, s := range []id.Session{{}, held(other)} {
		for _, a := range []Answer{unknown, {Male, White}} {
			require.ErrorContains(t, by(s, a), "not asked")
		}
	}
	require.Equal(t, 1, kept())
	require.True(t, w.offers(c))
	require.True(t, w.offers(other))
	w.exec(`UPDATE hiring_role SET definition = definition || '{"voluntaryDemographics": false}' WHERE org_id = $1`, org)
	require.True(t, w.offers(c), "it can be taken back")
	require.False(t, w.offers(other))
	require.ErrorContains(t, by(held(c), Answer{Male, White}), "not asked")
	require.NoError(t, by(held(c), unknown))
	require.Zero(t, kept())
	require.False(t, w.offers(c))
}

// An answer's row names no transaction that its candidate's row names too.
func TestNoTransactionTellsWhoAnswered(t *testing.T) {
	tenants, org, _ := tenanttest.New(t)
	w := newWorld(t, tenants, org)
	var version string
	require.NoError(t, w.db.QueryRow(t.Context(), `SELECT version()`).Scan(&version))
	if strings.HasPrefix(version, "CockroachDB") {
		t.Skip("its rows name no transactions")
	}
	require.NoError(t, w.put(w.screened(), Answer{Female, White}))
	var alike bool
	require.NoError(t, w.db.QueryRow(t.Context(), `
		SELECT EXISTS (SELECT 1 FROM candidate c JOIN demographic_answer a ON a.org_id = c.org_id AND a.xmin::TEXT IN (c.xmin::TEXT, c.xmax::TEXT) WHERE c.org_id = $1)`,
		org).Scan(&alike))
	require.False(t, alike)
}

// No statement looks through all rows.
func TestStatementsRideTheirIndexes(t *testing.T) {
	tenants, sent, org, _ := tenanttest.NewTraced(t)
	w := newWorld(t, tenants, org)
	w.exec(`INSERT INTO demographic_answer (org_id, id, sealed) SELECT $1, gen_random_uuid(), 'x' FROM generate_series(1, 2000)`, org)
	w.exec(`
		INSERT INTO bias_cohort (org_id, id, portal_id, role_id, at, counts)
		SELECT $1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now(), '{}' FROM generate_series(1, 2000)`, org)
	c := w.screened()
	require.NoError(t, w.put(c, Answer{Female, White}))
	w.settle(c, true)
	read := func(f Filter) func() error {
		return func() error { _, err := Read(t.Context(), tenants, org, f); return err }
	}
	for name, s := range map[string]struct {
		text, index string
		run         func() error
	}{
		"of a role":       {"FROM bias_cohort", "bias_cohort_by_role", read(Filter{Role: w.role, To: w.now})},
		"of a portal":     {"FROM bias_cohort", "bias_cohort_by_portal", read(Filter{Portal: w.portal, To: w.now})},
		"of all":          {"FROM bias_cohort", "bias_cohort_by_time", read(Filter{To: w.now})},
		"an answer":       {"FROM demographic_answer", "demographic_answer_pkey", func() error { return w.put(c, Answer{Male, White}) }},
		"who was decided": {"FROM candidate\n\tWHERE org_id = $1 AND role_id", "candidate_by_settling", func() error { return w.gather() }},
		"how one stands":  {"LEFT JOIN screening", "screening_pkey", func() error { return w.put(c, Answer{Male, White}) }},
		"all of a role":   {"ORDER BY id DESC", "candidate_by_role", func() error { return w.end() }},
		"who is left":     {"settled_at IS NULL OR on_hold", "candidate_by_", func() error { return w.end() }},
	} {
		t.Run(name, func(t *testing.T) {
			statements := sent.Of(t, s.text, s.run)
			require.NotEmpty(t, statements)
			for _, statement := range statements {
				require.Contains(t, statement.Forced(t, w.db), s.index, statement.SQL)
			}
		})
	}
}

// end looks for who is left of the role as if it were closed, and deletes what was said.
func (w *world) end() error {
	return w.tx(func(ctx context.Context, tx *tenant.Tx) error {
		if _, err := over(ctx, tx, &role.Role{ID: w.role, State: role.Closed, Definition: role.Definition{Demographics: true}}, 0); err != nil {
			return err
		}
		return w.store.drop(ctx, tx, w.role, vault.NewKey())
	})
}

func (w *world) gather() error {
	return w.tx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := w.store.Gather(ctx, tx, w.role, w.now)
		return err
	})
}
