package export

import (
	"slices"

	"visavis.dev/pkg/base/contract"
)

// isOlder says whether the file is written in a contract before 2026-10-01. An order from before
// orders had one is of the newest.
func (o Order) isOlder() bool { return o.Contract != "" && o.Contract.Before(contract.V20261001) }

// columns are the names of the file's columns.
func (o Order) columns() []string {
	all := slices.Clone(records[o.Kind].columns)
	if i := slices.Index(all, "leadBand"); i >= 0 && o.isOlder() {
		all[i] = "leadScore"
	}
	return all
}

// older are rows as the file's contract writes them: before 2026-10-01 the ids of portals and
// subjects were bare.
func (o Order) older(rows [][]any) [][]any {
	if !o.isOlder() {
		return rows
	}
	for i, name := range records[o.Kind].columns {
		if name != "portalId" && name != "subjectId" {
			continue
		}
		for _, row := range rows {
			if text, ok := row[i].(string); ok {
				row[i] = contract.Bare(text)
			}
		}
	}
	return rows
}
