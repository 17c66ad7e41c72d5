package sessions_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
)

// A duo begins no conversation without the consent of both its voices.
func TestADuoWithoutAVoiceIsNotMinted(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	voice := apitest.Kinds["/voices/{id}"](t, w, w.Acme)
	exec(t, w, `UPDATE voice SET status = 'ready', languages = '{en,de}' WHERE org_id = $1`)
	body := apitest.DuoBody(1)
	body["hosts"].([]any)[1].(map[string]any)["voiceId"] = voice
	duo := w.CallAs(t, "createDuo", "", w.Acme.New, body).Data(t)
	require.Equal(t, http.StatusOK, w.CallAs(t, "goLiveDuo", duo["id"].(string), w.Acme.New, nil).Status)
	of := map[string]any{"personaId": duo["personaId"]}
	require.Equal(t, http.StatusCreated, w.Mint(t, w.Acme.New, of).Status)

	exec(t, w, `UPDATE voice SET status = 'training' WHERE org_id = $1`)
	require.Equal(t, "voice_not_ready", apitest.Reason(t, w.Mint(t, w.Acme.New, of), ""))

	consent := w.CallAs(t, "getVoice", voice, w.Acme.New, nil).Data(t)["consentId"].(string)
	require.Equal(t, http.StatusOK, w.CallAs(t, "withdrawConsent", consent, w.Acme.New, nil).Status)
	require.Equal(t, "consent_withdrawn", apitest.Reason(t, w.Mint(t, w.Acme.New, of), ""))
}
