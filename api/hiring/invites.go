package hiring

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/law"
	"visavis.dev/pkg/hiring/question"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

func (a *API) registerInvites(s *route.Service) {
	list := route.Operation{
		ID: "listInvites", Group: group, Method: http.MethodGet, Path: "/roles/{id}/invites", Class: "read", Scope: scope.CandidatesRead,
		Summary: "The invites of a role, newest first",
	}
	route.List(s, list, a.listInvites)

	create := list
	create.ID, create.Method, create.Class, create.Scope = "createInvites", http.MethodPost, "write", scope.CandidatesWrite
	create.Status, create.Idempotent, create.ShowsSecret = http.StatusCreated, true, true
	create.Errors = []problem.Code{problem.Conflict, problem.UpgradeRequired}
	create.Summary = "Invite up to 200 candidates to a role"
	create.Description = "All of them are invited, or nobody: where some cannot be, the answer is 400 invalid_request with details.items, a list of {index, field, message}. " +
		"With send, each is mailed the notice with a link; else their url is for you to send, and the notice is given on the page that it opens. " +
		"The interview begins no earlier than as many business days after the notice as the role asks for. An invite ends no earlier than a week after that for who " +
		"opens it in time; a deadline of the role before it is 409 conflict with the reason deadline_too_near."
	route.Handle(s, create, a.createInvites)

	get := list
	get.ID, get.Path, get.Summary = "getInvite", "/invites/{id}", "One invite"
	route.Handle(s, get, a.getInvite)

	cancel := get
	cancel.ID, cancel.Method, cancel.Class, cancel.Scope = "cancelInvite", http.MethodDelete, "write", scope.CandidatesWrite
	cancel.Errors, cancel.Summary = []problem.Code{problem.Conflict, problem.Gone}, "Cancel an invite: it opens nothing any more"
	cancel.Description = "Once the interview has begun, the answer is 409 conflict with the reason invite_used. Doing so again changes nothing."
	route.Handle(s, cancel, a.cancelInvite)

	resend := cancel
	resend.ID, resend.Method, resend.Path, resend.Since = "resendInvite", http.MethodPost, "/invites/{id}/resend", contract.V20261001
	resend.ShowsSecret, resend.Idempotent, resend.Summary = true, true, "Make a new link of an invite, in place of the one before"
	resend.Description = "Who is not interviewed any more, since the interview was held, it was decided, or they withdrew, comes to their page by it, where they ask " +
		"for what is theirs to ask for, also where the role takes nobody any more. A cancelled invite is 409 conflict with the reason invite_cancelled."
	route.Handle(s, resend, a.resendInvite)
}

// Invite is an invitation to a role's interview.
type Invite struct {
	ID            id.Invite             `json:"id" doc:"Id of the invite, with the prefix inv_."`
	RoleID        id.Role               `json:"roleId" doc:"The role."`
	CandidateID   id.Candidate          `json:"candidateId" doc:"Who is invited."`
	State         candidate.InviteState `json:"state" enum:"created,sent,opened,started,completed,expired,cancelled" doc:"How far the invite has come; an expired or cancelled one opens nothing."`
	Channel       string                `json:"channel" enum:"email,link" doc:"email: it is mailed. link: you send the url."`
	URL           *string               `json:"url" format:"uri" doc:"Where the candidate comes; shown when it is made and never again."`
	Language      string                `json:"language" doc:"The language of the interview, as a code."`
	ExpiresAt     time.Time             `json:"expiresAt" doc:"From when it opens nothing any more where it was not used, in UTC."`
	SentAt        *time.Time            `json:"sentAt" doc:"When it was mailed, in UTC; null for not."`
	OpenedAt      *time.Time            `json:"openedAt" doc:"When it was first opened, in UTC; null for never."`
	RemindersSent int64                 `json:"remindersSent" doc:"How often it was mailed again: by you, and where it was mailed and the interview is not begun, 7 days and a day before it expires."`
	CreatedBy     string                `json:"createdBy" doc:"The id of the key that made it, or of the connection by which an applicant tracking system did."`
	ExternalID    *string               `json:"externalId" doc:"The candidate's id in your own system; null where none was given."`
	CreatedAt     time.Time             `json:"createdAt" doc:"When it was made, in UTC."`
}

func showInvite(c *route.Call, v candidate.Invite) Invite {
	return Invite{
		ID: v.ID, RoleID: v.Role, CandidateID: v.Candidate, State: v.State(c.Now()), Channel: v.Channel, Language: v.Language, ExpiresAt: v.ExpiresAt.UTC(),
		SentAt: route.UTC(v.SentAt), OpenedAt: route.UTC(v.OpenedAt), RemindersSent: v.RemindersSent, CreatedBy: v.CreatedBy, ExternalID: v.ExternalID,
		CreatedAt: v.CreatedAt.UTC(),
	}
}

