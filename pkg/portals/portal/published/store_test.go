package published_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/organization"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// testBundle is a store over real databases, with a clock to move.
type testBundle struct {
	t       *testing.T
	dir     *directory.Directory
	tenants *tenant.Tenants
	org     id.Org
	clock   *clocktest.FakeClock
	sent    *tenanttest.Statements
	store   *published.Store
}

func setup(t *testing.T) *testBundle {
	t.Helper()
	ctx := context.Background()
	b := &testBundle{t: t, clock: clocktest.NewFakeClock(tenanttest.Now), sent: &tenanttest.Statements{}, org: id.NewOrg()}
	b.dir = directory.New(databasetest.Open(t, database.Directory), directory.Options{Clock: b.clock})
	b.tenants = tenant.New(b.dir, database.PoolOptions{Tracer: b.sent})
	t.Cleanup(b.tenants.Close)
	require.NoError(t, b.dir.AddShard(ctx, "a", databasetest.URL(t, database.Shard)))
	require.NoError(t, organization.Create(ctx, b.dir, b.tenants,
		directory.Organization{ID: b.org, Slug: b.org.Bare(), Shard: "a", Epoch: 1, CreatedAt: tenanttest.Now}))
	b.store = published.NewStore(published.Options{Directory: b.dir, Tenants: b.tenants, Clock: b.clock})
	return b
}

// portal enters a published portal and claims its names.
func (b *testBundle) portal(changes ...func(*portal.Portal)) portal.Portal {
	p := portaltest.Portal(b.t, b.tenants, b.org, id.NewPersona(), changes...)
	b.claim(directory.Slug, p.Slug, p.ID)
	if p.Host != "" {
		b.claim(directory.Host, p.Host, p.ID)
	}
	return p
}

func (b *testBundle) claim(kind directory.AddressKind, name string, p id.Portal) {
	_, err := b.dir.DB.Exec(context.Background(), `
		INSERT INTO portal_address (kind, name, org_id, portal_id, claimed_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (kind, name) DO UPDATE SET portal_id = excluded.portal_id`, kind, name, b.org, p, tenanttest.Now)
	require.NoError(b.t, err)
}

// change changes a portal as every writer does.
func (b *testBundle) change(p id.Portal, sql string, args ...any) {
	b.t.Helper()
	require.NoError(b.t, b.tenants.InTx(context.Background(), b.org, func(ctx context.Context, tx *tenant.Tx) error {
		if _, err := tx.Exec(ctx, sql, append([]any{tx.Org, p}, args...)...); err != nil {
			return err
		}
		return portal.Refresh(ctx, tx, p)
	}))
}

func (b *testBundle) slug(name string) (*published.Site, error) {
	return b.store.Site(context.Background(), directory.Address{Kind: directory.Slug, Name: name})
}

func TestASiteIsWhatWasPublished(t *testing.T) {
	b := setup(t)
	base := id.NewKnowledgeBase()
	p := b.portal(func(p *portal.Portal) {
		p.Host, p.HostProvenAt, p.Definition.SubjectBaseID = "learn.example.com", &p.CreatedAt, &base
	})
	portaltest.Subject(t, b.tenants, b.org, p.ID, func(s *subject.Subject, _ *subject.Content) { s.Place, s.Title = 1, "Second" })
	portaltest.Subject(t, b.tenants, b.org, p.ID)
	portaltest.Subject(t, b.tenants, b.org, p.ID, func(s *subject.Subject, _ *subject.Content) { s.State = subject.Archived })
	portaltest.Subject(t, b.tenants, b.org, p.ID, func(s *subject.Subject, _ *subject.Content) { s.PublishedVersion = nil })

	site, err := b.slug(p.Slug)
	require.NoError(t, err)
	require.Equal(t, p.Definition, site.Definition)
	require.Equal(t, p.Name, site.Name)
	require.Equal(t, &base, site.SubjectBase)
	require.Contains(t, site.Doors, "visitors")
	require.Len(t, site.Subjects, 2)
	require.Equal(t, "Knots", site.Subjects[0].Title)
	require.Equal(t, "The bowline", site.Subjects[0].Content.Sections[0].Title["en"])
	found, ok := site.Subject(site.Subjects[1].ID)
	require.True(t, ok)
	require.Equal(t, "Second", found.Title)

	same, err := b.store.Site(t.Context(), directory.Address{Kind: directory.Host, Name: "learn.example.com"})
	require.NoError(t, err)
	require.Same(t, site, same)
}

func TestNothingIsAtAHostThatIsNotProven(t *testing.T) {
	b := setup(t)
	p := b.portal(func(p *portal.Portal) { p.Host = "learn.example.com" })
	at := directory.Address{Kind: directory.Host, Name: p.Host}
	_, err := b.store.Site(t.Context(), at)
	require.ErrorIs(t, err, published.ErrNone)
	_, err = b.slug(p.Slug)
	require.NoError(t, err)
	b.change(p.ID, `UPDATE portal SET host_proven_at = created_at WHERE org_id = $1 AND id = $2`)
	b.clock.Step(2 * time.Second)
	site, err := b.store.Site(t.Context(), at)
	require.NoError(t, err)
	require.Equal(t, p.ID, site.Portal)
}

