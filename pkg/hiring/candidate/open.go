package candidate

import (
	"context"
	"slices"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/hiring/law"
	"visavis.dev/pkg/hiring/question"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/store/tenant"
)

// byCandidate and byPlatform are who does what no key does.
const (
	byCandidate = "candidate"
	byPlatform  = "platform"
)

// The actions of entries that are read again.
const (
	WasInvited       = "candidate.invited"
	GivenNotice      = "notice.given"
	StartedInterview = "interview.started"
	EndedInterview   = "interview.ended"
	MadeRequest      = "request.made"
	AnsweredRequest  = "request.answered"
)

// Open lets in who has an invitation's token to the portal of its role, and tells of the first
// time. What the candidate reads there is the notice, where they were not given it before. It
// rides candidate_invite_by_token and candidate_link_pkey. The error is errdefs.NotFound, errdefs.Gone, ErrRevoked or
// ErrExpired.
func Open(ctx context.Context, tx *tenant.Tx, p id.Portal, token Token, now time.Time) (Candidate, error) {
	v, err := tenant.OneIn(ctx, tx, scanInvite, InviteNoun.NotFound(id.Invite{}), `
		SELECT `+inviteColumns+` FROM candidate_invite WHERE org_id = $1 AND id IN (`+inviteOf+`)`, tx.Org, token.hash())
	if err != nil {
		return Candidate{}, err
	}
	// Whoever changes both locks the candidate first.
	c, err := Lock(ctx, tx, v.Candidate)
	if err != nil {
		return c, err
	}
	if v, err = FindInvite(ctx, tx, v.ID); err != nil {
		return c, err
	}
	opens, err := v.opens(ctx, tx, token)
	if err == nil && !opens { // a new link was made meanwhile
		err = InviteNoun.NotFound(v.ID)
	}
	if err != nil {
		return c, err
	}
	if err := v.Good(now); err != nil {
		return c, err
	}
	r, err := c.FindRole(ctx, tx)
	switch {
	case err != nil:
		return c, err
	case r.Portal != p:
		return c, InviteNoun.NotFound(v.ID)
	}
	return c, c.opened(ctx, tx, &v, &r, now)
}

// opened notes that a candidate came.
func (c *Candidate) opened(ctx context.Context, tx *tenant.Tx, v *Invite, r *role.Role, now time.Time) error {
	if v.OpenedAt == nil {
		v.OpenedAt = &now
		if err := v.save(ctx, tx); err != nil {
			return err
		}
		c.Tell(tx, event.CandidateInviteOpened, now, map[string]any{"openedAt": now.UTC()})
		if err := c.Note(ctx, tx, record.Fact{At: now, Actor: byCandidate, Action: "invite.opened"}); err != nil {
			return err
		}
		if err := role.Count(ctx, tx, c.Role, role.Counts{Opened: 1}); err != nil {
			return err
		}
	}
	if c.State == Invited {
		c.State = Opened
	}
	n, err := c.notice(ctx, tx, r)
	if err != nil {
		return err
	}
	if err := c.tell(ctx, tx, v, r, n, "page", now); err != nil {
		return err
	}
	return c.Save(ctx, tx, now)
}

// notice is what a candidate is told of a role as it is.
func (c *Candidate) notice(ctx context.Context, tx *tenant.Tx, r *role.Role) (Notice, error) {
	days, err := leadDays(ctx, tx, r)
	if err != nil {
		return Notice{}, err
	}
	n := Notice{
		LeadDays: days, Laws: []Told{}, TextHash: role.TextHash(r.NoticeIn(c.Language)...), Language: c.Language, Signals: r.Say(r.Notice.Signals, c.Language) != "",
		Alternative: r.Process != "",
	}
	for _, k := range r.Notice.Required {
		text, _ := r.Notice.Of(k)
		n.Laws = append(n.Laws, Told{k, text.Version, role.TextHash(r.Say(text.Text, c.Language))})
	}
	return n, nil
}

// tell gives a candidate the notice, unless they had it before: from then on the days count, and
// their invitation does not end before they can be interviewed. Who was told nothing of a law of where they
// work from, by a pod that did not know of it, is told anew before the interview, and has to agree anew.
func (c *Candidate) tell(ctx context.Context, tx *tenant.Tx, v *Invite, r *role.Role, n Notice, channel string, now time.Time) error {
	again := c.Notice != nil
	if over := c.State == InProgress || c.refused() != nil; again && (over || !c.untold(n)) {
		return nil
	}
	if again {
		c.Consent = Consent{}
	}
	n.At, n.Channel = now, channel
	c.Notice, c.StartsFrom = &n, new(law.After(r.Location, now, n.LeadDays))
	if err := c.lasts(ctx, tx, v, r); err != nil {
		return err
	}
	laws := make([]law.Key, len(n.Laws))
	for i, told := range n.Laws {
		laws[i] = told.Law
	}
	return c.Note(ctx, tx, record.Fact{At: now, Actor: byPlatform, Action: GivenNotice, Data: map[string]any{
		"channel": channel, "laws": n.Laws, "leadDays": n.LeadDays, "startsFrom": c.StartsFrom.UTC(), "language": n.Language, "textHash": n.TextHash,
		"jurisdictions": law.Jurisdictions(laws), "alternative": n.Alternative, "signals": n.Signals,
	}})
}

