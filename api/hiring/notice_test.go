package hiring_test

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/store/tenant"
)

// inNewYork is what a role has in New York City, where ten business days lie between the notice
// and the interview.
func inNewYork() map[string]any {
	told := map[string]any{"en": "A tool is used.", "de": "Ein Werkzeug wird benutzt."}
	return map[string]any{
		"location":  map[string]any{"city": "New York", "region": "NY", "country": "US", "timezone": "America/New_York"},
		"biasAudit": map[string]any{"date": time.Now().AddDate(0, -2, 0).Format(time.DateOnly), "auditor": "Example", "url": "https://www.example.com/"},
		"notice":    map[string]any{"text": told, "laws": []any{map[string]any{"law": "nyc_ll144", "version": "2", "text": told}}},
	}
}

// invited invites somebody to a role with a body that says no more than who they are.
func invited(t *testing.T, w *apitest.World, role string, more map[string]any) apitest.Answer {
	t.Helper()
	body := map[string]any{"candidates": []any{map[string]any{"name": "Kim", "email": "kim." + id.NewJob().Bare() + "@example.com"}}}
	maps.Copy(body, more)
	return w.CallAs(t, "createInvites", role, w.Acme.New, body)
}

// openedAt has somebody open an invite and agree at a moment, and answers them.
func openedAt(t *testing.T, w *apitest.World, role string, invite map[string]any, at time.Time) (c candidate.Candidate) {
	t.Helper()
	_, token, _ := strings.Cut(invite["url"].(string), "#invite=")
	on := portalOf(t, w, role)
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		found, err := candidate.Open(ctx, tx, on, candidate.Token(token), at)
		if err != nil {
			return err
		}
		c, err = candidate.Agree(ctx, tx, found.ID, at)
		return err
	})
	return c
}

// readyAt says whether somebody may be interviewed at a moment.
func readyAt(t *testing.T, w *apitest.World, c id.Candidate, at time.Time) error {
	t.Helper()
	return w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, _, err := screening.Ready(ctx, tx, c, at)
		return err
	})
}

func timeOf(t *testing.T, of map[string]any, field string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, of[field].(string))
	require.NoError(t, err)
	return at
}

// Whoever opens a link in its last hour still comes to their interview once the days of the notice
// are over, and not a second before.
func TestALinkLastsBeyondTheNotice(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, inNewYork())
	made := invited(t, w, role, nil)
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	invite := made.Data(t)["invites"].([]any)[0].(map[string]any)
	expires := timeOf(t, invite, "expiresAt")
	require.InDelta(t, 30*24, time.Until(expires).Hours(), 1)

	c := openedAt(t, w, role, invite, expires.Add(-time.Hour))
	require.Greater(t, *c.StartsFrom, expires, "or nothing is tried")
	longer := timeOf(t, read(t, w, "getInvite", invite["id"].(string)), "expiresAt")
	require.WithinDuration(t, c.StartsFrom.AddDate(0, 0, 7), longer, 2*time.Hour)
	_, err := candidate.Expire(t.Context(), w.Tenants, "shard-1", expires.Add(time.Minute))
	require.NoError(t, err)
	require.Empty(t, w.Told(t, "candidate.invite_expired"))
	require.ErrorContains(t, readyAt(t, w, c.ID, c.StartsFrom.Add(-time.Second)), candidate.ReasonTooEarly)
	require.NoError(t, readyAt(t, w, c.ID, *c.StartsFrom))
	require.NoError(t, readyAt(t, w, c.ID, longer.Add(-time.Minute)))
	require.ErrorContains(t, readyAt(t, w, c.ID, longer), candidate.ReasonInviteOver)
	require.Greater(t, timeOf(t, read(t, w, "getCandidate", c.ID.String()), "retentionUntil"), longer)
}

// No link is made that ends before an interview could be held by it, nor one to a role whose
// deadline does.
func TestALinkThatEndsTooSoonIsRefused(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, inNewYork())
	for _, days := range []int{1, 11} {
		refused := apitest.RequireError(t, invited(t, w, role, map[string]any{"expiresInDays": days}), http.StatusBadRequest, "invalid_request", "body.expiresInDays")
		require.Contains(t, refused["message"], "or more")
	}
	made := invited(t, w, role, map[string]any{"expiresInDays": 25})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	invite := made.Data(t)["invites"].([]any)[0].(map[string]any)
	again := w.CallAs(t, "resendInvite", invite["id"].(string), w.Acme.New, map[string]any{"expiresInDays": 1})
	apitest.RequireError(t, again, http.StatusBadRequest, "invalid_request", "body.expiresInDays")

	// A notice of ninety business days takes longer than a link usually lasts.
	long := inNewYork()
	long["notice"].(map[string]any)["leadDays"] = 90
	slow := invited(t, w, w.Role(t, w.Acme, long), nil)
	require.Equal(t, http.StatusCreated, slow.Status, "%s", slow.Raw)
	require.Greater(t, time.Until(timeOf(t, slow.Data(t)["invites"].([]any)[0].(map[string]any), "expiresAt")), 125*24*time.Hour)

	// In Boston nobody waits.
	require.Equal(t, http.StatusCreated, invited(t, w, w.Role(t, w.Acme, nil), map[string]any{"expiresInDays": 1}).Status)
}

// A deadline within the days of the notice keeps a role from opening and from inviting anybody; who
// was told before it comes to their interview.
func TestADeadlineAfterTheNotice(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	soon := inNewYork()
	soon["deadline"] = time.Now().AddDate(0, 0, 5).UTC().Format(time.RFC3339)
	body := w.RoleBody(t, w.Acme)
	maps.Copy(body, soon)
	role := w.CallAs(t, "createRole", "", w.Acme.New, body).Data(t)["id"].(string)
	refused := apitest.RequireError(t, w.CallAs(t, "updateRole", role, w.Acme.New, map[string]any{"state": "open"}), http.StatusUnprocessableEntity, "go_live_refused", "")
	require.Equal(t, "deadline", apitest.At(apitest.At(refused, "details", "problems").([]any)[0], "field"))
	deadline := time.Now().AddDate(0, 0, 40).UTC().Truncate(time.Second)
	opened := w.CallAs(t, "updateRole", role, w.Acme.New, map[string]any{"state": "open", "deadline": deadline.Format(time.RFC3339)})
	require.Equal(t, http.StatusOK, opened.Status, "%s", opened.Raw)

	made := invited(t, w, role, nil)
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Raw)
	c := openedAt(t, w, role, made.Data(t)["invites"].([]any)[0].(map[string]any), deadline.AddDate(0, 0, -11))
	require.Greater(t, *c.StartsFrom, deadline, "or nothing is tried")
	require.NoError(t, readyAt(t, w, c.ID, *c.StartsFrom))

	which, err := id.ParseRole(role)
	require.NoError(t, err)
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error { // as time goes by
		_, err := tx.Exec(ctx, `UPDATE hiring_role SET deadline = now() + INTERVAL '3 days' WHERE org_id = $1 AND id = $2`, tx.Org, which)
		return err
	})
	require.Equal(t, "deadline_too_near", apitest.Reason(t, invited(t, w, role, nil), "path.id"))
	require.Equal(t, http.StatusOK, w.CallAs(t, "updateRole", role, w.Acme.New, map[string]any{"title": "Another"}).Status, "what is under way can be changed")
}
