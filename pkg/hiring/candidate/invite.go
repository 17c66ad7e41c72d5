package candidate

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/hiring/law"
	"visavis.dev/pkg/hiring/question"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// InviteState is where an invitation stands.
type InviteState string

// The states of an invitation.
const (
	InviteCreated   InviteState = "created"
	InviteSent      InviteState = "sent"
	InviteOpened    InviteState = "opened"
	InviteStarted   InviteState = "started"
	InviteCompleted InviteState = "completed"
	InviteExpired   InviteState = "expired"
	InviteCancelled InviteState = "cancelled"
)

// The channels by which an invitation reaches somebody.
const (
	// ByLink: the organization sends it.
	ByLink = "link"
	// ByEmail: it is mailed.
	ByEmail = "email"
)

// Invite is an invitation.
type Invite struct {
	ID                                                    id.Invite
	Role                                                  id.Role
	Candidate                                             id.Candidate
	Channel, Language                                     string
	Message                                               *string
	ExpiresAt                                             time.Time
	DueAt                                                 *time.Time
	SentAt, OpenedAt, StartedAt, CompletedAt, CancelledAt *time.Time
	RemindersSent                                         int64
	ExternalID                                            *string
	CreatedBy                                             string
	CreatedAt                                             time.Time
	// RemindAt is when the candidate is reminded next; nil for never.
	RemindAt *time.Time
}

// InviteNoun is what errors call an invitation.
const InviteNoun errdefs.Noun = "invite"

// The reasons of conflicts of invitations.
const (
	ReasonCancelled = "invite_cancelled"
	ReasonUsed      = "invite_used"
)

// Errors of who comes by an invitation, besides those of package errdefs.
var (
	ErrExpired = errors.New("the invite has expired")
	ErrRevoked = errors.New("the invite was cancelled")
)

// State is where the invitation stands at a moment.
func (v *Invite) State(now time.Time) InviteState {
	switch {
	case v.CancelledAt != nil:
		return InviteCancelled
	case v.CompletedAt != nil:
		return InviteCompleted
	case v.StartedAt != nil:
		return InviteStarted
	case !now.Before(v.ExpiresAt):
		return InviteExpired
	case v.OpenedAt != nil:
		return InviteOpened
	case v.SentAt != nil:
		return InviteSent
	}
	return InviteCreated
}

// Good says whether an invitation opens anything now: until it expires unused, and afterwards
// to whoever used it. The error is ErrRevoked or ErrExpired.
func (v *Invite) Good(now time.Time) error {
	switch v.State(now) {
	case InviteCancelled:
		return ErrRevoked
	case InviteExpired:
		return ErrExpired
	case InviteCreated, InviteSent, InviteOpened, InviteStarted, InviteCompleted:
	}
	return nil
}

// Token opens an invitation. Only its hash is stored.
type Token string

// NewToken makes a token of 130 random bits.
func NewToken() Token { return Token("vhi_" + rand.Text()) }

func (t Token) hash() []byte {
	sum := sha256.Sum256([]byte(t))
	return sum[:]
}

const inviteColumns = `id, role_id, candidate_id, channel, language, message, expires_at, due_at, sent_at, opened_at, started_at, completed_at,
	cancelled_at, reminders_sent, external_id, created_by, created_at, remind_at`

func scanInvite(row pgx.CollectableRow) (Invite, error) { return pgx.RowToStructByPos[Invite](row) }

const selectInvite = `SELECT ` + inviteColumns + ` FROM candidate_invite WHERE org_id = $1 AND id = $2`

// GetInvite finds an invitation. It rides candidate_invite_pkey. The error is errdefs.NotFound.
func GetInvite(ctx context.Context, t *tenant.Tenants, org id.Org, v id.Invite) (Invite, error) {
	return tenant.One(ctx, t, org, scanInvite, InviteNoun.NotFound(v), selectInvite, org, v)
}

// FindInvite is GetInvite in a transaction.
func FindInvite(ctx context.Context, tx *tenant.Tx, v id.Invite) (Invite, error) {
	return tenant.OneIn(ctx, tx, scanInvite, InviteNoun.NotFound(v), selectInvite, tx.Org, v)
}

