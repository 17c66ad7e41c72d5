package face_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/avatar/landmark"
	"visavis.dev/pkg/personas/avatar/portrait"
	"visavis.dev/pkg/personas/face"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/database/databasetest"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// world is an organization with faces, and what prepares them.
type world struct {
	t       *testing.T
	tenants *tenant.Tenants
	org     id.Org
	files   *file.Store
	clock   *clocktest.FakeClock
	runner  *job.Runner
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: clocktest.NewFakeClock(tenanttest.Now)}
	w.tenants, w.org, _ = tenanttest.New(t)
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { require.NoError(t, bucket.Close()) })
	w.files = file.New(bucket, w.tenants, w.clock)
	preparer := &face.Preparer{Tenants: w.tenants, Files: w.files, Library: avatar.NewLibrary()}
	w.runner = &job.Runner{
		Tenants: w.tenants, Works: map[job.Kind]job.Work{job.AvatarPrepare: preparer.Work()}, Clock: w.clock, Log: slog.New(slog.DiscardHandler),
	}
	return w
}

func (w *world) inTx(fn func(context.Context, *tenant.Tx) error) {
	w.t.Helper()
	require.NoError(w.t, w.tenants.InTx(context.Background(), w.org, fn))
}

// avatar makes an own face of a picture's bytes; nil for a file that is not there.
func (w *world) avatar(data []byte) avatar.Avatar {
	w.t.Helper()
	picture := id.NewFile()
	if data != nil {
		var err error
		picture, err = w.files.Put(context.Background(), w.org, "image/png", data)
		require.NoError(w.t, err)
	}
	a := avatar.Avatar{
		ID: id.NewAvatar(), Kind: avatar.Custom, Name: "Kim", Width: 600, Height: 900, Metadata: map[string]string{},
		Picture: picture, Thumbnail: picture, CreatedAt: tenanttest.Now, UpdatedAt: tenanttest.Now,
	}
	k := consent.Consent{ID: id.NewConsent(), Kind: consent.Likeness, State: consent.Given, Avatar: a.ID, SignedAt: tenanttest.Now, RecordedAt: tenanttest.Now}
	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := avatar.Create(ctx, tx, a, k, plan.Terms{}, activity.Actor{By: "test", At: tenanttest.Now})
		return err
	})
	return a
}

func (w *world) prepare(a avatar.Avatar) {
	w.t.Helper()
	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return face.Prepare(ctx, tx, a, "key_1", w.clock.Now())
	})
}

func (w *world) advance() {
	w.t.Helper()
	_, err := w.runner.Advance(context.Background(), "a")
	require.NoError(w.t, err)
}

func (w *world) get(a avatar.Avatar) *face.Face {
	w.t.Helper()
	f, err := face.Get(context.Background(), w.tenants, w.org, a.ID)
	require.NoError(w.t, err)
	return f
}

func (w *world) job(f *face.Face) job.Job {
	w.t.Helper()
	j, err := job.Get(context.Background(), w.tenants, w.org, f.Job)
	require.NoError(w.t, err)
	return j
}

func drawn(width, height int) []byte {
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewNRGBA(image.Rect(0, 0, width, height))); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func TestPreparation(t *testing.T) {
	w := newWorld(t)
	a := w.avatar(drawn(600, 900))
	require.Nil(t, w.get(a))
	w.prepare(a)
	f := w.get(a)
	require.Equal(t, face.Preparing, f.State)
	require.Equal(t, tenanttest.Now.Add(time.Minute), f.ReadyAt.UTC())
	w.prepare(a)
	require.Equal(t, f, w.get(a), "one job is enough")

	w.clock.Step(3 * time.Second)
	w.advance()
	f = w.get(a)
	require.Equal(t, face.Ready, f.State)
	require.Equal(t, w.clock.Now(), f.ReadyAt.UTC(), "sooner than promised")
	require.Equal(t, job.Succeeded, w.job(f).State)
	sizes := [][3]int{}
	for _, i := range f.Images {
		sizes = append(sizes, [3]int{i.Size, i.Width, i.Height})
		data, err := w.files.Read(context.Background(), w.org, i.File)
		require.NoError(t, err)
		config, err := png.DecodeConfig(bytes.NewReader(data))
		require.NoError(t, err)
		require.Equal(t, []int{i.Width, i.Height, i.Bytes}, []int{config.Width, config.Height, len(data)})
	}
	require.Equal(t, [][3]int{{256, 170, 256}, {512, 341, 512}, {1024, 600, 900}}, sizes)
	w.prepare(a)
	require.Equal(t, f, w.get(a), "it stays ready")

	w.inTx(func(ctx context.Context, tx *tenant.Tx) error { return face.Forget(ctx, tx, w.files, a.ID) })
	require.Nil(t, w.get(a))
}