// untold says whether a notice has a law of where a candidate works from that theirs lacks.
func (c *Candidate) untold(n Notice) bool {
	if c.Place == nil {
		return false
	}
	there := law.At(*c.Place)
	return slices.ContainsFunc(n.Laws, func(now Told) bool {
		return slices.Contains(there, now.Law) && !slices.ContainsFunc(c.Notice.Laws, func(had Told) bool { return had.Law == now.Law })
	})
}

// Agree notes that a candidate has read the notice and agrees to be interviewed by an AI. Doing
// so again changes nothing.
func Agree(ctx context.Context, tx *tenant.Tx, which id.Candidate, now time.Time) (Candidate, error) {
	c, err := Lock(ctx, tx, which)
	if err != nil {
		return c, err
	}
	if c.State == Withdrawn {
		return c, c.Conflict(ReasonWithdrawn, "The candidate has withdrawn.")
	}
	if c.decided() {
		return c, c.Conflict(ReasonDecided, "Somebody has decided already.")
	}
	if c.Notice == nil || c.Consent.InterviewAt != nil && c.Consent.WithdrawnAt == nil {
		return c, nil
	}
	c.Consent = Consent{InterviewAt: &now}
	if c.Notice.AcknowledgedAt == nil {
		c.Notice.AcknowledgedAt = &now
		r, err := c.FindRole(ctx, tx)
		if err != nil {
			return c, err
		}
		if err := c.Note(ctx, tx, record.Fact{At: now, Actor: byCandidate, Action: "notice.acknowledged", Data: map[string]any{
			"textHash": role.TextHash(r.NoticeIn(c.Language)...), // of what the page shows
		}}); err != nil {
			return c, err
		}
	}
	if err := c.Note(ctx, tx, record.Fact{At: now, Actor: byCandidate, Action: "consent.given", Data: map[string]any{"kind": "ai_interview"}}); err != nil {
		return c, err
	}
	return c, c.Save(ctx, tx, now)
}

// refused says why a candidate is not interviewed any more; nil for no reason.
func (c *Candidate) refused() error {
	switch {
	case c.State == Withdrawn:
		return c.Conflict(ReasonWithdrawn, "The candidate has withdrawn.")
	case c.decided():
		return c.Conflict(ReasonDecided, "Somebody has decided already.")
	case c.Attempts > c.Extra:
		return c.Conflict(ReasonInterviewed, "The interview was held already.")
	}
	return nil
}

// May says whether a candidate may be interviewed now. The error is a conflict of the candidate
// or of the role.
func (c *Candidate) May(r *role.Role, now time.Time) error {
	if err := c.takes(r, now); err != nil {
		return err
	}
	if err := c.refused(); err != nil {
		return err
	}
	switch {
	case c.Notice == nil || c.Consent.InterviewAt == nil || c.Consent.WithdrawnAt != nil:
		return c.Conflict(ReasonConsent, "The candidate has not agreed to the interview.")
	case c.StartsFrom == nil || now.Before(*c.StartsFrom):
		return c.Conflict(ReasonTooEarly, "The time that lies between the notice and the interview is not over.")
	}
	return nil
}

// Questions are those that a candidate is asked who is locked, and whose interview is to begin: what
// the role asked when they were invited, also in a further interview. Who was invited before
// questions were frozen has what it asks now; Save comes after it.
func (c *Candidate) Questions(ctx context.Context, tx *tenant.Tx, r *role.Role, now time.Time) (question.Set, error) {
	if c.QuestionSet > 0 {
		return question.Find(ctx, tx, c.Role, c.QuestionSet)
	}
	s, _, err := question.Freeze(ctx, tx, r, now)
	if err != nil {
		return s, err
	}
	c.QuestionSet = s.Version
	return s, s.Count(ctx, tx, 1, 0)
}

// Watched says whether what the page of a candidate sees is noted now: they were told so, and are being
// interviewed.
func (c *Candidate) Watched() bool {
	return c.State == InProgress && c.Notice != nil && c.Notice.Signals
}

// Begin notes that a candidate's interview begins in a session, and what is asked in it.
func (c *Candidate) Begin(ctx context.Context, tx *tenant.Tx, s id.Screening, in id.Session, of *question.Set, now time.Time) error {
	v, err := FindInvite(ctx, tx, c.Invite)
	if err != nil {
		return err
	}
	if v.StartedAt == nil {
		v.StartedAt, v.DueAt, v.RemindAt = &now, nil, nil
		if err := v.save(ctx, tx); err != nil {
			return err
		}
	}
	if c.Screening.IsZero() {
		if err := of.Count(ctx, tx, 0, 1); err != nil {
			return err
		}
	}
	c.State, c.Screening = InProgress, s
	if c.WordsUntil == nil { // there are words again
		c.WordsUntil = new(c.RetainUntil)
		c.schedule()
	}
	r, err := c.FindRole(ctx, tx)
	if err != nil {
		return err
	}
	if err := c.Note(ctx, tx, record.Fact{At: now, Actor: byCandidate, Action: StartedInterview, Data: map[string]any{
		"screeningId": s, "sessionId": in, "attempt": c.Attempts + 1, "scoring": r.Scoring, "biasAudit": r.Audit, "questionSet": asked(of),
	}}); err != nil {
		return err
	}
	return c.Save(ctx, tx, now)
}

