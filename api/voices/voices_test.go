package voices_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/store/tenant"
)

func TestVoicesAreCloned(t *testing.T) {
	s := apitest.NewStudio(t)
	e := apitest.RequireError(t, s.Clone(t, s.Org.New, apitest.Same), http.StatusConflict, "conflict", "")
	require.Equal(t, "no_speech_connection", e["details"].(map[string]any)["reason"])
	require.Contains(t, e["message"], "elevenlabs")
	plugged := s.Plug(t)

	answer := s.Clone(t, s.Org.New, apitest.Same)
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Raw)
	made := answer.Data(t)
	which := made["id"].(string)
	require.Equal(t, []any{"custom", "training", "connection", plugged, "premier", "en"},
		[]any{made["kind"], made["status"], made["provider"], made["connectionId"], made["engine"], made["primaryLanguage"]})
	require.Equal(t, []any{"en", "de"}, made["languages"])
	recorded := s.Heard(t, "consent.recorded")[0]
	require.Equal(t, []any{made["consentId"], "voice", "given", which, nil},
		[]any{recorded["consentId"], recorded["kind"], recorded["state"], recorded["voiceId"], recorded["avatarId"]})

	ready := s.Trained(t, which)
	require.Equal(t, "ready", ready["status"], "%v", ready)
	s.Server.Mu.Lock()
	uploads := slices.Clone(s.Server.Uploads)
	s.Server.Mu.Unlock()
	require.Len(t, uploads, 1)
	require.Equal(t, []string{"sample-1.wav audio/wav", "sample-2.wav audio/wav"}, uploads[0]["files"])
	require.Equal(t, []string{made["name"].(string) + " (" + which + ")"}, uploads[0]["name"])
	completed := s.Heard(t, "voice.clone.completed")
	require.Len(t, completed, 1)
	require.Equal(t, []any{which, "ready", "premier", []any{"en", "de"}, nil},
		[]any{completed[0]["voiceId"], completed[0]["status"], completed[0]["engine"], completed[0]["languages"], completed[0]["errorCode"]})
	done := s.Heard(t, "job.completed")
	require.Equal(t, []any{completed[0]["jobId"], "voice_clone", "succeeded", which}, []any{done[0]["jobId"], done[0]["kind"], done[0]["state"], done[0]["resourceId"]})
	require.Equal(t, []any{which}, s.CallAs(t, "getConnection", plugged, s.Org.New, nil).Data(t)["usedBy"].(map[string]any)["voiceIds"])

	all := s.Get(s.Org.New, "/voices?limit=200").JSON(t)["data"].([]any)
	require.Equal(t, which, all[len(all)-1].(map[string]any)["id"], "own ones come last")
	require.Len(t, s.Get(s.Org.New, "/voices?kind=custom").JSON(t)["data"], 1)
	require.Empty(t, s.Get(s.Org.New, "/voices?kind=custom&gender=male").JSON(t)["data"])
	apitest.RequireError(t, s.CallAs(t, "getVoice", which, s.Acme.New, nil), http.StatusNotFound, "not_found", "path.id")

	// Its consent is withdrawn: it starts nothing new.
	require.Equal(t, http.StatusOK, s.CallAs(t, "withdrawConsent", made["consentId"].(string), s.Org.New, nil).Status)
	withdrawn := s.CallAs(t, "getVoice", which, s.Org.New, nil).Data(t)
	require.Equal(t, []any{"withdrawn", "consent_withdrawn"}, []any{withdrawn["status"], withdrawn["statusReason"]})
	require.Equal(t, which, s.Heard(t, "consent.recorded")[0]["voiceId"])

	// Deleted here, it is deleted there.
	require.Len(t, s.Server.Made(), 1)
	require.Equal(t, http.StatusOK, s.CallAs(t, "deleteVoice", which, s.Org.New, nil).Status)
	require.Eventually(t, func() bool { return len(s.Server.Made()) == 0 }, 20*time.Second, 20*time.Millisecond)
	for _, operation := range []string{"getVoice", "updateVoice", "deleteVoice"} {
		apitest.RequireError(t, s.CallAs(t, operation, which, s.Org.New, s.Body(t, s.Operation(t, operation))), http.StatusGone, "gone", "path.id")
	}
	require.Equal(t, http.StatusOK, s.CallAs(t, "deleteConnection", plugged, s.Org.New, nil).Status)
}

func TestVoicesThatCannotBeCloned(t *testing.T) {
	s := apitest.NewStudio(t)
	plugged := s.Plug(t)
	s.Server.Fail(http.StatusUnprocessableEntity)
	which := s.Clone(t, s.Org.New, apitest.Same).Data(t)["id"].(string)
	failed := s.Trained(t, which)
	require.Equal(t, []any{"failed", "rejected"}, []any{failed["status"], failed["statusReason"]})
	completed := s.Heard(t, "voice.clone.completed")
	require.Equal(t, []any{"failed", "rejected"}, []any{completed[0]["status"], completed[0]["errorCode"]})
	require.Equal(t, "failed", s.Heard(t, "job.completed")[0]["state"])

	// A refused secret fails the connection too, once that was reported.
	s.CallAs(t, "rotateConnectionSecret", plugged, s.Org.New, map[string]any{"secret": "xi-bad"})
	_, err := s.Connections.Open(context.Background(), s.Org.ID, id.Connection{1})
	require.Error(t, err)
	require.Eventually(t, func() bool {
		o, err := s.Connections.Open(context.Background(), s.Org.ID, mustConnection(t, plugged))
		return err == nil && string(o.Secrets[0]) == "xi-bad"
	}, 20*time.Second, 50*time.Millisecond, "a change is seen within two seconds")
	which = s.Clone(t, s.Org.New, apitest.Same).Data(t)["id"].(string)
	require.Equal(t, "refused", s.Trained(t, which)["statusReason"])
	require.Eventually(t, func() bool {
		return s.CallAs(t, "getConnection", plugged, s.Org.New, nil).Data(t)["state"] == "failing"
	}, 20*time.Second, 50*time.Millisecond)
	require.Len(t, s.Heard(t, "connection.failed"), 1)
}

