package api_test

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
)

// studioServer is the service that clones voices.
type studioServer struct {
	*httptest.Server
	mu sync.Mutex
	// status is answered to an upload unless it is zero.
	status  int
	voices  map[string]string
	uploads []map[string][]string
}

func serveStudio(t *testing.T) *studioServer {
	t.Helper()
	s := &studioServer{voices: map[string]string{}}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.answer))
	t.Cleanup(s.Close)
	return s
}

func (s *studioServer) answer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
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
		s.uploads = append(s.uploads, upload)
		id := fmt.Sprint("service-", len(s.uploads))
		s.voices[id] = r.MultipartForm.Value["name"][0]
		_, _ = fmt.Fprintf(w, `{"voice_id":%q,"requires_verification":false}`, id)
	}
}

func (s *studioServer) fail(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

func (s *studioServer) made() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for id := range s.voices {
		ids = append(ids, id)
	}
	return ids
}

// studio is a world beside the service, with an organization that has nothing
// and a worker.
type studio struct {
	*world
	server *studioServer
	org    *apitest.Org
}

func newStudio(t *testing.T, options ...apitest.Option) *studio {
	t.Helper()
	s := &studio{server: serveStudio(t)}
	s.world = newWorld(t, func(o *apitest.Options) {
		o.RootCAs = x509.NewCertPool()
		o.RootCAs.AddCert(s.server.Certificate())
		for _, option := range options {
			option(o)
		}
	})
	s.org = s.NewOrg("Studio", "shard-1", "business")
	worker := s.Worker()
	worker.Start()
	t.Cleanup(worker.Stop)
	return s
}

// plug connects the service and tests it.
func (s *studio) plug(t *testing.T) string {
	t.Helper()
	o := s.operation(t, "createConnection")
	made := s.call(t, o, apitest.Request{Path: o.Path, Key: s.org.New, Body: map[string]any{
		"kind": "speech", "provider": "elevenlabs", "name": "voices", "config": map[string]any{"baseUrl": s.server.URL}, "secret": "xi-good",
	}}).Data(t)["id"].(string)
	require.Equal(t, true, s.do(t, "testConnection", made, s.org.New, nil).Data(t)["ok"])
	return made
}

// clone asks for a voice of a good body that was changed.
func (s *studio) clone(t *testing.T, key apikey.Secret, change func(body, consent map[string]any)) apitest.Answer {
	t.Helper()
	o := s.operation(t, "createVoice")
	body := s.body(t, o).(map[string]any)
	change(body, body["consent"].(map[string]any))
	return s.call(t, o, apitest.Request{Path: o.Path, Key: key, Body: body})
}

// trained waits until a voice is no longer training.
func (s *studio) trained(t *testing.T, which string) (found map[string]any) {
	t.Helper()
	require.Eventually(t, func() bool {
		found = s.do(t, "getVoice", which, s.org.New, nil).Data(t)
		return found["status"] != "training"
	}, 20*time.Second, 20*time.Millisecond)
	return found
}

// heard are the organization's events of a type, newest first.
func (s *studio) heard(t *testing.T, kind string) (data []map[string]any) {
	t.Helper()
	items, _ := s.page(t, s.operation(t, "listEvents"), s.org.New, map[string][]string{"type": {kind}})
	for _, item := range items {
		data = append(data, item.(map[string]any)["data"].(map[string]any))
	}
	return data
}

