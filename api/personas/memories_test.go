package personas_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
)

func TestMemories(t *testing.T) {
	w := apitest.NewWorld(t)
	own := w.Make(t, w.Acme, "createPersona")["id"].(string)
	first, second := id.NewPerson(), id.NewPerson()
	w.Remember(t, w.Acme, own, first)
	w.Remember(t, w.Acme, own, second)
	path := "/personas/" + own + "/memories"
	all := w.Get(w.Acme.New, path).JSON(t)["data"].([]any)
	require.Equal(t, []any{second.String(), first.String()}, []any{apitest.At(all[0], "personId"), apitest.At(all[1], "personId")}, "the newest person first")
	items := apitest.At(all[0], "items").([]any)
	require.Equal(t, []any{"name", "Kim", nil, "I live in Bern."}, []any{apitest.At(items[0], "key"), apitest.At(items[0], "text"), apitest.At(items[1], "key"), apitest.At(items[1], "text")})
	require.Len(t, w.Get(w.Acme.New, path+"?personId="+first.Bare()).JSON(t)["data"], 1)
	apitest.RequireError(t, w.Get(w.Acme.New, path+"?personId=nobody"), http.StatusBadRequest, "invalid_request", "query.personId")

	for s, other := range map[scope.Scope]scope.Scope{scope.PeopleRead: scope.PersonasRead, scope.PersonasRead: scope.PeopleRead} {
		key := w.Key(w.Acme, scope.Grant{Contract: contract.Latest, Scopes: []scope.Scope{s, scope.PeopleWrite}})
		require.Contains(t, apitest.RequireError(t, w.Get(key, path), http.StatusForbidden, "forbidden", "")["message"], string(other))
		forget := w.Do(apitest.Request{Method: http.MethodDelete, Path: path, Key: key})
		require.Contains(t, apitest.RequireError(t, forget, http.StatusForbidden, "forbidden", "")["message"], string(scope.PersonasWrite))
	}

	forget := func(query string) map[string]any {
		return w.Call(t, w.Operation(t, "deleteMemories"), apitest.Request{Path: path + query, Key: w.Acme.New}).Data(t)
	}
	lost := w.Call(t, w.Operation(t, "deleteMemories"), apitest.Request{Path: path + "?personId=", Key: w.Acme.New})
	apitest.RequireError(t, lost, http.StatusBadRequest, "invalid_request", "query.personId")
	require.Len(t, w.Get(w.Acme.New, path).JSON(t)["data"], 2, "an id that was lost is not everybody")
	require.Equal(t, map[string]any{"deleted": true, "id": own, "count": 0.0}, forget("?personId="+id.NewPerson().String()))
	require.Equal(t, map[string]any{"deleted": true, "id": own, "count": 1.0}, forget("?personId="+first.String()))
	require.Equal(t, []any{"memory.deleted", own}, []any{w.Last(t)["action"], w.Last(t)["targetId"]})
	require.Equal(t, map[string]any{"deleted": true, "id": own, "count": 1.0}, forget(""))
	require.Empty(t, w.Get(w.Acme.New, path).JSON(t)["data"])
}
