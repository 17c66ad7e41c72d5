package results

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/learning/report"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/portals/unit"
	"visavis.dev/pkg/sessions/printed"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerReports(s *route.Service) {
	list := route.Operation{
		ID: "listReports", Group: "Results", Method: http.MethodGet, Path: "/reports", Class: "read", Scope: scope.ResultsRead, Items: contract.ReportItem,
		Since: contract.V20261001, Summary: "Reports, newest first",
	}
	route.List(s, list, a.listReports)

	get := list
	get.ID, get.Path, get.Summary = "getReport", "/reports/{id}", "One report, and whether it is ready"
	route.Handle(s, get, a.getReport)

	create := list
	create.ID, create.Method, create.Class, create.Status, create.Idempotent = "createReport", http.MethodPost, "heavy", http.StatusCreated, true
	create.Errors = []problem.Code{problem.NotFound, problem.Gone, problem.Conflict}
	create.Summary = "Have a result, or how people did together, written up, to download or print"
	create.Description = "It takes some seconds; state says when it is ready, as the event report.produced does. Of the kind result it is of resultId. " +
		"Of the kind cohort it is of those who have a released assessment of subjectId, of unitId and what lies in it where that is given, or else in " +
		"assignmentId alone; of the kind portal it tells that of each subject of portalId. No figure of those two is about five people or fewer, nor can one be " +
		"worked out from all that reports ever told: what would tell of so few is withheld, is put together with others, or is told as it was counted before. " +
		"Practices, and results that are not released, are in none, nor is whose guardian has to agree to reports and has not. A result that is not released has no " +
		"report: 409 conflict with the reason not_released. One of a minor whose guardian has to agree, and has not agreed to reports, " +
		"is guardian_consent. Rationales and quotes are in it where the key holds transcripts:read and the conversation may be read; it then " +
		"includesConversation, and is deleted with the conversation's words. A result keeps its newest 20 reports, and loses them when it is voided; so many are kept of the same people together."
	route.Handle(s, create, a.createReport)

	file := get
	file.ID, file.Path, file.Class = "downloadReport", "/reports/{id}/download", "heavy"
	file.Items = ""
	file.Errors = []problem.Code{problem.Conflict}
	file.Produces = []string{printed.JSONType, asPDF, "text/html"}
	file.Summary = "A report's file"
	file.Description = "Before there is one it is 409 conflict with the reason building, or failed. One that includesConversation needs " +
		"transcripts:read as well, and is 409 with the reason withheld once the conversation may not be read any more."
	route.File(s, file, a.downloadReport)
}

// Report is what a result looks like on paper.
type Report struct {
	ID           id.Report      `json:"id" doc:"Id of the report, with the prefix rpt_."`
	Kind         string         `json:"kind" enum:"result,cohort,portal" doc:"What it is of: a result, people together, or all of a portal."`
	ResultID     *id.Result     `json:"resultId" nullable:"true" doc:"The result that it is of; null of people together."`
	PortalID     *id.Portal     `json:"portalId" nullable:"true" doc:"The portal of people together; null of a result's."`
	SubjectID    *id.Subject    `json:"subjectId" nullable:"true" doc:"The subject that people are told of together; null of a portal's and a result's."`
	AssignmentID *id.Assignment `json:"assignmentId" nullable:"true" doc:"The only assignment that counts; null for any, and of a result's."`
	UnitID       *id.Unit       `json:"unitId" nullable:"true" doc:"The unit whose people are told of, with what lies in it; null for all, and of a result's."`
	Title        string         `json:"title" doc:"What the subject, the assignment or the portal is called."`
	Language     string         `json:"language" doc:"The language that it is written in, as a code."`
	Format       printed.Format `json:"format" enum:"html,pdf,json" doc:"What its file is."`
	State        printed.State  `json:"state" enum:"building,ready,failed" doc:"building until there is a file, or none can be made."`
	URL          *string        `json:"url" format:"uri" doc:"Where its file is, for a key with results:read; null before it is ready."`
	AIGenerated  bool           `json:"aiGenerated" enum:"true" doc:"An avatar had a part in what it says."`
	Words        bool           `json:"includesConversation" doc:"Whether it has rationales and quotes, so that its file needs transcripts:read too."`
	Version      int64          `json:"version" doc:"Which report of the result, or of the same people, it is, from 1."`
	Bytes        *int64         `json:"bytes" doc:"The size of its file; null before it is ready."`
	CreatedAt    time.Time      `json:"createdAt" doc:"When it was asked for, in UTC."`
	ProducedAt   *time.Time     `json:"producedAt" doc:"When it was ready, in UTC; null before."`
}

