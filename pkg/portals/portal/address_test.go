package portal_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestAddressesAreOfOnePortal(t *testing.T) {
	tenants, found, one, two := tenanttest.NewDirected(t)
	ctx, clock := context.Background(), clocktest.NewFakeClock(tenanttest.Now)
	addresses := &portal.Addresses{Directory: found, Tenants: tenants, Clock: clock}
	claim := func(org id.Org, p id.Portal, name string) (portal.Held, error) {
		return addresses.Claim(ctx, org, p, directory.Slug, name)
	}

	t.Run("one of many takes it", func(t *testing.T) {
		var (
			group sync.WaitGroup
			won   atomic.Int64
		)
		for i := range 8 {
			group.Go(func() {
				if _, err := claim([]id.Org{one, two}[i%2], id.NewPortal(), "wanted"); err == nil {
					won.Add(1)
				}
			})
		}
		group.Wait()
		require.EqualValues(t, 1, won.Load())
	})
	t.Run("a claim that nothing came of lapses", func(t *testing.T) {
		first, second := id.NewPortal(), id.NewPortal()
		_, err := claim(one, first, "idle")
		require.NoError(t, err)
		_, err = claim(two, second, "idle")
		require.ErrorIs(t, err, portal.ErrTaken)
		clock.Step(11 * time.Minute)
		_, err = claim(two, second, "idle")
		require.NoError(t, err)
		_, err = claim(one, first, "idle")
		require.ErrorIs(t, err, portal.ErrTaken)
	})
	t.Run("a portal keeps its addresses", func(t *testing.T) {
		p := portaltest.Portal(t, tenants, one, id.NewPersona(), func(p *portal.Portal) { p.Slug = "kept" })
		_, err := claim(one, p.ID, "kept")
		require.NoError(t, err)
		require.NoError(t, tenants.InTx(ctx, one, func(ctx context.Context, tx *tenant.Tx) error {
			after := p
			after.Slug = "kept-anew"
			_, changed, err := portal.Update(ctx, tx, p, after, portal.Change{Action: "portal.updated"}, portal.Author{By: "key_1", At: tenanttest.Now})
			require.Equal(t, []string{"slug"}, changed)
			return err
		}))
		clock.Step(time.Hour)
		_, err = claim(two, id.NewPortal(), "kept")
		require.ErrorIs(t, err, portal.ErrTaken, "the former address leads to the portal")
		org, leads, err := found.Portal(ctx, directory.Slug, "kept")
		require.NoError(t, err)
		require.Equal(t, one, org)
		require.Equal(t, p.ID, leads)
	})
	t.Run("a refusal gives back only what it claimed", func(t *testing.T) {
		mine := id.NewPortal()
		held, err := claim(one, mine, "mine")
		require.NoError(t, err)
		clock.Step(time.Second)
		again, err := claim(one, mine, "mine")
		require.NoError(t, err)
		require.NoError(t, addresses.Release(ctx, held, again))
		_, err = claim(two, id.NewPortal(), "mine")
		require.ErrorIs(t, err, portal.ErrTaken, "another request of the portal still wants it")
		fresh, err := claim(one, mine, "other")
		require.NoError(t, err)
		require.NoError(t, addresses.Release(ctx, fresh))
		_, err = claim(two, id.NewPortal(), "other")
		require.NoError(t, err)
	})
}

func TestSlugsAndHosts(t *testing.T) {
	for name, begins := range map[string]string{
		"Hafenschule Köln": "hafenschule-koln-", "  A & B  ": "a-b-", "学校": "portal-", "": "portal-", strings.Repeat("x", 90): strings.Repeat("x", 40) + "-",
	} {
		slug := portal.NewSlug(name)
		require.True(t, strings.HasPrefix(slug, begins), slug)
		parsed, ok := portal.ParseSlug(slug)
		require.True(t, ok, slug)
		require.Equal(t, slug, parsed)
	}
	for _, bad := range []string{"", "ab", "-abc", "abc-", "a_b", "ä-b-c", strings.Repeat("x", 64)} {
		_, ok := portal.ParseSlug(bad)
		require.False(t, ok, bad)
	}
	for text, want := range map[string]string{
		"Learn.Example.com": "learn.example.com", "schule.köln": "schule.xn--kln-sna", "a.example.": "a.example",
		"localhost": "", "10.0.0.1": "", "1.2.3": "", "a.example:80": "", "a b.example": "", "": "", "[::1]": "", "https://a.example": "",
	} {
		host, ok := portal.ParseHost(text)
		require.Equal(t, want != "", ok, text)
		require.Equal(t, want, host)
	}
}

// Whatever a host is read as is read as the same again.
func FuzzHost(f *testing.F) {
	for _, seed := range []string{"learn.example.com", "schule.köln", "1.2.3", "a..b", "xn--kln-sna.example", "\x00.com"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		host, ok := portal.ParseHost(text)
		if !ok {
			return
		}
		again, ok := portal.ParseHost(host)
		require.True(t, ok, host)
		require.Equal(t, host, again)
	})
}
