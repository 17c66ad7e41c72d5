package connection_test

import (
	"context"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/hubspot/hubspottest"
	"visavis.dev/pkg/provider/model/modeltest"
	"visavis.dev/pkg/provider/synthesis/synthesistest"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/store/tenant"
)

// services are those of every provider, which take the secret "good".
func services(t *testing.T) (*httptest.Server, *egress.Guard) {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		secret := r.Header.Get("xi-api-key") + r.Header.Get("x-api-key") + strings.TrimPrefix(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), "Token ")
		// LiveKit's is in the signature of a token.
		if secret != "good" && !strings.HasPrefix(r.URL.Path, "/twirp/") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		switch r.URL.Path {
		case "/v2/voices":
			_, _ = io.WriteString(w, `{"voices":[]}`)
		case "/v1/avatars/good":
			_, _ = io.WriteString(w, `{"id":"good","status":"available"}`)
		case "/v1/avatars/young":
			_, _ = io.WriteString(w, `{"id":"young","status":"training"}`)
		case "/v1/listen":
			_, _ = io.WriteString(w, map[bool]string{true: `{"results":{}}`, false: `oops`}[strings.HasPrefix(string(body), "RIFF") && r.URL.Query().Get("model") == "m"])
		case "/v1/audio/speech":
			said := append(synthesistest.Header(1, 1, 16, 24000), 1, 0)
			_, _ = io.WriteString(w, map[bool]string{true: string(said), false: "<html>"}[strings.Contains(string(body), `"voice":"v"`)])
		case "/v1/audio/transcriptions":
			_, _ = io.WriteString(w, map[bool]string{true: `{"text":""}`, false: "oops"}[strings.Contains(string(body), "RIFF") && strings.Contains(string(body), `name="model"`)])
		case "/twirp/livekit.RoomService/ListRooms":
			_, _ = io.WriteString(w, `{"rooms":[]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s, egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: roots})
}

func opened(kind connection.Kind, provider connection.Provider, config connection.Config, secrets ...connection.Secret) connection.Opened {
	c := draft("")
	c.Kind, c.Provider, c.Config, c.TimeoutMs = kind, provider, config, 5000
	return connection.Opened{Connection: c, Secrets: secrets}
}

func TestTrials(t *testing.T) {
	s, guard := services(t)
	wss := strings.Replace(s.URL, "https", "wss", 1)
	trier := connection.Trier{Egress: guard, Clock: clock.RealClock{}}
	for name, test := range map[string]struct {
		opened connection.Opened
		steps  []string
		code   upstream.Code
	}{
		"elevenlabs":       {opened(connection.Speech, connection.ElevenLabs, connection.Config{"baseUrl": s.URL}, "good"), []string{"address", "voices"}, ""},
		"refused":          {opened(connection.Speech, connection.ElevenLabs, connection.Config{"baseUrl": s.URL}, "bad"), []string{"address", "voices"}, upstream.Refused},
		"the old secret":   {opened(connection.Speech, connection.ElevenLabs, connection.Config{"baseUrl": s.URL}, "bad", "good"), []string{"address", "voices"}, ""},
		"deepgram":         {opened(connection.Recognition, connection.Deepgram, connection.Config{"baseUrl": s.URL, "model": "m"}, "good"), []string{"address", "transcription"}, ""},
		"deepgram, broken": {opened(connection.Recognition, connection.Deepgram, connection.Config{"baseUrl": s.URL, "model": "x"}, "good"), []string{"address", "transcription"}, upstream.Malformed},
		"speech":           {opened(connection.Speech, connection.OpenAICompatible, connection.Config{"baseUrl": s.URL + "/v1", "model": "m", "voice": "v"}, "good"), []string{"address", "speech"}, ""},
		"speech, silent":   {opened(connection.Speech, connection.OpenAICompatible, connection.Config{"baseUrl": s.URL + "/v1", "model": "m", "voice": "x"}, "good"), []string{"address", "speech"}, upstream.Malformed},
		"recognition":      {opened(connection.Recognition, connection.OpenAICompatible, connection.Config{"baseUrl": s.URL + "/v1", "model": "m"}, "good"), []string{"address", "transcription"}, ""},
		"another path":     {opened(connection.Recognition, connection.OpenAICompatible, connection.Config{"baseUrl": s.URL + "/v9", "model": "m"}, "good"), []string{"address", "transcription"}, upstream.Rejected},
		"livekit":          {opened(connection.Media, connection.LiveKit, connection.Config{"url": wss, "apiKey": "k"}, "s"), []string{"address", "rooms"}, ""},
		"a private place":  {opened(connection.Model, connection.OpenAICompatible, connection.Config{"baseUrl": "https://10.0.0.1/v1", "model": "m"}), []string{"address"}, upstream.AddressRefused},
		"nobody there":     {opened(connection.Model, connection.OpenAICompatible, connection.Config{"baseUrl": "https://127.0.0.1:1/v1", "model": "m"}), []string{"address", "answer"}, upstream.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			trial, err := trier.Try(context.Background(), test.opened)
			require.NoError(t, err)
			var steps []string
			for _, step := range trial.Steps {
				steps = append(steps, step.Name)
			}
			require.Equal(t, test.steps, steps)
			require.Equal(t, test.code == "", trial.OK())
			last := trial.Steps[len(trial.Steps)-1]
			require.Equal(t, test.code, upstream.CodeOf(last.Err))
			require.Equal(t, test.code, trial.Outcomes[len(trial.Outcomes)-1].Code)
		})
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := trier.Try(gone, opened(connection.Speech, connection.ElevenLabs, connection.Config{"baseUrl": s.URL}, "good"))
	require.ErrorIs(t, err, context.Canceled)
}

// Who has owners be told in a CRM learns by a trial that the token may not read them.
func TestTrialsOfOwners(t *testing.T) {
	s := hubspottest.Start()
	t.Cleanup(s.Close)
	trier := connection.Trier{Egress: s.Guard(), Clock: clock.RealClock{}}
	for _, c := range []struct {
		named, may bool
	}{{false, false}, {true, false}, {true, true}} {
		if s.Owners = nil; c.may {
			s.Owners = map[string]string{}
		}
		properties := map[string]any{"name": "firstname"}
		if c.named {
			properties["assignee"] = "hubspot_owner_id"
		}
		trial, err := trier.Try(t.Context(), opened(connection.CRM, connection.HubSpot, connection.Config{"baseUrl": s.URL, "properties": properties}, "pat-good"))
		require.NoError(t, err)
		require.Equal(t, !c.named || c.may, trial.OK())
	}
}

func TestTrialsOfModels(t *testing.T) {
	s := modeltest.Start()
	t.Cleanup(s.Close)
	s.Accept("good")
	trier := connection.Trier{Egress: s.Guard(), Clock: clock.RealClock{}}
	config := connection.Config{"baseUrl": s.URL(), "model": "m", "tokensParameter": "max_completion_tokens", "omitTemperature": true}
	trial, err := trier.Try(context.Background(), opened(connection.Model, connection.OpenAICompatible, config, "bad", "good"))
	require.NoError(t, err)
	require.True(t, trial.OK())
	require.Equal(t, 64.0, s.Requests()[1].Body["max_completion_tokens"])
	require.NotContains(t, s.Requests()[1].Body, "temperature")
	s.Behave(modeltest.FinishedFor("length"))
	trial, err = trier.Try(context.Background(), opened(connection.Model, connection.OpenAICompatible, config, "good"))
	require.NoError(t, err)
	require.True(t, trial.OK(), "one that thinks before it writes answers too")
	s.Behave(modeltest.Status(500, nil))
	trial, err = trier.Try(context.Background(), opened(connection.Model, connection.OpenAICompatible, config, "good"))
	require.NoError(t, err)
	require.False(t, trial.OK())
	require.Equal(t, 500, trial.Outcomes[0].Status)
}

// A connection that fails is told of once, also where it worked and failed before either was written,
// and once more where another secret is refused.
func TestWhatWorkedBeforeItFailedIsTold(t *testing.T) {
	s := newStore(t)
	c := s.add(s.one, secretOne)
	record := func(codes ...upstream.Code) {
		var outcomes []connection.Outcome
		for _, code := range codes {
			outcomes = append(outcomes, connection.Outcome{At: now, Name: "speech", Code: code})
		}
		require.NoError(t, s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) error {
			return connection.Record(ctx, tx, c.ID, outcomes, now)
		}))
	}
	record(upstream.Timeout, upstream.Timeout)
	require.Zero(t, s.told(s.one, "connection.failed"))
	record("", upstream.Timeout, upstream.Timeout, upstream.Timeout)
	require.Equal(t, connection.Failing, s.get(s.one, c.ID).State)
	require.Equal(t, 1, s.told(s.one, "connection.failed"))
	record(upstream.Timeout)
	require.Equal(t, 1, s.told(s.one, "connection.failed"))

	record("")
	require.NoError(t, s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) error {
		before, err := connection.Lock(ctx, tx, c.ID)
		if err != nil {
			return err
		}
		after, _, err := before.Apply(connection.Change{Secret: new(secretTwo)}, now)
		if err != nil {
			return err
		}
		return connection.Update(ctx, tx, after)
	}))
	require.Equal(t, connection.Unverified, s.get(s.one, c.ID).State)
	record(upstream.Refused)
	require.Equal(t, connection.Failing, s.get(s.one, c.ID).State)
	require.Equal(t, 2, s.told(s.one, "connection.failed"))
	record(upstream.Refused, upstream.Refused)
	require.Equal(t, 2, s.told(s.one, "connection.failed"))
}

// What a trial shows is believed at once, unless the connection was changed
// while it was tried.
func TestTrialsAreRecorded(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	c := s.add(s.one, secretOne)
	record := func(code upstream.Code) connection.Connection {
		o, err := connection.Open(ctx, s.tenants, s.vault, s.one, c.ID, now)
		require.NoError(t, err)
		outcome := connection.Outcome{At: now, Name: "test.answer", Code: code}
		trial := connection.Trial{Steps: []connection.Step{{Name: "answer", OK: code == ""}}, Outcomes: []connection.Outcome{outcome}}
		var after connection.Connection
		require.NoError(t, s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) (err error) {
			after, err = connection.RecordTrial(ctx, tx, o, trial, now)
			return err
		}))
		return after
	}
	require.Equal(t, connection.Failing, record(upstream.Rejected).State)
	require.Zero(t, s.told(s.one, "connection.failed"), "it was never active")
	require.Equal(t, connection.Active, record("").State)
	require.Equal(t, connection.Failing, record(upstream.Timeout).State)
	require.Equal(t, 1, s.told(s.one, "connection.failed"))
	require.Equal(t, upstream.Timeout, s.get(s.one, c.ID).Health.ErrorCode)

	o, err := connection.Open(ctx, s.tenants, s.vault, s.one, c.ID, now)
	require.NoError(t, err)
	name := connection.Config{"baseUrl": "https://models.example/v2", "model": "m"}
	changed, _, err := o.Apply(connection.Change{Config: &name}, now.Add(1000))
	require.NoError(t, err)
	require.NoError(t, s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) error { return connection.Update(ctx, tx, changed) }))
	require.NoError(t, s.inTx(s.one, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := connection.RecordTrial(ctx, tx, o, connection.Trial{Steps: []connection.Step{{OK: true}}}, now)
		return err
	}))
	require.Equal(t, connection.Unverified, s.get(s.one, c.ID).State)
}
