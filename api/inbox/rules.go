package inbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerRules(s *route.Service) {
	list := route.Operation{
		ID: "listInboxRules", Group: group, Method: http.MethodGet, Path: "/inbox/rules", Class: "read", Scope: scope.InboxRead, Since: contract.V20261001,
		Summary: "The rules of the inbox, in the order in which they are applied",
		Description: "A rule waits for an event, and does something with the items for which its conditions hold: it assigns them, sets when they are due, or tells " +
			"somebody by mail. What a rule does sets off no rule.",
	}
	route.List(s, list, a.listRules)

	create := list
	create.ID, create.Method, create.Class, create.Scope = "createInboxRule", http.MethodPost, "write", scope.InboxWrite
	create.Status, create.Idempotent, create.Feature = http.StatusCreated, true, feature
	create.Errors = []problem.Code{problem.NotFound, problem.Conflict}
	create.Summary = "Make a rule"
	create.Description = "A rule that tells somebody by mail needs inbox:read as well. Reasons of 409 conflict: too_many_rules past 200 rules, or 20 of an event that are switched on, no_mail where the deployment sends none."
	route.Handle(s, create, a.createRule)

	preview := list
	preview.ID, preview.Method, preview.Path = "previewInboxRule", http.MethodPost, "/inbox/rules/preview"
	preview.Errors = []problem.Code{problem.NotFound}
	preview.Summary = "Which of the newest 100 items a rule would apply to"
	preview.Description = "Nothing is done. Conditions are compared with the items as they are now, and hours with when each was left."
	route.Handle(s, preview, a.previewRule)

	get := list
	get.ID, get.Path, get.Summary, get.Description = "getInboxRule", "/inbox/rules/{id}", "One rule", ""
	route.Handle(s, get, a.getRule)

	update := get
	update.ID, update.Method, update.Class, update.Scope = "updateInboxRule", http.MethodPatch, "write", scope.InboxWrite
	update.Errors = []problem.Code{problem.Conflict, problem.VersionConflict}
	update.Summary, update.Description = "Change a rule", "when and then take the place of those before, as a whole."
	route.Handle(s, update, a.updateRule)

	remove := get
	remove.ID, remove.Method, remove.Class, remove.Scope = "deleteInboxRule", http.MethodDelete, "write", scope.InboxWrite
	remove.Summary, remove.Description = "Delete a rule", "What it did stays as it is, and among the items' history."
	route.Handle(s, remove, a.deleteRule)
}

// RulePath names a rule.
type RulePath struct {
	ID string `path:"id" doc:"The rule's id, with or without rule_."`
}

func (p *RulePath) rule() (id.InboxRule, error) {
	return route.Lookup(id.ParseInboxRule, p.ID, string(inbox.RuleNoun))
}

// InboxRule is what is done by itself.
type InboxRule struct {
	ID        id.InboxRule        `json:"id" doc:"Id of the rule, with the prefix rule_."`
	Name      string              `json:"name" doc:"What your team calls it."`
	Enabled   bool                `json:"enabled" doc:"Whether it is applied."`
	Position  int64               `json:"position" doc:"Where it stands: rules of an event are applied from the lowest on, and each sees what those before did."`
	On        inbox.Event         `json:"on" enum:"item_created,item_updated,reply_received,due_soon,overdue" doc:"The event that it waits for."`
	When      InboxRuleConditions `json:"when" doc:"What must all hold of the item."`
	Then      InboxRuleActions    `json:"then" doc:"What it does."`
	CreatedAt time.Time           `json:"createdAt" doc:"When it was made, in UTC."`
	UpdatedAt time.Time           `json:"updatedAt" doc:"When it was last changed, in UTC."`
}

