package cohort

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/few"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// The ledger of a subject keeps what was ever told of the results of the subject, whoever asked and of whichever group: the
// classes of all people in any figure (few.Classes), those of the values in each sum, and of each group
// what was told of it last. A result is of one subject, and all that is told of it is told beside that
// ledger; so sums of several subjects are of different records.
//
// That is kept of three things. Of people: or how many there are could be worked out, of figures in which others have new
// values. Of what each has in a part: or the change of one could be, of the same people before and after. And of all that each has
// together: or what one part tells of somebody could be worked out by another, which was told at another time.
//
// Nothing of a ledger is ever deleted but with the organization: who is erased was in what was told, and what is told
// afterwards must not tell who it was. It has digests of ids and values, by a secret of its own.

// The kinds of the classes of people, and of all that they have. The others are named as parts of the figures are.
const (
	everybody  = "people"
	everything = "versions"
)

const (
	// mostRecords is how many records of a kind a ledger has. What would need more is not told.
	mostRecords = 150_000
	// mostGroups is of how many groups of a subject figures are kept. Of more nothing is told.
	mostGroups = 2000
)

// people are some of a part, each with what they have.
type people []few.Record

func (p people) len() int64 { return int64(len(p)) }

// MarshalJSON writes them as bytes.
func (p people) MarshalJSON() ([]byte, error) { return json.Marshal(few.Written(p)) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *people) UnmarshalJSON(text []byte) error {
	var b []byte
	if err := json.Unmarshal(text, &b); err != nil {
		return err
	}
	all, err := few.Records(b)
	*p = all
	return err
}

// kept is a part as it was told last of a group.
type kept struct {
	// Begins are the blocks with which Groups begin, but for the first.
	Begins []int    `json:"begins"`
	Groups []people `json:"groups"`
	// Versions are all those people, in their order, with all that they had besides.
	Versions  people    `json:"versions"`
	Sum       float64   `json:"sum"`
	CountedAt time.Time `json:"countedAt"`
}

func (k *kept) all() people {
	all := slices.Concat(k.Groups...)
	slices.SortFunc(all, byPerson)
	return all
}

func (k *kept) people() (n int64) {
	for _, g := range k.Groups {
		n += g.len()
	}
	return n
}

func byPerson(a, b few.Record) int {
	switch {
	case a.Person < b.Person:
		return -1
	case a.Person > b.Person:
		return 1
	}
	return 0
}

// ledger is that of a subject, with what is kept of one group.
type ledger struct {
	salt    []byte
	classes map[string]*few.Classes
	kept    map[string]*kept
	// closed says that of the group nothing may be told that was not told before.
	closed bool
	// versions are all that people have, as far as that was asked for.
	versions map[*learner]few.Record
	// changed are the kinds of classes, and told the parts, that are to be written.
	changed, told map[string]bool
}

