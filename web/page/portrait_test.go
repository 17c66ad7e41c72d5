package page_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/avatar/portrait"
	"visavis.dev/pkg/personas/face"
	"visavis.dev/pkg/portals/portal/artwork"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
	"visavis.dev/web/page"
	"visavis.dev/web/page/pagetest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// picture begins as a PNG does.
const picture = "\x89PNG\r\n\x1a\nand more"

func TestPortraits(t *testing.T) {
	tenants, org, other := tenanttest.New(t)
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { require.NoError(t, bucket.Close()) })
	files := file.New(bucket, tenants, clocktest.NewFakeClock(tenanttest.Now))
	stored, err := files.Put(t.Context(), org, "image/png", []byte(picture))
	require.NoError(t, err)
	own := avatar.Avatar{
		ID: id.NewAvatar(), Kind: avatar.Custom, Name: "own", Width: 4, Height: 3, Metadata: map[string]string{},
		Picture: stored, Thumbnail: stored, CreatedAt: tenanttest.Now,
	}
	agreed := consent.Consent{ID: id.NewConsent(), Kind: consent.Likeness, State: consent.Given, Avatar: own.ID, SignedAt: tenanttest.Now, RecordedAt: tenanttest.Now}
	require.NoError(t, tenants.InTx(t.Context(), org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := avatar.Create(ctx, tx, own, agreed, plan.Terms{Limits: plan.Limits{plan.CustomAvatars: new(int64(1))}}, activity.Actor{By: "test", At: tenanttest.Now})
		return err
	}))

	b := setup(t)
	b.handler.Portraits = page.Faces{Library: library, Tenants: tenants, Files: files}
	drawn := b.get(home + "/portrait")
	require.Equal(t, http.StatusOK, drawn.Code)
	require.Equal(t, "image/png", drawn.Header().Get("Content-Type"))

	layers, rig := b.get(home+"/face/512.png"), b.get(home+"/face/512.json")
	require.Equal(t, http.StatusOK, layers.Code)
	require.Equal(t, "image/png", layers.Header().Get("Content-Type"))
	require.Equal(t, "application/json", rig.Header().Get("Content-Type"))
	require.Contains(t, rig.Body.String(), `"browLeft":{`)
	for path, got := range map[string]*httptest.ResponseRecorder{"/portrait": drawn, "/face/512.png": layers, "/face/512.json": rig} {
		require.Equal(t, "public, max-age=3600, stale-while-revalidate=86400", got.Header().Get("Cache-Control"), path)
		known := b.get(home+path, "If-None-Match: "+got.Header().Get("ETag"))
		require.Equal(t, []any{http.StatusNotModified, got.Header().Get("ETag")}, []any{known.Code, known.Header().Get("ETag")}, path)
	}
	for _, name := range []string{"", "512", "512.gif", "100000.png", "-1.png"} {
		require.Equal(t, http.StatusNotFound, b.get(home+"/face/"+name).Code, name)
	}

	b.site.Org, b.site.Speaker.Avatar = org, own.ID
	require.Equal(t, http.StatusNotFound, b.get(home+"/face/512.png").Code, "it is not prepared")
	require.NoError(t, tenants.InTx(t.Context(), org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO face (org_id, avatar_id, state, ready_at, job_id, images) VALUES ($1, $2, $3, $4, $5, $6)`,
			org, own.ID, face.Ready, tenanttest.Now, id.NewJob(), []face.Image{{Size: 512, Width: 4, Height: 3, ContentType: "image/png", Bytes: len(picture), File: stored}})
		return err
	}))
	require.Equal(t, http.StatusNotFound, b.get(home+"/face/512.png").Code, "there is no face in the picture")
	require.NotContains(t, b.get(home+"/talk", b.signedIn()).Body.String(), "/face/")
	marks := portrait.Library()[0].Look.Landmarks()
	mark := func(marks *portrait.Landmarks) {
		require.NoError(t, tenants.InTx(t.Context(), org, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := avatar.Change(ctx, tx, library, own.ID, func(a *avatar.Avatar) { a.Landmarks = marks }, activity.Actor{By: "test", At: tenanttest.Now})
			return err
		}))
	}
	mark(&marks)
	moved := b.get(home + "/face/512.png")
	require.Equal(t, []string{picture, "public, max-age=3600"}, []string{moved.Body.String(), moved.Header().Get("Cache-Control")})
	require.Equal(t, http.StatusNotModified, b.get(home+"/face/512.png", "If-None-Match: "+moved.Header().Get("ETag")).Code)
	require.Contains(t, b.get(home+"/face/1024.json").Body.String(), `"chin":[`)
	require.Contains(t, b.get(home+"/talk", b.signedIn()).Body.String(), `data-face="/p/harbour/face/{side}.{kind}?`+own.ID.Bare()+".")
	mark(nil)
	shown := b.get(home + "/portrait")
	require.Equal(t, picture, shown.Body.String())
	require.Equal(t, "image/png", shown.Header().Get("Content-Type"))
	require.Equal(t, "public, max-age=3600", shown.Header().Get("Cache-Control"), "a consent is withdrawn for good")

	b.site.Org = other
	require.Equal(t, http.StatusNotFound, b.get(home+"/portrait").Code, "a face is its organization's")
	b.site.Org = org
	require.NoError(t, tenants.InTx(t.Context(), org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := avatar.Delete(ctx, tx, library, own.ID, tenanttest.Now)
		return err
	}))
	require.Equal(t, http.StatusNotFound, b.get(home+"/portrait").Code)
}

// unknown cannot say now whether faces move.
type unknown struct{ page.Portraits }

func (unknown) Lives(context.Context, *published.Site) (string, bool, error) {
	return "", false, errors.New("no database")
}

// Nobody stays away from a conversation because a face does.
func TestPagesWithoutALivingFace(t *testing.T) {
	b := setup(t)
	at, _ := invited(b)
	b.handler.Portraits = unknown{pagetest.Portraits{Library: library}}
	talk := b.get(home+"/talk", b.signedIn())
	require.Equal(t, http.StatusOK, talk.Code)
	require.Contains(t, talk.Body.String(), `data-face=""`)
	code, ticket := b.asks(http.MethodPost, at+"/ticket", joinToken)
	require.Equal(t, []any{http.StatusOK, ""}, []any{code, ticket["face"]})
}

// Pages show copies of the portal's pictures, of their own origin, for ever.
func TestPicturesOfAPortal(t *testing.T) {
	logo, photo := artwork.Picture{URL: "https://elsewhere.example.com/logo.png", File: id.NewFile(), ContentType: "image/png"},
		artwork.Picture{URL: "https://elsewhere.example.com/photo", File: id.NewFile(), ContentType: "image/jpeg"}
	b := setup(t, func(s *published.Site) {
		s.Definition.Brand.LogoURL = &logo.URL
		s.Pictures = artwork.ByURL{logo.URL: logo, photo.URL: photo, "https://elsewhere.example.com/gone": {URL: "https://elsewhere.example.com/gone", Failure: "gone"}}
		s.Subjects[0].Content.Sections[0].Media = []subject.Media{
			{Kind: "image", URL: photo.URL, Alt: language.Words{"en": `A "bowline"`}}, {Kind: "image", URL: "https://elsewhere.example.com/gone", Alt: language.Words{"en": "A hitch"}},
		}
	})
	b.handler.Portraits = pagetest.Portraits{Library: library, Pictures: map[id.File][]byte{logo.File: []byte(picture)}}
	at := "/p/harbour/picture/" + logo.File.Bare()
	require.Contains(t, b.get(home).Body.String(), `<img src="`+at+`" alt=""`)
	shown := b.get("https://portal.example.com" + at)
	require.Equal(t, []any{http.StatusOK, picture, "image/png", "public, max-age=31536000, immutable"}, []any{
		shown.Code, shown.Body.String(), shown.Header().Get("Content-Type"), shown.Header().Get("Cache-Control"),
	})
	require.Equal(t, "nosniff", shown.Header().Get("X-Content-Type-Options"))
	for _, name := range []string{"", id.NewFile().Bare(), id.File{}.Bare(), "../portrait"} {
		require.Equal(t, http.StatusNotFound, b.get(home+"/picture/"+name).Code, name)
	}
	taught := b.get(home + "/s/" + b.site.Subjects[0].ID.String()).Body.String()
	require.Contains(t, taught, `<img src="/p/harbour/picture/`+photo.File.Bare()+`" alt="A &#34;bowline&#34;" lang="en"`)
	require.Contains(t, taught, `<a href="https://elsewhere.example.com/gone"`)
	require.NotContains(t, taught, `src="https://elsewhere`)
}
