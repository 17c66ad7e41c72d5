// Package role is roles that candidates are interviewed for: what is asked, who decides, and
// what candidates must be told before (spec, Hiring).
package role

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/hiring/law"
	"visavis.dev/pkg/store/tenant"
)

// State is where a role stands.
type State string

// The states. Candidates are invited and interviewed while it is open.
const (
	Draft  State = "draft"
	Open   State = "open"
	Paused State = "paused"
	Closed State = "closed"
)

// States lists every state.
func States() []State { return []State{Draft, Open, Paused, Closed} }

// Off and Advisory are the ways of scoring.
const (
	// Off: nothing is scored.
	Off = "off"
	// Advisory: answers are scored for whoever reviews them, and nobody else sees the scores
	// before.
	Advisory = "advisory"
)

// Definition is what a role is. It is kept as JSON in the form that the API shows; the tags
// bound it there.
type Definition struct {
	Location    law.Place `json:"location" doc:"Where somebody is to work, from which the laws follow."`
	Department  *string   `json:"department" maxLength:"200" doc:"The department, for your own use; null for none."`
	Languages   []string  `json:"languages" minItems:"1" maxItems:"20" doc:"The languages that candidates are interviewed in, as codes."`
	Description string    `json:"description" maxLength:"8000" doc:"What candidates read of the role, in Markdown."`
	Scoring     string    `json:"scoring" enum:"off,advisory" doc:"advisory scores answers by the subject's rubrics for whoever reviews them; off scores nothing."`
	// MustHaves are for reviewers to look for.
	MustHaves []string   `json:"mustHaves" maxItems:"50" doc:"What reviewers look for, which they read with the interview. Nothing is decided by it."`
	Knockouts []Knockout `json:"knockouts" maxItems:"50" doc:"Choices that are pointed out to reviewers. Nobody is rejected by one."`
	// Retakes are granted by people, on request.
	Retakes  int64  `json:"retakes" minimum:"0" maximum:"10" doc:"How many further interviews a candidate can be granted."`
	Notice   Notice `json:"notice" doc:"What candidates are told before the interview."`
	Audit    *Audit `json:"audit,omitempty" hidden:"true"`
	Process  string `json:"alternativeProcess" maxLength:"4000" doc:"What happens instead for who does not want to talk with an AI, as candidates read it."`
	KeepDays int64  `json:"retentionDays" minimum:"1" maximum:"3650" doc:"For how many days after the decision candidates are kept."`
	// Managers review and decide.
	Managers []id.Person `json:"hiringManagerIds" maxItems:"50" doc:"The people who review and decide."`
	// Blind keeps names and contacts from whoever reads candidates before they are decided on.
	Blind bool `json:"blind" doc:"Whether names and contacts are kept from everybody until a candidate is decided on: advance, reject, hire or withdrawn."`
	// Demographics has candidates asked for their sex and race after the interview (package demographics).
	Demographics bool `json:"voluntaryDemographics" doc:"Whether candidates are asked after the interview to say their sex and race, if they wish, for the bias audit. Nobody reads one person's answer."`
}

// Knockout points a choice out to reviewers.
type Knockout struct {
	Question string       `json:"question" pattern:"^[a-z][a-z0-9_]{0,39}$" doc:"The key of a question of the subject with options."`
	Rule     KnockoutRule `json:"rule" doc:"Which options meet it."`
}

// KnockoutRule says which options of a question are met.
type KnockoutRule struct {
	// AnyOf are the keys of options.
	AnyOf []string `json:"anyOf" minItems:"1" maxItems:"20" doc:"The keys of the options that meet it."`
}

