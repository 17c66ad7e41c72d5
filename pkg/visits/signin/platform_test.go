package signin_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/provider/lti"
	"visavis.dev/pkg/provider/lti/ltitest"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/signin"
)

const launchAt = "https://portal.example.com/p/harbour/lti/con_1/launch"

// taught is a world whose portal a learning platform launches.
type taught struct {
	*world
	*ltitest.Platform
	connection id.Connection
	shown      id.Subject
}

func newTaught(t *testing.T, changes ...func(map[string]any)) *taught {
	t.Helper()
	p := &taught{world: newWorld(t), Platform: ltitest.New(t), shown: id.NewSubject()}
	p.Clock = p.clock.Now
	p.gate.Platforms = lti.NewKeys(p.Guard(), p.clock)
	p.gate.Connections = connection.NewOpener(p.tenants, p.gate.Vault, p.clock)
	p.connection = p.connect(p.Config(p.portal.ID.String()), changes...)
	return p
}

func (p *taught) connect(config map[string]any, changes ...func(map[string]any)) id.Connection {
	p.Helper()
	for _, change := range changes {
		change(config)
	}
	offer, ok := connection.FindOffer(connection.LMS, connection.LTI)
	require.True(p.T, ok)
	require.NoError(p.T, offer.Check(config))
	c := connection.New(offer, "Moodle", config, "", p.clock.Now())
	c.TimeoutMs, c.Fallback = 5000, connection.FallbackFail
	require.NoError(p.T, p.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Create(ctx, tx, p.gate.Vault, c, "", activity.Actor{By: "test", At: c.CreatedAt})
	}))
	return c.ID
}

// hint is a login initiation.
func hint(v url.Values) lti.Hint {
	return lti.Hint{Issuer: v.Get("iss"), Login: v.Get("login_hint"), Message: v.Get("lti_message_hint"), ClientID: v.Get("client_id"), Deployment: v.Get("lti_deployment_id")}
}

func (p *taught) begin() signin.PlatformQuestion {
	p.Helper()
	q, err := p.gate.AskPlatform(p.Context(), p.one, p.portal.ID, p.connection, hint(p.Hint()), launchAt)
	require.NoError(p.T, err)
	return q
}

func (p *taught) finish(q signin.PlatformQuestion, given url.Values) (signin.Launched, error) {
	return p.gate.ByPlatform(p.Context(), p.one, p.portal.ID, p.connection, signin.PlatformAnswer{
		State: given.Get("state"), Token: given.Get("id_token"), Cookie: q.Cookie, Subject: func(s id.Subject) bool { return s == p.shown },
	})
}

func (p *taught) come() (signin.Launched, error) {
	q := p.begin()
	return p.finish(q, p.Answer(q.URL))
}

// persons counts the people of the organization.
func (p *taught) persons() int {
	return p.count(`SELECT count(*) FROM person WHERE org_id = $1`, p.one)
}

