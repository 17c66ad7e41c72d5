// Package printed keeps what is printed of conversations and what came of them: a row for each
// report, and its file, which go with the words that they hold and with the result that they are
// of. What stands in them is package report's (spec, Reports).
package printed

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// State is how far a report is.
type State string

// The states.
const (
	Building State = "building"
	Ready    State = "ready"
	Failed   State = "failed"
)

// The kinds of report: of one result, of a group of people with a subject, and of all groups of a portal.
const (
	OfResult = "result"
	OfCohort = "cohort"
	OfPortal = "portal"
)

// Format is what a report's file is.
type Format string

// The formats.
const (
	HTML Format = "html"
	PDF  Format = "pdf"
	JSON Format = "json"
)

// Formats lists every format.
func Formats() []Format { return []Format{HTML, PDF, JSON} }

// JSONType is that of a report as JSON: what is application/json alone is an answer of the API,
// in its envelope.
const JSONType = "application/vnd.visavis.report+json"

// ContentType is that of a file.
func (f Format) ContentType() string {
	switch f {
	case HTML:
		return "text/html; charset=utf-8"
	case PDF:
		return "application/pdf"
	case JSON:
		return JSONType
	}
	return "application/octet-stream"
}

// Report is what is printed of a result, or of people together.
type Report struct {
	ID   id.Report
	Kind string
	// Result and Session are zero of others than a result's, of which the places below are.
	Result  id.Result
	Session id.Session
	// Title is what the subject or the portal is called, Language a code.
	Title    string
	Language string
	Format   Format
	State    State
	// Version counts the reports of the result, or of the same people, from 1.
	Version int64
	// Words says that words of the conversation are in it, or are to be.
	Words bool
	// Bytes is the size of its file, nil before there is one.
	Bytes *int64
	File  id.File
	// CreatedBy is the id of a key.
	CreatedBy  string
	CreatedAt  time.Time
	ProducedAt *time.Time
	// Portal and what it is of there, zero for all; Selection is that in a word. They are empty of a result's.
	Portal     id.Portal
	Subject    id.Subject
	Assignment id.Assignment
	Unit       id.Unit
	Selection  *string
}

const columns = `id, kind, result_id, session_id, title, language, format, state, version, words, bytes, file_id, created_by, created_at, produced_at,
	portal_id, subject_id, assignment_id, unit_id, selection`

func scan(row pgx.CollectableRow) (Report, error) { return pgx.RowToStructByPos[Report](row) }

// Noun is what errors call a report.
const Noun errdefs.Noun = "report"

const selectOne = `SELECT ` + columns + ` FROM report WHERE org_id = $1 AND id = $2`

// Get finds a report. It rides report_pkey. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, r id.Report) (Report, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(r), selectOne, org, r)
}

// Lock finds a report and keeps it from changing until the commit. The error is
// errdefs.NotFound.
func Lock(ctx context.Context, tx *tenant.Tx, r id.Report) (Report, error) {
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(r), selectOne+` FOR UPDATE`, tx.Org, r)
}

// Most is how many reports of a result are kept, or of the same people: the newest.
const Most = 20

// before are the newest of the reports of the same. It rides report_by_result or report_by_selection.
func (r *Report) before(ctx context.Context, tx *tenant.Tx) ([]Report, error) {
	sql, of := `SELECT `+columns+` FROM report WHERE org_id = $1 AND result_id = $2`, any(r.Result)
	if r.Selection != nil {
		sql, of = `SELECT `+columns+` FROM report WHERE org_id = $1 AND selection = $2`, any(*r.Selection)
	}
	return tenant.AllIn(ctx, tx, scan, sql+` ORDER BY id DESC LIMIT $3`, tx.Org, of, 2*Most)
}

