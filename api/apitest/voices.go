package apitest

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/store/apikey"
)

// studioServer is the service that clones voices.
type studioServer struct {
	*httptest.Server
	Mu sync.Mutex
	// status is answered to an upload unless it is zero.
	status  int
	voices  map[string]string
	Uploads []map[string][]string
}

func serveStudio(t *testing.T) *studioServer {
	t.Helper()
	s := &studioServer{voices: map[string]string{}}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.answer))
	t.Cleanup(s.Close)
	return s
}

func (s *studioServer) answer(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if r.Header.Get("xi-api-key") != "xi-good" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	switch {
	case r.URL.Path == "/v2/voices":
		var found []map[string]string
		for id, name := range s.voices {
			found = append(found, map[string]string{"voice_id": id, "name": name})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"voices": append([]map[string]string{}, found...)})
	case r.Method == http.MethodDelete:
		delete(s.voices, strings.TrimPrefix(r.URL.Path, "/v1/voices/"))
		_, _ = io.WriteString(w, `{"status":"ok"}`)
	case r.URL.Path == "/v1/voices/add" && s.status != 0:
		w.WriteHeader(s.status)
	case r.URL.Path == "/v1/voices/add":
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		upload := map[string][]string{"name": r.MultipartForm.Value["name"], "description": r.MultipartForm.Value["description"]}
		for _, f := range r.MultipartForm.File["files"] {
			upload["files"] = append(upload["files"], f.Filename+" "+f.Header.Get("Content-Type"))
		}
		s.Uploads = append(s.Uploads, upload)
		id := fmt.Sprint("service-", len(s.Uploads))
		s.voices[id] = r.MultipartForm.Value["name"][0]
		_, _ = fmt.Fprintf(w, `{"voice_id":%q,"requires_verification":false}`, id)
	}
}

func (s *studioServer) Fail(status int) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.status = status
}

func (s *studioServer) Made() []string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	var ids []string
	for id := range s.voices {
		ids = append(ids, id)
	}
	return ids
}

// studio is a world beside the service, with an organization that has nothing
// and a worker.
type studio struct {
	*World
	Server *studioServer
	Org    *Org
}

func NewStudio(t *testing.T, options ...Option) *studio {
	t.Helper()
	s := &studio{Server: serveStudio(t)}
	s.World = NewWorld(t, func(o *Options) {
		o.RootCAs = x509.NewCertPool()
		o.RootCAs.AddCert(s.Server.Certificate())
		for _, option := range options {
			option(o)
		}
	})
	s.Org = s.NewOrg("Studio", "shard-1", "business")
	worker := s.Worker()
	worker.Start()
	t.Cleanup(worker.Stop)
	return s
}

// Plug connects the service and tests it.
func (s *studio) Plug(t *testing.T) string {
	t.Helper()
	o := s.Operation(t, "createConnection")
	made := s.Call(t, o, Request{Path: o.Path, Key: s.Org.New, Body: map[string]any{
		"kind": "speech", "provider": "elevenlabs", "name": "voices", "config": map[string]any{"baseUrl": s.Server.URL}, "secret": "xi-good",
	}}).Data(t)["id"].(string)
	require.Equal(t, true, s.CallAs(t, "testConnection", made, s.Org.New, nil).Data(t)["ok"])
	return made
}

// Clone asks for a voice of a good body that was changed.
func (s *studio) Clone(t *testing.T, key apikey.Secret, change func(body, consent map[string]any)) Answer {
	t.Helper()
	o := s.Operation(t, "createVoice")
	body := s.Body(t, o).(map[string]any)
	change(body, body["consent"].(map[string]any))
	return s.Call(t, o, Request{Path: o.Path, Key: key, Body: body})
}

// Trained waits until a voice is no longer training.
func (s *studio) Trained(t *testing.T, which string) (found map[string]any) {
	t.Helper()
	require.Eventually(t, func() bool {
		found = s.CallAs(t, "getVoice", which, s.Org.New, nil).Data(t)
		return found["status"] != "training"
	}, 20*time.Second, 20*time.Millisecond)
	return found
}

// Heard are the organization's events of a type, newest first.
func (s *studio) Heard(t *testing.T, kind string) (data []map[string]any) {
	t.Helper()
	items, _ := s.Page(t, s.Operation(t, "listEvents"), s.Org.New, map[string][]string{"type": {kind}})
	for _, item := range items {
		data = append(data, item.(map[string]any)["data"].(map[string]any))
	}
	return data
}
