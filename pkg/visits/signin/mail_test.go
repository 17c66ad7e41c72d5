package signin_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	testingclock "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/sessions/caselink"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/admission/admissiontest"
	"visavis.dev/pkg/visits/signin"
)

// postbox keeps what is sent, unless it has an error to answer with.
type postbox struct {
	sent []mail.Message
	err  error
}

func (p *postbox) Send(_ context.Context, m mail.Message) error {
	p.sent = append(p.sent, m)
	return p.err
}

// deliver makes the steps of letters that are due, and answers how many.
func (w *world) deliver(to *postbox) int {
	w.Helper()
	r := &job.Runner{
		Tenants: w.tenants, Clock: testingclock.NewFakeClock(w.clock.Now()), Log: slog.New(slog.DiscardHandler),
		Works: map[job.Kind]job.Work{job.MailSend: (&mailer.Worker{
			Tenants: w.tenants, Vault: w.gate.Vault, Sender: to, PortalURL: "https://portal.example.com", Clock: w.clock, Log: slog.New(slog.DiscardHandler),
		}).Work()},
	}
	n, err := r.Advance(w.Context(), "a")
	require.NoError(w, err)
	return n
}

// member is somebody with an address and a place.
func (w *world) member(address string, changes ...func(*person.Membership)) person.Membership {
	w.Helper()
	p := admissiontest.Person(w, w.tenants, w.one, func(p *person.Person) { p.Email = &address })
	return admissiontest.Membership(w, w.tenants, w.one, p.ID, w.portal.ID, changes...)
}

func (w *world) ask(address string) error {
	return w.gate.AskForLink(w.Context(), w.one, w.portal.ID, signin.Card{Email: address, Language: "de"}, id.NewRequest().String())
}

// tokenIn is the token of the link in a mail.
func (w *world) tokenIn(m mail.Message) mailer.Token {
	w.Helper()
	_, after, found := strings.Cut(m.Text, "https://portal.example.com/p/"+w.portal.Slug+"/link#member=")
	require.True(w, found, m.Text)
	token, _, _ := strings.Cut(after, "\n")
	return mailer.Token(token)
}

// mailed is a link that a member asked for.
func (w *world) mailed(address string) mailer.Token {
	w.Helper()
	var box postbox
	require.NoError(w, w.ask(address))
	require.Equal(w, 1, w.deliver(&box))
	require.Len(w, box.sent, 1)
	return w.tokenIn(box.sent[0])
}

func (w *world) byLink(token mailer.Token) (signin.Entered, error) {
	return w.gate.ByMembersLink(w.Context(), w.one, w.portal.ID, token)
}

func TestAMailedLinkLetsItsMemberInOnce(t *testing.T) {
	w := newWorld(t)
	m := w.member("kim@example.com")
	require.NoError(t, w.ask(" KIM@example.com "))
	require.Zero(t, w.count(`SELECT count(*) FROM job WHERE org_id = $1 AND input::TEXT ILIKE '%kim@%'`, w.one), "no address lies open")
	var box postbox
	require.Equal(t, 1, w.deliver(&box))
	require.Zero(t, w.count(`SELECT count(*) FROM job WHERE org_id = $1`, w.one), "nothing is left of the job")
	require.Len(t, box.sent, 1)
	require.Equal(t, []string{"kim@example.com", "de"}, []string{box.sent[0].To, box.sent[0].Language})
	token := w.tokenIn(box.sent[0])
	require.Zero(t, w.count(`SELECT count(*) FROM mail_link WHERE org_id = $1 AND encode(hash, 'escape') = $2`, w.one, string(token)))

	in, err := w.byLink(token)
	require.NoError(t, err)
	require.Equal(t, []any{"members_link", m.Person, m.ID}, []any{in.Door, in.Person, in.Membership})
	events, err := event.List(t.Context(), w.tenants, w.one, event.Filter{Types: []event.Type{event.LearnerSignedIn}}, event.Position{}, 10)
	require.NoError(t, err)
	require.Len(t, events, 1)
	require.Contains(t, string(events[0].Structure), "members_link")
	require.Equal(t, 1, w.count(`SELECT count(*) FROM person WHERE org_id = $1 AND id = $2 AND state = 'active'`, w.one, m.Person))
	_, err = w.gate.Find(t.Context(), w.portal.ID, in.Secret)
	require.NoError(t, err)

	_, err = w.byLink(token)
	w.refused(signin.TokenUsed, err)
}

