package inbox

import (
	"context"
	"errors"
	"net/mail"
	"net/url"
	"strings"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/tenant"
)

// ItemInput is the request for a new lead.
type ItemInput struct{ Body InboxLeadInput }

// InboxLeadInput is a lead from elsewhere, or a booking.
type InboxLeadInput struct {
	Kind       string             `json:"kind,omitempty" enum:"lead,booking" doc:"lead unless given."`
	Booking    *InboxBookingInput `json:"booking,omitempty" doc:"The time of a booking, which it needs; of no lead."`
	Contact    InboxContactInput  `json:"contact" doc:"How to reach the visitor: at least an address or a telephone number."`
	PortalID   string             `json:"portalId,omitempty" maxLength:"80" doc:"The portal that it belongs to; none unless given."`
	Language   string             `json:"language,omitempty" maxLength:"40" doc:"The visitor's language, as a code or a name; en unless given."`
	LeadBand   *inbox.Band        `json:"leadBand,omitempty" enum:"hot,warm,cold" nullable:"true" doc:"How promising it is; by what is known unless given. Its name in requests is this one on every contract."`
	Need       *string            `json:"need,omitempty" maxLength:"1000" nullable:"true" doc:"What the visitor needs."`
	Budget     *string            `json:"budget,omitempty" maxLength:"1000" nullable:"true" doc:"What they can spend."`
	Timeline   *string            `json:"timeline,omitempty" maxLength:"1000" nullable:"true" doc:"By when."`
	Answers    []InboxAnswerInput `json:"answers,omitempty" maxItems:"20" doc:"What else they said."`
	Urgency    string             `json:"urgency,omitempty" enum:"low,normal,high" doc:"normal unless given."`
	Department *string            `json:"department,omitempty" maxLength:"200" nullable:"true" doc:"The department that is to deal with it."`
	AssigneeID string             `json:"assigneeId,omitempty" maxLength:"80" doc:"Who of your people is to deal with it."`
	Tags       []string           `json:"tags,omitempty" maxItems:"20" doc:"Your own words for it, of at most 60 characters each."`
	Source     InboxSourceInput   `json:"source,omitzero" doc:"Where the visitor came from."`
	ExternalID *string            `json:"externalId,omitempty" maxLength:"200" nullable:"true" doc:"The lead's id in your own system."`
	Metadata   map[string]string  `json:"metadata,omitempty" doc:"At most 20 keys of at most 40 characters, values of at most 500."`
}

// InboxBookingInput is a time that a visitor wants.
type InboxBookingInput struct {
	ScheduleID  string    `json:"scheduleId" minLength:"1" maxLength:"80" doc:"The schedule whose time it is."`
	BookingKind string    `json:"bookingKind,omitempty" maxLength:"40" doc:"The key of one of its kinds of appointments; the first unless given."`
	StartsAt    time.Time `json:"startsAt" doc:"When it begins: one of the times that the schedule offers."`
}

// wanted is the time of the body's booking; nil of a lead.
func (b *InboxLeadInput) wanted() (*inbox.Wanted, error) {
	switch {
	case b.Kind != string(inbox.Book) && b.Booking != nil:
		return nil, problem.Invalid("body.booking", "Only what is of the kind booking has a time.")
	case b.Kind != string(inbox.Book):
		return nil, nil
	case b.Booking == nil:
		return nil, problem.Invalid("body.booking", "A booking has a time.")
	case b.LeadBand != nil:
		return nil, problem.Invalid("body.leadBand", "A booking has no band.")
	}
	which, err := id.ParseSchedule(b.Booking.ScheduleID)
	if err != nil {
		return nil, noSchedule()
	}
	return &inbox.Wanted{Schedule: which, Kind: b.Booking.BookingKind, StartsAt: b.Booking.StartsAt}, nil
}

func noSchedule() error {
	return problem.Missing("schedule").WithParam("body.booking.scheduleId")
}

