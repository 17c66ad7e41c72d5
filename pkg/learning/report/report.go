// Package report makes the reports that somebody can download, as HTML, PDF or JSON (spec, Reports):
// of a result, what it is worth, what it rests on, and who decided it; of the people of a subject, a unit, an
// assignment or a whole portal together, what package cohort counts. Their rows are package printed's.
//
// A report tells what could be read when it was asked for. Of a result that is not released there
// is none, and words of a conversation are in it only where whoever asked may read them.
package report

import (
	"context"
	"slices"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/printed"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// The reasons of this package's conflicts.
const (
	ReasonGuardian = "guardian_consent"
	ReasonBuilding = "building"
	ReasonFailed   = "failed"
	ReasonWithheld = "withheld"
)

// Ask is a request for a report of a result.
type Ask struct {
	Result id.Result
	// Language is one of Languages; empty means the result's, where there is that.
	Language string
	Format   printed.Format
	// Words says that whoever asks may read transcripts.
	Words bool
}

// input is that of a job.
type input struct {
	Report id.Report `json:"report"`
}

// Begin enters a report that is asked for, and the job that makes it. The error is
// errdefs.NotFound of the result, or a conflict: of a result that is not released
// (result.ReasonNotReleased), or of a minor whose guardian did not agree to reports
// (ReasonGuardian).
func Begin(ctx context.Context, t *tenant.Tenants, org id.Org, a Ask, who activity.Actor) (func(context.Context, *tenant.Tx) (printed.Report, error), error) {
	before, err := result.Get(ctx, t, org, a.Result)
	if err != nil {
		return nil, err
	}
	looks, err := result.LooksAt(ctx, t, org, []result.Result{before})
	if err != nil {
		return nil, err
	}
	if a.Language == "" {
		a.Language = nearest(before.Language)
	}
	of, v, err := subject.GetContent(ctx, t, org, before.Subject, before.RubricVersion)
	if err != nil {
		return nil, err
	}
	words := a.Words && looks[a.Result].Readable
	return func(ctx context.Context, tx *tenant.Tx) (made printed.Report, err error) {
		r, err := result.Lock(ctx, tx, a.Result)
		if err != nil {
			return made, err
		}
		if err := allowed(ctx, tx, r, who.At); err != nil {
			return made, err
		}
		made = printed.Report{
			ID: id.NewReport(), Kind: printed.OfResult, Result: r.ID, Session: r.Session, Title: of.TitleIn(v.Content, a.Language),
			Language: a.Language, Format: a.Format, Words: words, CreatedBy: who.By, CreatedAt: who.At,
		}
		if err := printed.Insert(ctx, tx, &made); err != nil {
			return made, err
		}
		_, err = job.Insert(ctx, tx, job.Job{
			ID: id.NewJob(), Kind: job.ReportBuild, ResourceKind: "report", ResourceID: made.ID.String(), Portal: r.Portal, Subject: r.Subject,
			Scope: scope.ResultsRead, CreatedBy: who.By, CreatedAt: who.At,
		}, input{made.ID})
		who.Log(tx, "report.created", "report", made.ID, map[string]any{"resultId": r.ID.String(), "format": string(made.Format)})
		return made, err
	}, nil
}

// allowed refuses a report that may not be made.
func allowed(ctx context.Context, tx *tenant.Tx, r result.Result, now time.Time) error {
	conflict := func(reason, message string) error {
		return &errdefs.Conflict{Noun: result.Noun, ID: r.ID.String(), Reason: reason, Message: message}
	}
	if !r.Shown() {
		return conflict(result.ReasonNotReleased, "There are reports of results that are released alone.")
	}
	agreed, err := guardianAgrees(ctx, tx, r, now)
	if err == nil && !agreed {
		err = conflict(ReasonGuardian, "The person's guardian has not agreed to reports.")
	}
	return err
}

// guardianAgrees says whether a report of somebody may be made and read: where they need a
// guardian, that one must agree. So it is for everybody where everybody is taken for a minor, whatever
// the portal says of guardians. Of minors who lost their place nobody can any more.
func guardianAgrees(ctx context.Context, tx *tenant.Tx, r result.Result, now time.Time) (bool, error) {
	set, err := setting.At(ctx, tx, setting.Place{Portal: r.Portal, Unit: r.Unit, Membership: r.Membership, Person: r.Person})
	if err != nil {
		return false, err
	}
	young := set.On(setting.YoungLearners)
	places, err := person.Places(ctx, tx, r.Person, now)
	if err != nil {
		return false, err
	}
	at := slices.IndexFunc(places, func(p person.Standing) bool { return p.Membership.ID == r.Membership })
	if at < 0 {
		who, err := person.Find(ctx, tx, r.Person)
		return err == nil && !who.AgeBand.Minor() && !young, err
	}
	of := places[at].Guardian
	return !of.Required && !young || of.Covers(consent.ToReport), nil
}

// Open finds the report whose file somebody wants. The error is errdefs.NotFound, or a conflict:
// of one that is not ready (ReasonBuilding, ReasonFailed), whose words nobody may read any
// more (ReasonWithheld), or to which a guardian does not agree any more (ReasonGuardian).
func Open(ctx context.Context, t *tenant.Tenants, org id.Org, which id.Report, now time.Time) (printed.Report, error) {
	r, err := printed.Get(ctx, t, org, which)
	if err != nil {
		return r, err
	}
	conflict := func(reason, message string) error {
		return &errdefs.Conflict{Noun: printed.Noun, ID: r.ID.String(), Reason: reason, Message: message}
	}
	switch r.State {
	case printed.Building:
		return r, conflict(ReasonBuilding, "The report is not ready yet. GET /reports/{id} says when it is.")
	case printed.Failed:
		return r, conflict(ReasonFailed, "The report could not be made. Ask for another.")
	}
	if r.Kind != printed.OfResult {
		return r, nil // it tells of nobody by themselves
	}
	of, err := result.Get(ctx, t, org, r.Result)
	switch {
	case errdefs.IsNotFound(err, result.Noun):
		return r, printed.Noun.NotFound(which)
	case err != nil:
		return r, err
	case !of.Shown():
		return r, conflict(ReasonWithheld, "The result counts no more.")
	}
	var agreed bool
	if err := t.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		agreed, err = guardianAgrees(ctx, tx, of, now)
		return err
	}); err != nil {
		return r, err
	}
	switch {
	case !agreed:
		return r, conflict(ReasonGuardian, "The person's guardian does not agree to reports any more.")
	case !r.Words:
		return r, nil
	}
	looks, err := result.LooksAt(ctx, t, org, []result.Result{of})
	if err == nil && !looks[of.ID].Readable {
		err = conflict(ReasonWithheld, "Nobody may read the words that are in the report.")
	}
	return r, err
}

// produced is report.produced.
func produced(r printed.Report, of result.Result, at time.Time) event.Draft {
	fields := map[string]any{
		"reportId": r.ID.String(), "resultId": of.ID.String(), "sessionId": of.Session.String(), "subjectId": of.Subject.String(),
		"portalId": of.Portal.String(), "personId": of.Person.String(), "kind": r.Kind, "version": r.Version, "language": r.Language,
		"format": string(r.Format), "producedAt": at.UTC(),
	}
	if !of.Unit.IsZero() {
		fields["unitId"] = of.Unit.String()
	}
	return event.Draft{Type: event.ReportProduced, At: at, Fields: fields, Session: of.Session, Subject: of.Subject}
}
