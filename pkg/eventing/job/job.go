// Package job keeps and runs work that outlasts a request. A job advances in
// steps; each is one transaction that does a part of the work and notes how far
// it got, so a crash repeats at most what was not committed. What takes long or
// waits for others is prepared before the transaction (see Work).
package job

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Kind is what a job does.
type Kind string

// The kinds.
const (
	// ATSTell tells an applicant tracking system where a candidate stands (package ats).
	ATSTell Kind = "ats_tell"
	// AssignmentProgress notes how far somebody got with an assignment (package assignment).
	AssignmentProgress Kind = "assignment_progress"
	// AvatarPrepare makes a face ready to be worn (package face).
	AvatarPrepare Kind = "avatar_prepare"
	// CalendarSend mails an invitation to a calendar (package mailer).
	CalendarSend Kind = "calendar_send"
	// CalendarRead reads when the calendar of a schedule is busy, and CalendarWrite writes an
	// appointment into it (package appointment).
	CalendarRead  Kind = "calendar_read"
	CalendarWrite Kind = "calendar_write"
	// CandidateErase removes what is known of a candidate, and CandidateScore scores what they
	// answered (packages candidate and screening).
	CandidateErase Kind = "candidate_erase"
	CandidateScore Kind = "candidate_score"
	// ConnectionResume has what waits for a connection told at once (package dispatch).
	ConnectionResume Kind = "connection_resume"
	// ConnectionSync passes through what a customer's CRM or helpdesk has of the inbox, and ConnectionRead does so again and again
	// (package exchange); CRMSend writes an item that changed (package crm).
	ConnectionSync Kind = "connection_sync"
	ConnectionRead Kind = "connection_read"
	CRMSend        Kind = "crm_send"
	// CourseRead reads who is in a course of a learning platform (package course).
	CourseRead Kind = "course_read"
	// Erase removes what is known of a person (package person).
	Erase Kind = "erase"
	// Export writes records into a file (package export).
	Export Kind = "export"
	// GradeSend tells a learning platform how somebody did (package gradebook).
	GradeSend Kind = "grade_send"
	// HiringMail sends a letter to a candidate or to a hiring team (package mailer).
	HiringMail Kind = "hiring_mail"
	// InboxMail tells one of the team by mail of an item, as a rule has it (package mailer).
	InboxMail Kind = "inbox_mail"
	// InboxTell tells a chat or a helpdesk what visitors left (package notify).
	InboxTell Kind = "inbox_tell"
	// InboxForget removes a forgotten visitor from what is kept to be repeated (package session).
	InboxForget Kind = "inbox_forget"
	// KnowledgeEmbed makes the vectors of a pack's passages (package knowledge).
	KnowledgeEmbed Kind = "knowledge_embed"
	// KnowledgeSync reads a document of a knowledge pack (package knowledge).
	KnowledgeSync Kind = "knowledge_sync"
	// MailSend sends a letter (package letter).
	MailSend Kind = "mail_send"
	// MemoryWrite remembers what somebody said in a session (package memory).
	MemoryWrite Kind = "memory_write"
	// PeopleImport adds the people of a file (package roster).
	PeopleImport Kind = "people_import"
	// PortalPlan works out a plan for a portal, and PortalFill makes it true (package
	// setup).
	PortalPlan Kind = "portal_plan"
	PortalFill Kind = "portal_fill"
	// RecordingJoin joins what was recorded of a session (package recording).
	RecordingJoin Kind = "recording_join"
	// ReportBuild prints what somebody asked to be printed (package report).
	ReportBuild Kind = "report_build"
	// ResultScore scores what somebody answered in a session (package result).
	ResultScore Kind = "result_score"
	// Simulate rehearses with a persona: a script, or its tests (package rehearsal).
	Simulate Kind = "simulate"
	// StatementSend tells a learning record store what somebody learned (package recordstore).
	StatementSend Kind = "statement_send"
	// SubjectSync writes what a published subject tells into its portal's pack
	// (package subject).
	SubjectSync Kind = "subject_sync"
	// Translate translates the questions of a subject (package translation).
	Translate Kind = "translate"
	// UnitSwitch tells whom a unit switched on or off with it (package person).
	UnitSwitch Kind = "unit_switch"
	// VoiceClone makes an organization's own voice, and VoiceRemove takes a deleted
	// one from its service (package voice).
	VoiceClone  Kind = "voice_clone"
	VoiceRemove Kind = "voice_remove"
	// WebhookRecover delivers again what a webhook missed (package delivery).
	WebhookRecover Kind = "webhook_recover"
)

