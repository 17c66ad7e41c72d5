package artwork_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/artwork"
	"visavis.dev/pkg/portals/portal/portaltest"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// studio is a server elsewhere with pictures, and a collector that reaches it.
type studio struct {
	*testing.T
	tenants   *tenant.Tenants
	org       id.Org
	files     *file.Store
	clock     *clocktest.FakeClock
	collector *artwork.Collector
	url       string
	served    map[string][]byte
}

func drawn(t *testing.T, w, h int) []byte {
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, image.NewNRGBA(image.Rect(0, 0, w, h))))
	return out.Bytes()
}

func newStudio(t *testing.T) *studio {
	s := &studio{T: t, clock: clocktest.NewFakeClock(tenanttest.Now), served: map[string][]byte{}}
	s.tenants, s.org, _ = tenanttest.New(t)
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { require.NoError(t, bucket.Close()) })
	s.files = file.New(bucket, s.tenants, s.clock)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := s.served[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(data)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	guard := egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: roots})
	s.collector = artwork.NewCollector(s.tenants, s.files, guard, s.clock)
	return s
}

func (s *studio) portal(logo string) portal.Portal {
	return portaltest.Portal(s, s.tenants, s.org, id.NewPersona(), func(p *portal.Portal) { p.Definition.Brand.LogoURL = &logo })
}

// pictures are those of a portal, and how often its page changed.
func (s *studio) pictures(p id.Portal) (found artwork.ByURL, stamp int64) {
	s.Helper()
	require.NoError(s, s.tenants.InTx(s.Context(), s.org, func(ctx context.Context, tx *tenant.Tx) (err error) {
		if found, err = artwork.Find(ctx, tx, p); err != nil {
			return err
		}
		now, err := portal.Find(ctx, tx, p)
		stamp = now.PageStamp
		return err
	}))
	return found, stamp
}

func (s *studio) collect(p id.Portal, anew bool) {
	s.Helper()
	require.NoError(s, s.collector.Collect(s.Context(), s.org, p, anew))
}

// sweep deletes what nothing refers to, and answers how many files that were.
func (s *studio) sweep() int {
	s.Helper()
	s.clock.Step(2 * time.Hour)
	n, err := s.files.Sweep(s.Context(), "a")
	require.NoError(s, err)
	return n
}

func TestPicturesAreCopied(t *testing.T) {
	s := newStudio(t)
	logo, photo := s.url+"/logo.png", s.url+"/photo.png"
	s.served["/logo.png"], s.served["/photo.png"] = drawn(t, 40, 12), drawn(t, 2000, 500)
	p := s.portal(logo)
	portaltest.Subject(t, s.tenants, s.org, p.ID, func(_ *subject.Subject, c *subject.Content) {
		c.Sections[0].Media = []subject.Media{
			{Kind: "image", URL: photo, Alt: language.Words{}}, {Kind: "video", URL: s.url + "/film", Alt: language.Words{}},
			{Kind: "image", URL: logo, Alt: language.Words{}},
		}
	})
	s.collect(p.ID, true)
	found, stamp := s.pictures(p.ID)
	require.Len(t, found, 2)
	require.Greater(t, stamp, p.PageStamp, "the page shows them at once")
	for url, size := range map[string]image.Point{logo: {40, 12}, photo: {1600, 400}} {
		require.Empty(t, found[url].Failure)
		data, err := s.files.Read(t.Context(), s.org, found[url].File)
		require.NoError(t, err)
		kept, err := png.DecodeConfig(bytes.NewReader(data))
		require.NoError(t, err)
		require.Equal(t, size, image.Pt(kept.Width, kept.Height))
		require.Equal(t, "image/png", found[url].ContentType)
	}
	require.Zero(t, s.sweep())

	// What is as it was stays, with its address.
	s.collect(p.ID, true)
	again, same := s.pictures(p.ID)
	require.Equal(t, found[logo].File, again[logo].File)
	require.Equal(t, stamp, same)
	require.Equal(t, 2, s.sweep(), "what was fetched for nothing")

	// Another one has another address, and the one of before goes.
	s.served["/logo.png"] = drawn(t, 50, 12)
	s.collect(p.ID, false)
	again, _ = s.pictures(p.ID)
	require.Equal(t, found[logo].File, again[logo].File, "a check fetches only what is missing")
	s.collect(p.ID, true)
	again, _ = s.pictures(p.ID)
	require.NotEqual(t, found[logo].File, again[logo].File)
	require.Equal(t, found[photo].File, again[photo].File)
	require.Equal(t, 2, s.sweep())

	// While its server is away, the copy is shown.
	delete(s.served, "/logo.png")
	s.collect(p.ID, true)
	away, _ := s.pictures(p.ID)
	require.Equal(t, again[logo].File, away[logo].File)
	require.Contains(t, away[logo].Failure, "404")
}

