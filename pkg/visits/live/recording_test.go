package live_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/pion/webrtc/v4/pkg/media/oggreader"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/speech/sound"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// records is a stage that speaks, where sessions can be recorded.
func records(t *testing.T) *stage {
	t.Helper()
	s := speaks(t)
	s.bucket = memblob.OpenBucket(nil)
	t.Cleanup(func() { _ = s.bucket.Close() })
	s.files = file.New(s.bucket, s.tenants, s.clock)
	s.set("privacy.recordings", "true")
	return s
}

// set sets a switch of the organization.
func (s *stage) set(key, value string) {
	s.t.Helper()
	s.sql(`INSERT INTO setting (org_id, scope_kind, scope_id, key, value, changed_at, changed_by)
		VALUES ($1, 'organization', '', $2, $3, now(), 'test')`, key, json.RawMessage(value))
}

func onTape(w *session.Session) {
	w.Channel, w.Recording = "voice", session.Wish{Wanted: true}
}

// says sends a second of a tone as the user's sound.
func (c *client) says() {
	c.t.Helper()
	for n := range 50 {
		frame := make([]byte, 8, 8+640)
		frame[0] = 2
		for i := range 320 {
			frame = binary.LittleEndian.AppendUint16(frame, uint16(int16(8000*math.Sin(float64(n*320+i)*2*math.Pi*330/16000))))
		}
		require.NoError(c.t, c.SendSound(context.Background(), frame))
	}
}

// later is a clock that is past the time in which last pieces come.
type later struct{ clock.PassiveClock }

func (l later) Now() time.Time { return l.PassiveClock.Now().Add(recording.Settles) }

// join does the job that joins a session's recording.
func (s *stage) join(which id.Session) {
	s.t.Helper()
	require.NoError(s.t, s.tryJoin(which))
}

// started is when a session began; now for one that is gone.
func (s *stage) started(which id.Session) time.Time {
	found, err := session.Get(context.Background(), s.tenants, s.org, which)
	if err != nil || found.StartedAt == nil {
		return s.now()
	}
	return *found.StartedAt
}

func (s *stage) tryJoin(which id.Session) error {
	input, err := json.Marshal(recording.ToJoin{Session: which, StartedAt: s.started(which), EndedAt: s.now()})
	if err != nil {
		return err
	}
	work := (&recording.Joiner{Tenants: s.tenants, Files: s.files, Clock: later{s.clock}, Log: slog.New(slog.DiscardHandler)}).Background().Works[job.RecordingJoin]
	j := job.Job{Org: s.org, ID: id.NewJob(), Kind: job.RecordingJoin, Input: input}
	step, err := work.Prepare(context.Background(), j)
	if err != nil {
		return err
	}
	return s.tenants.InTx(context.Background(), s.org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := step(ctx, tx, &j, s.now())
		return err
	})
}

// pieces waits until so many pieces of a session are kept.
func (s *stage) pieces(which id.Session, n int) {
	s.t.Helper()
	require.Eventually(s.t, func() bool { return s.countPieces(which) >= n }, 20*time.Second, 50*time.Millisecond)
}

func (s *stage) countPieces(which id.Session) (n int) {
	s.t.Helper()
	require.NoError(s.t, s.tenants.InTx(context.Background(), s.org, func(ctx context.Context, tx *tenant.Tx) error {
		return tx.QueryRow(ctx, `SELECT count(*) FROM recording_piece WHERE org_id = $1 AND session_id = $2`, tx.Org, which).Scan(&n)
	}))
	return n
}

func (s *stage) recording(which id.Session) (recording.Recording, error) {
	return recording.Get(context.Background(), s.tenants, s.org, which)
}

// levels are how loud each 20 ms of a recording are.
func (s *stage) levels(r recording.Recording) []float64 {
	s.t.Helper()
	data, err := s.files.Read(context.Background(), s.org, r.Sound)
	require.NoError(s.t, err)
	pages, _, err := oggreader.NewWith(bytes.NewReader(data))
	require.NoError(s.t, err)
	decoder, err := sound.NewOpusDecoder(24000)
	require.NoError(s.t, err)
	var levels []float64
	for {
		packet, _, err := pages.ParseNextPage()
		if errors.Is(err, io.EOF) {
			return levels
		}
		require.NoError(s.t, err)
		if bytes.HasPrefix(packet, []byte("Opus")) {
			continue
		}
		samples, err := decoder.Decode(packet)
		require.NoError(s.t, err)
		sum := 0.0
		for _, v := range samples {
			sum += float64(v) * float64(v)
		}
		levels = append(levels, math.Sqrt(sum/float64(len(samples))))
	}
}

func loud(levels []float64) (n int) {
	for _, level := range levels {
		if level > 500 {
			n++
		}
	}
	return n
}

