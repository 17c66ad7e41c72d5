package avatars_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/avatar/portrait"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
)

func TestConsentComesFirst(t *testing.T) {
	server := apitest.ServePictures(t)
	w := apitest.NewWorld(t, server.Trusted)
	for name, test := range map[string]struct {
		change      func(avatar, consent map[string]any)
		code, param string
	}{
		"missing":       {func(a, _ map[string]any) { delete(a, "consent") }, "consent_required", "body.consent"},
		"null":          {func(a, _ map[string]any) { a["consent"] = nil }, "consent_required", "body.consent"},
		"missing, bad":  {func(a, _ map[string]any) { delete(a, "consent"); a["name"] = 1 }, "consent_required", "body.consent"},
		"of a string":   {func(a, _ map[string]any) { a["consent"] = "yes" }, "consent_invalid", "body.consent"},
		"no statement":  {func(_, c map[string]any) { delete(c, "statement") }, "consent_invalid", "body.consent.statement"},
		"bad statement": {func(_, c map[string]any) { c["statement"] = "whatever" }, "consent_invalid", "body.consent.statement"},
		"bad email":     {func(_, c map[string]any) { c["personEmail"] = "kim" }, "consent_invalid", "body.consent.personEmail"},
		"future":        {func(_, c map[string]any) { c["signedAt"] = "2999-01-01T00:00:00Z" }, "consent_invalid", "body.consent.signedAt"},
		"before time":   {func(_, c map[string]any) { c["signedAt"] = "0000-01-01T00:00:00+23:59" }, "consent_invalid", "body.consent.signedAt"},
		"outdated":      {func(_, c map[string]any) { c["policyVersion"] = "2025-01-01" }, "consent_outdated", "body.consent.policyVersion"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, key := range []apikey.Secret{w.Acme.New, w.Acme.Old} {
				answer := w.Create(t, key, func(a, c map[string]any) {
					a["picture"] = server.URL + "/portrait"
					test.change(a, c)
				})
				e := apitest.RequireError(t, answer, http.StatusBadRequest, test.code, test.param)
				if test.code == "consent_outdated" {
					require.Equal(t, map[string]any{"currentPolicyVersion": "2026-07-01"}, e["details"])
				}
			}
		})
	}
	require.Zero(t, server.Requests.Load(), "the picture was fetched")
	fetched := w.Create(t, w.Acme.New, func(a, _ map[string]any) { a["picture"] = server.URL + "/portrait" })
	require.Equal(t, http.StatusCreated, fetched.Status, "with consent it is fetched: %s", fetched.Raw)
	require.EqualValues(t, 1, server.Requests.Load())
	policy := w.Get(w.Acme.Old, "/avatars/consent-policy").Data(t)
	require.Equal(t, "2026-07-01", policy["policyVersion"])
	require.Len(t, policy["statements"], 4)
}