func TestPicturesThatNobodyWantsGo(t *testing.T) {
	s := newStudio(t)
	s.served["/a"], s.served["/b"] = drawn(t, 5, 5), drawn(t, 6, 6)
	p := s.portal(s.url + "/a")
	s.collect(p.ID, true)
	logo := func(path string) {
		require.NoError(t, s.tenants.InTx(t.Context(), s.org, func(ctx context.Context, tx *tenant.Tx) error {
			before, err := portal.Lock(ctx, tx, p.ID)
			if err != nil {
				return err
			}
			after, url := before, s.url+path
			after.Definition.Brand.LogoURL = &url
			_, _, err = portal.Update(ctx, tx, before, after, portal.Change{Action: "portal.updated"}, portal.Author{By: "test", At: tenanttest.Now})
			return err
		}))
	}
	logo("/b")
	s.collect(p.ID, true)
	found, _ := s.pictures(p.ID)
	require.Len(t, found, 2, "visitors see the first still")
	require.NoError(t, s.tenants.InTx(t.Context(), s.org, func(ctx context.Context, tx *tenant.Tx) error {
		now, err := portal.Lock(ctx, tx, p.ID)
		if err != nil {
			return err
		}
		_, err = portal.Publish(ctx, tx, now, nil, portal.Author{By: "test", At: tenanttest.Now})
		return err
	}))
	s.collect(p.ID, false)
	found, _ = s.pictures(p.ID)
	require.Len(t, found, 1)
	require.Contains(t, found, s.url+"/b")
	require.Equal(t, 1, s.sweep())
	require.ErrorIs(t, s.collector.Collect(t.Context(), s.org, id.NewPortal(), true), errdefs.NotFound{Noun: portal.Noun})
}

func TestWhyAPictureIsNotThere(t *testing.T) {
	s := newStudio(t)
	s.served["/text"], s.served["/large"], s.served["/broken"] = []byte("<svg onload=alert(1)>"), make([]byte, 4<<20+1), drawn(t, 9, 9)[:40]
	for url, why := range map[string]string{
		s.url + "/none": "404", s.url + "/text": "no PNG, JPEG or WebP", s.url + "/large": "larger than 4 MB", s.url + "/broken": "cannot be decoded",
		"https://10.0.0.1/logo.png": "not", "https://127.0.0.1:1/logo.png": "",
	} {
		p := s.portal(url)
		s.collect(p.ID, true)
		found, stamp := s.pictures(p.ID)
		require.NotEmpty(t, found[url].Failure, url)
		require.Contains(t, found[url].Failure, why)
		require.True(t, found[url].File.IsZero())
		require.Equal(t, p.PageStamp, stamp)
	}
	require.Zero(t, s.sweep())
}

func TestWishesAreBounded(t *testing.T) {
	var many []artwork.Lesson
	for i := range 50 {
		many = append(many, artwork.Lesson{Content: subject.Content{Sections: []subject.Section{{Media: []subject.Media{
			{Kind: "image", URL: fmt.Sprintf("https://example.com/%d", i/2)}, {Kind: "link", URL: "https://example.com"},
		}}}}})
	}
	d := portal.Defaults()
	require.Len(t, artwork.Wishes(d, many), 25)
	d.Brand.LogoURL = new("https://example.com/logo")
	wishes := artwork.Wishes(d, append(many, many...))
	require.Equal(t, artwork.Wish{Field: "brand.logoUrl", URL: "https://example.com/logo"}, wishes[0])
	require.Equal(t, "subjects[2].sections[0].media[0].url", wishes[2].Field)
	for i := range many {
		many[i].Content.Sections[0].Media[0].URL += fmt.Sprint("?", i)
	}
	require.Len(t, artwork.Wishes(d, many), artwork.MostWishes)
}