// ListInvites is a page of a role's invitations, newest first, after one of them; the zero id for
// the first page. It rides candidate_invite_by_role.
func ListInvites(ctx context.Context, t *tenant.Tenants, org id.Org, r id.Role, after id.Invite, limit int) ([]Invite, error) {
	return tenant.All(ctx, t, org, scanInvite, `
		SELECT `+inviteColumns+` FROM candidate_invite WHERE org_id = $1 AND role_id = $2 AND ($3::UUID IS NULL OR id < $3)
		ORDER BY id DESC LIMIT $4`, org, r, after, limit)
}

// Wanted is somebody to be invited.
type Wanted struct {
	Name                                string
	Email, Phone, ResumeURL, ExternalID *string
	Language                            string
	Metadata                            map[string]string
	// Place is where they work from, of a remote role; nil for where the role is.
	Place *law.Place
	// Applied is by what an applicant tracking system sends them; nil for none.
	Applied *Applied
}

// Batch is how people are invited together.
type Batch struct {
	People []Wanted
	Term   Term
	// until is when the invitations end, and asked what everybody is asked; zero where it is not known yet.
	until time.Time
	asked question.Set
	// Outbox mails the invitations; nil where the organization sends them itself.
	Outbox  *mailer.Outbox
	Message *string
	Sandbox bool
}

// Issued is somebody who was invited.
type Issued struct {
	Invite    Invite
	Candidate Candidate
	// Token is not kept.
	Token Token
}