// shownInvite is an invite of a candidate whose role may be blind: until they are decided on, nothing
// tells who they are.
func shownInvite(c *route.Call, v candidate.Invite, x *candidate.Candidate, r *role.Role) Invite {
	if x.Hidden(r) {
		v.ExternalID = nil
	}
	return showInvite(c, v)
}

// OfRole pages something of a role.
type OfRole struct {
	RolePath
	route.Paging
}

func (a *API) listInvites(ctx context.Context, c *route.Call, q *OfRole) (route.Page[Invite], error) {
	r, err := a.findRole(ctx, c, &q.RolePath)
	if err != nil {
		return route.Page[Invite]{}, err
	}
	var of map[id.Candidate]candidate.Candidate
	return route.Listed(c, q.Paging, func(after id.Invite, limit int) ([]candidate.Invite, error) {
		found, err := candidate.ListInvites(ctx, a.Tenants, c.Org(), r.ID, after, limit)
		if err != nil || !r.Blind {
			return found, err
		}
		which := make([]id.Candidate, len(found))
		for i, v := range found {
			which[i] = v.Candidate
		}
		of, err = candidate.Several(ctx, a.Tenants, c.Org(), which)
		return found, err
	}, func(v candidate.Invite) id.Invite { return v.ID }, func(v candidate.Invite) Invite {
		x := of[v.Candidate]
		return shownInvite(c, v, &x, &r)
	})
}

func (a *API) findRole(ctx context.Context, c *route.Call, p *RolePath) (role.Role, error) {
	which, err := p.role()
	if err != nil {
		return role.Role{}, err
	}
	return role.Get(ctx, a.Tenants, c.Org(), which)
}

// InvitesInput is the request to invite candidates.
type InvitesInput struct {
	RolePath
	Body InvitesWish
}

// InvitesWish is who is to be invited.
type InvitesWish struct {
	Candidates    []CandidateWish `json:"candidates" minItems:"1" maxItems:"200" doc:"Who is invited."`
	ExpiresInDays int64           `json:"expiresInDays,omitempty" minimum:"1" maximum:"180" doc:"After how many days the invites open nothing any more where nobody came, at least one after the notice period; unless given 30, or 7 more than the notice period where that is longer."`
	Send          bool            `json:"send,omitempty" doc:"Whether they are mailed; unless given you send each url yourself."`
	Message       *string         `json:"message,omitempty" maxLength:"2000" nullable:"true" doc:"What you say to them in the mail."`
}

// CandidateWish is a candidate to be invited.
type CandidateWish struct {
	Name       string            `json:"name" minLength:"1" maxLength:"200" doc:"The candidate's full name."`
	Email      *string           `json:"email,omitempty" maxLength:"254" nullable:"true" doc:"A mail address; needed where the invite is mailed."`
	Phone      *string           `json:"phone,omitempty" maxLength:"40" nullable:"true" doc:"A phone number, in any form."`
	ExternalID *string           `json:"externalId,omitempty" maxLength:"200" nullable:"true" doc:"The candidate's id in your own system; one of it per role."`
	Language   string            `json:"language,omitempty" maxLength:"40" doc:"One of the role's languages, by code or name; the role's first unless given."`
	ResumeURL  *string           `json:"resumeUrl,omitempty" format:"uri" maxLength:"2048" nullable:"true" doc:"Where the résumé is, for your own use. Nobody reads it here."`
	Metadata   map[string]string `json:"metadata,omitempty" doc:"20 keys of 40 characters at most, with values of 500."`
	Location   *WorksFrom        `json:"location,omitempty" doc:"Where they work from, of a remote role: the laws there hold for them beside those of the role. Without it those of the role hold alone."`
}

// WorksFrom is where a candidate of a remote role works from.
type WorksFrom struct {
	City       string `json:"city,omitempty" maxLength:"120" doc:"The place, such as New York."`
	Region     string `json:"region,omitempty" maxLength:"80" doc:"The state or province; of the United States by its two letters or its name."`
	Country    string `json:"country" pattern:"^[A-Z]{2}$" doc:"The country by its two letters, such as US."`
	Timezone   string `json:"timezone,omitempty" maxLength:"60" doc:"The time zone by whose days notice is counted, as the IANA names it; the role's unless given."`
	OutsideNYC bool   `json:"outsideNewYorkCity,omitempty" doc:"Whether a place in New York State lies outside of New York City; to be said where city does not tell."`
}

