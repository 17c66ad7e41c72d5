package cohort

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/few"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/mastery"
	"visavis.dev/pkg/store/tenant"
)

// What was told of a group is kept, with a digest of what each of its people had a part in it with. As long as
// fewer than few.Least of them changed, what was told is told again: the difference would be of those
// who did. So it is where two groups of a subject differ by few, such as a class and all of
// the portal's but for three. Digests tell nobody's name without the salt and the person's id.

// trace is a digest of a person, and one of their part in figures.
type trace [16]byte

// whose is the part that tells people apart.
func (p trace) whose() [8]byte { return [8]byte(p[:8]) }

// prints are in order.
type prints []trace

func (p prints) bytes() []byte {
	b := []byte{}
	for _, one := range p {
		b = append(b, one[:]...)
	}
	return b
}

func printsOf(b []byte) (p prints) {
	for some := range slices.Chunk(b, len(trace{})) {
		var one trace
		copy(one[:], some)
		p = append(p, one)
	}
	return p
}

func (p prints) sort() prints {
	slices.SortFunc(p, func(a, b trace) int { return bytes.Compare(a[:], b[:]) })
	return p
}

// without are those that are not in others.
func (p prints) without(others prints) (left prints) {
	for _, one := range p {
		if !others.has(one) {
			left = append(left, one)
		}
	}
	return left
}

func (p prints) has(one trace) bool {
	_, found := slices.BinarySearchFunc(p, one, func(a, b trace) int { return bytes.Compare(a[:], b[:]) })
	return found
}

// apart is of how many people two differ.
func (p prints) apart(other prints) int64 {
	people := map[[8]byte]bool{}
	for _, one := range slices.Concat(p.without(other), other.without(p)) {
		people[one.whose()] = true
	}
	return int64(len(people))
}

// lost says whether somebody is not in others at all.
func (p prints) lost(others prints) bool {
	people := map[[8]byte]bool{}
	for _, one := range others {
		people[one.whose()] = true
	}
	return slices.ContainsFunc(p, func(one trace) bool { return !people[one.whose()] })
}

// digest is that of a person's part in figures.
func digest(salt []byte, l *learner, of func(add func(...any))) (p trace) {
	h := sha256.New()
	h.Write(salt)
	h.Write(l.person[:])
	copy(p[:8], h.Sum(nil))
	of(func(values ...any) {
		for _, v := range values {
			text := fmt.Sprint(v)
			var size [8]byte
			binary.BigEndian.PutUint64(size[:], uint64(len(text)))
			h.Write(size[:])
			h.Write([]byte(text))
		}
	})
	copy(p[8:], h.Sum(nil))
	return p
}

// part is a figure, or some that change together, with those whom it is of.
type part struct {
	name string
	// of adds what a person has a part in it with, and is false of who has none.
	of func(l *learner, add func(...any)) bool
	// told says that there is something to tell, value where it is put, and none leaves nothing there.
	told  bool
	value any
	none  func()
}

func (p *part) prints(salt []byte, all []*learner) (of prints) {
	for _, l := range all {
		in := false
		one := digest(salt, l, func(add func(...any)) { in = p.of(l, add) })
		if in {
			of = append(of, one)
		}
	}
	return of.sort()
}

// number is a part that is how many people there are of some.
func number(name string, n **int64, is func(l *learner) bool) part {
	return part{
		name: name, of: func(l *learner, _ func(...any)) bool { return is(l) },
		told: *n != nil && **n > 0, value: n, none: func() { *n = nil },
	}
}

// table is a part that is a list of figures by what people scored, and something else of it.
func table[T any](name string, rows *[]T, with func(l *learner) any) part {
	return part{
		name: name, told: len(*rows) > 0, value: rows, none: func() { *rows = []T{} },
		of: func(l *learner, add func(...any)) bool {
			if l.scored == nil {
				return false
			}
			add(math.Float64bits(l.scored.percent), with(l))
			return true
		},
	}
}

// parts are those of figures that do not come in lists of which each is one.
func (f *Figures) parts() []part {
	passed := func(l *learner) bool { return l.scored != nil && l.scored.passed != nil && *l.scored.passed }
	average := table("average", new([]int), func(*learner) any { return nil })
	average.told, average.value, average.none = f.AveragePercent != nil, &f.AveragePercent, func() { f.AveragePercent = nil }
	return []part{
		number("asked", &f.Asked, func(*learner) bool { return true }),
		number("began", &f.Began, func(l *learner) bool { return l.began }),
		number("completed", &f.Completed, func(l *learner) bool { return l.completed }),
		number("scored", &f.Scored, func(l *learner) bool { return l.scored != nil }),
		number("passed", &f.Passed, passed),
		average,
		table("spread", &f.Spread, func(l *learner) any { return passed(l) }),
		table("periods", &f.Periods, func(l *learner) any { return l.scored.completed.Format("2006-01") }),
		table("units", &f.Units, func(l *learner) any { return l.unit }),
	}
}