// Fault says what is wrong with one of those who were to be invited.
type Fault struct {
	Index   int    `json:"index"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

// FaultsError says why nobody of a batch was invited: some of them cannot be.
type FaultsError struct{ Faults []Fault }

// duplicate is what is said of who is a candidate of the role already.
const duplicate = "is that of a candidate of the role already"

// Duplicate says whether some of them are candidates of the role already.
func (e *FaultsError) Duplicate() bool {
	return slices.ContainsFunc(e.Faults, func(f Fault) bool { return f.Message == duplicate })
}

func (e *FaultsError) Error() string {
	first := e.Faults[0]
	return fmt.Sprintf("candidates[%d].%s %s", first.Index, first.Field, first.Message)
}

// InviteAll invites people to a role that is locked: all of them, or nobody. The error is a
// conflict of the role, an errdefs.Invalid of the term, or a FaultsError.
func InviteAll(ctx context.Context, tx *tenant.Tx, r *role.Role, b Batch, who activity.Actor) ([]Issued, error) {
	if err := r.Takes(who.At); err != nil {
		return nil, err
	}
	from, err := b.earliest(ctx, tx, r, who.At)
	if err != nil {
		return nil, err
	}
	if b.until, err = b.Term.end(who.At, from); err != nil {
		return nil, err
	}
	if b.asked, err = frozen(ctx, tx, r, who); err != nil {
		return nil, err
	}
	people, err := b.begin(ctx, tx, r, who)
	if err != nil {
		return nil, err
	}
	for i := range people {
		if err := people[i].insert(ctx, tx, r, &b.asked, who); err != nil {
			return nil, err
		}
		if by := b.People[i].Applied; by != nil {
			if err := people[i].Candidate.apply(ctx, tx, *by); err != nil {
				return nil, err
			}
		}
		if b.Outbox == nil {
			continue
		}
		c, v := people[i].Candidate, people[i].Invite
		if err := b.Outbox.SendInvite(ctx, tx, mailer.Invited{Portal: r.Portal, Invite: v.ID, Address: *c.Email, Token: string(people[i].Token)}, who); err != nil {
			return nil, err
		}
	}
	if b.asked.Version > 0 {
		if err := b.asked.Count(ctx, tx, int64(len(people)), 0); err != nil {
			return nil, err
		}
	}
	return people, role.Count(ctx, tx, r.ID, role.Counts{Invited: int64(len(people))})
}

// earliest is from when all of a batch can be interviewed, wherever they work from.
func (b *Batch) earliest(ctx context.Context, tx *tenant.Tx, r *role.Role, now time.Time) (latest time.Time, err error) {
	seen := map[law.Place]bool{}
	for _, w := range b.People {
		of := law.Place{}
		if w.Place != nil {
			of = *w.Place
		}
		if seen[of] {
			continue
		}
		seen[of] = true
		here := r.For(w.Place)
		from, err := earliest(ctx, tx, &here, now)
		if err != nil {
			return latest, err
		}
		latest = later(latest, from)
	}
	return latest, nil
}

// located says what keeps somebody from being interviewed from a place. The error is an errdefs.Invalid.
func (w *Wanted) located(r *role.Role, now time.Time) error {
	if w.Place == nil {
		return nil
	}
	if !r.Location.Remote {
		return errdefs.InvalidField("location", "is for remote roles: the work is where the role's location is")
	}
	for _, field := range law.Unclear(*w.Place) {
		return errdefs.InvalidField("location."+field, "must be said before it is known which laws hold there")
	}
	here := r.For(w.Place)
	return here.Lacks(w.Language, now)
}

// frozen is what a role's candidates are asked who are invited now. Of a subject that asks nothing at
// the moment it is the zero set: theirs is frozen once their interview begins.
func frozen(ctx context.Context, tx *tenant.Tx, r *role.Role, who activity.Actor) (question.Set, error) {
	s, fresh, err := question.Freeze(ctx, tx, r, who.At)
	if errdefs.IsNotFound(err, question.Noun) {
		return question.Set{}, nil
	}
	if fresh {
		who.Log(tx, "role.questions_changed", "role", r.ID, map[string]any{"version": s.Version, "hash": s.Hash})
	}
	return s, err
}

// asked is what the record says of a set of questions; nil of none.
func asked(s *question.Set) any {
	if s.Version == 0 {
		return nil
	}
	return record.Questions{Version: s.Version, Hash: s.Hash, Rubric: s.SubjectVersion}
}

// begin makes candidates of those to be invited. The error is a FaultsError.
func (b *Batch) begin(ctx context.Context, tx *tenant.Tx, r *role.Role, who activity.Actor) ([]Issued, error) {
	var faults []Fault
	people := make([]Issued, len(b.People))
	emails, externals := map[string]int{}, map[string]int{}
	for i, w := range b.People {
		c := Candidate{
			ID: id.NewCandidate(), Role: r.ID, Invite: id.NewInvite(), Name: w.Name, Phone: w.Phone, ResumeURL: w.ResumeURL, ExternalID: w.ExternalID,
			Language: w.Language, Metadata: w.Metadata, State: Invited, Stage: AtScreening, Sandbox: b.Sandbox, Tracked: w.Applied != nil, QuestionSet: b.asked.Version, Place: w.Place, Edition: 1, CreatedAt: who.At, UpdatedAt: who.At,
		}
		if c.Metadata == nil {
			c.Metadata = map[string]string{}
		}
		if w.Email != nil {
			address, key, ok := person.Address(*w.Email)
			if !ok {
				faults = append(faults, Fault{i, "email", "is no e-mail address"})
			}
			c.Email, c.emailKey = &address, &key
			emails[key] = i
		}
		if w.ExternalID != nil {
			externals[*w.ExternalID] = i
		}
		if b.Outbox != nil && w.Email == nil {
			faults = append(faults, Fault{i, "email", "is where the invite is sent: give one, or set send to false"})
		}
		if wrong, ok := errors.AsType[*errdefs.Invalid](w.located(r, who.At)); ok {
			faults = append(faults, Fault{i, wrong.Field, wrong.Message})
		}
		// They can come until then.
		here := r.For(w.Place)
		c.WordsUntil = &b.until
		c.keep(&here, b.until)
		v := Invite{
			ID: c.Invite, Role: r.ID, Candidate: c.ID, Channel: ByLink, Language: c.Language, Message: b.Message, ExpiresAt: b.until, DueAt: &b.until,
			ExternalID: w.ExternalID, CreatedBy: who.By, CreatedAt: who.At,
		}
		if b.Outbox != nil {
			v.Channel = ByEmail
		}
		v.schedule(who.At)
		people[i] = Issued{Invite: v, Candidate: c, Token: NewToken()}
	}
	faults = append(faults, b.twice()...)
	others, err := b.duplicates(ctx, tx, r.ID, emails, externals)
	if err != nil {
		return nil, err
	}
	if faults = append(faults, others...); len(faults) > 0 {
		return nil, &FaultsError{faults}
	}
	return people, nil
}

// twice are those who stand in the batch more than once.
func (b *Batch) twice() (faults []Fault) {
	seen := map[string]bool{}
	for i, w := range b.People {
		for field, value := range map[string]*string{"email": w.Email, "externalId": w.ExternalID} {
			if value == nil {
				continue
			}
			name := field + " " + *value
			if field == "email" {
				if _, key, ok := person.Address(*value); ok {
					name = field + " " + key
				}
			}
			if seen[name] {
				faults = append(faults, Fault{i, field, "stands in the list twice"})
			}
			seen[name] = true
		}
	}
	return faults
}

// duplicates are those who are candidates of the role already. It rides candidate_by_email and
// candidate_by_external.
func (b *Batch) duplicates(ctx context.Context, tx *tenant.Tx, r id.Role, emails, externals map[string]int) (faults []Fault, err error) {
	for _, look := range []struct {
		field, sql string
		of         map[string]int
	}{
		{"email", `SELECT email_key FROM candidate WHERE org_id = $1 AND role_id = $2 AND email_key = ANY($3) AND state NOT IN ('withdrawn', 'erased')`, emails},
		{"externalId", `SELECT external_id FROM candidate WHERE org_id = $1 AND role_id = $2 AND external_id = ANY($3) AND state NOT IN ('withdrawn', 'erased')`, externals},
	} {
		if len(look.of) == 0 {
			continue
		}
		values := make([]string, 0, len(look.of))
		for value := range look.of {
			values = append(values, value)
		}
		found, err := tenant.AllIn(ctx, tx, pgx.RowTo[string], look.sql, tx.Org, r, values)
		if err != nil {
			return nil, err
		}
		for _, value := range found {
			faults = append(faults, Fault{look.of[value], look.field, duplicate})
		}
	}
	return faults, nil
}

// insert enters somebody with their invitation, and tells of it.
func (p *Issued) insert(ctx context.Context, tx *tenant.Tx, r *role.Role, s *question.Set, who activity.Actor) error {
	c, v := &p.Candidate, &p.Invite
	here := r.For(c.Place)
	if err := c.Note(ctx, tx, record.Fact{At: who.At, Actor: who.By, Action: WasInvited, Data: map[string]any{
		"candidateId": c.ID, "roleId": r.ID, "inviteId": v.ID, "channel": v.Channel, "language": v.Language, "laws": here.Notice.Required, "questionSet": asked(s),
	}}); err != nil {
		return err
	}
	tx.Touch("candidate", c.ID)
	tx.Touch("candidate_invite", v.ID)
	var b pgx.Batch
	b.Queue(`
		INSERT INTO candidate (org_id, id, role_id, invite_id, name, email, email_key, phone, resume_url, external_id, language, metadata, state, stage,
			consent, attempts, extra, on_hold, retain_until, words_until, silence_at, erase_at, record_length, record_head, sandbox, edition, created_at,
			updated_at, tracked, question_set, place)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 0, 0, false, $16, $17, $18, $19, $20, $21, $22, 1, $23, $23, $24, $25, $26)`,
		tx.Org, c.ID, c.Role, c.Invite, c.Name, c.Email, c.emailKey, c.Phone, c.ResumeURL, c.ExternalID, c.Language, c.Metadata, c.State, c.Stage,
		c.Consent, c.RetainUntil, c.WordsUntil, c.SilenceAt, c.EraseAt, c.Length, c.Head, c.Sandbox, c.CreatedAt, c.Tracked, c.QuestionSet, c.Place)
	b.Queue(`
		INSERT INTO candidate_invite (org_id, id, role_id, candidate_id, channel, language, token_hash, message, expires_at, due_at, reminders_sent,
			external_id, created_by, created_at, remind_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, $11, $12, $13, $14)`,
		tx.Org, v.ID, v.Role, v.Candidate, v.Channel, v.Language, p.Token.hash(), v.Message, v.ExpiresAt, v.DueAt, v.ExternalID, v.CreatedBy, v.CreatedAt, v.RemindAt)
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return err
	}
	event.Emit(tx, c.draft(event.CandidateInvited, who.At, map[string]any{
		"channel": v.Channel, "language": v.Language, "expiresAt": v.ExpiresAt.UTC(), "invitedBy": who.By, "invitedAt": who.At.UTC(),
	}))
	who.Log(tx, "candidate.invited", "candidate", c.ID, map[string]any{"roleId": r.ID})
	return nil
}
