// Package inbox is what visitors leave for an organization's people: leads, who want to be
// contacted, bookings, who come at a time, and hand-offs, who want to talk with a person (spec, Inbox). Knowledge gaps are
// package knowledge's. What is told of an item outside is read from its row when it is told,
// so that what was forgotten is told no more.
package inbox

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Kind is what an item is.
type Kind string

// The kinds.
const (
	Lead    Kind = "lead"
	Book    Kind = "booking"
	Handoff Kind = "handoff"
)

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{Lead, Book, Handoff} }

// State is how far an item is dealt with.
type State string

// The states. Won and lost are of leads alone; nothing leaves forgotten.
const (
	New       State = "new"
	Open      State = "open"
	Waiting   State = "waiting"
	Snoozed   State = "snoozed"
	Won       State = "won"
	Lost      State = "lost"
	Done      State = "done"
	Spam      State = "spam"
	Forgotten State = "forgotten"
)

// States lists every state.
func States() []State { return []State{New, Open, Waiting, Snoozed, Won, Lost, Done, Spam, Forgotten} }

// Active says whether something is still to be done.
func (s State) Active() bool { return s == New || s == Open || s == Waiting || s == Snoozed }

// Band is how promising a lead is.
type Band string

// The bands, by the rule of bandOf.
const (
	Hot  Band = "hot"
	Warm Band = "warm"
	Cold Band = "cold"
)

// Bands lists every band.
func Bands() []Band { return []Band{Hot, Warm, Cold} }

// The urgencies.
const (
	LowUrgency    = "low"
	NormalUrgency = "normal"
	HighUrgency   = "high"
)

// Who asked for a person.
const (
	ByVisitor = "visitor"
	ByAvatar  = "avatar"
	ByRule    = "rule"
)

// Contact is how a visitor is reached.
type Contact struct {
	Name             *string  `json:"name"`
	Email            *string  `json:"email"`
	Phone            *string  `json:"phone"`
	Company          *string  `json:"company"`
	JobTitle         *string  `json:"jobTitle"`
	PreferredChannel *string  `json:"preferredChannel"`
	Consent          *Consent `json:"consent"`
}

// Consent is whether the visitor agreed to be contacted, and to what words; a nil one is that
// nobody asked.
type Consent struct {
	Given bool       `json:"given"`
	At    *time.Time `json:"at"`
	Text  *string    `json:"text"`
}

// Reachable says whether somebody can be written to or called.
func (c *Contact) Reachable() bool { return c != nil && (c.Email != nil || c.Phone != nil) }

// agreed is the consent as events tell it: nil where nobody asked.
func (c *Contact) agreed() *bool {
	if c == nil || c.Consent == nil {
		return nil
	}
	return &c.Consent.Given
}

// Words are what the visitor said of the matter.
type Words struct {
	Need     *string  `json:"need,omitempty"`
	Budget   *string  `json:"budget,omitempty"`
	Timeline *string  `json:"timeline,omitempty"`
	Reason   *string  `json:"reason,omitempty"`
	Answers  []Answer `json:"answers,omitempty"`
}

// Answer is what the visitor said to a question of the persona's.
type Answer struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// Source is where the visitor came from.
type Source struct {
	URL      *string   `json:"url"`
	Referrer *string   `json:"referrer"`
	Campaign *Campaign `json:"campaign"`
}

// Campaign is what the visitor followed.
type Campaign struct {
	Source *string `json:"source"`
	Medium *string `json:"medium"`
	Name   *string `json:"name"`
	Term   *string `json:"term"`
}