func TestFailures(t *testing.T) {
	w := newWorld(t)
	t.Run("a broken picture", func(t *testing.T) {
		a := w.avatar([]byte("hello"))
		w.prepare(a)
		w.advance()
		f := w.get(a)
		require.Equal(t, face.Failed, f.State)
		require.Equal(t, []any{job.Failed, face.PictureBroken}, []any{w.job(f).State, w.job(f).ErrorCode})
		w.prepare(a)
		require.Equal(t, face.Preparing, w.get(a).State, "it is tried again")
		require.NotEqual(t, f.Job, w.get(a).Job)
		w.advance()
	})
	t.Run("no file", func(t *testing.T) {
		a := w.avatar(nil)
		w.prepare(a)
		for range 20 {
			w.advance()
			w.clock.Step(time.Minute)
		}
		f := w.get(a)
		require.Equal(t, face.Failed, f.State)
		require.Equal(t, face.PictureUnreadable, w.job(f).ErrorCode)
	})
	t.Run("deleted meanwhile", func(t *testing.T) {
		a := w.avatar(drawn(600, 900))
		w.prepare(a)
		f := w.get(a)
		w.inTx(func(ctx context.Context, tx *tenant.Tx) error { return face.Forget(ctx, tx, w.files, a.ID) })
		w.advance()
		require.Nil(t, w.get(a))
		require.Equal(t, face.AvatarDeleted, w.job(f).ErrorCode)
	})
}

func TestLibraryFacesAreReady(t *testing.T) {
	w := newWorld(t)
	library := avatar.NewLibrary().Faces()[0]
	w.prepare(library)
	require.Nil(t, w.get(library), "there is nothing to do")
	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		s, err := face.StateOf(ctx, tx, library)
		require.Equal(t, face.Ready, s)
		return err
	})
}

// person is a picture of somebody, as a PNG.
func person(t *testing.T) []byte {
	t.Helper()
	data, err := portrait.PNG(portrait.Library()[0].Look, 600)
	require.NoError(t, err)
	return data
}

func (w *world) avatarNow(a avatar.Avatar) avatar.Avatar {
	w.t.Helper()
	found, err := avatar.Get(context.Background(), w.tenants, avatar.NewLibrary(), w.org, a.ID)
	require.NoError(w.t, err)
	return found
}

