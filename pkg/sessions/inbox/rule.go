package inbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Event is what a rule waits for.
type Event string

// The events. What a rule does is none of them, so that no rule sets another one off.
const (
	Created Event = "item_created"
	// Updated: the team or the visitor changed an item.
	Updated Event = "item_updated"
	// Replied: the visitor answered by mail.
	Replied Event = "reply_received"
	// DueSoon comes before an item is due, and Overdue when it is.
	DueSoon Event = "due_soon"
	Overdue Event = "overdue"
)

// Events lists every event.
func Events() []Event { return []Event{Created, Updated, Replied, DueSoon, Overdue} }

// Rule is what is done by itself with items for which something holds.
type Rule struct {
	ID       id.InboxRule
	Name     string
	Enabled  bool
	Position int64
	Event    Event
	Definition
	// Turn is whom it assigned an item last.
	Turn                 id.Person
	Edition              int64
	CreatedAt, UpdatedAt time.Time
}

// Definition is when a rule applies, and what it does.
type Definition struct {
	When Conditions `json:"when"`
	Then Actions    `json:"then"`
}

// Conditions are what must all hold of an item; those that are empty do. Of several values one must be the item's.
type Conditions struct {
	Kinds     []Kind       `json:"kinds,omitempty"`
	States    []State      `json:"states,omitempty"`
	Bands     []Band       `json:"leadBands,omitempty"`
	Portals   []id.Portal  `json:"portalIds,omitempty"`
	Personas  []id.Persona `json:"personaIds,omitempty"`
	Channels  []string     `json:"channels,omitempty"`
	Languages []string     `json:"languages,omitempty"`
	// Departments are compared without regard to the case of letters.
	Departments []string `json:"departments,omitempty"`
	Urgencies   []string `json:"urgencies,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	// Assigned says whether somebody deals with the item.
	Assigned *bool      `json:"assigned,omitempty"`
	Hours    *RuleHours `json:"hours,omitempty"`
}

// RuleHours are when something happens: within or outside hours, which are those of a schedule or its own.
type RuleHours struct {
	Within   bool        `json:"within"`
	Schedule id.Schedule `json:"scheduleId,omitzero"`
	Week     *Week       `json:"week,omitempty"`
}

// Week are hours of every week in a time zone.
type Week struct {
	Timezone string       `json:"timezone"`
	Hours    []slot.Hours `json:"hours"`
}

func (w *Week) plan() slot.Plan { return slot.Plan{Timezone: w.Timezone, Hours: w.Hours} }

// open says whether a moment is within the hours. A zone that is known no more has none.
func (w *Week) open(at time.Time) bool {
	p := w.plan()
	open, err := p.Open(at)
	return err == nil && open
}

// Actions are what a rule does; those that are empty do nothing.
type Actions struct {
	Assignee id.Person `json:"assigneeId,omitzero"`
	// RoundRobin are people of whom each gets an item in turn, and RoundRobinIn a department whose members do.
	RoundRobin   []id.Person `json:"roundRobin,omitempty"`
	RoundRobinIn string      `json:"roundRobinDepartment,omitempty"`
	Department   string      `json:"department,omitempty"`
	Urgency      string      `json:"urgency,omitempty"`
	AddTags      []string    `json:"addTags,omitempty"`
	// DueMinutes and SnoozeMinutes count from the event.
	DueMinutes    int64 `json:"dueInMinutes,omitempty"`
	SnoozeMinutes int64 `json:"snoozeMinutes,omitempty"`
	// MailTo are people who are told by mail, MailAssignee says that whoever deals with the item is.
	MailTo       []id.Person `json:"mailTo,omitempty"`
	MailAssignee bool        `json:"mailAssignee,omitempty"`
}

// Mails says whether a rule tells somebody by mail.
func (a *Actions) Mails() bool { return len(a.MailTo) > 0 || a.MailAssignee }

// People are those whom a rule names.
func (a *Actions) People() []id.Person {
	named := slices.Concat(a.RoundRobin, a.MailTo)
	if !a.Assignee.IsZero() {
		named = append(named, a.Assignee)
	}
	return named
}

// RuleNoun is what errors call a rule.
const RuleNoun errdefs.Noun = "rule"

// MaxRules is how many rules an organization can have, and ReasonRules the reason of a conflict: it has as many.
const (
	MaxRules    = 200
	ReasonRules = "too_many_rules"
)

// MaxEnabled is how many rules of an event can be switched on: what they do is done while whoever sets them off waits.
const MaxEnabled = 20

// MaxTags is how many tags an item can have.
const MaxTags = 20

// check says whether a rule can be applied. The error is an errdefs.Invalid.
func (r *Rule) check() error {
	t := &r.Then
	assigns := 0
	for _, some := range []bool{!t.Assignee.IsZero(), len(t.RoundRobin) > 0, t.RoundRobinIn != ""} {
		if some {
			assigns++
		}
	}
	switch {
	case assigns > 1:
		return errdefs.InvalidField("then", "assigns by one of assigneeId, roundRobin and roundRobinDepartment")
	case assigns == 0 && t.Department == "" && t.Urgency == "" && len(t.AddTags) == 0 && t.DueMinutes == 0 && t.SnoozeMinutes == 0 && !t.Mails():
		return errdefs.InvalidField("then", "does something")
	case t.DueMinutes > 0 && (r.Event == DueSoon || r.Event == Overdue):
		return errdefs.InvalidField("then.dueInMinutes", "is of no rule that a due time sets off: it would set itself off")
	case t.SnoozeMinutes > 0 && (r.Event == Replied || r.Event == Overdue):
		return errdefs.InvalidField("then.snoozeMinutes", "is of no rule on %s: what is pressing is not put off", r.Event)
	}
	return r.When.Hours.check()
}

// check says whether the hours are good. The error is an errdefs.Invalid.
func (h *RuleHours) check() error {
	switch {
	case h == nil:
		return nil
	case h.Schedule.IsZero() == (h.Week == nil):
		return errdefs.InvalidField("when.hours", "are those of a scheduleId, or of timezone and hours")
	case h.Week == nil:
		return nil
	}
	return below(h.Week.Check(), "when.hours.")
}

// Check says whether the hours are good. The error is an errdefs.Invalid.
func (w *Week) Check() error {
	p := w.plan()
	return p.CheckHours()
}

// below says of a field in what it lies.
func below(err error, field string) error {
	if wrong, ok := err.(*errdefs.Invalid); ok { //nolint:errorlint // it comes from here, as it is
		return errdefs.InvalidField(field+wrong.Field, "%s", wrong.Message)
	}
	return err
}

const ruleColumns = `id, name, enabled, position, event, definition, turn, edition, created_at, updated_at`

func scanRule(row pgx.CollectableRow) (r Rule, err error) {
	err = row.Scan(&r.ID, &r.Name, &r.Enabled, &r.Position, &r.Event, &r.Definition, &r.Turn, &r.Edition, &r.CreatedAt, &r.UpdatedAt)
	return r, err
}

const selectRule = `SELECT ` + ruleColumns + ` FROM inbox_rule WHERE org_id = $1 AND id = $2`

// GetRule finds a rule. It rides inbox_rule_pkey. The error is errdefs.NotFound.
func GetRule(ctx context.Context, t *tenant.Tenants, org id.Org, which id.InboxRule) (Rule, error) {
	return tenant.One(ctx, t, org, scanRule, RuleNoun.NotFound(which), selectRule, org, which)
}

// LockRule is GetRule of a rule that nobody else changes until the commit.
func LockRule(ctx context.Context, tx *tenant.Tx, which id.InboxRule) (Rule, error) {
	return tenant.OneIn(ctx, tx, scanRule, RuleNoun.NotFound(which), selectRule+` FOR UPDATE`, tx.Org, which)
}

// RulePlace is where a page of rules ended.
type RulePlace struct {
	Position int64        `json:"p"`
	ID       id.InboxRule `json:"i"`
}

// Place is where a rule stands.
func (r *Rule) Place() RulePlace { return RulePlace{r.Position, r.ID} }

// Rules are a page of the rules in the order in which they are applied, after one; the zero place for the
// first page. It rides inbox_rule_by_position.
func Rules(ctx context.Context, t *tenant.Tenants, org id.Org, after RulePlace, limit int) ([]Rule, error) {
	first := after.ID.IsZero()
	return tenant.All(ctx, t, org, scanRule, `
		SELECT `+ruleColumns+` FROM inbox_rule WHERE org_id = $1 AND ($2::BOOL OR (position, id) > ($3, $4)) ORDER BY position, id LIMIT $5`,
		org, first, after.Position, after.ID, limit)
}

// rulesOn are the rules of an event that are switched on, in their order. It rides inbox_rule_by_position.
func rulesOn(ctx context.Context, tx *tenant.Tx, e Event) ([]Rule, error) {
	return tenant.AllIn(ctx, tx, scanRule, `
		SELECT `+ruleColumns+` FROM inbox_rule WHERE org_id = $1 AND event = $2 AND enabled ORDER BY position, id LIMIT $3`, tx.Org, e, MaxEnabled)
}

// CreateRule enters a rule. The error is an errdefs.Invalid, or an errdefs.Conflict where there are too many.
func CreateRule(ctx context.Context, tx *tenant.Tx, r Rule, who activity.Actor) (Rule, error) {
	r.ID, r.Edition, r.CreatedAt, r.UpdatedAt = id.NewInboxRule(), 1, who.At, who.At
	if err := r.check(); err != nil {
		return r, err
	}
	if err := holdRules(ctx, tx); err != nil {
		return r, err
	}
	if err := r.room(ctx, tx); err != nil {
		return r, err
	}
	tx.Touch("inbox_rule", r.ID)
	tag, err := tx.Exec(ctx, `
		INSERT INTO inbox_rule (org_id, id, name, enabled, position, event, definition, edition, created_at, updated_at)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $9 WHERE (SELECT count(*) FROM inbox_rule WHERE org_id = $1) < $10`,
		tx.Org, r.ID, r.Name, r.Enabled, r.Position, r.Event, r.Definition, r.Edition, who.At, MaxRules)
	if err != nil {
		return r, err
	}
	if tag.RowsAffected() == 0 {
		return r, &errdefs.Conflict{Noun: RuleNoun, Reason: ReasonRules, Message: fmt.Sprintf("There are %d rules, which is as many as there can be.", MaxRules)}
	}
	who.Log(tx, "inbox_rule.created", "inbox_rule", r.ID, map[string]any{"event": r.Event, "enabled": r.Enabled})
	return r, nil
}

// ruleLimits and memberLimits name rows that are held while rules, or members, are counted and one is entered: else two
// who come at once both see room for the last one.
const (
	ruleLimits   = "limits.inbox_rule"
	memberLimits = "limits.inbox_member"
)

// holdRules has nobody else enter or switch on a rule until the commit.
func holdRules(ctx context.Context, tx *tenant.Tx) error { return tx.Add(ctx, ruleLimits, 0) }

// room says whether there is room among the rules of its event for one that is switched on. The caller holds the
// rules (holdRules). The error is an errdefs.Conflict.
func (r *Rule) room(ctx context.Context, tx *tenant.Tx) error {
	if !r.Enabled {
		return nil
	}
	var others int
	if err := tx.QueryRow(ctx, `
		SELECT count(*) FROM inbox_rule WHERE org_id = $1 AND event = $2 AND enabled AND id <> $3`, tx.Org, r.Event, r.ID).Scan(&others); err != nil {
		return err
	}
	if others >= MaxEnabled {
		return &errdefs.Conflict{
			Noun: RuleNoun, Reason: ReasonRules, Message: fmt.Sprintf("There are %d rules on %s that are switched on, which is as many as there can be.", others, r.Event),
		}
	}
	return nil
}

// Change writes a rule that is locked. The error is an errdefs.Invalid, or an errdefs.Conflict where too many are switched on.
func (r *Rule) Change(ctx context.Context, tx *tenant.Tx, who activity.Actor) error {
	if err := r.check(); err != nil {
		return err
	}
	if err := holdRules(ctx, tx); err != nil {
		return err
	}
	if err := r.room(ctx, tx); err != nil {
		return err
	}
	r.Edition, r.UpdatedAt = r.Edition+1, who.At
	tx.Touch("inbox_rule", r.ID)
	_, err := tx.Exec(ctx, `
		UPDATE inbox_rule SET name = $3, enabled = $4, position = $5, event = $6, definition = $7, edition = $8, updated_at = $9
		WHERE org_id = $1 AND id = $2`, tx.Org, r.ID, r.Name, r.Enabled, r.Position, r.Event, r.Definition, r.Edition, r.UpdatedAt)
	who.Log(tx, "inbox_rule.updated", "inbox_rule", r.ID, map[string]any{"event": r.Event, "enabled": r.Enabled})
	return err
}

// DeleteRule deletes a rule. What it did stays. The error is errdefs.NotFound.
func DeleteRule(ctx context.Context, tx *tenant.Tx, which id.InboxRule, who activity.Actor) error {
	tx.Touch("inbox_rule", which)
	tag, err := tx.Exec(ctx, `DELETE FROM inbox_rule WHERE org_id = $1 AND id = $2`, tx.Org, which)
	if err == nil && tag.RowsAffected() == 0 {
		err = RuleNoun.NotFound(which)
	}
	who.Log(tx, "inbox_rule.deleted", "inbox_rule", which, nil)
	return err
}

// hoursOf finds the hours of schedules; tests and the dry run use it in the same way.
type hoursOf func(ctx context.Context, which id.Schedule) (*slot.Plan, error)

// scheduled are the hours of schedules as they are in a transaction; nil of one that is gone.
func scheduled(tx *tenant.Tx) hoursOf {
	return func(ctx context.Context, which id.Schedule) (*slot.Plan, error) {
		s, err := slot.Find(ctx, tx, which)
		if errdefs.IsNotFound(err, slot.Noun) {
			return nil, nil //nolint:nilnil // there are no such hours
		}
		return &s.Plan, err
	}
}

// hold says whether the conditions hold of an item at a moment. Those of hours that are gone do not.
func (c *Conditions) hold(ctx context.Context, i *Item, at time.Time, hours hoursOf) (bool, error) {
	folded := func(all []string, one string) bool {
		return slices.ContainsFunc(all, func(s string) bool { return strings.EqualFold(s, one) })
	}
	switch {
	case len(c.Kinds) > 0 && !slices.Contains(c.Kinds, i.Kind),
		len(c.States) > 0 && !slices.Contains(c.States, i.State),
		len(c.Bands) > 0 && (i.Band == nil || !slices.Contains(c.Bands, *i.Band)),
		len(c.Portals) > 0 && !slices.Contains(c.Portals, i.Portal),
		len(c.Personas) > 0 && !slices.Contains(c.Personas, i.Persona),
		len(c.Channels) > 0 && (i.Channel == nil || !slices.Contains(c.Channels, *i.Channel)),
		len(c.Languages) > 0 && !folded(c.Languages, i.Language),
		len(c.Departments) > 0 && (i.Department == nil || !folded(c.Departments, *i.Department)),
		len(c.Urgencies) > 0 && !slices.Contains(c.Urgencies, i.Urgency),
		len(c.Tags) > 0 && !slices.ContainsFunc(c.Tags, func(tag string) bool { return slices.Contains(i.Tags, tag) }),
		c.Assigned != nil && *c.Assigned == i.Assignee.IsZero():
		return false, nil
	case c.Hours == nil:
		return true, nil
	}
	p := new(slot.Plan)
	if c.Hours.Week != nil {
		*p = c.Hours.Week.plan()
	} else {
		found, err := hours(ctx, c.Hours.Schedule)
		if err != nil || found == nil {
			return false, err
		}
		p = found
	}
	open, err := p.Open(at)
	return err == nil && open == c.Hours.Within, nil // a zone that is known no more is no reason to lose what a visitor leaves
}

// previewed is how many of the newest items a dry run looks at.
const previewed = 100

// Preview are the newest items for which some conditions hold, newest first, and how many were looked at: as they are now, at
// the moment they were left. The error is an errdefs.Invalid, or errdefs.NotFound of a schedule.
func Preview(ctx context.Context, t *tenant.Tenants, org id.Org, c Conditions) (looked int, found []Item, err error) {
	if err := c.Hours.check(); err != nil {
		return 0, nil, err
	}
	var plan *slot.Plan
	if h := c.Hours; h != nil && h.Week == nil {
		s, err := slot.Get(ctx, t, org, h.Schedule)
		if err != nil {
			return 0, nil, err
		}
		plan = &s.Plan
	}
	items, err := List(ctx, t, org, Filter{}, id.InboxItem{}, previewed)
	if err != nil {
		return 0, nil, err
	}
	hours := func(context.Context, id.Schedule) (*slot.Plan, error) { return plan, nil }
	for _, i := range items {
		if i.ForgottenAt != nil {
			continue
		}
		if ok, err := c.hold(ctx, &i, i.CreatedAt, hours); err != nil {
			return 0, nil, err
		} else if ok {
			found = append(found, i)
		}
	}
	return len(items), found, nil
}
