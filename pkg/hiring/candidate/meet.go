package candidate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Offer is an interview with people that a candidate is offered.
type Offer struct {
	Mode         string
	Interviewers []id.Person
	Timezone     string
	// Slots are the times; of a Schedule they are its own.
	Slots             []Span
	Schedule          id.Schedule
	ScheduleKind      string
	JoinURL, Location *string
	ExpiresAt         time.Time
}

// MaxSlots bounds the times of an offer, and longestInterview one of them.
const (
	MaxSlots         = 50
	longestInterview = 12 * time.Hour
)

// OfferInterview offers a candidate an interview with people. The error is errdefs.NotFound,
// errdefs.Gone, an errdefs.Invalid or a conflict.
func OfferInterview(ctx context.Context, tx *tenant.Tx, which id.Candidate, o Offer, who activity.Actor) (HumanInterview, error) {
	c, err := Lock(ctx, tx, which)
	if err != nil {
		return HumanInterview{}, err
	}
	if err := c.meets(ctx, tx); err != nil {
		return HumanInterview{}, err
	}
	if err := o.check(ctx, tx, who.At); err != nil {
		return HumanInterview{}, err
	}
	var n int
	if err := tx.QueryRow(ctx, `SELECT count(*) FROM human_interview WHERE org_id = $1 AND candidate_id = $2`, tx.Org, c.ID).Scan(&n); err != nil {
		return HumanInterview{}, err
	}
	if n >= maxHuman {
		return HumanInterview{}, c.Conflict(ReasonTooMany, "The candidate has as many interviews with people as they can have.")
	}
	h := HumanInterview{
		ID: id.NewInterview(), Role: c.Role, Candidate: c.ID, State: InterviewOffered, Slots: o.Slots, Timezone: o.Timezone, Mode: o.Mode,
		Interviewers: o.Interviewers, JoinURL: o.JoinURL, Location: o.Location, Schedule: o.Schedule, ScheduleKind: o.ScheduleKind,
		ExpiresAt: o.ExpiresAt, Edition: 1, CreatedBy: who.By, CreatedAt: who.At, UpdatedAt: who.At,
	}
	if err := h.insert(ctx, tx); err != nil {
		return h, err
	}
	if err := c.note(ctx, tx, "human_interview.offered", who.By, who.At, map[string]any{
		"interviewId": h.ID, "mode": h.Mode, "slots": len(h.Slots), "interviewerIds": h.Interviewers,
	}); err != nil {
		return h, err
	}
	c.Tell(tx, event.CandidateInterviewOffered, who.At, map[string]any{
		"interviewId": h.ID, "slotCount": len(h.Slots), "mode": h.Mode, "timezone": h.Timezone, "offeredBy": who.By, "offeredAt": who.At.UTC(),
		"expiresAt": h.ExpiresAt.UTC(),
	})
	who.Log(tx, "interview.offered", "candidate", c.ID, map[string]any{"interviewId": h.ID})
	return h, h.invite(ctx, tx, who.By, who.At)
}

// note adds to the record of a candidate who is locked, and saves them.
func (c *Candidate) note(ctx context.Context, tx *tenant.Tx, action, by string, at time.Time, data map[string]any) error {
	if err := c.Note(ctx, tx, record.Fact{At: at, Actor: by, Action: action, Data: data}); err != nil {
		return err
	}
	return c.Save(ctx, tx, at)
}

// meets says whether people may still interview a candidate. The error is a conflict.
func (c *Candidate) meets(ctx context.Context, tx *tenant.Tx) error {
	switch {
	case c.State == Withdrawn:
		return c.Conflict(ReasonWithdrawn, "The candidate has withdrawn.")
	case c.decided():
		return c.Conflict(ReasonDecided, "Somebody has decided already.")
	}
	r, err := c.FindRole(ctx, tx)
	if err == nil && r.State == role.Closed {
		err = c.Conflict(ReasonRoleClosed, "The role is closed.")
	}
	return err
}