// digest is that of a person, and something that is of them.
func (l *ledger) digest(of *learner, what ...[]byte) uint64 {
	h := hmac.New(sha256.New, l.salt)
	h.Write(of.person[:])
	for _, part := range what {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write(part)
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}

func bits(x float64) []byte { return binary.BigEndian.AppendUint64(nil, math.Float64bits(x)) }

// record is a person's value in a part, as digests.
func (l *ledger) record(of string, e entry) few.Record {
	return few.Record{Person: l.version(e.of).Person, Value: l.digest(e.of, []byte(of), bits(e.value))}
}

// version is all that a person has.
func (l *ledger) version(of *learner) few.Record {
	if v, known := l.versions[of]; known {
		return v
	}
	what := [][]byte{[]byte(everything), bits(of.percent), []byte(of.band)}
	for _, o := range of.objectives {
		what = append(what, []byte(o.Key), bits(o.Mastery))
	}
	v := few.Record{Person: l.digest(of), Value: l.digest(of, what...)}
	if l.versions == nil {
		l.versions = map[*learner]few.Record{}
	}
	l.versions[of] = v
	return v
}

// whom are people whatever they have.
func whom(of people) people {
	who := make(people, len(of))
	for i, r := range of {
		who[i] = few.Record{Person: r.Person}
	}
	return who
}

// counted are a part's people by its blocks, as digests.
type counted struct {
	blocks []people
	// values are what each has, and versions what they have in all.
	values   map[few.Record]float64
	versions map[uint64]few.Record
}

func (l *ledger) counted(p part) counted {
	c := counted{make([]people, p.blocks), make(map[few.Record]float64, len(p.people)), make(map[uint64]few.Record, len(p.people))}
	for _, e := range p.people {
		r, block := l.record(p.name, e), min(e.block, p.blocks-1)
		c.blocks[block] = append(c.blocks[block], r)
		c.values[r], c.versions[r.Person] = e.value, l.version(e.of)
	}
	return c
}

// laid puts blocks of people together, in an order of their own.
func laid(begins []int, blocks []people) []people {
	groups := make([]people, len(begins)+1)
	for block, some := range blocks {
		at := group(begins, block)
		groups[at] = append(groups[at], some...)
	}
	for _, g := range groups {
		slices.SortFunc(g, byPerson)
	}
	return groups
}

// tell is a part of a group's figures as it may be told: as it is now, or as it was told before along with those who are new
// in it, or as it was told before. It is nil for nothing, which does not say whether there are few people or
// none. What is told anew is entered.
func (l *ledger) tell(p part, now time.Time) *kept {
	had := l.kept[p.name]
	c := l.counted(p)
	if l.closed || had != nil && slices.EqualFunc(had.Groups, laid(had.Begins, c.blocks), slices.Equal[people]) {
		return had
	}
	for _, begins := range layouts(p.blocks) {
		k := &kept{Begins: begins, Groups: laid(begins, c.blocks), CountedAt: now}
		k.add(k.all(), c)
		if l.enter(p.name, k) {
			return k
		}
	}
	if had == nil {
		return nil
	}
	if k := l.grown(p, had, c, now); k != nil {
		return k
	}
	return had
}

// add counts in what some have.
func (k *kept) add(some people, c counted) {
	for _, r := range some {
		k.Sum += c.values[r]
		k.Versions = append(k.Versions, c.versions[r.Person])
	}
	slices.SortFunc(k.Versions, byPerson)
}

// grown is what was told before with those who were not in it, where that may be told; else nil. What others have who were in it
// stays as it was: it changed for few.
func (l *ledger) grown(p part, had *kept, c counted, now time.Time) *kept {
	were := map[uint64]bool{}
	for _, r := range had.all() {
		were[r.Person] = true
	}
	var fresh []people
	for _, some := range c.blocks {
		fresh = append(fresh, slices.DeleteFunc(slices.Clone(some), func(r few.Record) bool { return were[r.Person] }))
	}
	if len(slices.Concat(fresh...)) == 0 {
		return nil
	}
	for _, begins := range layouts(p.blocks) {
		if slices.ContainsFunc(begins, func(b int) bool { return !slices.Contains(had.Begins, b) }) {
			continue // those who were in it are not known by so many blocks
		}
		k := &kept{Begins: begins, Groups: laid(begins, fresh), Versions: slices.Clone(had.Versions), Sum: had.Sum, CountedAt: now}
		k.add(k.all(), c)
		for i, g := range had.Groups {
			at := 0
			if i > 0 {
				at = group(begins, had.Begins[i-1])
			}
			k.Groups[at] = append(k.Groups[at], g...)
			slices.SortFunc(k.Groups[at], byPerson)
		}
		if l.enter(p.name, k) {
			return k
		}
	}
	return nil
}

// enter says whether something may be told beside all that was, and if so notes that it is.
func (l *ledger) enter(name string, k *kept) bool {
	who := [][]few.Record{whom(k.all())}
	for _, g := range k.Groups {
		if g.len() < few.Least {
			return false // which Tell would find out at length
		}
		if len(k.Groups) > 1 {
			who = append(who, whom(g))
		}
	}
	var entered []func()
	for _, of := range []struct {
		kind string
		sets [][]few.Record
	}{{everybody, who}, {name, [][]few.Record{k.all()}}, {everything, [][]few.Record{k.Versions}}} {
		if l.classes[of.kind] == nil {
			l.classes[of.kind] = &few.Classes{}
		}
		takeBack, may := l.classes[of.kind].Tell(of.sets...)
		if may {
			entered = append(entered, takeBack)
		}
		if !may || l.classes[of.kind].Len() > mostRecords {
			for _, takeBack := range entered {
				takeBack()
			}
			return false
		}
	}
	l.kept[name] = k
	l.changed[everybody], l.changed[name], l.changed[everything], l.told[name] = true, true, true, true
	return true
}

// figures are what is told of people.
func (l *ledger) figures(all []*learner, now time.Time) Figures {
	f := Figures{Results: l.tell(results(all), now).asResults(), Objectives: []Objective{}}
	parts := map[string]part{}
	for _, p := range objectives(all) {
		parts[p.name] = p
	}
	// Of what nobody has any more is told what was told.
	for name := range l.kept {
		if _, there := parts[name]; !there && strings.HasPrefix(name, ofMastery) {
			parts[name] = part{name: name, blocks: 2}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if k := l.tell(parts[name], now); k != nil {
			f.Objectives = append(f.Objectives, k.asObjective(strings.TrimPrefix(name, ofMastery)))
		}
	}
	return f
}

// Tell is what is told of a group now. It is noted before it is answered: whoever asks again, also where this
// was lost on the way, is told the same. It rides told_ledger_pkey, told_class_pkey and told_figure_pkey.
func Tell(ctx context.Context, t *tenant.Tenants, org id.Org, s Selection, now time.Time) (f Figures, err error) {
	all, err := s.people(ctx, t, org, now)
	if err != nil {
		return f, err
	}
	err = t.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		l, err := read(ctx, tx, s, now)
		if err != nil {
			return err
		}
		f = l.figures(all, now)
		return l.write(ctx, tx, s)
	}, tenant.Idempotent(true))
	return f, err
}