func TestVoicesAreCloned(t *testing.T) {
	s := newStudio(t)
	e := requireError(t, s.clone(t, s.org.New, same), http.StatusConflict, "conflict", "")
	require.Equal(t, "no_speech_connection", e["details"].(map[string]any)["reason"])
	require.Contains(t, e["message"], "elevenlabs")
	plugged := s.plug(t)

	answer := s.clone(t, s.org.New, same)
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Raw)
	made := answer.Data(t)
	which := made["id"].(string)
	require.Equal(t, []any{"custom", "training", "connection", plugged, "premier", "en"},
		[]any{made["kind"], made["status"], made["provider"], made["connectionId"], made["engine"], made["primaryLanguage"]})
	require.Equal(t, []any{"en", "de"}, made["languages"])
	recorded := s.heard(t, "consent.recorded")[0]
	require.Equal(t, []any{made["consentId"], "voice", "given", which, nil},
		[]any{recorded["consentId"], recorded["kind"], recorded["state"], recorded["voiceId"], recorded["avatarId"]})

	ready := s.trained(t, which)
	require.Equal(t, "ready", ready["status"], "%v", ready)
	s.server.mu.Lock()
	uploads := slices.Clone(s.server.uploads)
	s.server.mu.Unlock()
	require.Len(t, uploads, 1)
	require.Equal(t, []string{"sample-1.wav audio/wav", "sample-2.wav audio/wav"}, uploads[0]["files"])
	require.Equal(t, []string{made["name"].(string) + " (" + which + ")"}, uploads[0]["name"])
	completed := s.heard(t, "voice.clone.completed")
	require.Len(t, completed, 1)
	require.Equal(t, []any{which, "ready", "premier", []any{"en", "de"}, nil},
		[]any{completed[0]["voiceId"], completed[0]["status"], completed[0]["engine"], completed[0]["languages"], completed[0]["errorCode"]})
	done := s.heard(t, "job.completed")
	require.Equal(t, []any{completed[0]["jobId"], "voice_clone", "succeeded", which}, []any{done[0]["jobId"], done[0]["kind"], done[0]["state"], done[0]["resourceId"]})
	require.Equal(t, []any{which}, s.do(t, "getConnection", plugged, s.org.New, nil).Data(t)["usedBy"].(map[string]any)["voiceIds"])

	all := s.Get(s.org.New, "/voices?limit=200").JSON(t)["data"].([]any)
	require.Equal(t, which, all[len(all)-1].(map[string]any)["id"], "own ones come last")
	require.Len(t, s.Get(s.org.New, "/voices?kind=custom").JSON(t)["data"], 1)
	require.Empty(t, s.Get(s.org.New, "/voices?kind=custom&gender=male").JSON(t)["data"])
	requireError(t, s.do(t, "getVoice", which, s.Acme.New, nil), http.StatusNotFound, "not_found", "path.id")

	// Its consent is withdrawn: it starts nothing new.
	require.Equal(t, http.StatusOK, s.do(t, "withdrawConsent", made["consentId"].(string), s.org.New, nil).Status)
	withdrawn := s.do(t, "getVoice", which, s.org.New, nil).Data(t)
	require.Equal(t, []any{"withdrawn", "consent_withdrawn"}, []any{withdrawn["status"], withdrawn["statusReason"]})
	require.Equal(t, which, s.heard(t, "consent.recorded")[0]["voiceId"])

	// Deleted here, it is deleted there.
	require.Len(t, s.server.made(), 1)
	require.Equal(t, http.StatusOK, s.do(t, "deleteVoice", which, s.org.New, nil).Status)
	require.Eventually(t, func() bool { return len(s.server.made()) == 0 }, 20*time.Second, 20*time.Millisecond)
	for _, operation := range []string{"getVoice", "updateVoice", "deleteVoice"} {
		requireError(t, s.do(t, operation, which, s.org.New, s.body(t, s.operation(t, operation))), http.StatusGone, "gone", "path.id")
	}
	require.Equal(t, http.StatusOK, s.do(t, "deleteConnection", plugged, s.org.New, nil).Status)
}

