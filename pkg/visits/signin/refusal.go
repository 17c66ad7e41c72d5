package signin

import (
	"errors"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/sessions/caselink"
	"visavis.dev/pkg/sessions/escalation"
	"visavis.dev/pkg/visits/identity"
)

// Code is why somebody is not let in. Those of somebody's place on the portal are
// the reasons of package person.
type Code string

// The codes.
const (
	NotPublished    Code = "not_published"
	DoorClosed      Code = "door_closed"
	TokenInvalid    Code = "token_invalid"
	TokenExpired    Code = "token_expired"
	TokenElsewhere  Code = "token_elsewhere"
	TokenUsed       Code = "token_used"
	CodeUnknown     Code = "code_unknown"
	TooManyTries    Code = "too_many_tries"
	NameRequired    Code = "name_required"
	EmailRequired   Code = "email_required"
	ConsentRequired Code = "consent_required"
	AgeRequired     Code = "age_required"
	PersonGone      Code = "person_gone"
	Full            Code = "full"
	AddressKnown    Code = "address_known"
	LinkUnknown     Code = "link_unknown"
	LinkExpired     Code = "link_expired"
	LinkRevoked     Code = "link_revoked"
	LinkUsedUp      Code = "link_used_up"
	VisitEnded      Code = "visit_ended"
	NoMail          Code = "no_mail"
	TooManyMails    Code = "too_many_mails"
	ProviderAway    Code = "provider_away"
	ProviderDenied  Code = "provider_denied"
	AnswerRefused   Code = "answer_refused"
	DomainRefused   Code = "domain_refused"
	AccountUnknown  Code = "account_unknown"
)

// kinds are what a code is to a caller of the API, and the sentence that people read.
var kinds = map[Code]struct {
	code     problem.Code
	sentence string
}{
	NotPublished:    {problem.NotFound, "The portal is not open at the moment."},
	DoorClosed:      {problem.Forbidden, "This way in is closed."},
	TokenInvalid:    {problem.Forbidden, "This link is damaged. Please ask for a new one."},
	TokenExpired:    {problem.Gone, "This link has expired. Please ask for a new one."},
	TokenElsewhere:  {problem.Forbidden, "This link is for another place."},
	TokenUsed:       {problem.Gone, "This link was used before. Please ask for a new one."},
	CodeUnknown:     {problem.Forbidden, "There is no such code. Please check it."},
	TooManyTries:    {problem.RateLimited, "There were too many attempts. Please try again in a minute."},
	NameRequired:    {problem.InvalidRequest, "Please give your name."},
	EmailRequired:   {problem.InvalidRequest, "Please give your e-mail address."},
	ConsentRequired: {problem.InvalidRequest, "Please agree to the privacy notice first."},
	AgeRequired:     {problem.InvalidRequest, "Please say that you are old enough."},
	PersonGone:      {problem.Gone, "There is nobody here by this name any more."},
	Full:            {problem.Forbidden, "There is no room for more people here. Please tell whoever invited you."},
	AddressKnown:    {problem.Forbidden, "Somebody with this e-mail address is known here already. Please use the link that you were given."},
	LinkUnknown:     {problem.NotFound, "There is no such link."},
	LinkExpired:     {problem.Gone, "This link has expired. Please ask for a new one."},
	LinkRevoked:     {problem.Gone, "This link was taken back."},
	LinkUsedUp:      {problem.Gone, "This link was opened as often as it may."},
	VisitEnded:      {problem.Unauthorized, "Please come in again."},
	ProviderAway:    {problem.UpstreamError, "Your organization's sign-in cannot be reached. Please try again shortly."},
	ProviderDenied:  {problem.Forbidden, "Your organization's sign-in did not let you in."},
	AnswerRefused:   {problem.Forbidden, "The sign-in did not come from here, or took too long. Please begin again."},
	DomainRefused:   {problem.Forbidden, "Accounts with your e-mail address do not come in here."},
	AccountUnknown:  {problem.Forbidden, "Nobody here goes by your account. Please ask for a place."},
	NoMail:          {problem.Conflict, "No mail can be sent here."},
	TooManyMails:    {problem.RateLimited, "Several mails were sent already. Please look for the newest, or try again in an hour."},
}

// Refusal says that somebody is not let in, and why.
type Refusal struct {
	Code Code
	// RetryAfter is when it is worth trying again; zero for never.
	RetryAfter time.Duration
	// standing is the sentence of somebody's place that cannot be used.
	standing string
}

// Error is a sentence that people may read.
func (r *Refusal) Error() string {
	if r.standing != "" {
		return r.standing
	}
	return kinds[r.Code].sentence
}

// Problem is the refusal as the API and the pages answer it: details.reason is the
// code.
func (r *Refusal) Problem() *problem.Problem {
	kind, known := kinds[r.Code]
	if !known {
		kind.code = problem.Forbidden
	}
	p := problem.New(kind.code, "%s", r.Error()).WithDetail("reason", string(r.Code))
	p.RetryAfter = r.RetryAfter
	return p
}

func refuse(code Code) error { return &Refusal{Code: code} }

// asRefusal says what the errors of other packages are at a door.
func asRefusal(err error) error {
	if errdefs.IsGone(err, person.MembershipNoun) {
		err = &person.StandingError{Reason: person.NoMembership}
	}
	if field, ok := errors.AsType[*errdefs.Invalid](err); ok && field.Field == "email" {
		return refuse(EmailRequired)
	}
	if stands, ok := errors.AsType[*person.StandingError](err); ok {
		return &Refusal{Code: Code(stands.Reason), standing: stands.Error()}
	}
	for known, code := range map[error]Code{
		errdefs.NotFound{Noun: portal.Noun}: NotPublished, errdefs.Archived{Noun: portal.Noun}: NotPublished, person.ErrFull: Full, person.ErrEmailTaken: AddressKnown,
		errdefs.NotFound{Noun: person.Noun}: PersonGone, errdefs.Gone{Noun: person.Noun}: PersonGone, errdefs.NotFound{Noun: person.MembershipNoun}: PersonGone,
		errdefs.NotFound{Noun: escalation.Noun}: LinkUnknown, &errdefs.Conflict{Noun: escalation.Noun, Reason: escalation.ReasonOver}: LinkUsedUp,
		mailer.ErrUnknownLink: LinkUnknown, mailer.ErrExpiredLink: LinkExpired, mailer.ErrUsedLink: TokenUsed, mailer.ErrRevokedLink: LinkRevoked,
		identity.ErrUnreachable: ProviderAway, identity.ErrDenied: ProviderDenied, identity.ErrAnswer: AnswerRefused,
		person.ErrOtherIdentity: AccountUnknown,
		mailer.ErrTooMany:       TooManyMails, mailer.ErrNoAddress: EmailRequired,
		errdefs.NotFound{Noun: candidate.InviteNoun}: LinkUnknown, candidate.ErrExpired: LinkExpired, candidate.ErrRevoked: LinkRevoked,
		errdefs.NotFound{Noun: candidate.Noun}: LinkUnknown, errdefs.Gone{Noun: candidate.Noun}: LinkRevoked,
		errdefs.NotFound{Noun: caselink.Noun}: LinkUnknown, caselink.ErrExpired: LinkExpired, caselink.ErrRevoked: LinkRevoked, caselink.ErrUsedUp: LinkUsedUp,
	} {
		if errors.Is(err, known) {
			return refuse(code)
		}
	}
	return err
}
