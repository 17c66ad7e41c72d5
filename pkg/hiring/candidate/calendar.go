package candidate

import (
	"context"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/appointment"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

var _ appointment.Interviews = Letters{}

// byCalendar is the reason of an interview that somebody of the organization took out of the schedule's calendar.
const byCalendar = "calendar"

// Standing implements appointment.Interviews.
func (Letters) Standing(ctx context.Context, tx *tenant.Tx, which id.Interview) (s appointment.Standing, found bool, err error) {
	h, err := FindHuman(ctx, tx, which)
	if errdefs.IsNotFound(err, HumanNoun) {
		return s, false, nil
	}
	if err != nil {
		return s, false, err
	}
	s = appointment.Standing{
		Schedule: h.Schedule, Holds: h.State == InterviewBooked, Over: h.State == InterviewCompleted || h.State == InterviewNoShow, Sequence: h.Sequence,
		Reference: h.ID.String(),
	}
	c, err := Find(ctx, tx, h.Candidate)
	if errdefs.IsAbsent(err, Noun) {
		s.Holds, s.Over = false, false // they are erased: their name goes
		return s, true, nil
	}
	if err == nil && c.State == Erased {
		s.Holds, s.Over = false, false
		return s, true, nil
	}
	if err != nil {
		return s, false, err
	}
	r, err := c.FindRole(ctx, tx)
	if err != nil {
		return s, false, err
	}
	if h.StartsAt != nil {
		s.StartsAt, s.EndsAt = *h.StartsAt, *h.EndsAt
	}
	if s.Title = r.Title; !c.Hidden(&r) {
		s.Name = c.Name // else it is written once they are decided on
	}
	for _, text := range []*string{h.Location, h.JoinURL} {
		if text != nil {
			s.Location = *text
		}
	}
	return s, true, nil
}

// CancelByCalendar implements appointment.Interviews.
func (Letters) CancelByCalendar(ctx context.Context, tx *tenant.Tx, which id.Interview, sequence int64, now time.Time) error {
	h, err := LockHuman(ctx, tx, which)
	if errdefs.IsNotFound(err, HumanNoun) || errdefs.IsAbsent(err, Noun) {
		return nil
	}
	if err != nil || h.Sequence != sequence || h.State != InterviewBooked || !h.StartsAt.After(now) {
		return err
	}
	_, err = CancelInterview(ctx, tx, which, byCalendar, activity.Actor{By: byCalendar, At: now})
	return err
}