// Kinds lists every kind that callers see.
func Kinds() []Kind {
	return []Kind{
		AvatarPrepare, CandidateErase, ConnectionSync, Erase, Export, KnowledgeSync, PeopleImport, PortalFill, PortalPlan, Simulate, SubjectSync, Translate, UnitSwitch,
		VoiceClone, VoiceRemove, WebhookRecover,
	}
}

// Quiet says that a job is the platform's own business: it is not listed, tells
// only what its steps tell, and is gone when it ends.
func (k Kind) Quiet() bool { return slices.Contains(quiet, k) }

// QuietKinds lists every kind that is quiet.
func QuietKinds() []Kind { return slices.Clone(quiet) }

var quiet = []Kind{AssignmentProgress, ATSTell, CalendarRead, CalendarSend, CalendarWrite, CandidateScore, ConnectionRead, ConnectionResume, CourseRead, CRMSend, GradeSend, HiringMail, InboxForget, InboxMail, InboxTell, KnowledgeEmbed, MailSend, MemoryWrite, RecordingJoin, ReportBuild, ResultScore, StatementSend}

// Cancellable says whether a job of the kind can be ended early. A document
// that is read is never left half read, nor a voice or a face half made.
func (k Kind) Cancellable() bool {
	switch k {
	case ConnectionSync, PeopleImport, PortalFill, PortalPlan, Simulate, Translate, WebhookRecover:
		return true
	default:
		return false
	}
}

// Under lists the kinds whose jobs take one of some scopes, by which it is known what job.completed tells of. An export is not among
// them: whatever records it is of, it names none.
func Under(scopes []scope.Scope) (kinds []Kind) {
	for _, s := range scopes {
		kinds = append(kinds, under[s]...)
	}
	return kinds
}

var under = map[scope.Scope][]Kind{
	scope.CandidatesData: {CandidateErase},
	scope.PeopleWrite:    {Erase, PeopleImport, UnitSwitch},
}

// State is where a job stands.
type State string

// The states.
const (
	Queued    State = "queued"
	Running   State = "running"
	Succeeded State = "succeeded"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// States lists every state.
func States() []State { return []State{Queued, Running, Succeeded, Failed, Cancelled} }

// Ended says whether nothing more will happen.
func (s State) Ended() bool { return s == Succeeded || s == Failed || s == Cancelled }

// Job is a piece of work.
type Job struct {
	Org   id.Org
	ID    id.Job
	Kind  Kind
	State State
	// Input is what it is to do and Progress how far it got; their form is the
	// kind's.
	Input, Progress json.RawMessage
	// Done of Total parts; Total is negative while it is not known.
	Done, Total int64
	// ResourceKind and ResourceID name what it works on.
	ResourceKind, ResourceID string
	// Portal and Subject are those that it is for; zero for none.
	Portal  id.Portal
	Subject id.Subject
	// Connection is the one whose system it tells; zero for none.
	Connection id.Connection
	// Counts are what came of it, by what was counted, such as "documents".
	Counts map[string]int64
	// Scope lets a key see the job.
	Scope scope.Scope
	// ErrorCode says why it failed.
	ErrorCode string
	// Attempts counts the steps that were begun, but of heavy kinds not those that failed
	// and whose process lived to say so.
	Attempts              int64
	CreatedBy             string
	CreatedAt             time.Time
	StartedAt, FinishedAt *time.Time
	// Source is the file that it works from; zero for none, and once it is gone.
	Source id.File
	// File is what came of it; zero for none.
	File id.File
	// Refused are the first lines of the source that it refused.
	Refused []RefusedLine
}

// run notes that the job runs.
func (j *Job) run(now time.Time) {
	if j.StartedAt == nil {
		j.StartedAt = &now
	}
	j.State = Running
}

// Counted says whether the total is known.
func (j *Job) Counted() bool { return j.Total >= 0 }

// Noun is what errors call a job.
const Noun errdefs.Noun = "job"

// ReasonNotCancellable is that of the conflict of a job whose kind runs to its end.
const ReasonNotCancellable = "not_cancellable"

// ReasonEnded is that of the conflict of a job that has ended.
const ReasonEnded = "job_ended"

const columns = `org_id, id, kind, state, input, progress, done, total, resource_kind, resource_id,
	portal_id, subject_id, connection_id, counts, scope, error_code, attempts, created_by, created_at, started_at, finished_at,
	source_id, file_id, refused`

func scan(row pgx.CollectableRow) (Job, error) { return pgx.RowToStructByPos[Job](row) }

// Insert queues a job. Its id, kind, input, source, resource, scope and creator are
// the caller's; the rest is set here.
func Insert(ctx context.Context, tx *tenant.Tx, j Job, input any) (Job, error) {
	var err error
	if j.Input, err = json.Marshal(input); err != nil {
		return j, err
	}
	j.Org, j.State, j.Progress, j.Total, j.Counts = tx.Org, Queued, json.RawMessage("{}"), -1, map[string]int64{}
	j.Refused = []RefusedLine{}
	tx.Touch("job", j.ID)
	_, err = tx.Exec(ctx, `
		INSERT INTO job (org_id, id, kind, state, input, progress, done, total, resource_kind, resource_id, portal_id, subject_id, scope,
			error_code, attempts, created_by, created_at, due_at, heavy, source_id, connection_id)
		VALUES ($1, $2, $3, $4, $5, $6, 0, -1, $7, $8, $9, $10, $11, '', 0, $12, $13, $13, $14, $15, $16)`,
		j.Org, j.ID, j.Kind, j.State, j.Input, j.Progress, j.ResourceKind, j.ResourceID, j.Portal, j.Subject, j.Scope, j.CreatedBy,
		j.CreatedAt, j.Kind.Heavy(), j.Source, j.Connection)
	return j, err
}

// Filter narrows a list; zero fields do not.
type Filter struct {
	Kinds  []Kind
	States []State
	// Scopes are those the caller holds; nil for a caller that sees every job.
	Scopes []scope.Scope
}

// List is a page of the jobs, newest first, after one of them; the zero id for
// the first page. It rides job_pkey.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after id.Job, limit int) ([]Job, error) {
	return tenant.All(ctx, t, org, scan, `
		SELECT `+columns+` FROM job
		WHERE org_id = $1 AND ($2::UUID IS NULL OR id < $2) AND kind <> ALL($7) AND ($3::TEXT[] IS NULL OR kind = ANY($3))
			AND ($4::TEXT[] IS NULL OR state = ANY($4)) AND ($5::TEXT[] IS NULL OR scope = ANY($5))
		ORDER BY id DESC LIMIT $6`, org, after, f.Kinds, f.States, f.Scopes, limit, quiet)
}