// form is a row of classes, or of what is kept.
type form struct {
	Kind string
	Form []byte
}

// read finds the ledger of a subject, and keeps others from telling anything of it until the commit.
func read(ctx context.Context, tx *tenant.Tx, s Selection, now time.Time) (l ledger, err error) {
	l = ledger{classes: map[string]*few.Classes{}, kept: map[string]*kept{}, changed: map[string]bool{}, told: map[string]bool{}}
	salt := make([]byte, 32)
	if _, err := rand.Read(salt); err != nil {
		return l, err
	}
	tx.Touch("told_ledger", s.Subject)
	if _, err := tx.Exec(ctx, `
		INSERT INTO told_ledger (org_id, subject_id, salt, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (org_id, subject_id) DO NOTHING`,
		tx.Org, s.Subject, salt, now); err != nil {
		return l, err
	}
	if err := tx.QueryRow(ctx, `SELECT salt FROM told_ledger WHERE org_id = $1 AND subject_id = $2 FOR UPDATE`, tx.Org, s.Subject).Scan(&l.salt); err != nil {
		return l, err
	}
	classes, err := tenant.AllIn(ctx, tx, pgx.RowToStructByPos[form], `SELECT kind, form FROM told_class WHERE org_id = $1 AND subject_id = $2`, tx.Org, s.Subject)
	if err != nil {
		return l, err
	}
	for _, c := range classes {
		of, err := few.Read(c.Form)
		if err != nil {
			return l, err
		}
		l.classes[c.Kind] = &of
	}
	figures, err := tenant.AllIn(ctx, tx, pgx.RowToStructByPos[form], `
		SELECT kind, form FROM told_figure WHERE org_id = $1 AND subject_id = $2 AND selection = $3`, tx.Org, s.Subject, s.key())
	if err != nil {
		return l, err
	}
	for _, f := range figures {
		k := &kept{}
		if err := json.Unmarshal(f.Form, k); err != nil {
			return l, err
		}
		l.kept[f.Kind] = k
	}
	if len(figures) > 0 {
		return l, nil
	}
	var groups int64
	err = tx.QueryRow(ctx, `SELECT count(DISTINCT selection) FROM told_figure WHERE org_id = $1 AND subject_id = $2`, tx.Org, s.Subject).Scan(&groups)
	l.closed = groups >= mostGroups
	return l, err
}

// word is a part of a row's key.
type word string

func (w word) String() string { return string(w) }

// write enters what is told anew.
func (l *ledger) write(ctx context.Context, tx *tenant.Tx, s Selection) error {
	for kind := range l.changed {
		tx.Touch("told_class", s.Subject, word(kind))
		if _, err := tx.Exec(ctx, `
			INSERT INTO told_class (org_id, subject_id, kind, form) VALUES ($1, $2, $3, $4)
			ON CONFLICT (org_id, subject_id, kind) DO UPDATE SET form = excluded.form`, tx.Org, s.Subject, kind, l.classes[kind].Bytes()); err != nil {
			return err
		}
	}
	for kind := range l.told {
		text, err := json.Marshal(l.kept[kind])
		if err != nil {
			return err
		}
		tx.Touch("told_figure", s.Subject, word(s.key()), word(kind))
		if _, err := tx.Exec(ctx, `
			INSERT INTO told_figure (org_id, subject_id, selection, kind, form) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (org_id, subject_id, selection, kind) DO UPDATE SET form = excluded.form`, tx.Org, s.Subject, s.key(), kind, text); err != nil {
			return err
		}
	}
	return nil
}