// InboxRuleConditions are what must all hold of an item.
type InboxRuleConditions struct {
	Kinds       []inbox.Kind    `json:"kinds,omitempty" maxItems:"3" enum:"lead,booking,handoff" doc:"The item is of one of these kinds."`
	States      []inbox.State   `json:"states,omitempty" maxItems:"7" enum:"new,open,waiting,snoozed,won,lost,done" doc:"It is in one of these states; rules are never applied to spam."`
	LeadBands   []inbox.Band    `json:"leadBands,omitempty" maxItems:"3" enum:"hot,warm,cold" doc:"It is a lead of one of these bands."`
	PortalIDs   []string        `json:"portalIds,omitempty" maxItems:"50" doc:"It was left on one of these portals."`
	PersonaIDs  []string        `json:"personaIds,omitempty" maxItems:"50" doc:"One of these personas talked with the visitor."`
	Channels    []string        `json:"channels,omitempty" maxItems:"3" enum:"video,voice,chat" doc:"The conversation was on one of these channels."`
	Languages   []string        `json:"languages,omitempty" maxItems:"50" doc:"The visitor's language is one of these, as codes or names."`
	Departments []string        `json:"departments,omitempty" maxItems:"20" doc:"One of these departments is to deal with it; letters of either case are the same."`
	Urgencies   []string        `json:"urgencies,omitempty" maxItems:"3" enum:"low,normal,high" doc:"It has one of these urgencies."`
	Tags        []string        `json:"tags,omitempty" maxItems:"20" doc:"It has one of these tags at least."`
	Assigned    *bool           `json:"assigned,omitempty" nullable:"true" doc:"Whether somebody deals with it already."`
	Hours       *InboxRuleHours `json:"hours,omitempty" doc:"When the event happens."`
}

// InboxRuleHours are when an event happens.
type InboxRuleHours struct {
	Within     bool            `json:"within" doc:"true for within the hours, false for outside of them."`
	ScheduleID string          `json:"scheduleId,omitempty" maxLength:"80" doc:"The schedule whose hours they are, with its exceptions; else timezone and hours say which. Once it is deleted, the rule applies no more."`
	Timezone   string          `json:"timezone,omitempty" maxLength:"60" doc:"The time zone of the hours, such as Europe/Berlin."`
	Hours      []ScheduleHours `json:"hours,omitempty" maxItems:"70" doc:"Hours of every week, which do not overlap."`
}

// InboxRuleActions are what a rule does.
type InboxRuleActions struct {
	AssigneeID           string   `json:"assigneeId,omitempty" maxLength:"80" doc:"Who of your people is to deal with the item, unless they are gone."`
	RoundRobin           []string `json:"roundRobin,omitempty" maxItems:"50" doc:"People of whom each gets an item in turn. Who is away or gone is passed over."`
	RoundRobinDepartment *string  `json:"roundRobinDepartment,omitempty" maxLength:"200" nullable:"true" doc:"Likewise those of your inbox team who are of this department."`
	Department           *string  `json:"department,omitempty" maxLength:"200" nullable:"true" doc:"The department that is to deal with it."`
	Urgency              *string  `json:"urgency,omitempty" enum:"low,normal,high" nullable:"true" doc:"How soon it is to be dealt with."`
	AddTags              []string `json:"addTags,omitempty" maxItems:"20" doc:"Tags that it gets besides those it has, of at most 60 characters each."`
	DueInMinutes         int64    `json:"dueInMinutes,omitempty" minimum:"0" maximum:"525600" doc:"In how many minutes it is due. Of no rule on due_soon or overdue."`
	SnoozeMinutes        int64    `json:"snoozeMinutes,omitempty" minimum:"0" maximum:"525600" doc:"For how many minutes it is put off. Of no rule on reply_received or overdue."`
	MailTo               []string `json:"mailTo,omitempty" maxItems:"10" doc:"People who are told by mail how to reach the visitor and what is known of the item, without what the visitor said."`
	MailAssignee         bool     `json:"mailAssignee,omitempty" doc:"Whether who deals with the item then is told so too; false unless given."`
}