func TestPictures(t *testing.T) {
	server := apitest.ServePictures(t)
	w := apitest.NewWorld(t, server.Trusted)
	big := base64.StdEncoding.EncodeToString(make([]byte, 6<<20+1))
	for name, test := range map[string]struct {
		picture string
		status  int
		code    string
	}{
		"too large":        {"data:image/png;base64," + big, http.StatusRequestEntityTooLarge, "too_large"},
		"too small":        {apitest.Picture(511), http.StatusBadRequest, "invalid_request"},
		"no picture":       {"data:image/png;base64,aGVsbG8=", http.StatusUnsupportedMediaType, "unsupported_media_type"},
		"broken":           {"data:image/png;base64,iVBORw0KGgo=", http.StatusBadRequest, "invalid_request"},
		"not base64":       {"data:image/png,hello", http.StatusBadRequest, "invalid_request"},
		"http":             {"http://example.com/a.png", http.StatusBadRequest, "invalid_request"},
		"a private host":   {"https://10.0.0.1/a.png", http.StatusBadRequest, "invalid_request"},
		"metadata":         {"https://169.254.169.254/latest", http.StatusBadRequest, "invalid_request"},
		"a password":       {"https://user:pass@example.com/a.png", http.StatusBadRequest, "invalid_request"},
		"redirect":         {server.URL + "/redirect", http.StatusBadRequest, "invalid_request"},
		"missing":          {server.URL + "/nothing", http.StatusBadRequest, "invalid_request"},
		"fetched, a text":  {server.URL + "/text", http.StatusUnsupportedMediaType, "unsupported_media_type"},
		"fetched, large":   {server.URL + "/large", http.StatusRequestEntityTooLarge, "too_large"},
		"fetched, no TLS":  {strings.Replace(server.Plain.URL, "http://", "https://", 1), http.StatusBadGateway, "upstream_error"},
		"nobody listening": {"https://127.0.0.1:1/a.png", http.StatusBadGateway, "upstream_error"},
	} {
		t.Run(name, func(t *testing.T) {
			for key, code := range map[apikey.Secret]string{w.Acme.New: test.code, w.Acme.Old: strings.Replace(test.code, "too_large", "invalid_request", 1)} {
				apitest.RequireError(t, w.Create(t, key, func(a, _ map[string]any) { a["picture"] = test.picture }), test.status, code, "body.picture")
				answer := w.Create(t, key, func(_, c map[string]any) { c["evidence"] = test.picture })
				if name != "too small" && name != "broken" { // evidence is kept as it is
					apitest.RequireError(t, answer, test.status, code, "body.consent.evidence")
				}
			}
		})
	}
	require.Zero(t, server.Redirected.Load(), "the redirect was followed")
	found := w.Create(t, w.Acme.New, func(a, _ map[string]any) { a["picture"] = server.URL + "/portrait" })
	require.Equal(t, http.StatusCreated, found.Status, "%s", found.Raw)
	preview := w.CallAs(t, "getAvatarPreview", found.Data(t)["id"].(string), w.Acme.Old, nil)
	require.Equal(t, "image/png", preview.Header.Get("Content-Type"))
}

func TestDeletingAvatars(t *testing.T) {
	w := apitest.NewWorld(t)
	face := w.Get(w.Acme.New, "/avatars?limit=1").JSON(t)["data"].([]any)[0].(map[string]any)["id"].(string)
	for _, operation := range []string{"deleteAvatar", "updateAvatar", "withdrawAvatarConsent"} {
		e := apitest.RequireError(t, w.CallAs(t, operation, face, w.Acme.New, w.Body(t, w.Operation(t, operation))), http.StatusConflict, "conflict", "path.id")
		require.Equal(t, "library", e["details"].(map[string]any)["reason"])
	}

	own := w.Make(t, w.Acme, "createAvatar")["id"].(string)
	avatar, err := id.ParseAvatar(own)
	require.NoError(t, err)
	wear := func(sql string) {
		require.NoError(t, w.Tenants.InTx(context.Background(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := tx.Exec(ctx, sql, w.Acme.ID, avatar, uuid.UUID{1})
			return err
		}))
	}
	wear(`INSERT INTO avatar_use (org_id, avatar_id, wearer_kind, wearer_id) VALUES ($1, $2, 'persona', $3)`)
	require.Equal(t, map[string]any{"personas": 1.0, "duos": 0.0}, w.CallAs(t, "getAvatar", own, w.Acme.New, nil).Data(t)["usedBy"])
	e := apitest.RequireError(t, w.CallAs(t, "deleteAvatar", own, w.Acme.New, nil), http.StatusConflict, "conflict", "path.id")
	require.Equal(t, "in_use", e["details"].(map[string]any)["reason"])
	require.Equal(t, http.StatusOK, w.CallAs(t, "getAvatar", own, w.Acme.New, nil).Status)

	wear(`DELETE FROM avatar_use WHERE org_id = $1 AND avatar_id = $2 AND wearer_id = $3`)
	require.Equal(t, map[string]any{"deleted": true, "id": own}, w.CallAs(t, "deleteAvatar", own, w.Acme.New, nil).Data(t))
	for _, operation := range []string{"getAvatar", "deleteAvatar", "updateAvatar", "withdrawAvatarConsent"} {
		answer := w.CallAs(t, operation, own, w.Acme.New, w.Body(t, w.Operation(t, operation)))
		apitest.RequireError(t, answer, http.StatusGone, "gone", "path.id")
		apitest.RequireError(t, w.CallAs(t, operation, own, w.Globex.New, w.Body(t, w.Operation(t, operation))), http.StatusNotFound, "not_found", "path.id")
	}
	apitest.RequireError(t, w.CallAs(t, "getAvatarPreview", own, w.Acme.New, nil), http.StatusNotFound, "not_found", "path.id")
	require.NotContains(t, string(w.Get(w.Acme.New, "/avatars?kind=custom").Raw), own)
	require.Equal(t, "avatar.deleted", w.Last(t)["action"])
}

