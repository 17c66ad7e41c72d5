package signin_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/event/eventtest"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
	"visavis.dev/pkg/visits/signin"
)

func TestAnEmbedTokenOpensOnce(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	m := w.learner()
	subject := id.NewSubject()
	made, err := w.embed(signin.Embed{Person: m.Person, Details: signin.Details{
		Subject: &subject, AllowedOrigins: []string{"https://lms.example.com"}, ReturnURL: "https://lms.example.com/back",
	}})
	require.NoError(t, err)
	require.Equal(t, tenanttest.Now.Add(time.Hour), made.ExpiresAt)

	in, err := w.gate.ByEmbedToken(ctx, w.one, w.portal.ID, made.Token)
	require.NoError(t, err)
	require.Equal(t, []any{"embed", m.Person, m.ID, "Kim", tenanttest.Now.Add(signin.VisitFor)},
		[]any{in.Door, in.Person, in.Membership, in.Name, in.ExpiresAt})
	_, err = w.gate.ByEmbedToken(ctx, w.one, w.portal.ID, made.Token)
	w.refused(signin.TokenUsed, err)

	found, err := w.gate.Find(ctx, w.portal.ID, in.Secret)
	require.NoError(t, err)
	require.Equal(t, in.Guest, found)
	r := found.Request()
	require.Equal(t, []any{session.FromEmbed, w.portal.ID, subject, m.Person, m.ID, "embed", []string{"https://lms.example.com"}},
		[]any{r.Source, r.Portal, r.Subject, r.Person, r.Membership, r.Door, r.AllowedOrigins})
	require.Empty(t, r.Collected, "who has a place is known by it")

	require.Equal(t, 1, w.count(`SELECT count(*) FROM person WHERE org_id = $1 AND id = $2 AND state = 'active' AND last_seen_at = $3`, w.one, m.Person, tenanttest.Now))
	require.Equal(t, 1, w.count(`SELECT count(*) FROM membership WHERE org_id = $1 AND id = $2 AND door = 'embed' AND last_sign_in_at = $3`, w.one, m.ID, tenanttest.Now))
	_, err = w.gate.ByEmbedToken(ctx, w.one, w.portal.ID, w.tokenOf(m))
	require.NoError(t, err, "another token")
	told := eventtest.Log(t, w.tenants, w.one, event.LearnerSignedIn)
	require.Len(t, told, 2)
	require.Contains(t, string(told[0].Structure), `"firstTime": true`)
	require.Contains(t, string(told[1].Structure), `"firstTime": false`)
}

// Of those who sign in with one token at the same time, exactly one is let in.
func TestOneTokenAtOnce(t *testing.T) {
	w := newWorld(t)
	token := w.tokenOf(w.learner())
	const rivals = 8
	errs := make([]error, rivals)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() { _, errs[i] = w.gate.ByEmbedToken(context.Background(), w.one, w.portal.ID, token) })
	}
	group.Wait()
	in := 0
	for _, err := range errs {
		if err == nil {
			in++
			continue
		}
		w.refused(signin.TokenUsed, err)
	}
	require.Equal(t, 1, in)
	require.Equal(t, 1, w.count(`SELECT count(*) FROM portal_visit WHERE org_id = $1`, w.one))
}

