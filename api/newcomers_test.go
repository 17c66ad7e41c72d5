package api_test

import (
	"context"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/admission/admissiontest"
	"visavis.dev/pkg/visits/memory"
)

// What follows from people's places, where several groups meet.
func TestPlaces(t *testing.T) {
	w := apitest.NewWorld(t)
	for name, test := range map[string]func(*testing.T, *apitest.World){
		"newcomers":              testNewcomers,
		"a guardian takes back":  testGuardianTakesBack,
		"a guardian narrows it":  testGuardianNarrows,
		"a place is off":         testPlaceIsOff,
		"bounds of a place":      testBoundsOfAPlace,
		"a session is forgotten": testSessionIsForgotten,
	} {
		t.Run(name, func(t *testing.T) {
			own := w.Apart(t)
			own.Use(t, own.Acme)
			test(t, own)
		})
	}
}

// Whoever an embed token is made for is added, found again, and told of once.
func testNewcomers(t *testing.T, w *apitest.World) {
	p := w.OpenPortal(t, w.Acme).ID
	own := p.String()
	for _, operation := range []string{"setEmbedDoor", "setStaffDoor"} {
		w.At(t, w.Acme, operation, own, http.StatusOK)
	}
	class := admissiontest.Unit(t, w.Tenants, w.Acme.ID, p, id.Unit{}, true)
	kim := map[string]any{"externalId": "lms-1", "name": "Kim", "email": "kim@example.com", "unitId": class.String(), "role": "teacher"}
	embed := func(changes map[string]any) map[string]any {
		body := maps.Clone(kim)
		maps.Copy(body, changes)
		return body
	}
	first := w.CallAs(t, "createEmbedToken", own, w.Acme.New, kim)
	require.Equal(t, http.StatusCreated, first.Status, "%s", first.Raw)
	again := w.CallAs(t, "createEmbedToken", own, w.Acme.New, embed(map[string]any{"name": "Kimberly", "email": ""})).Data(t)
	require.Equal(t, []any{first.Data(t)["personId"], first.Data(t)["membershipId"]}, []any{again["personId"], again["membershipId"]})
	added := w.Told(t, "member.added")
	require.Len(t, added, 1)
	data := apitest.At(added[0].(map[string]any), "data").(map[string]any)
	require.Equal(t, []any{first.Data(t)["membershipId"], "teacher", class.String()}, []any{data["membershipId"], data["memberRole"], data["unitId"]})
	shown := w.CallAs(t, "getPerson", again["personId"].(string), w.Acme.New, nil).Data(t)
	require.Equal(t, []any{"Kim", "lms-1", "kim@example.com"}, []any{shown["name"], shown["externalId"], shown["email"]})
	in, err := w.Gate.ByEmbedToken(t.Context(), w.Acme.ID, p, again["token"].(string))
	require.NoError(t, err)
	require.Equal(t, "staff", in.Door)

	for _, c := range []struct {
		changes             map[string]any
		status              int
		code, param, reason string
	}{
		{map[string]any{"externalId": "lms-2", "email": "lee"}, http.StatusBadRequest, "invalid_request", "body.email", ""},
		{map[string]any{"externalId": "lms-2"}, http.StatusConflict, "conflict", "body.externalId", "external_id_taken"},
		{map[string]any{"externalId": "lms-2", "email": "", "unitId": id.NewUnit().String()}, http.StatusNotFound, "not_found", "body.unitId", ""},
		{map[string]any{"externalId": "lms-2", "email": "", "unitId": "x"}, http.StatusNotFound, "not_found", "body.unitId", ""},
	} {
		failed := apitest.RequireError(t, w.CallAs(t, "createEmbedToken", own, w.Acme.New, embed(c.changes)), c.status, c.code, c.param)
		if c.reason != "" {
			require.Equal(t, c.reason, apitest.At(failed, "details", "reason"))
		}
	}
	w.Limit(t, plan.Limits{plan.Members: new(int64(1))})
	full := apitest.RequireError(t, w.CallAs(t, "createEmbedToken", own, w.Acme.New, embed(map[string]any{"externalId": "lms-3", "email": ""})), http.StatusForbidden, "upgrade_required", "")
	require.Equal(t, "members", apitest.At(full, "details", "feature"))
	require.Len(t, w.Told(t, "member.added"), 1)
}

// talking is a conversation of the pupil that goes on, on a portal of their own.
func talking(t *testing.T, w *apitest.World, changes ...func(*portal.Portal)) (session, membership string, p portal.Portal) {
	t.Helper()
	p = w.OpenPortal(t, w.Acme, changes...)
	w.Enrol(t, w.Acme, p.ID)
	minted := w.On(t, map[string]any{"portalId": p.ID.String(), "personId": apitest.Pupil.String()})
	require.Equal(t, http.StatusCreated, minted.Status, "%s", minted.Raw)
	s := minted.Data(t)["session"].(map[string]any)
	which, err := id.ParseSession(s["id"].(string))
	require.NoError(t, err)
	w.Run(t, which)
	return s["id"].(string), s["membershipId"].(string), p
}

