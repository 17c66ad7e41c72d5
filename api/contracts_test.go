package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/store/apikey"
)

// Every good answer reads as the document of its contract says; call holds it
// against that.
func TestAnswersAreAsDocumented(t *testing.T) {
	w := apitest.NewWorld(t)
	for v, key := range map[contract.Version]apikey.Secret{contract.V20260708: w.OldNamed, contract.V20261001: w.Acme.New} {
		t.Run(string(v), func(t *testing.T) {
			stock(t, w, w.Acme) // something to list, and to have an activity of
			w.Each(t, func(t *testing.T, o *route.Operation) {
				d := w.Documents[v]
				r := apitest.Request{Path: freshPath(t, w, o, w.Acme), Body: w.Body(t, o), Key: key}
				if o.Auth == route.Open { // no key says which contract
					r.Header = map[string]string{contract.Header: string(v)}
				}
				answer := w.Call(t, o, r)
				require.Contains(t, append([]int{d.Success(t, o)}, o.Also...), answer.Status, "%s", answer.Raw)
				require.Equal(t, string(v), answer.Header.Get(contract.Header))
				switch {
				case answer.Header.Get("Content-Type") != "application/json":
					require.NotEmpty(t, answer.Raw)
				case o.ID == "listConnectionUntold": // only a learning platform's has something, in the tests of the portal
				case d.IsList(o):
					require.NotEmpty(t, answer.JSON(t)["data"])
				default:
					require.NotEmpty(t, answer.Data(t))
				}
			})
		})
	}
}

// The answers that tests hold against the documents have something in them.
func TestAnswersHaveSubstance(t *testing.T) {
	w := apitest.NewWorld(t)
	usage := w.Get(w.Acme.New, "/usage").Data(t)
	require.Len(t, usage["byDay"], 1)
	require.Len(t, usage["byKind"], 1)
	require.Len(t, usage["byPersona"], 1)
	require.Equal(t, 1.5, usage["minutes"].(map[string]any)["used"])
	require.Equal(t, 98.5, usage["minutes"].(map[string]any)["left"])

	made := w.Make(t, w.Acme, "createAvatar")
	consent := w.Get(w.Acme.New, "/consents/"+made["consent"].(map[string]any)["id"].(string)).Data(t)
	require.Equal(t, made["id"], consent["subject"].(map[string]any)["avatarId"])
	evidence := w.Do(apitest.Request{
		Method: http.MethodGet, Key: w.Acme.New, Path: strings.TrimPrefix(consent["evidenceUrl"].(string), w.URL),
	})
	require.Equal(t, "%PDF-1.4\n", string(evidence.Raw))
	require.Equal(t, "attachment; filename=\"evidence\"", evidence.Header.Get("Content-Disposition"))
	require.Equal(t, float64(1), w.Get(w.Acme.Old, "/me").Data(t)["limits"].(map[string]any)["customAvatars"].(map[string]any)["used"])
}

func testVersions(t *testing.T, w *apitest.World) {
	w.Each(t, func(t *testing.T, o *route.Operation) {
		path, body := w.Path(t, o, w.Acme), w.Body(t, o)
		with := func(key apikey.Secret, version string) apitest.Answer {
			return w.Call(t, o, apitest.Request{Path: path, Body: body, Key: key, Header: map[string]string{contract.Header: version}})
		}
		for _, version := range []string{"2026-07-09", "latest", "", "2026-07-08, 2026-10-01", "2026-10-01\t2026-10-01", "é"} {
			for _, key := range []apikey.Secret{w.OldNamed, w.Acme.New} {
				answer := with(key, version)
				if o.Probe {
					require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
					continue
				}
				apitest.RequireError(t, answer, http.StatusBadRequest, "invalid_request", "header.Service-Version")
			}
		}
		if o.Auth == route.Open {
			for _, v := range contract.Versions() {
				require.Equal(t, string(v), with("", string(v)).Header.Get(contract.Header))
			}
			return
		}
		older := with(w.Acme.New, string(contract.V20260708))
		apitest.RequireError(t, older, http.StatusBadRequest, "invalid_request", "header.Service-Version")
		require.Equal(t, string(contract.V20261001), older.Header.Get(contract.Header), "the refusal speaks the key's own")

		own := w.Call(t, o, apitest.Request{Path: path + "?no", Body: body, Key: w.OldNamed})
		require.Equal(t, string(contract.V20260708), own.Header.Get(contract.Header), "a failure too")
		newer := w.Call(t, o, apitest.Request{
			Path: freshPath(t, w, o, w.Acme), Body: body, Key: w.OldNamed, Header: map[string]string{contract.Header: "2026-10-01"},
		})
		require.Less(t, newer.Status, 300, "%s", newer.Raw)
		require.Equal(t, string(contract.V20261001), newer.Header.Get(contract.Header))
	})
	// Asking for a newer contract does not move the key to it.
	require.Equal(t, "2026-07-08", w.Get(w.Acme.Old, "/me").Data(t)["key"].(map[string]any)["apiVersion"])
}