// ofBooking says of which field of a booking an error is.
func ofBooking(err error) error {
	if errdefs.IsNotFound(err, slot.Noun) {
		return noSchedule()
	}
	if wrong, ok := errors.AsType[*errdefs.Invalid](err); ok && wrong.Field == "bookingKind" {
		return problem.Invalid("body.booking.bookingKind", "The schedule has no such kind of appointment.")
	}
	if refused, ok := errors.AsType[*errdefs.Conflict](err); ok && refused.Noun == slot.Noun {
		return problem.Conflicting(refused.Reason, "%s", refused.Message).WithParam("body.booking.startsAt")
	}
	return err
}

// InboxContactInput is how a visitor is reached.
type InboxContactInput struct {
	Name             *string            `json:"name,omitempty" minLength:"1" maxLength:"200" nullable:"true" doc:"What they are called."`
	Email            *string            `json:"email,omitempty" minLength:"3" maxLength:"254" nullable:"true" doc:"A mail address."`
	Phone            *string            `json:"phone,omitempty" minLength:"3" maxLength:"40" nullable:"true" doc:"A telephone number."`
	Company          *string            `json:"company,omitempty" minLength:"1" maxLength:"200" nullable:"true" doc:"Where they work."`
	JobTitle         *string            `json:"jobTitle,omitempty" minLength:"1" maxLength:"200" nullable:"true" doc:"What they do there."`
	PreferredChannel *string            `json:"preferredChannel,omitempty" enum:"email,phone" nullable:"true" doc:"How they want to be reached."`
	Consent          *InboxConsentInput `json:"consent,omitempty" doc:"Whether they agreed to be contacted; left out where nobody asked."`
}

// InboxConsentInput is what a visitor agreed to.
type InboxConsentInput struct {
	Given bool       `json:"given" doc:"Whether they agreed."`
	At    *time.Time `json:"at,omitempty" nullable:"true" doc:"When."`
	Text  *string    `json:"text,omitempty" maxLength:"2000" nullable:"true" doc:"The words that they were told."`
}

// InboxAnswerInput is what a visitor answered.
type InboxAnswerInput struct {
	Question string `json:"question" minLength:"1" maxLength:"1000" doc:"What was asked."`
	Answer   string `json:"answer" minLength:"1" maxLength:"1000" doc:"What the visitor said to it."`
}

// InboxSourceInput is where a visitor came from.
type InboxSourceInput struct {
	URL      *string             `json:"url,omitempty" maxLength:"2048" nullable:"true" doc:"The page that they were on."`
	Referrer *string             `json:"referrer,omitempty" maxLength:"2048" nullable:"true" doc:"The page that led them there."`
	Campaign *InboxCampaignInput `json:"campaign,omitempty" doc:"The campaign that they followed."`
}

// InboxCampaignInput is what a visitor followed.
type InboxCampaignInput struct {
	Source *string `json:"source,omitempty" maxLength:"200" nullable:"true" doc:"Where it ran, such as newsletter."`
	Medium *string `json:"medium,omitempty" maxLength:"200" nullable:"true" doc:"What it ran on, such as email."`
	Name   *string `json:"name,omitempty" maxLength:"200" nullable:"true" doc:"What it is called."`
	Term   *string `json:"term,omitempty" maxLength:"200" nullable:"true" doc:"The term that was searched for."`
}

