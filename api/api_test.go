package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/speech/espeak/espeaktest"
	"visavis.dev/pkg/store/database/databasetest"
)

func TestMain(m *testing.M) { databasetest.Main(espeaktest.Tests{M: m}) }

func TestAvatarLifecycle(t *testing.T) {
	a := apitest.New(t)
	created := a.Do(apitest.Request{Method: http.MethodPost, Path: "/avatars", Key: a.Acme.New, Body: apitest.AvatarInput()})
	require.Equal(t, http.StatusCreated, created.Status, "%s", created.Raw)
	path := "/avatars/" + created.Data(t)["id"].(string)

	require.Equal(t, http.StatusOK, a.Get(a.Acme.Old, path).Status)
	require.Equal(t, http.StatusNotFound, a.Get(a.Globex.New, path).Status)
	require.Equal(t, http.StatusNotFound, a.Get("", path+"/preview").Status)
	require.Equal(t, http.StatusNotFound, a.Get(a.Globex.New, path+"/preview").Status)
	preview := a.Get(a.Acme.New, path+"/preview")
	require.Equal(t, http.StatusOK, preview.Status)
	require.Equal(t, "image/png", preview.Header.Get("Content-Type"))

	remove := apitest.Request{Method: http.MethodDelete, Path: path, Key: a.Acme.New}
	require.Equal(t, http.StatusOK, a.Do(remove).Status)
	require.Equal(t, http.StatusGone, a.Get(a.Acme.New, path).Status)
	require.Equal(t, http.StatusGone, a.Do(remove).Status)
}
