// Package candidate is those who are invited to a role's interview: who they are, what they
// were told and agreed to, and what people decided (spec, Hiring). The interview itself is
// package screening's.
package candidate

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/law"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/store/tenant"
)

// State is where a candidate stands.
type State string

// The states.
const (
	Invited    State = "invited"
	Opened     State = "opened"
	InProgress State = "in_progress"
	Screened   State = "screened"
	Reviewed   State = "reviewed"
	Decided    State = "decided"
	Withdrawn  State = "withdrawn"
	Erased     State = "erased"
)

// States lists every state.
func States() []State {
	return []State{Invited, Opened, InProgress, Screened, Reviewed, Decided, Withdrawn, Erased}
}

// Stage is what a candidate is at.
type Stage string

// The stages.
const (
	AtScreening Stage = "screening"
	AtInterview Stage = "interview"
	AtOffer     Stage = "offer"
	AtEnd       Stage = "closed"
)

// Notice is what a candidate was told.
type Notice struct {
	At time.Time `json:"at"`
	// Channel is email or page.
	Channel string `json:"channel"`
	// LeadDays are the business days that were counted from it.
	LeadDays int64 `json:"leadDays"`
	// Laws are those whose notices it had, with their versions.
	Laws []Told `json:"laws"`
	// TextHash is of all that they were told (role.TextHash), in Language.
	TextHash string `json:"textHash,omitempty"`
	Language string `json:"language,omitempty"`
	// Signals says that they were told what their page notes during the interview.
	Signals bool `json:"signals,omitempty"`
	// Alternative says that they were told what happens instead of the interview.
	Alternative    bool       `json:"alternative,omitempty"`
	AcknowledgedAt *time.Time `json:"acknowledgedAt,omitempty"`
}

// Told is the notice of a law.
type Told struct {
	Law     law.Key `json:"law"`
	Version string  `json:"version"`
	// TextHash is of the words of it that they were told.
	TextHash string `json:"textHash,omitempty"`
}

// Consent is what a candidate agreed to, and when; nil for not.
type Consent struct {
	// Interview is to be interviewed by an AI and, where answers are scored, to that.
	InterviewAt *time.Time `json:"interviewAt,omitempty"`
	WithdrawnAt *time.Time `json:"withdrawnAt,omitempty"`
}

// Decision is what a person decided.
type Decision struct {
	Value      Value     `json:"value"`
	By         id.Person `json:"decidedBy"`
	At         time.Time `json:"decidedAt"`
	ReasonCode string    `json:"reasonCode"`
	// Reviewed says that the person had read the interview, or that there was none.
	Reviewed bool `json:"humanReviewed"`
	// ExplainedAt is when the candidate was sent why.
	ExplainedAt *time.Time `json:"explainedAt,omitempty"`
	// ExplainBy is by when a law has them sent that; nil for never.
	ExplainBy *time.Time `json:"explainBy,omitempty"`
	// From is the stage before.
	From Stage `json:"from,omitempty"`
	// ReopenedAt is when an appeal of it was granted, Appeal: it stands until another is made.
	ReopenedAt *time.Time          `json:"reopenedAt,omitempty"`
	Appeal     id.CandidateRequest `json:"appeal,omitzero"`
}

// Closes says whether nothing is decided after a decision any more: it is final, and no appeal of
// it was granted.
func (d *Decision) Closes() bool { return d != nil && d.Value.Final() && d.ReopenedAt == nil }

// Value is what can be decided.
type Value string

// The decisions.
const (
	Advance Value = "advance"
	Reject  Value = "reject"
	Wait    Value = "hold"
	Hire    Value = "hire"
	Drop    Value = "withdrawn"
)

// final decisions are not followed by another.
var final = []Value{Reject, Hire, Drop}

// Final says whether a decision closes the matter.
func (v Value) Final() bool { return slices.Contains(final, v) }

