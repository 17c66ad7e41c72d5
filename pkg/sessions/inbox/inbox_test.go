package inbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/event/eventtest"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

var now = tenanttest.Now

func after(seconds int) time.Time { return now.Add(time.Duration(seconds) * time.Second) }

type world struct {
	t        *testing.T
	tenants  *tenant.Tenants
	one, two id.Org
}

func newWorld(t *testing.T) *world {
	t.Helper()
	tenants, one, two := tenanttest.New(t)
	return &world{t, tenants, one, two}
}

func (w *world) in(fn func(context.Context, *tenant.Tx) error) error {
	return w.tenants.InTx(w.t.Context(), w.one, fn)
}

// leaves has a conversation leave something.
func (w *world) leaves(s id.Session, at time.Time, l inbox.Left) {
	w.t.Helper()
	require.NoError(w.t, w.in(func(ctx context.Context, tx *tenant.Tx) error {
		return inbox.Capture(ctx, tx, inbox.Origin{Session: s, Persona: id.Persona{1}, Channel: "chat", Language: "en"}, l, at)
	}))
}

// enters has the organization enter a lead.
func (w *world) enters(at time.Time, i inbox.Item) inbox.Item {
	w.t.Helper()
	if i.Contact == nil {
		i.Contact = &inbox.Contact{Email: new("kim@example.com")}
	}
	i.Urgency, i.Language = inbox.NormalUrgency, "en"
	require.NoError(w.t, w.in(func(ctx context.Context, tx *tenant.Tx) (err error) {
		i, err = inbox.Enter(ctx, tx, i, nil, activity.Actor{By: "key_1", At: at})
		return err
	}))
	return i
}

func (w *world) change(which id.InboxItem, at time.Time, fn func(*inbox.Item)) (changed inbox.Item, err error) {
	err = w.in(func(ctx context.Context, tx *tenant.Tx) error {
		before, err := inbox.Lock(ctx, tx, which)
		if err != nil {
			return err
		}
		after := before
		fn(&after)
		changed, err = inbox.Change(ctx, tx, before, after, activity.Actor{By: "key_1", At: at})
		return err
	})
	return changed, err
}

func (w *world) list(f inbox.Filter) []inbox.Item {
	w.t.Helper()
	found, err := inbox.List(w.t.Context(), w.tenants, w.one, f, id.InboxItem{}, 100)
	require.NoError(w.t, err)
	return found
}

func (w *world) events(types ...event.Type) []event.Event {
	w.t.Helper()
	return eventtest.Log(w.t, w.tenants, w.one, types...)
}

func fields(t *testing.T, e event.Event) (f map[string]any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(e.Structure, &f))
	return f
}

func lead(email string) inbox.Left {
	return inbox.Left{Kind: inbox.Lead, Contact: inbox.Contact{Name: new("Kim Lee"), Email: &email}, Words: inbox.Words{Need: new("a guide")}}
}

// What a conversation leaves is one item of a kind, however often it is told.
func TestAConversationLeavesOneLead(t *testing.T) {
	w, s := newWorld(t), id.NewSession()
	w.leaves(s, now, lead("kim@example.com"))
	w.leaves(s, after(1), lead("kim@example.com"))
	items := w.list(inbox.Filter{})
	require.Len(t, items, 1)
	require.Equal(t, []any{inbox.Lead, inbox.New, inbox.Warm, s}, []any{items[0].Kind, items[0].State, *items[0].Band, items[0].Session})
	require.Len(t, w.events(event.LeadCaptured), 1)
	require.Empty(t, w.events(event.LeadUpdated), "nothing changed")

	more := lead("kim@example.com")
	more.Words.Budget = new("1,000")
	w.leaves(s, after(2), more)
	told := w.events(event.LeadUpdated)
	require.Len(t, told, 1)
	require.Equal(t, []any{"budget", "leadBand"}, fields(t, told[0])["changedFields"])
	require.Equal(t, []any{"hot", "new", "system", nil}, []any{
		fields(t, told[0])["leadBand"], fields(t, told[0])["previousState"], fields(t, told[0])["changedBy"], fields(t, told[0])["contactConsent"],
	})
	for _, e := range append(told, w.events(event.LeadCaptured)...) {
		require.NotContains(t, string(e.Structure), "kim", "how to reach them is read when it is told")
	}

	w.leaves(s, after(3), inbox.Left{Kind: inbox.Handoff, RequestedBy: inbox.ByVisitor})
	require.Len(t, w.list(inbox.Filter{Kinds: []inbox.Kind{inbox.Handoff}}), 1)
	require.Len(t, w.events(event.HandoffRequested), 1)
}

