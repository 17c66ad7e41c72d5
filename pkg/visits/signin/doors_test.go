package signin_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/event/eventtest"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/sessions/caselink"
	"visavis.dev/pkg/sessions/escalation"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/limits"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
	"visavis.dev/pkg/visits/admission/admissiontest"
	"visavis.dev/pkg/visits/signin"
)

// pupil is a young learner in a unit, with a guardian's consent.
func (w *world) pupil() person.Membership {
	w.Helper()
	who := admissiontest.Person(w, w.tenants, w.one, func(p *person.Person) { p.AgeBand = person.From13 })
	return admissiontest.Membership(w, w.tenants, w.one, who.ID, w.portal.ID, func(m *person.Membership) {
		m.Consent = admissiontest.Consent(w, w.tenants, w.one, "given")
		m.Unit = admissiontest.Unit(w, w.tenants, w.one, w.portal.ID, id.Unit{}, true)
	})
}

func TestVisitors(t *testing.T) {
	all := signin.Card{Name: "Kim", Email: "kim@example.com", Consent: true, OldEnough: true}
	for name, c := range map[string]struct {
		requires []string
		minAge   bool
		change   func(*signin.Card)
		want     signin.Code
	}{
		"nothing is asked":       {nil, false, func(c *signin.Card) { *c = signin.Card{} }, ""},
		"all is given":           {[]string{"name", "email", "consent", "age_check"}, true, func(*signin.Card) {}, ""},
		"no name":                {[]string{"name"}, false, func(c *signin.Card) { c.Name = " " }, signin.NameRequired},
		"no address":             {[]string{"email"}, false, func(c *signin.Card) { c.Email = "" }, signin.EmailRequired},
		"what is no address":     {nil, false, func(c *signin.Card) { c.Email = "Kim <kim@example.com>" }, signin.EmailRequired},
		"no consent":             {[]string{"consent"}, false, func(c *signin.Card) { c.Consent = false }, signin.ConsentRequired},
		"no age":                 {[]string{"age_check"}, false, func(c *signin.Card) { c.OldEnough = false }, signin.AgeRequired},
		"the portal has its age": {nil, true, func(c *signin.Card) { c.OldEnough = false }, signin.AgeRequired},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(p *portal.Portal) {
				if c.minAge {
					p.Definition.MinAge = new(int64(16))
				}
			})
			w.set(door.Visitors, door.Change{Open: true, Requires: append([]string{}, c.requires...)})
			card := all
			c.change(&card)
			in, err := w.gate.AsVisitor(t.Context(), w.one, w.portal.ID, card)
			if c.want != "" {
				w.refused(c.want, err)
				require.Zero(t, w.count(`SELECT count(*) FROM portal_visit WHERE org_id = $1`, w.one))
				return
			}
			require.NoError(t, err)
			r := in.Request()
			require.Equal(t, []any{card.Name, session.FromPortal, "visitors", card.Email}, []any{in.Name, r.Source, r.Door, r.Collected["email"]})
		})
	}
}

