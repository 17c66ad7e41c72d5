package inbox

import (
	"context"
	"slices"
	"strings"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/provider/zendesk"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/notice"
)

// InboxItem is what a visitor left.
type InboxItem struct {
	ID           id.InboxItem               `json:"id" doc:"Id of the item, with the prefix inb_."`
	Kind         inbox.Kind                 `json:"kind" enum:"lead,booking,handoff" doc:"lead, who wants to be contacted, booking, who comes at a time, or handoff, who wants to talk with a person."`
	State        inbox.State                `json:"state" enum:"new,open,waiting,snoozed,won,lost,done,spam,forgotten" doc:"How far it is dealt with; forgotten once nothing is known of the visitor any more."`
	PortalID     *id.Portal                 `json:"portalId" nullable:"true" doc:"The portal that the visitor was on; null for none."`
	WidgetID     *id.Widget                 `json:"widgetId" nullable:"true" doc:"The widget that the visitor used; null for none."`
	PersonaID    *id.Persona                `json:"personaId" nullable:"true" doc:"The persona that the visitor talked with; null for what was entered."`
	SessionID    *id.Session                `json:"sessionId" nullable:"true" doc:"The conversation that it came of; null for what was entered."`
	Channel      *string                    `json:"channel" enum:"video,voice,chat" nullable:"true" doc:"How that was held; null for what was entered."`
	Language     string                     `json:"language" doc:"The visitor's language, as a code."`
	Contact      route.OrNull[InboxContact] `json:"contact" doc:"How to reach the visitor; null once they are forgotten."`
	LeadBand     *inbox.Band                `json:"leadBand" enum:"hot,warm,cold" nullable:"true" doc:"How promising a lead is: hot with a way to reach the visitor, a need, and a budget or a timeline; warm with a way to reach them and something of the matter; cold otherwise, unless somebody chose another. Null for what is no lead."`
	Need         *string                    `json:"need" doc:"What the visitor needs, in their words; for keys with transcripts:read."`
	Budget       *string                    `json:"budget" doc:"What they can spend, in their words; likewise."`
	Timeline     *string                    `json:"timeline" doc:"By when, in their words; likewise."`
	Answers      []InboxAnswer              `json:"answers" doc:"What else they answered; likewise, and empty otherwise."`
	Summary      *string                    `json:"summary" doc:"The conversation in a few sentences, once it is over; likewise."`
	Reason       *string                    `json:"reason" doc:"What the visitor said when a person was asked for; likewise."`
	Urgency      string                     `json:"urgency" enum:"low,normal,high" doc:"How soon it is to be dealt with; normal unless changed."`
	Department   *string                    `json:"department" doc:"The department that is to deal with it; null for none."`
	Handoff      route.OrNull[InboxHandoff] `json:"handoff" doc:"The request for a person; null for what is no hand-off."`
	Booking      route.OrNull[InboxBooking] `json:"booking" doc:"When the visitor comes; null for what is no booking."`
	Source       InboxSource                `json:"source" doc:"Where the visitor came from."`
	AssigneeID   *id.Person                 `json:"assigneeId" nullable:"true" doc:"Who of your people deals with it; null for nobody yet."`
	Tags         []string                   `json:"tags" doc:"Your own words for it."`
	Notes        []InboxNote                `json:"notes" nullable:"true" doc:"What your team wrote to it or to the visitor, and what the visitor answered by mail, oldest first; null in the list."`
	ExternalRefs []InboxRef                 `json:"externalRefs" nullable:"true" doc:"What it is in your helpdesks; null in the list."`
	FirstReplyAt *time.Time                 `json:"firstReplyAt" doc:"When your team first wrote to the visitor, in UTC; null for not yet."`
	SnoozedUntil *time.Time                 `json:"snoozedUntil" doc:"When it is open again, in UTC; null while it is not put off, or where somebody is to open it."`
	SLADueAt     *time.Time                 `json:"slaDueAt" doc:"When it is to be dealt with, in UTC; null for no moment."`
	Overdue      bool                       `json:"overdue" doc:"Whether that has passed, while something is still to be done."`
	History      []InboxRuleRun             `json:"history" nullable:"true" doc:"What rules did with it, the newest 100 first; null in the list."`
	ForgottenAt  *time.Time                 `json:"forgottenAt" doc:"When the visitor was forgotten, in UTC; null for not."`
	ExternalID   *string                    `json:"externalId" doc:"The item's id in your own system; null where none was given."`
	Metadata     map[string]string          `json:"metadata" doc:"Your own notes: at most 20 keys of 40 characters, with values of 500."`
	CreatedAt    time.Time                  `json:"createdAt" doc:"When the visitor left it, in UTC."`
	UpdatedAt    time.Time                  `json:"updatedAt" doc:"When something of it last changed, in UTC."`
}

