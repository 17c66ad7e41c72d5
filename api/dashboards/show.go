package dashboards

import (
	"time"

	"visavis.dev/pkg/figures/dashboard"
)

// Dashboard is the figures of a period (spec, Dashboards).
type Dashboard struct {
	Key         dashboard.Key         `json:"key" enum:"overview,conversations,questions,learning,inbox,hiring,usage,delivery" doc:"Which dashboard it is."`
	From        time.Time             `json:"from" doc:"Where the period begins, in UTC."`
	To          time.Time             `json:"to" doc:"Where the period ends, in UTC; the moment itself is not in it."`
	Timezone    string                `json:"timezone" doc:"The time zone whose clock and calendar the parts go by."`
	Granularity dashboard.Granularity `json:"granularity" enum:"hour,day,week,month" doc:"How long the parts of the period are."`
	Tiles       []Tile                `json:"tiles" doc:"The figures of the whole period."`
	Series      []Series              `json:"series" doc:"Figures of each part of the period."`
	Tables      []Table               `json:"tables" doc:"Figures by name."`
	GeneratedAt time.Time             `json:"generatedAt" doc:"When this was answered, in UTC."`
	FreshToS    int64                 `json:"freshToS" doc:"How many seconds ago everything was counted that had happened until then."`
}

// Tile is one figure.
type Tile struct {
	Key      string   `json:"key" doc:"Its name."`
	Label    string   `json:"label" doc:"What it counts, in English."`
	Value    *float64 `json:"value" doc:"The figure; null where nothing was counted, or of too few people."`
	Unit     string   `json:"unit" enum:"count,percent,minutes,seconds,milliseconds" doc:"What the value is in."`
	Previous *float64 `json:"previous" doc:"The figure of the period before; null where it is not known or was not asked for."`
	Change   *float64 `json:"change" doc:"From previous to value, in percent; null where either is not known or previous is 0."`
}

// Series is a figure for each part of the period.
type Series struct {
	Key    string  `json:"key" doc:"The tile that it is of."`
	Points []Point `json:"points" doc:"The parts, oldest first."`
}

// Point is a figure of one part.
type Point struct {
	At    time.Time `json:"at" doc:"When the part begins, in UTC. The first may begin before the period, which its figure does not."`
	Value *float64  `json:"value" doc:"The figure; null where nothing was counted, or of too few people."`
}

// Table is figures by name.
type Table struct {
	Key     string   `json:"key" doc:"Its name."`
	Label   string   `json:"label" doc:"What it shows, in English."`
	Columns []Column `json:"columns" doc:"What its columns are."`
	Rows    [][]any  `json:"rows" doc:"At most twenty rows, the largest or newest first, each with a text, a number or null for every column."`
}

// Column is a column of a table.
type Column struct {
	Key   string `json:"key" doc:"Its name."`
	Label string `json:"label" doc:"What it is, in English."`
	Type  string `json:"type" enum:"text,number" doc:"What its values are."`
}

func show(f dashboard.Figures, now time.Time) Dashboard {
	shown := Dashboard{
		Key: f.Definition.Key, From: f.Period.From.UTC(), To: f.Period.To.UTC(), Timezone: f.Period.Zone.String(), Granularity: f.Period.Granularity,
		Tiles: []Tile{}, Series: []Series{}, Tables: []Table{}, GeneratedAt: now, FreshToS: int64(now.Sub(f.FreshTo) / time.Second),
	}
	for _, t := range f.Tiles {
		shown.Tiles = append(shown.Tiles, Tile{t.Key, t.Label, t.Value, t.Unit, t.Previous, t.Change})
	}
	for _, s := range f.Series {
		points := make([]Point, len(s.Points))
		for i, p := range s.Points {
			points[i] = Point{p.At.UTC(), p.Value}
		}
		shown.Series = append(shown.Series, Series{s.Key, points})
	}
	for _, t := range f.Tables {
		columns := make([]Column, len(t.Columns))
		for i, k := range t.Columns {
			columns[i] = Column(k)
		}
		shown.Tables = append(shown.Tables, Table{t.Key, t.Label, columns, t.Rows})
	}
	return shown
}
