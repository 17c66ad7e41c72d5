package voices_test

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/provider/synthesis/synthesistest"
	"visavis.dev/pkg/store/tenant"
)

// services is a world beside a service that speaks.
type services struct {
	*apitest.World
	t       *testing.T
	service *synthesistest.Server
}

func newServices(t *testing.T) *services {
	t.Helper()
	s := &services{t: t, service: synthesistest.Serve(t)}
	roots := x509.NewCertPool()
	roots.AddCert(s.service.Certificate())
	s.World = apitest.NewWorld(t, func(o *apitest.Options) { o.RootCAs = roots }).Apart(t)
	return s
}

// connect makes a connection to the service and answers its id.
func (s *services) connect(provider string, change func(body, config map[string]any)) string {
	s.t.Helper()
	config := map[string]any{"baseUrl": s.service.URL}
	if provider == "openai_compatible" {
		config = map[string]any{"baseUrl": s.service.URL + "/v1", "model": "tts-1", "voice": "alloy"}
	}
	body := map[string]any{"name": "Voices", "kind": "speech", "provider": provider, "secret": "k", "config": config}
	change(body, config)
	o := s.Operation(s.t, "createConnection")
	answer := s.Call(s.t, o, apitest.Request{Path: o.Path, Key: s.Acme.New, Body: body})
	require.Equal(s.t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	return answer.Data(s.t)["id"].(string)
}

// speaks has a voice say something; by is what did.
func (s *services) speaks(voice string) (by string, samples []int16) {
	s.t.Helper()
	said := s.CallAs(s.t, "speakVoice", voice, s.Acme.New, map[string]any{"text": "We open at seven.", "language": "en"}).Data(s.t)
	wav, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(said["audioUrl"].(string), "data:audio/wav;base64,"))
	require.NoError(s.t, err)
	require.Len(s.t, said["words"], 4)
	require.NotEmpty(s.t, said["visemes"])
	return said["spokenBy"].(string), samplesOf(s.t, wav)
}

func builtinVoice(key string) string { return id.NamedVoice(key).String() }

// A studio voice is heard from the oldest speech connection that has a voice for it; where
// that fails, from what is built in.
func TestVoicesSpeakByAConnection(t *testing.T) {
	s := newServices(t)
	tone := synthesistest.Tone(1500 * time.Millisecond)
	s.service.Say = func(synthesistest.Asked) synthesistest.Answer { return synthesistest.Answer{Samples: tone} }
	first := s.connect("openai_compatible", func(_, config map[string]any) {
		config["voiceMap"] = map[string]any{"male": "onyx", "grace": "coral", builtinVoice("layla"): "sage"}
		config["languages"] = []any{"en"}
	})
	s.connect("openai_compatible", func(_, config map[string]any) { config["voice"] = "another" })
	for key, want := range map[string]string{"nora": "alloy", "owen": "onyx", "grace": "coral", "layla": "sage"} {
		by, samples := s.speaks(builtinVoice(key))
		require.Equal(t, "connection", by)
		require.Equal(t, tone, samples)
		asked := s.service.Asked()
		require.Equal(t, []any{want, "Bearer k", "We open at seven."}, []any{asked[len(asked)-1].Voice, asked[len(asked)-1].Key, asked[len(asked)-1].Text})
	}
	n := len(s.service.Asked())
	german := s.CallAs(t, "speakVoice", builtinVoice("lukas"), s.Acme.New, map[string]any{"text": "Guten Tag."}).Data(t)
	require.Equal(t, "builtin", german["spokenBy"], "it does not speak this language")
	require.Len(t, s.service.Asked(), n)
	by := s.CallAs(t, "speakVoice", builtinVoice("nora"), s.Globex.New, map[string]any{"text": "Hello."}).Data(t)["spokenBy"]
	require.Equal(t, "builtin", by, "it is another organization's")

	s.service.Next(synthesistest.Answer{Status: http.StatusBadGateway}, synthesistest.Answer{Body: "<html>"}, synthesistest.Answer{})
	for range 3 {
		by, samples := s.speaks(builtinVoice("nora"))
		require.Equal(t, "builtin", by)
		requireSound(t, samples)
	}
	n = len(s.service.Asked())
	spoken, _ := s.speaks(builtinVoice("nora"))
	require.Equal(t, "builtin", spoken, "it failed three times in a row")
	require.Len(t, s.service.Asked(), n)
	s.Reporter.Flush(context.Background())
	shown := s.CallAs(t, "getConnection", first, s.Acme.New, nil).Data(t)
	require.Equal(t, "failing", shown["state"])
	require.Equal(t, "malformed", shown["health"].(map[string]any)["errorCode"])
	require.Len(t, s.Told(t, "connection.failed"), 1)
	calls := s.CallAs(t, "listConnectionCalls", first, s.Acme.New, nil)
	require.Contains(t, string(calls.Raw), `"speech"`)
	require.NotContains(t, string(calls.Raw), "seven")

	require.Equal(t, http.StatusOK, s.CallAs(t, "updateConnection", first, s.Acme.New, map[string]any{"enabled": false}).Status)
	spoken, _ = s.speaks(builtinVoice("grace"))
	asked := s.service.Asked()
	require.Equal(t, []string{"connection", "another"}, []string{spoken, asked[len(asked)-1].Voice}, "the other one speaks then")
}