func TestAChangeIsSeenWithinTwoSeconds(t *testing.T) {
	b := setup(t)
	p := b.portal()
	first, err := b.slug(p.Slug)
	require.NoError(t, err)

	b.change(p.ID, `UPDATE portal_door SET open = false WHERE org_id = $1 AND portal_id = $2`)
	b.clock.Step(2 * time.Second)
	second, err := b.slug(p.Slug)
	require.NoError(t, err)
	require.NotEqual(t, first.Stamp, second.Stamp)
	require.Empty(t, second.Doors)

	b.clock.Step(2 * time.Second)
	var third *published.Site
	asked := b.sent.Of(t, "FROM portal p", func() error { third, err = b.slug(p.Slug); return err })
	require.Same(t, second, third)
	require.Len(t, asked, 1, "what did not change is not read again")
}

func TestWhatIsNotPublishedIsNotThere(t *testing.T) {
	b := setup(t)
	p := b.portal()
	_, err := b.slug(p.Slug)
	require.NoError(t, err)
	for state, want := range map[portal.State]error{portal.Unpublished: published.ErrNone, portal.Archived: published.ErrGone, portal.Draft: published.ErrNone} {
		b.change(p.ID, `UPDATE portal SET state = $3 WHERE org_id = $1 AND id = $2`, state)
		b.clock.Step(2 * time.Second)
		_, err := b.slug(p.Slug)
		require.ErrorIs(t, err, want, state)
	}
	b.change(p.ID, `UPDATE portal SET state = 'published' WHERE org_id = $1 AND id = $2`)
	b.clock.Step(2 * time.Second)
	_, err = b.slug(p.Slug)
	require.NoError(t, err)
}

func TestANameThatNobodyHasIsAskedForOnceASecond(t *testing.T) {
	b := setup(t)
	_, err := b.slug("later")
	require.ErrorIs(t, err, published.ErrNone)
	p := b.portal(func(p *portal.Portal) { p.Slug = "later" })
	_, err = b.slug("later")
	require.ErrorIs(t, err, published.ErrNone)
	b.clock.Step(time.Second)
	site, err := b.slug("later")
	require.NoError(t, err)
	require.Equal(t, p.ID, site.Portal)
}

func TestANameGoesToWhoCarriesIt(t *testing.T) {
	b := setup(t)
	p := b.portal(func(p *portal.Portal) { p.Slug = "wanted" })
	_, err := b.slug("wanted")
	require.NoError(t, err)
	b.change(p.ID, `UPDATE portal SET slug = 'other' WHERE org_id = $1 AND id = $2`)
	b.clock.Step(2 * time.Second)
	_, err = b.slug("wanted")
	require.ErrorIs(t, err, published.ErrNone, "a claim alone is no page")

	next := b.portal(func(p *portal.Portal) { p.Slug = "wanted" })
	b.clock.Step(2 * time.Second)
	site, err := b.slug("wanted")
	require.NoError(t, err)
	require.Equal(t, next.ID, site.Portal)
}

func TestAFormerSlugLeadsToThePortal(t *testing.T) {
	b := setup(t)
	p := b.portal(func(p *portal.Portal) { p.Slug = "former" })
	b.claim(directory.Slug, "present", p.ID)
	b.change(p.ID, `UPDATE portal SET slug = 'present', former_slugs = '{former}' WHERE org_id = $1 AND id = $2`)
	for _, slug := range []string{"former", "present"} {
		site, err := b.slug(slug)
		require.NoError(t, err)
		require.Equal(t, "present", site.Slug)
	}
}

func TestAnOrganizationHasAllItsVisitorsToldOfTheAI(t *testing.T) {
	b := setup(t)
	p := b.portal(func(p *portal.Portal) { p.Definition.Privacy.AINotice = false })
	told := func() bool {
		b.clock.Step(2 * time.Second)
		site, err := b.slug(p.Slug)
		require.NoError(t, err)
		return site.Definition.Privacy.AINotice
	}
	require.False(t, told())
	for _, on := range []bool{true, false} {
		require.NoError(t, b.tenants.InTx(t.Context(), b.org, func(ctx context.Context, tx *tenant.Tx) error {
			return setting.Set(ctx, tx, setting.AINotice, on, "test", b.clock.Now())
		}))
		require.Equal(t, on, told())
	}
}

func TestPagesOutliveTheirDatabases(t *testing.T) {
	b := setup(t)
	p := b.portal()
	site, err := b.slug(p.Slug)
	require.NoError(t, err)
	shard, err := b.tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	// Every statement now ends as one of a server that is going away.
	_, err = shard.Exec(t.Context(), `
		CREATE FUNCTION away() RETURNS BOOLEAN LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION SQLSTATE '57P03'; END $$;
		ALTER TABLE portal RENAME TO hidden;
		CREATE VIEW portal AS SELECT * FROM hidden WHERE away()`)
	require.NoError(t, err)
	b.clock.Step(20 * time.Second)
	still, err := b.slug(p.Slug)
	require.NoError(t, err)
	require.Same(t, site, still)
}

func TestSitesRideTheirIndexes(t *testing.T) {
	b := setup(t)
	p := b.portal()
	db, err := b.tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	for text, index := range map[string]string{
		"FROM portal p": "persona_pkey", "FROM portal_door": "portal_door_pkey", "FROM subject s": "subject_by_portal",
	} {
		fresh := published.NewStore(published.Options{Directory: b.dir, Tenants: b.tenants, Clock: b.clock})
		sent := b.sent.Of(t, text, func() error {
			_, err := fresh.Site(t.Context(), directory.Address{Kind: directory.Slug, Name: p.Slug})
			return err
		})
		require.NotEmpty(t, sent, text)
		plan := sent[0].Forced(t, db)
		require.Contains(t, plan, index, text)
		require.NotContains(t, strings.ToLower(plan), "seq scan", text)
	}
}