// parts of a criterion, and of an objective: each is one.
func (c *Criterion) part(there *bool) part {
	return part{
		name: "criterion " + c.Key, told: true, value: c, none: func() { *there = false },
		of: func(l *learner, add func(...any)) bool {
			if l.scored == nil {
				return false
			}
			at := slices.IndexFunc(l.scored.criteria, func(s share) bool { return s.key == c.Key })
			if at >= 0 {
				add(math.Float64bits(l.scored.criteria[at].of))
			}
			return at >= 0
		},
	}
}

func (o *Objective) part(there *bool) part {
	return part{
		name: "objective " + o.Key, told: true, value: o, none: func() { *there = false },
		of: func(l *learner, add func(...any)) bool {
			at := slices.IndexFunc(l.objectives, func(m mastery.Objective) bool { return m.Key == o.Key })
			if at >= 0 {
				add(math.Float64bits(l.objectives[at].Known), l.objectives[at].Evidence)
			}
			return at >= 0
		},
	}
}

// row is what is kept of a selection and a part.
type row struct {
	Selection, Part string
	Prints          []byte
	Figures         json.RawMessage
	Edition         int64
	CountedAt       time.Time
}

// family is what is kept of all selections of a subject.
type family struct {
	of      id.Subject
	salt    []byte
	edition int64
	rows    []row
}

// read finds what is kept of a subject, where there is a salt by then. It rides cohort_figures_pkey.
func read(ctx context.Context, t *tenant.Tenants, org id.Org, of id.Subject, now time.Time) (f family, err error) {
	f.of = of
	for range 2 {
		f.rows, err = tenant.All(ctx, t, org, pgx.RowToStructByPos[row], `
			SELECT selection, part, prints, figures, edition, counted_at FROM cohort_figures WHERE org_id = $1 AND subject_id = $2 ORDER BY selection, part`, org, of)
		if err != nil {
			return f, err
		}
		if len(f.rows) > 0 && f.rows[0].Selection == "" {
			f.salt, f.edition, f.rows = f.rows[0].Prints, f.rows[0].Edition, f.rows[1:]
			return f, nil
		}
		salt := make([]byte, 32)
		if _, err := rand.Read(salt); err != nil {
			return f, err
		}
		if err := t.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
			return write(ctx, tx, of, row{Prints: salt, Figures: json.RawMessage("{}"), Edition: 1, CountedAt: now}, true)
		}, tenant.Idempotent(true)); err != nil {
			return f, err
		}
	}
	return f, errors.New("the salt of a subject's figures is gone")
}

// kept is what is kept of a selection and a part; nil for nothing.
func (f *family) kept(key, part string) *row {
	at := slices.IndexFunc(f.rows, func(r row) bool { return r.Selection == key && r.Part == part })
	if at < 0 {
		return nil
	}
	return &f.rows[at]
}

// fits says whether something of people may be told anew of a selection, beside all that is kept.
func (f *family) fits(key, part string, now prints) bool {
	all := map[string]prints{}
	for _, r := range f.rows {
		if r.Part == part {
			all[r.Selection] = printsOf(r.Prints)
		}
	}
	for _, other := range all {
		if !few.May(now.apart(other)) {
			return false
		}
	}
	all[key] = now
	// Nor may what is left of one beside all that lie in it.
	for a, whole := range all {
		var inside prints
		for b, other := range all {
			if a != b && len(other) < len(whole) && len(other.without(whole)) == 0 {
				inside = append(inside, other...)
			}
		}
		if !few.May(int64(len(whole.without(inside.sort())))) {
			return false
		}
	}
	return true
}

// Counted are a selection's figures, and what is to be kept of them.
type Counted struct {
	Figures
	// Selection is whom they are of.
	Selection Selection

	family  family
	changes []row
}

// Count counts a selection as it is now, or tells what was told before.
func Count(ctx context.Context, t *tenant.Tenants, org id.Org, s Selection, now time.Time) (c Counted, err error) {
	c.Selection = s
	if c.family, err = read(ctx, t, org, s.Subject, now); err != nil {
		return c, err
	}
	all, err := s.people(ctx, t, org, now)
	if err != nil {
		return c, err
	}
	names, err := unitNames(ctx, t, org, s.Portal)
	if err != nil {
		return c, err
	}
	return c, c.tell(all, names, now)
}

