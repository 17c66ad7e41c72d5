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
	"visavis.dev/pkg/hiring/disclosure"
	"visavis.dev/pkg/hiring/law"
	"visavis.dev/pkg/hiring/record"
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
	r = r.For(c.Place)
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
	var open bool
	if _, shown.DataUntil, open = disclosure.Until(asked, now); open {
		if shown.Data, err = a.access(ctx, &in, &r); err != nil {
			return page.Application{}, err
		}
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

// access says whether somebody gets what is kept about the candidate: they are the candidate, and not who made their link.
// Who came by a link that was mailed to them alone is, and who held the interview in this visit. Of who never had an
// address, or where no mail is sent, nobody can tell; as long as nobody may learn who they are they get nothing, nor does
// who came by a mail to an address that somebody else than they entered later.
func (a applications) access(ctx context.Context, in *signin.Guest, r *role.Role) (page.Access, error) {
	if !in.Interview.IsZero() {
		return page.AccessHere, nil
	}
	entries, err := record.Of(ctx, a.options.Backend.Tenants, in.Org, in.Applies.ID)
	if err != nil {
		return "", err
	}
	moved, mails := candidate.Readdressed(entries), in.Applies.Email != nil && a.options.Front.Gate.Mails != nil
	switch {
	case in.Applies.Hidden(r) && (moved || !mails):
		return page.AccessLater, nil
	case in.Details.Mailed, a.options.Front.Gate.Mails == nil, in.Applies.Email == nil && !moved:
		return page.AccessHere, nil
	}
	return page.AccessByMail, nil
}

// Data implements page.Candidates.
func (a applications) Data(ctx context.Context, site *published.Site, secret string, file bool) (disclosure.Data, error) {
	in, err := a.who(ctx, site, secret)
	if err != nil {
		return disclosure.Data{}, err
	}
	r, err := role.Get(ctx, a.options.Backend.Tenants, in.Org, in.Applies.Role)
	if err != nil {
		return disclosure.Data{}, err
	}
	switch may, err := a.access(ctx, &in, &r); {
	case err != nil:
		return disclosure.Data{}, err
	case may != page.AccessHere:
		return disclosure.Data{}, page.ErrUnfit
	}
	form := "page"
	if file {
		form = "file"
	}
	d, given, err := disclosure.Give(ctx, a.options.Backend.Tenants, in.Org, in.Applies.ID, form, a.options.Backend.Options.Clock.Now().UTC())
	if err == nil && !given {
		err = page.ErrUnfit
	}
	return d, err
}

// Watched implements page.Candidates. The interview is yet to begin when the page is shown.
func (a applications) Watched(ctx context.Context, site *published.Site, secret string) (bool, error) {
	in, err := a.who(ctx, site, secret)
	if err != nil {
		return false, err
	}
	return in.Applies.Notice != nil && in.Applies.Notice.Signals, nil
}

// Observe implements page.Candidates.
func (a applications) Observe(ctx context.Context, site *published.Site, secret string, s screening.Signal) error {
	in, err := a.who(ctx, site, secret)
	if err != nil {
		return err
	}
	err = screening.Observe(ctx, a.options.Backend.Tenants, in.Org, in.Applies.ID, in.Interview, s, a.options.Backend.Options.Clock.Now().UTC())
	if _, invalid := errors.AsType[*errdefs.Invalid](err); invalid {
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
