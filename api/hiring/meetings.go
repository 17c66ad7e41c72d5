package hiring

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerMeetings(s *route.Service) {
	list := route.Operation{
		ID: "listInterviews", Group: group, Method: http.MethodGet, Path: "/roles/{id}/interviews", Class: "read", Scope: scope.CandidatesRead,
		Summary: "The interviews with people of a role, newest first",
		Description: "Candidates choose one of the times that they are offered, on their page or by the link in their mail. Interviews with the avatar are listed by " +
			"GET /roles/{id}/screenings.",
	}
	route.List(s, list, a.listInterviews)

	offer := list
	offer.ID, offer.Method, offer.Path, offer.Class, offer.Scope = "offerInterview", http.MethodPost, "/candidates/{id}/interviews", "write", scope.CandidatesWrite
	offer.Status, offer.Idempotent, offer.Since = http.StatusCreated, true, contract.V20261001
	offer.Errors = []problem.Code{problem.Gone, problem.Conflict}
	offer.Summary = "Offer a candidate times for an interview with people"
	offer.Description = "Give slots, or scheduleId for the times that a schedule has free. Who has a mail address is mailed a link by which they choose, move or " +
		"cancel; others do so on their page. Reasons of 409 conflict: candidate_withdrawn, decision_already_made, role_not_open, too_many_interviews."
	route.Handle(s, offer, a.offerInterview)

	update := offer
	update.ID, update.Method, update.Path, update.Status, update.Idempotent = "updateInterview", http.MethodPatch, "/interviews/{id}", 0, false
	update.Errors = []problem.Code{problem.Gone, problem.Conflict, problem.VersionConflict}
	update.Summary = "Choose or move the time of an interview with people, cancel it, or note how it went"
	update.Description = "startsAt chooses one of the slots for the candidate, who is mailed an invitation to their calendar. completed and no_show are of what has begun. " +
		"Reasons of 409 conflict: slot_not_offered, slot_passed, slot_taken, interview_state, interview_begun, offer_expired, candidate_withdrawn, decision_already_made, role_not_open."
	route.Handle(s, update, a.updateInterview)
}

// HumanInterview is an interview of a candidate with people.
type HumanInterview struct {
	ID                   id.Interview         `json:"id" doc:"Id of the interview, with the prefix intv_."`
	RoleID               id.Role              `json:"roleId" doc:"The role."`
	CandidateID          id.Candidate         `json:"candidateId" doc:"Whose interview it is."`
	State                candidate.HumanState `json:"state" enum:"offered,booked,cancelled,completed,no_show" doc:"offered until a time is chosen."`
	Slots                []InterviewSlot      `json:"slots" doc:"The times that the candidate can choose."`
	StartsAt             *time.Time           `json:"startsAt" doc:"When it begins, in UTC; null before a time is chosen."`
	EndsAt               *time.Time           `json:"endsAt" doc:"When it ends, in UTC; null likewise."`
	Timezone             string               `json:"timezone" doc:"The zone in which the candidate reads the times, such as Europe/Berlin."`
	Mode                 string               `json:"mode" enum:"video,phone,onsite" doc:"How it is held."`
	InterviewerIDs       []id.Person          `json:"interviewerIds" doc:"Who interviews. Nobody is in two interviews at once."`
	JoinURL              *string              `json:"joinUrl" doc:"Where it is held online; null for nowhere, and once the candidate is erased."`
	Location             *string              `json:"location" doc:"Where that is; null likewise."`
	ScheduleID           *id.Schedule         `json:"scheduleId" nullable:"true" doc:"The schedule whose times they are; null where they were given."`
	CalendarConnectionID *id.Connection       `json:"calendarConnectionId" nullable:"true" doc:"The connection in whose calendar it is kept; null for none."`
	ExpiresAt            time.Time            `json:"expiresAt" doc:"Until when the candidate can choose a time first, in UTC."`
	ReasonCode           *string              `json:"reasonCode" doc:"Why it was cancelled, by a code of your own or one of candidate, withdrawn, decided and erased; null for not."`
	CreatedAt            time.Time            `json:"createdAt" doc:"When it was offered, in UTC."`
	UpdatedAt            time.Time            `json:"updatedAt" doc:"When something of it last changed, in UTC."`
}

