package voice_test

import (
	"context"
	"crypto/x509"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
	clocktest "k8s.io/utils/clock/testing"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
)

var now = tenanttest.Now

// bench is a shard, a service that clones voices, and what makes the jobs.
type bench struct {
	t          *testing.T
	tenants    *tenant.Tenants
	sent       *tenanttest.Statements
	org, other id.Org
	files      *file.Store
	cloner     *voice.Cloner
	connection id.Connection
	// status is answered to uploads unless it is zero; voices is the list that
	// is answered, uploads counts.
	status  atomic.Int64
	voices  atomic.Value
	uploads atomic.Int64
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t}
	b.voices.Store(`[]`)
	b.tenants, b.sent, b.org, b.other = tenanttest.NewTraced(t)
	service := httptest.NewTLSServer(http.HandlerFunc(b.answer))
	t.Cleanup(service.Close)
	roots := x509.NewCertPool()
	roots.AddCert(service.Certificate())
	v, err := vault.New(vault.NewKey())
	require.NoError(t, err)
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { _ = bucket.Close() })
	clock := clocktest.NewFakeClock(now)
	b.files = file.New(bucket, b.tenants, clock)
	b.cloner = &voice.Cloner{
		Tenants: b.tenants, Files: b.files, Opener: connection.NewOpener(b.tenants, v, clock), Clock: clock,
		Report: &connection.Reporter{Tenants: b.tenants, Clock: clock, Log: slog.New(slog.DiscardHandler)},
		Egress: egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: roots}),
	}
	offer, _ := connection.FindOffer(connection.Speech, connection.ElevenLabs)
	c := connection.New(offer, "voices", connection.Config{"baseUrl": service.URL}, "xi", now)
	c.State, b.connection = connection.Active, c.ID
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return connection.Create(ctx, tx, v, c, "xi", activity.Actor{By: "test", At: c.CreatedAt})
	})
	return b
}

func (b *bench) answer(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	switch {
	case r.URL.Path == "/v2/voices":
		_, _ = io.WriteString(w, `{"voices":`+b.voices.Load().(string)+`}`)
	case b.status.Load() != 0:
		w.WriteHeader(int(b.status.Load()))
	default:
		_, _ = io.WriteString(w, `{"voice_id":"service-`+strconv.FormatInt(b.uploads.Add(1), 10)+`"}`)
	}
}

func (b *bench) inTx(fn func(context.Context, *tenant.Tx) error) {
	b.t.Helper()
	require.NoError(b.t, b.tenants.InTx(context.Background(), b.org, fn))
}

// propose enters a voice and its job.
func (b *bench) propose(at time.Time) (v voice.Voice, j job.Job) {
	b.t.Helper()
	sample, err := b.files.Put(context.Background(), b.org, "audio/wav", []byte("RIFF\x00\x00\x00\x00WAVE"))
	require.NoError(b.t, err)
	v = voice.Voice{
		ID: id.NewVoice(), Name: "Kim", Gender: voice.Female, Languages: []string{"en"}, Connection: b.connection,
		Samples: []id.File{sample}, CreatedAt: at,
	}
	k := consent.Consent{ID: id.NewConsent(), Kind: consent.Voice, State: consent.Given, Voice: v.ID, SignedAt: at, RecordedAt: at}
	v.Consent.ID = k.ID
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		if _, err := voice.Create(ctx, tx, v, k, plan.Terms{}, activity.Actor{By: "test", At: at}); err != nil {
			return err
		}
		return b.files.Keep(ctx, tx, sample)
	})
	jobs, err := job.List(context.Background(), b.tenants, b.org, job.Filter{}, id.Job{}, 1)
	require.NoError(b.t, err)
	j = jobs[0]
	j.Attempts = 1
	return v, j
}

// step prepares a job and makes its step.
func (b *bench) step(j *job.Job) error {
	step, err := b.cloner.Works()[j.Kind].Prepare(context.Background(), *j)
	if err != nil {
		return err
	}
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := step(ctx, tx, j, now)
		return err
	})
	return nil
}

func (b *bench) get(v id.Voice) (voice.Voice, error) {
	return voice.Get(context.Background(), b.tenants, b.org, v)
}

func (b *bench) delete(v id.Voice) {
	b.t.Helper()
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := voice.Delete(ctx, tx, v, activity.Actor{By: "test", At: now})
		return err
	})
}

// jobs counts the organization's jobs of a kind.
func (b *bench) jobs(kind job.Kind) int {
	b.t.Helper()
	found, err := job.List(context.Background(), b.tenants, b.org, job.Filter{Kinds: []job.Kind{kind}}, id.Job{}, 100)
	require.NoError(b.t, err)
	return len(found)
}

// A step that crashed after the upload finds what it made.
func TestWhatWasUploadedIsFound(t *testing.T) {
	b := newBench(t)
	v, j := b.propose(now)
	b.voices.Store(`[{"voice_id":"x","name":"Kim"},{"voice_id":"earlier","name":"Kim (` + v.ID.String() + `)"}]`)
	j.Attempts = 2
	require.NoError(t, b.step(&j))
	require.Equal(t, job.Succeeded, j.State)
	made, err := b.get(v.ID)
	require.NoError(t, err)
	require.Equal(t, []any{voice.Ready, "earlier"}, []any{made.Status(), made.ServiceVoice})
	require.Empty(t, made.Samples, "the recordings have served")
	require.Zero(t, b.uploads.Load())

	other, j := b.propose(now)
	j.Attempts = 2
	require.NoError(t, b.step(&j))
	made, err = b.get(other.ID)
	require.NoError(t, err)
	require.Equal(t, "service-1", made.ServiceVoice, "there was none of that name")
}