func showRule(r inbox.Rule) InboxRule {
	w, t := r.When, r.Then
	shown := InboxRule{
		ID: r.ID, Name: r.Name, Enabled: r.Enabled, Position: r.Position, On: r.Event, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
		When: InboxRuleConditions{
			Kinds: w.Kinds, States: w.States, LeadBands: w.Bands, PortalIDs: texts(w.Portals), PersonaIDs: texts(w.Personas), Channels: w.Channels, Languages: w.Languages,
			Departments: w.Departments, Urgencies: w.Urgencies, Tags: w.Tags, Assigned: w.Assigned,
		},
		Then: InboxRuleActions{
			RoundRobin: texts(t.RoundRobin), RoundRobinDepartment: orNone(t.RoundRobinIn), Department: orNone(t.Department), Urgency: orNone(t.Urgency), AddTags: t.AddTags,
			DueInMinutes: t.DueMinutes, SnoozeMinutes: t.SnoozeMinutes, MailTo: texts(t.MailTo), MailAssignee: t.MailAssignee,
		},
	}
	if !t.Assignee.IsZero() {
		shown.Then.AssigneeID = t.Assignee.String()
	}
	if h := w.Hours; h != nil {
		shown.When.Hours = &InboxRuleHours{Within: h.Within}
		if h.Week == nil {
			shown.When.Hours.ScheduleID = h.Schedule.String()
		} else {
			shown.When.Hours.Timezone, shown.When.Hours.Hours = h.Week.Timezone, showHours(h.Week.Hours)
		}
	}
	return shown
}

func showHours(hours []slot.Hours) []ScheduleHours {
	shown := []ScheduleHours{}
	for _, h := range hours {
		shown = append(shown, ScheduleHours(h))
	}
	return shown
}

func weekOf(timezone string, hours []ScheduleHours) *inbox.Week {
	w := &inbox.Week{Timezone: timezone, Hours: []slot.Hours{}}
	for _, h := range hours {
		w.Hours = append(w.Hours, slot.Hours(h))
	}
	return w
}

func texts[T fmt.Stringer](ids []T) (all []string) {
	for _, one := range ids {
		all = append(all, one.String())
	}
	return all
}