// Notice is what candidates are told.
type Notice struct {
	// Required are the laws, those of the place among them.
	Required []law.Key `json:"required" enum:"ca_crc,co_sb26_189,eu_ai_act,il_aivia,il_hra,nyc_ll144" maxItems:"10" doc:"The laws whose notices are given; those of the location are always among them."`
	// Text is told to everybody, by language.
	Text language.Words `json:"text" doc:"What everybody is told of the interview and how an AI is used in it, by language."`
	// Laws are what each law wants told beside it.
	Laws []LawText `json:"laws" maxItems:"10" doc:"What each of the laws wants told, by language."`
	// Signals tells what the candidate's page notes beside the words (screening.Signal). Without it nothing is.
	Signals language.Words `json:"signals" doc:"What candidates are told of what their page notes during the interview: pasted texts, and when the page is left. It is told with the notice; empty where nothing is noted."`
	// LeadDays are business days between the notice and the interview.
	LeadDays int64 `json:"leadDays" minimum:"0" maximum:"90" doc:"How many business days lie between the notice and the interview, at least as many as the laws ask for."`
}

// LawText is what a law wants told.
type LawText struct {
	Law     law.Key        `json:"law" enum:"ca_crc,co_sb26_189,eu_ai_act,il_aivia,il_hra,nyc_ll144" doc:"Which law it is."`
	Version string         `json:"version" minLength:"1" maxLength:"40" doc:"Your own name for this wording, which the record shows."`
	Text    language.Words `json:"text" doc:"What is told, by language."`
}

// Audit is a bias audit.
type Audit struct {
	// Date is a day, as 2026-11-23.
	Date    string `json:"date" format:"date" doc:"The day of the audit."`
	Auditor string `json:"auditor" minLength:"1" maxLength:"200" doc:"Who made it."`
	URL     string `json:"url" format:"uri" maxLength:"2048" doc:"Where its summary is public."`
}

// Of is what a law wants told; false for nothing.
func (n *Notice) Of(k law.Key) (LawText, bool) {
	for _, t := range n.Laws {
		if t.Law == k {
			return t, true
		}
	}
	return LawText{}, false
}

// Role is one role.
type Role struct {
	ID      id.Role
	Title   string
	Portal  id.Portal
	Subject id.Subject
	State   State
	Definition
	// Questions is how many its subject asks, as it was last published when the role changed.
	Questions            int64
	Deadline             *time.Time
	ExternalID           *string
	Metadata             map[string]string
	CreatedBy            string
	Edition              int64
	CreatedAt, UpdatedAt time.Time
	Counts               Counts
}

// Counts are how far a role's candidates got. They outlast the candidates.
type Counts struct {
	Invited, Opened, Screened, Reviewed, Advanced, Rejected, Hired int64
}

// The noun that errors of this package are about, and the reasons of its conflicts.
const (
	Noun errdefs.Noun = "role"

	ReasonNotOpen  = "role_not_open"
	ReasonDeadline = "deadline_passed"
	// ReasonDeadlineNear: the deadline comes before anybody could be interviewed who is told now.
	ReasonDeadlineNear = "deadline_too_near"
	ReasonState        = "role_state"
	ReasonOpen         = "role_open"
)

func (r *Role) conflict(reason, message string) error {
	return &errdefs.Conflict{Noun: Noun, ID: r.ID.String(), Reason: reason, Message: message}
}

// Takes says whether candidates are invited and interviewed now. The error is a conflict.
func (r *Role) Takes(now time.Time) error {
	switch {
	case r.State != Open:
		return r.conflict(ReasonNotOpen, "The role is not open.")
	case r.Deadline != nil && !now.Before(*r.Deadline):
		return r.conflict(ReasonDeadline, "The role's deadline has passed.")
	}
	return nil
}

// Reaches says whether the deadline comes after a moment from which somebody can be interviewed.
// The error is a conflict.
func (r *Role) Reaches(from time.Time) error {
	if r.Deadline != nil && !r.Deadline.After(from) {
		return r.conflict(ReasonDeadlineNear, "The role's deadline comes before the interview of who is told now could be held, which is from "+
			from.UTC().Format(time.DateOnly)+" on. Move the deadline.")
	}
	return nil
}

// Lead is how many business days lie between the notice and the interview: as many as the role,
// the laws or the organization asks for, whichever is most.
func (r *Role) Lead(organization int64) int64 {
	return max(r.Notice.LeadDays, law.LeadDays(r.Notice.Required), organization)
}

