package dashboard

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/learning/mastery"
	"visavis.dev/pkg/store/tenant"
)

// found is what the rows say that events are about, when they are counted. What is gone says
// nothing.
type found struct {
	sessions   map[id.Session]sessionRow
	said       map[id.Session]counts
	units      map[id.Membership]id.Unit
	results    map[id.Result]resultRow
	candidates map[id.Candidate]candidateRow
	mastery    map[objective]bool
	erased     map[uuid.UUID]bool
}

type sessionRow struct {
	ID         id.Session
	Portal     id.Portal
	Person     id.Person
	Membership id.Membership
	Kind       string
	Sandbox    bool
}

type resultRow struct {
	ID      id.Result
	Kind    string
	Shown   bool
	Passed  bool
	Portal  id.Portal
	Unit    id.Unit
	Person  id.Person
	Sandbox bool
}

type candidateRow struct {
	ID      id.Candidate
	Portal  id.Portal
	Sandbox bool
}

type objective = mastery.Key

// find reads what the events of a step are about.
func find(ctx context.Context, tx *tenant.Tx, all []entry) (*found, error) {
	f := &found{}
	if err := f.findSessions(ctx, tx, all); err != nil {
		return nil, err
	}
	if err := f.findSaid(ctx, tx, all); err != nil {
		return nil, err
	}
	if err := f.findPeople(ctx, tx, all); err != nil {
		return nil, err
	}
	if err := f.findLearning(ctx, tx, all); err != nil {
		return nil, err
	}
	return f, f.findErased(ctx, tx, all)
}

// whose is who had a session; zero for nobody who is known.
func (f *found) whose(n entry) id.Person {
	if s := f.sessions[n.Session]; !s.Person.IsZero() {
		return s.Person
	}
	return n.Person
}

// findErased finds who was erased since. It rides person_pkey.
func (f *found) findErased(ctx context.Context, tx *tenant.Tx, all []entry) error {
	f.erased = map[uuid.UUID]bool{}
	which := ids(all, func(n entry) id.Person { return n.Person })
	for _, s := range f.sessions {
		which = append(which, s.Person)
	}
	for _, r := range f.results {
		which = append(which, r.Person)
	}
	if len(which) == 0 {
		return nil
	}
	gone, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Person], selectErased, tx.Org, which)
	for _, p := range gone {
		f.erased[uuid.UUID(p)] = true
	}
	return err
}

const selectErased = `SELECT id FROM person WHERE org_id = $1 AND id = ANY($2) AND state = 'erased'`

// ids are those that a step's events name.
func ids[K comparable](all []entry, of func(entry) K, kinds ...event.Type) []K {
	var (
		none  K
		named []K
		seen  = map[K]bool{none: true}
		is    = map[event.Type]bool{}
	)
	for _, k := range kinds {
		is[k] = true
	}
	for _, n := range all {
		if which := of(n); !seen[which] && (len(kinds) == 0 || is[n.kind]) {
			seen[which] = true
			named = append(named, which)
		}
	}
	return named
}

// rows reads rows by what tells them apart.
func rows[K comparable, V any](ctx context.Context, tx *tenant.Tx, which []K, key func(V) K, sql string) (map[K]V, error) {
	byKey := map[K]V{}
	if len(which) == 0 {
		return byKey, nil
	}
	list, err := tenant.AllIn(ctx, tx, pgx.RowToStructByPos[V], sql, tx.Org, which)
	for _, row := range list {
		byKey[key(row)] = row
	}
	return byKey, err
}

// findSessions rides session_pkey.
func (f *found) findSessions(ctx context.Context, tx *tenant.Tx, all []entry) (err error) {
	which := ids(all, func(n entry) id.Session { return n.Session })
	f.sessions, err = rows(ctx, tx, which, func(r sessionRow) id.Session { return r.ID }, selectSessions)
	return err
}

const selectSessions = `SELECT id, portal_id, person_id, membership_id, kind, sandbox FROM session WHERE org_id = $1 AND id = ANY($2)`

// findSaid counts the answers of sessions that ended, whether or not their words may be read: those of a duo with all their
// parts, also where somebody spoke between them, as an avatar that may not be interrupted goes on. It rides turn_pkey.
func (f *found) findSaid(ctx context.Context, tx *tenant.Tx, all []entry) error {
	f.said = map[id.Session]counts{}
	which := ids(all, func(n entry) id.Session { return n.Session }, event.SessionEnded)
	if len(which) == 0 {
		return nil
	}
	turns, err := tx.Query(ctx, selectTurns, tx.Org, which)
	if err != nil {
		return err
	}
	var (
		part, answer answer
		continues    bool
	)
	end := func() {
		if answer.session.IsZero() {
			return
		}
		if f.said[answer.session] == nil {
			f.said[answer.session] = counts{}
		}
		f.said[answer.session].add(answer.counts())
	}
	if _, err = pgx.ForEachRow(turns, []any{&part.session, &part.interrupted, &part.grounded, &part.response, &continues}, func() error {
		if continues && part.session == answer.session {
			answer.goOn(part)
		} else {
			end()
			answer = part
		}
		return nil
	}); err != nil {
		return err
	}
	end()
	return nil
}

