package candidate

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/law"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/store/tenant"
)

// RequestKind is what a candidate asks for.
type RequestKind string

// The kinds of requests.
const (
	Accommodation    RequestKind = "accommodation"
	HumanAlternative RequestKind = "human_alternative"
	DataAccess       RequestKind = "data_access"
	Correction       RequestKind = "correction"
	// Erasing erases the candidate once a person says so.
	Erasing     RequestKind = "erasure"
	Explanation RequestKind = "explanation"
	Appeal      RequestKind = "appeal"
	// Retake is a further interview.
	Retake RequestKind = "retake"
)

// RequestKinds lists every kind, in the order in which candidates read them.
func RequestKinds() []RequestKind {
	return []RequestKind{Accommodation, HumanAlternative, Retake, Explanation, Appeal, DataAccess, Correction, Erasing}
}

// RequestState is where a request stands.
type RequestState string

// The states of a request. What was granted is done later; what was declined or done is over.
const (
	RequestOpen     RequestState = "open"
	RequestGranted  RequestState = "granted"
	RequestDeclined RequestState = "declined"
	RequestDone     RequestState = "done"
)

// RequestStates lists every state.
func RequestStates() []RequestState {
	return []RequestState{RequestOpen, RequestGranted, RequestDeclined, RequestDone}
}

// Request is something that a candidate asks for.
type Request struct {
	ID        id.CandidateRequest
	Role      id.Role
	Candidate id.Candidate
	Kind      RequestKind
	State     RequestState
	// DueAt is by when it is to be answered.
	DueAt time.Time
	// Message are the candidate's words, and Answer those of who answered; nil for none.
	Message, Answer *string
	// DecidedBy is zero before, and where it ended with the candidate's erasure.
	DecidedBy            id.Person
	DecidedAt            *time.Time
	Edition              int64
	CreatedAt, UpdatedAt time.Time
	// WatchAt is when the team is told next that it waits; nil for never.
	WatchAt *time.Time
}

// RequestNoun is what errors call a request, and these are the reasons of its conflicts.
const (
	RequestNoun errdefs.Noun = "candidate request"

	ReasonRequestState    = "request_state"
	ReasonRequestOpen     = "request_open"
	ReasonRequestUnfit    = "request_unfit"
	ReasonTooManyRequests = "too_many_requests"
	ReasonNoRetakes       = "no_retakes_left"
)

// MaxRequestWords is how many characters a message and an answer have at most, and maxRequests how
// many requests a candidate makes.
const (
	MaxRequestWords = 4000
	maxRequests     = 50
)

const requestColumns = `id, role_id, candidate_id, kind, state, due_at, message, answer, decided_by, decided_at, edition, created_at, updated_at, watch_at`

func scanRequest(row pgx.CollectableRow) (Request, error) { return pgx.RowToStructByPos[Request](row) }

// FindRequest finds a request. It rides candidate_request_pkey. The error is errdefs.NotFound.
func FindRequest(ctx context.Context, tx *tenant.Tx, which id.CandidateRequest) (Request, error) {
	return tenant.OneIn(ctx, tx, scanRequest, RequestNoun.NotFound(which), `
		SELECT `+requestColumns+` FROM candidate_request WHERE org_id = $1 AND id = $2`, tx.Org, which)
}

// RequestFilter narrows a list; zero fields do not.
type RequestFilter struct {
	States    []RequestState
	Candidate id.Candidate
}