func showReport(c *route.Call, r printed.Report) Report {
	shown := Report{
		ID: r.ID, Kind: r.Kind, ResultID: r.Result.OrNil(), PortalID: r.Portal.OrNil(), SubjectID: r.Subject.OrNil(), AssignmentID: r.Assignment.OrNil(),
		UnitID: r.Unit.OrNil(), Title: r.Title, Language: r.Language, Format: r.Format, State: r.State, AIGenerated: true,
		Words: r.Words, Version: r.Version, Bytes: r.Bytes, CreatedAt: r.CreatedAt.UTC(), ProducedAt: route.UTC(r.ProducedAt),
	}
	if r.State == printed.Ready {
		shown.URL = new(c.URL("/reports/" + r.ID.String() + "/download"))
	}
	return shown
}

// ReportPath names a report.
type ReportPath struct {
	ID string `path:"id" doc:"The report's id, with or without rpt_."`
}

func (p *ReportPath) report() (id.Report, error) { return route.Lookup(id.ParseReport, p.ID, "report") }

// ReportQuery filters and pages the reports.
type ReportQuery struct {
	route.Paging
	ResultID string `query:"resultId" maxLength:"80" doc:"Reports of this result."`
	Kind     string `query:"kind" enum:"result,cohort,portal" doc:"Only reports of this kind."`
	State    string `query:"state" enum:"building,ready,failed" doc:"Only reports in this state."`
}

func (a *API) listReports(ctx context.Context, c *route.Call, q *ReportQuery) (route.Page[Report], error) {
	return route.Listed(c, q.Paging, func(after id.Report, limit int) ([]printed.Report, error) {
		f := printed.Filter{Kind: q.Kind, State: printed.State(q.State)}
		var err error
		if f.Result, err = route.QueryID(id.ParseResult, "resultId", q.ResultID); err != nil {
			return nil, err
		}
		return printed.List(ctx, a.Tenants, c.Org(), f, after, limit)
	}, func(r printed.Report) id.Report { return r.ID }, func(r printed.Report) Report { return showReport(c, r) })
}

func (a *API) getReport(ctx context.Context, c *route.Call, p *ReportPath) (Report, error) {
	which, err := p.report()
	if err != nil {
		return Report{}, err
	}
	r, err := printed.Get(ctx, a.Tenants, c.Org(), which)
	return showReport(c, r), err
}

// ReportInput is the request for a report.
type ReportInput struct{ Body ReportBody }

// ReportBody says what is to be written up, and how.
type ReportBody struct {
	Kind         string         `json:"kind" enum:"result,cohort,portal" doc:"What it is of: a result, people together, or all of a portal."`
	ResultID     *string        `json:"resultId,omitempty" minLength:"1" maxLength:"80" nullable:"true" doc:"Of the kind result: the result, which is released."`
	SubjectID    *string        `json:"subjectId,omitempty" minLength:"1" maxLength:"80" nullable:"true" doc:"Of the kind cohort, unless assignmentId is given: the subject."`
	AssignmentID *string        `json:"assignmentId,omitempty" minLength:"1" maxLength:"80" nullable:"true" doc:"Of the kind cohort: the only assignment that counts, instead of subjectId."`
	UnitID       *string        `json:"unitId,omitempty" minLength:"1" maxLength:"80" nullable:"true" doc:"Of the kind cohort, with subjectId: the unit whose people are told of, with what lies in it; all of the subject's unless given."`
	PortalID     *string        `json:"portalId,omitempty" minLength:"1" maxLength:"80" nullable:"true" doc:"Of the kind portal: the portal."`
	Language     *string        `json:"language,omitempty" maxLength:"80" nullable:"true" doc:"The language of its own words, by code or name: Arabic, English, French, German or Spanish. The result's, or the portal's, unless given, or else English. What was said and decided stays as it is."`
	Format       printed.Format `json:"format" enum:"html,pdf,json" doc:"html is a page that needs nothing else and can be printed, pdf is A4 with its fonts, json has the same for programs."`
}

// language is the code of the language that is asked for; empty for none.
func (b *ReportBody) language() (string, error) {
	if b.Language == nil {
		return "", nil
	}
	l, known := language.Lookup(*b.Language)
	if !known || !slices.Contains(report.Languages(), l.Code) {
		return "", problem.Invalid("body.language", "Reports are written in %s.", strings.Join(report.Languages(), ", "))
	}
	return l.Code, nil
}

// only refuses ids that a report of the kind is not of.
func (b *ReportBody) only(fields ...string) error {
	for _, f := range []struct {
		name  string
		given *string
	}{{"resultId", b.ResultID}, {"subjectId", b.SubjectID}, {"assignmentId", b.AssignmentID}, {"unitId", b.UnitID}, {"portalId", b.PortalID}} {
		if f.given != nil && !slices.Contains(fields, f.name) {
			return problem.Invalid("body."+f.name, "A report of the kind %s is of %s.", b.Kind, strings.Join(fields, ", "))
		}
	}
	return nil
}

// idIn reads the id of something that a report is of; the zero id where there is none.
func idIn[T any](parse func(string) (T, error), given *string, field, what string) (T, error) {
	var none T
	if given == nil {
		return none, nil
	}
	which, err := parse(*given)
	if err != nil {
		return none, problem.Missing(what).WithParam("body." + field)
	}
	return which, nil
}