// tell counts people, and leaves of it what may be told beside what is kept.
func (c *Counted) tell(all []*learner, names map[id.Unit]string, now time.Time) error {
	c.Figures = count(all, names, now)
	for _, p := range c.parts() {
		if err := c.settle(p, all, now); err != nil {
			return err
		}
	}
	var criteria []Criterion
	for _, k := range c.Criteria {
		there := true
		if err := c.settle(k.part(&there), all, now); err != nil {
			return err
		}
		if there {
			criteria = append(criteria, k)
		}
	}
	var objectives []Objective
	for _, o := range c.Objectives {
		there := true
		if err := c.settle(o.part(&there), all, now); err != nil {
			return err
		}
		if there {
			objectives = append(objectives, o)
		}
	}
	c.Criteria, c.Objectives = append([]Criterion{}, criteria...), append([]Objective{}, objectives...)
	c.trim()
	c.mark()
	return nil
}

// settle leaves a part of the figures as it is told: as it was counted now, as it was told before, or not at all.
func (c *Counted) settle(p part, all []*learner, now time.Time) error {
	key, of := c.Selection.key(), p.prints(c.family.salt, all)
	had := c.family.kept(key, p.name)
	switch {
	case p.told && had != nil && slices.Equal(printsOf(had.Prints), of): // nothing changed
	case p.told && c.family.fits(key, p.name, of):
		text, err := json.Marshal(p.value)
		c.changes = append(c.changes, row{Selection: key, Part: p.name, Prints: of.bytes(), Figures: text, CountedAt: now})
		return err
	case had == nil && len(of) == 0:
		return nil // that it is nobody may be told
	case had == nil || printsOf(had.Prints).lost(of):
		p.none() // whose result was voided, or who was erased, is told of no more
		return nil
	}
	if had.CountedAt.Before(c.CountedAt) {
		c.CountedAt = had.CountedAt.UTC()
	}
	return json.Unmarshal(had.Figures, p.value)
}

// Keep notes what is told, before it is. It is false, and nothing is noted, where others were noted of one of
// the subjects since these were counted: they are to be counted anew. It rides cohort_figures_pkey.
func Keep(ctx context.Context, tx *tenant.Tx, all []Counted) (bool, error) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Counted) int { return slices.Compare(a.family.of[:], b.family.of[:]) })
	for _, c := range all {
		var edition int64
		if err := tx.QueryRow(ctx, `
			SELECT edition FROM cohort_figures WHERE org_id = $1 AND subject_id = $2 AND selection = '' AND part = '' FOR UPDATE`,
			tx.Org, c.family.of).Scan(&edition); err != nil {
			return false, err
		}
		if edition != c.family.edition {
			return false, nil
		}
	}
	for _, c := range all {
		if len(c.changes) == 0 {
			continue
		}
		head := row{Prints: c.family.salt, Figures: json.RawMessage("{}"), Edition: c.family.edition + 1, CountedAt: c.changes[0].CountedAt}
		for _, r := range append([]row{head}, c.changes...) {
			r.Edition = head.Edition
			if err := write(ctx, tx, c.family.of, r, false); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// word is a part of a row's key.
type word string

func (w word) String() string { return string(w) }

// write enters a row, in the place of the one that there is, unless only once.
func write(ctx context.Context, tx *tenant.Tx, of id.Subject, r row, once bool) error {
	tx.Touch("cohort_figures", of, word(r.Selection), word(r.Part))
	sql := `
		INSERT INTO cohort_figures (org_id, subject_id, selection, part, prints, figures, edition, counted_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (org_id, subject_id, selection, part) DO
			UPDATE SET prints = excluded.prints, figures = excluded.figures, edition = excluded.edition, counted_at = excluded.counted_at`
	if once {
		sql = `
		INSERT INTO cohort_figures (org_id, subject_id, selection, part, prints, figures, edition, counted_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (org_id, subject_id, selection, part) DO NOTHING`
	}
	_, err := tx.Exec(ctx, sql, tx.Org, of, r.Selection, r.Part, r.Prints, r.Figures, r.Edition, r.CountedAt)
	return err
}

// unitNames are what the units of a portal are called. It rides unit_by_portal.
func unitNames(ctx context.Context, t *tenant.Tenants, org id.Org, on id.Portal) (map[id.Unit]string, error) {
	type named struct {
		ID   id.Unit
		Name string
	}
	found, err := tenant.All(ctx, t, org, pgx.RowToStructByPos[named], `SELECT id, name FROM unit WHERE org_id = $1 AND portal_id = $2`, org, on)
	names := map[id.Unit]string{}
	for _, n := range found {
		names[n.ID] = strings.TrimSpace(n.Name)
	}
	return names, err
}
