package candidate

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// HumanState is where an interview with people stands.
type HumanState string

// The states of an interview with people.
const (
	InterviewOffered   HumanState = "offered"
	InterviewBooked    HumanState = "booked"
	InterviewCancelled HumanState = "cancelled"
	InterviewCompleted HumanState = "completed"
	InterviewNoShow    HumanState = "no_show"
)

// HumanStates lists every state.
func HumanStates() []HumanState {
	return []HumanState{InterviewOffered, InterviewBooked, InterviewCancelled, InterviewCompleted, InterviewNoShow}
}

// Span is a time that a candidate can choose.
type Span struct {
	StartsAt time.Time `json:"startsAt"`
	EndsAt   time.Time `json:"endsAt"`
}

// HumanInterview is an interview of a candidate with people.
type HumanInterview struct {
	ID        id.Interview
	Role      id.Role
	Candidate id.Candidate
	State     HumanState
	// Slots are the times that the candidate can choose; StartsAt and EndsAt the one that they did,
	// nil before.
	Slots            []Span
	StartsAt, EndsAt *time.Time
	Timezone         string
	// Mode is video, phone or onsite.
	Mode         string
	Interviewers []id.Person
	// JoinURL is where it is held, and Location where that is; nil for what is said otherwise.
	JoinURL, Location *string
	// Schedule is whose time it is beside the interviewers'; zero where the times were given.
	Schedule     id.Schedule
	ScheduleKind string
	// Sequence counts what calendars are to take over.
	Sequence int64
	// ExpiresAt is until when a time can be chosen first.
	ExpiresAt time.Time
	// ReasonCode is why it was cancelled; nil for not.
	ReasonCode           *string
	Edition              int64
	CreatedBy            string
	CreatedAt, UpdatedAt time.Time
}

// HumanNoun is what errors call an interview with people, and these are the reasons of its conflicts.
const (
	HumanNoun errdefs.Noun = "interview"

	ReasonInterviewState   = "interview_state"
	ReasonInterviewExpired = "offer_expired"
	ReasonInterviewBegun   = "interview_begun"
	ReasonTooMany          = "too_many_interviews"
	ReasonRoleClosed       = "role_not_open"
)

func (h *HumanInterview) conflict(reason, message string) error {
	return &errdefs.Conflict{Noun: HumanNoun, ID: h.ID.String(), Reason: reason, Message: message}
}

// Open says whether a time is yet to come of it.
func (h *HumanInterview) Open() bool {
	return h.State == InterviewOffered || h.State == InterviewBooked
}

const humanColumns = `id, role_id, candidate_id, state, slots, starts_at, ends_at, timezone, mode, interviewer_ids, join_url, location, schedule_id,
	schedule_kind, sequence, expires_at, reason_code, edition, created_by, created_at, updated_at`

func scanHuman(row pgx.CollectableRow) (h HumanInterview, err error) {
	return h, row.Scan(&h.ID, &h.Role, &h.Candidate, &h.State, &h.Slots, &h.StartsAt, &h.EndsAt, &h.Timezone, &h.Mode, &h.Interviewers, &h.JoinURL,
		&h.Location, &h.Schedule, &h.ScheduleKind, &h.Sequence, &h.ExpiresAt, &h.ReasonCode, &h.Edition, &h.CreatedBy, &h.CreatedAt, &h.UpdatedAt)
}

const selectHuman = `SELECT ` + humanColumns + ` FROM human_interview WHERE org_id = $1 AND id = $2`

// FindHuman finds an interview with people. It rides human_interview_pkey. The error is
// errdefs.NotFound.
func FindHuman(ctx context.Context, tx *tenant.Tx, which id.Interview) (HumanInterview, error) {
	return tenant.OneIn(ctx, tx, scanHuman, HumanNoun.NotFound(which), selectHuman, tx.Org, which)
}

// GetHuman is FindHuman outside a transaction.
func GetHuman(ctx context.Context, t *tenant.Tenants, org id.Org, which id.Interview) (HumanInterview, error) {
	return tenant.One(ctx, t, org, scanHuman, HumanNoun.NotFound(which), selectHuman, org, which)
}