func testGuardianTakesBack(t *testing.T, w *apitest.World) {
	own, place, _ := talking(t, w)
	given := w.CallAs(t, "recordGuardianConsent", place, w.Acme.New, apitest.GuardianBody(1)).Data(t)
	require.Equal(t, "live", w.Read(t, own)["state"])
	require.Equal(t, http.StatusOK, w.CallAs(t, "withdrawConsent", given["id"].(string), w.Acme.New, nil).Status)
	over := w.Read(t, own)
	require.Equal(t, []any{"ended", "consent_withdrawn"}, []any{over["state"], over["endReason"]})
	require.Len(t, w.Told(t, "session.ended"), 1)
	require.Len(t, w.Told(t, "consent.recorded"), 2)
}

// A guardian may agree to one thing after another, and take each back: what is not agreed to any more
// ends, and nothing else does.
func testGuardianNarrows(t *testing.T, w *apitest.World) {
	own, place, p := talking(t, w)
	agree := func(to ...any) string {
		t.Helper()
		body := apitest.GuardianBody(1)
		body["scopes"] = to
		given := w.CallAs(t, "recordGuardianConsent", place, w.Acme.New, body)
		require.Equal(t, http.StatusCreated, given.Status)
		return given.Data(t)["id"].(string)
	}
	withdraw := func(k string) {
		t.Helper()
		require.Equal(t, http.StatusOK, w.CallAs(t, "withdrawConsent", k, w.Acme.New, nil).Status)
	}
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE portal_version SET definition = jsonb_set(definition, '{guardianConsentUnder}', '16') WHERE org_id = $1 AND portal_id = $2`, tx.Org, p.ID)
		if err == nil {
			_, err = tx.Exec(ctx, `UPDATE person SET age_band = '13_15' WHERE org_id = $1 AND id = $2`, tx.Org, apitest.Pupil)
		}
		return err
	})
	first := agree("conversation")
	agree("report")
	tape := agree("recording")
	require.Equal(t, "live", w.Read(t, own)["state"])
	withdraw(tape)
	require.Equal(t, "live", w.Read(t, own)["state"])
	second := agree("conversation")
	withdraw(first)
	require.Equal(t, "live", w.Read(t, own)["state"], "another consent is to it")
	withdraw(second)
	over := w.Read(t, own)
	require.Equal(t, []any{"ended", "consent_withdrawn"}, []any{over["state"], over["endReason"]})
	asked := map[string]any{"portalId": p.ID.String(), "personId": apitest.Pupil.String()}
	require.Equal(t, "guardian_consent_missing", apitest.Reason(t, w.On(t, asked), "body.personId"))
	agree("conversation")
	agree("recording")
	require.Equal(t, http.StatusCreated, w.On(t, asked).Status)
}

func testPlaceIsOff(t *testing.T, w *apitest.World) {
	own, place, p := talking(t, w)
	require.Equal(t, http.StatusOK, w.CallAs(t, "updateMembership", place, w.Acme.New, map[string]any{"enabled": false}).Status)
	over := w.Read(t, own)
	require.Equal(t, []any{"ended", "ended_by_staff"}, []any{over["state"], over["endReason"]})
	require.Equal(t, "membership_disabled", apitest.Reason(t, w.On(t, map[string]any{"portalId": p.ID.String(), "personId": apitest.Pupil.String()}), "body.personId"))
}

// The caps and the settings of the portal bound what a live session can be given, too.
func testBoundsOfAPlace(t *testing.T, w *apitest.World) {
	capped, _, _ := talking(t, w, func(p *portal.Portal) { p.Definition.Caps.MaxSessionS = new(int64(90)) })
	apitest.RequireError(t, w.CallAs(t, "updateSession", capped, w.Acme.New, map[string]any{"maxDurationS": 91}), http.StatusBadRequest, "invalid_request", "body.maxDurationS")
	own, _, p := talking(t, w)
	most := w.Read(t, own)["maxDurationS"].(float64)
	require.NoError(t, w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO setting (org_id, scope_kind, scope_id, key, value, changed_at, changed_by) VALUES ($1, 'portal', $2, $3, '120', now(), '')`,
			tx.Org, setting.Portal(p.ID).ID.String(), setting.MaxDurationS)
		return err
	}))
	require.Greater(t, most, 121.0)
	apitest.RequireError(t, w.CallAs(t, "updateSession", own, w.Acme.New, map[string]any{"maxDurationS": 121}), http.StatusBadRequest, "invalid_request", "body.maxDurationS")
	require.Equal(t, 120.0, w.CallAs(t, "updateSession", own, w.Acme.New, map[string]any{"maxDurationS": 120}).Data(t)["maxDurationS"])
}

// What a persona remembers from a session goes with its words.
func testSessionIsForgotten(t *testing.T, w *apitest.World) {
	own, _, p := talking(t, w)
	s, err := id.ParseSession(own)
	require.NoError(t, err)
	items := []memory.Item{{Text: "I live in Bern.", Session: s, At: time.Now()}}
	require.NoError(t, w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO memory (org_id, persona_id, person_id, id, items, session_id, written_at, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, now(), now() + INTERVAL '1 day')`, tx.Org, p.Persona, apitest.Pupil, id.NewMemory(), items, s)
		return err
	}))
	path := "/personas/" + p.Persona.String() + "/memories"
	require.Len(t, w.Get(w.Acme.New, path).JSON(t)["data"], 1)
	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteTranscript", own, w.Acme.New, nil).Status)
	require.Empty(t, w.Get(w.Acme.New, path).JSON(t)["data"])
}