// For is the role as it is for a candidate who works from a place: the laws of the place hold beside those of the
// role, and days are counted there; nil for who works where the role is.
func (r *Role) For(p *law.Place) Role {
	here := *r
	if p == nil {
		return here
	}
	here.Notice.Required = law.Together(*p, r.Notice.Required)
	here.Location = *p
	if here.Location.Remote = true; here.Location.Timezone == "" {
		here.Location.Timezone = r.Location.Timezone
	}
	return here
}

// Lacks is what keeps a role from interviewing somebody in a language, of what the laws of notice.required want:
// a text that none of them has, or a bias audit; nil for nothing.
func (r *Role) Lacks(code string, now time.Time) error {
	for _, k := range r.Notice.Required {
		if text, _ := r.Notice.Of(k); text.Text[code] == "" {
			return errdefs.InvalidField("location", "is where %s holds, and notice.laws of the role has no text of it in %s", k, code)
		}
	}
	if r.Scoring != Off && law.Audit(r.Notice.Required) && !r.Audit.holds(now) {
		return errdefs.InvalidField("location", "is where a law asks for a bias audit of the last twelve months, and the role has none")
	}
	return nil
}

const columns = `r.id, r.title, r.portal_id, r.subject_id, r.state, r.definition, r.questions, r.deadline, r.external_id, r.metadata, r.created_by,
	r.edition, r.created_at, r.updated_at`

const counted = `, c.invited, c.opened, c.screened, c.reviewed, c.advanced, c.rejected, c.hired`

func (r *Role) places() []any {
	return []any{
		&r.ID, &r.Title, &r.Portal, &r.Subject, &r.State, &r.Definition, &r.Questions, &r.Deadline, &r.ExternalID, &r.Metadata, &r.CreatedBy,
		&r.Edition, &r.CreatedAt, &r.UpdatedAt,
	}
}

func scan(row pgx.CollectableRow) (r Role, err error) {
	n := &r.Counts
	err = row.Scan(append(r.places(), &n.Invited, &n.Opened, &n.Screened, &n.Reviewed, &n.Advanced, &n.Rejected, &n.Hired)...)
	r.fill()
	return r, err
}

func scanBare(row pgx.CollectableRow) (r Role, err error) {
	err = row.Scan(r.places()...)
	r.fill()
	return r, err
}

// fill adds what a role lacks that was written before there was such a thing.
func (r *Role) fill() {
	if r.Notice.Signals == nil {
		r.Notice.Signals = language.Words{}
	}
}

const selectCounted = `
	SELECT ` + columns + counted + ` FROM hiring_role r JOIN hiring_role_count c ON c.org_id = r.org_id AND c.role_id = r.id WHERE r.org_id = $1`

// Get finds a role. It rides hiring_role_pkey. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, r id.Role) (Role, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(r), selectCounted+` AND r.id = $2`, org, r)
}

// Read is Get in a transaction.
func Read(ctx context.Context, tx *tenant.Tx, r id.Role) (Role, error) {
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(r), selectCounted+` AND r.id = $2`, tx.Org, r)
}

const selectBare = `SELECT ` + columns + ` FROM hiring_role r WHERE r.org_id = $1 AND r.id = $2`

// Find is Read without the counts.
func Find(ctx context.Context, tx *tenant.Tx, r id.Role) (Role, error) {
	return tenant.OneIn(ctx, tx, scanBare, Noun.NotFound(r), selectBare, tx.Org, r)
}

// Several finds roles by their ids, without their counts. It rides hiring_role_pkey.
func Several(ctx context.Context, t *tenant.Tenants, org id.Org, which []id.Role) (map[id.Role]Role, error) {
	found, err := tenant.All(ctx, t, org, scanBare, `SELECT `+columns+` FROM hiring_role r WHERE r.org_id = $1 AND r.id = ANY($2)`, org, which)
	all := make(map[id.Role]Role, len(found))
	for _, r := range found {
		all[r.ID] = r
	}
	return all, err
}

// Existing are those of some roles that there are. It rides hiring_role_pkey.
func Existing(ctx context.Context, tx *tenant.Tx, which []id.Role) ([]id.Role, error) {
	return tenant.AllIn(ctx, tx, pgx.RowTo[id.Role], `SELECT r.id FROM hiring_role r WHERE r.org_id = $1 AND r.id = ANY($2)`, tx.Org, which)
}

