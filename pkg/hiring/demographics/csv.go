package demographics

import (
	"bytes"
	"encoding/csv"
	"strconv"
)

// CSV writes the audit as lines: one of all, and one for each category. Nothing in it is anybody's
// words.
func (a Audit) CSV() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	lines := [][]string{
		{"family", "sex", "race", "applicants", "selected", "selectionRate", "impactRatio", "belowFourFifths", "leftOut"},
		{"all", "", "", count(a.Applicants), count(a.Selected), decimal(part(a.Selected, a.Applicants)), "", "", ""},
	}
	for _, f := range []struct {
		name string
		Family
	}{{"sex", a.Sexes}, {"race", a.Races}, {"sexAndRace", a.Both}} {
		for _, l := range f.Lines {
			lines = append(lines, []string{
				f.name, string(l.Sex), string(l.Race), count(l.Applicants), count(l.Selected), decimal(l.Rate), decimal(l.Ratio), strconv.FormatBool(l.Flagged),
				strconv.FormatBool(l.LeftOut),
			})
		}
		lines = append(lines,
			[]string{f.name, "unknown", "unknown", count(f.Unknown.Applicants), count(f.Unknown.Selected), "", "", "", ""},
			[]string{f.name, "untold", "untold", count(f.Untold), "", "", "", "", ""})
	}
	err := w.WriteAll(lines)
	return b.Bytes(), err
}

func count(n int64) string { return strconv.FormatInt(n, 10) }

func decimal(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', 4, 64)
}