// Candidate is one candidate.
type Candidate struct {
	ID     id.Candidate
	Role   id.Role
	Invite id.Invite
	Name   string
	Email  *string
	// emailKey is the address as it is compared.
	emailKey         *string
	Phone, ResumeURL *string
	ExternalID       *string
	Language         string
	Metadata         map[string]string
	State            State
	Stage            Stage
	Notice           *Notice
	StartsFrom       *time.Time
	Consent          Consent
	Screening        id.Screening
	Attempts, Extra  int64
	ScreenedAt       *time.Time
	ReviewedAt       *time.Time
	Reviewer         id.Person
	Decision         *Decision
	DecisionNote     *string
	OnHold           bool
	RetainUntil      time.Time
	// WordsUntil is until when what they said is kept; nil once it is deleted.
	WordsUntil         *time.Time
	SilenceAt, EraseAt *time.Time
	// LinkAt is when they got a new link: who came by the one before is out; nil for never.
	LinkAt *time.Time
	// SettledAt is when it was first decided after an interview to go on with them, or not to; Selected says that it was
	// to go on.
	SettledAt *time.Time
	Selected  bool
	ErasedAt  *time.Time
	Length    int64
	Head      []byte
	Sandbox   bool
	// Tracked says that an applicant tracking system sent them (Application).
	Tracked bool
	// QuestionSet is the version of the role's questions that they are asked; 0 while there is none.
	QuestionSet int64
	// Place is where they work from, of a remote role; nil for where the role is.
	Place *law.Place
	// ExplainAt is when the team is told next that a rejection was not explained; nil for never.
	ExplainAt            *time.Time
	Edition              int64
	CreatedAt, UpdatedAt time.Time
}

// The noun that errors of this package are about, and the reasons of its conflicts.
const (
	Noun errdefs.Noun = "candidate"

	ReasonNotReviewed  = "not_reviewed"
	ReasonDecided      = "decision_already_made"
	ReasonNotScreened  = "not_screened"
	ReasonReviewed     = "already_reviewed"
	ReasonInInterview  = "interview_in_progress"
	ReasonNotManager   = "not_a_hiring_manager"
	ReasonWithdrawn    = "candidate_withdrawn"
	ReasonTooEarly     = "notice_period"
	ReasonConsent      = "consent_missing"
	ReasonInterviewed  = "already_interviewed"
	ReasonInviteOver   = "invite_over"
	ReasonTooOften     = "too_many_tries"
	ReasonNoAddress    = "no_address"
	ReasonNotDelivered = "no_mail"
	ReasonUndecided    = "not_decided"
)

// decided says whether the matter is closed.
func (c *Candidate) decided() bool { return c.Decision.Closes() }

// Conflict says that a candidate does not stand where something can be done.
func (c *Candidate) Conflict(reason, message string) error {
	return &errdefs.Conflict{Noun: Noun, ID: c.ID.String(), Reason: reason, Message: message}
}

const columns = `id, role_id, invite_id, name, email, email_key, phone, resume_url, external_id, language, metadata, state, stage, notice, starts_from,
	consent, screening_id, attempts, extra, screened_at, reviewed_at, reviewer_id, decision, decision_note, on_hold, retain_until, words_until, silence_at,
	erase_at, erased_at, record_length, record_head, sandbox, edition, created_at, updated_at, link_at, settled_at, selected, tracked, explain_at, question_set, place`

func (c *Candidate) places() []any {
	return []any{
		&c.ID, &c.Role, &c.Invite, &c.Name, &c.Email, &c.emailKey, &c.Phone, &c.ResumeURL, &c.ExternalID, &c.Language, &c.Metadata, &c.State, &c.Stage,
		&c.Notice, &c.StartsFrom, &c.Consent, &c.Screening, &c.Attempts, &c.Extra, &c.ScreenedAt, &c.ReviewedAt, &c.Reviewer, &c.Decision,
		&c.DecisionNote, &c.OnHold, &c.RetainUntil, &c.WordsUntil, &c.SilenceAt, &c.EraseAt, &c.ErasedAt, &c.Length, &c.Head, &c.Sandbox, &c.Edition,
		&c.CreatedAt, &c.UpdatedAt, &c.LinkAt, &c.SettledAt, &c.Selected, &c.Tracked, &c.ExplainAt, &c.QuestionSet, &c.Place,
	}
}