// Lock finds a role, without its counts, that nobody else changes until the commit. The error
// is errdefs.NotFound.
func Lock(ctx context.Context, tx *tenant.Tx, r id.Role) (Role, error) {
	return tenant.OneIn(ctx, tx, scanBare, Noun.NotFound(r), selectBare+` FOR UPDATE`, tx.Org, r)
}

// Filter narrows a list; zero fields do not.
type Filter struct {
	States []State
	Portal id.Portal
}

// List is a page of the roles, newest first, after one of them; the zero id for the first page.
// It rides hiring_role_pkey, hiring_role_by_portal where a portal is asked for, or
// hiring_role_by_state for one state.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after id.Role, limit int) ([]Role, error) {
	args := []any{org, after, f.States, f.Portal, limit}
	sql := selectCounted + ` AND ($2::UUID IS NULL OR r.id < $2) AND ($3::TEXT[] IS NULL OR r.state = ANY($3)) AND ($4::UUID IS NULL OR r.portal_id = $4)`
	const order = ` ORDER BY r.id DESC LIMIT $5`
	switch {
	case !f.Portal.IsZero():
		return tenant.All(ctx, t, org, scan, sql+` AND r.portal_id = $6`+order, append(args, f.Portal)...)
	case len(f.States) == 1:
		return tenant.All(ctx, t, org, scan, sql+` AND r.state = $6`+order, append(args, f.States[0])...)
	}
	return tenant.All(ctx, t, org, scan, sql+order, args...)
}

// Count adds to the figures of a role; negative ones take away.
func Count(ctx context.Context, tx *tenant.Tx, r id.Role, n Counts) error {
	if n == (Counts{}) {
		return nil
	}
	tx.Touch("hiring_role_count", r)
	_, err := tx.Exec(ctx, `
		UPDATE hiring_role_count SET invited = invited + $3, opened = opened + $4, screened = screened + $5, reviewed = reviewed + $6,
			advanced = advanced + $7, rejected = rejected + $8, hired = hired + $9
		WHERE org_id = $1 AND role_id = $2`, tx.Org, r, n.Invited, n.Opened, n.Screened, n.Reviewed, n.Advanced, n.Rejected, n.Hired)
	return err
}

func (r *Role) save(ctx context.Context, tx *tenant.Tx) error {
	tx.Touch("hiring_role", r.ID)
	_, err := tx.Exec(ctx, `
		INSERT INTO hiring_role (org_id, id, title, portal_id, subject_id, state, definition, questions, deadline, external_id, metadata,
			created_by, edition, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
		ON CONFLICT (org_id, id) DO UPDATE SET title = $3, state = $6, definition = $7, questions = $8, deadline = $9, external_id = $10,
			metadata = $11, edition = $13, updated_at = $15`,
		tx.Org, r.ID, r.Title, r.Portal, r.Subject, r.State, r.Definition, r.Questions, r.Deadline, r.ExternalID, r.Metadata, r.CreatedBy,
		r.Edition, r.CreatedAt, r.UpdatedAt)
	return err
}

// NoticeIn is what candidates are told in a language: to everybody, by each law, and of what their page notes.
func (r *Role) NoticeIn(code string) []string {
	told := []string{}
	if text := r.Say(r.Notice.Text, code); text != "" {
		told = append(told, text)
	}
	for _, k := range r.Notice.Required {
		if t, ok := r.Notice.Of(k); ok {
			told = append(told, r.Say(t.Text, code))
		}
	}
	if text := r.Say(r.Notice.Signals, code); text != "" {
		told = append(told, text)
	}
	return told
}

// TextHash is the SHA-256 of texts with a blank line between each two, in hexadecimal.
func TextHash(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\n\n")))
	return hex.EncodeToString(sum[:])
}

// Speaks says whether candidates are interviewed in a language.
func (r *Role) Speaks(code string) bool { return slices.Contains(r.Languages, code) }
