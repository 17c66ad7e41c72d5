package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/memory"
)

// remember has a persona remember a person, as after a session.
func (w *world) remember(t testing.TB, org *apitest.Org, persona string, person id.Person) {
	t.Helper()
	p, err := id.ParsePersona(persona)
	require.NoError(t, err)
	now := time.Now().UTC().Truncate(time.Microsecond)
	s := id.NewSession()
	items := []memory.Item{{Key: "name", Text: "Kim", Session: s, At: now}, {Text: "I live in Bern.", Session: s, At: now}}
	require.NoError(t, w.Tenants.InTx(context.Background(), org.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO memory (org_id, persona_id, person_id, id, items, session_id, written_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			org.ID, p, person, id.NewMemory(), items, s, now, now.Add(memory.Kept))
		return err
	}))
}

func TestMemories(t *testing.T) {
	w := newWorld(t)
	own := w.make(t, w.Acme, "createPersona")["id"].(string)
	first, second := id.NewPerson(), id.NewPerson()
	w.remember(t, w.Acme, own, first)
	w.remember(t, w.Acme, own, second)
	path := "/personas/" + own + "/memories"
	all := w.Get(w.Acme.New, path).JSON(t)["data"].([]any)
	require.Equal(t, []any{second.String(), first.String()}, []any{at(all[0], "personId"), at(all[1], "personId")}, "the newest person first")
	items := at(all[0], "items").([]any)
	require.Equal(t, []any{"name", "Kim", nil, "I live in Bern."}, []any{at(items[0], "key"), at(items[0], "text"), at(items[1], "key"), at(items[1], "text")})
	require.Len(t, w.Get(w.Acme.New, path+"?personId="+first.Bare()).JSON(t)["data"], 1)
	requireError(t, w.Get(w.Acme.New, path+"?personId=nobody"), http.StatusBadRequest, "invalid_request", "query.personId")

	for s, other := range map[scope.Scope]scope.Scope{scope.PeopleRead: scope.PersonasRead, scope.PersonasRead: scope.PeopleRead} {
		key := w.Key(w.Acme, scope.Grant{Contract: contract.Latest, Scopes: []scope.Scope{s, scope.PeopleWrite}})
		require.Contains(t, requireError(t, w.Get(key, path), http.StatusForbidden, "forbidden", "")["message"], string(other))
		forget := w.Do(apitest.Request{Method: http.MethodDelete, Path: path, Key: key})
		require.Contains(t, requireError(t, forget, http.StatusForbidden, "forbidden", "")["message"], string(scope.PersonasWrite))
	}

	forget := func(query string) map[string]any {
		return w.call(t, w.operation(t, "deleteMemories"), apitest.Request{Path: path + query, Key: w.Acme.New}).Data(t)
	}
	lost := w.call(t, w.operation(t, "deleteMemories"), apitest.Request{Path: path + "?personId=", Key: w.Acme.New})
	requireError(t, lost, http.StatusBadRequest, "invalid_request", "query.personId")
	require.Len(t, w.Get(w.Acme.New, path).JSON(t)["data"], 2, "an id that was lost is not everybody")
	require.Equal(t, map[string]any{"deleted": true, "id": own, "count": 0.0}, forget("?personId="+id.NewPerson().String()))
	require.Equal(t, map[string]any{"deleted": true, "id": own, "count": 1.0}, forget("?personId="+first.String()))
	require.Equal(t, []any{"memory.deleted", own}, []any{w.last(t)["action"], w.last(t)["targetId"]})
	require.Equal(t, map[string]any{"deleted": true, "id": own, "count": 1.0}, forget(""))
	require.Empty(t, w.Get(w.Acme.New, path).JSON(t)["data"])
}