// Who asks for a person again is waited for again, and what is only more of them changes no state.
func TestAPersonIsAskedForAgain(t *testing.T) {
	w := newWorld(t)
	s := id.NewSession()
	handoff := func() inbox.Item { return w.list(inbox.Filter{Kinds: []inbox.Kind{inbox.Handoff}})[0] }
	more := inbox.Left{Kind: inbox.Handoff, Contact: inbox.Contact{Email: new("kim@example.com")}}
	w.leaves(s, now, more)
	require.Empty(t, w.list(inbox.Filter{}), "nobody asked for a person")
	w.leaves(s, now, inbox.Left{Kind: inbox.Handoff, RequestedBy: inbox.ByVisitor})
	for n, state := range []inbox.State{inbox.Done, inbox.Snoozed} {
		_, err := w.change(handoff().ID, after(3*n+1), func(i *inbox.Item) { i.State = state })
		require.NoError(t, err)
		w.leaves(s, after(3*n+2), more)
		require.Equal(t, state, handoff().State)
		w.leaves(s, after(3*n+3), inbox.Left{Kind: inbox.Handoff, RequestedBy: inbox.ByVisitor})
		require.Equal(t, inbox.Open, handoff().State)
		require.True(t, handoff().WaitingSince.Equal(after(3*n+3)))
	}
}

// A state is left for those that the rules allow, and what is over is opened first.
func TestStates(t *testing.T) {
	w := newWorld(t)
	i := w.enters(now, inbox.Item{})
	to := func(s inbox.State) error {
		_, err := w.change(i.ID, after(1), func(i *inbox.Item) { i.State = s })
		return err
	}
	for _, s := range []inbox.State{inbox.Open, inbox.Waiting, inbox.Won} {
		require.NoError(t, to(s), s)
	}
	require.True(t, errdefs.IsConflict(to(inbox.Lost), inbox.Noun, inbox.ReasonTransition))
	require.NoError(t, to(inbox.Won), "nothing changes")
	require.True(t, errdefs.IsConflict(to(inbox.New), inbox.Noun, inbox.ReasonTransition))
	require.NoError(t, to(inbox.Open))
	require.NoError(t, to(inbox.Snoozed), "until somebody opens it")
	_, err := w.change(i.ID, after(2), func(i *inbox.Item) { i.State, i.SnoozedUntil = inbox.Done, new(after(60)) })
	require.ErrorContains(t, err, "snoozedUntil")
	_, err = w.change(i.ID, after(2), func(i *inbox.Item) { i.SnoozedUntil = new(after(1)) })
	require.ErrorContains(t, err, "snoozedUntil")
	require.Len(t, w.events(event.LeadUpdated), 5, "one for each change")

	s := id.NewSession()
	w.leaves(s, now, inbox.Left{Kind: inbox.Handoff, RequestedBy: inbox.ByRule})
	handoff := w.list(inbox.Filter{Kinds: []inbox.Kind{inbox.Handoff}})[0]
	_, err = w.change(handoff.ID, after(1), func(i *inbox.Item) { i.State = inbox.Won })
	require.True(t, errdefs.IsConflict(err, inbox.Noun, inbox.ReasonTransition), "nobody is sold to who asked for a person")
}

