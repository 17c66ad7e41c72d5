package dashboard

import (
	"context"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/demographics"
	"visavis.dev/pkg/store/tenant"
)

// impact adds tables of how many candidates of each sex and race were decided on and selected, of
// the cohorts of bias audits that were counted in the period.
func (f *Figures) impact(ctx context.Context, t *tenant.Tenants, org id.Org, q Query) error {
	a, err := demographics.Read(ctx, t, org, demographics.Filter{Portal: q.Portal, From: q.From, To: q.To})
	if err != nil {
		return err
	}
	for _, one := range []struct {
		key, label string
		lines      []demographics.Line
	}{
		{"impactBySex", "by sex", a.Sexes.Lines}, {"impactByRace", "by race or ethnicity", a.Races.Lines}, {"impactBySexAndRace", "by sex and race or ethnicity", a.Both.Lines},
	} {
		applicants := table{key: one.key + "Applicants", label: "Candidates who were decided on, " + one.label, name: "Category", number: "Candidates"}
		selected := table{key: one.key + "Selected", label: "Candidates who were selected, " + one.label, name: "Category", number: "Candidates"}
		var of, were []row
		for _, l := range one.lines {
			of, were = append(of, row{category(l), l.Applicants}), append(were, row{category(l), l.Selected})
		}
		f.Tables = append(f.Tables, applicants.of(of, nil), selected.of(were, nil))
	}
	return nil
}

func category(l demographics.Line) string {
	if l.Sex == "" || l.Race == "" {
		return string(l.Sex) + string(l.Race)
	}
	return string(l.Sex) + ", " + string(l.Race)
}