func TestVoicesThatCannotBeCloned(t *testing.T) {
	s := newStudio(t)
	plugged := s.plug(t)
	s.server.fail(http.StatusUnprocessableEntity)
	which := s.clone(t, s.org.New, same).Data(t)["id"].(string)
	failed := s.trained(t, which)
	require.Equal(t, []any{"failed", "rejected"}, []any{failed["status"], failed["statusReason"]})
	completed := s.heard(t, "voice.clone.completed")
	require.Equal(t, []any{"failed", "rejected"}, []any{completed[0]["status"], completed[0]["errorCode"]})
	require.Equal(t, "failed", s.heard(t, "job.completed")[0]["state"])

	// A refused secret fails the connection too, once that was reported.
	s.do(t, "rotateConnectionSecret", plugged, s.org.New, map[string]any{"secret": "xi-bad"})
	_, err := s.Connections.Open(context.Background(), s.org.ID, id.Connection{1})
	require.Error(t, err)
	require.Eventually(t, func() bool {
		o, err := s.Connections.Open(context.Background(), s.org.ID, mustConnection(t, plugged))
		return err == nil && string(o.Secrets[0]) == "xi-bad"
	}, 5*time.Second, 50*time.Millisecond, "a change is seen within two seconds")
	which = s.clone(t, s.org.New, same).Data(t)["id"].(string)
	require.Equal(t, "refused", s.trained(t, which)["statusReason"])
	require.Eventually(t, func() bool {
		return s.do(t, "getConnection", plugged, s.org.New, nil).Data(t)["state"] == "failing"
	}, 10*time.Second, 50*time.Millisecond)
	require.Len(t, s.heard(t, "connection.failed"), 1)
}

func mustConnection(t *testing.T, text string) id.Connection {
	t.Helper()
	c, err := id.ParseConnection(text)
	require.NoError(t, err)
	return c
}

func TestVoiceInput(t *testing.T) {
	s := newStudio(t)
	big := "data:audio/wav;base64," + base64.StdEncoding.EncodeToString(append([]byte("RIFF0000WAVE"), make([]byte, 13<<20)...))
	for name, test := range map[string]struct {
		change      func(body, consent map[string]any)
		status      int
		code, param string
	}{
		"no consent":      {func(b, _ map[string]any) { delete(b, "consent"); b["name"] = 1 }, 400, "consent_required", "body.consent"},
		"bad statement":   {func(_, c map[string]any) { c["statement"] = "x" }, 400, "consent_invalid", "body.consent.statement"},
		"the future":      {func(_, c map[string]any) { c["signedAt"] = "2999-01-01T00:00:00Z" }, 400, "consent_invalid", "body.consent.signedAt"},
		"outdated":        {func(_, c map[string]any) { c["policyVersion"] = "1" }, 400, "consent_outdated", "body.consent.policyVersion"},
		"no samples":      {func(b, _ map[string]any) { b["samples"] = []any{} }, 400, "invalid_request", "body.samples"},
		"six":             {func(b, _ map[string]any) { b["samples"] = slices.Repeat([]any{recording}, 6) }, 400, "invalid_request", "body.samples"},
		"a picture":       {func(b, _ map[string]any) { b["samples"] = []any{recording, portrait()} }, 415, "unsupported_media_type", "body.samples[1]"},
		"too large":       {func(b, _ map[string]any) { b["samples"] = []any{big, big} }, 413, "too_large", "body.samples[1]"},
		"not base64":      {func(b, _ map[string]any) { b["samples"] = []any{"data:audio/wav,x"} }, 400, "invalid_request", "body.samples[0]"},
		"a private place": {func(b, _ map[string]any) { b["samples"] = []any{"https://10.0.0.1/a.wav"} }, 400, "invalid_request", "body.samples[0]"},
		"no language":     {func(b, _ map[string]any) { b["languages"] = []any{"Klingon"} }, 400, "invalid_request", "body.languages[0]"},
		"a global one":    {func(b, _ map[string]any) { b["languages"] = []any{"en", "sw"} }, 400, "invalid_request", "body.languages[1]"},
		"a gender":        {func(b, _ map[string]any) { b["gender"] = "x" }, 400, "invalid_request", "body.gender"},
	} {
		t.Run(name, func(t *testing.T) {
			requireError(t, s.clone(t, s.Acme.New, test.change), test.status, test.code, test.param)
		})
	}
	require.Len(t, s.Get(s.Acme.Old, "/voices/consent-policy").Data(t)["statements"], 4)

	starter := s.NewOrg("Starter", "shard-1", "starter")
	requireError(t, s.clone(t, starter.New, func(b, _ map[string]any) { delete(b, "consent") }), http.StatusForbidden, "upgrade_required", "")
	e := requireError(t, s.clone(t, starter.New, same), http.StatusForbidden, "upgrade_required", "")
	require.Equal(t, "voice_cloning", e["details"].(map[string]any)["feature"])
	team := s.NewOrg("Team", "shard-1", "team")
	s.connect(t, team)
	for range 3 {
		require.Equal(t, http.StatusAccepted, s.clone(t, team.New, same).Status)
	}
	e = requireError(t, s.clone(t, team.New, same), http.StatusForbidden, "upgrade_required", "")
	require.Equal(t, map[string]any{"feature": "clonedVoices", "limit": 3.0, "plan": "business"}, e["details"])
}