// Ended is an interview of a candidate that is over.
type Ended struct {
	Screening id.Screening
	// Void says that it does not count: they can begin again.
	Void bool
	// Counted is the last one before it that counts; zero for none.
	Counted id.Screening
	// Facts are what the record says of it.
	Facts map[string]any
}

// End notes that a candidate's interview is over. Where they stand changes by the one that they
// began last alone.
func (c *Candidate) End(ctx context.Context, tx *tenant.Tx, e Ended, now time.Time) error {
	action := "interview.voided"
	if e.Void {
		c.void(e)
	} else {
		action = EndedInterview
		if err := c.screened(ctx, tx, e, now); err != nil {
			return err
		}
	}
	if err := c.Note(ctx, tx, record.Fact{At: now, Actor: byPlatform, Action: action, Data: e.Facts}); err != nil {
		return err
	}
	return c.Save(ctx, tx, now)
}

// void has a candidate stand where they did before the interview.
func (c *Candidate) void(e Ended) {
	if c.Screening != e.Screening {
		return
	}
	if !e.Counted.IsZero() {
		c.Screening = e.Counted
	}
	if c.State != InProgress {
		return
	}
	if c.State = c.before(); c.Decision != nil && c.Decision.ReopenedAt == nil {
		c.State = Decided
	}
}

// screened counts an interview.
func (c *Candidate) screened(ctx context.Context, tx *tenant.Tx, e Ended, now time.Time) error {
	first := c.ScreenedAt == nil
	c.Attempts, c.ScreenedAt, c.ReviewedAt, c.Reviewer = c.Attempts+1, &now, nil, id.Person{}
	if c.State == InProgress && c.Screening == e.Screening {
		c.State = Screened
	}
	v, err := FindInvite(ctx, tx, c.Invite)
	if err != nil {
		return err
	}
	v.CompletedAt = &now
	if err := v.save(ctx, tx); err != nil || !first {
		return err
	}
	return role.Count(ctx, tx, c.Role, role.Counts{Screened: 1})
}

func (v *Invite) save(ctx context.Context, tx *tenant.Tx) error {
	tx.Touch("candidate_invite", v.ID)
	_, err := tx.Exec(ctx, `
		UPDATE candidate_invite SET channel = $3, message = $4, expires_at = $5, due_at = $6, sent_at = $7, opened_at = $8, started_at = $9,
			completed_at = $10, cancelled_at = $11, reminders_sent = $12, external_id = $13, remind_at = $14
		WHERE org_id = $1 AND id = $2`,
		tx.Org, v.ID, v.Channel, v.Message, v.ExpiresAt, v.DueAt, v.SentAt, v.OpenedAt, v.StartedAt, v.CompletedAt, v.CancelledAt, v.RemindersSent,
		v.ExternalID, v.RemindAt)
	return err
}

// Change is something that a candidate does themselves.
type Change func(ctx context.Context, tx *tenant.Tx, which id.Candidate, now time.Time) (Candidate, error)

// Withdraw takes a candidate's application back, and what they agreed to; their interview is
// ended by package screening's. Doing so again changes nothing. The error is a
// conflict once somebody has decided for good.
func Withdraw(ctx context.Context, tx *tenant.Tx, which id.Candidate, now time.Time) (Candidate, error) {
	c, err := Lock(ctx, tx, which)
	if err != nil || c.State == Withdrawn {
		return c, err
	}
	if c.decided() {
		return c, c.Conflict(ReasonDecided, "Somebody has decided already.")
	}
	r, err := c.FindRole(ctx, tx)
	if err != nil {
		return c, err
	}
	c.State, c.Stage = Withdrawn, AtEnd
	c.keep(&r, now)
	if c.Consent.InterviewAt != nil {
		c.Consent.WithdrawnAt = &now
	}
	if err := c.Note(ctx, tx, record.Fact{At: now, Actor: byCandidate, Action: "candidate.withdrew"}); err != nil {
		return c, err
	}
	if err := c.cancelAll(ctx, tx, byWithdrawal, byCandidate, true, now); err != nil {
		return c, err
	}
	if err := c.Save(ctx, tx, now); err != nil {
		return c, err
	}
	var previous *Value
	if c.Decision != nil {
		previous = &c.Decision.Value
	}
	c.Tell(tx, event.CandidateDecided, now, map[string]any{
		"decision": Drop, "decidedBy": nil, "decidedAt": now.UTC(), "humanReviewed": false, "reasonCode": "candidate_withdrew", "previousDecision": previous,
	})
	return c, c.tellTeam(ctx, tx, &r, mailer.TeamWithdrew, id.CandidateRequest{}, now)
}