func mustConnection(t *testing.T, text string) id.Connection {
	t.Helper()
	c, err := id.ParseConnection(text)
	require.NoError(t, err)
	return c
}

func TestVoiceInput(t *testing.T) {
	s := apitest.NewStudio(t)
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
		"six":             {func(b, _ map[string]any) { b["samples"] = slices.Repeat([]any{apitest.Recording}, 6) }, 400, "invalid_request", "body.samples"},
		"a picture":       {func(b, _ map[string]any) { b["samples"] = []any{apitest.Recording, apitest.Portrait()} }, 415, "unsupported_media_type", "body.samples[1]"},
		"too large":       {func(b, _ map[string]any) { b["samples"] = []any{big, big} }, 413, "too_large", "body.samples[1]"},
		"not base64":      {func(b, _ map[string]any) { b["samples"] = []any{"data:audio/wav,x"} }, 400, "invalid_request", "body.samples[0]"},
		"a private place": {func(b, _ map[string]any) { b["samples"] = []any{"https://10.0.0.1/a.wav"} }, 400, "invalid_request", "body.samples[0]"},
		"no language":     {func(b, _ map[string]any) { b["languages"] = []any{"Klingon"} }, 400, "invalid_request", "body.languages[0]"},
		"a global one":    {func(b, _ map[string]any) { b["languages"] = []any{"en", "sw"} }, 400, "invalid_request", "body.languages[1]"},
		"a gender":        {func(b, _ map[string]any) { b["gender"] = "x" }, 400, "invalid_request", "body.gender"},
	} {
		t.Run(name, func(t *testing.T) {
			apitest.RequireError(t, s.Clone(t, s.Acme.New, test.change), test.status, test.code, test.param)
		})
	}
	require.Len(t, s.Get(s.Acme.Old, "/voices/consent-policy").Data(t)["statements"], 4)

	starter := s.NewOrg("Starter", "shard-1", "starter")
	apitest.RequireError(t, s.Clone(t, starter.New, func(b, _ map[string]any) { delete(b, "consent") }), http.StatusForbidden, "upgrade_required", "")
	e := apitest.RequireError(t, s.Clone(t, starter.New, apitest.Same), http.StatusForbidden, "upgrade_required", "")
	require.Equal(t, "voice_cloning", e["details"].(map[string]any)["feature"])
	team := s.NewOrg("Team", "shard-1", "team")
	s.Connect(t, team)
	for range 3 {
		require.Equal(t, http.StatusAccepted, s.Clone(t, team.New, apitest.Same).Status)
	}
	e = apitest.RequireError(t, s.Clone(t, team.New, apitest.Same), http.StatusForbidden, "upgrade_required", "")
	require.Equal(t, map[string]any{"feature": "clonedVoices", "limit": 3.0, "plan": "business"}, e["details"])
}

func TestVoicesAreChanged(t *testing.T) {
	s := apitest.NewStudio(t)
	studio := s.Get(s.Acme.New, "/voices?limit=1").JSON(t)["data"].([]any)[0].(map[string]any)["id"].(string)
	require.Equal(t, "ready", s.CallAs(t, "getVoice", studio, s.Acme.Old, nil).Data(t)["status"])
	for _, operation := range []string{"updateVoice", "deleteVoice"} {
		e := apitest.RequireError(t, s.CallAs(t, operation, studio, s.Acme.New, s.Body(t, s.Operation(t, operation))), http.StatusConflict, "conflict", "path.id")
		require.Equal(t, "library", e["details"].(map[string]any)["reason"])
	}
	which := s.Clone(t, s.Acme.New, apitest.Same).Data(t)["id"].(string)
	changed := s.CallAs(t, "updateVoice", which, s.Acme.New, map[string]any{
		"name": "n", "pronunciations": []any{map[string]any{"text": "SQL", "say": "sequel", "language": "German"}},
	}).Data(t)
	require.Equal(t, []any{"n", "tests", []any{map[string]any{"text": "SQL", "say": "sequel", "language": "de"}}},
		[]any{changed["name"], changed["description"], changed["pronunciations"]})
	apitest.RequireError(t, s.CallAs(t, "updateVoice", which, s.Acme.New, map[string]any{
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
		require.Equal(t, map[string]any{"personas": 1.0, "duos": 0.0}, s.CallAs(t, "getVoice", v, s.Acme.New, nil).Data(t)["usedBy"])
	}
	e := apitest.RequireError(t, s.CallAs(t, "deleteVoice", which, s.Acme.New, nil), http.StatusConflict, "conflict", "path.id")
	require.Equal(t, "in_use", e["details"].(map[string]any)["reason"])
	use()
	require.Equal(t, http.StatusOK, s.CallAs(t, "deleteVoice", which, s.Acme.New, nil).Status)
	require.Equal(t, "voice.deleted", s.Last(t)["action"])
}