// The counts are what there is, after whatever happened.
func TestCounts(t *testing.T) {
	w := newWorld(t)
	for n := range 5 {
		w.enters(after(n), inbox.Item{})
	}
	s := id.NewSession()
	w.leaves(s, now, inbox.Left{Kind: inbox.Handoff, RequestedBy: inbox.ByVisitor})
	items := w.list(inbox.Filter{Kinds: []inbox.Kind{inbox.Lead}})
	for n, state := range []inbox.State{inbox.Open, inbox.Won, inbox.Spam} {
		_, err := w.change(items[n].ID, after(10), func(i *inbox.Item) { i.State = state })
		require.NoError(t, err)
	}
	require.NoError(t, w.in(func(ctx context.Context, tx *tenant.Tx) error {
		return inbox.ForgetOf(ctx, tx, s, inbox.Removal{Trigger: inbox.ByTeam, By: "key_1", At: after(20)})
	}))
	counted, err := inbox.Count(t.Context(), w.tenants, w.one)
	require.NoError(t, err)
	there := map[inbox.Kind]map[inbox.State]int64{}
	for _, k := range inbox.Kinds() {
		there[k] = map[inbox.State]int64{}
		for _, s := range inbox.States() {
			there[k][s] = int64(len(w.list(inbox.Filter{Kinds: []inbox.Kind{k}, States: []inbox.State{s}})))
		}
	}
	require.EqualValues(t, there, counted)
	require.Equal(t, []int64{2, 1, 1}, []int64{counted[inbox.Lead][inbox.New], counted[inbox.Lead][inbox.Won], counted[inbox.Handoff][inbox.Forgotten]})
}

// Every filter finds what it names and nothing else, and nothing of another organization.
func TestList(t *testing.T) {
	w := newWorld(t)
	who, where := id.NewPerson(), id.NewPortal()
	kim := w.enters(now, inbox.Item{Contact: &inbox.Contact{Name: new("Kim Öztürk"), Email: new("kim@example.com")}, Band: new(inbox.Hot), Assignee: who})
	lee := w.enters(after(3600*5), inbox.Item{Contact: &inbox.Contact{Name: new("Lee"), Phone: new("+49 30 5")}, Portal: where})
	for name, c := range map[string]struct {
		f    inbox.Filter
		want []id.InboxItem
	}{
		"all":          {inbox.Filter{}, []id.InboxItem{lee.ID, kim.ID}},
		"oldest first": {inbox.Filter{Ascending: true}, []id.InboxItem{kim.ID, lee.ID}},
		"band":         {inbox.Filter{Bands: []inbox.Band{inbox.Hot}}, []id.InboxItem{kim.ID}},
		"assignee":     {inbox.Filter{Assignee: who}, []id.InboxItem{kim.ID}},
		"portal":       {inbox.Filter{Portal: where}, []id.InboxItem{lee.ID}},
		"words":        {inbox.Filter{Query: "ozt KIM"}, []id.InboxItem{kim.ID}},
		"other words":  {inbox.Filter{Query: "kim lee"}, nil},
		"no words":     {inbox.Filter{Query: "?"}, nil},
		"from":         {inbox.Filter{From: after(3600)}, []id.InboxItem{lee.ID}},
		"to":           {inbox.Filter{To: after(3600)}, []id.InboxItem{kim.ID}},
		"state":        {inbox.Filter{States: []inbox.State{inbox.Won}}, nil},
		"active":       {inbox.Filter{States: []inbox.State{inbox.New, inbox.Open}}, []id.InboxItem{lee.ID, kim.ID}},
	} {
		var got []id.InboxItem
		for _, i := range w.list(c.f) {
			got = append(got, i.ID)
		}
		require.Equal(t, c.want, got, name)
	}
	next, err := inbox.List(t.Context(), w.tenants, w.one, inbox.Filter{}, lee.ID, 10)
	require.NoError(t, err)
	require.Len(t, next, 1)
	others, err := inbox.List(t.Context(), w.tenants, w.two, inbox.Filter{Query: "kim"}, id.InboxItem{}, 10)
	require.NoError(t, err)
	require.Empty(t, others)
	_, err = inbox.Get(t.Context(), w.tenants, w.two, kim.ID)
	require.ErrorIs(t, err, inbox.Noun.NotFound(kim.ID))
}