func TestALearningPlatformLaunches(t *testing.T) {
	p := newTaught(t, func(c map[string]any) { c["frameOrigins"] = []any{"https://school.example.com"} })
	// Whoever has the address already is somebody else, whatever the platform says of it.
	other := p.member("kim@example.com")
	p.Claims = func(c jwt.MapClaims) {
		ltitest.Of(c, p.shown.String())
		ltitest.Set(c, "launch_presentation", map[string]any{"return_url": "https://school.example.com/course", "locale": "de-DE"})
	}
	q := p.begin()
	require.NotContains(t, q.State, "nonce", "it is sealed")
	given := p.Answer(q.URL)
	in, err := p.finish(q, given)
	require.NoError(t, err)
	require.Empty(t, in.Choice)
	require.NotEqual(t, other.Person, in.Person)
	require.Equal(t, []any{"embed", "Kim Lee", person.Learner, p.shown, "https://school.example.com/course"},
		[]any{in.Door, in.Name, in.Role, *in.Details.Subject, in.Details.ReturnURL})
	require.Equal(t, []string{"https://school.example.com"}, in.Details.AllowedOrigins)
	require.Nil(t, in.Sits.Email)
	require.Equal(t, "de", *in.Sits.Language)
	events, err := event.List(t.Context(), p.tenants, p.one, event.Filter{Types: []event.Type{event.LearnerSignedIn}}, event.Position{}, 10)
	require.NoError(t, err)
	require.Len(t, events, 1)

	// What was used once opens nothing again, and neither does its token for another question.
	_, err = p.finish(q, given)
	p.refused(signin.TokenUsed, err)
	next := p.begin()
	_, err = p.finish(next, url.Values{"state": {next.State}, "id_token": given["id_token"]})
	p.refused(signin.AnswerRefused, err)

	people := p.persons()
	again, err := p.come()
	require.NoError(t, err)
	require.Equal(t, []any{in.Person, in.Membership, people}, []any{again.Person, again.Membership, p.persons()})

	// Another person of the platform is another here; one without a name gets one.
	p.Claims = func(c jwt.MapClaims) { c["sub"] = "user-2"; delete(c, "name") }
	second, err := p.come()
	require.NoError(t, err)
	require.NotEqual(t, in.Person, second.Person)
	require.Regexp(t, `^Learner .{6}$`, second.Name)
	require.Nil(t, second.Details.Subject)

	// A place that was removed is not made again.
	p.exec(`UPDATE membership SET removed_at = now() WHERE org_id = $1 AND person_id = $2`, p.one, second.Person)
	_, err = p.come()
	p.refused(signin.Code(person.NoMembership), err)
	p.exec(`UPDATE membership SET removed_at = NULL WHERE org_id = $1 AND person_id = $2`, p.one, second.Person)
	// Who is switched off stays out, and who is erased is not known any more.
	p.exec(`UPDATE person SET state = 'disabled' WHERE org_id = $1 AND id = $2`, p.one, second.Person)
	_, err = p.come()
	p.refused(signin.Code(person.PersonDisabled), err)
	require.Equal(t, []string{"https://school.example.com"}, func() []string { out, _ := p.come(); return out.Origins }(), "it is read in the same frame")
	require.NoError(t, p.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := person.Erase(ctx, tx, in.Person, person.Author{By: "test", At: p.clock.Now()})
		return err
	}))
	p.Claims = nil
	_, err = p.come()
	p.refused(signin.PersonGone, err)
}

func TestWhoTeachesIsATeacherWhereTheConnectionSaysSo(t *testing.T) {
	p := newTaught(t)
	p.Claims = func(c jwt.MapClaims) {
		ltitest.Set(c, "roles", []string{"http://purl.imsglobal.org/vocab/lis/v2/institution/person#Administrator", "http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor"})
	}
	in, err := p.come()
	require.NoError(t, err)
	require.Equal(t, person.Learner, in.Role)

	teaching := func(c map[string]any) { c["teachers"] = true }
	p.connection = p.connect(p.Config(p.portal.ID.String()), teaching)
	in, err = p.come()
	require.NoError(t, err)
	require.Equal(t, []any{person.Teacher, "staff"}, []any{in.Role, in.Door})
	p.set(door.Staff, door.Change{Open: false, Requires: []string{}})
	_, err = p.come()
	p.refused(signin.DoorClosed, err)
	p.set(door.Staff, door.Change{Open: true, Requires: []string{}})

	// Whom the organization gave more to do does not come in by what a platform says.
	p.exec(`UPDATE membership SET role = 'manager' WHERE org_id = $1 AND id = $2`, p.one, in.Membership)
	_, err = p.come()
	p.refused(signin.ProviderDenied, err)
	p.exec(`UPDATE membership SET role = 'teacher' WHERE org_id = $1 AND id = $2`, p.one, in.Membership)
	p.exec(`UPDATE connection SET config = config - 'teachers' WHERE org_id = $1 AND id = $2`, p.one, p.connection)
	p.clock.SetTime(p.clock.Now().Add(time.Minute))
	_, err = p.come()
	p.refused(signin.ProviderDenied, err)

	// What somebody is in the institution, and not in the course, counts for nothing.
	p.connection = p.connect(p.Config(p.portal.ID.String()), teaching)
	p.Claims = func(c jwt.MapClaims) {
		ltitest.Set(c, "roles", []string{"http://purl.imsglobal.org/vocab/lis/v2/institution/person#Instructor", "http://purl.imsglobal.org/vocab/lis/v2/system/person#Administrator"})
	}
	in, err = p.come()
	require.NoError(t, err)
	require.Equal(t, []any{person.Learner, "embed"}, []any{in.Role, in.Door})
}

