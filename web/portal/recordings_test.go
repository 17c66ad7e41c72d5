package portal_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/live/livetest"
)

// settled is a clock for which the last pieces of every recording came.
type settled struct{ clock.PassiveClock }

func (s settled) Now() time.Time { return s.PassiveClock.Now().Add(recording.Settles) }

// join does the job that joins a session's recording.
func (v *visited) join(name string) {
	v.Helper()
	which, err := id.ParseSession(name)
	require.NoError(v, err)
	input, err := json.Marshal(recording.ToJoin{Session: which, StartedAt: time.Now().Add(-time.Minute), EndedAt: time.Now()})
	require.NoError(v, err)
	j := job.Job{Org: v.org, ID: id.NewJob(), Kind: job.RecordingJoin, Input: input}
	joiner := &recording.Joiner{Tenants: v.made.Tenants, Files: v.made.Files, Clock: settled{clock.RealClock{}}, Log: slog.New(slog.DiscardHandler)}
	step, err := joiner.Background().Works[job.RecordingJoin].Prepare(v.Context(), j)
	require.NoError(v, err)
	require.NoError(v, v.made.Tenants.InTx(v.Context(), v.org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := step(ctx, tx, &j, time.Now())
		return err
	}))
}

// pieces is how many pieces of a session are kept.
func (v *visited) pieces(name string) (n int) {
	v.Helper()
	which, err := id.ParseSession(name)
	require.NoError(v, err)
	require.NoError(v, v.made.Tenants.InTx(v.Context(), v.org, func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT count(*) FROM recording_piece WHERE org_id = $1 AND session_id = $2`, tx.Org, which).Scan(&n)
	}))
	return n
}

// gets is what is at an address, as a browser that asks for a range of it gets it.
func (v *visited) gets(address, bytes string) (int, string) {
	v.Helper()
	r, err := http.NewRequestWithContext(v.Context(), http.MethodGet, address, nil)
	require.NoError(v, err)
	if bytes != "" {
		r.Header.Set("Range", "bytes="+bytes)
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(v, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(v, err)
	return answer.StatusCode, string(body)
}

// A session is recorded with its user's consent, and heard by whoever has the link, until it is deleted.
func TestARecordingIsPlayedByItsLinks(t *testing.T) {
	v := visit(t, clock.RealClock{})
	v.call(http.MethodPatch, "/settings/privacy.recordings", map[string]any{"value": true}, nil)
	var m struct {
		minted
		Transport struct{ URL string }
	}
	v.call(http.MethodPost, "/sessions/tokens", map[string]any{"personaId": v.persona(), "channel": "voice", "record": true}, &m)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c, err := livetest.Dial(ctx, m.Transport.URL, m.Token)
	require.NoError(t, err)
	defer c.Drop()
	_, err = c.UntilType(ctx, "session-ready")
	require.NoError(t, err)
	require.NoError(t, c.Send(ctx, "recording", map[string]any{"agreed": true}))
	_, err = c.UntilType(ctx, "recording")
	require.NoError(t, err)
	require.NoError(t, c.Send(ctx, "client-ready", nil))
	require.NoError(t, c.Send(ctx, "user-text", map[string]any{"text": "Hello there"}))
	_, err = c.UntilType(ctx, "bot-text")
	require.NoError(t, err)
	require.NoError(t, c.Send(ctx, "end", nil))
	_, err = c.UntilType(ctx, "session-ended")
	require.NoError(t, err)

	var got struct{ URL, PageURL, TrackURL string }
	require.Eventually(t, func() bool { return v.pieces(m.Session.ID) > 0 }, 20*time.Second, 50*time.Millisecond)
	v.join(m.Session.ID)
	v.call(http.MethodGet, "/sessions/"+m.Session.ID+"/recording", nil, &got)
	code, sound := v.gets(got.URL, "")
	require.Equal(t, http.StatusOK, code)
	require.True(t, strings.HasPrefix(sound, "OggS"))
	code, part := v.gets(got.URL, "4-9")
	require.Equal(t, http.StatusPartialContent, code)
	require.Equal(t, sound[4:10], part)
	code, track := v.gets(got.TrackURL, "")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, track, "Hello there")
	page, link, _ := strings.Cut(got.PageURL, "#")
	code, _ = v.gets(page, "")
	require.Equal(t, http.StatusOK, code)
	code, about := v.gets(page+link+"/about", "")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, about, `"speaker":"Amara"`)

	v.call(http.MethodDelete, "/sessions/"+m.Session.ID+"/transcript", nil, nil)
	for _, address := range []string{got.URL, got.TrackURL, page + link + "/about"} {
		code, _ = v.gets(address, "")
		require.Equal(t, http.StatusNotFound, code, address)
	}
}