func TestTokensThatOpenNothing(t *testing.T) {
	w := newWorld(t)
	m := w.learner()
	good := w.tokenOf(m)
	parts := strings.Split(good, ".")
	altered := func(part int, change func(map[string]any)) string {
		raw, err := base64.RawURLEncoding.DecodeString(parts[part])
		require.NoError(t, err)
		said := map[string]any{}
		require.NoError(t, json.Unmarshal(raw, &said))
		change(said)
		raw, err = json.Marshal(said)
		require.NoError(t, err)
		changed := []string{parts[0], parts[1], parts[2]}
		changed[part] = base64.RawURLEncoding.EncodeToString(raw)
		return strings.Join(changed, ".")
	}
	none, err := jwt.NewWithClaims(jwt.SigningMethodNone, jwt.RegisteredClaims{Issuer: w.one.String()}).SignedString(jwt.UnsafeAllowNoneSignatureType)
	require.NoError(t, err)
	var customers signin.Issued
	require.NoError(t, w.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		customers, err = w.gate.IssueCustomer(ctx, tx, w.portal.ID, signin.Details{Ref: "c-1"}, time.Hour, testActor)
		return err
	}))
	other := *w
	other.portal = portaltest.Portal(t, w.tenants, w.one, id.NewPersona())
	other.set(door.Embed, door.Change{Open: true, Requires: []string{}})
	theirs := portaltest.Portal(t, w.tenants, w.two, id.NewPersona())

	for name, c := range map[string]struct {
		org    id.Org
		portal id.Portal
		token  string
		want   signin.Code
	}{
		"nothing":                    {w.one, w.portal.ID, "", signin.TokenInvalid},
		"no token":                   {w.one, w.portal.ID, "a.b.c", signin.TokenInvalid},
		"unsigned":                   {w.one, w.portal.ID, none, signin.TokenInvalid},
		"without its signature":      {w.one, w.portal.ID, parts[0] + "." + parts[1] + ".", signin.TokenInvalid},
		"another's signature":        {w.one, w.portal.ID, parts[0] + "." + parts[1] + "." + strings.Split(customers.Token, ".")[2], signin.TokenInvalid},
		"an algorithm of its own":    {w.one, w.portal.ID, altered(0, func(h map[string]any) { h["alg"] = "none" }), signin.TokenInvalid},
		"another algorithm":          {w.one, w.portal.ID, altered(0, func(h map[string]any) { h["alg"] = "HS512" }), signin.TokenInvalid},
		"another key":                {w.one, w.portal.ID, altered(0, func(h map[string]any) { h["kid"] = id.NewSigningKey().String() }), signin.TokenInvalid},
		"no key":                     {w.one, w.portal.ID, altered(0, func(h map[string]any) { delete(h, "kid") }), signin.TokenInvalid},
		"for somebody else":          {w.one, w.portal.ID, altered(1, func(c map[string]any) { c["membership"] = id.NewMembership().String() }), signin.TokenInvalid},
		"for longer":                 {w.one, w.portal.ID, altered(1, func(c map[string]any) { c["exp"] = c["exp"].(float64) + 3600 }), signin.TokenInvalid},
		"for another portal":         {w.one, other.portal.ID, good, signin.TokenElsewhere},
		"a customer's":               {w.one, w.portal.ID, customers.Token, signin.TokenElsewhere},
		"at another's":               {w.two, theirs.ID, good, signin.TokenInvalid},
		"at a portal that is no one": {w.one, id.NewPortal(), good, signin.NotPublished},
		"at another's portal":        {w.one, theirs.ID, good, signin.NotPublished},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.gate.ByEmbedToken(t.Context(), c.org, c.portal, c.token)
			w.refused(c.want, err)
		})
	}
	_, err = w.gate.ByCustomerToken(t.Context(), w.one, w.portal.ID, good)
	w.refused(signin.TokenElsewhere, err)
	_, err = w.gate.ByEmbedToken(t.Context(), w.one, w.portal.ID, good)
	require.NoError(t, err, "no attempt used it up")
	expired := w.tokenOf(m)
	w.clock.SetTime(tenanttest.Now.Add(time.Hour))
	_, err = w.gate.ByEmbedToken(t.Context(), w.one, w.portal.ID, expired)
	w.refused(signin.TokenExpired, err)
}

// A key signs for thirty days. Its last tokens are believed to their end, and then it
// is forgotten.
func TestKeysRotate(t *testing.T) {
	w := newWorld(t)
	m := w.learner()
	keys := func() int { return w.count(`SELECT count(*) FROM signing_key WHERE org_id = $1`, w.one) }
	kid := func(token string) string {
		parsed, _, err := jwt.NewParser().ParseUnverified(token, jwt.MapClaims{})
		require.NoError(t, err)
		return parsed.Header["kid"].(string)
	}
	day := 24 * time.Hour
	first := kid(w.tokenOf(m))
	w.clock.SetTime(tenanttest.Now.Add(30*day - time.Second))
	last, err := w.embed(signin.Embed{Person: m.Person, GoodFor: day})
	require.NoError(t, err)
	require.Equal(t, []any{first, 1}, []any{kid(last.Token), keys()})
	w.clock.SetTime(tenanttest.Now.Add(30 * day))
	require.NotEqual(t, first, kid(w.tokenOf(m)))
	require.Equal(t, 2, keys())
	w.clock.SetTime(tenanttest.Now.Add(31*day - 2*time.Second))
	w.sweep()
	require.Equal(t, 2, keys())
	_, err = w.gate.ByEmbedToken(t.Context(), w.one, w.portal.ID, last.Token)
	require.NoError(t, err, "signed by the key before, to the end")
	w.clock.SetTime(tenanttest.Now.Add(31*day + time.Second))
	w.sweep()
	require.Equal(t, 1, keys())
	require.Zero(t, w.count(`SELECT count(*) FROM used_token WHERE org_id = $1`, w.one), "it could not open anything any more")
	require.Zero(t, w.count(`SELECT count(*) FROM signing_key WHERE org_id = $1 AND length(secret) <= 32`, w.one), "secrets are sealed")
}

func (w *world) sweep() {
	w.Helper()
	_, err := signin.Sweep(w.Context(), w.tenants, "a", w.clock.Now())
	require.NoError(w, err)
}