// What was heard of a session whose user agrees is there once it is over.
func TestSessionIsRecorded(t *testing.T) {
	t.Parallel()
	s := records(t)
	p := s.pod()
	minted, token := s.mint(onTape)
	require.Equal(t, session.MayAgree, minted.Brief.Record)
	c := s.connect(p, minted.ID, string(token))
	require.JSONEq(t, `{"state":"asked","required":false}`, string(c.recording))
	c.send("recording", map[string]bool{"agreed": true})
	var told struct{ State string }
	c.await("recording", &told)
	require.Equal(t, "on", told.State)
	c.send("recording", map[string]bool{"agreed": true}) // again does nothing
	c.send("client-ready", map[string]any{"audio": []string{"pcm"}})
	var ready struct{ Recording json.RawMessage }
	c.await("session-ready", &ready)
	require.JSONEq(t, `{"state":"on","required":false}`, string(ready.Recording), "as it stands by now")
	c.listens(untilLast)
	c.says()
	s.pieces(minted.ID, 1) // by then all of it was heard
	c.send("end", nil)
	c.ended()
	p.Stop()

	s.join(minted.ID)
	r, err := s.recording(minted.ID)
	require.NoError(t, err)
	require.Equal(t, recording.Ready, r.State)
	require.Zero(t, s.countPieces(minted.ID))
	require.Zero(t, r.MissingMs)
	levels := s.levels(r)
	require.Len(t, levels, int(r.DurationMs/20))
	require.GreaterOrEqual(t, loud(levels), 45, "the greeting, and the second that the user spoke")
	track, err := s.files.Read(context.Background(), s.org, r.Track)
	require.NoError(t, err)
	for _, part := range []string{`"type":"plays"`, `"type":"visemes"`, `"type":"words"`, `"text":"Welcome."`} {
		require.Contains(t, string(track), part)
	}
	s.join(minted.ID) // again does nothing
	again, err := s.recording(minted.ID)
	require.NoError(t, err)
	require.Equal(t, r, again)

	// It goes with the words.
	require.NoError(t, s.tenants.InTx(context.Background(), s.org, func(ctx context.Context, tx *tenant.Tx) error {
		return session.DeleteWords(ctx, tx, minted.ID, time.Now())
	}))
	_, err = s.recording(minted.ID)
	require.True(t, errdefs.IsNotFound(err, recording.Noun))
	s.swept()
}

// What the API orders to be said and not to be kept is said, and neither heard nor read later.
func TestWhatIsNotToBeKeptIsNotRecorded(t *testing.T) {
	t.Parallel()
	s := records(t)
	p := s.pod()
	minted, c := s.visitor(p, onTape)
	c.send("recording", map[string]bool{"agreed": true})
	c.await("recording", nil)
	c.send("client-ready", map[string]any{"audio": []string{"pcm"}})
	c.listens(untilLast)
	private := s.order(minted.ID, session.Command{Kind: session.SayIt, Text: "Your code is seventeen.", Interruptible: true})
	require.NotEmpty(t, c.listens(untilLast).samples)
	c.send("end", nil)
	c.ended()
	p.Stop()
	s.join(minted.ID)
	r, err := s.recording(minted.ID)
	require.NoError(t, err)
	track, err := s.files.Read(context.Background(), s.org, r.Track)
	require.NoError(t, err)
	require.Contains(t, string(track), "Welcome.")
	require.NotContains(t, string(track), "seventeen")
	require.NotContains(t, string(track), private.String())
}

// swept says that no file is left.
func (s *stage) swept() {
	s.t.Helper()
	_, err := s.files.Sweep(context.Background(), "a")
	require.NoError(s.t, err)
	list := s.bucket.List(nil)
	_, err = list.Next(context.Background())
	require.ErrorIs(s.t, err, io.EOF)
}

// Whoever does not agree is not recorded, and what was recorded of who changes their mind is
// deleted.
func TestNobodyIsRecordedWhoDoesNotAgree(t *testing.T) {
	t.Parallel()
	s := records(t)
	p := s.pod()
	defer p.Stop()
	minted, c := s.visitor(p, onTape)
	c.send("recording", map[string]bool{"agreed": false})
	c.await("recording", nil)
	c.send("client-ready", map[string]any{"audio": []string{"pcm"}})
	c.listens(untilLast)
	_, err := s.recording(minted.ID)
	require.True(t, errdefs.IsNotFound(err, recording.Noun))

	c.send("recording", map[string]bool{"agreed": true})
	c.await("recording", nil)
	s.pieces(minted.ID, 1)
	c.send("recording", map[string]bool{"agreed": false})
	c.await("recording", nil)
	_, err = s.recording(minted.ID)
	require.True(t, errdefs.IsNotFound(err, recording.Noun))
	require.Zero(t, s.countPieces(minted.ID))
	require.Eventually(t, func() bool {
		_, err := s.files.Sweep(context.Background(), "a")
		require.NoError(t, err)
		_, err = s.bucket.List(nil).Next(context.Background())
		return errors.Is(err, io.EOF)
	}, 20*time.Second, 50*time.Millisecond)
}