func (b *InboxContactInput) contact(now time.Time) (*inbox.Contact, error) {
	if b.Email == nil && b.Phone == nil {
		return nil, problem.Invalid("body.contact", "A lead has an address or a telephone number to be reached by.")
	}
	if b.Email != nil {
		if parsed, err := mail.ParseAddress(*b.Email); err != nil || parsed.Address != *b.Email {
			return nil, problem.Invalid("body.contact.email", "That is no mail address.")
		}
	}
	if b.Phone != nil && !inbox.IsPhone(*b.Phone) {
		return nil, problem.Invalid("body.contact.phone", "That is no telephone number.")
	}
	made := &inbox.Contact{Name: b.Name, Email: b.Email, Phone: b.Phone, Company: b.Company, JobTitle: b.JobTitle, PreferredChannel: b.PreferredChannel}
	if b.Consent != nil {
		if at := b.Consent.At; at != nil && (at.After(now.Add(time.Hour)) || at.UTC().Year() < 1970) {
			return nil, problem.Invalid("body.contact.consent.at", "Nobody agreed at that time.")
		}
		made.Consent = &inbox.Consent{Given: b.Consent.Given, At: route.UTC(b.Consent.At), Text: b.Consent.Text}
	}
	return made, nil
}

func (b *InboxSourceInput) source() (inbox.Source, error) {
	for _, f := range []struct {
		name string
		text *string
	}{{"url", b.URL}, {"referrer", b.Referrer}} {
		if f.text == nil {
			continue
		}
		if u, err := url.Parse(*f.text); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
			return inbox.Source{}, problem.Invalid("body.source."+f.name, "That is no address of a page.")
		}
	}
	made := inbox.Source{URL: b.URL, Referrer: b.Referrer}
	if b.Campaign != nil {
		made.Campaign = new(inbox.Campaign(*b.Campaign))
	}
	return made, nil
}

// longestTag is in characters.
const longestTag = 60

// tags are words of the body, each once.
func tags(sent []string) ([]string, error) {
	made := []string{}
	seen := map[string]bool{}
	for _, tag := range sent {
		tag = strings.TrimSpace(tag)
		if tag == "" || len([]rune(tag)) > longestTag {
			return nil, problem.Invalid("body.tags", "A tag has 1 to %d characters.", longestTag)
		}
		if !seen[tag] {
			seen[tag] = true
			made = append(made, tag)
		}
	}
	return made, nil
}

func (b *InboxLeadInput) item(now time.Time) (i inbox.Item, err error) {
	i = inbox.Item{
		Words: inbox.Words{Need: b.Need, Budget: b.Budget, Timeline: b.Timeline}, Band: b.LeadBand, Urgency: b.Urgency, Department: b.Department,
		ExternalID: b.ExternalID, Metadata: b.Metadata, Language: "en",
	}
	if i.Urgency == "" {
		i.Urgency = inbox.NormalUrgency
	}
	for _, answer := range b.Answers {
		i.Words.Answers = append(i.Words.Answers, inbox.Answer(answer))
	}
	if i.Contact, err = b.Contact.contact(now); err != nil {
		return i, err
	}
	if i.Source, err = b.Source.source(); err != nil {
		return i, err
	}
	if i.Tags, err = tags(b.Tags); err != nil {
		return i, err
	}
	if b.Language != "" {
		l, ok := language.Lookup(b.Language)
		if !ok {
			return i, problem.Invalid("body.language", "There is no language %q; GET /languages lists them.", b.Language)
		}
		i.Language = l.Code
	}
	if b.PortalID != "" {
		if i.Portal, err = id.ParsePortal(b.PortalID); err != nil {
			return i, noPortal()
		}
	}
	if i.Assignee, err = assignee(b.AssigneeID); err != nil {
		return i, err
	}
	return i, route.CheckMetadata(b.Metadata)
}

func noPortal() error { return problem.Missing("portal").WithParam("body.portalId") }

func nobody() error { return problem.Missing("person").WithParam("body.assigneeId") }

// assignee is a person of the body; empty for nobody.
func assignee(text string) (id.Person, error) {
	if text == "" {
		return id.Person{}, nil
	}
	p, err := id.ParsePerson(text)
	if err != nil {
		return p, nobody()
	}
	return p, nil
}

