package dashboard

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// place is where something is counted: in an area, of a portal and a unit or of all, in a slot.
type place struct {
	area         area
	portal, unit uuid.UUID
	at           time.Time
}

// factKind is what a fact is of.
type factKind string

// The kinds of facts.
const (
	captured  factKind = "lead"
	rated     factKind = "rating"
	scored    factKind = "result"
	completed factKind = "completion"
	// sent is a delivery that has not come to an end.
	sent factKind = "delivery"
)

type factKey struct {
	kind factKind
	id   uuid.UUID
}

// fact is what was counted of a thing, and in which slot.
type fact struct {
	At     time.Time `json:"-"`
	Counts counts    `json:"counts,omitempty"`
	Unit   id.Unit   `json:"unit"`
}

// word is a part of a row's key.
type word string

func (w word) String() string { return string(w) }

// The sources of figures.
const (
	fromEvents     = "events"
	fromDeliveries = "deliveries"
)

// cursor is how far a source was counted.
type cursor struct {
	source string
	after  id.Event
	live   map[uuid.UUID]int64
}

// lockCursor finds how far a source was counted, and has others who count wait until the commit.
// It rides dashboard_cursor_pkey.
func lockCursor(ctx context.Context, tx *tenant.Tx, source string) (c cursor, err error) {
	c.source = source
	tx.Touch("dashboard_cursor", word(source))
	if _, err := tx.Exec(ctx, `
		INSERT INTO dashboard_cursor (org_id, source, after, live) VALUES ($1, $2, $3, '{}')
		ON CONFLICT (org_id, source) DO NOTHING`, tx.Org, source, uuid.UUID{}); err != nil {
		return c, err
	}
	err = tx.QueryRow(ctx, `SELECT after, live FROM dashboard_cursor WHERE org_id = $1 AND source = $2 FOR UPDATE`, tx.Org, source).
		Scan(&c.after, &c.live)
	if c.live == nil {
		c.live = map[uuid.UUID]int64{}
	}
	return c, err
}

func (c cursor) queueSave(tx *tenant.Tx, b *pgx.Batch) {
	for p, n := range c.live {
		if n == 0 {
			delete(c.live, p)
		}
	}
	tx.Touch("dashboard_cursor", word(c.source))
	b.Queue(`UPDATE dashboard_cursor SET after = $3, live = $4 WHERE org_id = $1 AND source = $2`, tx.Org, c.source, uuid.UUID(c.after), c.live)
}

// readFacts rides dashboard_fact_pkey.
func readFacts(ctx context.Context, tx *tenant.Tx, keys []factKey) (map[factKey]fact, error) {
	facts := map[factKey]fact{}
	if len(keys) == 0 {
		return facts, nil
	}
	var (
		kinds = make([]string, len(keys))
		ids   = make([]uuid.UUID, len(keys))
	)
	for i, k := range keys {
		kinds[i], ids[i] = string(k.kind), k.id
	}
	found, err := tx.Query(ctx, selectFacts, tx.Org, kinds, ids)
	if err != nil {
		return nil, err
	}
	var (
		key  factKey
		at   time.Time
		body json.RawMessage
	)
	_, err = pgx.ForEachRow(found, []any{&key.kind, &key.id, &at, &body}, func() error {
		f := fact{At: at.UTC()}
		err := json.Unmarshal(body, &f)
		facts[key] = f
		return err
	})
	return facts, err
}

const selectFacts = `
	SELECT f.kind, f.id, f.at, f.body FROM unnest($2::TEXT[], $3::UUID[]) AS k (kind, id)
	JOIN dashboard_fact f ON f.org_id = $1 AND f.kind = k.kind AND f.id = k.id`

func queueFacts(tx *tenant.Tx, b *pgx.Batch, facts map[factKey]fact, changed map[factKey]bool) {
	for key := range changed {
		tx.Touch("dashboard_fact", word(key.kind), key.id)
		b.Queue(`
			INSERT INTO dashboard_fact (org_id, kind, id, at, body) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (org_id, kind, id) DO UPDATE SET at = excluded.at, body = excluded.body`,
			tx.Org, key.kind, key.id, facts[key].At, facts[key])
	}
}

