package dashboard

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/tenant"
)

// Query is what is asked of a dashboard.
type Query struct {
	Period
	// Portal and Unit are zero for the whole organization.
	Portal id.Portal
	Unit   id.Unit
	// Compare adds the figures of the period before.
	Compare bool
}

// Figures are what a dashboard says.
type Figures struct {
	Definition Definition
	Period     Period
	Tiles      []Tile
	Series     []Series
	Tables     []Table
	// FreshTo is up to when everything is counted.
	FreshTo time.Time

	query Query
	sum   counts
}

// Tile is one figure.
type Tile struct {
	Key, Label, Unit string
	// Value is nil where there is nothing to say, or too few people to say it of.
	Value *float64
	// Previous is that of the period before, and Change from it in percent; nil where either
	// is not known, or was not asked for.
	Previous, Change *float64
}

// Series is a figure for each part of the period.
type Series struct {
	Key    string
	Points []Point
}

// Point is a figure of the part that begins at a time.
type Point struct {
	At    time.Time
	Value *float64
}

// Read works out what a dashboard says. The error is an errdefs.Invalid of from, to, portalId or
// unitId.
func Read(ctx context.Context, t *tenant.Tenants, org id.Org, d Definition, q Query, now time.Time) (Figures, error) {
	f := Figures{Definition: d}
	switch {
	case !q.Portal.IsZero() && !d.ByPortal:
		return f, errdefs.InvalidField("portalId", "This dashboard is of the whole organization.")
	case !q.Unit.IsZero() && !d.ByUnit:
		return f, errdefs.InvalidField("unitId", "This dashboard is not counted by units.")
	}
	var err error
	if q.Period, err = q.whole(); err != nil {
		return f, err
	}
	f.Period, f.query = q.Period, q
	s, err := load(ctx, t, org, d, q)
	if err != nil {
		return f, err
	}
	f.FreshTo = now
	if since, err := event.Since(ctx, t, org, s.after); err != nil {
		return f, err
	} else if since != nil && since.Before(now) {
		f.FreshTo = *since
	}
	f.show(s)
	if !q.Unit.IsZero() {
		return f, nil
	}
	return f, f.tabulate(ctx, t, org, q)
}

// loaded is what was counted in each part of a period, and in the period before it.
type loaded struct {
	starts   []time.Time
	parts    []counts
	previous counts
	// before is how many sessions were live when the first of it began.
	before int64
	after  id.Event
}

// take adds what was counted in a slot. Those of an area come in order of time.
func (s *loaded) take(q Query, at time.Time, n counts) {
	if at.Before(q.From) {
		s.previous.add(n)
		return
	}
	later, _ := slices.BinarySearchFunc(s.starts, at, func(start, at time.Time) int {
		if start.After(at) {
			return 1
		}
		return -1
	})
	s.parts[max(0, later-1)].add(n)
}

// source is what the dashboard's figures are counted from.
func (d Definition) source() string {
	if slices.Contains(d.areas, ofDeliveries) {
		return fromDeliveries
	}
	return fromEvents
}

// load reads what was counted, and adds it up as it comes. It rides dashboard_count_pkey and dashboard_cursor_pkey.
func load(ctx context.Context, t *tenant.Tenants, org id.Org, d Definition, q Query) (s loaded, err error) {
	from := q.From
	if q.Compare {
		from = q.previous().From
	}
	portal, unit, starts := uuid.UUID(q.Portal), uuid.UUID(q.Unit), q.parts()
	err = t.Read(ctx, org, func(r *tenant.Reads) {
		s = loaded{starts: starts, parts: make([]counts, len(starts)), previous: counts{}}
		for i := range s.parts {
			s.parts[i] = counts{}
		}
		for _, a := range d.areas {
			r.Query(func(rows pgx.Rows) error {
				var (
					at time.Time
					n  counts
				)
				_, err := pgx.ForEachRow(rows, []any{&at, &n}, func() error {
					s.take(q, at, n)
					n = nil
					return nil
				})
				return err
			}, selectPeriod, org, a, portal, unit, from, q.To)
		}
		r.QueryRow(new(bool), []any{&s.before}, selectLive, org, portal, from)
		r.QueryRow(new(bool), []any{&s.after}, `SELECT after FROM dashboard_cursor WHERE org_id = $1 AND source = $2`, org, d.source())
	})
	return s, err
}

const (
	// A unit's rows are found by the portal too, which is the unit's own.
	selectPeriod = `
		SELECT at, counts FROM dashboard_count
		WHERE org_id = $1 AND area = $2 AND portal_id = $3 AND unit_id = $4 AND at >= $5 AND at < $6 ORDER BY at`
	selectLive = `
		SELECT COALESCE((counts->>'live')::BIGINT, 0) FROM dashboard_count
		WHERE org_id = $1 AND area = 'sessions' AND portal_id = $2 AND unit_id = '00000000-0000-0000-0000-000000000000' AND at < $3
		ORDER BY at DESC LIMIT 1`
)

// show works out the figures.
func (f *Figures) show(s loaded) {
	before := s.previous.after(s.before)
	f.sum = counts{peak: before, live: before}
	for _, part := range s.parts {
		before = part.after(before)
		f.sum.add(part)
	}
	for _, t := range f.Definition.tiles {
		shown := Tile{Key: t.key, Label: t.label, Unit: t.unit}
		if f.of(t) {
			shown.Value = t.value(f.sum)
			if f.query.Compare {
				shown.Previous = t.value(s.previous)
				shown.Change = change(shown.Value, shown.Previous)
			}
		}
		f.Tiles = append(f.Tiles, shown)
	}
	f.draw(s)
}

// of says whether a figure is counted of what was asked for.
func (f *Figures) of(t tile) bool { return f.query.Unit.IsZero() || t.ofUnits }

// after has counts know how many sessions were live before them, and answers how many are after.
func (c counts) after(before int64) int64 {
	c[peak] = max(c[peak], before)
	if _, ok := c[live]; !ok {
		c[live] = before
	}
	return c[live]
}

// draw works out the figures of each part.
func (f *Figures) draw(s loaded) {
	for _, t := range f.Definition.tiles {
		if !t.drawn || !f.of(t) {
			continue
		}
		one := Series{Key: t.key}
		for i, at := range s.starts {
			one.Points = append(one.Points, Point{at, t.value(s.parts[i])})
		}
		f.Series = append(f.Series, one)
	}
}

// change is from one figure to another in percent, to a tenth.
func change(to, from *float64) *float64 {
	if to == nil || from == nil || *from == 0 {
		return nil
	}
	return new(float64(int64((*to-*from) / *from * 1000)) / 10)
}

// tabulate makes the tables.
func (f *Figures) tabulate(ctx context.Context, t *tenant.Tenants, org id.Org, q Query) error {
	for _, one := range f.Definition.tables {
		var (
			rows   = one.rows(f.sum)
			titles map[string]string
			err    error
		)
		if one.key == topics {
			if titles, err = titlesOf(ctx, t, org, rows); err != nil {
				return err
			}
		}
		f.Tables = append(f.Tables, one.of(rows, titles))
	}
	switch f.Definition.Key {
	case Hiring:
		return f.impact(ctx, t, org, q)
	case Questions:
	default:
		return nil
	}
	latest, err := latestGaps(ctx, t, org, q)
	f.Tables = append(f.Tables, latest)
	return err
}
