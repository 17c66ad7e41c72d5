package report

import (
	"cmp"
	"context"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/few"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/learning/cohort"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/sessions/printed"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// AskGroup is a request for a report of people together.
type AskGroup struct {
	// Selection is whom of a subject the report is of. Where it names an assignment the subject is that's.
	// Of a whole portal it names that alone.
	Selection cohort.Selection
	// Language is one of Languages; empty means the portal's, where there is that.
	Language string
	Format   printed.Format
}

func (a *AskGroup) kind() string {
	if a.Selection.Subject.IsZero() {
		return printed.OfPortal
	}
	return printed.OfCohort
}

// selection names whom a report is of.
func (a *AskGroup) selection() string {
	s := a.Selection
	switch {
	case !s.Assignment.IsZero():
		return s.Assignment.String()
	case !s.Unit.IsZero():
		return s.Subject.String() + " " + s.Unit.String()
	case !s.Subject.IsZero():
		return s.Subject.String()
	}
	return s.Portal.String()
}

// BeginGroup enters a report that is asked for, and the job that makes it. The error is errdefs.NotFound of
// what it is of, or an errdefs.Archived of a portal.
func BeginGroup(ctx context.Context, t *tenant.Tenants, org id.Org, a AskGroup, who activity.Actor) (func(context.Context, *tenant.Tx) (printed.Report, error), error) {
	var (
		title string
		named func(language string) string // the subject's title
	)
	s := &a.Selection
	if !s.Assignment.IsZero() {
		of, err := assignment.Get(ctx, t, org, s.Assignment)
		if err != nil {
			return nil, err
		}
		s.Subject, s.Portal, title = of.Subject, of.Portal, of.Title
	}
	if !s.Subject.IsZero() {
		of, v, err := subject.GetContent(ctx, t, org, s.Subject, 0)
		if err != nil {
			return nil, err
		}
		s.Portal = of.Portal
		named = func(language string) string { return of.TitleIn(v.Content, language) }
	}
	on, err := portal.Get(ctx, t, org, s.Portal)
	if err != nil {
		return nil, err
	}
	if a.Language == "" {
		a.Language = nearest(on.Definition.DefaultLanguage)
	}
	switch {
	case title != "":
	case named != nil:
		title = named(a.Language)
	default:
		title = on.Name
	}
	if !s.Unit.IsZero() {
		of, err := unit.Get(ctx, t, org, s.Unit)
		if err == nil && of.Portal != s.Portal {
			err = unit.Noun.NotFound(s.Unit)
		}
		if err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, tx *tenant.Tx) (made printed.Report, err error) {
		if _, err := portal.Lock(ctx, tx, s.Portal); err != nil {
			return made, err
		}
		made = printed.Report{
			ID: id.NewReport(), Kind: a.kind(), Title: title, Language: a.Language, Format: a.Format, CreatedBy: who.By, CreatedAt: who.At,
			Portal: s.Portal, Subject: s.Subject, Assignment: s.Assignment, Unit: s.Unit, Selection: new(a.selection()),
		}
		if err := printed.Insert(ctx, tx, &made); err != nil {
			return made, err
		}
		_, err = job.Insert(ctx, tx, job.Job{
			ID: id.NewJob(), Kind: job.ReportBuild, ResourceKind: "report", ResourceID: made.ID.String(), Portal: s.Portal, Subject: s.Subject,
			Scope: scope.ResultsRead, CreatedBy: who.By, CreatedAt: who.At,
		}, input{made.ID})
		who.Log(tx, "report.created", "report", made.ID, map[string]any{"kind": made.Kind, "portalId": s.Portal.String(), "format": string(made.Format)})
		return made, err
	}, nil
}

// Group is what a report of people together says. It is the report itself where that is JSON.
type Group struct {
	ReportID    id.Report `json:"reportId"`
	Kind        string    `json:"kind"`
	Version     int64     `json:"version"`
	Language    string    `json:"language"`
	ProducedAt  time.Time `json:"producedAt"`
	AIGenerated bool      `json:"aiGenerated"`

	PortalID     id.Portal      `json:"portalId"`
	Portal       string         `json:"portalName"`
	AssignmentID *id.Assignment `json:"assignmentId"`
	Assignment   *string        `json:"assignmentTitle"`
	// Audience is for whom the assignment is: everyone, units or people.
	Audience *string  `json:"audience"`
	UnitID   *id.Unit `json:"unitId"`
	// Units are what the units are called that it is of, or for.
	Units []string `json:"unitNames"`
	// FewestPeople is of how many people a figure is at least; others are null, or left out.
	FewestPeople int64 `json:"fewestPeople"`
	// Cohorts are the subjects that something is told of.
	Cohorts []Cohort `json:"cohorts"`
	// Untold are the titles of subjects of which nothing is told, as it would be of few.
	Untold []string `json:"untoldSubjects"`
}

// Cohort is how people do with a subject.
type Cohort struct {
	SubjectID id.Subject `json:"subjectId"`
	Subject   string     `json:"subjectTitle"`
	cohort.Figures
}

// mostSubjects is how many subjects of a portal a report tells of.
const mostSubjects = 200

// gatherGroup finds what a report of people together says; what is told is noted by then. The error is
// errdefs.NotFound of what is not there any more.
func gatherGroup(ctx context.Context, t *tenant.Tenants, org id.Org, r printed.Report, now time.Time) (c Group, err error) {
	on, err := portal.Get(ctx, t, org, r.Portal)
	if err != nil {
		return c, err
	}
	c = Group{
		ReportID: r.ID, Kind: r.Kind, Version: r.Version, Language: r.Language, ProducedAt: now.UTC(), AIGenerated: true, PortalID: r.Portal, Portal: on.Name,
		AssignmentID: r.Assignment.OrNil(), UnitID: r.Unit.OrNil(), Units: []string{}, FewestPeople: few.Least, Cohorts: []Cohort{}, Untold: []string{},
	}
	if err := c.ask(ctx, t, org, r); err != nil {
		return c, err
	}
	subjects := []id.Subject{r.Subject}
	if r.Kind == printed.OfPortal {
		if subjects, err = subjectsOf(ctx, t, org, r.Portal); err != nil {
			return c, err
		}
	}
	for _, which := range subjects {
		said, err := c.cohort(ctx, t, org, which, now)
		if errdefs.IsAbsent(err, subject.Noun) && r.Kind == printed.OfPortal {
			continue // it was deleted meanwhile
		}
		if err != nil {
			return c, err
		}
		if r.Kind == printed.OfPortal && !said.Told() {
			c.Untold = append(c.Untold, said.Subject)
			continue
		}
		c.Cohorts = append(c.Cohorts, said)
	}
	return c, nil
}

// ask says for whom the work is.
func (c *Group) ask(ctx context.Context, t *tenant.Tenants, org id.Org, r printed.Report) error {
	units := []id.Unit{}
	if !r.Unit.IsZero() {
		units = append(units, r.Unit)
	}
	if !r.Assignment.IsZero() {
		a, err := assignment.Get(ctx, t, org, r.Assignment)
		if err != nil {
			return err
		}
		audience := "people"
		switch {
		case a.Everyone:
			audience = "everyone"
		case len(a.Units) > 0:
			audience, units = "units", a.Units
		}
		c.Assignment, c.Audience = &a.Title, &audience
	}
	for _, of := range units {
		u, err := unit.Get(ctx, t, org, of)
		if errdefs.IsAbsent(err, unit.Noun) && r.Unit.IsZero() {
			continue
		}
		if err != nil {
			return err
		}
		c.Units = append(c.Units, u.Name)
	}
	return nil
}

// subjectsOf are those of a portal, in their order.
func subjectsOf(ctx context.Context, t *tenant.Tenants, org id.Org, on id.Portal) (all []id.Subject, err error) {
	err = t.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		found, err := subject.OfPortal(ctx, tx, on)
		all = nil
		for _, s := range found[:min(len(found), mostSubjects)] {
			all = append(all, s.ID)
		}
		return err
	}, tenant.Idempotent(true))
	return all, err
}