// known refuses a person whom the organization does not have.
func known(ctx context.Context, tx *tenant.Tx, p id.Person) error {
	if p.IsZero() {
		return nil
	}
	_, err := person.Find(ctx, tx, p)
	if errdefs.IsAbsent(err, person.Noun) {
		return nobody()
	}
	return err
}

func (a *API) create(ctx context.Context, c *route.Call, in *ItemInput) (InboxItem, error) {
	wanted, err := in.Body.item(c.Now())
	if err != nil {
		return InboxItem{}, err
	}
	moment, err := in.Body.wanted()
	if err != nil {
		return InboxItem{}, err
	}
	if moment != nil {
		a.Calendars.Freshen(ctx, c.Org(), moment.Schedule)
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (InboxItem, error) {
		if !wanted.Portal.IsZero() {
			if _, err := portal.Find(ctx, tx, wanted.Portal); errdefs.IsAbsent(err, portal.Noun) {
				return InboxItem{}, noPortal()
			} else if err != nil {
				return InboxItem{}, err
			}
		}
		if err := known(ctx, tx, wanted.Assignee); err != nil {
			return InboxItem{}, err
		}
		made, err := inbox.Enter(ctx, tx, wanted, moment, c.Actor())
		if err != nil {
			return InboxItem{}, ofBooking(err)
		}
		return shown(ctx, c, tx, made.ID)
	})
}

// ItemUpdate is the request for a change of an item.
type ItemUpdate struct {
	ItemPath
	route.Edition
	Body InboxItemChange
}

// InboxItemChange is what an item is to be.
type InboxItemChange struct {
	State        route.Opt[inbox.State]        `json:"state,omitzero" enum:"open,waiting,snoozed,won,lost,done,spam" doc:"How far it is dealt with."`
	AssigneeID   route.OptNull[string]         `json:"assigneeId,omitzero" maxLength:"80" doc:"Who of your people deals with it; null for nobody."`
	Urgency      route.Opt[string]             `json:"urgency,omitzero" enum:"low,normal,high" doc:"How soon it is to be dealt with."`
	Department   route.OptNull[string]         `json:"department,omitzero" maxLength:"200" doc:"The department that is to deal with it; null for none."`
	Tags         route.Opt[[]string]           `json:"tags,omitzero" maxItems:"20" doc:"Your own words for it, in place of those before."`
	LeadBand     route.Opt[inbox.Band]         `json:"leadBand,omitzero" enum:"hot,warm,cold" doc:"How promising the lead is; what the visitor says later does not change it then. Its name in requests is this one on every contract."`
	Booking      route.Opt[InboxBookingChange] `json:"booking,omitzero" doc:"What a booking is to be."`
	SnoozedUntil route.OptNull[time.Time]      `json:"snoozedUntil,omitzero" doc:"Until when it is put off, within a year; null for until somebody opens it. An item that is new, open or waiting becomes snoozed by a time."`
	SLADueAt     route.OptNull[time.Time]      `json:"slaDueAt,omitzero" doc:"When it is to be dealt with, within a year; null for no moment."`
	ExternalID   route.OptNull[string]         `json:"externalId,omitzero" maxLength:"200" doc:"The item's id in your own system; null for none."`
	Metadata     route.Opt[map[string]string]  `json:"metadata,omitzero" doc:"Your own notes in place of those before: at most 20 keys of at most 40 characters, values of at most 500."`
}

// InboxBookingChange is what a booking is to be.
type InboxBookingChange struct {
	StartsAt *time.Time         `json:"startsAt,omitempty" nullable:"true" doc:"When it is to begin: one of the times that its schedule offers."`
	State    inbox.BookingState `json:"state,omitempty" enum:"confirmed,cancelled,no_show" doc:"What it is to be. no_show once it has begun."`
}