// InboxContact is how a visitor is reached.
type InboxContact struct {
	Name             *string                    `json:"name" doc:"What they are called; null where they did not say."`
	Email            *string                    `json:"email" doc:"A mail address; null likewise."`
	Phone            *string                    `json:"phone" doc:"A telephone number; null likewise."`
	Company          *string                    `json:"company" doc:"Where they work; null likewise."`
	JobTitle         *string                    `json:"jobTitle" doc:"What they do there; null likewise."`
	PreferredChannel *string                    `json:"preferredChannel" enum:"email,phone" nullable:"true" doc:"How they want to be reached; null likewise."`
	Consent          route.OrNull[InboxConsent] `json:"consent" doc:"Whether they agreed to be contacted; null where nobody asked."`
}

// InboxConsent is what a visitor agreed to.
type InboxConsent struct {
	Given bool       `json:"given" doc:"Whether they agreed."`
	At    *time.Time `json:"at" doc:"When, in UTC; null where it is not known."`
	Text  *string    `json:"text" doc:"The words that they were told; null where they are not known."`
}

// InboxAnswer is what a visitor answered.
type InboxAnswer struct {
	Question string `json:"question" doc:"What the persona asked, or the name of what was collected."`
	Answer   string `json:"answer" doc:"What the visitor said to it."`
}

// InboxHandoff is a request for a person.
type InboxHandoff struct {
	Live         bool       `json:"live" doc:"Whether the visitor is there: the conversation goes on, and can be joined."`
	RequestedBy  *string    `json:"requestedBy" enum:"visitor,avatar,rule" nullable:"true" doc:"Who asked for a person."`
	WaitingSince *time.Time `json:"waitingSince" doc:"Since when, in UTC."`
	JoinedBy     *id.Staff  `json:"joinedBy" nullable:"true" doc:"The team member who came first; null before."`
	JoinedAt     *time.Time `json:"joinedAt" doc:"When they came, in UTC; null before."`
	WaitS        *int64     `json:"waitS" doc:"How long the visitor waited for them, in seconds; null before."`
}

// InboxBooking is when a visitor comes.
type InboxBooking struct {
	StartsAt             time.Time          `json:"startsAt" doc:"When it begins, in UTC."`
	EndsAt               time.Time          `json:"endsAt" doc:"When it ends, in UTC."`
	Timezone             string             `json:"timezone" doc:"The zone that it was made in, such as Europe/Berlin."`
	LocalStart           string             `json:"localStart" doc:"When it begins on the clocks of that zone, such as 2026-12-01T10:00."`
	BookingKind          string             `json:"bookingKind" doc:"The kind of appointment, by its key in the schedule."`
	ScheduleID           id.Schedule        `json:"scheduleId" doc:"The schedule whose time it is."`
	CalendarEventID      *string            `json:"calendarEventId" doc:"The UID of the event in the invitations that are mailed."`
	CalendarConnectionID *id.Connection     `json:"calendarConnectionId" nullable:"true" doc:"The connection in whose calendar it is kept; null for none."`
	Location             *string            `json:"location" doc:"Where it is; null where the schedule does not say."`
	State                inbox.BookingState `json:"state" enum:"requested,confirmed,moved,cancelled,no_show" doc:"requested until the team confirms it, where the schedule wants that; moved once it counts at another time."`
}