// cohort is a subject's figures, in the words of the report's language.
func (c *Group) cohort(ctx context.Context, t *tenant.Tenants, org id.Org, which id.Subject, now time.Time) (said Cohort, err error) {
	about, v, err := subject.GetContent(ctx, t, org, which, 0)
	if err != nil {
		return said, err
	}
	if about.PublishedVersion != nil && *about.PublishedVersion != v.Version {
		if about, v, err = subject.GetContent(ctx, t, org, which, *about.PublishedVersion); err != nil {
			return said, err
		}
	}
	of := cohort.Selection{Portal: c.PortalID, Subject: which}
	if c.AssignmentID != nil {
		of.Assignment = *c.AssignmentID
	}
	if c.UnitID != nil {
		of.Unit = *c.UnitID
	}
	figures, err := cohort.Tell(ctx, t, org, of, now)
	if err != nil {
		return said, err
	}
	said = Cohort{which, about.TitleIn(v.Content, c.Language), figures}
	for i := range said.Objectives {
		o := &said.Objectives[i]
		for _, k := range about.Definition.Objectives {
			if k.Key == o.Key {
				o.Text = cmp.Or(k.Text[c.Language], anyOf(k.Text, o.Key))
			}
		}
	}
	return said, nil
}

// finishGroup is the step that keeps the file, unless the report was deleted meanwhile.
func (b *Builder) finishGroup(which id.Report, f id.File, bytes int64) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		var unused []id.File
		if !f.IsZero() {
			unused = append(unused, f)
		}
		r, err := printed.Lock(ctx, tx, which)
		if errdefs.IsNotFound(err, printed.Noun) || err == nil && r.State != printed.Building {
			return drop(ctx, tx, j, now, unused)
		}
		if err != nil {
			return 0, err
		}
		if f.IsZero() {
			if err := printed.Finish(ctx, tx, &r, f, 0, now); err != nil {
				return 0, err
			}
			return done(ctx, tx, j, now)
		}
		if err := printed.Finish(ctx, tx, &r, f, bytes, now); err != nil {
			return 0, err
		}
		if err := b.Files.Keep(ctx, tx, f); err != nil {
			return 0, err
		}
		event.Emit(tx, producedGroup(r, now))
		return done(ctx, tx, j, now)
	}
}

// producedGroup is report.produced of people together.
func producedGroup(r printed.Report, at time.Time) event.Draft {
	fields := map[string]any{
		"reportId": r.ID.String(), "portalId": r.Portal.String(), "kind": r.Kind, "version": r.Version, "language": r.Language,
		"format": string(r.Format), "producedAt": at.UTC(),
	}
	if !r.Subject.IsZero() {
		fields["subjectId"] = r.Subject.String()
	}
	if !r.Unit.IsZero() {
		fields["unitId"] = r.Unit.String()
	}
	return event.Draft{Type: event.ReportProduced, At: at, Fields: fields, Subject: r.Subject}
}
