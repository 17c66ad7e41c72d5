package avatars_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
)

// Pages of every origin bring library faces to life; own faces are pictures, and nobody's
// business.
func TestLayersOfFaces(t *testing.T) {
	w := apitest.NewWorld(t)
	o := w.Operation(t, "getAvatarLayers")
	get := func(avatar, query string) apitest.Answer {
		return w.Call(t, o, apitest.Request{Path: apitest.WithID(o, avatar) + query, Header: map[string]string{"Origin": "https://anywhere.example"}})
	}
	amara := id.NamedAvatar("amara").String()
	sheet, described := get(amara, ""), get(amara, "?kind=json")
	require.Equal(t, "image/png", sheet.Header.Get("Content-Type"))
	require.Equal(t, "\x89PNG", string(sheet.Raw[:4]))
	var rig struct {
		Scale float64
		Parts map[string]any
	}
	require.NoError(t, json.Unmarshal(described.Raw, &rig))
	require.Positive(t, rig.Scale)
	require.Contains(t, rig.Parts, "body")
	for _, answer := range []apitest.Answer{sheet, described} {
		require.Equal(t, "*", answer.Header.Get("Access-Control-Allow-Origin"))
		require.Contains(t, answer.Header.Get("Cache-Control"), "public")
	}
	apitest.RequireError(t, get(amara, "?size=2048"), http.StatusBadRequest, "invalid_request", "query.size")
	apitest.RequireError(t, get(w.Make(t, w.Acme, "createAvatar")["id"].(string), ""), http.StatusNotFound, "not_found", "path.id")
}