func TestJoinCodes(t *testing.T) {
	w := newWorld(t)
	doors, err := door.List(t.Context(), w.tenants, w.one, w.portal.ID)
	require.NoError(t, err)
	require.Len(t, doors, len(door.Keys))
	code := *doors[2].Code
	require.Regexp(t, `^[A-Z2-9]{4}-[A-Z2-9]{4}$`, code)
	join := func(code string, c signin.Card, household string) (signin.Entered, error) {
		return w.gate.ByJoinCode(t.Context(), w.one, w.portal.ID, code, c, household)
	}
	card := signin.Card{Name: "Kim", Email: "kim@example.com"}
	for range 3 * 10 {
		in, err := join(" "+code[:4]+code[5:]+" ", card, "a school")
		require.NoError(t, err, "a class comes from one address at once")
		require.Equal(t, []any{"join_code", "Kim"}, []any{in.Door, in.Name})
	}
	_, err = join(code, signin.Card{}, "a school")
	w.refused(signin.NameRequired, err)
	for range 40 {
		_, err = join(code, signin.Card{}, "a slow school")
		w.refused(signin.NameRequired, err) // the code was right
	}
	_, err = join("", card, "a school")
	w.refused(signin.CodeUnknown, err)
	for range 30 {
		_, err = join("AAAA-AAAA", card, "a guesser")
		w.refused(signin.CodeUnknown, err)
	}
	_, err = join(code, card, "a guesser")
	w.refused(signin.TooManyTries, err)

	w.set(door.JoinCode, door.Change{Requires: []string{}})
	_, err = join(code, card, "a school")
	w.refused(signin.DoorClosed, err)
	again := w.set(door.JoinCode, door.Change{Open: true, Requires: []string{}})
	require.NotEqual(t, code, *again.Code)
	require.Equal(t, *again.Code, *w.set(door.JoinCode, door.Change{Open: true, Requires: []string{"name"}}).Code, "it was open")
	_, err = join(code, card, "a school")
	w.refused(signin.CodeUnknown, err)
}

// One address that guesses shuts out nobody else, and many together no more than the
// portal's bound.
func TestGuessersShutOutThemselves(t *testing.T) {
	w := newWorld(t)
	doors, err := door.List(t.Context(), w.tenants, w.one, w.portal.ID)
	require.NoError(t, err)
	guess := func(household string) error {
		_, err := w.gate.ByJoinCode(t.Context(), w.one, w.portal.ID, "AAAA-AAAA", signin.Card{Name: "Kim"}, household)
		return err
	}
	for range 30 {
		w.refused(signin.CodeUnknown, guess("2001:db8::/64"))
	}
	for range 200 {
		w.refused(signin.TooManyTries, guess("2001:db8::/64"))
	}
	_, err = w.gate.ByJoinCode(t.Context(), w.one, w.portal.ID, *doors[2].Code, signin.Card{Name: "Kim"}, "a school")
	require.NoError(t, err)

	// What other addresses have tried in this minute.
	_, err = w.counts.Take(t.Context(), limits.Counter{Org: w.one, Holder: w.portal.ID.String(), Class: "join_code"}, 5000, 5000)
	require.NoError(t, err)
	var last error
	for range 5000 {
		if last = guess(id.NewRequest().String()); !isUnknown(last) {
			break
		}
	}
	w.refused(signin.TooManyTries, last)
}

func isUnknown(err error) bool {
	r, ok := errors.AsType[*signin.Refusal](err)
	return ok && r.Code == signin.CodeUnknown
}

func TestCustomers(t *testing.T) {
	w := newWorld(t)
	var made signin.Issued
	who := signin.Details{Ref: "c-1", Name: "Kim", Email: "kim@example.com", Verified: true, Attributes: map[string]string{"tier": "gold"}}
	issue := func() error {
		return w.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
			made, err = w.gate.IssueCustomer(ctx, tx, w.portal.ID, who, 100*24*time.Hour, testActor)
			return err
		})
	}
	require.NoError(t, issue())
	require.Equal(t, tenanttest.Now.Add(24*time.Hour), made.ExpiresAt, "never for longer")
	for range 2 {
		in, err := w.gate.ByCustomerToken(t.Context(), w.one, w.portal.ID, made.Token)
		require.NoError(t, err)
		require.Equal(t, []any{"customers", "Kim", who}, []any{in.Door, in.Name, in.Details})
	}
	w.set(door.Customers, door.Change{Requires: []string{}})
	_, err := w.gate.ByCustomerToken(t.Context(), w.one, w.portal.ID, made.Token)
	w.refused(signin.DoorClosed, err)
	w.refused(signin.DoorClosed, issue())
}