func scan(row pgx.CollectableRow) (c Candidate, err error) { return c, row.Scan(c.places()...) }

const selectOne = `SELECT ` + columns + ` FROM candidate WHERE org_id = $1 AND id = $2`

// present says that somebody who was erased is gone.
func present(c Candidate, err error) (Candidate, error) {
	if err == nil && c.State == Erased {
		err = errdefs.Gone{Noun: Noun, ID: c.ID.String(), How: "erased"}
	}
	return c, err
}

// Get finds a candidate. It rides candidate_pkey. The error is errdefs.NotFound, or errdefs.Gone
// of who was erased.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, c id.Candidate) (Candidate, error) {
	return present(tenant.One(ctx, t, org, scan, Noun.NotFound(c), selectOne, org, c))
}

// GetAny is Get of somebody who may be erased.
func GetAny(ctx context.Context, t *tenant.Tenants, org id.Org, c id.Candidate) (Candidate, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(c), selectOne, org, c)
}

// Find is Get in a transaction.
func Find(ctx context.Context, tx *tenant.Tx, c id.Candidate) (Candidate, error) {
	return present(tenant.OneIn(ctx, tx, scan, Noun.NotFound(c), selectOne, tx.Org, c))
}

// Lock is Find of a candidate whom nobody else changes until the commit.
func Lock(ctx context.Context, tx *tenant.Tx, c id.Candidate) (Candidate, error) {
	return present(tenant.OneIn(ctx, tx, scan, Noun.NotFound(c), selectOne+` FOR UPDATE`, tx.Org, c))
}

// FindRole is the role of a candidate, as it is where they work from. The error is errdefs.NotFound.
func (c *Candidate) FindRole(ctx context.Context, tx *tenant.Tx) (role.Role, error) {
	r, err := role.Find(ctx, tx, c.Role)
	return r.For(c.Place), err
}

// Several finds candidates by their ids, also those who are erased. It rides candidate_pkey.
func Several(ctx context.Context, t *tenant.Tenants, org id.Org, which []id.Candidate) (map[id.Candidate]Candidate, error) {
	found, err := tenant.All(ctx, t, org, scan, `SELECT `+columns+` FROM candidate WHERE org_id = $1 AND id = ANY($2)`, org, which)
	all := make(map[id.Candidate]Candidate, len(found))
	for _, c := range found {
		all[c.ID] = c
	}
	return all, err
}

// Hidden says whether nothing tells who a candidate is: their role is blind, and nobody has decided on
// them yet. Who is put on hold before any other decision is not decided on.
func (c *Candidate) Hidden(r *role.Role) bool { return r.Blind && !c.judged() }

func (c *Candidate) judged() bool {
	return c.Decision != nil && (c.Decision.Value != Wait || c.Stage != AtScreening)
}

// Filter narrows a list; zero fields do not.
type Filter struct {
	// States are all but erased unless given.
	States []State
}

// List is a page of a role's candidates, newest first, after one of them; the zero id for the
// first page. It rides candidate_by_role, or candidate_by_state for one state.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, r id.Role, f Filter, after id.Candidate, limit int) ([]Candidate, error) {
	if len(f.States) == 0 {
		f.States = slices.DeleteFunc(States(), func(s State) bool { return s == Erased })
	}
	args := []any{org, r, after, f.States, limit}
	sql := `SELECT ` + columns + ` FROM candidate WHERE org_id = $1 AND role_id = $2 AND ($3::UUID IS NULL OR id < $3) AND state = ANY($4)`
	const order = ` ORDER BY id DESC LIMIT $5`
	if len(f.States) == 1 {
		return tenant.All(ctx, t, org, scan, sql+` AND state = $6`+order, append(args, f.States[0])...)
	}
	return tenant.All(ctx, t, org, scan, sql+order, args...)
}