// Whoever would not be let in any more is not in any more.
func TestWhoIsInNoMore(t *testing.T) {
	var (
		set = func(sql string) func(*world, signin.Entered) {
			return func(w *world, in signin.Entered) { w.exec(sql, w.one, in.Person) }
		}
		close = func(key door.Key) func(*world, signin.Entered) {
			return func(w *world, _ signin.Entered) { w.set(key, door.Change{Requires: []string{}}) }
		}
	)
	for name, c := range map[string]struct {
		change func(*world, signin.Entered)
		want   signin.Code
	}{
		"the door is closed":      {close(door.Embed), signin.DoorClosed},
		"the place is off":        {set(`UPDATE membership SET enabled = false WHERE org_id = $1 AND person_id = $2`), "membership_disabled"},
		"the place has ended":     {set(`UPDATE membership SET ends_at = '2026-01-01' WHERE org_id = $1 AND person_id = $2`), "membership_ended"},
		"the place is gone":       {set(`DELETE FROM membership WHERE org_id = $1 AND person_id = $2`), "no_membership"},
		"the unit is off":         {set(`UPDATE unit SET enabled = false WHERE org_id = $1 AND $2::UUID IS NOT NULL`), "membership_disabled"},
		"the person is off":       {set(`UPDATE person SET state = 'disabled' WHERE org_id = $1 AND id = $2`), "person_disabled"},
		"the person is erased":    {set(`UPDATE person SET state = 'erased' WHERE org_id = $1 AND id = $2`), signin.PersonGone},
		"a guardian took it back": {set(`UPDATE consent SET state = 'withdrawn' WHERE org_id = $1 AND $2::UUID IS NOT NULL`), "guardian_consent_missing"},
		"the portal is taken back": {func(w *world, _ signin.Entered) {
			w.exec(`UPDATE portal SET state = 'unpublished' WHERE org_id = $1`, w.one)
		}, signin.NotPublished},
		"the visit is over": {func(w *world, in signin.Entered) { w.clock.SetTime(in.ExpiresAt) }, signin.VisitEnded},
		"they left":         {func(w *world, in signin.Entered) { require.NoError(w, w.gate.Leave(w.Context(), in.Secret)) }, signin.VisitEnded},
		"forgotten":         {func(w *world, in signin.Entered) { w.clock.SetTime(in.ExpiresAt.Add(time.Second)); w.sweep() }, signin.VisitEnded},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(p *portal.Portal) { p.Definition.GuardianConsentUnder = new(int64(16)) })
			m := w.pupil()
			in, err := w.gate.ByEmbedToken(t.Context(), w.one, w.portal.ID, w.tokenOf(m))
			require.NoError(t, err)
			c.change(w, in)
			out, err := w.gate.Find(t.Context(), w.portal.ID, in.Secret)
			w.refused(c.want, err)
			require.Equal(t, signin.Guest{Org: w.one, Visit: signin.Visit{Details: signin.Details{AllowedOrigins: out.Details.AllowedOrigins}}}, out)
			require.NoError(t, w.gate.Leave(t.Context(), in.Secret))
		})
	}
	w := newWorld(t)
	in, err := w.gate.AsVisitor(t.Context(), w.one, w.portal.ID, signin.Card{})
	require.NoError(t, err)
	theirs := portaltest.Portal(t, w.tenants, w.two, id.NewPersona())
	for _, at := range []id.Portal{theirs.ID, portaltest.Portal(t, w.tenants, w.one, id.NewPersona()).ID} {
		_, err = w.gate.Find(t.Context(), at, in.Secret)
		w.refused(signin.VisitEnded, err)
	}
	for _, secret := range []signin.Secret{"", "x", "vvs_", in.Secret + "x", signin.Secret("vvs_" + w.two.Bare() + string(in.Secret[26:])), signin.Secret("vvs_" + id.NewOrg().Bare() + string(in.Secret[26:]))} {
		_, err = w.gate.Find(t.Context(), w.portal.ID, secret)
		w.refused(signin.VisitEnded, err)
	}
}