func TestWhatCanPassIsTriedAgain(t *testing.T) {
	b := newBench(t)
	v, j := b.propose(now)
	for _, status := range []int64{500, 503, 429, 408} {
		b.status.Store(status)
		require.Error(t, b.step(&j))
	}
	training, err := b.get(v.ID)
	require.NoError(t, err)
	require.Equal(t, voice.Training, training.Status())
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		return b.cloner.Works()[job.VoiceClone].GiveUp(ctx, tx, &j, now)
	})
	failed, err := b.get(v.ID)
	require.NoError(t, err)
	require.Equal(t, []any{voice.Failed, "unavailable", "unavailable"}, []any{failed.Status(), failed.Reason, j.ErrorCode})
}

func TestWhatCannotBeMade(t *testing.T) {
	for name, test := range map[string]struct {
		before func(b *bench, v voice.Voice)
		reason string
	}{
		"withdrawn": {func(b *bench, v voice.Voice) {
			b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
				_, _, err := consent.Withdraw(ctx, tx, v.Consent.ID, now)
				return err
			})
		}, "consent_withdrawn"},
		"switched off": {func(b *bench, _ voice.Voice) {
			b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
				c, err := connection.Lock(ctx, tx, b.connection)
				c.State = connection.Disabled
				if err != nil {
					return err
				}
				return connection.Update(ctx, tx, c)
			})
		}, "no_connection"},
		"refused":  {func(b *bench, _ voice.Voice) { b.status.Store(401) }, "refused"},
		"rejected": {func(b *bench, _ voice.Voice) { b.status.Store(422) }, "rejected"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			v, j := b.propose(now)
			test.before(b, v)
			require.NoError(t, b.step(&j))
			require.Equal(t, []any{job.Failed, test.reason}, []any{j.State, j.ErrorCode})
			failed, err := b.get(v.ID)
			require.NoError(t, err)
			require.Equal(t, []any{voice.Failed, test.reason}, []any{failed.Made, failed.Reason})
			require.Zero(t, b.uploads.Load())
		})
	}
}

// A voice that is deleted while it is made is taken from the service again.
func TestDeletedWhileItIsMade(t *testing.T) {
	b := newBench(t)
	v, j := b.propose(now)
	step, err := b.cloner.Works()[job.VoiceClone].Prepare(context.Background(), j)
	require.NoError(t, err)
	require.EqualValues(t, 1, b.uploads.Load())
	b.delete(v.ID)
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := step(ctx, tx, &j, now)
		return err
	})
	require.Equal(t, job.Cancelled, j.State)
	require.Equal(t, 1, b.jobs(job.VoiceRemove))

	gone, j := b.propose(now)
	b.delete(gone.ID)
	require.NoError(t, b.step(&j))
	require.Equal(t, job.Cancelled, j.State)
	require.EqualValues(t, 1, b.uploads.Load(), "nothing was sent")
	_, err = b.get(gone.ID)
	require.ErrorIs(t, err, errdefs.Gone{Noun: voice.Noun})
	n, err := voice.Sweep(context.Background(), b.tenants, "a", now.Add(91*24*time.Hour))
	require.NoError(t, err)
	require.Equal(t, 2, n)
	_, err = b.get(gone.ID)
	require.ErrorIs(t, err, errdefs.NotFound{Noun: voice.Noun})
}

func TestPages(t *testing.T) {
	b := newBench(t)
	var own []id.Voice
	for i := range 3 {
		v, _ := b.propose(now.Add(time.Duration(i/2) * time.Second))
		own = append(own, v.ID)
	}
	var studio []id.Voice
	for _, v := range voice.Studio() {
		studio = append(studio, v.ID)
	}
	for _, size := range []int{1, 2, len(studio), 1000} {
		var (
			got   []id.Voice
			after *voice.Position
		)
		for {
			page, err := voice.List(context.Background(), b.tenants, b.org, voice.Filter{}, after, size)
			require.NoError(t, err)
			require.LessOrEqual(t, len(page), size)
			for _, v := range page {
				position := voice.PositionOf(v)
				got, after = append(got, v.ID), &position
			}
			if len(page) < size {
				break
			}
		}
		require.Equal(t, append(append([]id.Voice{}, studio...), own...), got, "pages of %d", size)
	}
	page, err := voice.List(context.Background(), b.tenants, b.org, voice.Filter{Kind: voice.Custom, Gender: voice.Male}, nil, 10)
	require.NoError(t, err)
	require.Empty(t, page)
	_, err = voice.Get(context.Background(), b.tenants, b.other, own[0])
	require.ErrorIs(t, err, errdefs.NotFound{Noun: voice.Noun})

	shard, err := b.tenants.Shard(context.Background(), "a")
	require.NoError(t, err)
	for text, index := range map[string]string{"FROM voice v": "voice_by_age", "FROM voice_use WHERE": "voice_use_pkey"} {
		for _, s := range b.sent.Of(t, text, func() error {
			_, err := voice.List(context.Background(), b.tenants, b.org, voice.Filter{}, nil, 100)
			return err
		}) {
			require.Contains(t, s.Forced(t, shard), index, "%s", s.SQL)
		}
	}
}