func TestChatsThatAreHandedOver(t *testing.T) {
	w := newWorld(t)
	token := escalation.NewToken()
	e := escalation.Escalation{
		ID: id.NewEscalation(), Portal: w.portal.ID, State: escalation.Waiting, ExternalChatID: "chat-1", Channel: "web", Language: "de",
		Reason: new("asked for it"), Context: escalation.Context{Transcript: []escalation.Line{{Speaker: "customer", Text: "My door is stuck."}}},
		ExpiresAt: tenanttest.Now.Add(time.Minute), Metadata: map[string]string{}, CreatedAt: tenanttest.Now,
	}
	require.NoError(t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error { return escalation.Insert(ctx, tx, e, token, testActor) }))
	come := func() (signin.Entered, error) { return w.gate.ByEscalation(t.Context(), w.one, w.portal.ID, token) }
	_, err := w.gate.ByEscalation(t.Context(), w.one, w.portal.ID, escalation.NewToken())
	w.refused(signin.LinkUnknown, err)
	in, err := come()
	require.NoError(t, err)
	r := in.Request()
	require.Equal(t, []any{"escalation", session.Escalation, e.ID, "de", "customers"}, []any{in.Door, r.Kind, r.Escalation, r.Language, r.Door})
	require.Contains(t, r.Context, "asked for it\ncustomer: My door is stuck.")

	is := func(state escalation.State) {
		w.exec(`UPDATE escalation SET state = $2 WHERE org_id = $1`, w.one, state)
	}
	for state, want := range map[escalation.State]signin.Code{
		escalation.Completed: signin.LinkUsedUp, escalation.Expired: signin.LinkExpired, escalation.Declined: signin.LinkRevoked,
	} {
		is(state)
		_, err = come()
		w.refused(want, err)
		_, err = w.gate.Find(t.Context(), w.portal.ID, in.Secret)
		w.refused(want, err)
	}
	is(escalation.Live)
	_, err = w.gate.Find(t.Context(), w.portal.ID, in.Secret)
	require.NoError(t, err)
	is(escalation.Waiting)
	w.clock.SetTime(e.ExpiresAt)
	_, err = come()
	w.refused(signin.LinkExpired, err)
	swept, err := escalation.Sweep(t.Context(), w.tenants, "a", w.clock.Now())
	require.NoError(t, err)
	require.Equal(t, 1, swept)
	found, err := escalation.Get(t.Context(), w.tenants, w.one, e.ID)
	require.NoError(t, err)
	require.Equal(t, escalation.Expired, found.State)
	_, err = escalation.Get(t.Context(), w.tenants, w.two, e.ID)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: escalation.Noun})
}

func TestLinksToCases(t *testing.T) {
	w := newWorld(t)
	link := func(change func(*caselink.Link)) (caselink.Link, caselink.Token) {
		l := caselink.Link{
			ID: id.NewCaseLink(), Portal: w.portal.ID, CaseRef: "4711", Title: "A door", Summary: "It is stuck.", Language: "en", Channel: "link",
			Contact: &caselink.Contact{Name: new("Kim")}, ExpiresAt: tenanttest.Now.Add(time.Hour), Metadata: map[string]string{}, CreatedBy: "test",
			CreatedAt: tenanttest.Now,
		}
		change(&l)
		token := caselink.NewToken()
		require.NoError(t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error { return caselink.Insert(ctx, tx, l, token, testActor) }))
		return l, token
	}
	come := func(token caselink.Token) (signin.Entered, error) {
		return w.gate.ByCaseLink(t.Context(), w.one, w.portal.ID, token)
	}
	_, err := come(caselink.NewToken())
	w.refused(signin.LinkUnknown, err)
	l, token := link(func(l *caselink.Link) { l.MaxOpens = new(int64(2)) })
	in, err := come(token)
	require.NoError(t, err)
	r := in.Request()
	require.Equal(t, []any{"case", session.Case, l.ID, "Kim"}, []any{in.Door, r.Kind, r.CaseLink, in.Name})
	require.Contains(t, r.Context, "It is stuck.")
	_, err = come(token)
	require.NoError(t, err)
	_, err = come(token)
	w.refused(signin.LinkUsedUp, err)
	require.Len(t, eventtest.Log(t, w.tenants, w.one, event.CaseLinkOpened), 1, "of the first time alone")
	found, err := caselink.Get(t.Context(), w.tenants, w.one, l.ID)
	require.NoError(t, err)
	require.Equal(t, []any{int64(2), caselink.Opened}, []any{found.OpenCount, found.State(tenanttest.Now)})

	_, err = w.gate.Find(t.Context(), w.portal.ID, in.Secret)
	require.NoError(t, err)
	require.NoError(t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := caselink.Revoke(ctx, tx, l.ID, testActor)
		return err
	}))
	_, err = w.gate.Find(t.Context(), w.portal.ID, in.Secret)
	w.refused(signin.LinkRevoked, err)
	_, err = come(token)
	w.refused(signin.LinkRevoked, err)
	_, late := link(func(l *caselink.Link) { l.ExpiresAt = tenanttest.Now })
	_, err = come(late)
	w.refused(signin.LinkExpired, err)
	w.set(door.Customers, door.Change{Requires: []string{}})
	_, err = come(late)
	w.refused(signin.DoorClosed, err)
}