// A place that cannot be used gets no token, and one that could not be used any more
// when it was shown opens nothing and is not used up.
func TestTokensOfPlaces(t *testing.T) {
	w := newWorld(t)
	off := w.learner(func(m *person.Membership) { m.Enabled = false })
	_, err := w.embed(signin.Embed{Person: off.Person})
	w.refused("membership_disabled", err)
	_, err = w.embed(signin.Embed{Person: id.NewPerson()})
	w.refused(signin.PersonGone, err)
	_, err = w.embed(signin.Embed{Portal: id.NewPortal(), Person: off.Person})
	w.refused(signin.NotPublished, err)

	m := w.learner()
	token := w.tokenOf(m)
	w.exec(`UPDATE membership SET enabled = false WHERE org_id = $1 AND id = $2`, w.one, m.ID)
	_, err = w.gate.ByEmbedToken(t.Context(), w.one, w.portal.ID, token)
	w.refused("membership_disabled", err)
	w.exec(`UPDATE membership SET enabled = true WHERE org_id = $1 AND id = $2`, w.one, m.ID)
	_, err = w.gate.ByEmbedToken(t.Context(), w.one, w.portal.ID, token)
	require.NoError(t, err)

	teacher := w.learner(func(m *person.Membership) { m.Role = person.Teacher })
	token = w.tokenOf(teacher)
	w.set(door.Staff, door.Change{Requires: []string{}})
	_, err = w.gate.ByEmbedToken(t.Context(), w.one, w.portal.ID, token)
	w.refused(signin.DoorClosed, err)
	_, err = w.embed(signin.Embed{Person: teacher.Person})
	w.refused(signin.DoorClosed, err)
	w.set(door.Staff, door.Change{Open: true, Requires: []string{}})
	in, err := w.gate.ByEmbedToken(t.Context(), w.one, w.portal.ID, token)
	require.NoError(t, err)
	require.Equal(t, "staff", in.Door)
	require.Len(t, eventtest.Log(t, w.tenants, w.one, event.LearnerSignedIn), 1, "a teacher is no learner")
}

// A page that somebody looks at costs no transaction, but that they were seen is noted
// once in a while.
func TestLookingAtPagesWritesNothing(t *testing.T) {
	w := newWorld(t)
	m := w.learner()
	in, err := w.gate.ByEmbedToken(t.Context(), w.one, w.portal.ID, w.tokenOf(m))
	require.NoError(t, err)
	look := func() error {
		found, err := w.gate.Find(t.Context(), w.portal.ID, in.Secret)
		require.Equal(t, m.Person, found.Sits.ID)
		return err
	}
	// sent are the statements that a look makes, by their first words.
	sent := func() (verbs []string) {
		for _, s := range w.sent.Of(t, "", look) {
			verbs = append(verbs, strings.Fields(s.SQL)[0])
			require.NotContains(t, s.SQL, "lock", "nobody else waits for who reads")
		}
		return verbs
	}
	require.NotContains(t, sent(), "UPDATE")
	w.clock.SetTime(tenanttest.Now.Add(6 * time.Minute))
	require.Len(t, w.sent.Of(t, "UPDATE person", look), 1)
	require.NotContains(t, sent(), "UPDATE")
	require.Equal(t, 1, w.count(`SELECT count(*) FROM person WHERE org_id = $1 AND id = $2 AND last_seen_at = $3`, w.one, m.Person, w.clock.Now()))
}

// Who may show a refusal in a frame is said by what the organization made, and by
// nothing else.
func TestRefusalsAreReadInTheirFrames(t *testing.T) {
	w := newWorld(t)
	origins := []string{"https://school.example.com"}
	made, err := w.embed(signin.Embed{Person: w.learner().Person, Details: signin.Details{AllowedOrigins: origins}})
	require.NoError(t, err)
	elsewhere := portaltest.Portal(t, w.tenants, w.one, id.NewPersona())
	knock := func(at id.Portal, token string) []string {
		in, err := w.gate.ByEmbedToken(t.Context(), w.one, at, token)
		require.Error(t, err)
		require.Empty(t, in.Secret)
		return in.Details.AllowedOrigins
	}
	require.Empty(t, knock(elsewhere.ID, made.Token))
	require.Empty(t, knock(w.portal.ID, made.Token[:len(made.Token)-4]+"AAAA"))
	require.Empty(t, knock(w.portal.ID, "x"))
	w.set(door.Embed, door.Change{Requires: []string{}})
	require.Equal(t, origins, knock(w.portal.ID, made.Token))
	w.set(door.Embed, door.Change{Open: true, Requires: []string{}})

	in, err := w.gate.ByEmbedToken(t.Context(), w.one, w.portal.ID, made.Token)
	require.NoError(t, err)
	require.Equal(t, origins, knock(w.portal.ID, made.Token), "used up")
	w.clock.SetTime(tenanttest.Now.Add(13 * time.Hour))
	require.Equal(t, origins, knock(w.portal.ID, made.Token), "expired")
	require.Empty(t, knock(elsewhere.ID, made.Token))

	out, err := w.gate.Find(t.Context(), w.portal.ID, in.Secret)
	w.refused(signin.VisitEnded, err)
	require.Equal(t, origins, out.Details.AllowedOrigins)
	out, err = w.gate.Find(t.Context(), elsewhere.ID, in.Secret)
	w.refused(signin.VisitEnded, err)
	require.Empty(t, out.Details.AllowedOrigins)
}