func showBooking(i inbox.Item) *InboxBooking {
	b := i.Booking
	if b == nil {
		return nil
	}
	shown := &InboxBooking{b.StartsAt.UTC(), b.EndsAt.UTC(), b.Timezone, b.Wall, b.Kind, b.Schedule, new(i.ID.String()), nil, b.Location, b.State}
	if !b.Connection.IsZero() {
		shown.CalendarConnectionID = &b.Connection
	}
	return shown
}

// InboxSource is where a visitor came from.
type InboxSource struct {
	URL      *string                     `json:"url" doc:"The page that they were on; null where it is not known."`
	Referrer *string                     `json:"referrer" doc:"The page that led them there; null likewise."`
	Campaign route.OrNull[InboxCampaign] `json:"campaign" doc:"The campaign that they followed; null for none."`
}

// InboxCampaign is what a visitor followed.
type InboxCampaign struct {
	Source *string `json:"source" doc:"Where it ran, such as newsletter."`
	Medium *string `json:"medium" doc:"What it ran on, such as email."`
	Name   *string `json:"name" doc:"What it is called."`
	Term   *string `json:"term" doc:"The term that was searched for."`
}

// InboxNote is what somebody wrote to an item.
type InboxNote struct {
	ID        id.InboxNote `json:"id" doc:"Id of the note, with the prefix note_."`
	By        string       `json:"by" doc:"Who wrote it: the key or, of what came from a connected helpdesk, the connection, by id; or visitor."`
	Text      *string      `json:"text" doc:"What they wrote. What the visitor answered is null without transcripts:read, and where it is not kept."`
	At        time.Time    `json:"at" doc:"When, in UTC."`
	Channel   *string      `json:"channel" enum:"mail" nullable:"true" doc:"By what it was sent to the visitor, or came from them; null of what is for your team alone."`
	Direction *string      `json:"direction" enum:"sent,received" nullable:"true" doc:"sent to the visitor, or received from them; null of what is for your team alone."`
	From      *string      `json:"from" doc:"The mail address that an answer says it is from, which nothing proves; null of what your team wrote."`
}

// InboxRef is what an item is in a connected system.
type InboxRef struct {
	ConnectionID id.Connection `json:"connectionId" doc:"The connection to the system."`
	Kind         string        `json:"kind" enum:"ticket" doc:"What it is there."`
	ID           string        `json:"id" doc:"Its id there."`
	URL          string        `json:"url" format:"uri" doc:"Where your people read it there."`
}

// readsWords says whether the key may read conversations (Authentication, 6).
func readsWords(c *route.Call) bool { return c.Principal.Key.Grant().Holds(scope.TranscriptsRead) }

// show makes the answer's form of an item, without its notes.
func show(c *route.Call, i inbox.Item) InboxItem {
	shown := InboxItem{
		ID: i.ID, Kind: i.Kind, State: i.State, PortalID: i.Portal.OrNil(), WidgetID: i.Widget.OrNil(), PersonaID: i.Persona.OrNil(),
		SessionID: i.Session.OrNil(), Channel: i.Channel, Language: i.Language, LeadBand: i.Band, Answers: []InboxAnswer{}, Urgency: i.Urgency,
		Department: i.Department, AssigneeID: i.Assignee.OrNil(), Tags: i.Tags, SnoozedUntil: route.UTC(i.SnoozedUntil), FirstReplyAt: route.UTC(i.FirstReplyAt),
		ForgottenAt: route.UTC(i.ForgottenAt), ExternalID: i.ExternalID, Metadata: i.Metadata,
		SLADueAt: route.UTC(i.SLADueAt), Overdue: i.IsOverdue(c.Now()),
		CreatedAt: i.CreatedAt.UTC(), UpdatedAt: i.UpdatedAt.UTC(), Source: InboxSource{URL: i.Source.URL, Referrer: i.Source.Referrer},
	}
	if k := i.Source.Campaign; k != nil {
		shown.Source.Campaign.Value = new(InboxCampaign(*k))
	}
	if k := i.Contact; k != nil {
		shown.Contact.Value = &InboxContact{Name: k.Name, Email: k.Email, Phone: k.Phone, Company: k.Company, JobTitle: k.JobTitle, PreferredChannel: k.PreferredChannel}
		if k.Consent != nil {
			shown.Contact.Value.Consent.Value = &InboxConsent{k.Consent.Given, route.UTC(k.Consent.At), k.Consent.Text}
		}
	}
	if i.Kind == inbox.Handoff {
		shown.Handoff.Value = &InboxHandoff{i.Live, i.RequestedBy, route.UTC(i.WaitingSince), i.Staff.OrNil(), route.UTC(i.JoinedAt), i.WaitS()}
	}
	shown.Booking.Value = showBooking(i)
	if !readsWords(c) {
		return shown
	}
	shown.Need, shown.Budget, shown.Timeline, shown.Reason, shown.Summary = i.Words.Need, i.Words.Budget, i.Words.Timeline, i.Words.Reason, i.Summary
	for _, answer := range i.Words.Answers {
		shown.Answers = append(shown.Answers, InboxAnswer(answer))
	}
	return shown
}

