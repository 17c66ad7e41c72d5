package setup_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
)

// accepted is the job of a good answer.
func accepted(t testing.TB, w *apitest.World, operation, on string, body any) map[string]any {
	t.Helper()
	return w.Require(t, w.Acme, operation, on, http.StatusAccepted, body)
}

// listed is the first page of a list.
func listed(t testing.TB, w *apitest.World, org *apitest.Org, operation string) []any {
	t.Helper()
	answer := w.CallAs(t, operation, "", org.New, nil)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	return answer.JSON(t)["data"].([]any)
}