// Get finds a job. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, j id.Job) (Job, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(j), `SELECT `+columns+` FROM job WHERE org_id = $1 AND id = $2`, org, j)
}

// Cancel ends a job that has not ended; one that was cancelled is answered as it is. What its
// steps did stays done. The error can be errdefs.NotFound or an errdefs.Conflict
// (ReasonNotCancellable, ReasonEnded).
func Cancel(ctx context.Context, tx *tenant.Tx, which id.Job, who activity.Actor) (Job, error) {
	j, err := lock(ctx, tx, which)
	if err != nil || j.State == Cancelled {
		return j, err
	}
	if j.State.Ended() {
		return j, &errdefs.Conflict{Noun: Noun, Reason: ReasonEnded, Message: "The job has " + string(j.State) + "."}
	}
	if !j.Kind.Cancellable() {
		return j, &errdefs.Conflict{
			Noun: Noun, Reason: ReasonNotCancellable, Message: "A job of this kind runs to its end. Delete what it works on instead.",
		}
	}
	j.State = Cancelled
	if err := j.save(ctx, tx, who.At, who.At); err != nil {
		return j, err
	}
	who.Log(tx, "job.cancelled", "job", j.ID, nil)
	return j, nil
}

// Recall has the next step of a job prepared anew, because what it works on has changed:
// a preparation under way ends when its claim is renewed next. A transaction that locks
// the thing too calls it before, as the job's steps lock the job first.
func Recall(ctx context.Context, tx *tenant.Tx, which id.Job, now time.Time) error {
	tx.Touch("job", which)
	_, err := tx.Exec(ctx, `UPDATE job SET owner = NULL, due_at = $3 WHERE org_id = $1 AND id = $2 AND finished_at IS NULL`, tx.Org, which, now)
	return err
}

// mostRecalled is how many jobs are recalled by one commit.
const mostRecalled = 200

// RecallOf has jobs that wait for connections make their next steps at once: the first after one of them, in the
// order of their ids, the zero id for all. It answers the last that it looked at, zero where there are no
// more. Steps under way are left alone: they may have told already; and so are the jobs that recall. It rides
// job_by_connection.
func RecallOf(ctx context.Context, tx *tenant.Tx, of []id.Connection, after id.Job, now time.Time) (last id.Job, err error) {
	waiting, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Job], `
		SELECT id FROM job
		WHERE org_id = $1 AND connection_id = ANY($2) AND finished_at IS NULL AND ($3::UUID IS NULL OR id > $3)
		ORDER BY id LIMIT $4`, tx.Org, of, after, mostRecalled)
	if err != nil || len(waiting) == 0 {
		return id.Job{}, err
	}
	recalled, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Job], `
		UPDATE job SET due_at = $3
		WHERE org_id = $1 AND id = ANY($2) AND owner IS NULL AND due_at > $3 AND finished_at IS NULL AND kind <> $4
		RETURNING id`, tx.Org, waiting, now, ConnectionResume)
	for _, j := range recalled {
		tx.Touch("job", j)
	}
	if len(waiting) < mostRecalled {
		return id.Job{}, err
	}
	return waiting[len(waiting)-1], err
}