func TestVoicesAreChanged(t *testing.T) {
	s := newStudio(t)
	studio := s.Get(s.Acme.New, "/voices?limit=1").JSON(t)["data"].([]any)[0].(map[string]any)["id"].(string)
	require.Equal(t, "ready", s.do(t, "getVoice", studio, s.Acme.Old, nil).Data(t)["status"])
	for _, operation := range []string{"updateVoice", "deleteVoice"} {
		e := requireError(t, s.do(t, operation, studio, s.Acme.New, s.body(t, s.operation(t, operation))), http.StatusConflict, "conflict", "path.id")
		require.Equal(t, "library", e["details"].(map[string]any)["reason"])
	}
	which := s.clone(t, s.Acme.New, same).Data(t)["id"].(string)
	changed := s.do(t, "updateVoice", which, s.Acme.New, map[string]any{
		"name": "n", "pronunciations": []any{map[string]any{"text": "SQL", "say": "sequel", "language": "German"}},
	}).Data(t)
	require.Equal(t, []any{"n", "tests", []any{map[string]any{"text": "SQL", "say": "sequel", "language": "de"}}},
		[]any{changed["name"], changed["description"], changed["pronunciations"]})
	requireError(t, s.do(t, "updateVoice", which, s.Acme.New, map[string]any{
		"pronunciations": []any{map[string]any{"text": "a", "say": "b", "language": "Klingon"}},
	}), http.StatusBadRequest, "invalid_request", "body.pronunciations[0].language")

	parsed, err := id.ParseVoice(which)
	require.NoError(t, err)
	use := func(voices ...id.Voice) {
		require.NoError(t, s.Tenants.InTx(context.Background(), s.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
			for _, v := range voices {
				if _, err := voice.Find(ctx, tx, v); err != nil {
					return err
				}
			}
			return voice.SetUses(ctx, tx, voice.ByPersona(id.Persona{1}), voices...)
		}))
	}
	library, err := id.ParseVoice(studio)
	require.NoError(t, err)
	use(parsed, library)
	for _, v := range []string{which, studio} {
		require.Equal(t, map[string]any{"personas": 1.0, "duos": 0.0}, s.do(t, "getVoice", v, s.Acme.New, nil).Data(t)["usedBy"])
	}
	e := requireError(t, s.do(t, "deleteVoice", which, s.Acme.New, nil), http.StatusConflict, "conflict", "path.id")
	require.Equal(t, "in_use", e["details"].(map[string]any)["reason"])
	use()
	require.Equal(t, http.StatusOK, s.do(t, "deleteVoice", which, s.Acme.New, nil).Status)
	require.Equal(t, "voice.deleted", s.last(t)["action"])
}