func (o *Offer) check(ctx context.Context, tx *tenant.Tx, now time.Time) error {
	if _, err := (&slot.Plan{Timezone: o.Timezone}).Zone(); err != nil {
		return err
	}
	if !o.ExpiresAt.After(now) {
		return errdefs.InvalidField("expiresAt", "lies ahead")
	}
	for i, s := range o.Slots {
		field := fmt.Sprintf("slots[%d]", i)
		switch {
		case !s.StartsAt.After(now) || s.StartsAt.After(now.AddDate(1, 0, 0)):
			return errdefs.InvalidField(field+".startsAt", "lies ahead, by a year at most")
		case !s.EndsAt.After(s.StartsAt) || s.EndsAt.Sub(s.StartsAt) > longestInterview:
			return errdefs.InvalidField(field+".endsAt", "comes after its beginning, by 12 hours at most")
		case slices.ContainsFunc(o.Slots[:i], func(other Span) bool { return other.StartsAt.Equal(s.StartsAt) }):
			return errdefs.InvalidField(field+".startsAt", "is there twice")
		}
	}
	if len(o.Slots) == 0 {
		return errdefs.InvalidField("slots", "has at least one time that is free")
	}
	for i, who := range o.Interviewers {
		p, err := person.Find(ctx, tx, who)
		if errdefs.IsAbsent(err, person.Noun) || err == nil && (p.State == person.Erased || p.State == person.Disabled) || slices.Contains(o.Interviewers[:i], who) {
			return errdefs.InvalidField(fmt.Sprintf("interviewerIds[%d]", i), "is nobody who can interview, or is there twice")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// BookInterview chooses a time of an interview, or another one than before. Who
// chooses what they have changes nothing. The error is errdefs.NotFound, errdefs.Gone or a conflict.
func BookInterview(ctx context.Context, tx *tenant.Tx, which id.Interview, at time.Time, who activity.Actor) (HumanInterview, error) {
	by, now := who.By, who.At
	h, c, err := lockHuman(ctx, tx, which)
	switch {
	case err != nil:
		return h, err
	case h.State == InterviewBooked && h.StartsAt.Equal(at):
		return h, nil
	}
	if err := h.choosable(now); err != nil {
		return h, err
	}
	if err := c.meets(ctx, tx); err != nil {
		return h, err
	}
	i := slices.IndexFunc(h.Slots, func(s Span) bool { return s.StartsAt.Equal(at) })
	if i < 0 || !at.After(now) {
		return h, h.conflict(slot.ReasonNotOffered, "That time is not among those that are offered.")
	}
	if err := h.reserve(ctx, tx, h.Slots[i], now); err != nil {
		return h, err
	}
	moved := h.State == InterviewBooked
	h.State, h.StartsAt, h.EndsAt, h.Sequence = InterviewBooked, &h.Slots[i].StartsAt, &h.Slots[i].EndsAt, h.Sequence+1
	if err := h.save(ctx, tx, now); err != nil {
		return h, err
	}
	action := "human_interview.booked"
	if moved {
		action = "human_interview.moved"
	}
	if err := c.note(ctx, tx, action, by, now, map[string]any{"interviewId": h.ID, "startsAt": h.StartsAt.UTC(), "endsAt": h.EndsAt.UTC()}); err != nil {
		return h, err
	}
	c.Tell(tx, event.CandidateInterviewBooked, now, map[string]any{
		"interviewId": h.ID, "startsAt": h.StartsAt.UTC(), "endsAt": h.EndsAt.UTC(), "timezone": h.Timezone, "mode": h.Mode,
		"interviewerIds": h.Interviewers, "bookedAt": now.UTC(),
	})
	who.Log(tx, "interview.booked", "candidate", c.ID, map[string]any{"interviewId": h.ID})
	return h, h.invite(ctx, tx, by, now)
}

// choosable says whether a time can be chosen now. The error is a conflict.
func (h *HumanInterview) choosable(now time.Time) error {
	switch {
	case !h.Open():
		return h.conflict(ReasonInterviewState, "The interview is "+string(h.State)+".")
	case h.State == InterviewOffered && !now.Before(h.ExpiresAt):
		return h.conflict(ReasonInterviewExpired, "The offer has expired.")
	case h.State == InterviewBooked && !h.StartsAt.After(now):
		return h.conflict(ReasonInterviewBegun, "The interview has begun.")
	}
	return nil
}

// reserve takes a time of the schedule and of the interviewers.
func (h *HumanInterview) reserve(ctx context.Context, tx *tenant.Tx, s Span, now time.Time) error {
	if !h.Schedule.IsZero() {
		_, _, _, err := slot.Reserve(ctx, tx, h.Schedule, h.ScheduleKind, s.StartsAt, uuid.UUID(h.ID), now)
		if refused, ok := errors.AsType[*errdefs.Conflict](err); ok {
			return h.conflict(refused.Reason, refused.Message)
		}
		if errdefs.IsNotFound(err, slot.Noun) {
			return h.conflict(slot.ReasonNotOffered, "The times are offered no more.")
		}
		if err != nil {
			return err
		}
	}
	return slot.ReserveOf(ctx, tx, h.Interviewers, s.StartsAt, s.EndsAt, uuid.UUID(h.ID), h.conflict(slot.ReasonTaken, "That time has just been taken."))
}

// invite has the candidate mailed how an interview is now.
func (h *HumanInterview) invite(ctx context.Context, tx *tenant.Tx, by string, at time.Time) error {
	_, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.CalendarSend, ResourceKind: "candidate", ResourceID: h.Candidate.String(), Scope: scope.CandidatesRead,
		CreatedBy: by, CreatedAt: at,
	}, inbox.Invitation{Interview: h.ID, Sequence: h.Sequence})
	return err
}

// CancelInterview cancels an interview that is offered or booked, for a reason by a code. The error
// is errdefs.NotFound, errdefs.Gone or a conflict.
func CancelInterview(ctx context.Context, tx *tenant.Tx, which id.Interview, reason string, who activity.Actor) (HumanInterview, error) {
	now := who.At
	h, c, err := lockHuman(ctx, tx, which)
	switch {
	case err != nil || h.State == InterviewCancelled:
		return h, err
	case !h.Open():
		return h, h.conflict(ReasonInterviewState, "The interview is "+string(h.State)+".")
	case h.StartsAt != nil && !h.StartsAt.After(now):
		return h, h.conflict(ReasonInterviewBegun, "The interview has begun.")
	}
	if err := c.cancels(ctx, tx, &h, reason, who.By, now); err != nil {
		return h, err
	}
	who.Log(tx, "interview.cancelled", "candidate", c.ID, map[string]any{"interviewId": h.ID, "reasonCode": reason})
	if err := c.Save(ctx, tx, now); err != nil {
		return h, err
	}
	return h, h.invite(ctx, tx, who.By, now)
}

// cancels ends an interview of a candidate who is locked, and mails nothing; Save comes after it.
func (c *Candidate) cancels(ctx context.Context, tx *tenant.Tx, h *HumanInterview, reason, by string, now time.Time) error {
	h.State, h.Sequence, h.ReasonCode = InterviewCancelled, h.Sequence+1, &reason
	if err := slot.Free(ctx, tx, uuid.UUID(h.ID), now); err != nil {
		return err
	}
	if err := h.save(ctx, tx, now); err != nil {
		return err
	}
	if err := c.Note(ctx, tx, record.Fact{At: now, Actor: by, Action: "human_interview.cancelled", Data: map[string]any{"interviewId": h.ID, "reasonCode": reason}}); err != nil {
		return err
	}
	told := map[string]any{"interviewId": h.ID, "cancelledBy": by, "reasonCode": reason, "cancelledAt": now.UTC()}
	if h.StartsAt != nil {
		told["startsAt"] = h.StartsAt.UTC()
	}
	c.Tell(tx, event.CandidateInterviewCancelled, now, told)
	return nil
}

// The reasons for which interviews are cancelled with something else.
const (
	byWithdrawal = "withdrawn"
	byDecision   = "decided"
	byErasure    = "erased"
)

// cancelAll cancels what is ahead of a candidate who is locked, who is mailed that or not; Save comes
// after it.
func (c *Candidate) cancelAll(ctx context.Context, tx *tenant.Tx, reason, by string, mailed bool, now time.Time) error {
	all, err := tenant.AllIn(ctx, tx, scanHuman, selectHumanOf, tx.Org, c.ID, maxHuman)
	if err != nil {
		return err
	}
	for _, h := range all {
		if !h.Open() || h.StartsAt != nil && !h.StartsAt.After(now) {
			continue
		}
		if err := c.cancels(ctx, tx, &h, reason, by, now); err != nil {
			return err
		}
		if !mailed {
			continue
		}
		if err := h.invite(ctx, tx, by, now); err != nil {
			return err
		}
	}
	return nil
}

// EndInterview notes that an interview was held, or that the candidate did not come. The error is
// errdefs.NotFound, errdefs.Gone or a conflict.
func EndInterview(ctx context.Context, tx *tenant.Tx, which id.Interview, s HumanState, who activity.Actor) (HumanInterview, error) {
	h, c, err := lockHuman(ctx, tx, which)
	if err != nil || h.State == s {
		return h, err
	}
	if h.State != InterviewBooked || h.StartsAt.After(who.At) {
		return h, h.conflict(ReasonInterviewState, "Only an interview that was booked and has begun is "+string(s)+".")
	}
	h.State = s
	if err := h.save(ctx, tx, who.At); err != nil {
		return h, err
	}
	who.Log(tx, "interview.ended", "candidate", c.ID, map[string]any{"interviewId": h.ID, "state": s})
	return h, c.note(ctx, tx, "human_interview."+string(s), who.By, who.At, map[string]any{"interviewId": h.ID})
}

// blankHuman empties what interviews hold of an erased candidate. It rides
// human_interview_by_candidate.
func blankHuman(ctx context.Context, tx *tenant.Tx, c id.Candidate, at time.Time) error {
	all, err := tenant.AllIn(ctx, tx, scanHuman, selectHumanOf, tx.Org, c, maxHuman)
	if err != nil {
		return err
	}
	for _, h := range all {
		h.JoinURL, h.Location = nil, nil
		if err := h.save(ctx, tx, at); err != nil {
			return err
		}
		if err := slot.Changed(ctx, tx, uuid.UUID(h.ID), at); err != nil { // their name is taken out of the calendar
			return err
		}
	}
	return nil
}

var _ mailer.Interviews = Letters{}

// Appointment implements mailer.Interviews.
func (Letters) Appointment(ctx context.Context, tx *tenant.Tx, which id.Interview) (a mailer.Appointment, found bool, err error) {
	h, err := FindHuman(ctx, tx, which)
	if errdefs.IsNotFound(err, HumanNoun) {
		return a, false, nil
	}
	if err != nil {
		return a, false, err
	}
	c, err := Find(ctx, tx, h.Candidate)
	if errdefs.IsAbsent(err, Noun) || err == nil && (c.Email == nil || h.State == InterviewCompleted || h.State == InterviewNoShow) {
		return a, false, nil
	}
	if err != nil {
		return a, false, err
	}
	r, err := c.FindRole(ctx, tx)
	if err != nil {
		return a, false, err
	}
	a = mailer.Appointment{
		To: *c.Email, Name: c.Name, Language: c.Language, Title: r.Title, Portal: r.Portal, From: r.Title, State: string(h.State), UID: h.ID.String(),
		Sequence: h.Sequence, Timezone: h.Timezone,
	}
	switch {
	case h.State == InterviewCancelled && h.StartsAt == nil:
		return a, false, nil // of what nobody chose there is nothing to take out of a calendar
	case h.State == InterviewBooked:
		a.State = "confirmed"
	}
	if h.StartsAt != nil {
		a.StartsAt, a.EndsAt = *h.StartsAt, *h.EndsAt
	}
	for _, text := range []*string{h.Location, h.JoinURL} {
		if text != nil {
			a.Location = *text
		}
	}
	return a, true, nil
}