// A switch that is turned off stops what goes on.
func TestNothingIsRecordedOnceItIsSwitchedOff(t *testing.T) {
	t.Parallel()
	s := records(t)
	p := s.pod()
	defer p.Stop()
	minted, c := s.visitor(p, onTape)
	c.send("recording", map[string]bool{"agreed": true})
	c.await("recording", nil)
	s.sql(`UPDATE setting SET value = 'false' WHERE org_id = $1 AND key = 'privacy.recordings'`)
	var told struct{ State string }
	c.await("recording", &told)
	require.Equal(t, "off", told.State)
	require.Zero(t, s.countPieces(minted.ID))
	c.send("recording", map[string]bool{"agreed": true})
	var wrong struct{ Code string }
	c.await("error", &wrong)
	require.Equal(t, "recording_unavailable", wrong.Code)
}

// A refusal that cannot be carried out at once is carried out once it can, also after the end.
func TestRefusalIsCarriedOutLater(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]bool{"while it goes on": false, "with the end": true} {
		t.Run(name, func(t *testing.T) {
			s := records(t)
			p := s.pod()
			defer p.Stop()
			minted, c := s.visitor(p, onTape)
			c.send("recording", map[string]bool{"agreed": true})
			c.await("recording", nil)
			r, err := s.recording(minted.ID)
			require.NoError(t, err)
			locked, free := make(chan struct{}), make(chan struct{})
			held := make(chan error, 1)
			go func() {
				held <- s.tenants.InTx(context.Background(), s.org, func(ctx context.Context, tx *tenant.Tx) error {
					_, err := tx.Exec(ctx, `SELECT 1 FROM consent WHERE org_id = $1 AND id = $2 FOR UPDATE`, tx.Org, r.Consent)
					close(locked)
					<-free
					return err
				})
			}()
			<-locked
			c.send("recording", map[string]bool{"agreed": false})
			var wrong struct{ Code string }
			c.await("error", &wrong)
			require.Equal(t, "recording_not_deleted", wrong.Code)
			if ends {
				c.send("end", nil)
			}
			close(free)
			require.NoError(t, <-held)
			if ends {
				c.ended()
			} else {
				c.await("recording", nil)
			}
			_, err = s.recording(minted.ID)
			require.True(t, errdefs.IsNotFound(err, recording.Noun))
		})
	}
}

// Who changes their mind again and again is not recorded in the end.
func TestChangesOfMindAreBounded(t *testing.T) {
	t.Parallel()
	s := records(t)
	p := s.pod()
	defer p.Stop()
	minted, c := s.visitor(p, onTape)
	for range 3 {
		c.send("recording", map[string]bool{"agreed": true})
		c.await("recording", nil)
		c.send("recording", map[string]bool{"agreed": false})
		c.await("recording", nil)
	}
	for range 3 {
		c.send("recording", map[string]bool{"agreed": true})
		var wrong struct{ Code string }
		c.await("error", &wrong)
		require.Equal(t, "recording_settled", wrong.Code)
		c.send("recording", map[string]bool{"agreed": false})
	}
	_, err := s.recording(minted.ID)
	require.True(t, errdefs.IsNotFound(err, recording.Noun))
}

// Where the recording is required nothing is said before the user agrees, and a refusal ends it.
func TestRecordingThatIsRequired(t *testing.T) {
	t.Parallel()
	s := records(t)
	s.set("privacy.recordings_required", "true")
	p := s.pod()
	defer p.Stop()
	minted, token := s.mint(onTape)
	c := s.connect(p, minted.ID, string(token))
	require.JSONEq(t, `{"state":"asked","required":true}`, string(c.recording))
	c.send("client-ready", map[string]any{"audio": []string{"pcm"}})
	c.send("user-text", map[string]string{"text": "When does the museum open?"})
	var wrong struct{ Code string }
	c.await("error", &wrong)
	require.Equal(t, "recording_required", wrong.Code)
	require.Empty(t, s.turns(minted.ID))
	c.send("recording", map[string]bool{"agreed": true})
	c.hear("Welcome.")

	refused, token := s.mint(onTape)
	c = s.connect(p, refused.ID, string(token))
	c.send("recording", map[string]bool{"agreed": false})
	why, _ := c.ended()
	require.Equal(t, session.ConsentWithdrawn, why)
	require.Empty(t, s.turns(refused.ID))
}

