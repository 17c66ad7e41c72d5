package admission_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
	"visavis.dev/pkg/visits/admission"
	"visavis.dev/pkg/visits/admission/admissiontest"
	"visavis.dev/pkg/visits/memory"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// now is when every test begins.
var now = tenanttest.Now

// world is a shard with two organizations, and a persona of the first.
type world struct {
	*testing.T
	tenants  *tenant.Tenants
	one, two id.Org
	desk     *admission.Desk
	mira     persona.Persona
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, desk: &admission.Desk{Library: avatar.NewLibrary()}}
	w.tenants, w.one, w.two = tenanttest.New(t)
	w.mira = w.persona(func(d *persona.Definition) {
		d.Goals = []persona.Goal{{Key: "loop", Prompt: "?"}, {Key: "name", Prompt: "Who are you?"}}
		d.Privacy.RetainTranscriptDays = new(int64(30))
	})
	return w
}

// persona enters a persona of the first organization.
func (w *world) persona(change func(*persona.Definition)) persona.Persona {
	w.Helper()
	p := persona.Persona{ID: id.NewPersona(), Name: "Mira", Kind: persona.Standard, Avatar: id.NamedAvatar("amara"), Voice: id.NamedVoice("nora")}
	require.NoError(w, w.tenants.InTx(w.Context(), w.one, func(ctx context.Context, tx *tenant.Tx) error {
		v, err := voice.Find(ctx, tx, p.Voice)
		if err != nil {
			return err
		}
		p.Definition = persona.Defaults(v)
		change(&p.Definition)
		p, err = persona.Insert(ctx, tx, w.desk.Library, p, persona.Author{By: "test", At: now})
		return err
	}))
	return p
}

// request is a sandbox's session, which costs no minutes, at an organization that
// may have everything.
func request(r admission.Request) admission.Request {
	r.Terms = plan.Terms{Plan: plan.Plan{Features: []string{"personas", "portals"}}}
	r.Source, r.Sandbox = session.FromAPI, true
	return r
}

func (w *world) enter(r admission.Request) (made session.Minted, err error) {
	w.Helper()
	err = w.tenants.InTx(w.Context(), w.one, func(ctx context.Context, tx *tenant.Tx) (err error) {
		made, err = w.desk.Enter(ctx, tx, request(r), now)
		return err
	})
	return made, err
}

// entered is the session that was entered, as it is kept.
func (w *world) entered(r admission.Request) session.Session {
	w.Helper()
	made, err := w.enter(r)
	require.NoError(w, err)
	kept, err := session.Get(w.Context(), w.tenants, w.one, made.Session.ID)
	require.NoError(w, err)
	return kept
}

// refused is the problem that a request meets: its code, reason and param.
func (w *world) refused(r admission.Request) [3]string {
	w.Helper()
	_, err := w.enter(r)
	p, ok := errors.AsType[*problem.Problem](err)
	require.True(w, ok, "%v", err)
	reason, _ := p.Details["reason"].(string)
	return [3]string{string(p.Code), reason, p.Param}
}