// A code is known to a whole class: with it nobody is somebody whom the organization
// vouches for.
func TestACodeOpensNobodysPlace(t *testing.T) {
	w := newWorld(t)
	doors, err := door.List(t.Context(), w.tenants, w.one, w.portal.ID)
	require.NoError(t, err)
	code := *doors[2].Code
	add := func(email string, claimed bool) (p person.Person, err error) {
		err = w.tenants.InTx(t.Context(), w.one, func(ctx context.Context, tx *tenant.Tx) (err error) {
			p, _, err = person.FindOrAdd(ctx, tx, person.Wanted{Name: "Lee", Email: &email, Claimed: claimed, At: tenanttest.Now})
			return err
		})
		return p, err
	}
	join := func(email string) (signin.Entered, error) {
		return w.gate.ByJoinCode(t.Context(), w.one, w.portal.ID, code, signin.Card{Name: "Kim", Email: email}, "a school")
	}
	teacher, err := add("teacher@example.com", false)
	require.NoError(t, err)
	other, err := join("Teacher@example.com")
	require.NoError(t, err)
	require.NotEqual(t, teacher.ID, other.Person)
	require.Equal(t, "Kim", other.Name, "greeted as who they say they are")

	first, err := join("kim@example.com")
	require.NoError(t, err)
	again, err := join("kim@example.com")
	require.NoError(t, err)
	require.NotEqual(t, first.Person, again.Person, "nor somebody who came by the code before")
	_, err = w.gate.Find(t.Context(), w.portal.ID, first.Secret)
	require.NoError(t, err, "who was in stays in")

	// The organization's own system knows whose the address is: not who came by the code.
	known, err := add("kim@example.com", false)
	require.NoError(t, err)
	require.NotEqual(t, first.Person, known.ID)
	require.Equal(t, []any{"Lee", false}, []any{known.Name, known.Claimed})
	require.Equal(t, 1, w.count(`SELECT count(*) FROM person WHERE org_id = $1 AND id = $2 AND name = 'Kim' AND claimed AND email IS NULL`, w.one, first.Person))
	_, err = w.gate.Find(t.Context(), w.portal.ID, first.Secret)
	require.NoError(t, err, "who came by the code is left as they are")
	// Nor does a claim keep an address from somebody whom the organization knows by an id.
	claimed, err := join("lou@example.com")
	require.NoError(t, err)
	require.NoError(t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		for _, email := range []*string{nil, new("lou@example.com")} {
			p, _, err := person.FindOrAdd(ctx, tx, person.Wanted{Name: "Lou", ExternalID: new("lou"), Email: email, At: tenanttest.Now})
			require.NoError(t, err)
			require.NotEqual(t, claimed.Person, p.ID)
			require.Equal(t, email, p.Email)
		}
		return nil
	}))
	late, err := join("kim@example.com")
	require.NoError(t, err)
	require.NotEqual(t, known.ID, late.Person)
}