// Faces that were made before landmarks were looked for get theirs when they are prepared, or
// when a page first asks for them.
func TestFacesOfBefore(t *testing.T) {
	w := newWorld(t)
	movers := face.Movers{Tenants: w.tenants, Files: w.files, Library: avatar.NewLibrary()}
	t.Run("prepared", func(t *testing.T) {
		a := w.avatar(person(t))
		require.Nil(t, w.avatarNow(a).Landmarks)
		w.prepare(a)
		w.advance()
		require.Equal(t, landmark.Found, w.avatarNow(a).Marked)
		moved, err := movers.Living(t.Context(), w.org, a.ID, 512)
		require.NoError(t, err)
		data, err := moved.Layers(t.Context())
		require.NoError(t, err)
		size, err := png.DecodeConfig(bytes.NewReader(data))
		require.NoError(t, err)
		require.Equal(t, 512, size.Height, "the picture that was prepared")
	})
	t.Run("asked for", func(t *testing.T) {
		a := w.avatar(person(t))
		_, ok, err := movers.Moves(t.Context(), w.org, a.ID)
		require.NoError(t, err)
		require.True(t, ok)
		_, err = movers.Living(t.Context(), w.org, a.ID, 1024)
		require.True(t, errdefs.IsNotFound(err, avatar.Noun), "it is not prepared")
		w.prepare(a)
		_, err = movers.Living(t.Context(), w.org, a.ID, 1024)
		require.True(t, errdefs.IsNotFound(err, avatar.Noun), "it is being prepared")
		w.advance()
		w.mark(a, nil)
		moved, err := movers.Living(t.Context(), w.org, a.ID, 1024)
		require.NoError(t, err)
		require.Equal(t, "image/png", moved.ContentType)
		var rig struct {
			Mesh      bool
			Landmarks portrait.Landmarks
		}
		data, err := moved.Rig(t.Context())
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &rig))
		require.True(t, rig.Mesh)
		require.Equal(t, *w.avatarNow(a).Landmarks, rig.Landmarks)
	})
	t.Run("given, and not looked for", func(t *testing.T) {
		a := w.avatar(person(t))
		given := portrait.Library()[3].Look.Landmarks()
		w.mark(a, &given)
		w.prepare(a)
		w.advance()
		require.Equal(t, []any{&given, landmark.Given}, []any{w.avatarNow(a).Landmarks, w.avatarNow(a).Marked})
	})
	t.Run("given, and no face's", func(t *testing.T) {
		given := portrait.Library()[3].Look.Landmarks()
		given.LeftEye, given.RightEye = given.RightEye, given.LeftEye
		for _, prepared := range []bool{false, true} {
			a := w.avatar(person(t))
			if prepared {
				w.prepare(a)
				w.advance()
			}
			w.mark(a, &given)
			require.Equal(t, []any{(*portrait.Landmarks)(nil), landmark.Source("")}, []any{w.avatarNow(a).Landmarks, w.avatarNow(a).Marked})
			if prepared {
				_, err := movers.Living(t.Context(), w.org, a.ID, 512)
				require.NoError(t, err)
			} else {
				w.prepare(a)
				w.advance()
			}
			require.Equal(t, landmark.Found, w.avatarNow(a).Marked, "they were looked for, prepared before: %t", prepared)
			require.True(t, w.avatarNow(a).Landmarks.Plausible())
		}
	})
	t.Run("while it is moved elsewhere", func(t *testing.T) {
		a := w.avatar(person(t))
		w.prepare(a)
		w.advance()
		w.mark(a, nil)
		fence := func(state tenant.State) {
			_, err := w.shard().Exec(t.Context(), `UPDATE org_fence SET state = $2 WHERE org_id = $1`, w.org, state)
			require.NoError(t, err)
		}
		fence(tenant.Fenced)
		_, err := movers.Living(t.Context(), w.org, a.ID, 512)
		fence(tenant.Open)
		require.NoError(t, err)
		require.Empty(t, w.avatarNow(a).Marked, "they are looked for again")
	})
	t.Run("somebody gave them meanwhile", func(t *testing.T) {
		a := w.avatar(person(t))
		given, found := portrait.Library()[3].Look.Landmarks(), portrait.Library()[0].Look.Landmarks()
		w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := avatar.Change(ctx, tx, avatar.NewLibrary(), a.ID, func(a *avatar.Avatar) { a.Landmarks, a.Marked = &given, landmark.Given }, activity.Actor{By: "test", At: tenanttest.Now})
			return err
		})
		a.Landmarks, a.Marked = &found, landmark.Found
		require.NoError(t, avatar.SaveMarks(t.Context(), w.tenants, w.org, a))
		require.Equal(t, &given, w.avatarNow(a).Landmarks)
	})
	t.Run("nobody in it", func(t *testing.T) {
		a := w.avatar(drawn(600, 900))
		w.prepare(a)
		w.advance()
		for range 2 { // when it was prepared, and when a page asks
			require.Equal(t, landmark.None, w.avatarNow(a).Marked)
			_, ok, err := movers.Moves(t.Context(), w.org, a.ID)
			require.NoError(t, err)
			require.False(t, ok, "it is not looked at again")
			w.mark(a, nil)
			_, err = movers.Living(t.Context(), w.org, a.ID, 512)
			require.True(t, errdefs.IsNotFound(err, avatar.Noun))
		}
	})
}

// mark sets what is known of a face's landmarks as it was before they were looked for, and
// checked; nil for nothing.
func (w *world) mark(a avatar.Avatar, marks *portrait.Landmarks) {
	w.t.Helper()
	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE avatar SET landmarks = $3, landmarks_source = '' WHERE org_id = $1 AND id = $2`, w.org, a.ID, marks)
		return err
	})
}

// shard is the organization's.
func (w *world) shard() *database.DB {
	w.t.Helper()
	db, err := w.tenants.Shard(w.t.Context(), "a")
	require.NoError(w.t, err)
	return db
}

// Whose consent was withdrawn, or who was deleted, is moved no more; neither is another
// organization's face.
func TestFacesThatAreNotShown(t *testing.T) {
	w := newWorld(t)
	movers := face.Movers{Tenants: w.tenants, Files: w.files, Library: avatar.NewLibrary()}
	a := w.avatar(person(t))
	w.prepare(a)
	w.advance()
	_, err := movers.Living(t.Context(), w.org, a.ID, 512)
	require.NoError(t, err)
	refused := func(org id.Org, worn id.Avatar) {
		_, err := movers.Living(t.Context(), org, worn, 512)
		require.True(t, errdefs.IsNotFound(err, avatar.Noun), "%v", err)
		_, ok, err := movers.Moves(t.Context(), org, worn)
		require.NoError(t, err)
		require.False(t, ok)
	}
	refused(w.org, id.NewAvatar())
	refused(w.org, id.Avatar{})
	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE consent SET state = 'withdrawn' WHERE org_id = $1 AND avatar_id = $2`, w.org, a.ID)
		return err
	})
	refused(w.org, a.ID)
	w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := avatar.Delete(ctx, tx, avatar.NewLibrary(), a.ID, tenanttest.Now)
		return err
	})
	refused(w.org, a.ID)
	_, ok, err := movers.Moves(t.Context(), w.org, avatar.NewLibrary().Faces()[0].ID)
	require.NoError(t, err)
	require.True(t, ok, "the library's are")
}