// Another process goes on with the recording of one that died.
func TestRecordingGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	s := records(t)
	first, second := s.pod(), s.pod()
	minted, c := s.visitor(first, onTape)
	c.send("recording", map[string]bool{"agreed": true})
	c.await("recording", nil)
	c.send("client-ready", map[string]any{"audio": []string{"pcm"}})
	c.listens(untilLast)
	first.Stop() // its last piece is kept
	require.NotZero(t, s.countPieces(minted.ID))
	again := s.connect(second, minted.ID, c.resume)
	require.JSONEq(t, `{"state":"on","required":false}`, string(again.recording))
	again.send("client-ready", map[string]any{"audio": []string{"pcm"}})
	again.ask()
	again.send("end", nil)
	again.ended()
	second.Stop()
	s.join(minted.ID)
	r, err := s.recording(minted.ID)
	require.NoError(t, err)
	track, err := s.files.Read(context.Background(), s.org, r.Track)
	require.NoError(t, err)
	require.Contains(t, string(track), "Welcome.")
	require.Contains(t, string(track), "nine")
	require.Len(t, s.levels(r), int(r.DurationMs/20))
}

// A store that takes nothing holds nobody up: the recording is incomplete, and that is said.
func TestStoreThatFailsHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	s := records(t)
	p := s.pod()
	defer p.Stop()
	minted, token := s.mint(onTape)
	require.NoError(t, s.bucket.Close())
	c := s.connect(p, minted.ID, string(token))
	c.send("recording", map[string]bool{"agreed": true})
	c.await("recording", nil)
	c.send("client-ready", map[string]any{"audio": []string{"pcm"}})
	c.listens(untilLast)
	var told struct{ State string }
	c.await("recording", &told)
	require.Equal(t, "incomplete", told.State)
	c.ask()
}

// What is not to be recorded is refused at the mint, or goes on without.
func TestWhatIsNotRecorded(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		set    map[string]string
		change func(*session.Session)
		why    string
	}{
		"switched off":       {map[string]string{"privacy.recordings": "false"}, nil, "switched_off"},
		"no words are kept":  {map[string]string{"privacy.zero_data_retention": "true"}, nil, "zero_retention"},
		"a chat":             {nil, func(w *session.Session) { w.Channel = "chat" }, "nothing_heard"},
		"a minor":            {nil, func(w *session.Session) { w.Recording.Minor = true }, "guardian_consent_missing"},
		"kept for no time":   {nil, func(w *session.Session) { w.Brief.RetainDays = new(int64) }, "words_not_kept"},
		"words blotted out":  {nil, func(w *session.Session) { w.Brief.Redact = []string{"email"} }, "words_redacted"},
		"guardian agreed":    {nil, func(w *session.Session) { w.Recording.Minor, w.Recording.Guardian = true, id.NewConsent() }, ""},
		"words nobody reads": {nil, func(w *session.Session) { w.Withheld = new(session.LearnerConversation) }, "words_withheld"},
		"no learner's words": {map[string]string{"privacy.zero_data_retention": "true"}, func(w *session.Session) { w.Withheld = new(session.LearnerConversation) }, "zero_retention"},
		"young learners all": {map[string]string{"learning.young_learners": "true"}, func(w *session.Session) { w.Portal = id.NewPortal() }, "guardian_consent_missing"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, 600)
			if of.set["privacy.recordings"] == "" {
				s.set("privacy.recordings", "true")
			}
			for key, value := range of.set {
				s.set(key, value)
			}
			mint := func(w session.Wish) error {
				return s.tenants.InTx(context.Background(), s.org, func(ctx context.Context, tx *tenant.Tx) error {
					wanted := session.Session{
						ID: id.SessionAt(s.now()), Kind: "conversation", Source: "api", Persona: id.NewPersona(), PersonaVersion: 1, Avatar: id.NewAvatar(),
						Voice: id.NewVoice(), Language: "en", Engine: "premier", Transport: "websocket", Channel: "voice", MaxDurationS: 600, CreatedAt: s.now(),
						Recording: w,
					}
					if of.change != nil {
						of.change(&wanted)
					}
					m, err := session.Mint(ctx, tx, wanted, s.terms, session.Daily{})
					if err == nil {
						require.Equal(t, of.why == "", m.Session.Brief.Record != "")
					}
					return err
				})
			}
			err := mint(session.Wish{Wanted: true})
			if of.why == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, "")
				require.Contains(t, errorText(err), of.why)
			}
			require.NoError(t, mint(session.Wish{Offered: true}), "it goes on without")
		})
	}
}

// errorText is an error with its details.
func errorText(err error) string {
	text, _ := json.Marshal(err)
	return err.Error() + string(text)
}