func TestWhatIsSaidOfALaunchMustHold(t *testing.T) {
	p := newTaught(t)
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	public, err := x509.MarshalPKIXPublicKey(&p.Key.PublicKey)
	require.NoError(t, err)
	by := func(method jwt.SigningMethod, key any, name string) func(jwt.MapClaims) string {
		return func(c jwt.MapClaims) string {
			token := jwt.NewWithClaims(method, c)
			token.Header["kid"] = name
			signed, err := token.SignedString(key)
			require.NoError(t, err)
			return signed
		}
	}
	set := func(name string, value any) func(jwt.MapClaims) {
		return func(c jwt.MapClaims) { c[name] = value }
	}
	its := func(name string, value any) func(jwt.MapClaims) {
		return func(c jwt.MapClaims) { ltitest.Set(c, name, value) }
	}
	for name, attack := range map[string]struct {
		claims func(jwt.MapClaims)
		sign   func(jwt.MapClaims) string
		code   signin.Code
	}{
		"no algorithm":                {sign: by(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, "1")},
		"HS256 with the public key":   {sign: by(jwt.SigningMethodHS256, public, "1")},
		"RS512":                       {sign: by(jwt.SigningMethodRS512, p.Key, "1")},
		"a stranger's key":            {sign: by(jwt.SigningMethodRS256, stranger, "1")},
		"a key nobody has":            {sign: by(jwt.SigningMethodRS256, stranger, "2")},
		"no key":                      {sign: by(jwt.SigningMethodRS256, p.Key, "")},
		"a key with a long name":      {sign: by(jwt.SigningMethodRS256, p.Key, strings.Repeat("k", 100_000))},
		"no token":                    {sign: func(jwt.MapClaims) string { return "" }},
		"two tokens":                  {sign: func(c jwt.MapClaims) string { return p.Signed(c) + "." + p.Signed(c) }},
		"another audience":            {claims: set("aud", "tool-2")},
		"an audience among several":   {claims: set("aud", []string{ltitest.ClientID, "tool-2"})},
		"another party":               {claims: set("azp", "tool-2")},
		"another issuer":              {claims: set("iss", "https://moodle.example.com")},
		"another nonce":               {claims: set("nonce", "n")},
		"no nonce":                    {claims: func(c jwt.MapClaims) { delete(c, "nonce") }},
		"no end":                      {claims: func(c jwt.MapClaims) { delete(c, "exp") }},
		"over":                        {claims: func(c jwt.MapClaims) { c["exp"] = p.clock.Now().Add(-2 * time.Minute).Unix() }},
		"no beginning":                {claims: func(c jwt.MapClaims) { delete(c, "iat") }},
		"made in the future":          {claims: func(c jwt.MapClaims) { c["iat"] = p.clock.Now().Add(time.Hour).Unix() }},
		"made long ago":               {claims: func(c jwt.MapClaims) { c["iat"] = p.clock.Now().Add(-2 * time.Hour).Unix() }},
		"a foreign deployment":        {claims: its("deployment_id", "deployment-2")},
		"no deployment":               {claims: its("deployment_id", nil)},
		"another version":             {claims: its("version", "1.1.0")},
		"another message":             {claims: its("message_type", "LtiSubmissionReviewRequest")},
		"no link":                     {claims: its("resource_link", map[string]any{})},
		"a person with a long name":   {claims: set("sub", strings.Repeat("u", 256))},
		"nobody":                      {claims: func(c jwt.MapClaims) { delete(c, "sub") }, code: signin.AccountUnknown},
		"a subject that is not shown": {claims: func(c jwt.MapClaims) { ltitest.Of(c, id.NewSubject().String()) }, code: signin.LinkUnknown},
		"a subject that is none":      {claims: func(c jwt.MapClaims) { ltitest.Of(c, "//elsewhere.example.com") }, code: signin.LinkUnknown},
		"a person with a NUL":         {claims: set("sub", "user\x00")},
		"a name with a NUL":           {claims: set("name", "Kim\x00Lee")},
		"a learner who would choose":  {claims: p.Linking, code: signin.ProviderDenied},
		"a choice that goes nowhere": {claims: func(c jwt.MapClaims) {
			p.Linking(c)
			ltitest.Instructor(c)
			c["https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings"] = map[string]any{"deep_link_return_url": "javascript:alert(1)", "accept_types": []string{"ltiResourceLink"}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p.Claims, p.Sign = attack.claims, attack.sign
			if attack.code == "" {
				attack.code = signin.AnswerRefused
			}
			_, err := p.come()
			p.refused(attack.code, err)
			require.Zero(t, p.persons())
		})
	}
	p.Claims, p.Sign = nil, nil
	for name, changed := range map[string]string{"iss": "https://moodle.example.com", "login_hint": "", "client_id": "tool-2", "lti_deployment_id": "deployment-2"} {
		given := p.Hint()
		given.Set(name, changed)
		_, err := p.gate.AskPlatform(t.Context(), p.one, p.portal.ID, p.connection, hint(given), launchAt)
		p.refused(signin.AnswerRefused, err)
	}

	// The answer to a question of another browser, of another connection, or too late.
	mine, theirs := p.begin(), p.begin()
	_, err = p.finish(mine, p.Answer(theirs.URL))
	p.refused(signin.AnswerRefused, err)
	_, err = p.finish(signin.PlatformQuestion{}, p.Answer(mine.URL))
	p.refused(signin.AnswerRefused, err)
	first := p.connection
	p.connection = p.connect(p.Config(p.portal.ID.String()))
	_, err = p.finish(mine, p.Answer(mine.URL))
	p.refused(signin.AnswerRefused, err)
	p.connection = first
	p.clock.SetTime(p.clock.Now().Add(signin.LaunchFor))
	_, err = p.finish(mine, p.Answer(mine.URL))
	p.refused(signin.AnswerRefused, err)

	// Of another portal or organization, of another kind, before it is registered, and once switched off.
	for _, change := range []func(map[string]any){
		func(c map[string]any) { c["portalId"] = id.NewPortal().String() },
		func(c map[string]any) { delete(c, "clientId") },
		func(c map[string]any) { c["deploymentIds"] = []any{} },
	} {
		p.connection = p.connect(p.Config(p.portal.ID.String()), change)
		_, err := p.gate.AskPlatform(t.Context(), p.one, p.portal.ID, p.connection, hint(p.Hint()), launchAt)
		require.Error(t, err)
	}
	_, err = p.gate.AskPlatform(t.Context(), p.two, p.portal.ID, first, hint(p.Hint()), launchAt)
	p.refused(signin.ProviderAway, err)
	p.connection = first
	p.exec(`UPDATE connection SET state = 'disabled' WHERE org_id = $1 AND id = $2`, p.one, first)
	p.clock.SetTime(p.clock.Now().Add(time.Minute))
	_, err = p.gate.AskPlatform(t.Context(), p.one, p.portal.ID, first, hint(p.Hint()), launchAt)
	p.refused(signin.ProviderAway, err)
}

func TestKeysAreReadSeldom(t *testing.T) {
	p := newTaught(t)
	_, err := p.come()
	require.NoError(t, err)
	require.Equal(t, 1, p.Reads())
	named := 0
	p.Sign = func(c jwt.MapClaims) string {
		token := jwt.NewWithClaims(jwt.SigningMethodRS256, c)
		token.Header["kid"] = fmt.Sprint("bomb-", named)
		named++
		signed, err := token.SignedString(p.Key)
		require.NoError(t, err)
		return signed
	}
	for range 20 {
		_, err := p.come()
		p.refused(signin.AnswerRefused, err)
	}
	require.Equal(t, 1, p.Reads())
	p.clock.SetTime(p.clock.Now().Add(time.Minute))
	for range 20 {
		_, err := p.come()
		p.refused(signin.AnswerRefused, err)
	}
	require.Equal(t, 2, p.Reads())

	// A new key is found once the platform has one.
	p.Published = []string{"2"}
	p.Sign = func(c jwt.MapClaims) string {
		token := jwt.NewWithClaims(jwt.SigningMethodRS256, c)
		token.Header["kid"] = "2"
		signed, err := token.SignedString(p.Key)
		require.NoError(t, err)
		return signed
	}
	p.clock.SetTime(p.clock.Now().Add(time.Minute))
	_, err = p.come()
	require.NoError(t, err)

	// Addresses that are not public are not asked.
	p.gate.Platforms = lti.NewKeys(egress.New(egress.Options{}), p.clock)
	_, err = p.come()
	p.refused(signin.ProviderAway, err)
}

func TestALaunchIsNoWayAroundADoor(t *testing.T) {
	p := newTaught(t)
	for requires, code := range map[string]signin.Code{"name": signin.NameRequired, "email": signin.EmailRequired, "consent": signin.ConsentRequired, "age_check": signin.AgeRequired} {
		p.set(door.Embed, door.Change{Open: true, Requires: []string{requires}})
		p.Claims = func(c jwt.MapClaims) { delete(c, "name"); delete(c, "email") }
		_, err := p.come()
		p.refused(code, err)
	}
	p.set(door.Embed, door.Change{Open: true, Requires: []string{"name", "email"}})
	p.Claims = nil
	_, err := p.come()
	require.NoError(t, err)
	p.set(door.Embed, door.Change{Open: false, Requires: []string{}})
	_, err = p.come()
	p.refused(signin.DoorClosed, err)
	p.set(door.Embed, door.Change{Open: true, Requires: []string{}})

	// Where a guardian must agree, whoever is young waits for that, and who may be is asked.
	p.exec(`UPDATE portal_version SET definition = jsonb_set(definition, '{guardianConsentUnder}', '16') WHERE org_id = $1`, p.one)
	_, err = p.come()
	p.refused(signin.AgeRequired, err)
	p.connection = p.connect(p.Config(p.portal.ID.String()), func(c map[string]any) { c["ageBand"] = "13_15" })
	_, err = p.come()
	p.refused(signin.Code(person.GuardianConsentMissing), err)
	p.connection = p.connect(p.Config(p.portal.ID.String()), func(c map[string]any) { c["ageBand"] = "adult" })
	_, err = p.come()
	require.NoError(t, err)
}

// Somebody who chooses a link comes in to nothing, and chooses by the door that the link leads through.
func TestWhoChoosesALinkComesInToNothing(t *testing.T) {
	p := newTaught(t)
	p.Claims = func(c jwt.MapClaims) { p.Linking(c); ltitest.Instructor(c) }
	in, err := p.come()
	require.NoError(t, err)
	require.Empty(t, in.Secret)
	require.Zero(t, p.persons())
	choose := func(choice string) (signin.Chosen, jwt.MapClaims, error) {
		var signed jwt.MapClaims
		out, err := p.gate.Choose(t.Context(), p.one, p.portal.ID, p.connection, choice, lti.Item{URL: launchAt}, func(_ context.Context, c jwt.Claims) (string, error) {
			signed, _ = c.(jwt.MapClaims)
			return "token", nil
		})
		return out, signed, err
	}
	out, signed, err := choose(in.Choice)
	require.NoError(t, err)
	require.Equal(t, []any{p.URL + "/chosen", "token", "d-1"}, []any{out.ReturnURL, out.Token, signed["https://purl.imsglobal.org/spec/lti-dl/claim/data"]})

	for _, bad := range []string{"", "x", in.Choice[1:], p.begin().State} {
		_, signed, err := choose(bad)
		p.refused(signin.AnswerRefused, err)
		require.Nil(t, signed)
	}
	first := p.connection
	p.connection = p.connect(p.Config(p.portal.ID.String()))
	_, _, err = choose(in.Choice)
	p.refused(signin.AnswerRefused, err)
	p.connection = first
	p.set(door.Embed, door.Change{Open: false, Requires: []string{}})
	_, _, err = choose(in.Choice)
	p.refused(signin.DoorClosed, err)
	_, err = p.come()
	p.refused(signin.DoorClosed, err)
	p.set(door.Embed, door.Change{Open: true, Requires: []string{}})
	p.exec(`UPDATE connection SET config = jsonb_set(config, '{deploymentIds}', '["deployment-2"]') WHERE org_id = $1 AND id = $2`, p.one, first)
	p.clock.SetTime(p.clock.Now().Add(2 * time.Second))
	_, _, err = choose(in.Choice)
	p.refused(signin.AnswerRefused, err)
	p.exec(`UPDATE connection SET config = jsonb_set(config, '{deploymentIds}', '["deployment-1"]') WHERE org_id = $1 AND id = $2`, p.one, first)
	p.clock.SetTime(p.clock.Now().Add(2 * time.Second))
	_, _, err = choose(in.Choice)
	require.NoError(t, err)
	p.clock.SetTime(p.clock.Now().Add(signin.ChoiceFor))
	_, _, err = choose(in.Choice)
	p.refused(signin.AnswerRefused, err)
}