// Item is something that a visitor left.
type Item struct {
	ID      id.InboxItem
	Kind    Kind
	State   State
	Portal  id.Portal
	Widget  id.Widget
	Persona id.Persona
	// Session is the conversation that it came of; zero for what was entered.
	Session  id.Session
	Channel  *string
	Language string
	// Contact is nil once the visitor is forgotten.
	Contact *Contact
	Words   Words
	// Band is nil of what is no lead. Chosen says that a person chose it.
	Band        *Band
	Chosen      bool
	Urgency     string
	Department  *string
	RequestedBy *string
	// WaitingSince is when a person was asked for, Staff who came and JoinedAt when; nil of a lead.
	WaitingSince *time.Time
	Staff        id.Staff
	JoinedAt     *time.Time
	Source       Source
	Assignee     id.Person
	Tags         []string
	SnoozedUntil *time.Time
	ForgottenAt  *time.Time
	ExternalID   *string
	Metadata     map[string]string
	Edition      int64
	CreatedAt    time.Time
	UpdatedAt    time.Time
	// Booking is nil of what is no booking.
	Booking *Booking
	// FirstReplyAt is when somebody wrote to the visitor first; nil for not yet.
	FirstReplyAt *time.Time
	// SLADueAt is when it is to be dealt with; nil for no moment. DueStepAt is when the rules of due times are applied next;
	// nil for not any more.
	SLADueAt, DueStepAt *time.Time
	// Summary is the conversation's, nil before its end, and Live says that it goes on. They are
	// read beside the row.
	Summary *string
	Live    bool

	// from is the connected system by which it changes, which is not told of that; zero for none.
	from id.Connection
}

// Noun is what errors call an item.
const Noun errdefs.Noun = "inbox item"

// The reasons of this package's conflicts.
const (
	ReasonTransition = "state_transition"
	ReasonForgotten  = "forgotten"
	ReasonNotes      = "too_many_notes"
	ReasonNotHandoff = "not_a_handoff"
)

func (i *Item) conflict(reason, message string) error {
	return &errdefs.Conflict{Noun: Noun, ID: i.ID.String(), Reason: reason, Message: message}
}

const columns = `i.id, i.kind, i.state, i.portal_id, i.widget_id, i.persona_id, i.session_id, i.channel, i.language, i.contact, i.words, i.band,
	i.band_chosen, i.urgency, i.department, i.requested_by, i.waiting_since, i.staff_id, i.joined_at, i.source, i.assignee_id, i.tags, i.snoozed_until,
	i.forgotten_at, i.external_id, i.metadata, i.edition, i.created_at, i.updated_at, i.booking, i.first_reply_at, i.sla_due_at, i.due_step_at,
	(SELECT s.summary FROM session s WHERE s.org_id = i.org_id AND s.id = i.session_id AND s.withheld IS NULL),
	EXISTS (SELECT 1 FROM session s WHERE s.org_id = i.org_id AND s.id = i.session_id AND s.state = 'live')`

func scan(row pgx.CollectableRow) (Item, error) { return pgx.RowToStructByPos[Item](row) }

const selectOne = `SELECT ` + columns + ` FROM inbox_item i WHERE i.org_id = $1 AND i.id = $2`

// Get finds an item. It rides inbox_item_pkey. The error is errdefs.NotFound.
func Get(ctx context.Context, t *tenant.Tenants, org id.Org, which id.InboxItem) (Item, error) {
	return tenant.One(ctx, t, org, scan, Noun.NotFound(which), selectOne, org, which)
}

// Find is Get in a transaction.
func Find(ctx context.Context, tx *tenant.Tx, which id.InboxItem) (Item, error) {
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(which), selectOne, tx.Org, which)
}

// Lock is Find of an item that nobody else changes until the commit.
func Lock(ctx context.Context, tx *tenant.Tx, which id.InboxItem) (Item, error) {
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(which), selectOne+` FOR UPDATE OF i`, tx.Org, which)
}

// lockOf locks the items of a conversation. It rides inbox_item_by_session.
func lockOf(ctx context.Context, tx *tenant.Tx, s id.Session) ([]Item, error) {
	return tenant.AllIn(ctx, tx, scan, `
		SELECT `+columns+` FROM inbox_item i WHERE i.org_id = $1 AND i.session_id = $2 ORDER BY i.id FOR UPDATE OF i`, tx.Org, s)
}

// lockKind locks the item of a kind of a conversation, if there is one.
func lockKind(ctx context.Context, tx *tenant.Tx, s id.Session, k Kind) (*Item, error) {
	found, err := lockOf(ctx, tx, s)
	if at := slices.IndexFunc(found, func(i Item) bool { return i.Kind == k }); err == nil && at >= 0 {
		return &found[at], nil
	}
	return nil, err
}

