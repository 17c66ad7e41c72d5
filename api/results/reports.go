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
	"visavis.dev/pkg/learning/report"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/printed"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerReports(s *route.Service) {
	list := route.Operation{
		ID: "listReports", Group: "Results", Method: http.MethodGet, Path: "/reports", Class: "read", Scope: scope.ResultsRead,
		Since: contract.V20261001, Summary: "Reports, newest first",
	}
	route.List(s, list, a.listReports)

	get := list
	get.ID, get.Path, get.Summary = "getReport", "/reports/{id}", "One report, and whether it is ready"
	route.Handle(s, get, a.getReport)

	create := list
	create.ID, create.Method, create.Class, create.Status, create.Idempotent = "createReport", http.MethodPost, "heavy", http.StatusCreated, true
	create.Errors = []problem.Code{problem.NotFound, problem.Gone, problem.Conflict}
	create.Summary = "Have a result written up, to download or print"
	create.Description = "It takes some seconds; state says when it is ready, as the event report.produced does. A result that is not released has no " +
		"report: 409 conflict with the reason not_released. One of a minor whose guardian has to agree, and has not agreed to reports, " +
		"is guardian_consent. Rationales and quotes are in it where the key holds transcripts:read and the conversation may be read; it then " +
		"includesConversation, and is deleted with the conversation's words. A result keeps its newest 20 reports, and loses them when it is voided."
	route.Handle(s, create, a.createReport)

	file := get
	file.ID, file.Path, file.Class = "downloadReport", "/reports/{id}/download", "heavy"
	file.Errors = []problem.Code{problem.Conflict}
	file.Produces = []string{printed.JSONType, asPDF, "text/html"}
	file.Summary = "A report's file"
	file.Description = "Before there is one it is 409 conflict with the reason building, or failed. One that includesConversation needs " +
		"transcripts:read as well, and is 409 with the reason withheld once the conversation may not be read any more."
	route.File(s, file, a.downloadReport)
}

// Report is what a result looks like on paper.
type Report struct {
	ID          id.Report      `json:"id" doc:"Id of the report, with the prefix rpt_."`
	Kind        string         `json:"kind" enum:"result" doc:"What it is of."`
	ResultID    id.Result      `json:"resultId" doc:"The result that it is of."`
	Title       string         `json:"title" doc:"What the result's subject is called."`
	Language    string         `json:"language" doc:"The language that it is written in, as a code."`
	Format      printed.Format `json:"format" enum:"html,pdf,json" doc:"What its file is."`
	State       printed.State  `json:"state" enum:"building,ready,failed" doc:"building until there is a file, or none can be made."`
	URL         *string        `json:"url" format:"uri" doc:"Where its file is, for a key with results:read; null before it is ready."`
	AIGenerated bool           `json:"aiGenerated" enum:"true" doc:"An avatar had a part in what it says."`
	Words       bool           `json:"includesConversation" doc:"Whether it has rationales and quotes, so that its file needs transcripts:read too."`
	Version     int64          `json:"version" doc:"Which report of the result it is, from 1."`
	Bytes       *int64         `json:"bytes" doc:"The size of its file; null before it is ready."`
	CreatedAt   time.Time      `json:"createdAt" doc:"When it was asked for, in UTC."`
	ProducedAt  *time.Time     `json:"producedAt" doc:"When it was ready, in UTC; null before."`
}

func showReport(c *route.Call, r printed.Report) Report {
	shown := Report{
		ID: r.ID, Kind: r.Kind, ResultID: r.Result, Title: r.Title, Language: r.Language, Format: r.Format, State: r.State, AIGenerated: true,
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
	Kind     string `query:"kind" enum:"result" doc:"Only reports of this kind."`
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
	Kind     string         `json:"kind" enum:"result" doc:"What it is of."`
	ResultID string         `json:"resultId" minLength:"1" maxLength:"80" doc:"The result, which is released."`
	Language *string        `json:"language,omitempty" maxLength:"80" nullable:"true" doc:"The language of its own words, by code or name: Arabic, English, French, German or Spanish. The result's unless given, or else English. What was said and decided stays as it is."`
	Format   printed.Format `json:"format" enum:"html,pdf,json" doc:"html is a page that needs nothing else and can be printed, pdf is A4 with its fonts, json has the same for programs."`
}

func (b *ReportBody) ask(c *route.Call) (to report.Ask, err error) {
	to.Format, to.Words = b.Format, readsWords(c)
	if to.Result, err = id.ParseResult(b.ResultID); err != nil {
		return to, problem.Missing("result").WithParam("body.resultId")
	}
	if b.Language != nil {
		l, known := language.Lookup(*b.Language)
		if !known || !slices.Contains(report.Languages(), l.Code) {
			return to, problem.Invalid("body.language", "Reports are written in %s.", strings.Join(report.Languages(), ", "))
		}
		to.Language = l.Code
	}
	return to, nil
}

func (a *API) createReport(ctx context.Context, c *route.Call, in *ReportInput) (Report, error) {
	to, err := in.Body.ask(c)
	if err != nil {
		return Report{}, err
	}
	enter, err := report.Begin(ctx, a.Tenants, c.Org(), to, c.Actor())
	if err != nil {
		return Report{}, reportProblem(err)
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Report, error) {
		r, err := enter(ctx, tx)
		if err != nil {
			return Report{}, reportProblem(err)
		}
		return showReport(c, r), nil
	})
}

// reportProblem says what the errors of reports are to a caller.
func reportProblem(err error) error {
	if errdefs.IsAbsent(err, result.Noun) || errdefs.IsAbsent(err, subject.Noun) {
		return route.At(err, "body.resultId")
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