// ask is the request of a report of a result.
func (b *ReportBody) ask(c *route.Call) (to report.Ask, err error) {
	to.Format, to.Words = b.Format, readsWords(c)
	if err := b.only("resultId"); err != nil {
		return to, err
	}
	if b.ResultID == nil {
		return to, problem.Invalid("body.resultId", "A report of the kind result needs resultId.")
	}
	if to.Result, err = idIn(id.ParseResult, b.ResultID, "resultId", "result"); err != nil {
		return to, err
	}
	to.Language, err = b.language()
	return to, err
}

// askGroup is the request of a report of people together.
func (b *ReportBody) askGroup() (to report.AskGroup, err error) {
	to.Format = b.Format
	if to.Language, err = b.language(); err != nil {
		return to, err
	}
	s := &to.Selection
	if b.Kind == printed.OfPortal {
		if err := b.only("portalId"); err != nil {
			return to, err
		}
		if b.PortalID == nil {
			return to, problem.Invalid("body.portalId", "A report of the kind portal needs portalId.")
		}
		s.Portal, err = idIn(id.ParsePortal, b.PortalID, "portalId", "portal")
		return to, err
	}
	if err := b.only("subjectId", "assignmentId", "unitId"); err != nil {
		return to, err
	}
	switch {
	case b.AssignmentID != nil && b.SubjectID != nil:
		return to, problem.Invalid("body.assignmentId", "A report is of subjectId or of assignmentId, not both.")
	case b.AssignmentID != nil && b.UnitID != nil:
		return to, problem.Invalid("body.unitId", "A report of an assignment is of everybody for whom it is.")
	case b.AssignmentID == nil && b.SubjectID == nil:
		return to, problem.Invalid("body.subjectId", "A report of the kind cohort needs subjectId or assignmentId.")
	}
	if s.Subject, err = idIn(id.ParseSubject, b.SubjectID, "subjectId", "subject"); err != nil {
		return to, err
	}
	if s.Assignment, err = idIn(id.ParseAssignment, b.AssignmentID, "assignmentId", "assignment"); err != nil {
		return to, err
	}
	s.Unit, err = idIn(id.ParseUnit, b.UnitID, "unitId", "unit")
	return to, err
}

// begin checks what is asked for, and answers what enters it.
func (a *API) begin(ctx context.Context, c *route.Call, b *ReportBody) (func(context.Context, *tenant.Tx) (printed.Report, error), error) {
	if b.Kind != printed.OfResult {
		to, err := b.askGroup()
		if err != nil {
			return nil, err
		}
		return report.BeginGroup(ctx, a.Tenants, c.Org(), to, c.Actor())
	}
	to, err := b.ask(c)
	if err != nil {
		return nil, err
	}
	return report.Begin(ctx, a.Tenants, c.Org(), to, c.Actor())
}

func (a *API) createReport(ctx context.Context, c *route.Call, in *ReportInput) (Report, error) {
	enter, err := a.begin(ctx, c, &in.Body)
	if err != nil {
		return Report{}, in.Body.problem(err)
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Report, error) {
		r, err := enter(ctx, tx)
		if err != nil {
			return Report{}, in.Body.problem(err)
		}
		return showReport(c, r), nil
	})
}

// problem says what the errors of reports are to a caller.
func (b *ReportBody) problem(err error) error {
	subjects := "body.subjectId"
	switch {
	case b.Kind == printed.OfResult:
		subjects = "body.resultId"
	case b.AssignmentID != nil:
		subjects = "body.assignmentId"
	}
	for _, of := range []struct {
		noun  errdefs.Noun
		param string
	}{{result.Noun, "body.resultId"}, {subject.Noun, subjects}, {assignment.Noun, "body.assignmentId"}, {unit.Noun, "body.unitId"}, {portal.Noun, "body.portalId"}} {
		if errdefs.IsAbsent(err, of.noun) {
			return route.At(err, of.param)
		}
	}
	return err
}

// privateNever lets nobody keep what can be withheld at any time.
const privateNever = "private, no-store"

func (a *API) downloadReport(ctx context.Context, c *route.Call, p *ReportPath) (route.Blob, error) {
	which, err := p.report()
	if err != nil {
		return route.Blob{}, err
	}
	r, err := report.Open(ctx, a.Tenants, c.Org(), which, c.Now())
	if err != nil {
		return route.Blob{}, err
	}
	if r.Words && !readsWords(c) {
		return route.Blob{}, problem.New(problem.Forbidden, "The report includes words of the conversation, which need transcripts:read.").WithParam("path.id")
	}
	return route.Blob{
		ContentType: r.Format.ContentType(), CacheControl: privateNever, Download: "report-" + r.ID.String() + "." + string(r.Format),
		Data: func(ctx context.Context) ([]byte, error) {
			text, err := a.Files.Read(ctx, c.Org(), r.File)
			if err != nil || r.Format != printed.JSON || !c.Contract.Before(contract.V20261001) {
				return text, err
			}
			return contract.BareIDs(text)
		},
	}, nil
}