func TestASessionOnAPortal(t *testing.T) {
	w := newWorld(t)
	pack, ofSubjects, ofSubject := id.NewKnowledgeBase(), id.NewKnowledgeBase(), id.NewKnowledgeBase()
	p := portaltest.Portal(t, w.tenants, w.one, w.mira.ID, func(p *portal.Portal) {
		d := &p.Definition
		d.KnowledgeBaseIDs, d.SubjectBaseID, d.DefaultLanguage = []id.KnowledgeBase{pack}, &ofSubjects, "de"
		d.Caps.MaxSessionS, d.Privacy.RetentionDays = new(int64(45)), new(int64(7))
	})
	s := w.entered(admission.Request{Portal: p.ID, Door: "visitors"})
	require.Equal(t, []any{p.ID, w.mira.ID, "de", int64(45), int64(7), "conversation", "visitors"},
		[]any{s.Portal, s.Persona, s.Language, s.MaxDurationS, *s.Brief.RetainDays, s.Kind, s.Brief.Door})
	require.ElementsMatch(t, []id.KnowledgeBase{pack, ofSubjects}, s.Brief.BaseIDs)
	require.Nil(t, s.Withheld)

	speaker := w.persona(func(*persona.Definition) {})
	taught := portaltest.Subject(t, w.tenants, w.one, p.ID, func(s *subject.Subject, c *subject.Content) {
		s.Kind, s.Definition.PersonaID, s.Definition.KnowledgeBaseIDs = subject.Practice, &speaker.ID, []id.KnowledgeBase{ofSubject, pack}
		c.Scenario = &subject.Scenario{
			AvatarRole: language.Words{"en": "A harbour master"}, Setting: language.Words{"de": "Ein Sturm"}, Difficulty: "hard",
			Secrets: []language.Words{{"de": "Der Steg ist morsch."}},
		}
	})
	s = w.entered(admission.Request{Subject: taught.ID, Language: "en", Context: "It rains."})
	require.Equal(t, []any{p.ID, taught.ID, speaker.ID, "practice", "en"}, []any{s.Portal, s.Subject, s.Persona, s.Kind, s.Language})
	require.ElementsMatch(t, []id.KnowledgeBase{pack, ofSubjects, ofSubject}, s.Brief.BaseIDs)
	require.Equal(t, "The conversation is about: Knots\nYou play: A harbour master\nThe situation: Ein Sturm\nHow hard you make it: hard\n"+
		"Tell only when you are asked for it well: Der Steg ist morsch.\nIt rains.", s.Brief.Context)
	asked := []persona.Goal{{
		Key: "loop", Prompt: "Which knot makes a loop that does not slip?", Required: true, Outputs: []string{"answer:loop"}, Confirm: "auto",
	}}
	require.Equal(t, asked, s.Brief.Goals)
	require.Equal(t, append(asked, w.mira.Definition.Goals[1]), s.Brief.Pursue(w.mira.Definition.Goals), "the subject's own go before the persona's")

	s = w.entered(admission.Request{Subject: taught.ID, Kind: "conversation"})
	require.Empty(t, s.Brief.Goals, "nothing is asked of somebody who only talks")
}

func TestWhereNoSessionStarts(t *testing.T) {
	w := newWorld(t)
	p := portaltest.Portal(t, w.tenants, w.one, w.mira.ID)
	in := func(state portal.State) id.Portal {
		return portaltest.Portal(t, w.tenants, w.one, w.mira.ID, func(p *portal.Portal) {
			if p.State = state; state == portal.Draft {
				p.PublishedVersion = nil
			}
		}).ID
	}
	of := func(p id.Portal, state subject.State) id.Subject {
		return portaltest.Subject(t, w.tenants, w.one, p, func(s *subject.Subject, _ *subject.Content) {
			if s.State = state; state == subject.Draft {
				s.PublishedVersion = nil
			}
		}).ID
	}
	unpublished := in(portal.Unpublished)
	foreign := portaltest.Portal(t, w.tenants, w.two, id.NewPersona())
	for name, c := range map[string]struct {
		asked admission.Request
		want  [3]string
	}{
		"no such portal":                {admission.Request{Portal: id.NewPortal()}, [3]string{"not_found", "", "portalId"}},
		"another's portal":              {admission.Request{Portal: foreign.ID}, [3]string{"not_found", "", "portalId"}},
		"a draft":                       {admission.Request{Portal: in(portal.Draft)}, [3]string{"conflict", "not_published", "portalId"}},
		"a portal taken back":           {admission.Request{Portal: unpublished}, [3]string{"conflict", "not_published", "portalId"}},
		"an archived portal":            {admission.Request{Portal: in(portal.Archived)}, [3]string{"gone", "", "portalId"}},
		"no such subject":               {admission.Request{Subject: id.NewSubject()}, [3]string{"not_found", "", "subjectId"}},
		"another's subject":             {admission.Request{Subject: portaltest.Subject(t, w.tenants, w.two, foreign.ID).ID}, [3]string{"not_found", "", "subjectId"}},
		"a subject of another portal":   {admission.Request{Portal: p.ID, Subject: of(unpublished, subject.Published)}, [3]string{"not_found", "", "subjectId"}},
		"a subject's draft":             {admission.Request{Subject: of(p.ID, subject.Draft)}, [3]string{"conflict", "not_published", "subjectId"}},
		"an archived subject":           {admission.Request{Subject: of(p.ID, subject.Archived)}, [3]string{"gone", "", "subjectId"}},
		"a subject of a portal offline": {admission.Request{Subject: of(unpublished, subject.Published)}, [3]string{"conflict", "not_published", "subjectId"}},
		"no such person":                {admission.Request{Persona: w.mira.ID, Person: id.NewPerson()}, [3]string{"not_found", "", "personId"}},
		"another's person":              {admission.Request{Persona: w.mira.ID, Person: admissiontest.Person(t, w.tenants, w.two).ID}, [3]string{"not_found", "", "personId"}},
		"no such persona":               {admission.Request{Persona: id.NewPersona()}, [3]string{"not_found", "", "personaId"}},
		"a persona of the portal gone":  {admission.Request{Portal: portaltest.Portal(t, w.tenants, w.one, id.NewPersona()).ID}, [3]string{"not_found", "", "portalId"}},
		"a language it does not speak":  {admission.Request{Portal: p.ID, Language: "zu"}, [3]string{"invalid_request", "", "language"}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, w.refused(c.asked)) })
	}
}

