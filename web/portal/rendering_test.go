package portal_test

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/provider/livekit"
	"visavis.dev/pkg/provider/livekit/livekittest"
	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/visits/live/livetest"
)

// hum says everything as a tone.
type hum struct{}

func (hum) Speaks(string) bool { return true }

func (hum) Speak(_ context.Context, r speaker.Request, heard func(speaker.Chunk) error) error {
	samples := make([]int16, len(r.Text)*speaker.SampleRate/20)
	for i := range samples {
		samples[i] = int16(8000 * math.Sin(float64(i)*2*math.Pi*220/speaker.SampleRate))
	}
	return heard(speaker.Chunk{Samples: samples})
}

// studio is Beyond Presence's API, whose avatars come.
type studio struct {
	*httptest.Server
	server *livekittest.Server

	mu     sync.Mutex
	came   []*livetest.Avatar
	wanted []string
}

func (s *studio) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("X-Api-Key") != "sk-good":
		w.WriteHeader(http.StatusUnauthorized)
	case r.URL.Path == "/v1/avatars/amara-there":
		_, _ = io.WriteString(w, `{"id":"amara-there","status":"available"}`)
	case r.URL.Path == "/v1/sessions":
		var in struct {
			Avatar    string `json:"avatar_id"`
			URL       string `json:"url"`
			Token     string `json:"token"`
			Transport string `json:"transport"`
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil || in.Transport != "livekit" {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		a, err := livetest.Perform(context.WithoutCancel(r.Context()), s.server.Guard(), in.URL, in.Token, livetest.Manners{})
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.came, s.wanted = append(s.came, a), append(s.wanted, in.Avatar)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id":"s-1"}`)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// The whole way, by the API: connections are made and tested, a session is minted, and the face that its visitor sees is the
// service's, by the avatar that the connection names for it.
func TestAFaceIsRenderedByAConnection(t *testing.T) {
	t.Parallel()
	media := livekittest.Start(t)
	service := &studio{server: media}
	service.Server = httptest.NewTLSServer(service)
	t.Cleanup(func() {
		service.Close()
		for _, a := range service.came {
			a.Leave()
		}
	})
	v := visit(t, clock.RealClock{}, func(o *apitest.Options) {
		o.RootCAs, o.Speaker = service.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, hum{}
	})
	connect := func(body map[string]any) string {
		var made struct{ ID string }
		v.call(http.MethodPost, "/connections", body, &made)
		var tested struct{ State string }
		v.call(http.MethodPost, "/connections/"+made.ID+"/test", map[string]any{}, nil)
		v.call(http.MethodGet, "/connections/"+made.ID, nil, &tested)
		require.Equal(t, "active", tested.State)
		return made.ID
	}
	connect(map[string]any{
		"name": "Rooms", "kind": "media", "provider": "livekit", "secret": media.Key.Secret, "config": map[string]any{"url": media.URL, "apiKey": media.Key.ID},
	})
	var faces []struct{ ID, Name string }
	v.call(http.MethodGet, "/avatars?limit=1", nil, &faces)
	which := connect(map[string]any{
		"name": "Faces", "kind": "avatar", "provider": "beyond_presence", "secret": "sk-good",
		"config": map[string]any{"baseUrl": service.URL, "avatarMap": map[string]any{faces[0].ID: "amara-there"}},
	})
	persona, err := v.api.Persona(t.Context(), "Amara", nil, nil)
	require.NoError(t, err)

	var ticket struct{ Transport struct{ URL, Token string } }
	v.call(http.MethodPost, "/sessions/tokens", map[string]any{"personaId": persona, "transport": "livekit", "channel": "video"}, &ticket)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c, err := livetest.JoinAloud(ctx, media.Guard(), ticket.Transport.URL, ticket.Transport.Token, func(livetest.Played) {})
	require.NoError(t, err)
	t.Cleanup(c.Drop)
	shown := false
	for !shown {
		require.NoError(t, c.Send(ctx, "client-ready", map[string]any{"audio": []string{"opus"}}))
		soon, over := context.WithTimeout(ctx, time.Second)
		m, err := c.UntilType(soon, "bot-video")
		over()
		shown = err == nil
		require.NoError(t, ctx.Err())
		if shown {
			require.Contains(t, string(m.Data), livekit.Avatar)
		}
	}
	require.NoError(t, c.Say(ctx, "When does the museum open?"))
	_, err = c.UntilType(ctx, "bot-playback")
	require.NoError(t, err)
	service.mu.Lock()
	require.Equal(t, []string{"amara-there"}, service.wanted)
	require.NotEmpty(t, service.came[0].Streams()[0].Samples)
	service.mu.Unlock()
	require.NoError(t, c.Send(ctx, "end", nil))
	require.Eventually(t, func() bool {
		var calls []struct{ Name string }
		v.call(http.MethodGet, "/connections/"+which+"/calls", nil, &calls)
		names := ""
		for _, call := range calls {
			names += call.Name + " "
		}
		return strings.TrimPrefix(names, "clear ") == "show start test.avatar " // it may be speaking still when the visitor leaves
	}, 20*time.Second, 200*time.Millisecond)
}