// orNone is a text, or nil for an empty one.
func orNone(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (a *API) listRules(ctx context.Context, c *route.Call, q *route.Paging) (route.Page[InboxRule], error) {
	return route.Listed(c, *q, func(after inbox.RulePlace, limit int) ([]inbox.Rule, error) {
		return inbox.Rules(ctx, a.Tenants, c.Org(), after, limit)
	}, func(r inbox.Rule) inbox.RulePlace { return r.Place() }, showRule)
}

func (a *API) getRule(ctx context.Context, c *route.Call, p *RulePath) (InboxRule, error) {
	which, err := p.rule()
	if err != nil {
		return InboxRule{}, err
	}
	r, err := inbox.GetRule(ctx, a.Tenants, c.Org(), which)
	c.SetVersion(r.Edition)
	return showRule(r), err
}

// RuleCreate is the request for a rule.
type RuleCreate struct{ Body InboxRuleInput }

// InboxRuleInput is a rule to be made.
type InboxRuleInput struct {
	Name     string              `json:"name" minLength:"1" maxLength:"120" doc:"What your team calls it."`
	Enabled  *bool               `json:"enabled,omitempty" nullable:"true" doc:"Whether it is applied; true unless given."`
	Position int64               `json:"position,omitempty" minimum:"0" maximum:"1000000" doc:"Where it stands: rules of an event are applied from the lowest on, of the same position the oldest first; 0 unless given."`
	On       inbox.Event         `json:"on" enum:"item_created,item_updated,reply_received,due_soon,overdue" doc:"The event that it waits for."`
	When     InboxRuleConditions `json:"when,omitzero" doc:"What must all hold of the item; nothing unless given, so that it applies to each."`
	Then     InboxRuleActions    `json:"then" doc:"What it does: one thing at least."`
}

func (b *InboxRuleInput) rule() (r inbox.Rule, err error) {
	r = inbox.Rule{Name: b.Name, Enabled: b.Enabled == nil || *b.Enabled, Position: b.Position, Event: b.On}
	if r.When, err = b.When.conditions(); err != nil {
		return r, err
	}
	r.Then, err = b.Then.actions()
	return r, err
}

// those are ids of the body, each once, which all name something.
func those[T comparable](field string, sent []string, parse func(string) (T, error), noun string) (all []T, err error) {
	for n, text := range sent {
		one, err := parse(text)
		if err != nil {
			return nil, problem.Missing(noun).WithParam(fmt.Sprintf("body.%s[%d]", field, n))
		}
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all, nil
}

// names are texts of the body, each once.
func names(field string, sent []string, most int) (all []string, err error) {
	for n, text := range sent {
		text = strings.TrimSpace(text)
		if text == "" || len([]rune(text)) > most {
			return nil, problem.Invalid(fmt.Sprintf("body.%s[%d]", field, n), "It has 1 to %d characters.", most)
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all, nil
}

// longestDepartment is in characters.
const longestDepartment = 200

func (b *InboxRuleConditions) conditions() (w inbox.Conditions, err error) {
	w = inbox.Conditions{Kinds: b.Kinds, States: b.States, Bands: b.LeadBands, Channels: b.Channels, Urgencies: b.Urgencies, Assigned: b.Assigned}
	if w.Portals, err = those("when.portalIds", b.PortalIDs, id.ParsePortal, "portal"); err != nil {
		return w, err
	}
	if w.Personas, err = those("when.personaIds", b.PersonaIDs, id.ParsePersona, "persona"); err != nil {
		return w, err
	}
	for n, text := range b.Languages {
		l, ok := language.Lookup(text)
		if !ok {
			return w, problem.Invalid(fmt.Sprintf("body.when.languages[%d]", n), "There is no language %q; GET /languages lists them.", text)
		}
		w.Languages = append(w.Languages, l.Code)
	}
	if w.Departments, err = names("when.departments", b.Departments, longestDepartment); err != nil {
		return w, err
	}
	if w.Tags, err = names("when.tags", b.Tags, longestTag); err != nil {
		return w, err
	}
	if h := b.Hours; h != nil {
		w.Hours = &inbox.RuleHours{Within: h.Within}
		if h.ScheduleID != "" {
			if w.Hours.Schedule, err = id.ParseSchedule(h.ScheduleID); err != nil {
				return w, noRuleSchedule()
			}
		}
		if h.Timezone != "" || len(h.Hours) > 0 {
			w.Hours.Week = weekOf(h.Timezone, h.Hours)
		}
	}
	return w, nil
}

func noRuleSchedule() error {
	return problem.Missing("schedule").WithParam("body.when.hours.scheduleId")
}

func (b *InboxRuleActions) actions() (t inbox.Actions, err error) {
	t = inbox.Actions{DueMinutes: b.DueInMinutes, SnoozeMinutes: b.SnoozeMinutes, MailAssignee: b.MailAssignee}
	if b.AssigneeID != "" {
		if t.Assignee, err = id.ParsePerson(b.AssigneeID); err != nil {
			return t, problem.Missing("person").WithParam("body.then.assigneeId")
		}
	}
	if t.RoundRobin, err = those("then.roundRobin", b.RoundRobin, id.ParsePerson, "person"); err != nil {
		return t, err
	}
	if t.MailTo, err = those("then.mailTo", b.MailTo, id.ParsePerson, "person"); err != nil {
		return t, err
	}
	if t.AddTags, err = names("then.addTags", b.AddTags, longestTag); err != nil {
		return t, err
	}
	for _, f := range []struct {
		sent *string
		to   *string
	}{{b.RoundRobinDepartment, &t.RoundRobinIn}, {b.Department, &t.Department}, {b.Urgency, &t.Urgency}} {
		if f.sent != nil {
			*f.to = strings.TrimSpace(*f.sent)
		}
	}
	return t, nil
}

// mayMail refuses a rule that mails details to whoever may not read them, or where nothing is mailed.
func (a *API) mayMail(c *route.Call, r inbox.Rule) error {
	field := "body.then.mailTo"
	if len(r.Then.MailTo) == 0 {
		field = "body.then.mailAssignee"
	}
	switch {
	case !r.Then.Mails():
		return nil
	case !c.Principal.Key.Grant().Holds(scope.InboxRead):
		return problem.New(problem.Forbidden, "This key lacks the scope %s, which a rule that tells somebody by mail needs.", scope.InboxRead).WithParam(field)
	case a.Gate.Mails == nil:
		return problem.Conflicting("no_mail", "This deployment sends no mail. Whoever operates it sets mail-url.").WithParam(field)
	}
	return nil
}

// placesKnown refuses conditions that name a portal or a persona that the organization does not have.
func placesKnown(ctx context.Context, tx *tenant.Tx, w inbox.Conditions) error {
	for n, p := range w.Portals {
		if _, err := portal.Find(ctx, tx, p); errdefs.IsAbsent(err, portal.Noun) {
			return problem.Missing("portal").WithParam(fmt.Sprintf("body.when.portalIds[%d]", n))
		} else if err != nil {
			return err
		}
	}
	for n, p := range w.Personas {
		if _, err := persona.Find(ctx, tx, p); errdefs.IsAbsent(err, persona.Noun) {
			return problem.Missing("persona").WithParam(fmt.Sprintf("body.when.personaIds[%d]", n))
		} else if err != nil {
			return err
		}
	}
	return nil
}

// namesKnown refuses a rule that names people or a schedule that the organization does not have. Those of fields that
// stay as they were are not looked at: who is gone since is passed over.
func namesKnown(ctx context.Context, tx *tenant.Tx, r inbox.Rule, when, then bool) error {
	if h := r.When.Hours; when && h != nil && !h.Schedule.IsZero() {
		if err := inbox.FindSchedule(ctx, tx, h.Schedule); errdefs.IsNotFound(err, slot.Noun) {
			return noRuleSchedule()
		} else if err != nil {
			return err
		}
	}
	if when {
		if err := placesKnown(ctx, tx, r.When); err != nil {
			return err
		}
	}
	if !then {
		return nil
	}
	check := func(field string, people ...id.Person) error {
		for n, p := range people {
			err := known(ctx, tx, p)
			if refused, ok := errors.AsType[*problem.Problem](err); ok {
				return refused.WithParam(strings.ReplaceAll(field, "#", fmt.Sprintf("[%d]", n)))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := check("body.then.assigneeId", r.Then.Assignee); err != nil {
		return err
	}
	if err := check("body.then.roundRobin#", r.Then.RoundRobin...); err != nil {
		return err
	}
	return check("body.then.mailTo#", r.Then.MailTo...)
}

func (a *API) createRule(ctx context.Context, c *route.Call, in *RuleCreate) (InboxRule, error) {
	r, err := in.Body.rule()
	if err != nil {
		return InboxRule{}, err
	}
	if err := a.mayMail(c, r); err != nil {
		return InboxRule{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (InboxRule, error) {
		if err := namesKnown(ctx, tx, r, true, true); err != nil {
			return InboxRule{}, err
		}
		made, err := inbox.CreateRule(ctx, tx, r, c.Actor())
		c.SetVersion(made.Edition)
		return showRule(made), err
	})
}

// RuleUpdate is the request for a change of a rule.
type RuleUpdate struct {
	RulePath
	route.Edition
	Body InboxRuleChange
}

// InboxRuleChange is what a rule is to be.
type InboxRuleChange struct {
	Name     route.Opt[string]              `json:"name,omitzero" minLength:"1" maxLength:"120" doc:"What your team calls it."`
	Enabled  route.Opt[bool]                `json:"enabled,omitzero" doc:"Whether it is applied."`
	Position route.Opt[int64]               `json:"position,omitzero" minimum:"0" maximum:"1000000" doc:"Where it stands."`
	On       route.Opt[inbox.Event]         `json:"on,omitzero" enum:"item_created,item_updated,reply_received,due_soon,overdue" doc:"The event that it waits for."`
	When     route.Opt[InboxRuleConditions] `json:"when,omitzero" doc:"What must all hold of the item, in place of what was before."`
	Then     route.Opt[InboxRuleActions]    `json:"then,omitzero" doc:"What it does, in place of what it did."`
}

func (b *InboxRuleChange) apply(r inbox.Rule) (inbox.Rule, error) {
	var err error
	if b.Name.Set {
		r.Name = b.Name.Value
	}
	if b.Enabled.Set {
		r.Enabled = b.Enabled.Value
	}
	if b.Position.Set {
		r.Position = b.Position.Value
	}
	if b.On.Set {
		r.Event = b.On.Value
	}
	if b.When.Set {
		if r.When, err = b.When.Value.conditions(); err != nil {
			return r, err
		}
	}
	if b.Then.Set {
		r.Then, err = b.Then.Value.actions()
	}
	return r, err
}

func (a *API) updateRule(ctx context.Context, c *route.Call, in *RuleUpdate) (InboxRule, error) {
	which, err := in.rule()
	if err != nil {
		return InboxRule{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (InboxRule, error) {
		r, err := inbox.LockRule(ctx, tx, which)
		if err != nil {
			return InboxRule{}, err
		}
		if err := in.Check(r.Edition, nil); err != nil {
			return InboxRule{}, err
		}
		if r, err = in.Body.apply(r); err != nil {
			return InboxRule{}, err
		}
		// Whoever widens what is mailed must be allowed to read it; switching a rule off always works.
		if in.Body.Then.Set || in.Body.When.Set || in.Body.On.Set || in.Body.Enabled.Value {
			if err := a.mayMail(c, r); err != nil {
				return InboxRule{}, err
			}
		}
		if err := namesKnown(ctx, tx, r, in.Body.When.Set, in.Body.Then.Set); err != nil {
			return InboxRule{}, err
		}
		err = r.Change(ctx, tx, c.Actor())
		c.SetVersion(r.Edition)
		return showRule(r), err
	})
}

func (a *API) deleteRule(ctx context.Context, c *route.Call, p *RulePath) (route.Deleted, error) {
	which, err := p.rule()
	if err != nil {
		return route.Deleted{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (route.Deleted, error) {
		return route.Deleted{Deleted: true, ID: which.String()}, inbox.DeleteRule(ctx, tx, which, c.Actor())
	})
}

// RulePreview is the request for a dry run.
type RulePreview struct{ Body InboxRulePreviewInput }

// InboxRulePreviewInput is a rule that is tried out.
type InboxRulePreviewInput struct {
	When InboxRuleConditions `json:"when" doc:"What must all hold of an item."`
}

// InboxRulePreviewed is what a rule would apply to.
type InboxRulePreviewed struct {
	Examined int64            `json:"examined" doc:"How many items were looked at: the newest 100, or all there are."`
	Matched  int64            `json:"matched" doc:"For how many of them the conditions hold."`
	Items    []InboxRuleMatch `json:"items" doc:"Those, newest first."`
}

// InboxRuleMatch is an item that a rule would apply to.
type InboxRuleMatch struct {
	ID        id.InboxItem `json:"id" doc:"Id of the item, with the prefix inb_."`
	Kind      inbox.Kind   `json:"kind" enum:"lead,booking,handoff" doc:"What it is."`
	State     inbox.State  `json:"state" enum:"new,open,waiting,snoozed,won,lost,done,spam,forgotten" doc:"How far it is dealt with."`
	CreatedAt time.Time    `json:"createdAt" doc:"When the visitor left it, in UTC."`
}

func (a *API) previewRule(ctx context.Context, c *route.Call, in *RulePreview) (InboxRulePreviewed, error) {
	when, err := in.Body.When.conditions()
	if err != nil {
		return InboxRulePreviewed{}, err
	}
	looked, found, err := inbox.Preview(ctx, a.Tenants, c.Org(), when)
	if errdefs.IsNotFound(err, slot.Noun) {
		return InboxRulePreviewed{}, noRuleSchedule()
	}
	shown := InboxRulePreviewed{Examined: int64(looked), Matched: int64(len(found)), Items: []InboxRuleMatch{}}
	for _, i := range found {
		shown.Items = append(shown.Items, InboxRuleMatch{i.ID, i.Kind, i.State, i.CreatedAt.UTC()})
	}
	return shown, err
}