// insert enters an item, and counts it.
func (i *Item) insert(ctx context.Context, tx *tenant.Tx) error {
	i.Edition = 1
	if i.Tags == nil {
		i.Tags = []string{}
	}
	if i.Metadata == nil {
		i.Metadata = map[string]string{}
	}
	if _, _, err := i.applyRules(ctx, tx, Created, "", i.CreatedAt); err != nil {
		return err
	}
	tx.Touch("inbox_item", i.ID)
	if _, err := tx.Exec(ctx, `
		INSERT INTO inbox_item (org_id, id, kind, state, portal_id, widget_id, persona_id, session_id, channel, language, contact, words, band,
			band_chosen, urgency, department, requested_by, waiting_since, staff_id, joined_at, source, assignee_id, tags, snoozed_until,
			forgotten_at, external_id, metadata, edition, created_at, updated_at, booking, sla_due_at, due_step_at,
			terms_edition)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28,
			$29, $30, $31, $32, $33, $28)`,
		tx.Org, i.ID, i.Kind, i.State, i.Portal, i.Widget, i.Persona, i.Session, i.Channel, i.Language, i.Contact, i.Words, i.Band, i.Chosen,
		i.Urgency, i.Department, i.RequestedBy, i.WaitingSince, i.Staff, i.JoinedAt, i.Source, i.Assignee, i.Tags, i.SnoozedUntil,
		i.ForgottenAt, i.ExternalID, i.Metadata, i.Edition, i.CreatedAt, i.UpdatedAt, i.Booking, i.SLADueAt, i.DueStepAt); err != nil {
		return err
	}
	if err := count(ctx, tx, i.Kind, "", i.State); err != nil {
		return err
	}
	if err := i.follow(ctx, tx, i.CreatedAt); err != nil {
		return err
	}
	return i.enterTerms(ctx, tx)
}

// save writes what can change of an item that is locked, whose state was one before. Whoever changes what it is found by enters its
// terms.
func (i *Item) save(ctx context.Context, tx *tenant.Tx, before State, at time.Time) error {
	i.UpdatedAt, i.Edition = at, i.Edition+1
	i.followState(before, at)
	tx.Touch("inbox_item", i.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE inbox_item SET state = $3, contact = $4, words = $5, band = $6, band_chosen = $7, urgency = $8, department = $9, waiting_since = $10,
			staff_id = $11, joined_at = $12, source = $13, assignee_id = $14, tags = $15, snoozed_until = $16, forgotten_at = $17,
			external_id = $18, metadata = $19, edition = $20, updated_at = $21, booking = $22, first_reply_at = $23, sla_due_at = $24, due_step_at = $25,
			terms_edition = CASE WHEN terms_edition = edition THEN $20 ELSE terms_edition END
		WHERE org_id = $1 AND id = $2`,
		tx.Org, i.ID, i.State, i.Contact, i.Words, i.Band, i.Chosen, i.Urgency, i.Department, i.WaitingSince, i.Staff, i.JoinedAt, i.Source, i.Assignee,
		i.Tags, i.SnoozedUntil, i.ForgottenAt, i.ExternalID, i.Metadata, i.Edition, i.UpdatedAt, i.Booking, i.FirstReplyAt, i.SLADueAt, i.DueStepAt); err != nil {
		return err
	}
	if err := count(ctx, tx, i.Kind, before, i.State); err != nil {
		return err
	}
	return i.follow(ctx, tx, at)
}

// bandOf is how promising a lead is: hot who can be reached, named a need, and with it a
// budget or a time; warm who can be reached and said something of the matter; cold otherwise.
func bandOf(c *Contact, w Words) Band {
	switch {
	case !c.Reachable():
		return Cold
	case w.Need != nil && (w.Budget != nil || w.Timeline != nil):
		return Hot
	case w.Need != nil || w.Budget != nil || w.Timeline != nil || len(w.Answers) > 0:
		return Warm
	}
	return Cold
}

// score gives a lead its band by the rule, unless a person chose it.
func (i *Item) score() {
	if i.Kind == Lead && !i.Chosen {
		i.Band = new(bandOf(i.Contact, i.Words))
	}
}
