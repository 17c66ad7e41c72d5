// Package consent keeps the consents that a picture, a voice or a young person's
// place rests on: what was agreed to, by whom, when, and whether it was
// withdrawn. A consent is a record; it is never deleted with what it allowed
// (spec, Avatars 3).
package consent

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// PolicyVersion is the version of the statements below that is current.
const PolicyVersion = "2026-07-01"

// PolicyEffective is since when.
var PolicyEffective = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)

// Statement is one of the things a customer can declare about a likeness.
type Statement struct{ Key, Text string }

// Statements lists what can be declared about something, in the order to show.
// The keys are the same for all.
func Statements(of Kind) []Statement {
	if of == Voice {
		return []Statement{
			{"own_likeness", "The recordings are of my voice, and I agree that it is imitated by a conversational avatar."},
			{"permission_of_person", "The recordings are of another person's voice, who has agreed in writing that it is imitated by a conversational avatar."},
			{"rights_holder", "I hold the rights in the recordings and in the voice they hold, including for imitation by a conversational avatar."},
			{"synthetic", "The recordings are of no real person's voice; I hold the rights needed to use them."},
		}
	}
	return []Statement{
		{"own_likeness", "The picture shows me, and I agree that it is used as a conversational avatar."},
		{"permission_of_person", "The picture shows another person, who has agreed in writing that it is used as a conversational avatar."},
		{"rights_holder", "I hold the rights in the picture and in the likeness it shows, including for use as a conversational avatar."},
		{"synthetic", "The picture shows no real person; I hold the rights needed to use it."},
	}
}

// Kind is what a consent is about.
type Kind string

// The kinds.
const (
	// Likeness is consent to an avatar's picture.
	Likeness Kind = "likeness"
	// Voice is consent to the imitation of a voice.
	Voice Kind = "voice"
	// OfGuardian is a parent's or guardian's consent to somebody's place in a portal.
	OfGuardian Kind = "guardian"
	// ToRecording is a user's own consent to the recording of their session.
	ToRecording Kind = "recording"
)

// The states of a consent.
const (
	Given     = "given"
	Withdrawn = "withdrawn"
)

// Consent is one record.
type Consent struct {
	ID    id.Consent
	Kind  Kind
	State string
	// Avatar, Voice, Membership or Session is what it is about; the others are zero.
	Avatar     id.Avatar
	Voice      id.Voice
	Membership id.Membership
	// Session is the one that is recorded; zero for the others.
	Session id.Session
	// Person is whose place it is; zero for the others.
	Person id.Person
	// Guardian is what else is known of a guardian's consent; nil of the others.
	Guardian      *Guardian
	Statement     string
	PolicyVersion string
	// PersonName and PersonEmail say who agreed; they are empty once whom the
	// consent is about was erased.
	PersonName  string
	PersonEmail *string
	SignedAt    time.Time
	// Evidence is a file that proves the consent; zero when none was given.
	Evidence    id.File
	RecordedAt  time.Time
	RecordedBy  string
	WithdrawnAt *time.Time
}

// Noun is what errors call a consent.
const Noun errdefs.Noun = "consent"

const columns = `id, kind, state, avatar_id, voice_id, membership_id, person_id, guardian, statement, policy_version, person_name, person_email,
	signed_at, evidence_id, recorded_at, recorded_by, withdrawn_at, session_id`

func scan(row pgx.CollectableRow) (Consent, error) {
	var c Consent
	err := row.Scan(&c.ID, &c.Kind, &c.State, &c.Avatar, &c.Voice, &c.Membership, &c.Person, &c.Guardian, &c.Statement, &c.PolicyVersion,
		&c.PersonName, &c.PersonEmail, &c.SignedAt, &c.Evidence, &c.RecordedAt, &c.RecordedBy, &c.WithdrawnAt, &c.Session)
	return c, err
}