// InboxRuleRun is what a rule did with an item.
type InboxRuleRun struct {
	RuleID   id.InboxRule       `json:"ruleId" doc:"The rule."`
	RuleName string             `json:"ruleName" doc:"What it was called then."`
	On       inbox.Event        `json:"on" enum:"item_created,item_updated,reply_received,due_soon,overdue" doc:"The event that it waited for."`
	Changed  []string           `json:"changed" doc:"The names of the fields that it changed."`
	Mailed   []id.Person        `json:"mailed" doc:"People who are told by mail, up to 60 times an hour each."`
	Skipped  []InboxRuleSkipped `json:"skipped" doc:"What nothing came of."`
	At       time.Time          `json:"at" doc:"When, in UTC."`
}

// InboxRuleSkipped is an action that nothing came of.
type InboxRuleSkipped struct {
	Action string `json:"action" doc:"The action, by its name in the rule's then."`
	Reason string `json:"reason" enum:"gone,nobody_there,not_active,too_many_tags,nobody_assigned,told_already" doc:"Why: the person is gone, all are gone or away, the item is over, it has as many tags as it can have, nobody deals with it, or another rule of the event told them already."`
}

// beside is what of an item is read beside its row.
type beside struct {
	notes   []inbox.Note
	tickets []notice.Notice
	runs    []inbox.Run
}

// showWith is show with the notes, what it is in helpdesks and what rules did.
func showWith(c *route.Call, i inbox.Item, b beside) InboxItem {
	notes, tickets := b.notes, b.tickets
	shown := show(c, i)
	shown.History = []InboxRuleRun{}
	for _, r := range b.runs {
		run := InboxRuleRun{r.Rule, r.RuleName, r.Event, append([]string{}, r.Did.Fields...), append([]id.Person{}, r.Did.Mailed...), []InboxRuleSkipped{}, r.At.UTC()}
		for _, s := range r.Did.Skipped {
			run.Skipped = append(run.Skipped, InboxRuleSkipped(s))
		}
		shown.History = append(shown.History, run)
	}
	shown.ExternalRefs = []InboxRef{}
	for _, t := range tickets {
		shown.ExternalRefs = append(shown.ExternalRefs, InboxRef{t.Connection, "ticket", t.Known.External, zendesk.TicketURL(t.Known.Account, t.Known.External)})
	}
	shown.Notes = make([]InboxNote, len(notes))
	for at, n := range notes {
		shown.Notes[at] = showNote(c, n)
	}
	return shown
}

func showNote(c *route.Call, n inbox.Note) InboxNote {
	shown := InboxNote{ID: n.ID, By: n.By, Text: &n.Text, At: n.At.UTC(), Channel: n.Channel}
	switch {
	case n.Received():
		shown.Direction, shown.From = new("received"), n.Sender
		if *n.Sender == "" {
			shown.From = nil
		}
		if n.Text == "" || !readsWords(c) {
			shown.Text = nil
		}
	case n.Channel != nil:
		shown.Direction = new("sent")
	}
	return shown
}