// A refusal of the plan has a form of its own in the older contract.
func TestPlanRefusal(t *testing.T) {
	w := apitest.NewWorld(t)
	none := int64(0)
	require.NoError(t, w.Directory.SetOverrides(context.Background(), w.Acme.ID, plan.Overrides{Limits: plan.Limits{plan.CustomAvatars: &none}}))
	o := w.Operation(t, "createAvatar")
	create := func(key apikey.Secret, version string) apitest.Answer {
		r := apitest.Request{Path: o.Path, Body: w.Body(t, o), Key: key}
		if version != "" {
			r.Header = map[string]string{contract.Header: version}
		}
		return w.Call(t, o, r)
	}
	for _, key := range []apikey.Secret{w.Acme.New, w.Acme.Old} {
		require.Eventually(t, func() bool { return create(key, "").Status == http.StatusForbidden }, 20*time.Second, 50*time.Millisecond)
	}
	for name, answer := range map[string]apitest.Answer{
		"new key": create(w.Acme.New, ""), "old key that asks": create(w.Acme.Old, "2026-10-01"),
	} {
		e := apitest.RequireError(t, answer, http.StatusForbidden, "upgrade_required", "")
		details := e["details"].(map[string]any)
		require.Equal(t, "customAvatars", details["feature"], name)
		require.Equal(t, float64(0), details["limit"], name)
		require.Equal(t, "starter", details["plan"], "the cheapest that allows more")
	}
	older := create(w.Acme.Old, "")
	body := older.JSON(t)
	require.NotEmpty(t, body["message"])
	delete(body, "message")
	require.Equal(t, map[string]any{"error": "upgrade_required", "feature": "customAvatars", "plan": "starter", "limit": float64(0)}, body)
	require.Less(t, w.Get(w.Acme.Old, "/avatars").Status, 300, "what is not creating goes on")
}

// No value of the version header brings the service down or an answer about.
func FuzzVersionHeader(f *testing.F) {
	a := apitest.New(f, apitest.Unlimited)
	for _, seed := range []string{"2026-07-08", "2026-10-01", "", " 2026-10-01", "2026-10-01,2026-07-08", "\x00", "é", "\xff", "9999-12-31", strings.Repeat("2", 10_000)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for key, pinned := range map[apikey.Secret]contract.Version{a.Acme.New: contract.V20261001, a.Acme.Old: contract.V20260708} {
			r := httptest.NewRequest(http.MethodGet, route.BasePath+"/languages", nil)
			r.Header.Set("Authorization", "Bearer "+string(key))
			r.Header[contract.Header] = []string{value}
			recorder := httptest.NewRecorder()
			a.Handler.ServeHTTP(recorder, r)
			status, spoken := http.StatusBadRequest, pinned
			if asked, ok := contract.Parse(value); ok && !asked.Before(pinned) {
				status, spoken = http.StatusOK, asked
			}
			require.Equal(t, status, recorder.Code, "%q", value)
			require.Equal(t, string(spoken), recorder.Header().Get(contract.Header))
		}
	})
}

// What the plan lacks is refused, and the cheapest that has it named.
func TestFeaturesOfThePlan(t *testing.T) {
	w := apitest.NewWorld(t)
	small := w.NewOrg("Small", "shard-1", "starter")
	terms := w.Plans.Terms("starter", plan.Overrides{})
	tested := 0
	for _, o := range w.Service.Operations() {
		if o.Feature == "" || terms.Has(o.Feature) {
			continue
		}
		e := apitest.RequireError(t, w.Call(t, o, apitest.Request{Path: o.Path, Key: small.New}), http.StatusForbidden, "upgrade_required", "")
		require.Equal(t, o.Feature, e["details"].(map[string]any)["feature"])
		require.Contains(t, []any{"team", "business"}, e["details"].(map[string]any)["plan"], o.ID)
		tested++
	}
	require.GreaterOrEqual(t, tested, 7)
}