// InterviewSlot is a time of an interview.
type InterviewSlot struct {
	StartsAt time.Time `json:"startsAt" doc:"When it begins, in UTC."`
	EndsAt   time.Time `json:"endsAt" doc:"When it ends, in UTC."`
}

// calendar is the connection in whose calendar its event is kept; nil for none.
func showInterview(h candidate.HumanInterview, calendar *id.Connection) HumanInterview {
	shown := HumanInterview{
		ID: h.ID, RoleID: h.Role, CandidateID: h.Candidate, State: h.State, Slots: []InterviewSlot{}, StartsAt: route.UTC(h.StartsAt), EndsAt: route.UTC(h.EndsAt),
		Timezone: h.Timezone, Mode: h.Mode, InterviewerIDs: h.Interviewers, JoinURL: h.JoinURL, Location: h.Location, ScheduleID: h.Schedule.OrNil(),
		CalendarConnectionID: calendar, ExpiresAt: h.ExpiresAt.UTC(), ReasonCode: h.ReasonCode, CreatedAt: h.CreatedAt.UTC(), UpdatedAt: h.UpdatedAt.UTC(),
	}
	if h.State == candidate.InterviewCancelled {
		shown.CalendarConnectionID = nil
	}
	for _, s := range h.Slots {
		shown.Slots = append(shown.Slots, InterviewSlot{s.StartsAt.UTC(), s.EndsAt.UTC()})
	}
	return shown
}

// InterviewsQuery filters and pages the interviews with people of a role.
type InterviewsQuery struct {
	RolePath
	route.Paging
	State       string `query:"state" maxLength:"100" doc:"One or more of offered, booked, cancelled, completed and no_show, separated by commas."`
	CandidateID string `query:"candidateId" maxLength:"80" doc:"Interviews of this candidate."`
}

func (a *API) listInterviews(ctx context.Context, c *route.Call, q *InterviewsQuery) (route.Page[HumanInterview], error) {
	r, err := a.findRole(ctx, c, &q.RolePath)
	if err != nil {
		return route.Page[HumanInterview]{}, err
	}
	var calendars map[uuid.UUID]id.Connection
	return route.Listed(c, q.Paging, func(after id.Interview, limit int) (found []candidate.HumanInterview, err error) {
		var f candidate.HumanFilter
		if f.States, err = route.Several("state", q.State, candidate.HumanStates()); err != nil {
			return nil, err
		}
		if f.Candidate, err = route.QueryID(id.ParseCandidate, "candidateId", q.CandidateID); err != nil {
			return nil, err
		}
		if found, err = candidate.ListHuman(ctx, a.Tenants, c.Org(), r.ID, f, after, limit); err != nil {
			return nil, err
		}
		of := make([]uuid.UUID, len(found))
		for n, h := range found {
			of[n] = uuid.UUID(h.ID)
		}
		calendars, err = slot.CalendarsOf(ctx, a.Tenants, c.Org(), of)
		return found, err
	}, func(h candidate.HumanInterview) id.Interview { return h.ID }, func(h candidate.HumanInterview) HumanInterview {
		if in, there := calendars[uuid.UUID(h.ID)]; there {
			return showInterview(h, &in)
		}
		return showInterview(h, nil)
	})
}

// shownInterview is an interview as a transaction left it.
func shownInterview(ctx context.Context, tx *tenant.Tx, h candidate.HumanInterview) (HumanInterview, error) {
	e, err := slot.FindEvent(ctx, tx, uuid.UUID(h.ID))
	if err != nil || e == nil {
		return showInterview(h, nil), err
	}
	return showInterview(h, &e.Connection), nil
}

// OfferInput is the request to offer an interview with people.
type OfferInput struct {
	CandidatePath
	Body InterviewOffer
}

