package candidate

import (
	"context"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/hiring/law"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// Term is how long a link is good. None ends before an interview could be held by it: the days
// between the notice and the interview count as well.
type Term struct {
	// Days are as many as somebody wants; zero for the usual ones, or more where the notice asks
	// for more.
	Days int64
	// Stretches says that there may be more than Days, where nobody is there to be asked.
	Stretches bool
}

const (
	usualDays = 30
	aDay      = 24 * time.Hour
	// leftDays are how many are left for the interview after those of the notice, and fewest how
	// many at least where somebody wants another number.
	leftDays, fewest = 7, 1
)

// end is when a link ends that is made now, where an interview can be held from a moment on. The
// error is an errdefs.Invalid of expiresInDays.
func (t Term) end(now, earliest time.Time) (time.Time, error) {
	days := t.Days
	if days == 0 {
		days = usualDays
	}
	end := now.Add(time.Duration(days) * aDay)
	if !earliest.After(now) {
		return end, nil
	}
	if t.Days == 0 || t.Stretches {
		return later(end, earliest.Add(leftDays*aDay)), nil
	}
	if end.Before(earliest.Add(fewest * aDay)) {
		needed := int64((earliest.Sub(now)+aDay-1)/aDay) + fewest
		return end, errdefs.InvalidField("expiresInDays", "ends before the interview could be held, which is from %s on for who is told today: give %d or more",
			earliest.UTC().Format(time.DateOnly), needed)
	}
	return end, nil
}

// earliest is from when somebody can be interviewed who is given a role's notice now, as the role
// and the organization's settings are. The error is a conflict of the role where its deadline
// comes before that.
func earliest(ctx context.Context, tx *tenant.Tx, r *role.Role, now time.Time) (time.Time, error) {
	days, err := leadDays(ctx, tx, r)
	if err != nil {
		return now, err
	}
	from := law.After(r.Location, now, days)
	return from, r.Reaches(from)
}

// leadDays are the business days between a role's notice and its interviews.
func leadDays(ctx context.Context, tx *tenant.Tx, r *role.Role) (int64, error) {
	set, err := setting.At(ctx, tx, setting.Place{})
	if err != nil {
		return 0, err
	}
	own, _ := set.Number(setting.HiringNoticeDays)
	return r.Lead(own), nil
}

// waited says whether days lie between a candidate's notice and their interview.
func (c *Candidate) waited() bool {
	return c.Notice != nil && c.StartsFrom != nil && c.StartsFrom.After(c.Notice.At)
}

// lasts has an invitation be good for some days after those of the notice, whenever it was opened,
// and the candidate kept as long. Save comes after it.
func (c *Candidate) lasts(ctx context.Context, tx *tenant.Tx, v *Invite, r *role.Role) error {
	if !c.waited() || v.StartedAt != nil {
		return nil
	}
	end := c.StartsFrom.Add(leftDays * aDay)
	if !end.After(v.ExpiresAt) {
		return nil
	}
	v.ExpiresAt = end
	if v.DueAt != nil {
		v.DueAt = &end
		v.schedule(c.Notice.At)
	}
	if !c.decided() {
		c.keep(r, end)
	}
	return v.save(ctx, tx)
}

// takes is role.Takes for a candidate: whoever was told before the deadline, and had to wait until
// after it, has as many days as are left to everybody else.
func (c *Candidate) takes(r *role.Role, now time.Time) error {
	err := r.Takes(now)
	if err == nil || r.State != role.Open || r.Deadline == nil || !c.waited() {
		return err
	}
	if c.Notice.At.Before(*r.Deadline) && now.Before(c.StartsFrom.Add(leftDays*aDay)) {
		return nil
	}
	return err
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// until is when a new link of a candidate ends.
func (c *Candidate) until(ctx context.Context, tx *tenant.Tx, r *role.Role, t Term, now time.Time) (time.Time, error) {
	if c.StartsFrom != nil {
		return t.end(now, *c.StartsFrom)
	}
	from, err := earliest(ctx, tx, r, now)
	if err != nil {
		return now, err
	}
	return t.end(now, from)
}