// ListRequests is a page of the requests of a role's candidates, newest first, after one of them;
// the zero id for the first page. It rides candidate_request_by_role, candidate_request_by_candidate
// where a candidate is asked for, or candidate_request_by_state for one state.
func ListRequests(ctx context.Context, t *tenant.Tenants, org id.Org, r id.Role, f RequestFilter, after id.CandidateRequest, limit int) ([]Request, error) {
	args := []any{org, r, after, f.States, limit}
	sql := `
		SELECT ` + requestColumns + ` FROM candidate_request
		WHERE org_id = $1 AND role_id = $2 AND ($3::UUID IS NULL OR id < $3) AND ($4::TEXT[] IS NULL OR state = ANY($4))`
	const order = ` ORDER BY id DESC LIMIT $5`
	switch {
	case !f.Candidate.IsZero():
		return tenant.All(ctx, t, org, scanRequest, sql+` AND candidate_id = $6`+order, append(args, f.Candidate)...)
	case len(f.States) == 1:
		return tenant.All(ctx, t, org, scanRequest, sql+` AND state = $6`+order, append(args, f.States[0])...)
	}
	return tenant.All(ctx, t, org, scanRequest, sql+order, args...)
}

const selectRequestsOf = `
	SELECT ` + requestColumns + ` FROM candidate_request WHERE org_id = $1 AND candidate_id = $2 ORDER BY id DESC LIMIT $3`

// RequestsOf are a candidate's requests, newest first. It rides candidate_request_by_candidate.
func RequestsOf(ctx context.Context, t *tenant.Tenants, org id.Org, c id.Candidate) ([]Request, error) {
	return tenant.All(ctx, t, org, scanRequest, selectRequestsOf, org, c, maxRequests)
}

// Days within which requests are answered where no law of the role is stricter: those about the
// interview before it is over, others within a month (GDPR, article 12).
const (
	soonDays  = 10
	monthDays = 30
)

// answerBy is by when a request is answered.
func answerBy(r *role.Role, k RequestKind, now time.Time) time.Time {
	var days, bound int64 = monthDays, 0
	switch k {
	case Accommodation, HumanAlternative, Retake:
		days = soonDays
	case Erasing:
		bound = law.EraseDays(r.Notice.Required)
	case Explanation:
		bound = law.ExplainDays(r.Notice.Required)
	case DataAccess, Correction, Appeal:
	}
	if bound > 0 {
		days = min(days, bound)
	}
	return now.AddDate(0, 0, int(days))
}

// fits says whether a request of a kind has a meaning now.
func (c *Candidate) fits(r *role.Role, k RequestKind) bool {
	switch k {
	case Accommodation, HumanAlternative:
		return c.refused() == nil
	case Retake:
		return c.retakable(r) == nil
	case Explanation:
		return c.Decision != nil
	case Appeal:
		return c.Decision != nil && c.Decision.ReopenedAt == nil // it is being looked at
	case DataAccess, Correction, Erasing:
		return true
	}
	return false
}

// retakable says whether a further interview can be granted. The error is a conflict.
func (c *Candidate) retakable(r *role.Role) error {
	switch {
	case c.State == Withdrawn:
		return c.Conflict(ReasonWithdrawn, "The candidate has withdrawn.")
	case c.decided():
		return c.Conflict(ReasonDecided, "Somebody has decided already.")
	case c.Attempts <= c.Extra:
		return c.Conflict(ReasonNotScreened, "An interview can be held as it is.")
	case c.Extra >= r.Retakes:
		return c.Conflict(ReasonNoRetakes, "The role grants no further interview.")
	}
	return nil
}