// InterviewOffer is an interview with people that is offered.
type InterviewOffer struct {
	Mode           string               `json:"mode" enum:"video,phone,onsite" doc:"How it is held."`
	InterviewerIDs []string             `json:"interviewerIds" minItems:"1" maxItems:"10" doc:"Who of your people interviews."`
	Slots          []InterviewSlotInput `json:"slots,omitempty" maxItems:"50" doc:"The times that the candidate can choose; left out with scheduleId."`
	ScheduleID     string               `json:"scheduleId,omitempty" maxLength:"80" doc:"A schedule, whose first 50 free times between from and to are offered."`
	BookingKind    string               `json:"bookingKind,omitempty" maxLength:"40" doc:"The key of one of its kinds of appointments; the first unless given."`
	From           *time.Time           `json:"from,omitempty" nullable:"true" doc:"Times of the schedule from this moment on; from now on unless given."`
	To             *time.Time           `json:"to,omitempty" nullable:"true" doc:"Times of the schedule before this moment; two weeks after from unless given."`
	Timezone       string               `json:"timezone,omitempty" maxLength:"60" doc:"The zone in which the candidate reads the times; the schedule's, or UTC, unless given."`
	JoinURL        *string              `json:"joinUrl,omitempty" maxLength:"2048" nullable:"true" doc:"Where it is held online: an https address."`
	Location       *string              `json:"location,omitempty" maxLength:"500" nullable:"true" doc:"Where that is."`
	ExpiresInDays  int64                `json:"expiresInDays,omitempty" minimum:"1" maximum:"180" doc:"For how many days a time can be chosen; 14 unless given."`
}

// InterviewSlotInput is a time to be offered.
type InterviewSlotInput struct {
	StartsAt time.Time `json:"startsAt" doc:"When it begins."`
	EndsAt   time.Time `json:"endsAt" doc:"When it ends, within 12 hours."`
}

// What an offer has unless it says otherwise.
const (
	usualOfferDays = 14
	usualOfferSpan = 14 * 24 * time.Hour
	maxOfferSpan   = 62 * 24 * time.Hour
)

func (b *InterviewOffer) offer(now time.Time) (o candidate.Offer, err error) {
	o = candidate.Offer{Mode: b.Mode, Timezone: b.Timezone, JoinURL: b.JoinURL, Location: b.Location, ExpiresAt: now.AddDate(0, 0, usualOfferDays)}
	if b.ExpiresInDays > 0 {
		o.ExpiresAt = now.AddDate(0, 0, int(b.ExpiresInDays))
	}
	if o.Timezone == "" {
		o.Timezone = "UTC"
	}
	if b.JoinURL != nil {
		if u, err := url.Parse(*b.JoinURL); err != nil || u.Scheme != "https" || u.Host == "" {
			return o, problem.Invalid("body.joinUrl", "That is no https address.")
		}
	}
	for _, text := range b.InterviewerIDs {
		p, err := id.ParsePerson(text)
		if err != nil {
			return o, problem.Invalid("body.interviewerIds", "That is not the id of a person.")
		}
		o.Interviewers = append(o.Interviewers, p)
	}
	if (b.ScheduleID == "") == (len(b.Slots) == 0) {
		return o, problem.Invalid("body.slots", "Either slots or scheduleId says which times are offered.")
	}
	for _, s := range b.Slots {
		o.Slots = append(o.Slots, candidate.Span{StartsAt: s.StartsAt.UTC().Truncate(time.Microsecond), EndsAt: s.EndsAt.UTC().Truncate(time.Microsecond)})
	}
	return o, nil
}

// fromSchedule adds to an offer what a schedule has free.
func (a *API) fromSchedule(ctx context.Context, c *route.Call, b *InterviewOffer, o *candidate.Offer) error {
	which, err := id.ParseSchedule(b.ScheduleID)
	missing := problem.Missing("schedule").WithParam("body.scheduleId")
	if err != nil {
		return missing
	}
	s, err := slot.Get(ctx, a.Tenants, c.Org(), which)
	if errdefs.IsNotFound(err, slot.Noun) {
		return missing
	}
	if err != nil {
		return err
	}
	k, found := s.Plan.KindOf(b.BookingKind)
	if !found {
		return problem.Invalid("body.bookingKind", "The schedule has no such kind of appointment.")
	}
	from, to := c.Now(), time.Time{}
	if b.From != nil && b.From.After(from) {
		from = *b.From
	}
	if to = from.Add(usualOfferSpan); b.To != nil {
		to = *b.To
	}
	if !from.Before(to) || to.Sub(from) > maxOfferSpan {
		return problem.Invalid("body.to", "to must be later than from, by at most 62 days.")
	}
	a.Calendars.Freshen(ctx, c.Org(), which)
	free, err := s.Times(ctx, a.Tenants, c.Org(), k, c.Now(), from, to, uuid.UUID{}, candidate.MaxSlots)
	if err != nil {
		return err
	}
	if len(free) == 0 {
		return problem.Invalid("body.scheduleId", "The schedule has no time free between from and to.")
	}
	o.Schedule, o.ScheduleKind = s.ID, k.Key
	if b.Timezone == "" {
		o.Timezone = s.Plan.Timezone
	}
	if o.Location == nil {
		o.Location = k.Location
	}
	for _, one := range free {
		o.Slots = append(o.Slots, candidate.Span{StartsAt: one.StartsAt.UTC(), EndsAt: one.EndsAt.UTC()})
	}
	return nil
}

