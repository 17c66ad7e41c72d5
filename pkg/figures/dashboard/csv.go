package dashboard

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"time"

	"visavis.dev/pkg/figures/sheet"
)

// CSV writes the figures as lines: a line for each tile, each point of a series and each number
// of a table.
func (f *Figures) CSV() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	lines := [][]string{{"part", "key", "label", "at", "unit", "value", "previous", "change"}}
	units := map[string]Tile{}
	for _, t := range f.Tiles {
		units[t.Key] = t
		lines = append(lines, []string{"tile", t.Key, t.Label, "", t.Unit, figure(t.Value), figure(t.Previous), figure(t.Change)})
	}
	for _, s := range f.Series {
		of := units[s.Key]
		for _, p := range s.Points {
			lines = append(lines, []string{"point", s.Key, of.Label, p.At.Format(time.RFC3339), of.Unit, figure(p.Value), "", ""})
		}
	}
	for _, t := range f.Tables {
		for _, r := range t.Rows {
			last := len(r) - 1
			lines = append(lines, []string{"row", t.Key, name(r[:last]), "", number, fmt.Sprint(r[last]), "", ""})
		}
	}
	for _, line := range lines {
		if err := w.Write(sheet.Safe(line)); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// name is what a row is called: its last text, or its first where that is withheld.
func name(names []any) string {
	for _, one := range []any{names[len(names)-1], names[0]} {
		if text, ok := one.(string); ok && text != "" {
			return text
		}
	}
	return ""
}

func figure(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}