// Save writes what can change of a candidate who is locked, their invitation before it, and has the
// system that sent them told.
func (c *Candidate) Save(ctx context.Context, tx *tenant.Tx, at time.Time) error {
	c.UpdatedAt, c.Edition = at, c.Edition+1
	tx.Touch("candidate", c.ID)
	_, err := tx.Exec(ctx, `
		UPDATE candidate SET name = $3, email = $4, email_key = $5, phone = $6, resume_url = $7, external_id = $8, metadata = $9, state = $10,
			stage = $11, notice = $12, starts_from = $13, consent = $14, screening_id = $15, attempts = $16, extra = $17, screened_at = $18,
			reviewed_at = $19, reviewer_id = $20, decision = $21, decision_note = $22, on_hold = $23, retain_until = $24, silence_at = $25,
			erase_at = $26, erased_at = $27, record_length = $28, record_head = $29, edition = $30, updated_at = $31, words_until = $32, link_at = $33,
			settled_at = $34, selected = $35, explain_at = $36, question_set = $37, place = $38
		WHERE org_id = $1 AND id = $2`,
		tx.Org, c.ID, c.Name, c.Email, c.emailKey, c.Phone, c.ResumeURL, c.ExternalID, c.Metadata, c.State, c.Stage, c.Notice, c.StartsFrom,
		c.Consent, c.Screening, c.Attempts, c.Extra, c.ScreenedAt, c.ReviewedAt, c.Reviewer, c.Decision, c.DecisionNote, c.OnHold, c.RetainUntil,
		c.SilenceAt, c.EraseAt, c.ErasedAt, c.Length, c.Head, c.Edition, c.UpdatedAt, c.WordsUntil, c.LinkAt, c.SettledAt, c.Selected, c.ExplainAt, c.QuestionSet, c.Place)
	if err != nil {
		return err
	}
	return c.follow(ctx, tx, at)
}

// Note adds an entry to the record of a candidate who is locked. Save comes after it.
func (c *Candidate) Note(ctx context.Context, tx *tenant.Tx, f record.Fact) error {
	chain := record.Chain{Candidate: c.ID, Length: c.Length, Head: c.Head}
	if err := record.Add(ctx, tx, &chain, f); err != nil {
		return err
	}
	c.Length, c.Head = chain.Length, chain.Head
	return nil
}

// keep sets until when a candidate is kept from a moment on: what they said as long as the role
// has it, unless it is deleted, the rest as long as a law wants it where that is longer.
func (c *Candidate) keep(r *role.Role, from time.Time) {
	if c.WordsUntil != nil {
		c.WordsUntil = new(from.AddDate(0, 0, int(r.KeepDays)))
	}
	c.RetainUntil = from.AddDate(0, 0, int(max(r.KeepDays, law.KeepDays(r.Notice.Required))))
	c.schedule()
}

// schedule has the clock delete and erase, unless the candidate is held.
func (c *Candidate) schedule() {
	c.SilenceAt, c.EraseAt = nil, nil
	if !c.OnHold && c.ErasedAt == nil {
		c.SilenceAt, c.EraseAt = c.WordsUntil, new(c.RetainUntil)
	}
}

// waits says whether an interview waits for its end, or for what people decide: the clock does
// not delete it before. Who is interviewed once more after a decision that is not final waits as
// well.
func (c *Candidate) waits() bool {
	return c.State == InProgress || c.State == Screened || c.State == Reviewed
}

// postpone keeps a candidate for longer for whom the clock came while people have yet to decide.
// Of a role that is closed, where nobody may, the days run from then.
func (c *Candidate) postpone(ctx context.Context, tx *tenant.Tx, now time.Time) (bool, error) {
	if !c.waits() {
		return false, nil
	}
	r, err := c.FindRole(ctx, tx)
	if err != nil {
		return false, err
	}
	from := now
	if r.State == role.Closed {
		from = r.UpdatedAt // what is closed does not change
		if !from.AddDate(0, 0, int(r.KeepDays)).After(now) {
			return false, nil
		}
	}
	c.keep(&r, from)
	return true, c.Save(ctx, tx, now)
}