// Whoever asks learns nothing of who is known.
func TestNobodyIsAnsweredAsSomebodyIs(t *testing.T) {
	w := newWorld(t)
	gone, disabled, later := w.member("gone@example.com"), w.member("off@example.com"), w.clock.Now().Add(time.Hour)
	w.exec(`UPDATE membership SET removed_at = now() WHERE org_id = $1 AND id = $2`, w.one, gone.ID)
	w.exec(`UPDATE person SET state = 'disabled' WHERE org_id = $1 AND id = $2`, w.one, disabled.Person)
	w.member("early@example.com", func(m *person.Membership) { m.StartsAt = &later })
	other := "other@example.com"
	admissiontest.Person(t, w.tenants, w.one, func(p *person.Person) { p.Email = &other })
	var box postbox
	for _, address := range []string{"nobody@example.com", "gone@example.com", "off@example.com", "early@example.com", other} {
		require.NoError(t, w.ask(address), address)
		require.Equal(t, 1, w.deliver(&box), address)
	}
	require.Empty(t, box.sent)
	require.Zero(t, w.count(`SELECT count(*) FROM job WHERE org_id = $1`, w.one))
	require.Zero(t, w.count(`SELECT count(*) FROM mail_link WHERE org_id = $1`, w.one))
	for _, bad := range []string{"", "kim", "Kim <kim@example.com>", "a@b.example, c@d.example", "kim@example.com\r\nBcc: eve@example.com"} {
		w.refused(signin.EmailRequired, w.ask(bad))
	}
}

func TestWhatAMailedLinkDependsOn(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*world, person.Membership)
		want   signin.Code
	}{
		"its time": {func(w *world, _ person.Membership) { w.clock.SetTime(w.clock.Now().Add(15 * time.Minute)) }, signin.LinkExpired},
		"its door": {func(w *world, _ person.Membership) { w.set(door.MembersLink, door.Change{Requires: []string{}}) }, signin.DoorClosed},
		"the place": {func(w *world, m person.Membership) {
			w.exec(`UPDATE membership SET removed_at = now() WHERE org_id = $1 AND id = $2`, w.one, m.ID)
		}, "no_membership"},
		"the person": {func(w *world, m person.Membership) {
			w.exec(`UPDATE person SET state = 'disabled' WHERE org_id = $1 AND id = $2`, w.one, m.Person)
		}, "person_disabled"},
		"the address": {func(w *world, m person.Membership) {
			w.exec(`UPDATE person SET email = 'new@example.com', email_key = 'new@example.com' WHERE org_id = $1 AND id = $2`, w.one, m.Person)
		}, signin.LinkRevoked},
		"no address": {func(w *world, m person.Membership) {
			w.exec(`UPDATE person SET email = NULL, email_key = NULL WHERE org_id = $1 AND id = $2`, w.one, m.Person)
		}, signin.LinkRevoked},
		"what is public": {func(w *world, _ person.Membership) {
			w.exec(`UPDATE portal SET state = 'unpublished' WHERE org_id = $1 AND id = $2`, w.one, w.portal.ID)
		}, signin.NotPublished},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			m := w.member("kim@example.com")
			token := w.mailed("kim@example.com")
			c.change(w, m)
			_, err := w.byLink(token)
			w.refused(c.want, err)
			require.Zero(t, w.count(`SELECT count(*) FROM portal_visit WHERE org_id = $1`, w.one))
		})
	}
	w := newWorld(t)
	w.member("kim@example.com")
	token := w.mailed("kim@example.com")
	elsewhere := newWorld(t)
	_, err := elsewhere.byLink(token)
	elsewhere.refused(signin.LinkUnknown, err)
	for _, wrong := range []mailer.Token{"", "vml_", token + "A", token[:len(token)-1]} {
		_, err := w.byLink(wrong)
		w.refused(signin.LinkUnknown, err)
	}
	_, err = w.byLink(token)
	require.NoError(t, err, "what was refused uses nothing up")
}

// Whoever got in by an address that is not theirs is out once its owner comes.
func TestTheOwnerOfAMailboxIsBelieved(t *testing.T) {
	w := newWorld(t)
	doors, err := door.List(t.Context(), w.tenants, w.one, w.portal.ID)
	require.NoError(t, err)
	card := signin.Card{Name: "Eve", Email: "kim@example.com"}
	thief, err := w.gate.ByJoinCode(t.Context(), w.one, w.portal.ID, *doors[2].Code, card, "here")
	require.NoError(t, err)
	in, err := w.byLink(w.mailed("kim@example.com"))
	require.NoError(t, err)
	_, err = w.gate.Find(t.Context(), w.portal.ID, in.Secret)
	require.NoError(t, err)
	_, err = w.gate.Find(t.Context(), w.portal.ID, thief.Secret)
	w.refused(signin.VisitEnded, err)
	again, err := w.gate.ByJoinCode(t.Context(), w.one, w.portal.ID, *doors[2].Code, card, "here")
	require.NoError(t, err)
	require.NotEqual(t, in.Person, again.Person)
}