// What is put off comes back once, whoever brings it, and not when it was put off again.
func TestSnoozedItemsComeBackOnce(t *testing.T) {
	w := newWorld(t)
	i := w.enters(now, inbox.Item{})
	until := after(3600)
	put, err := w.change(i.ID, after(1), func(i *inbox.Item) { i.SnoozedUntil = &until })
	require.NoError(t, err)
	require.Equal(t, inbox.Snoozed, put.State)
	wake := func(at time.Time) {
		_, err := inbox.Wake(context.Background(), w.tenants, "a", at)
		require.NoError(t, err)
	}
	wake(after(3599))
	require.Len(t, w.list(inbox.Filter{States: []inbox.State{inbox.Snoozed}}), 1, "not yet")
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { wake(after(3600)) })
	}
	both.Wait()
	woken := w.list(inbox.Filter{})[0]
	require.Equal(t, inbox.Open, woken.State)
	require.Nil(t, woken.SnoozedUntil)
	require.Len(t, w.events(event.LeadUpdated), 2, "put off, and back")
}

// Items that a process of before changed, which drops the terms of tags, are found by their tags again.
func TestTermsThatWereLostAreEnteredAnew(t *testing.T) {
	w := newWorld(t)
	one, two := w.enters(now, inbox.Item{Tags: []string{"fair"}}), w.enters(now, inbox.Item{Tags: []string{"fair"}})
	tagged := func() (found []id.InboxItem) {
		for _, i := range w.list(inbox.Filter{Tags: []string{"fair"}}) {
			found = append(found, i.ID)
		}
		return found
	}
	enter := func() int {
		n, err := inbox.EnterTerms(t.Context(), w.tenants, "a")
		require.NoError(t, err)
		return n
	}
	require.Len(t, tagged(), 2)
	require.Zero(t, enter())
	_, err := w.change(two.ID, after(1), func(i *inbox.Item) { i.Urgency = inbox.HighUrgency })
	require.NoError(t, err)
	require.Zero(t, enter(), "of what is changed now nothing is lost")

	require.NoError(t, w.in(func(ctx context.Context, tx *tenant.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE inbox_item SET edition = edition + 1 WHERE org_id = $1 AND id = $2`, tx.Org, one.ID); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `DELETE FROM inbox_term WHERE org_id = $1 AND item_id = $2 AND term LIKE '#%'`, tx.Org, one.ID)
		return err
	}))
	require.Equal(t, []id.InboxItem{two.ID}, tagged())
	_, err = w.change(one.ID, after(2), func(i *inbox.Item) { i.State = inbox.Done })
	require.NoError(t, err)
	require.Equal(t, 1, enter(), "also what was changed by a process of now since")
	require.ElementsMatch(t, []id.InboxItem{one.ID, two.ID}, tagged())
	require.Zero(t, enter())
}

// Of two who assign an item at once, both are heard, one after the other, and the counts hold.
func TestTwoChangesAtOnce(t *testing.T) {
	w := newWorld(t)
	i := w.enters(now, inbox.Item{})
	who := id.NewPerson()
	var (
		both sync.WaitGroup
		errs = make([]error, 2)
	)
	for n, fn := range []func(*inbox.Item){
		func(i *inbox.Item) { i.Assignee = who },
		func(i *inbox.Item) { i.State, i.SnoozedUntil = inbox.Snoozed, new(after(7200)) },
	} {
		both.Go(func() { _, errs[n] = w.change(i.ID, after(1), fn) })
	}
	both.Wait()
	require.NoError(t, errs[0])
	require.NoError(t, errs[1])
	got := w.list(inbox.Filter{})[0]
	require.Equal(t, []any{who, inbox.Snoozed, int64(3)}, []any{got.Assignee, got.State, got.Edition})
	counted, err := inbox.Count(t.Context(), w.tenants, w.one)
	require.NoError(t, err)
	require.Equal(t, []int64{0, 1}, []int64{counted[inbox.Lead][inbox.New], counted[inbox.Lead][inbox.Snoozed]})
}

// Who is forgotten leaves nothing but that they were there, and receivers are told what to erase.
func TestForget(t *testing.T) {
	w, s := newWorld(t), id.NewSession()
	l := lead("kim@example.com")
	l.Words.Answers = []inbox.Answer{{Question: "How many?", Answer: "20"}}
	w.leaves(s, now, l)
	i := w.list(inbox.Filter{})[0]
	require.NoError(t, w.in(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := inbox.AddNote(ctx, tx, i.ID, "Kim called.", activity.Actor{By: "key_1", At: after(1)})
		return err
	}))
	forget := func() {
		require.NoError(t, w.in(func(ctx context.Context, tx *tenant.Tx) error {
			return inbox.ForgetOf(ctx, tx, s, inbox.Removal{Trigger: inbox.OnRequest, At: after(2)})
		}))
	}
	forget()
	forget()
	i = w.list(inbox.Filter{})[0]
	require.Equal(t, []any{inbox.Forgotten, (*inbox.Contact)(nil), inbox.Words{}}, []any{i.State, i.Contact, i.Words})
	require.Empty(t, w.list(inbox.Filter{Query: "kim"}))
	notes, err := inbox.Notes(t.Context(), w.tenants, w.one, i.ID)
	require.NoError(t, err)
	require.Empty(t, notes)
	told := w.events(event.VisitorDetailRemoved)
	require.Len(t, told, 1)
	require.Equal(t, []any{"contact.name", "contact.email", "need", "answers", "notes"}, fields(t, told[0])["fields"])
	require.Equal(t, []any{"visitor", "system"}, []any{fields(t, told[0])["trigger"], fields(t, told[0])["removedBy"]})

	w.leaves(s, after(3), l)
	require.Nil(t, w.list(inbox.Filter{})[0].Contact, "and it does not come back")
	_, err = w.change(i.ID, after(4), func(i *inbox.Item) { i.State = inbox.Open })
	require.True(t, errdefs.IsConflict(err, inbox.Noun, inbox.ReasonForgotten))
}

// A conversation books one time, however often it is told, and another one takes its place.
func TestAConversationBooksOneTime(t *testing.T) {
	w, s := newWorld(t), id.NewSession()
	desk := w.desk(true)
	at := now.Truncate(24*time.Hour).AddDate(0, 0, 2)
	wants := func(at time.Time) inbox.Left {
		l := lead("kim@example.com")
		l.Kind, l.Wanted = inbox.Book, &inbox.Wanted{Schedule: desk.ID, StartsAt: at}
		return l
	}
	w.leaves(s, now, wants(at))
	w.leaves(s, after(1), wants(at))
	items := w.list(inbox.Filter{Kinds: []inbox.Kind{inbox.Book}})
	require.Len(t, items, 1)
	require.Equal(t, []any{inbox.Requested, at.In(berlin(t)).Format(inbox.WallTime)}, []any{items[0].Booking.State, items[0].Booking.Wall})
	require.Len(t, w.events(event.BookingRequested), 1)
	require.Empty(t, w.events(event.BookingUpdated))

	w.leaves(s, after(2), wants(at.Add(time.Hour)))
	moved := w.list(inbox.Filter{Kinds: []inbox.Kind{inbox.Book}})[0]
	require.True(t, moved.Booking.StartsAt.Equal(at.Add(time.Hour)))
	require.Equal(t, inbox.Requested, moved.Booking.State, "nobody has confirmed it")
	w.leaves(id.NewSession(), after(3), wants(at)) // and the time before is free
	err := w.in(func(ctx context.Context, tx *tenant.Tx) error {
		return inbox.Capture(ctx, tx, inbox.Origin{Session: id.NewSession(), Channel: "chat", Language: "en"}, wants(at), after(4))
	})
	require.True(t, errdefs.IsConflict(err, slot.Noun, slot.ReasonTaken), "%v", err)
	require.Len(t, w.list(inbox.Filter{Kinds: []inbox.Kind{inbox.Book}}), 2, "who is too late leaves nothing")
}

// What the team is to confirm is to be confirmed again where the visitor chose another time, and what
// they cancelled before is no move.
func TestWhatIsToBeConfirmedIsConfirmedForEachTime(t *testing.T) {
	w := newWorld(t)
	for n, c := range []struct {
		confirm             bool
		byTeam, byThem, new inbox.BookingState
	}{{true, inbox.Moved, inbox.Requested, inbox.Requested}, {false, inbox.Moved, inbox.Moved, inbox.Confirmed}} {
		s, desk, at := id.NewSession(), w.desk(c.confirm), now.Truncate(24*time.Hour).AddDate(0, 0, 2)
		booked := func() *inbox.Booking { return w.list(inbox.Filter{Kinds: []inbox.Kind{inbox.Book}})[0].Booking }
		hour := 0
		next := func() time.Time { hour++; return at.Add(time.Duration(hour) * time.Hour) }
		wants := func() {
			l := lead("kim@example.com")
			l.Kind, l.Wanted = inbox.Book, &inbox.Wanted{Schedule: desk.ID, StartsAt: next()}
			w.leaves(s, after(100*n+hour), l)
		}
		change := func(by string, b inbox.BookingChange) {
			require.NoError(t, w.in(func(ctx context.Context, tx *tenant.Tx) error {
				i, err := inbox.Lock(ctx, tx, w.list(inbox.Filter{Kinds: []inbox.Kind{inbox.Book}})[0].ID)
				require.NoError(t, err)
				_, err = inbox.ChangeBooking(ctx, tx, i, b, activity.Actor{By: by, At: after(100*n + hour)})
				return err
			}))
		}
		wants()
		require.Equal(t, c.new, booked().State)
		if c.confirm {
			change("key_1", inbox.BookingChange{StartsAt: next()})
			require.Equal(t, inbox.Requested, booked().State, "to choose another time confirms nothing")
			change("key_1", inbox.BookingChange{State: inbox.Confirmed})
		}
		change("key_1", inbox.BookingChange{StartsAt: next()})
		require.Equal(t, c.byTeam, booked().State)
		change(inbox.ByVisitor, inbox.BookingChange{StartsAt: next()})
		require.Equal(t, c.byThem, booked().State)
		if c.confirm {
			change("key_1", inbox.BookingChange{State: inbox.Confirmed})
		}
		wants()
		require.Equal(t, c.byThem, booked().State, "in the conversation")
		before := booked().Sequence
		change(inbox.ByVisitor, inbox.BookingChange{State: inbox.Cancelled})
		wants()
		require.Equal(t, []any{c.new, before + 2}, []any{booked().State, booked().Sequence}, "like a new one")
	}
}

// Who gives their address after they booked, or corrects it, is invited there.
func TestALaterAddressIsInvited(t *testing.T) {
	w, s := newWorld(t), id.NewSession()
	desk, at := w.desk(false), now.Truncate(24*time.Hour).AddDate(0, 0, 2)
	tells := func(seconds int, contact inbox.Contact, when *time.Time) {
		l := inbox.Left{Kind: inbox.Book, Contact: contact}
		if when != nil {
			l.Wanted = &inbox.Wanted{Schedule: desk.ID, StartsAt: *when}
		}
		w.leaves(s, after(seconds), l)
	}
	invited := func() (all []int64) {
		require.NoError(t, w.in(func(ctx context.Context, tx *tenant.Tx) error {
			rows, err := tx.Query(ctx, `SELECT (input->>'sequence')::INT8 FROM job WHERE org_id = $1 AND kind = 'calendar_send' ORDER BY 1`, tx.Org)
			require.NoError(t, err)
			all, err = pgx.CollectRows(rows, pgx.RowTo[int64])
			return err
		}))
		return all
	}
	tells(0, inbox.Contact{Phone: new("+49 30 5")}, nil)
	require.Empty(t, w.list(inbox.Filter{}), "nothing is booked")
	tells(1, inbox.Contact{Phone: new("+49 30 5")}, &at)
	require.Empty(t, invited())
	tells(2, inbox.Contact{Email: new("kim@exmaple.com")}, nil)
	require.Equal(t, []int64{1}, invited())
	tells(3, inbox.Contact{Email: new("kim@exmaple.com"), Name: new("Kim")}, nil)
	require.Equal(t, []int64{1}, invited(), "the name alone is no reason")
	later := at.Add(time.Hour)
	tells(4, inbox.Contact{Email: new("kim@example.com")}, &later)
	require.Equal(t, []int64{1, 2}, invited())
	i := w.list(inbox.Filter{Kinds: []inbox.Kind{inbox.Book}})[0]
	require.Equal(t, []string{"kim@example.com", "+49 30 5", "Kim"}, []string{*i.Contact.Email, *i.Contact.Phone, *i.Contact.Name})
	told := w.events(event.BookingUpdated)
	require.Len(t, told, 3)
	require.Equal(t, []any{"contact.email"}, fields(t, told[0])["changedFields"])
	require.Equal(t, []any{"contact.email", "booking.startsAt", "booking.endsAt", "booking.state"}, fields(t, told[2])["changedFields"])
}

// desk is a schedule that is always open, whose times the team confirms or does not.
func (w *world) desk(confirm bool) (desk slot.Schedule) {
	w.t.Helper()
	p := slot.Plan{Timezone: "Europe/Berlin", StepMinutes: 60, HorizonDays: 9, Capacity: 1, Kinds: []slot.Kind{{Key: "tour", Name: "A tour", DurationMinutes: 60, Confirm: confirm}}}
	for _, day := range slot.Weekdays() {
		p.Hours = append(p.Hours, slot.Hours{Day: day, From: "00:00", To: "24:00"})
	}
	require.NoError(w.t, w.in(func(ctx context.Context, tx *tenant.Tx) (err error) {
		desk, err = slot.Create(ctx, tx, "Desk", p, activity.Actor{By: "key_1", At: now})
		return err
	}))
	return desk
}

func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	return zone
}

// However many come at once, there are as many rules, rules that are switched on and members of the team as there can be.
func TestLimitsHoldOfManyAtOnce(t *testing.T) {
	t.Parallel()
	tenants, org, _ := tenanttest.New(t)
	who := activity.Actor{By: "test", At: time.Now().UTC()}
	fill := func(sql string, n int) {
		db, err := tenants.Shard(t.Context(), "a")
		require.NoError(t, err)
		_, err = db.Exec(t.Context(), sql, org, n)
		require.NoError(t, err)
	}
	// race has some transactions meet between what they look at and their commit, and answers how many committed.
	race := func(do func(ctx context.Context, tx *tenant.Tx) error) (in int) {
		var (
			group sync.WaitGroup
			done  atomic.Int64
		)
		for range 6 {
			group.Go(func() {
				err := tenants.InTx(t.Context(), org, func(ctx context.Context, tx *tenant.Tx) error {
					err := do(ctx, tx)
					time.Sleep(50 * time.Millisecond) //nolint:forbidigo // the others are to come meanwhile, which shows nowhere
					return err
				})
				if _, full := errors.AsType[*errdefs.Conflict](err); err == nil {
					done.Add(1)
				} else if !full {
					t.Errorf("%v", err)
				}
			})
		}
		group.Wait()
		return int(done.Load())
	}
	rule := inbox.Rule{Name: "One", Event: inbox.Created, Definition: inbox.Definition{Then: inbox.Actions{Urgency: "high"}}}
	fill(`INSERT INTO inbox_rule (org_id, id, name, enabled, position, event, definition, edition, created_at, updated_at)
		SELECT $1, gen_random_uuid(), 'x', n <= 19, n, 'item_created', '{"when": {}, "then": {"urgency": "high"}}', 1, now(), now()
		FROM generate_series(1, $2::BIGINT) n`, inbox.MaxRules-2)
	on := rule
	on.Enabled = true
	require.Equal(t, 1, race(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := inbox.CreateRule(ctx, tx, on, who)
		return err
	}), "of an event one more could be switched on")
	require.Equal(t, 1, race(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := inbox.CreateRule(ctx, tx, rule, who)
		return err
	}), "there was room for one more")

	fill(`INSERT INTO inbox_member (org_id, person_id, away, departments, updated_at)
		SELECT $1, gen_random_uuid(), false, '{}', now() FROM generate_series(1, $2::BIGINT)`, inbox.MaxMembers-1)
	require.Equal(t, 1, race(func(ctx context.Context, tx *tenant.Tx) error {
		m := inbox.Member{Person: id.NewPerson(), Departments: []string{}}
		return m.Save(ctx, tx, who)
	}))
}