func TestWhoMayCome(t *testing.T) {
	w := newWorld(t)
	p := portaltest.Portal(t, w.tenants, w.one, w.mira.ID, func(p *portal.Portal) {
		p.Definition.MinAge, p.Definition.GuardianConsentUnder = new(int64(13)), new(int64(16))
	})
	other := portaltest.Portal(t, w.tenants, w.one, w.mira.ID)
	off := admissiontest.Unit(t, w.tenants, w.one, p.ID, id.Unit{}, false)
	below := admissiontest.Unit(t, w.tenants, w.one, p.ID, off, true)
	on := admissiontest.Unit(t, w.tenants, w.one, p.ID, admissiontest.Unit(t, w.tenants, w.one, p.ID, id.Unit{}, true), true)
	given, withdrawn := admissiontest.Consent(t, w.tenants, w.one, "given"), admissiontest.Consent(t, w.tenants, w.one, "withdrawn")
	unscoped := admissiontest.Consent(t, w.tenants, w.one, "given")
	w.exec(`UPDATE consent SET guardian = guardian - 'scopes' WHERE org_id = $1 AND id = '` + uuid.UUID(unscoped).String() + `'`)
	ofAge := func(band person.AgeBand) func(*person.Person) { return func(p *person.Person) { p.AgeBand = band } }
	is := func(state person.State) func(*person.Person) { return func(p *person.Person) { p.State = state } }
	nothing := func(*person.Membership) {}
	agreed := func(c id.Consent) func(*person.Membership) { return func(m *person.Membership) { m.Consent = c } }
	for name, c := range map[string]struct {
		person func(*person.Person)
		place  func(*person.Membership)
		// reason is empty where the person is let in.
		reason   string
		withheld bool
	}{
		"an adult":                  {ofAge(person.Adult), nothing, "", false},
		"of an unknown age":         {ofAge(person.UnknownAge), nothing, "", false},
		"in a unit":                 {ofAge(person.Adult), func(m *person.Membership) { m.Unit = on }, "", false},
		"in time":                   {ofAge(person.Adult), func(m *person.Membership) { m.StartsAt, m.EndsAt = &now, new(now.Add(time.Second)) }, "", false},
		"too young":                 {ofAge(person.Under13), agreed(given), "too_young", false},
		"young, with consent":       {ofAge(person.From13), agreed(given), "", true},
		"young, without consent":    {ofAge(person.From13), nothing, "guardian_consent_missing", false},
		"young, consent taken back": {ofAge(person.From13), agreed(withdrawn), "guardian_consent_missing", false},
		"young, to be recorded":     {ofAge(person.From13), agreed(admissiontest.Consent(t, w.tenants, w.one, "given", "recording")), "guardian_consent_missing", false},
		"young, to nothing":         {ofAge(person.From13), agreed(unscoped), "guardian_consent_missing", false},
		"old enough":                {ofAge(person.From16), nothing, "", false},
		"a person switched off":     {is(person.Disabled), nothing, "person_disabled", false},
		"a place switched off":      {is(person.Active), func(m *person.Membership) { m.Enabled = false }, "membership_disabled", false},
		"a unit switched off":       {is(person.Active), func(m *person.Membership) { m.Unit = off }, "membership_disabled", false},
		"a unit above switched off": {is(person.Active), func(m *person.Membership) { m.Unit = below }, "membership_disabled", false},
		"not yet":                   {is(person.Active), func(m *person.Membership) { m.StartsAt = new(now.Add(time.Second)) }, "not_started", false},
		"not any more":              {is(person.Active), func(m *person.Membership) { m.EndsAt = &now }, "membership_ended", false},
		"elsewhere":                 {is(person.Active), func(m *person.Membership) { m.Portal = other.ID }, "no_membership", false},
	} {
		t.Run(name, func(t *testing.T) {
			who := admissiontest.Person(t, w.tenants, w.one, c.person)
			m := admissiontest.Membership(t, w.tenants, w.one, who.ID, p.ID, c.place)
			asked := admission.Request{Portal: p.ID, Person: who.ID}
			if c.reason != "" {
				require.Equal(t, [3]string{"conflict", c.reason, "personId"}, w.refused(asked))
				admissiontest.Membership(t, w.tenants, w.one, who.ID, p.ID, func(m *person.Membership) { m.Unit = on })
				asked.Membership = m.ID
				require.Contains(t, []string{c.reason, "no_membership"}, w.refused(asked)[1], "a good place does not mend the one that is named")
				return
			}
			s := w.entered(asked)
			require.Equal(t, []any{who.ID, m.ID, c.withheld}, []any{s.Person, s.Membership, s.Withheld != nil})
			if c.withheld {
				require.Equal(t, session.LearnerConversation, *s.Withheld)
			}
		})
	}
	erased := admissiontest.Person(t, w.tenants, w.one, is(person.Erased))
	require.Equal(t, [3]string{"not_found", "", "personId"}, w.refused(admission.Request{Portal: p.ID, Person: erased.ID}))
	disabled := admissiontest.Person(t, w.tenants, w.one, is(person.Disabled))
	require.Equal(t, [3]string{"conflict", "person_disabled", "personId"}, w.refused(admission.Request{Persona: w.mira.ID, Person: disabled.ID}))
	young := admissiontest.Person(t, w.tenants, w.one, ofAge(person.Under13))
	require.NotNil(t, w.entered(admission.Request{Persona: w.mira.ID, Person: young.ID}).Withheld, "away from any portal too")
}