func (a *API) offerInterview(ctx context.Context, c *route.Call, in *OfferInput) (HumanInterview, error) {
	which, err := in.candidate()
	if err != nil {
		return HumanInterview{}, err
	}
	o, err := in.Body.offer(c.Now())
	if err != nil {
		return HumanInterview{}, err
	}
	if in.Body.ScheduleID != "" {
		if err := a.fromSchedule(ctx, c, &in.Body, &o); err != nil {
			return HumanInterview{}, err
		}
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (HumanInterview, error) {
		h, err := candidate.OfferInterview(ctx, tx, which, o, c.Actor())
		c.SetVersion(h.Edition)
		return showInterview(h, nil), ofInvite(err) // it has no time yet
	})
}

// InterviewUpdate is the request to change an interview with people.
type InterviewUpdate struct {
	ID string `path:"id" doc:"The interview's id, with or without intv_."`
	route.Edition
	Body InterviewChange
}

// InterviewChange is what an interview with people is to be.
type InterviewChange struct {
	StartsAt   *time.Time           `json:"startsAt,omitempty" nullable:"true" doc:"The time that is chosen: when one of the slots begins."`
	State      candidate.HumanState `json:"state,omitempty" enum:"cancelled,completed,no_show" doc:"What it is to be; not beside startsAt."`
	ReasonCode string               `json:"reasonCode,omitempty" maxLength:"60" pattern:"^[a-z0-9_]*$" doc:"Why it is cancelled, by a code of your own: small letters, digits and underscores; other unless given."`
}

func (a *API) updateInterview(ctx context.Context, c *route.Call, in *InterviewUpdate) (HumanInterview, error) {
	which, err := route.Lookup(id.ParseInterview, in.ID, string(candidate.HumanNoun))
	if err != nil {
		return HumanInterview{}, err
	}
	b := in.Body
	if (b.StartsAt == nil) == (b.State == "") {
		return HumanInterview{}, problem.Invalid("body.state", "Either startsAt or state says what changes.")
	}
	if b.StartsAt != nil {
		h, err := candidate.GetHuman(ctx, a.Tenants, c.Org(), which)
		if err != nil {
			return HumanInterview{}, ofInvite(err)
		}
		a.Calendars.Freshen(ctx, c.Org(), h.Schedule)
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (HumanInterview, error) {
		h, err := candidate.LockHuman(ctx, tx, which)
		if err != nil {
			return HumanInterview{}, ofInvite(err)
		}
		if err := in.Check(h.Edition, nil); err != nil {
			return HumanInterview{}, err
		}
		who := c.Actor()
		switch {
		case b.StartsAt != nil:
			h, err = candidate.BookInterview(ctx, tx, which, *b.StartsAt, who)
		case b.State == candidate.InterviewCancelled:
			h, err = candidate.CancelInterview(ctx, tx, which, orOther(b.ReasonCode), who)
		default:
			h, err = candidate.EndInterview(ctx, tx, which, b.State, who)
		}
		if err != nil {
			return HumanInterview{}, ofInvite(err)
		}
		c.SetVersion(h.Edition)
		return shownInterview(ctx, tx, h)
	})
}

func orOther(code string) string {
	if code == "" {
		return "other"
	}
	return code
}