// With the fallback fail nothing speaks in a service's place.
func TestVoicesThatNothingSpeaksInsteadOf(t *testing.T) {
	s := newServices(t)
	s.connect("elevenlabs", func(body, config map[string]any) { body["fallback"], config["voice"] = "fail", "v1" })
	s.service.Next(synthesistest.Answer{Status: http.StatusUnauthorized})
	answer := s.CallAs(t, "speakVoice", builtinVoice("nora"), s.Acme.New, map[string]any{"text": "Hello."})
	require.Equal(t, http.StatusBadGateway, answer.Status, "%s", answer.Raw)
	require.Contains(t, string(answer.Raw), "upstream_error")
	s.service.Next(synthesistest.Answer{Samples: synthesistest.Tone(2 * time.Second)})
	spoken, _ := s.speaks(builtinVoice("nora"))
	require.Equal(t, "connection", spoken)
	require.Equal(t, "k", s.service.Asked()[0].Key)
}

// A clone is heard from the service that made it, and not any more once its consent was
// withdrawn.
func TestCloneSpeaksByItsService(t *testing.T) {
	s := newServices(t)
	s.service.Say = func(synthesistest.Asked) synthesistest.Answer {
		return synthesistest.Answer{Samples: synthesistest.Tone(1500 * time.Millisecond)}
	}
	by := s.connect("elevenlabs", func(_, _ map[string]any) {})
	which := s.TrainedVoice(t, s.Acme)
	parsed, err := id.ParseVoice(which)
	require.NoError(t, err)
	connection, err := id.ParseConnection(by)
	require.NoError(t, err)
	require.NoError(t, s.Tenants.InTx(context.Background(), s.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE voice SET service_voice = 'theirs', connection_id = $3 WHERE org_id = $1 AND id = $2`, tx.Org, parsed, connection)
		return err
	}))
	spoken, _ := s.speaks(which)
	require.Equal(t, []string{"connection", "theirs"}, []string{spoken, s.service.Asked()[0].Voice})

	// Its preview is heard from there too, and is not kept: another time it may be what is
	// built in.
	o := s.Operation(t, "getVoicePreview")
	preview := s.Call(t, o, apitest.Request{Path: apitest.WithID(o, which), Key: s.Acme.New})
	require.Equal(t, http.StatusOK, preview.Status, "%s", preview.Raw)
	require.Equal(t, []string{"no-store", ""}, []string{preview.Header.Get("Cache-Control"), preview.Header.Get("ETag")})
	require.Len(t, s.service.Asked(), 2)
	requireSound(t, samplesOf(t, preview.Raw))
	nora := s.Call(t, o, apitest.Request{Path: apitest.WithID(o, builtinVoice("nora")) + "?text=Hello.", Key: s.Acme.New})
	require.Equal(t, http.StatusOK, nora.Status)
	require.Len(t, s.service.Asked(), 2, "the connection has no voice for the studio's")

	require.NoError(t, s.Tenants.InTx(context.Background(), s.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		v, err := voice.Find(ctx, tx, parsed)
		if err != nil {
			return err
		}
		v.Consent.State = string(voice.Withdrawn)
		speaks, err := s.Speaker(ctx, s.Acme.ID, v, nil, true)
		require.Nil(t, speaks, "nobody speaks as they do any more")
		return err
	}))
}