func TestNobodyIsFlooded(t *testing.T) {
	w := newWorld(t)
	for range 5 {
		require.NoError(t, w.ask("kim@example.com"))
	}
	w.refused(signin.TooManyMails, w.ask("Kim@Example.com"))
	require.NoError(t, w.ask("lee@example.com"))
	w.clock.SetTime(w.clock.Now().Add(time.Hour))
	require.NoError(t, w.ask("kim@example.com"))

	w.member("kim@example.com")
	w.exec(`INSERT INTO mail_count (org_id, holder, hour, taken) VALUES ($1, 'organization', $2, 2000)`, w.one, w.clock.Now().Truncate(time.Hour))
	var box postbox
	for w.deliver(&box) > 0 {
	}
	require.Empty(t, box.sent, "the organization had its share")

	for range 30 {
		_ = w.gate.AskForLink(t.Context(), w.one, w.portal.ID, signin.Card{Email: id.NewRequest().String() + "@example.com"}, "one house")
	}
	w.refused(signin.TooManyTries, w.gate.AskForLink(t.Context(), w.one, w.portal.ID, signin.Card{Email: "mo@example.com"}, "one house"))
}

func TestWithoutAMailServer(t *testing.T) {
	w := newWorld(t)
	m := w.member("kim@example.com")
	w.gate.Mails = nil
	w.refused(signin.NoMail, w.ask("kim@example.com"))
	w.refused(signin.NoMail, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return w.gate.Invite(ctx, tx, person.Person{}, m, person.Author{})
	}))
	w.refused(signin.NoMail, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return w.gate.SendCase(ctx, tx, w.portal.ID, id.NewCaseLink(), "kim@example.com", "vcl_1", person.Author{})
	}))
}

func TestALetterIsSentUntilItIsTaken(t *testing.T) {
	w := newWorld(t)
	w.member("kim@example.com")
	require.NoError(t, w.ask("kim@example.com"))
	box := postbox{err: errors.New("away")}
	require.Equal(t, 1, w.deliver(&box))
	require.Zero(t, w.deliver(&box), "it waits a while")
	w.clock.SetTime(w.clock.Now().Add(time.Minute))
	box.err = nil
	require.Equal(t, 1, w.deliver(&box))
	require.Len(t, box.sent, 2)
	require.Equal(t, box.sent[0].ID, box.sent[1].ID, "who gets both sees one")
	for _, m := range box.sent[:1] {
		_, err := w.byLink(w.tokenIn(m))
		require.NoError(t, err, "whichever is kept")
	}

	require.NoError(t, w.ask("kim@example.com"))
	box = postbox{err: errors.New("away")}
	for range 25 {
		w.deliver(&box)
		w.clock.SetTime(w.clock.Now().Add(time.Minute))
	}
	require.Less(t, len(box.sent), 10)
	require.Zero(t, w.count(`SELECT count(*) FROM job WHERE org_id = $1`, w.one), "nobody waits for it any more")

	require.NoError(t, w.ask("kim@example.com"))
	box = postbox{err: &mail.Refusal{Err: errors.New("no such mailbox")}}
	require.Equal(t, 1, w.deliver(&box))
	require.Zero(t, w.count(`SELECT count(*) FROM job WHERE org_id = $1`, w.one))
}

func (w *world) invite(m person.Membership) error {
	return w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		p, err := person.Find(ctx, tx, m.Person)
		if err != nil {
			return err
		}
		return w.gate.Invite(ctx, tx, p, m, person.Author{By: "key_1", At: w.clock.Now()})
	})
}

func TestInvitations(t *testing.T) {
	w := newWorld(t)
	m := w.member("kim@example.com")
	require.NoError(t, w.invite(m))
	var box postbox
	require.Equal(t, 1, w.deliver(&box))
	token := w.tokenIn(box.sent[0])
	w.clock.SetTime(w.clock.Now().Add(13 * 24 * time.Hour))
	_, err := w.byLink(token)
	require.NoError(t, err)

	require.NoError(t, w.invite(m))
	box = postbox{}
	w.deliver(&box)
	w.clock.SetTime(w.clock.Now().Add(14 * 24 * time.Hour))
	_, err = w.byLink(w.tokenIn(box.sent[0]))
	w.refused(signin.LinkExpired, err)

	w.refused(signin.EmailRequired, w.invite(w.learner()))
	w.set(door.MembersLink, door.Change{Requires: []string{}})
	w.refused(signin.DoorClosed, w.invite(m))
	w.exec(`UPDATE portal SET state = 'unpublished' WHERE org_id = $1 AND id = $2`, w.one, w.portal.ID)
	w.refused(signin.NotPublished, w.invite(m))
}

