package page

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"visavis.dev/pkg/hiring/demographics"
	"visavis.dev/pkg/portals/portal/published"
)

// Audits finds what portals show of how often people of each category were selected.
type Audits interface {
	// Audit is what a portal shows. The error is ErrNoAudit.
	Audit(ctx context.Context, site *published.Site) (demographics.Publication, demographics.Audit, error)
}

// ErrNoAudit says that a portal shows no audit.
var ErrNoAudit = errors.New("the portal shows no audit")

// auditBody is the page's own.
type auditBody struct {
	Year, Shown          string
	Applicants, Selected int64
	Tables               []auditTable
	// LeftOut says that some category is too small a part for a ratio.
	LeftOut bool
}

// auditTable is an audit by some categories.
type auditTable struct {
	Label   string
	Rows    []auditRow
	Unknown demographics.Count
	Untold  int64
}

// auditRow is a category; a ratio is empty where there is none.
type auditRow struct {
	Name                 string
	Applicants, Selected int64
	Rate, Ratio          string
	Flagged              bool
}

// audit shows everybody the audit that the organization published.
func (v *view) audit() error {
	if v.h.Audits == nil {
		return errNoPage
	}
	shown, found, err := v.h.Audits.Audit(v.r.Context(), v.site)
	if errors.Is(err, ErrNoAudit) {
		return errNoPage
	}
	if err != nil {
		return err
	}
	s := v.sheet("audit.title")
	leftOut := slices.ContainsFunc(found.Lines(), func(l demographics.Line) bool { return l.LeftOut })
	s.Body = auditBody{
		LeftOut: leftOut,
		Year:    strconv.FormatInt(shown.Year, 10), Shown: shown.At.UTC().Format(time.DateOnly), Applicants: found.Applicants, Selected: found.Selected,
		Tables: []auditTable{v.audited("audit.sex", found.Sexes), v.audited("audit.race", found.Races), v.audited("audit.both", found.Both)},
	}
	return v.show(http.StatusOK, "audit", s)
}

func (v *view) audited(label string, f demographics.Family) auditTable {
	t := auditTable{Label: v.Say(label), Unknown: f.Unknown, Untold: f.Untold}
	for _, l := range f.Lines {
		row := auditRow{Applicants: l.Applicants, Selected: l.Selected, Rate: rounded(l.Rate), Ratio: rounded(l.Ratio), Flagged: l.Flagged}
		if l.Sex != "" {
			row.Name = v.Say("voluntary.sex." + string(l.Sex))
		}
		if l.Race != "" {
			if row.Name != "" {
				row.Name += ", "
			}
			row.Name += v.Say("voluntary.race." + string(l.Race))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// rounded is a number to two digits, as the law's examples have it.
func rounded(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', 2, 64)
}
