package api_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/openapi"
	"visavis.dev/api/openapi/comment"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
)

// The committed documents are what the declarations make of themselves.
func TestDocumentsAreCurrent(t *testing.T) {
	a := apitest.New(t)
	for _, v := range contract.Versions() {
		t.Run(string(v), func(t *testing.T) {
			committed, err := openapi.Document(v)
			require.NoError(t, err)
			made, err := a.Service.Document(v, comment.NewReader("..").Of)
			require.NoError(t, err)
			require.True(t, bytes.Equal(made, committed), "run make generate")
			served := a.Do(apitest.Request{Base: strings.TrimSuffix(a.URL, route.BasePath), Method: http.MethodGet, Path: "/openapi/" + route.DocumentName(v)})
			require.True(t, bytes.Equal(committed, served.Raw), "what is served is what is committed")
		})
	}
}