func TestWhoeverIsErasedGetsNoMail(t *testing.T) {
	w := newWorld(t)
	m, other := w.member("kim@example.com"), w.member("lee@example.com")
	token := w.mailed("kim@example.com")
	for _, each := range []person.Membership{m, other} {
		require.NoError(t, w.invite(each))
	}
	require.NoError(t, w.ask("kim@example.com"))
	w.exec(`INSERT INTO person_identity (org_id, connection_id, issuer, subject, person_id, created_at) VALUES ($1, $2, 'https://login.example.com', 'x', $3, now())`, w.one, id.NewConnection(), m.Person)
	eraser := &person.Eraser{Files: file.New(nil, w.tenants, w.clock), Forget: func(context.Context, *tenant.Tx, id.Person) (int, error) { return 0, nil }}
	require.NoError(t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		j, err := person.Erase(ctx, tx, m.Person, person.Author{By: "key_1", At: w.clock.Now()})
		if err != nil {
			return err
		}
		for !j.State.Ended() {
			if _, err := eraser.Step(ctx, tx, &j, w.clock.Now()); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `DELETE FROM job WHERE org_id = $1 AND id = $2`, tx.Org, j.ID)
		return err
	}))
	for _, table := range []string{"mail_link", "person_identity"} {
		require.Zero(t, w.count(`SELECT count(*) FROM `+table+` WHERE org_id = $1`, w.one), table)
	}
	require.Equal(t, 1, w.count(`SELECT count(*) FROM job WHERE org_id = $1 AND resource_kind = 'person'`, w.one))
	var box postbox
	for w.deliver(&box) > 0 {
	}
	require.Len(t, box.sent, 1)
	require.Equal(t, "lee@example.com", box.sent[0].To)
	_, err := w.byLink(token)
	w.refused(signin.LinkUnknown, err)
}

func TestCasesAreMailed(t *testing.T) {
	w := newWorld(t)
	address, token := "kim@example.com", caselink.NewToken()
	l := caselink.Link{
		ID: id.NewCaseLink(), Portal: w.portal.ID, CaseRef: "c-1", Title: "A door", Language: "de", Channel: caselink.ByEmail,
		Contact: &caselink.Contact{Email: &address}, ExpiresAt: w.clock.Now().Add(time.Hour), Metadata: map[string]string{}, CreatedAt: w.clock.Now(),
	}
	send := func() {
		require.NoError(t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			return w.gate.SendCase(ctx, tx, w.portal.ID, l.ID, address, string(token), person.Author{By: "key_1", At: w.clock.Now()})
		}))
	}
	find := func() caselink.Link {
		found, err := caselink.Get(t.Context(), w.tenants, w.one, l.ID)
		require.NoError(t, err)
		return found
	}
	require.NoError(t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error { return caselink.Insert(ctx, tx, l, token, testActor) }))
	send()
	require.Zero(t, w.count(`SELECT count(*) FROM job WHERE org_id = $1 AND (input::TEXT LIKE '%' || $2 || '%' OR input::TEXT LIKE '%kim@%')`, w.one, string(token)))
	created := find()
	require.Equal(t, caselink.Created, created.State(w.clock.Now()))
	require.Nil(t, created.SentTo())
	var box postbox
	require.Equal(t, 1, w.deliver(&box))
	require.Contains(t, box.sent[0].Text, "/link#case="+string(token)+"\n")
	require.Contains(t, box.sent[0].Subject, "A door")
	sent := find()
	require.Equal(t, caselink.Sent, sent.State(w.clock.Now()))
	require.Equal(t, "k…@example.com", *sent.SentTo())
	_, err := w.gate.ByCaseLink(t.Context(), w.one, w.portal.ID, token)
	require.NoError(t, err)
	opened := find()
	require.Equal(t, caselink.Opened, opened.State(w.clock.Now()))
	send()
	require.Equal(t, 1, w.deliver(&box))
	require.Len(t, box.sent, 1, "it was sent")

	l.ID, token = id.NewCaseLink(), caselink.NewToken()
	require.NoError(t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		if err := caselink.Insert(ctx, tx, l, token, testActor); err != nil {
			return err
		}
		_, err := caselink.Revoke(ctx, tx, l.ID, activity.Actor{By: "test", At: w.clock.Now()})
		return err
	}))
	send()
	require.Equal(t, 1, w.deliver(&box))
	require.Len(t, box.sent, 1, "it was revoked")
}