const selectTurns = `
	SELECT session_id, interrupted, grounded, COALESCE((timing->>'responseMs')::BIGINT, -1), COALESCE((timing->>'continues')::BOOLEAN, false)
	FROM turn WHERE org_id = $1 AND session_id = ANY($2) AND speaker = 'avatar' ORDER BY session_id, ordinal`

// answer is what an avatar said at a time, in one turn or, of a duo, in several. response is negative where it was not measured.
type answer struct {
	session     id.Session
	interrupted bool
	grounded    *bool
	response    int64
}

// goOn adds a part. An answer is grounded where all is that could be, and began when the first measured part did.
func (a *answer) goOn(part answer) {
	a.interrupted = a.interrupted || part.interrupted
	if a.grounded == nil || part.grounded != nil && !*part.grounded {
		a.grounded = part.grounded
	}
	if a.response < 0 {
		a.response = part.response
	}
}

func (a *answer) counts() counts {
	one := counts{"avatarTurns": 1}
	if a.interrupted {
		one["interruptions"] = 1
	}
	if a.response >= 0 {
		one["response:"+stepOf(a.response)] = 1
	}
	switch {
	case a.grounded == nil:
	case *a.grounded:
		one["grounded"] = 1
	default:
		one["ungrounded"] = 1
	}
	return one
}

// findPeople finds the units of memberships, and candidates. It rides membership_pkey,
// candidate_pkey and hiring_role_pkey.
func (f *found) findPeople(ctx context.Context, tx *tenant.Tx, all []entry) error {
	type place struct {
		ID   id.Membership
		Unit id.Unit
	}
	which := ids(all, func(n entry) id.Membership { return n.Membership })
	for _, s := range f.sessions {
		if !s.Membership.IsZero() {
			which = append(which, s.Membership)
		}
	}
	places, err := rows(ctx, tx, which, func(p place) id.Membership { return p.ID }, selectUnits)
	if err != nil {
		return err
	}
	f.units = make(map[id.Membership]id.Unit, len(places))
	for m, p := range places {
		f.units[m] = p.Unit
	}
	named := ids(all, func(n entry) id.Candidate { return n.Candidate })
	f.candidates, err = rows(ctx, tx, named, func(r candidateRow) id.Candidate { return r.ID }, selectCandidates)
	return err
}

const (
	selectUnits      = `SELECT id, unit_id FROM membership WHERE org_id = $1 AND id = ANY($2)`
	selectCandidates = `
		SELECT c.id, r.portal_id, c.sandbox FROM candidate c JOIN hiring_role r ON r.org_id = c.org_id AND r.id = c.role_id
		WHERE c.org_id = $1 AND c.id = ANY($2)`
)

// findLearning finds what results are worth that whoever reads results may see, and what is
// mastered. It rides result_pkey, session_pkey and mastery_pkey.
func (f *found) findLearning(ctx context.Context, tx *tenant.Tx, all []entry) (err error) {
	which := ids(all, func(n entry) id.Result { return n.Result })
	if f.results, err = rows(ctx, tx, which, func(r resultRow) id.Result { return r.ID }, selectResults); err != nil {
		return err
	}
	at := map[objective]entry{}
	var keys []mastery.Key
	for _, n := range all {
		if key := (objective{Person: n.Person, Subject: n.Subject, Key: n.Objective}); n.kind == event.MasteryUpdated {
			at[key] = n
			keys = append(keys, key)
		}
	}
	f.mastery = map[objective]bool{}
	if len(keys) == 0 {
		return nil
	}
	levels, err := mastery.Of(ctx, tx, keys)
	for _, o := range levels {
		key := objective{Person: o.Person, Subject: o.Subject, Key: o.Key}
		level := o.LevelAt(at[key].at)
		f.mastery[key] = level == mastery.Secure || level == mastery.Strong
	}
	return err
}

const selectResults = `
	SELECT r.id, r.kind, r.state IN ('released', 'contested'), COALESCE(r.passed, false), r.portal_id, r.unit_id, r.person_id,
		COALESCE((SELECT s.sandbox FROM session s WHERE s.org_id = r.org_id AND s.id = r.session_id), false)
	FROM result r WHERE r.org_id = $1 AND r.id = ANY($2)`