// InvitesMade are invites that were made.
type InvitesMade struct {
	Invites []Invite `json:"invites" doc:"The invites, in the order of the candidates."`
	// Questions and Changed say what those are asked who are invited.
	Questions route.OrNull[QuestionSetSummary] `json:"questionSet" doc:"What they are asked; null where the subject asks nothing at the moment, so that it is frozen once an interview begins."`
	Changed   bool                             `json:"questionsChanged" doc:"Whether candidates who were invited to this role before are asked another version: the subject was published anew with other questions or rubrics."`
}

// wanted are the candidates of the body, for a role.
func (b *InvitesWish) wanted(r *role.Role) ([]candidate.Wanted, []candidate.Fault) {
	var faults []candidate.Fault
	all := make([]candidate.Wanted, len(b.Candidates))
	for i, w := range b.Candidates {
		all[i] = candidate.Wanted{Name: w.Name, Email: w.Email, Phone: w.Phone, ResumeURL: w.ResumeURL, ExternalID: w.ExternalID, Metadata: w.Metadata}
		all[i].Language = r.Languages[0]
		if w.Language != "" {
			l, known := language.Lookup(w.Language)
			if !known || !r.Speaks(l.Code) {
				faults = append(faults, candidate.Fault{Index: i, Field: "language", Message: "is none of the role's languages"})
			}
			all[i].Language = l.Code
		}
		if w.ResumeURL != nil {
			if u, err := url.Parse(*w.ResumeURL); err != nil || u.Scheme != "https" || u.Host == "" {
				faults = append(faults, candidate.Fault{Index: i, Field: "resumeUrl", Message: "is no https address"})
			}
		}
		if at := w.Location; at != nil {
			all[i].Place = &law.Place{City: at.City, Region: at.Region, Country: at.Country, Remote: true, Timezone: at.Timezone, OutsideNYC: at.OutsideNYC}
			if _, err := time.LoadLocation(at.Timezone); err != nil {
				faults = append(faults, candidate.Fault{Index: i, Field: "location.timezone", Message: "is no time zone of the IANA"})
			}
			if !law.IsCountry(at.Country) {
				faults = append(faults, candidate.Fault{Index: i, Field: "location.country", Message: "is no country by its two letters, such as US, GB or DE"})
			}
		}
		if err := route.CheckMetadata(w.Metadata); err != nil {
			faults = append(faults, candidate.Fault{Index: i, Field: "metadata", Message: problem.From(err).Message})
		}
	}
	return all, faults
}

// faulty is what is wrong with some of those who were to be invited.
func faulty(faults []candidate.Fault) error {
	first, who := faults[0], map[int]bool{}
	for _, f := range faults {
		who[f.Index] = true
	}
	return problem.Invalid(fmt.Sprintf("body.candidates[%d].%s", first.Index, first.Field), "%d of the candidates cannot be invited; the %s of the first of them %s.",
		len(who), first.Field, first.Message).WithDetail("items", faults)
}

