package portal

import (
	"context"
	"errors"
	"slices"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/demographics"
	"visavis.dev/pkg/hiring/law"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/signin"
	"visavis.dev/web/page"
)

// applications are the candidates of pages.
type applications struct{ *Server }

// who finds the candidate whom a browser's secret is of. The error is page.ErrNoVisit.
func (a applications) who(ctx context.Context, site *published.Site, secret string) (signin.Guest, error) {
	in, err := a.options.Front.Gate.Find(ctx, site.Portal, signin.Secret(secret))
	if err != nil {
		return in, atDoor(err)
	}
	if in.Applies == nil {
		return in, page.ErrNoVisit
	}
	return in, nil
}

// Application implements page.Candidates.
func (a applications) Application(ctx context.Context, site *published.Site, secret string) (page.Application, error) {
	in, err := a.who(ctx, site, secret)
	if err != nil {
		return page.Application{}, err
	}
	org, c := in.Org, *in.Applies
	r, err := role.Get(ctx, a.options.Backend.Tenants, org, c.Role)
	if err != nil {
		return page.Application{}, err
	}
	asked, err := candidate.RequestsOf(ctx, a.options.Backend.Tenants, org, c.ID)
	if err != nil {
		return page.Application{}, err
	}
	now := a.options.Backend.Options.Clock.Now()
	shown := page.Application{
		Role: r.Title, Description: r.Description, Notice: r.NoticeIn(c.Language), Process: r.Process, Zone: law.Zone(r.Location),
		Agreed: c.Consent.InterviewAt != nil && c.Consent.WithdrawnAt == nil, Done: c.Attempts > c.Extra,
	}
	shown.Standing = standing(c)
	if c.StartsFrom != nil && c.StartsFrom.After(now) {
		shown.StartsFrom = *c.StartsFrom
	}
	if refused, ok := errors.AsType[*errdefs.Conflict](c.May(&r, now)); ok && refused.Reason != candidate.ReasonConsent && refused.Reason != candidate.ReasonTooEarly {
		shown.Refusal = refused.Reason
	}
	if shown.Voluntary, err = a.voluntary().Offers(ctx, org, &r, c.ID, in.Interview); err != nil {
		a.options.Backend.Options.Log.ErrorContext(ctx, "whether a candidate is asked for their sex and race cannot be said", "error", err)
	}
	if shown.Meetings, err = a.meetings(ctx, org, c); err != nil {
		return page.Application{}, err
	}
	for _, q := range asked {
		one := page.ApplicationRequest{Kind: string(q.Kind), State: string(q.State), DueAt: q.DueAt}
		if q.Answer != nil {
			one.Answer = *q.Answer
		}
		shown.Requests = append(shown.Requests, one)
	}
	for _, k := range c.Askable(&r, asked) {
		shown.Askable = append(shown.Askable, string(k))
	}
	return shown, nil
}

// standing is what people have done about a candidate since the interview. What they decided is
// theirs to tell.
func standing(c candidate.Candidate) string {
	d := c.Decision
	switch {
	case c.State == candidate.Withdrawn, c.State == candidate.InProgress:
		return ""
	case d != nil && d.ReopenedAt != nil:
		return "reopened"
	case d != nil && (c.ScreenedAt == nil || d.At.After(*c.ScreenedAt)) && (d.Value.Final() || d.Value == candidate.Advance && c.Attempts > c.Extra):
		return "decided"
	case c.ReviewedAt != nil && c.Attempts > c.Extra:
		return "read"
	}
	return ""
}

// Ask implements page.Candidates.
func (a applications) Ask(ctx context.Context, site *published.Site, secret, kind, words string) error {
	if !slices.Contains(candidate.RequestKinds(), candidate.RequestKind(kind)) {
		return page.ErrUnfit
	}
	err := a.change(ctx, site, secret, func(ctx context.Context, tx *tenant.Tx, which id.Candidate, now time.Time) (c candidate.Candidate, err error) {
		_, err = candidate.Ask(ctx, tx, which, candidate.RequestKind(kind), words, now)
		return c, err
	})
	if refused, ok := errors.AsType[*problem.Problem](err); ok && refused.Code == problem.Conflict {
		return page.ErrUnfit
	}
	return err
}

// Agree implements page.Candidates.
func (a applications) Agree(ctx context.Context, site *published.Site, secret string) error {
	return a.change(ctx, site, secret, candidate.Agree)
}

// Withdraw implements page.Candidates.
func (a applications) Withdraw(ctx context.Context, site *published.Site, secret string) error {
	return a.change(ctx, site, secret, func(ctx context.Context, tx *tenant.Tx, which id.Candidate, now time.Time) (candidate.Candidate, error) {
		c, err := screening.Withdraw(ctx, tx, which, now)
		if err != nil {
			return c, err
		}
		return c, a.voluntary().TakeBack(ctx, tx, which)
	})
}

// Describe implements page.Candidates.
func (a applications) Describe(ctx context.Context, site *published.Site, secret string, said demographics.Answer) error {
	in, err := a.who(ctx, site, secret)
	if err != nil {
		return err
	}
	err = a.change(ctx, site, secret, func(ctx context.Context, tx *tenant.Tx, which id.Candidate, _ time.Time) (c candidate.Candidate, err error) {
		return c, a.voluntary().Put(ctx, tx, which, in.Interview, said)
	})
	if refused, ok := errors.AsType[*problem.Problem](err); ok && refused.Code == problem.Conflict {
		return page.ErrUnfit
	}
	return err
}

func (a applications) voluntary() *demographics.Store {
	return &demographics.Store{Tenants: a.options.Backend.Tenants, Vault: a.options.Backend.Vault}
}

func (a applications) change(ctx context.Context, site *published.Site, secret string, change candidate.Change) error {
	in, err := a.who(ctx, site, secret)
	if err != nil {
		return err
	}
	err = a.options.Backend.Tenants.InTx(ctx, in.Org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := change(ctx, tx, in.Applies.ID, a.options.Backend.Options.Clock.Now().UTC())
		return err
	})
	if refused, ok := errors.AsType[*errdefs.Conflict](err); ok {
		return problem.Conflicting(refused.Reason, "%s", refused.Message)
	}
	return err
}