// Query filters and pages the items.
type Query struct {
	route.Paging
	Kind       string       `query:"kind" maxLength:"40" doc:"One or more of lead, booking and handoff, separated by commas."`
	State      string       `query:"state" maxLength:"120" doc:"One or more of the states, separated by commas."`
	LeadBand   string       `query:"leadBand" maxLength:"40" doc:"One or more of hot, warm and cold, separated by commas."`
	AssigneeID string       `query:"assigneeId" maxLength:"80" doc:"Only items that this person deals with."`
	Unassigned bool         `query:"unassigned" doc:"true for items that nobody deals with; not together with assigneeId."`
	Department string       `query:"department" maxLength:"200" doc:"Only items of this department, in letters of either case."`
	Tags       string       `query:"tags" maxLength:"500" doc:"One or more tags, separated by commas, all of which an item must have, letter for letter."`
	PortalID   string       `query:"portalId" maxLength:"80" doc:"Only items of this portal."`
	Due        string       `query:"due" enum:"overdue" doc:"overdue for items that should have been dealt with by now."`
	Text       string       `query:"q" maxLength:"200" doc:"Beginnings of words of the contact or the external id, all of which an item must have."`
	From       route.Moment `query:"from" doc:"Items left at or after this moment: an ISO date, midnight in UTC, or a date-time."`
	To         route.Moment `query:"to" doc:"Items left before this moment: an ISO date, midnight in UTC, or a date-time."`
	Order      string       `query:"order" enum:"desc,asc" default:"desc" doc:"desc for the newest first, asc for the oldest."`
}

func (q *Query) filter(now time.Time) (inbox.Filter, error) {
	f := inbox.Filter{Query: q.Text, From: q.From.Time, To: q.To.Time, Ascending: q.Order == "asc"}
	if q.Due != "" {
		f.OverdueAt = now
	}
	var err error
	if f.Kinds, err = route.Several("kind", q.Kind, inbox.Kinds()); err != nil {
		return f, err
	}
	if f.States, err = route.Several("state", q.State, inbox.States()); err != nil {
		return f, err
	}
	if f.Bands, err = route.Several("leadBand", q.LeadBand, inbox.Bands()); err != nil {
		return f, err
	}
	if f.Assignee, err = route.QueryID(id.ParsePerson, "assigneeId", q.AssigneeID); err != nil {
		return f, err
	}
	if f.Unassigned = q.Unassigned; f.Unassigned && !f.Assignee.IsZero() {
		return f, problem.Invalid("query.unassigned", "What somebody deals with is not unassigned: give unassigned or assigneeId.")
	}
	f.Department = strings.TrimSpace(q.Department)
	if f.Tags, err = tagsNamed(q.Tags); err != nil {
		return f, err
	}
	f.Portal, err = route.QueryID(id.ParsePortal, "portalId", q.PortalID)
	return f, err
}

// tagsNamed are the tags of a list that commas separate, each once.
func tagsNamed(list string) (all []string, err error) {
	if list == "" {
		return nil, nil
	}
	for tag := range strings.SplitSeq(list, ",") {
		tag = strings.TrimSpace(tag)
		if tag == "" || len([]rune(tag)) > longestTag {
			return nil, problem.Invalid("query.tags", "A tag has 1 to %d characters.", longestTag)
		}
		if !slices.Contains(all, tag) {
			all = append(all, tag)
		}
	}
	if len(all) > inbox.MaxTags {
		return nil, problem.Invalid("query.tags", "An item has at most %d tags.", inbox.MaxTags)
	}
	return all, nil
}

func (a *API) list(ctx context.Context, c *route.Call, q *Query) (route.Page[InboxItem], error) {
	return route.Listed(c, q.Paging, func(after id.InboxItem, limit int) ([]inbox.Item, error) {
		f, err := q.filter(c.Now())
		if err != nil {
			return nil, err
		}
		return inbox.List(ctx, a.Tenants, c.Org(), f, after, limit)
	}, func(i inbox.Item) id.InboxItem { return i.ID }, func(i inbox.Item) InboxItem { return show(c, i) })
}