// Record writes a consent, in the transaction that makes what it allows.
func Record(ctx context.Context, tx *tenant.Tx, c Consent) error {
	tx.Touch("consent", c.ID)
	_, err := tx.Exec(ctx, `
		INSERT INTO consent (org_id, id, kind, state, avatar_id, voice_id, statement, policy_version, person_name,
			person_email, signed_at, evidence_id, recorded_at, recorded_by, membership_id, person_id, guardian, session_id, together)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
		tx.Org, c.ID, c.Kind, c.State, c.Avatar, c.Voice, c.Statement, c.PolicyVersion, c.PersonName,
		c.PersonEmail, c.SignedAt, c.Evidence, c.RecordedAt, c.RecordedBy, c.Membership, c.Person, c.Guardian, c.Session, c.Kind == OfGuardian)
	return err
}

// Get finds one consent.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, consent id.Consent) (Consent, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(consent), `SELECT `+columns+` FROM consent WHERE org_id = $1 AND id = $2`, org, consent)
}

// Find is Get in a transaction.
func Find(ctx context.Context, tx *tenant.Tx, consent id.Consent) (Consent, error) {
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(consent), `SELECT `+columns+` FROM consent WHERE org_id = $1 AND id = $2`, tx.Org, consent)
}

// Filter narrows a list; zero fields do not.
type Filter struct {
	Kind, State string
	Avatar      id.Avatar
	Voice       id.Voice
	Membership  id.Membership
}

// Position is where a page ended.
type Position struct {
	At time.Time  `json:"t"`
	ID id.Consent `json:"i"`
}

const (
	selectList = `
		SELECT ` + columns + ` FROM consent
		WHERE org_id = $1 AND (recorded_at, id) < ($2, $3) AND ($4 = '' OR kind = $4) AND ($5 = '' OR state = $5)
			AND ($6::UUID IS NULL OR avatar_id = $6) AND ($7::UUID IS NULL OR voice_id = $7) AND ($8::UUID IS NULL OR membership_id = $8)`
	listOrder = ` ORDER BY recorded_at DESC, id DESC LIMIT $9`
)

// List is a page of consents, newest first, after a position. Those of recordings are many: what is
// about one thing rides consent_by_avatar, consent_by_voice or consent_by_membership, other lists
// consent_withdrawn, consent_by_kind or consent_by_time.
func List(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after *Position, limit int) ([]Consent, error) {
	start := Position{At: time.Unix(1<<40, 0)}
	if after != nil {
		start = *after
	}
	return tenant.All(ctx, t, org, scan, selectList+f.narrowest()+listOrder,
		org, start.At, start.ID, f.Kind, f.State, f.Avatar, f.Voice, f.Membership, limit)
}

// narrowest repeats the condition that leaves the fewest, in words that have an index.
func (f Filter) narrowest() string {
	switch {
	case !f.Avatar.IsZero():
		return ` AND avatar_id = $6`
	case !f.Voice.IsZero():
		return ` AND voice_id = $7`
	case !f.Membership.IsZero():
		return ` AND membership_id = $8`
	case f.State == Withdrawn:
		return ` AND state = 'withdrawn'`
	case f.Kind != "":
		return ` AND kind = $4`
	default:
		return ""
	}
}

// Withdraw ends a consent; changed is false when it was withdrawn already.
func Withdraw(ctx context.Context, tx *tenant.Tx, consent id.Consent, at time.Time) (c Consent, changed bool, err error) {
	tx.Touch("consent", consent)
	tag, err := tx.Exec(ctx, `
		UPDATE consent SET state = 'withdrawn', withdrawn_at = $3
		WHERE org_id = $1 AND id = $2 AND state = 'given'`, tx.Org, consent, at)
	if err != nil {
		return Consent{}, false, err
	}
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM consent WHERE org_id = $1 AND id = $2`, tx.Org, consent)
	if err != nil {
		return Consent{}, false, err
	}
	c, err = pgx.CollectExactlyOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		err = Noun.NotFound(consent)
	}
	return c, tag.RowsAffected() == 1, err
}