func (a *API) createInvites(ctx context.Context, c *route.Call, in *InvitesInput) (InvitesMade, error) {
	if err := a.allow(c); err != nil {
		return InvitesMade{}, err
	}
	which, err := in.role()
	if err != nil {
		return InvitesMade{}, err
	}
	outbox, err := a.outbox(in.Body.Send, "body.send")
	if err != nil {
		return InvitesMade{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (InvitesMade, error) {
		r, err := role.Lock(ctx, tx, which)
		if err != nil {
			return InvitesMade{}, err
		}
		set, err := settings(ctx, tx, r.Portal)
		if err != nil {
			return InvitesMade{}, err
		}
		if err := set.values.Require(setting.Hiring); err != nil {
			return InvitesMade{}, err
		}
		people, faults := in.Body.wanted(&r)
		if len(faults) > 0 {
			return InvitesMade{}, faulty(faults)
		}
		p, err := portal.Find(ctx, tx, r.Portal)
		if err != nil {
			return InvitesMade{}, err
		}
		issued, err := candidate.InviteAll(ctx, tx, &r, candidate.Batch{
			People: people, Term: candidate.Term{Days: in.Body.ExpiresInDays}, Outbox: outbox, Message: in.Body.Message, Sandbox: c.Principal.Key.Environment == apikey.Test,
		}, c.Actor())
		if err != nil {
			return InvitesMade{}, inviteProblem(err)
		}
		made := InvitesMade{Invites: make([]Invite, len(issued))}
		for i, one := range issued {
			made.Invites[i] = showInvite(c, one.Invite)
			made.Invites[i].URL = new(a.link(p, one.Token))
		}
		sets, err := question.OfRole(ctx, tx, r.ID)
		for i := range sets {
			if sets[i].Version == issued[0].Candidate.QuestionSet {
				made.Questions.Value = new(showSummary(&sets[i]))
			} else if sets[i].Invited > 0 {
				made.Changed = true
			}
		}
		return made, err
	})
}

// outbox mails where that is wanted; param is what asks for it.
func (a *API) outbox(wanted bool, param string) (*mailer.Outbox, error) {
	if wanted && a.Gate.Mails == nil {
		return nil, problem.Conflicting(candidate.ReasonNotDelivered, "This deployment sends no mail. Whoever operates it sets mail-url.").WithParam(param)
	}
	if !wanted {
		return nil, nil //nolint:nilnil // nothing is to be mailed
	}
	return a.Gate.Mails, nil
}

func inviteProblem(err error) error {
	if wrong, ok := errors.AsType[*candidate.FaultsError](err); ok {
		return faulty(wrong.Faults)
	}
	if errors.Is(err, mailer.ErrTooMany) {
		p := problem.New(problem.RateLimited, "As many mails as may be went to candidates in this hour.")
		p.RetryAfter = time.Hour
		return p
	}
	return err
}

// link is where a token opens a portal. The token stands behind the #, which browsers tell no
// server.
func (a *API) link(p portal.Portal, token candidate.Token) string {
	at := a.PortalURL + "/p/" + p.Slug
	if p.Host != "" && p.HostProvenAt != nil {
		at = "https://" + p.Host
	}
	return at + "/link#invite=" + string(token)
}

// InvitePath names an invite.
type InvitePath struct {
	ID string `path:"id" doc:"The invite's id, with or without inv_."`
}

func (p *InvitePath) invite() (id.Invite, error) {
	return route.Lookup(id.ParseInvite, p.ID, "invite")
}

func (a *API) getInvite(ctx context.Context, c *route.Call, p *InvitePath) (Invite, error) {
	which, err := p.invite()
	if err != nil {
		return Invite{}, err
	}
	v, err := candidate.GetInvite(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return Invite{}, err
	}
	x, err := candidate.GetAny(ctx, a.Tenants, c.Org(), v.Candidate)
	if err != nil {
		return Invite{}, err
	}
	r, err := role.Get(ctx, a.Tenants, c.Org(), x.Role)
	return shownInvite(c, v, &x, &r), err
}

func (a *API) cancelInvite(ctx context.Context, c *route.Call, p *InvitePath) (Invite, error) {
	which, err := p.invite()
	if err != nil {
		return Invite{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Invite, error) {
		v, err := candidate.Cancel(ctx, tx, which, c.Actor())
		if err != nil {
			return Invite{}, ofInvite(err)
		}
		x, err := candidate.Find(ctx, tx, v.Candidate)
		if err != nil {
			return Invite{}, ofInvite(err)
		}
		r, err := role.Find(ctx, tx, x.Role)
		return shownInvite(c, v, &x, &r), err
	})
}

// ofInvite says that the candidate of the invite that was named is gone.
func ofInvite(err error) error {
	if errdefs.IsGone(err, candidate.Noun) {
		return problem.New(problem.Gone, "The candidate was erased.").WithParam("path.id")
	}
	return err
}

// ResendInput is the request for a new link.
type ResendInput struct {
	InvitePath
	Body ResendWish
}

// ResendWish is how an invite goes out again.
type ResendWish struct {
	ExpiresInDays int64 `json:"expiresInDays,omitempty" minimum:"1" maximum:"180" doc:"After how many days from now it opens nothing any more, as of new invites; unless given 30, or 7 more than the notice period where that is longer."`
	Send          bool  `json:"send,omitempty" doc:"Whether it is mailed; unless given you send the url yourself."`
}

func (a *API) resendInvite(ctx context.Context, c *route.Call, in *ResendInput) (Invite, error) {
	which, err := in.invite()
	if err != nil {
		return Invite{}, err
	}
	outbox, err := a.outbox(in.Body.Send, "body.send")
	if err != nil {
		return Invite{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (Invite, error) {
		issued, err := screening.Resend(ctx, tx, which, candidate.Term{Days: in.Body.ExpiresInDays}, outbox, c.Actor())
		if err != nil {
			return Invite{}, ofInvite(inviteProblem(err))
		}
		r, err := role.Find(ctx, tx, issued.Candidate.Role)
		if err != nil {
			return Invite{}, err
		}
		p, err := portal.Find(ctx, tx, r.Portal)
		shown := shownInvite(c, issued.Invite, &issued.Candidate, &r)
		shown.URL = new(a.link(p, issued.Token))
		return shown, err
	})
}