// lockHuman finds an interview with its candidate, whom nobody else changes until the commit.
func lockHuman(ctx context.Context, tx *tenant.Tx, which id.Interview) (h HumanInterview, c Candidate, err error) {
	if h, err = FindHuman(ctx, tx, which); err != nil {
		return h, c, err
	}
	if c, err = Lock(ctx, tx, h.Candidate); err != nil {
		return h, c, err
	}
	h, err = FindHuman(ctx, tx, which)
	return h, c, err
}

// LockHuman finds an interview that nobody else changes until the commit. The error is
// errdefs.NotFound, or errdefs.Gone of its candidate.
func LockHuman(ctx context.Context, tx *tenant.Tx, which id.Interview) (HumanInterview, error) {
	h, _, err := lockHuman(ctx, tx, which)
	return h, err
}

// HumanFilter narrows a list; zero fields do not.
type HumanFilter struct {
	States    []HumanState
	Candidate id.Candidate
}

// ListHuman is a page of the interviews with people of a role, newest first, after one of them; the
// zero id for the first page. It rides human_interview_by_role, or human_interview_by_candidate where
// a candidate is asked for.
func ListHuman(ctx context.Context, t *tenant.Tenants, org id.Org, r id.Role, f HumanFilter, after id.Interview, limit int) ([]HumanInterview, error) {
	args := []any{org, r, after, f.States, limit}
	sql := `
		SELECT ` + humanColumns + ` FROM human_interview
		WHERE org_id = $1 AND role_id = $2 AND ($3::UUID IS NULL OR id < $3) AND ($4::TEXT[] IS NULL OR state = ANY($4))`
	const order = ` ORDER BY id DESC LIMIT $5`
	if !f.Candidate.IsZero() {
		return tenant.All(ctx, t, org, scanHuman, sql+` AND candidate_id = $6`+order, append(args, f.Candidate)...)
	}
	return tenant.All(ctx, t, org, scanHuman, sql+order, args...)
}

// maxHuman is how many interviews with people a candidate has at most.
const maxHuman = 50

const selectHumanOf = `
	SELECT ` + humanColumns + ` FROM human_interview WHERE org_id = $1 AND candidate_id = $2 ORDER BY id DESC LIMIT $3`

// HumanOf are a candidate's interviews with people, newest first. It rides
// human_interview_by_candidate.
func HumanOf(ctx context.Context, t *tenant.Tenants, org id.Org, c id.Candidate) ([]HumanInterview, error) {
	return tenant.All(ctx, t, org, scanHuman, selectHumanOf, org, c, maxHuman)
}

func (h *HumanInterview) insert(ctx context.Context, tx *tenant.Tx) error {
	tx.Touch("human_interview", h.ID)
	_, err := tx.Exec(ctx, `
		INSERT INTO human_interview (org_id, id, role_id, candidate_id, state, slots, timezone, mode, interviewer_ids, join_url, location,
			schedule_id, schedule_kind, sequence, expires_at, edition, created_by, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $18)`,
		tx.Org, h.ID, h.Role, h.Candidate, h.State, h.Slots, h.Timezone, h.Mode, h.Interviewers, h.JoinURL, h.Location, h.Schedule, h.ScheduleKind,
		h.Sequence, h.ExpiresAt, h.Edition, h.CreatedBy, h.CreatedAt)
	return err
}

// save writes what can change of an interview whose candidate is locked.
func (h *HumanInterview) save(ctx context.Context, tx *tenant.Tx, at time.Time) error {
	h.UpdatedAt, h.Edition = at, h.Edition+1
	tx.Touch("human_interview", h.ID)
	_, err := tx.Exec(ctx, `
		UPDATE human_interview SET state = $3, slots = $4, starts_at = $5, ends_at = $6, join_url = $7, location = $8, sequence = $9, reason_code = $10,
			edition = $11, updated_at = $12
		WHERE org_id = $1 AND id = $2`,
		tx.Org, h.ID, h.State, h.Slots, h.StartsAt, h.EndsAt, h.JoinURL, h.Location, h.Sequence, h.ReasonCode, h.Edition, h.UpdatedAt)
	return err
}
