package signin

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/learning/course"
	"visavis.dev/pkg/learning/resourcelink"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/provider/lti"
	"visavis.dev/pkg/store/tenant"
)

// LaunchFor is how long a learning platform may take to say who somebody is.
const LaunchFor = 10 * time.Minute

// platformAttempt is what comes back from a platform as the state, sealed.
type platformAttempt struct {
	// ID is spent with the answer.
	ID    id.Request `json:"id"`
	Nonce string     `json:"nonce"`
	// Browser is the hash of what the browser that began keeps.
	Browser   []byte    `json:"browser"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// PlatformQuestion is a browser's way to a learning platform, which answers with the state.
type PlatformQuestion struct {
	// URL is where it goes, and Cookie what it keeps meanwhile, for State.
	URL, State, Cookie string
	ExpiresAt          time.Time
}

// PlatformAnswer is what a browser brings back from a learning platform.
type PlatformAnswer struct {
	// State and Token are what was posted, and Cookie what the browser kept for the state.
	State, Token, Cookie string
	// Subject says whether the portal shows a subject.
	Subject func(id.Subject) bool
}

// Launched is what came of a launch: somebody who came in, or who is to choose what a course
// links to.
type Launched struct {
	Entered
	// Choice is what Choose takes of somebody who is to choose; empty where they came in.
	Choice string
	// Origins are of the pages that may show what comes of it in a frame, also where that is a
	// Refusal.
	Origins []string
}

// launches is where the state of a launch opens: for the connection alone.
func launches(org id.Org, c id.Connection) string { return "lti " + org.String() + " " + c.String() }

// PlatformOf is the connection of a learning platform whose people land on a portal. The error
// can be a Refusal.
func (g *Gate) PlatformOf(ctx context.Context, org id.Org, p id.Portal, which id.Connection) (connection.Opened, error) {
	c, err := g.Connections.Open(ctx, org, which)
	switch {
	case errdefs.IsAbsent(err, connection.Noun), errors.Is(err, connection.ErrDisabled):
		return c, refuse(ProviderAway)
	case err != nil:
		return c, unpublished(err)
	}
	if at, ok := c.Config.Portal(); !ok || at != p || c.Provider != connection.LTI {
		return connection.Opened{}, refuse(ProviderAway)
	}
	return c, nil
}

// AskPlatform sends somebody to the learning platform of a connection, which answers to
// redirect. Nothing of the hint is believed. The error can be a Refusal.
func (g *Gate) AskPlatform(ctx context.Context, org id.Org, p id.Portal, which id.Connection, h lti.Hint, redirect string) (PlatformQuestion, error) {
	c, err := g.PlatformOf(ctx, org, p, which)
	if err != nil {
		return PlatformQuestion{}, err
	}
	from := c.Platform()
	if !from.Ready() || !from.Meant(h) {
		return PlatformQuestion{}, refuse(AnswerRefused)
	}
	cookie := rand.Text()
	hash := sha256.Sum256([]byte(cookie))
	at := platformAttempt{ID: id.NewRequest(), Nonce: rand.Text(), Browser: hash[:], ExpiresAt: g.Clock.Now().UTC().Add(LaunchFor)}
	kept, err := json.Marshal(at)
	if err != nil {
		return PlatformQuestion{}, err
	}
	state := base64.RawURLEncoding.EncodeToString(g.Vault.Seal(launches(org, c.ID), kept))
	to, err := from.Ask(h, redirect, state, at.Nonce)
	return PlatformQuestion{URL: to, State: state, Cookie: cookie, ExpiresAt: at.ExpiresAt}, err
}

// ByPlatform lets in whom a learning platform vouches for, by its name for them: no address
// makes anybody somebody else. Who is new to it is added. They are learners, or where the
// connection says so teachers if they teach there, and never more. The error can be a Refusal.
func (g *Gate) ByPlatform(ctx context.Context, org id.Org, p id.Portal, which id.Connection, a PlatformAnswer) (Launched, error) {
	var out Launched
	c, err := g.PlatformOf(ctx, org, p, which)
	if err != nil {
		return out, err
	}
	out.Origins = c.FrameOrigins()
	at, err := g.launchOf(org, c.ID, a)
	if err != nil {
		return out, err
	}
	l, err := g.Platforms.Verify(ctx, c.Platform(), a.Token, at.Nonce)
	switch {
	case errors.Is(err, lti.ErrUnreachable):
		return out, refuse(ProviderAway)
	case errors.Is(err, lti.ErrToken):
		return out, refuse(AnswerRefused)
	case err != nil:
		return out, err
	}
	if l.Message == lti.DeepLink {
		if !l.Designs() {
			return out, refuse(ProviderDenied)
		}
		out.Choice, err = g.mayChoose(ctx, &c, p, &l, func(ctx context.Context, tx *tenant.Tx) error {
			return spendOnce(ctx, tx, uuid.UUID(at.ID), at.ExpiresAt)
		})
		return out, err
	}
	terms, err := g.Terms(ctx, org)
	if err != nil {
		return out, unpublished(err)
	}
	out.Entered, err = g.enter(ctx, org, p, func(ctx context.Context, tx *tenant.Tx, e *entrance) (Visit, error) {
		if err := spendOnce(ctx, tx, uuid.UUID(at.ID), at.ExpiresAt); err != nil {
			return Visit{}, err
		}
		return e.launched(ctx, tx, &c, &l, a.Subject, terms)
	})
	return out, err
}

// ChoiceFor is how long somebody may choose what a course links to.
const ChoiceFor = time.Hour

// choice is what a platform asked to have chosen, sealed: whoever has it may choose.
type choice struct {
	Deployment string      `json:"deployment"`
	Linking    lti.Linking `json:"linking"`
	ExpiresAt  time.Time   `json:"expiresAt"`
}

// choices is where a choice opens: for the connection alone.
func choices(org id.Org, c id.Connection) string {
	return "lti choice " + org.String() + " " + c.String()
}

// mayChoose has somebody choose what a course links to, by the door that leads from there. The error
// can be a Refusal.
func (g *Gate) mayChoose(
	ctx context.Context, c *connection.Opened, p id.Portal, l *lti.Launch, spend func(context.Context, *tenant.Tx) error,
) (string, error) {
	if err := g.linkable(ctx, c, p, spend); err != nil {
		return "", err
	}
	kept, err := json.Marshal(choice{l.Deployment, l.Linking, g.Clock.Now().UTC().Add(ChoiceFor)})
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(g.Vault.Seal(choices(c.Org, c.ID), kept)), nil
}

// linkable refuses links to a portal that is not published, or whose door is closed that they lead
// through.
func (g *Gate) linkable(ctx context.Context, c *connection.Opened, p id.Portal, also func(context.Context, *tenant.Tx) error) error {
	err := g.Tenants.InTx(ctx, c.Org, func(ctx context.Context, tx *tenant.Tx) error {
		e, err := g.before(ctx, tx, p)
		if err != nil {
			return err
		}
		if err := e.open(ctx, tx, door.Embed); err != nil || also == nil {
			return err
		}
		return also(ctx, tx)
	})
	return asRefusal(unpublished(err))
}

// Chosen is how a platform is answered that asked to have something chosen.
type Chosen struct {
	// ReturnURL is where the browser takes the signed Token.
	ReturnURL, Token string
	// Origins are of the pages that may show that in a frame, also where it is a Refusal.
	Origins []string
}

// Choose answers a platform with what somebody chose, by the Choice that they were given. The error
// can be a Refusal.
func (g *Gate) Choose(
	ctx context.Context, org id.Org, p id.Portal, which id.Connection, given string, item lti.Item, sign func(context.Context, jwt.Claims) (string, error),
) (out Chosen, err error) {
	c, err := g.PlatformOf(ctx, org, p, which)
	if err != nil {
		return out, err
	}
	out.Origins = c.FrameOrigins()
	sealed, err := base64.RawURLEncoding.DecodeString(given)
	if err != nil {
		return out, refuse(AnswerRefused)
	}
	kept, err := g.Vault.Open(choices(org, c.ID), sealed)
	if err != nil {
		return out, refuse(AnswerRefused)
	}
	var asked choice
	if err := json.Unmarshal(kept, &asked); err != nil {
		return out, err
	}
	now, to := g.Clock.Now(), c.Platform()
	if !now.Before(asked.ExpiresAt) || !slices.Contains(to.Deployments, asked.Deployment) {
		return out, refuse(AnswerRefused)
	}
	if err := g.linkable(ctx, &c, p, nil); err != nil {
		return out, err
	}
	out.ReturnURL = asked.Linking.ReturnURL
	out.Token, err = sign(ctx, to.Answer(asked.Deployment, asked.Linking, item, rand.Text(), now, LaunchFor))
	return out, err
}

// launchOf is the question that an answer is to, which the same browser asked.
func (g *Gate) launchOf(org id.Org, c id.Connection, a PlatformAnswer) (at platformAttempt, err error) {
	sealed, err := base64.RawURLEncoding.DecodeString(a.State)
	if err != nil {
		return at, refuse(AnswerRefused)
	}
	kept, err := g.Vault.Open(launches(org, c), sealed)
	if err != nil {
		return at, refuse(AnswerRefused)
	}
	if err := json.Unmarshal(kept, &at); err != nil {
		return at, err
	}
	hash := sha256.Sum256([]byte(a.Cookie))
	if !g.Clock.Now().Before(at.ExpiresAt) || subtle.ConstantTimeCompare(hash[:], at.Browser) != 1 {
		return at, refuse(AnswerRefused)
	}
	return at, nil
}

// subjectParameter names the subject that a link leads to.
const subjectParameter = "subject"

// launched gives whom a platform vouches for their place, by the door of those whom the
// organization's own systems sign in.
func (e *entrance) launched(
	ctx context.Context, tx *tenant.Tx, c *connection.Opened, l *lti.Launch, shown func(id.Subject) bool, terms plan.Terms,
) (Visit, error) {
	if l.User == "" {
		return Visit{}, refuse(AccountUnknown)
	}
	about, err := subjectOf(l, shown)
	if err != nil {
		return Visit{}, err
	}
	if err := person.Hold(ctx, tx, e.portal.ID); err != nil {
		return Visit{}, err
	}
	if l.Instructs() && l.Course.Members != "" {
		if err := course.Came(ctx, tx, c, e.portal.ID, l, e.now); err != nil {
			return Visit{}, err
		}
	}
	from, err := course.Enter(ctx, tx, c, e.portal.ID, l)
	if err != nil {
		return Visit{}, err
	}
	who, added, err := e.vouched(ctx, tx, c, l, terms)
	if err != nil {
		return Visit{}, err
	}
	m, err := e.placed(ctx, tx, c, l, from, who, added)
	if err != nil {
		return Visit{}, err
	}
	if err := e.open(ctx, tx, doorOf(m.Role)); err != nil {
		return Visit{}, err
	}
	if err := e.suits(who, l); err != nil {
		return Visit{}, err
	}
	v, err := e.seat(ctx, tx, who.ID, m.ID)
	if err == nil && about != nil && l.LineItem != "" && m.Role == person.Learner {
		link := resourcelink.Link{
			Key: resourcelink.Key{Person: who.ID, Subject: *about}, Connection: c.ID, User: l.User, LineItem: l.LineItem,
			Origin: resourcelink.Origin{Issuer: c.Config.Text("issuer"), ClientID: c.Config.Text("clientId"), Deployment: l.Deployment},
		}
		err = resourcelink.Keep(ctx, tx, link, e.now)
	}
	v.Details = Details{Subject: about, AllowedOrigins: c.FrameOrigins(), ReturnURL: l.ReturnURL}
	return v, err
}

// placed is the place of somebody whom a platform vouches for: that by which they come from a course that is read
// (course.Place), and else the oldest. It is made for who was just added, or whose place was taken away because a
// list of the platform had them no more: one that was removed otherwise or switched off since is not made again. Its role
// stays as it is: one who has more to do on the portal than a platform may say does not come in by it, by any place.
func (e *entrance) placed(
	ctx context.Context, tx *tenant.Tx, c *connection.Opened, l *lti.Launch, from *course.Course, who person.Person, added bool,
) (m person.Membership, err error) {
	role, teachers := person.Learner, c.Config.On("teachers")
	if teachers && l.Instructs() {
		role = person.Teacher
	}
	if added {
		return e.join(ctx, tx, c, from, who, role)
	}
	m, err = e.seated(ctx, tx, from, who.ID)
	if none, ok := errors.AsType[*person.StandingError](err); ok && none.Reason == person.NoMembership {
		away, err := e.mayReturn(ctx, tx, c, from, who.ID)
		if err != nil || !away {
			return m, cmp.Or(err, error(none))
		}
		return e.rejoin(ctx, tx, c, from, who, role)
	}
	if err != nil {
		return m, err
	}
	if m.Role != person.Learner && !teachers {
		return m, refuse(ProviderDenied)
	}
	places, err := person.Places(ctx, tx, who.ID, e.now)
	for _, p := range places {
		if p.Membership.Portal == e.portal.ID && !course.Allows(c, p.Membership) {
			return m, refuse(ProviderDenied)
		}
	}
	return m, err
}

// mayReturn says whether somebody who has no place on the portal gets one again: lists alone took theirs, and the
// organization did not take them out of the class that they come from.
func (e *entrance) mayReturn(ctx context.Context, tx *tenant.Tx, c *connection.Opened, from *course.Course, who id.Person) (bool, error) {
	if from != nil {
		if out, err := from.TookOut(ctx, tx, who); err != nil || out {
			return false, err
		}
	}
	return course.TakenAway(ctx, tx, c.ID, e.portal.ID, who)
}

// seated is the place by which somebody comes in who has one.
func (e *entrance) seated(ctx context.Context, tx *tenant.Tx, from *course.Course, who id.Person) (person.Membership, error) {
	var in id.Membership
	if from != nil {
		var err error
		if in, err = from.Place(ctx, tx, who, e.now); err != nil {
			return person.Membership{}, err
		}
	}
	sits, err := person.Seat(ctx, tx, e.portal.ID, who, in, e.now)
	if _, ok := errors.AsType[*person.StandingError](err); ok && !in.IsZero() {
		sits, err = person.Seat(ctx, tx, e.portal.ID, who, id.Membership{}, e.now)
	}
	return sits.Membership, err
}

// join gives somebody who is new a place: who learns in a course that is read has it in its class.
func (e *entrance) join(
	ctx context.Context, tx *tenant.Tx, c *connection.Opened, from *course.Course, who person.Person, role person.Role,
) (person.Membership, error) {
	if role != person.Learner {
		from = nil
	}
	return e.place(ctx, tx, c, from, who, role)
}

// rejoin gives a place again to somebody whose was taken by a list. It is in the class of the course also for who
// teaches it: they may never have had more than a class, so they do not get the whole portal, and learn where there is
// no class.
func (e *entrance) rejoin(
	ctx context.Context, tx *tenant.Tx, c *connection.Opened, from *course.Course, who person.Person, role person.Role,
) (person.Membership, error) {
	if from == nil {
		role = person.Learner
	}
	return e.place(ctx, tx, c, from, who, role)
}

// place gives somebody a place in the class of a course, as if its list had them, or outside any where that is nil.
func (e *entrance) place(
	ctx context.Context, tx *tenant.Tx, c *connection.Opened, in *course.Course, who person.Person, role person.Role,
) (person.Membership, error) {
	at := person.Place{Portal: e.portal.ID, Role: role, Find: true}
	if in != nil {
		at.Unit = in.Unit
	}
	m, _, err := person.Join(ctx, tx, who, at, person.Author{By: c.ID.String(), At: e.now}.Unlogged())
	if err == nil && in != nil {
		err = in.Seat(ctx, tx, who.ID, m.ID)
	}
	return m, err
}

// subjectOf is the subject that a link leads to; nil for none.
func subjectOf(l *lti.Launch, shown func(id.Subject) bool) (*id.Subject, error) {
	text := l.Custom[subjectParameter]
	if text == "" {
		return nil, nil //nolint:nilnil // a link can lead to the portal
	}
	about, err := id.ParseSubject(text)
	if err != nil || !shown(about) {
		return nil, refuse(LinkUnknown)
	}
	return &about, nil
}

// vouched is the person that a platform means, locked. Who is new is added, without an address:
// nobody says that it is theirs.
func (e *entrance) vouched(
	ctx context.Context, tx *tenant.Tx, c *connection.Opened, l *lti.Launch, terms plan.Terms,
) (who person.Person, added bool, err error) {
	at := person.At{Connection: c.ID, Issuer: c.Config.Text("issuer"), Subject: l.User}
	wanted := person.Wanted{Name: l.Name, AgeBand: person.AgeBand(c.Config.Text("ageBand")), Terms: terms, At: e.now}
	if wanted.Name == "" {
		wanted.Name = course.Unnamed(l.User)
	}
	code, _, _ := strings.Cut(strings.ReplaceAll(l.Locale, "_", "-"), "-")
	if spoken, ok := language.Lookup(code); ok && code != "" {
		wanted.Language = &spoken.Code
	}
	if who, added, err = person.Admit(ctx, tx, at, wanted); err == nil && added {
		err = course.Welcome(ctx, tx, at)
	}
	return who, added, err
}

// suits refuses whom the door asks for what no launch proves: a launch is no way around a door.
func (e *entrance) suits(who person.Person, l *lti.Launch) error {
	d := e.version.Definition
	asksAge := e.requires("age_check") || d.MinAge != nil || d.GuardianConsentUnder != nil
	switch {
	case e.requires("name") && l.Name == "":
		return refuse(NameRequired)
	case e.requires("email") && !isAddress(l.Email):
		return refuse(EmailRequired)
	case e.requires("consent"):
		return refuse(ConsentRequired)
	case asksAge && who.AgeBand == person.UnknownAge:
		return refuse(AgeRequired)
	}
	return nil
}
