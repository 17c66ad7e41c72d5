package subject_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// world is a shard with an organization that has a portal.
type world struct {
	t        *testing.T
	tenants  *tenant.Tenants
	sent     *tenanttest.Statements
	one, two id.Org
	portal   portal.Portal
	// told are the events of the last change.
	told []event.Draft
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t}
	w.tenants, w.sent, w.one, w.two = tenanttest.NewTraced(t)
	w.portal = portaltest.Portal(t, w.tenants, w.one, id.NewPersona())
	return w
}

var who = subject.Author{By: "key_1", At: time.Date(2026, 10, 2, 8, 0, 0, 0, time.UTC)}

func (w *world) inTx(fn func(context.Context, *tenant.Tx) error) error {
	return w.tenants.InTx(context.Background(), w.one, fn)
}

func (w *world) tryInsert(s subject.Subject, c subject.Content) (made subject.Subject, err error) {
	s.ID, s.Portal = id.NewSubject(), w.portal.ID
	err = w.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		made, err = subject.Insert(ctx, tx, s, c, who)
		return err
	})
	return made, err
}

func (w *world) insert(title string) subject.Subject {
	w.t.Helper()
	made, err := w.tryInsert(subject.Subject{Title: title, Kind: subject.Course}, ready())
	require.NoError(w.t, err)
	return made
}

func (w *world) trySave(s id.Subject, base *int64, change func(*subject.Content)) (v subject.Version, changed bool, err error) {
	err = w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		locked, err := subject.Lock(ctx, tx, s)
		if err != nil {
			return err
		}
		last, err := subject.FindVersion(ctx, tx, s, locked.DraftVersion)
		if err != nil {
			return err
		}
		change(&last.Content)
		v, changed, err = subject.Save(ctx, tx, locked, last.Content, base, who, nil)
		w.told = event.Emitted(tx)
		return err
	})
	return v, changed, err
}

// save gives a subject another introduction.
func (w *world) save(s id.Subject, intro string) subject.Version {
	w.t.Helper()
	v, changed, err := w.trySave(s, nil, func(c *subject.Content) { c.Intro = said(intro) })
	require.NoError(w.t, err)
	require.True(w.t, changed)
	return v
}

func (w *world) publish(s id.Subject) subject.Subject {
	w.t.Helper()
	var published subject.Subject
	require.NoError(w.t, w.inTx(func(ctx context.Context, tx *tenant.Tx) (err error) {
		if published, err = subject.Lock(ctx, tx, s); err != nil {
			return err
		}
		return subject.Publish(ctx, tx, &published, who, new("first"))
	}))
	return published
}

func (w *world) tryChange(s id.Subject, change func(*subject.Subject)) (now subject.Subject, changed []string, err error) {
	err = w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		if _, err := portal.Lock(ctx, tx, w.portal.ID); err != nil {
			return err
		}
		before, err := subject.Lock(ctx, tx, s)
		if err != nil {
			return err
		}
		after := before
		change(&after)
		now, changed, err = subject.Change(ctx, tx, before, after, who)
		return err
	})
	return now, changed, err
}

func (w *world) change(s id.Subject, change func(*subject.Subject)) []string {
	w.t.Helper()
	_, changed, err := w.tryChange(s, change)
	require.NoError(w.t, err)
	return changed
}

// titles are those of the portal's subjects, in their order.
func (w *world) titles() (titles []string) {
	w.t.Helper()
	found, err := subject.List(context.Background(), w.tenants, w.one, w.portal.ID, subject.Position{}, 100)
	require.NoError(w.t, err)
	for _, s := range found {
		titles = append(titles, s.Title)
	}
	return titles
}

func (w *world) stamp() int64 {
	w.t.Helper()
	p, err := portal.Get(context.Background(), w.tenants, w.one, w.portal.ID)
	require.NoError(w.t, err)
	return p.PageStamp
}