// StartAgain has the unfinished jobs of a kind that concern a connection begin once more at their next steps, and says
// whether there is one. It rides job_by_connection.
func StartAgain(ctx context.Context, tx *tenant.Tx, of id.Connection, kind Kind) (bool, error) {
	again, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Job], `
		UPDATE job SET progress = '{}'
		WHERE org_id = $1 AND connection_id = $2 AND kind = $3 AND finished_at IS NULL RETURNING id`, tx.Org, of, kind)
	for _, j := range again {
		tx.Touch("job", j)
	}
	return len(again) > 0, err
}

// Concerns says whether there is an unfinished job of a kind that concerns a connection. It rides job_by_connection.
func Concerns(ctx context.Context, tx *tenant.Tx, of id.Connection, kind Kind) (there bool, err error) {
	err = tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM job WHERE org_id = $1 AND connection_id = $2 AND kind = $3 AND finished_at IS NULL)`, tx.Org, of, kind).Scan(&there)
	return there, err
}

// Hasten has a job that waits make its next step at once; one whose step is under way is left alone. A transaction that
// locks what the job works on calls it before, as the job's steps lock the job first. It answers whether the job is
// there and has not ended; the zero id is none.
func Hasten(ctx context.Context, tx *tenant.Tx, which id.Job, now time.Time) (there bool, err error) {
	if which.IsZero() {
		return false, nil
	}
	tx.Touch("job", which)
	if _, err := tx.Exec(ctx, `
		UPDATE job SET due_at = $3 WHERE org_id = $1 AND id = $2 AND owner IS NULL AND due_at > $3 AND finished_at IS NULL`, tx.Org, which, now); err != nil {
		return false, err
	}
	return Waits(ctx, tx, which)
}

// Waits says whether a job is there that has not ended; the zero id is none. It rides job_pkey.
func Waits(ctx context.Context, tx *tenant.Tx, which id.Job) (there bool, err error) {
	if which.IsZero() {
		return false, nil
	}
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM job WHERE org_id = $1 AND id = $2 AND finished_at IS NULL)`, tx.Org, which).Scan(&there)
	return there, err
}

func lock(ctx context.Context, tx *tenant.Tx, which id.Job) (Job, error) {
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(which), `SELECT `+columns+` FROM job WHERE org_id = $1 AND id = $2 FOR UPDATE`, tx.Org, which)
}

// save writes what a step left, and the event when it was the last.
func (j *Job) save(ctx context.Context, tx *tenant.Tx, now, due time.Time) error {
	if j.State.Ended() && j.Kind.Quiet() {
		return j.vanish(ctx, tx)
	}
	next := &due
	if j.State.Ended() {
		next, j.FinishedAt = nil, &now
	}
	tx.Touch("job", j.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE job SET state = $3, progress = $4, done = $5, total = $6, error_code = $7, started_at = $8, finished_at = $9,
			due_at = $10, counts = $11, portal_id = $12, file_id = $13, refused = $14, owner = NULL
		WHERE org_id = $1 AND id = $2`,
		tx.Org, j.ID, j.State, j.Progress, j.Done, j.Total, j.ErrorCode, j.StartedAt, j.FinishedAt, next, j.Counts, j.Portal,
		j.File, j.Refused); err != nil {
		return err
	}
	if j.State.Ended() {
		event.Emit(tx, event.Draft{Type: event.JobCompleted, At: now, Subject: j.Subject, Fields: j.told()})
	}
	return nil
}

// vanish leaves nothing of a quiet job.
func (j *Job) vanish(ctx context.Context, tx *tenant.Tx) error {
	tx.Touch("job", j.ID)
	_, err := tx.Exec(ctx, `DELETE FROM job WHERE org_id = $1 AND id = $2`, tx.Org, j.ID)
	return err
}

// told are the fields of job.completed.
func (j *Job) told() map[string]any {
	fields := map[string]any{
		"jobId": j.ID.String(), "kind": j.Kind, "state": j.State, "resourceKind": j.ResourceKind, "resourceId": j.ResourceID,
		"startedAt": j.StartedAt, "finishedAt": j.FinishedAt,
	}
	if !j.Portal.IsZero() {
		fields["portalId"] = j.Portal.String()
	}
	if !j.Subject.IsZero() {
		fields["subjectId"] = j.Subject.String()
	}
	if j.ErrorCode != "" {
		fields["errorCode"] = j.ErrorCode
	}
	return fields
}