// readWaiting reads all that waits in some groups, or of some people. It rides
// dashboard_waiting_pkey and dashboard_waiting_by_person.
func readWaiting(ctx context.Context, tx *tenant.Tx, measures []string, portals, people []uuid.UUID) (map[group]map[uuid.UUID]counts, error) {
	all := map[group]map[uuid.UUID]counts{}
	take := func(found pgx.Rows, err error) error {
		if err != nil {
			return err
		}
		var (
			g      group
			person uuid.UUID
			n      counts
		)
		_, err = pgx.ForEachRow(found, []any{&g.measure, &g.portal, &g.unit, &person, &n}, func() error {
			if all[g] == nil {
				all[g] = map[uuid.UUID]counts{}
			}
			all[g][person], n = n, nil
			return nil
		})
		return err
	}
	if len(measures) > 0 {
		if err := take(tx.Query(ctx, selectWaiting, tx.Org, measures, portals)); err != nil {
			return nil, err
		}
	}
	if len(people) > 0 {
		return all, take(tx.Query(ctx, selectWaitingOf, tx.Org, people))
	}
	return all, nil
}

const (
	selectWaiting = `
		SELECT measure, portal_id, unit_id, person_id, counts FROM dashboard_waiting
		WHERE org_id = $1 AND measure = ANY($2) AND portal_id = ANY($3)`
	selectWaitingOf = `
		SELECT measure, portal_id, unit_id, person_id, counts FROM dashboard_waiting WHERE org_id = $1 AND person_id = ANY($2)`
)

// queueWaiting writes what waits. at is when the last of the step happened.
func queueWaiting(tx *tenant.Tx, b *pgx.Batch, waiting map[group]map[uuid.UUID]counts, changed map[waiter]bool, at time.Time) {
	for w := range changed {
		tx.Touch("dashboard_waiting", word(w.measure), w.portal, w.unit, w.person)
		n, ok := waiting[w.group][w.person]
		if !ok {
			b.Queue(`
				DELETE FROM dashboard_waiting WHERE org_id = $1 AND measure = $2 AND portal_id = $3 AND unit_id = $4 AND person_id = $5`,
				tx.Org, w.measure, w.portal, w.unit, w.person)
			continue
		}
		b.Queue(`
			INSERT INTO dashboard_waiting (org_id, measure, portal_id, unit_id, person_id, counts, at) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (org_id, measure, portal_id, unit_id, person_id) DO UPDATE SET counts = excluded.counts, at = excluded.at`,
			tx.Org, w.measure, w.portal, w.unit, w.person, n, at)
	}
}

// addCells adds to what was counted in some places. Only who has the source's cursor does. It
// rides dashboard_count_pkey.
func addCells(ctx context.Context, tx *tenant.Tx, b *pgx.Batch, cells map[place]counts) error {
	var (
		areas          []string
		portals, units []uuid.UUID
		ats            []time.Time
	)
	for p := range cells {
		areas, portals, units, ats = append(areas, string(p.area)), append(portals, p.portal), append(units, p.unit), append(ats, p.at)
	}
	found, err := tx.Query(ctx, selectCells, tx.Org, areas, portals, units, ats)
	if err != nil {
		return err
	}
	var (
		p      place
		before counts
		sums   = map[place]counts{}
	)
	if _, err := pgx.ForEachRow(found, []any{&p.area, &p.portal, &p.unit, &p.at, &before}, func() error {
		p.at = p.at.UTC()
		sums[p], before = before, nil
		return nil
	}); err != nil {
		return err
	}
	for p, n := range cells {
		if sums[p] == nil {
			sums[p] = counts{}
		}
		sums[p].add(n)
		tx.Touch("dashboard_count", word(p.area), p.portal, p.unit, word(p.at.Format(time.RFC3339)))
		b.Queue(`
			INSERT INTO dashboard_count (org_id, area, portal_id, unit_id, at, counts) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (org_id, area, portal_id, unit_id, at) DO UPDATE SET counts = excluded.counts`,
			tx.Org, p.area, p.portal, p.unit, p.at, sums[p])
	}
	return nil
}

const selectCells = `
	SELECT c.area, c.portal_id, c.unit_id, c.at, c.counts
	FROM unnest($2::TEXT[], $3::UUID[], $4::UUID[], $5::TIMESTAMPTZ[]) AS p (area, portal_id, unit_id, at)
	JOIN dashboard_count c ON c.org_id = $1 AND c.area = p.area AND c.portal_id = p.portal_id AND c.unit_id = p.unit_id AND c.at = p.at`
