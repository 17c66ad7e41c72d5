package sessions_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// set sets a switch of the organization.
func set(t *testing.T, w *apitest.World, key, value string) {
	t.Helper()
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO setting (org_id, scope_kind, scope_id, key, value, changed_at, changed_by)
			VALUES ($1, 'organization', '', $2, $3, now(), 'test')`, tx.Org, key, value)
		return err
	})
}

func TestRecordIsWhatTheSettingsAllow(t *testing.T) {
	w := apitest.NewWorld(t)
	no := w.Mint(t, w.Acme.New, map[string]any{"record": true})
	details := apitest.RequireError(t, no, http.StatusConflict, "conflict", "body.record")["details"].(map[string]any)
	require.Equal(t, "switched_off", details["reason"])
	require.Equal(t, "privacy.recordings", details["setting"])

	set(t, w, "privacy.recordings", `true`)
	require.Equal(t, "words_redacted", apitest.Reason(t, w.Mint(t, w.Acme.New, map[string]any{"record": true}), "body.record"))
	made := w.CallAs(t, "createPersona", "", w.Acme.New, map[string]any{
		"name": "Amara", "avatarId": id.NamedAvatar("amara").String(), "voiceId": id.NamedVoice("nora").String(),
	})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	plain := made.Data(t)["id"]
	yes := w.Mint(t, w.Acme.New, map[string]any{"record": true, "personaId": plain})
	require.Equal(t, http.StatusCreated, yes.Status, "%s", yes.Raw)
	require.Equal(t, "nothing_heard", apitest.Reason(t, w.Mint(t, w.Acme.New, map[string]any{"record": true, "personaId": plain, "channel": "chat"}), "body.record"))

	set(t, w, "privacy.zero_data_retention", `true`)
	require.Equal(t, "zero_retention", apitest.Reason(t, w.Mint(t, w.Acme.New, map[string]any{"record": true}), "body.record"))
}

func TestRecordingIsReadByLinks(t *testing.T) {
	w := apitest.NewWorld(t)
	name := w.Minted(t, nil)
	which, err := id.ParseSession(name)
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, w.CallAs(t, "getRecording", name, w.Acme.New, nil).Status)
	require.Equal(t, false, w.Read(t, name)["recordingAvailable"])

	w.Record(t, w.Acme, which)
	require.Equal(t, true, w.Read(t, name)["recordingAvailable"])
	got := w.CallAs(t, "getRecording", name, w.Acme.New, nil).Data(t)
	require.Equal(t, "audio/ogg", got["contentType"])
	require.EqualValues(t, 1000, got["durationMs"])
	require.True(t, strings.HasSuffix(got["url"].(string), "/sound"), got["url"])
	require.NotContains(t, got["pageUrl"].(string)[:strings.Index(got["pageUrl"].(string), "#")], strings.Split(got["url"].(string), "/")[5])

	kept := func() any { return w.CallAs(t, "getUsage", "", w.Acme.New, nil).Data(t)["recordings"] }
	require.EqualValues(t, 1, kept().(map[string]any)["count"])
	require.EqualValues(t, got["bytes"], kept().(map[string]any)["bytes"])

	less := w.Scoped(contract.V20261001, scope.SessionsRead)
	require.Equal(t, http.StatusForbidden, w.CallAs(t, "getRecording", name, less, nil).Status)
	require.Equal(t, http.StatusNotFound, w.CallAs(t, "getRecording", name, w.Globex.New, nil).Status)

	w.SetSession(t, name, `withheld = 'learner_conversation'`)
	apitest.RequireError(t, w.CallAs(t, "getRecording", name, w.Acme.New, nil), http.StatusForbidden, "learner_conversation", "path.id")
	w.SetSession(t, name, `withheld = NULL, kind = 'screening'`)
	apitest.RequireError(t, w.CallAs(t, "getRecording", name, w.Acme.New, nil), http.StatusForbidden, "candidate_interview", "path.id")
	w.SetSession(t, name, `kind = 'conversation'`)

	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteTranscript", name, w.Acme.New, nil).Status)
	require.Equal(t, http.StatusNotFound, w.CallAs(t, "getRecording", name, w.Acme.New, nil).Status)
	require.Equal(t, false, w.Read(t, name)["recordingAvailable"])
	require.Equal(t, map[string]any{"count": 0.0, "bytes": 0.0}, kept())
}

// A recording goes with the consent that it rests on.
func TestRecordingIsDeletedWithItsConsent(t *testing.T) {
	w := apitest.NewWorld(t)
	name := w.Minted(t, nil)
	which, err := id.ParseSession(name)
	require.NoError(t, err)
	w.Record(t, w.Acme, which)
	owner := w.Scoped(contract.V20261001, scope.ConsentsRead, scope.ConsentsWrite)
	listed := w.Call(t, w.Operation(t, "listConsents"), apitest.Request{Path: "/consents?kind=recording", Key: owner})
	require.Equal(t, http.StatusOK, listed.Status, "%s", listed.Raw)
	all := listed.JSON(t)["data"].([]any)
	require.Len(t, all, 1)
	consent := all[0].(map[string]any)
	require.Equal(t, name, apitest.At(consent, "subject", "sessionId"))
	require.Equal(t, "session", consent["method"])
	require.Equal(t, http.StatusOK, w.CallAs(t, "withdrawConsent", consent["id"].(string), owner, nil).Status)
	require.Equal(t, http.StatusNotFound, w.CallAs(t, "getRecording", name, w.Acme.New, nil).Status)
}

// A hold keeps a recording whose consent is withdrawn, but nobody hears it, and it goes with the hold.
func TestWithdrawnRecordingIsHeldAndNotHeard(t *testing.T) {
	w := apitest.NewWorld(t)
	name := w.Minted(t, nil)
	which, err := id.ParseSession(name)
	require.NoError(t, err)
	w.Record(t, w.Acme, which)
	w.SetSession(t, name, `on_hold = true`)
	kept := func() (n int) {
		w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
			return tx.QueryRow(ctx, `SELECT count(*) FROM recording WHERE org_id = $1 AND session_id = $2`, tx.Org, which).Scan(&n)
		})
		return n
	}
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error { return session.Unrecord(ctx, tx, which, time.Now()) })
	require.Equal(t, http.StatusNotFound, w.CallAs(t, "getRecording", name, w.Acme.New, nil).Status)
	require.Equal(t, false, w.Read(t, name)["recordingAvailable"])
	require.Equal(t, 1, kept())
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error { return session.Hold(ctx, tx, which, false) })
	require.Zero(t, kept())
}
