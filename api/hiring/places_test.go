package hiring_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/store/tenant"
)

// inviteFrom invites somebody who works from a place.
func inviteFrom(t *testing.T, w *apitest.World, role string, place any) apitest.Answer {
	t.Helper()
	w.Next()
	body := w.InvitesBody()
	body["candidates"].([]any)[0].(map[string]any)["location"] = place
	return w.CallAs(t, "createInvites", role, w.Acme.New, body)
}

// change changes rows of the organization beside the API; its id is the statement's first argument.
func change(t *testing.T, w *apitest.World, sql string, args ...any) {
	t.Helper()
	require.NoError(t, w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, sql, append([]any{tx.Org}, args...)...)
		return err
	}))
}

// Of a remote role the laws of where a candidate works from hold for them beside those of the role: in the notice, in
// its days, in until when a request is answered, and on record.
func TestTheLawsOfARemoteRoleFollowTheCandidate(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	text := func(k, en string) any {
		return map[string]any{"law": k, "version": "1", "text": map[string]any{"en": en, "de": en}}
	}
	role := w.Role(t, w.Acme, map[string]any{
		"location": map[string]any{"country": "GB", "remote": true},
		"notice": map[string]any{
			"text": map[string]any{"en": "An AI asks.", "de": "Eine KI fragt."},
			"laws": []any{text("nyc_ll144", "New York City's law."), text("il_aivia", "Illinois' law."), text("il_hra", "Illinois' other law.")},
		},
		"biasAudit": map[string]any{"date": time.Now().AddDate(0, -2, 0).Format(time.DateOnly), "auditor": "Example Audits", "url": "https://www.example.com/audit"},
	})
	arrive := func(place any) (who string, record map[string]any) {
		made := inviteFrom(t, w, role, place)
		require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
		which := w.Arrive(t, w.Acme, made.Data(t)["invites"].([]any)[0].(map[string]any))
		_, shown := recorded(t, w, which.String())
		return which.String(), shown
	}
	laws := func(record map[string]any) (found []any) {
		for _, n := range record["notices"].([]any) {
			found = append(found, apitest.At(n, "law"))
		}
		return found
	}
	_, here := arrive(nil)
	require.Empty(t, laws(here), "the role's own place asks for nothing")
	require.Empty(t, here["jurisdiction"])

	who, there := arrive(map[string]any{"city": "Brooklyn", "region": "NY", "country": "US", "timezone": "America/New_York"})
	require.Equal(t, []any{"nyc_ll144"}, laws(there))
	require.Equal(t, []any{"us_nyc"}, there["jurisdiction"])
	x := read(t, w, "getCandidate", who)
	require.Equal(t, "Brooklyn", apitest.At(x, "location", "city"))
	from, err := time.Parse(time.RFC3339, x["startsFrom"].(string))
	require.NoError(t, err)
	require.Greater(t, time.Until(from), 11*24*time.Hour, "ten business days lie between")

	// Who was told before the interview by a pod that knows of no place is told anew, and agrees anew.
	bronx := inviteFrom(t, w, role, map[string]any{"city": "Bronx", "region": "NY", "country": "US"}).Data(t)["invites"].([]any)[0].(map[string]any)
	w.Arrive(t, w.Acme, bronx)
	late := bronx["candidateId"].(string)
	which, err := id.ParseCandidate(late)
	require.NoError(t, err)
	change(t, w, `UPDATE candidate SET notice = jsonb_set(notice, '{laws}', '[]'), starts_from = now() WHERE org_id = $1 AND id = $2`, which)
	w.Arrive(t, w.Acme, bronx)
	_, again := recorded(t, w, late)
	require.Equal(t, []any{"nyc_ll144"}, laws(again))
	from, err = time.Parse(time.RFC3339, read(t, w, "getCandidate", late)["startsFrom"].(string))
	require.NoError(t, err)
	require.Greater(t, time.Until(from), 11*24*time.Hour, "the days count from then")
	var given, agreed int
	for _, e := range apitest.At(again, "record", "entries").([]any) {
		switch apitest.At(e, "action") {
		case "notice.given":
			given++
		case "consent.given":
			agreed++
		}
	}
	require.Equal(t, []int{2, 2}, []int{given, agreed})
	w.Arrive(t, w.Acme, bronx)
	require.Equal(t, from.Format(time.RFC3339Nano), read(t, w, "getCandidate", late)["startsFrom"], "once")

	made := inviteFrom(t, w, role, map[string]any{"region": "Illinois", "country": "US"})
	which = w.Arrive(t, w.Acme, made.Data(t)["invites"].([]any)[0].(map[string]any))
	_, illinois := recorded(t, w, which.String())
	require.Equal(t, []any{"il_aivia", "il_hra"}, laws(illinois))
	w.Ask(t, w.Acme, which, candidate.Erasing, "")

	for field, place := range map[string]any{
		"location":          map[string]any{"region": "CO", "country": "US"}, // of which the role has no text
		"location.region":   map[string]any{"country": "US"},
		"location.city":     map[string]any{"region": "NY", "country": "US"},
		"location.timezone": map[string]any{"country": "GB", "timezone": "Mars/Olympus"},
		"location.country":  map[string]any{"country": "UK"},
	} {
		refused := inviteFrom(t, w, role, place)
		apitest.RequireError(t, refused, http.StatusBadRequest, "invalid_request", "body.candidates[0]."+field)
	}
	// What some of them have to be told stays, until they were.
	waiting := inviteFrom(t, w, role, map[string]any{"city": "Bronx", "region": "NY", "country": "US"}).Data(t)["invites"].([]any)[0].(map[string]any)
	fewer := w.CallAs(t, "updateRole", role, w.Acme.New, map[string]any{"state": "paused", "notice": map[string]any{
		"text": map[string]any{"en": "An AI asks.", "de": "Eine KI fragt."}, "laws": []any{text("il_aivia", "Illinois' law."), text("il_hra", "Illinois' other law.")},
	}})
	apitest.RequireError(t, fewer, http.StatusBadRequest, "invalid_request", "body.notice.laws")
	w.Arrive(t, w.Acme, waiting)
	paused := w.CallAs(t, "updateRole", role, w.Acme.New, map[string]any{"location": map[string]any{"country": "GB"}})
	require.Equal(t, http.StatusOK, paused.Status, "%s", paused.Raw)
	nowhere := w.CallAs(t, "updateRole", role, w.Acme.New, map[string]any{"location": map[string]any{"country": "XX"}})
	apitest.RequireError(t, nowhere, http.StatusBadRequest, "invalid_request", "body.location.country")
	refused := inviteFrom(t, w, role, map[string]any{"country": "FR"})
	apitest.RequireError(t, refused, http.StatusBadRequest, "invalid_request", "body.candidates[0].location")
	require.Equal(t, []any{"nyc_ll144"}, laws(read(t, w, "getCandidateCompliance", who)), "what they were told stays")
}