// rebook changes the booking of an item that is locked.
func (b *InboxItemChange) rebook(ctx context.Context, tx *tenant.Tx, i inbox.Item, c *route.Call) (inbox.Item, error) {
	if !b.Booking.Set {
		return i, nil
	}
	wanted := inbox.BookingChange{State: b.Booking.Value.State}
	if at := b.Booking.Value.StartsAt; at != nil {
		wanted.StartsAt = *at
	}
	i, err := inbox.ChangeBooking(ctx, tx, i, wanted, c.Actor())
	return i, ofBooking(err)
}

// apply is an item with the changes.
func (b *InboxItemChange) apply(i inbox.Item) (inbox.Item, error) {
	var err error
	if b.State.Set {
		i.State = b.State.Value
	}
	if b.AssigneeID.Set {
		i.Assignee = id.Person{}
		if b.AssigneeID.Value != nil {
			if i.Assignee, err = assignee(*b.AssigneeID.Value); err != nil {
				return i, err
			}
		}
	}
	if b.Urgency.Set {
		i.Urgency = b.Urgency.Value
	}
	if b.Department.Set {
		i.Department = b.Department.Value
	}
	if b.Tags.Set {
		if i.Tags, err = tags(b.Tags.Value); err != nil {
			return i, err
		}
	}
	if b.LeadBand.Set {
		i.Band = &b.LeadBand.Value
	}
	if b.SnoozedUntil.Set {
		i.SnoozedUntil = nil
		if b.SnoozedUntil.Value != nil {
			i.SnoozedUntil = new(b.SnoozedUntil.Value.UTC().Truncate(time.Microsecond))
		}
	}
	if b.SLADueAt.Set {
		i.SLADueAt = nil
		if b.SLADueAt.Value != nil {
			i.SLADueAt = new(b.SLADueAt.Value.UTC().Truncate(time.Microsecond))
		}
	}
	if b.ExternalID.Set {
		i.ExternalID = b.ExternalID.Value
	}
	if b.Metadata.Set {
		i.Metadata = b.Metadata.Value
		err = route.CheckMetadata(i.Metadata)
	}
	return i, err
}

// freshen reads the calendar of a booking that is to be moved.
func (a *API) freshen(ctx context.Context, c *route.Call, which id.InboxItem, b *InboxItemChange) error {
	if !b.Booking.Set || b.Booking.Value.StartsAt == nil {
		return nil
	}
	i, err := inbox.Get(ctx, a.Tenants, c.Org(), which)
	if err == nil && i.Booking != nil {
		a.Calendars.Freshen(ctx, c.Org(), i.Booking.Schedule)
	}
	return err
}

func (a *API) update(ctx context.Context, c *route.Call, in *ItemUpdate) (InboxItem, error) {
	which, err := in.item()
	if err != nil {
		return InboxItem{}, err
	}
	if err := a.freshen(ctx, c, which, &in.Body); err != nil {
		return InboxItem{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (InboxItem, error) {
		before, err := inbox.Lock(ctx, tx, which)
		if err != nil {
			return InboxItem{}, err
		}
		if err := in.Check(before.Edition, nil); err != nil {
			return InboxItem{}, err
		}
		if before, err = in.Body.rebook(ctx, tx, before, c); err != nil {
			return InboxItem{}, err
		}
		after, err := in.Body.apply(before)
		if err != nil {
			return InboxItem{}, err
		}
		if after.Assignee != before.Assignee {
			if err := known(ctx, tx, after.Assignee); err != nil {
				return InboxItem{}, err
			}
		}
		if _, err := inbox.Change(ctx, tx, before, after, c.Actor()); err != nil {
			return InboxItem{}, err
		}
		return shown(ctx, c, tx, which)
	})
}

// NoteInput is the request to write a note.
type NoteInput struct {
	ItemPath
	Body InboxNoteInput
}

// InboxNoteInput is a note.
type InboxNoteInput struct {
	Text string `json:"text" minLength:"1" maxLength:"4000" doc:"What your team is to know: nobody else reads it, but who reads the ticket of the item in a connected helpdesk."`
}