// The portal's cap counts the sessions that one person has there in a day.
func TestAPersonsDay(t *testing.T) {
	w := newWorld(t)
	capped := func(p *portal.Portal) { p.Definition.Caps.SessionsPerPersonPerDay = new(int64(1)) }
	p, other := portaltest.Portal(t, w.tenants, w.one, w.mira.ID, capped), portaltest.Portal(t, w.tenants, w.one, w.mira.ID, capped)
	who, friend := admissiontest.Person(t, w.tenants, w.one), admissiontest.Person(t, w.tenants, w.one)
	for _, on := range []id.Portal{p.ID, other.ID} {
		for _, comes := range []id.Person{who.ID, friend.ID} {
			admissiontest.Membership(t, w.tenants, w.one, comes, on)
			w.entered(admission.Request{Portal: on, Person: comes})
			require.Equal(t, [3]string{"conflict", "person_sessions", "personId"}, w.refused(admission.Request{Portal: on, Person: comes}))
		}
		w.entered(admission.Request{Portal: on})
		w.entered(admission.Request{Portal: on})
	}
}

// Nobody is erased while a session begins for them, and none begins while they are
// erased: either the erasure finds the session, or it is refused.
func TestErasingAndBeginning(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { _ = bucket.Close() })
	eraser := &person.Eraser{Files: file.New(bucket, w.tenants, clock.RealClock{}), Forget: memory.ForgetPerson}
	p := portaltest.Portal(t, w.tenants, w.one, w.mira.ID)
	comer := func() id.Person {
		who := admissiontest.Person(t, w.tenants, w.one).ID
		admissiontest.Membership(t, w.tenants, w.one, who, p.ID)
		w.exec(`INSERT INTO org_counter (org_id, name, value) VALUES ($1, 'members', 1) ON CONFLICT (org_id, name) DO UPDATE SET value = 1`)
		return who
	}
	impatient := func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `SET LOCAL lock_timeout = '50ms'`)
		return err
	}
	erase := func(who id.Person, before, after func(context.Context, *tenant.Tx) error) (j job.Job, err error) {
		err = w.tenants.InTx(ctx, w.one, func(ctx context.Context, tx *tenant.Tx) (err error) {
			if err := before(ctx, tx); err != nil {
				return err
			}
			if j, err = person.Erase(ctx, tx, who, person.Author{By: "test", At: now}); err != nil {
				return err
			}
			return after(ctx, tx)
		})
		return j, err
	}
	begin := func(r admission.Request, before, after func(context.Context, *tenant.Tx) error) error {
		return w.tenants.InTx(ctx, w.one, func(ctx context.Context, tx *tenant.Tx) error {
			if err := before(ctx, tx); err != nil {
				return err
			}
			if _, err := w.desk.Enter(ctx, tx, request(r), now); err != nil {
				return err
			}
			return after(ctx, tx)
		})
	}
	nothing := func(context.Context, *tenant.Tx) error { return nil }

	for _, on := range []id.Portal{p.ID, {}} {
		who := comer()
		asked := admission.Request{Portal: on, Person: who}
		if on.IsZero() {
			asked.Persona = w.mira.ID
		}
		require.NoError(t, begin(asked, nothing, func(context.Context, *tenant.Tx) error {
			_, err := erase(who, impatient, nothing)
			require.ErrorContains(t, err, "lock timeout")
			return nil
		}))
		_, err := erase(who, nothing, func(context.Context, *tenant.Tx) error {
			require.ErrorContains(t, begin(asked, impatient, nothing), "lock timeout")
			return nil
		})
		require.NoError(t, err)
	}

	for range 10 {
		var (
			who   = comer()
			group sync.WaitGroup
			j     job.Job
			errs  [2]error
		)
		r := admission.Request{Portal: p.ID, Person: who, ExternalID: new("call-of-kim"), Metadata: map[string]string{"pupil": "Kim"}, Collected: map[string]string{"name": "Kim"}}
		group.Go(func() { errs[0] = begin(r, nothing, nothing) })
		group.Go(func() { j, errs[1] = erase(who, nothing, nothing) })
		group.Wait()
		require.NoError(t, errs[1])
		for j.State != job.Succeeded {
			require.NoError(t, w.tenants.InTx(ctx, w.one, func(ctx context.Context, tx *tenant.Tx) error {
				_, err := eraser.Step(ctx, tx, &j, now)
				return err
			}))
		}
		var kept int
		require.NoError(t, w.tenants.InTx(ctx, w.one, func(ctx context.Context, tx *tenant.Tx) error {
			return tx.QueryRow(ctx, `SELECT count(*) FROM session WHERE org_id = $1 AND person_id = $2
				AND (state IN ('created', 'live') OR external_id IS NOT NULL OR metadata <> '{}' OR collected <> '{}')`, tx.Org, who).Scan(&kept)
		}))
		require.Zero(t, kept)
	}
}

func (w *world) exec(sql string) {
	w.Helper()
	require.NoError(w, w.tenants.InTx(w.Context(), w.one, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, sql, tx.Org)
		return err
	}))
}