func TestWithdrawingConsent(t *testing.T) {
	w := apitest.NewWorld(t)
	for _, operation := range []string{"withdrawConsent", "withdrawAvatarConsent"} {
		t.Run(operation, func(t *testing.T) {
			made := w.Make(t, w.Acme, "createAvatar")
			avatar, consent := made["id"].(string), made["consent"].(map[string]any)["id"].(string)
			on := map[string]string{"withdrawConsent": consent, "withdrawAvatarConsent": avatar}[operation]
			withdrawn := w.CallAs(t, operation, on, w.Acme.New, nil).Data(t)
			require.Equal(t, consent, withdrawn["id"])
			require.Equal(t, "withdrawn", withdrawn["state"])
			require.NotNil(t, withdrawn["withdrawnAt"])
			entry := w.Last(t)
			require.Equal(t, []any{"consent.withdrawn", consent}, []any{entry["action"], entry["targetId"]})

			face := w.CallAs(t, "getAvatar", avatar, w.Acme.New, nil).Data(t)
			require.Equal(t, "withdrawn", face["status"])
			require.Equal(t, "consent_withdrawn", face["statusReason"])
			require.Equal(t, "withdrawn", face["consent"].(map[string]any)["state"])
			require.Equal(t, withdrawn, w.CallAs(t, operation, on, w.Acme.New, nil).Data(t), "again changes nothing")
			require.Equal(t, entry, w.Last(t), "and is no news")
			require.Contains(t, string(w.Get(w.Acme.New, "/consents?state=withdrawn").Raw), consent)
			require.NotContains(t, string(w.Get(w.Acme.New, "/consents?state=given").Raw), consent)
		})
	}
}

func TestPreviews(t *testing.T) {
	w := apitest.NewWorld(t)
	face := w.Get(w.Acme.New, "/avatars?limit=1").JSON(t)["data"].([]any)[0].(map[string]any)["id"].(string)
	own := w.Make(t, w.Acme, "createAvatar")["id"].(string)
	o := w.Operation(t, "getAvatarPreview")
	for name, test := range map[string]struct {
		id  string
		key apikey.Secret
	}{"library, anybody": {face, ""}, "library, bad key": {face, "nonsense"}, "library, a key": {face, w.Globex.New}, "own": {own, w.Acme.New}} {
		t.Run(name, func(t *testing.T) {
			tags := map[string]bool{}
			for _, size := range []string{"", "?size=full", "?size=thumbnail"} {
				r := apitest.Request{Path: apitest.WithID(o, test.id) + size, Key: test.key}
				whole := w.Call(t, o, r)
				require.Equal(t, http.StatusOK, whole.Status, "%s", whole.Raw)
				require.Equal(t, "image/png", http.DetectContentType(whole.Raw))
				require.Equal(t, test.id == face, strings.HasPrefix(whole.Header.Get("Cache-Control"), "public"))
				tag := whole.Header.Get("ETag")
				require.Regexp(t, `^"[0-9A-Za-z]+"$`, tag)
				tags[tag] = true
				for match, status := range map[string]int{tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, "*": 304, `"x"`: 200} {
					r.Header = map[string]string{"If-None-Match": match}
					again := w.Call(t, o, r)
					require.Equal(t, status, again.Status, match)
					require.Equal(t, status == 304, len(again.Raw) == 0)
					require.Equal(t, tag, again.Header.Get("ETag"))
				}
			}
			require.Len(t, tags, 2, "one for each size")
		})
	}
	for name, key := range map[string]apikey.Secret{"anybody": "", "bad key": "nonsense", "another organization": w.Globex.New} {
		hidden := w.CallAs(t, "getAvatarPreview", own, key, nil)
		apitest.RequireError(t, hidden, http.StatusNotFound, "not_found", "path.id")
		require.Equal(t, hidden.Error(t), w.CallAs(t, "getAvatarPreview", id.NewAvatar().String(), key, nil).Error(t), name)
	}
}

