package subject_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/tenant"
)

func TestInsert(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.insert("Knots"), w.insert("Sails")
	require.Equal(t, []int64{0, 1}, []int64{first.Place, second.Place})
	require.Equal(t, []string{"Knots", "Sails"}, w.titles())

	found, err := subject.GetSummary(context.Background(), w.tenants, w.one, first.ID)
	require.NoError(t, err)
	require.Equal(t, subject.Draft, found.State)
	require.Equal(t, []string{"en", "de"}, found.Languages)
	require.Equal(t, "en", found.DefaultLanguage)
	require.Equal(t, int64(1), found.Questions)
	require.True(t, found.Changed())
	_, v, err := subject.GetContent(context.Background(), w.tenants, w.one, first.ID, 0)
	require.NoError(t, err)
	require.Equal(t, int64(1), v.Version)
	require.Equal(t, []string{"intro", "sections", "questions", "ending"}, v.ChangedSections)
	require.Equal(t, "key_1", v.SavedBy)

	_, err = subject.GetSummary(context.Background(), w.tenants, w.two, first.ID)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: subject.Noun})
	_, _, err = subject.GetContent(context.Background(), w.tenants, w.two, first.ID, 0)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: subject.Noun})
	_, _, err = subject.GetContent(context.Background(), w.tenants, w.one, first.ID, 2)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: subject.VersionNoun})
}

func TestInsertRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for field, s := range map[string]subject.Subject{
		"title":               {Title: " "},
		"personaId":           {Title: "a", Definition: subject.Definition{PersonaID: new(id.NewPersona())}},
		"knowledgeBaseIds[0]": {Title: "a", Definition: subject.Definition{KnowledgeBaseIDs: []id.KnowledgeBase{id.NewKnowledgeBase()}}},
		"prerequisites[0]":    {Title: "a", Definition: subject.Definition{Prerequisites: []id.Subject{id.NewSubject()}}},
	} {
		_, err := w.tryInsert(s, ready())
		var wrong *errdefs.Invalid
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, field, wrong.Field)
	}
	require.Empty(t, w.titles())

	w.portal = portaltest.Portal(t, w.tenants, w.one, id.NewPersona(), func(p *portal.Portal) { p.State = portal.Archived })
	_, err := w.tryInsert(subject.Subject{Title: "a"}, ready())
	require.ErrorIs(t, err, errdefs.Archived{Noun: portal.Noun})
}

func TestSave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.insert("Knots").ID
	v := w.save(s, "Two")
	require.Len(t, w.told, 1)
	told := w.told[0]
	require.Equal(t, []string{"de", "en"}, told.Fields["languages"])
	require.Equal(t, int64(1), told.Fields["baseVersion"])
	require.Equal(t, []int64{2, 1}, []int64{v.Version, v.BaseVersion})
	require.Equal(t, []string{"intro"}, v.ChangedSections)

	same, changed, err := w.trySave(s, new(int64(2)), func(*subject.Content) {})
	require.NoError(t, err)
	require.False(t, changed)
	require.Empty(t, w.told)
	require.Equal(t, int64(2), same.Version)

	_, _, err = w.trySave(s, new(int64(1)), func(*subject.Content) {})
	var outdated *subject.OutdatedError
	require.ErrorAs(t, err, &outdated)
	require.Equal(t, int64(2), outdated.Current)

	_, _, err = w.trySave(s, nil, func(c *subject.Content) { c.Sections[0].Title["en"] = " " })
	var wrong *errdefs.Invalid
	require.ErrorAs(t, err, &wrong)
}

// What was published stays for good; of the rest, the newest ones do.
func TestOldVersionsAreForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.insert("Knots").ID
	w.save(s, "published")
	w.publish(s)
	const saved = subject.KeptVersions + 3
	for i := range saved {
		w.save(s, fmt.Sprint("draft ", i))
	}
	found, err := subject.Versions(context.Background(), w.tenants, w.one, s, 0, 500)
	require.NoError(t, err)
	require.Len(t, found, subject.KeptVersions+1)
	require.Equal(t, int64(saved+2), found[0].Version)
	require.Equal(t, int64(2), found[len(found)-1].Version)
	require.Equal(t, "first", *found[len(found)-1].ChangeNote)
	page, err := subject.Versions(context.Background(), w.tenants, w.one, s, found[0].Version, 2)
	require.NoError(t, err)
	require.Equal(t, found[1:3], page)
}

func TestChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, c := w.insert("a").ID, w.insert("b").ID, w.insert("c").ID
	require.Empty(t, w.change(a, func(*subject.Subject) {}))
	before := w.stamp()
	require.Equal(t, []string{"title", "durationS"}, w.change(a, func(s *subject.Subject) { s.Title, s.Definition.DurationS = "A", new(int64(60)) }))
	require.Equal(t, before, w.stamp(), "nobody sees a draft")
	found, err := subject.Get(context.Background(), w.tenants, w.one, a)
	require.NoError(t, err)
	require.Equal(t, int64(2), found.Edition)
	require.Equal(t, int64(60), *found.Definition.DurationS)

	require.Equal(t, []string{"order"}, w.change(a, func(s *subject.Subject) { s.Place = 1 }))
	require.Equal(t, []string{"b", "A", "c"}, w.titles())
	require.Equal(t, []string{"order"}, w.change(b, func(s *subject.Subject) { s.Place = 99 }))
	require.Equal(t, []string{"A", "c", "b"}, w.titles())
	require.Empty(t, w.change(b, func(s *subject.Subject) { s.Place = 99 }))
	require.Equal(t, []string{"order"}, w.change(b, func(s *subject.Subject) { s.Place = 0 }))
	require.Equal(t, []string{"b", "A", "c"}, w.titles())

	require.Equal(t, []string{"prerequisites"}, w.change(b, func(s *subject.Subject) { s.Definition.Prerequisites = []id.Subject{a} }))
	require.Equal(t, []string{"prerequisites"}, w.change(a, func(s *subject.Subject) { s.Definition.Prerequisites = []id.Subject{c} }))
	for name, circle := range map[string]id.Subject{"itself": c, "at once": a, "over another": b} {
		_, _, err := w.tryChange(c, func(s *subject.Subject) { s.Definition.Prerequisites = []id.Subject{circle} })
		var wrong *errdefs.Invalid
		require.ErrorAs(t, err, &wrong, name)
		require.Equal(t, "prerequisites[0]", wrong.Field)
	}
}

func TestArchive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.insert("a").ID, w.insert("b").ID
	w.publish(a)
	before := w.stamp()
	require.Equal(t, []string{"state"}, w.change(a, func(s *subject.Subject) { s.State = subject.Archived }))
	require.Greater(t, w.stamp(), before)
	require.Equal(t, []string{"b"}, w.titles())
	_, _, err := w.tryChange(a, func(*subject.Subject) {})
	require.ErrorIs(t, err, errdefs.Archived{Noun: subject.Noun})
	_, _, err = w.trySave(a, nil, func(*subject.Content) {})
	require.ErrorIs(t, err, errdefs.Archived{Noun: subject.Noun})
	found, err := subject.Get(context.Background(), w.tenants, w.one, a)
	require.NoError(t, err)
	require.NotNil(t, found.ArchivedAt)
	require.Equal(t, int64(2), w.insert("c").Place, "after b")
	_ = b
}

func TestPublishAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.insert("a"), w.insert("b")
	c := w.insert("c")
	w.change(c.ID, func(s *subject.Subject) { s.State = subject.Archived })
	w.publish(b.ID)
	w.save(b.ID, "newer")
	var ids []id.Subject
	require.NoError(t, w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		drafts, err := subject.LockDrafts(ctx, tx, w.portal.ID)
		require.NoError(t, err)
		require.Len(t, drafts, 2)
		require.Equal(t, said("newer"), drafts[1].Content.Intro)
		ids, err = subject.PublishAll(ctx, tx, w.portal, who)
		return err
	}))
	require.Equal(t, []id.Subject{a.ID, b.ID}, ids)
	for s, version := range map[id.Subject]int64{a.ID: 1, b.ID: 2} {
		found, err := subject.Get(context.Background(), w.tenants, w.one, s)
		require.NoError(t, err)
		require.Equal(t, subject.Published, found.State)
		require.Equal(t, version, *found.PublishedVersion)
		require.False(t, found.Changed())
	}
}

// Each list rides its index, whatever else the shard holds.
func TestListsRideTheirIndexes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	s := w.insert("a").ID
	db, err := w.tenants.Shard(ctx, "a")
	require.NoError(t, err)
	for _, sql := range []string{
		`INSERT INTO subject (org_id, id, portal_id, title, kind, state, place, definition, edition, draft_version, created_at, updated_at)
		SELECT org_id, gen_random_uuid(), gen_random_uuid(), title, kind, state, i, definition, 1, 1, created_at, updated_at
		FROM subject, generate_series(1, 3000) AS g (i)`,
		`INSERT INTO subject_version (org_id, subject_id, version, base_version, content, changed_sections, saved_at, saved_by)
		SELECT org_id, id, 1, 0, '{}', '{}', created_at, 'test' FROM subject WHERE place > 0`,
	} {
		_, err := db.Exec(ctx, sql)
		require.NoError(t, err)
	}
	_, err = db.Exec(ctx, `ANALYZE`)
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		text, index string
		do          func() error
	}{
		"subjects": {"ORDER BY place, id LIMIT", "subject_by_portal", func() error {
			_, err := subject.List(ctx, w.tenants, w.one, w.portal.ID, subject.Position{Place: 1, ID: s}, 10)
			return err
		}},
		"versions": {"ORDER BY version DESC LIMIT", "subject_version_pkey", func() error {
			_, err := subject.Versions(ctx, w.tenants, w.one, s, 5, 10)
			return err
		}},
		"old versions": {"DELETE FROM subject_version", "subject_version_pkey", func() error {
			w.save(s, "another")
			return nil
		}},
		"drafts": {"ORDER BY place, id FOR UPDATE", "subject_by_portal", func() error {
			return w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
				_, err := subject.LockDrafts(ctx, tx, w.portal.ID)
				return err
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, sent := range w.sent.Of(t, tt.text, tt.do) {
				require.Contains(t, sent.Forced(t, db), tt.index, sent.SQL)
			}
		})
	}
}