// Askable are the kinds of requests that a candidate can make now, who has made these.
func (c *Candidate) Askable(r *role.Role, made []Request) (kinds []RequestKind) {
	if len(made) >= maxRequests {
		return nil
	}
	for _, k := range RequestKinds() {
		open := slices.ContainsFunc(made, func(q Request) bool { return q.Kind == k && q.State == RequestOpen })
		if !open && c.fits(r, k) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// Ask enters a request of a candidate, with their words; empty for none, and has the role's hiring
// managers told. The error is
// errdefs.NotFound, errdefs.Gone, or a conflict.
func Ask(ctx context.Context, tx *tenant.Tx, which id.Candidate, k RequestKind, message string, now time.Time) (Request, error) {
	return ask(ctx, tx, which, k, message, nil, now)
}

// AskInInterview is Ask of what is asked for in an interview, by the candidate or by the avatar for
// them, as the record says.
func AskInInterview(ctx context.Context, tx *tenant.Tx, which id.Candidate, k RequestKind, by string, now time.Time) (Request, error) {
	return ask(ctx, tx, which, k, "", map[string]any{"inInterview": true, "requestedBy": by}, now)
}

func ask(ctx context.Context, tx *tenant.Tx, which id.Candidate, k RequestKind, message string, facts map[string]any, now time.Time) (Request, error) {
	c, err := Lock(ctx, tx, which)
	if err != nil {
		return Request{}, err
	}
	r, err := c.FindRole(ctx, tx)
	if err != nil {
		return Request{}, err
	}
	made, err := tenant.AllIn(ctx, tx, scanRequest, selectRequestsOf, tx.Org, c.ID, maxRequests)
	switch {
	case err != nil:
		return Request{}, err
	case len(made) >= maxRequests:
		return Request{}, c.Conflict(ReasonTooManyRequests, "The candidate has asked for as much as they may.")
	case slices.ContainsFunc(made, func(q Request) bool { return q.Kind == k && q.State == RequestOpen }):
		return Request{}, c.Conflict(ReasonRequestOpen, "The candidate has asked for that, and waits for an answer.")
	case !c.fits(&r, k):
		return Request{}, c.Conflict(ReasonRequestUnfit, "That cannot be asked for as things stand.")
	}
	q := Request{
		ID: id.NewCandidateRequest(), Role: c.Role, Candidate: c.ID, Kind: k, State: RequestOpen, DueAt: answerBy(&r, k, now), Edition: 1,
		CreatedAt: now, UpdatedAt: now,
	}
	q.WatchAt = watch(q.DueAt, now)
	if message != "" {
		q.Message = &message
	}
	if err := q.insert(ctx, tx); err != nil {
		return q, err
	}
	data := map[string]any{"requestId": q.ID, "kind": k, "dueAt": q.DueAt.UTC()}
	maps.Copy(data, facts)
	if err := c.Note(ctx, tx, record.Fact{At: now, Actor: byCandidate, Action: MadeRequest, Words: message, Data: data}); err != nil {
		return q, err
	}
	if err := c.Save(ctx, tx, now); err != nil {
		return q, err
	}
	return q, c.tellTeam(ctx, tx, &r, mailer.TeamAsked, q.ID, now)
}

func (q *Request) insert(ctx context.Context, tx *tenant.Tx) error {
	tx.Touch("candidate_request", q.ID)
	_, err := tx.Exec(ctx, `
		INSERT INTO candidate_request (org_id, id, role_id, candidate_id, kind, state, due_at, message, edition, created_at, updated_at, watch_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11)`,
		tx.Org, q.ID, q.Role, q.Candidate, q.Kind, q.State, q.DueAt, q.Message, q.Edition, q.CreatedAt, q.WatchAt)
	return err
}

// dropRequests ends what an erased candidate asked for, and erases its words. It rides
// candidate_request_by_candidate.
func dropRequests(ctx context.Context, tx *tenant.Tx, c id.Candidate, at time.Time) error {
	rows, err := tx.Query(ctx, `
		UPDATE candidate_request SET message = NULL, answer = NULL, edition = edition + 1, updated_at = $3,
			decided_at = CASE WHEN state = 'open' THEN $3 ELSE decided_at END, state = CASE WHEN state = 'open' THEN 'done' ELSE state END
		WHERE org_id = $1 AND candidate_id = $2 AND (state = 'open' OR message IS NOT NULL OR answer IS NOT NULL)
		RETURNING id`, tx.Org, c, at)
	if err != nil {
		return err
	}
	var which id.CandidateRequest
	_, err = pgx.ForEachRow(rows, []any{&which}, func() error {
		tx.Touch("candidate_request", which)
		return nil
	})
	return err
}