// portraitOf is the picture of a library face as an address of data.
func portraitOf(t *testing.T) string {
	t.Helper()
	data, err := portrait.PNG(portrait.Library()[0].Look, 600)
	require.NoError(t, err)
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(data)
}

func TestLandmarks(t *testing.T) {
	w := apitest.NewWorld(t)
	given := w.Make(t, w.Acme, "createAvatar")
	require.Equal(t, "given", given["landmarksSource"])
	found := w.Create(t, w.Acme.New, func(a, _ map[string]any) {
		delete(a, "landmarks")
		a["picture"] = portraitOf(t)
	}).Data(t)
	require.Equal(t, "found", found["landmarksSource"])
	want := portrait.Library()[0].Look.Landmarks()
	require.InDelta(t, want.LeftEye[0], apitest.At(found, "landmarks", "leftEye").([]any)[0], 0.02)
	require.InDelta(t, want.MouthBottom[1], apitest.At(found, "landmarks", "mouthBottom").([]any)[1], 0.03)
	own := found["id"].(string)
	require.Equal(t, found["landmarks"], w.CallAs(t, "getAvatar", own, w.Acme.New, nil).Data(t)["landmarks"])
	require.Equal(t, found["landmarks"], w.CallAs(t, "getAvatarFace", own, w.Acme.New, nil).Data(t)["landmarks"])
	nobody := w.Create(t, w.Acme.New, func(a, _ map[string]any) { delete(a, "landmarks") }).Data(t)
	require.Equal(t, []any{nil, nil}, []any{nobody["landmarks"], nobody["landmarksSource"]})

	corrected := w.CallAs(t, "updateAvatar", own, w.Acme.New, map[string]any{"landmarks": given["landmarks"]}).Data(t)
	require.Equal(t, []any{given["landmarks"], "given"}, []any{corrected["landmarks"], corrected["landmarksSource"]})
	library := w.CallAs(t, "getAvatar", apitest.LibraryFace, w.Acme.New, nil).Data(t)
	require.Equal(t, "given", library["landmarksSource"])
}

func TestLandmarksThatAreNoFaces(t *testing.T) {
	w := apitest.NewWorld(t)
	own := w.Make(t, w.Acme, "createAvatar")["id"].(string)
	for point, to := range map[string][]any{
		"leftEye": {-0.1, 0.4}, "rightEye": {0.1, 0.4}, "mouthLeft": {1e300, 0.6}, "mouthRight": {0.2, 0.6},
		"mouthTop": {0.5, 0.2}, "mouthBottom": {0.5, 0.55}, "chin": {0.5, 0.6},
	} {
		bad := func(marks map[string]any) map[string]any {
			marks[point] = to
			return marks
		}
		made := w.Create(t, w.Acme.New, func(a, _ map[string]any) { a["landmarks"] = bad(a["landmarks"].(map[string]any)) })
		apitest.RequireError(t, made, http.StatusBadRequest, "invalid_request", "body.landmarks."+point)
		body := w.Body(t, w.Operation(t, "updateAvatar")).(map[string]any)
		changed := w.CallAs(t, "updateAvatar", own, w.Acme.New, map[string]any{"landmarks": bad(body["landmarks"].(map[string]any))})
		apitest.RequireError(t, changed, http.StatusBadRequest, "invalid_request", "body.landmarks."+point)
	}
}