// Insert enters a report that is to be made, and deletes the oldest of the same where there
// would be too many. Whoever does so has the row of the result, or of the portal, until the commit.
func Insert(ctx context.Context, tx *tenant.Tx, r *Report) error {
	before, err := r.before(ctx, tx)
	if err != nil {
		return err
	}
	r.State, r.Version = Building, 1
	for _, b := range before {
		r.Version = max(r.Version, b.Version+1)
	}
	if len(before) >= Most {
		if err := drop(ctx, tx, before[Most-1:]); err != nil {
			return err
		}
	}
	tx.Touch("report", r.ID)
	_, err = tx.Exec(ctx, `
		INSERT INTO report (org_id, id, kind, result_id, session_id, title, language, format, state, version, words, created_by, created_at,
			portal_id, subject_id, assignment_id, unit_id, selection)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
		tx.Org, r.ID, r.Kind, r.Result, r.Session, r.Title, r.Language, r.Format, r.State, r.Version, r.Words, r.CreatedBy, r.CreatedAt,
		r.Portal, r.Subject, r.Assignment, r.Unit, r.Selection)
	return err
}

// Finish enters the file of a report that Lock found, or without one that it could not be made.
func Finish(ctx context.Context, tx *tenant.Tx, r *Report, f id.File, bytes int64, now time.Time) error {
	r.State, r.ProducedAt = Failed, nil
	if !f.IsZero() {
		r.State, r.File, r.Bytes, r.ProducedAt = Ready, f, &bytes, &now
	}
	tx.Touch("report", r.ID)
	_, err := tx.Exec(ctx, `
		UPDATE report SET state = $3, words = $4, bytes = $5, file_id = $6, produced_at = $7 WHERE org_id = $1 AND id = $2`,
		tx.Org, r.ID, r.State, r.Words, r.Bytes, r.File, r.ProducedAt)
	return err
}

// Filter narrows a list; zero fields do not.
type Filter struct {
	Result id.Result
	Kind   string
	State  State
}

// List is a page of the reports, newest first, after one of them; the zero id for the first
// page. It rides report_pkey, or, where that is asked for, report_by_result or report_by_state.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after id.Report, limit int) ([]Report, error) {
	sql, args := f.statement(org, after, limit)
	return tenant.All(ctx, t, org, scan, sql, args...)
}

func (f Filter) statement(org id.Org, after id.Report, limit int) (sql string, args []any) {
	args = []any{org, after, f.Kind, f.State, limit}
	sql = `
		SELECT ` + columns + ` FROM report
		WHERE org_id = $1 AND ($2::UUID IS NULL OR id < $2) AND ($3 = '' OR kind = $3) AND ($4 = '' OR state = $4)`
	const order = ` ORDER BY id DESC LIMIT $5`
	switch {
	case !f.Result.IsZero():
		return sql + ` AND result_id = $6` + order, append(args, f.Result)
	case f.State != "":
		return sql + ` AND state = $6` + order, append(args, f.State)
	}
	return sql + order, args
}

// QueueOfResults reads which reports there are of results, newest first. It rides
// report_by_result.
func QueueOfResults(r *tenant.Reads, org id.Org, of []id.Result, each func(id.Result, id.Report)) {
	r.Query(func(rows pgx.Rows) error {
		var (
			result id.Result
			report id.Report
		)
		_, err := pgx.ForEachRow(rows, []any{&result, &report}, func() error {
			each(result, report)
			return nil
		})
		return err
	}, `SELECT result_id, id FROM report WHERE org_id = $1 AND result_id = ANY($2) ORDER BY id DESC`, org, of)
}

// DeleteOfResults deletes every report of results, with its file. It rides report_by_result.
func DeleteOfResults(ctx context.Context, tx *tenant.Tx, of ...id.Result) error {
	found, err := tenant.AllIn(ctx, tx, scan, `SELECT `+columns+` FROM report WHERE org_id = $1 AND result_id = ANY($2) FOR UPDATE`, tx.Org, of)
	if err != nil {
		return err
	}
	return drop(ctx, tx, found)
}

// DeleteWords deletes the reports that hold words of a session, with their files. One that is
// being made finds out when it is done. It rides report_by_session.
func DeleteWords(ctx context.Context, tx *tenant.Tx, of id.Session) error {
	found, err := tenant.AllIn(ctx, tx, scan, `SELECT `+columns+` FROM report WHERE org_id = $1 AND session_id = $2 AND words FOR UPDATE`, tx.Org, of)
	if err != nil {
		return err
	}
	return drop(ctx, tx, found)
}

func drop(ctx context.Context, tx *tenant.Tx, reports []Report) error {
	if len(reports) == 0 {
		return nil
	}
	var (
		ids   []id.Report
		files []id.File
	)
	for _, r := range reports {
		tx.Touch("report", r.ID)
		ids = append(ids, r.ID)
		if !r.File.IsZero() {
			files = append(files, r.File)
		}
	}
	if _, err := tx.Exec(ctx, `DELETE FROM report WHERE org_id = $1 AND id = ANY($2)`, tx.Org, ids); err != nil {
		return err
	}
	return file.Drop(ctx, tx, files...)
}
