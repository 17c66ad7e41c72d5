package agents

import (
	"context"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// A fault is told as one, and ends nothing.
func TestAFaultIsTold(t *testing.T) {
	var logged error
	told := func(_ context.Context, err error) string {
		logged = err
		return "Something went wrong."
	}
	next := recovered(told)(func(context.Context, string, mcp.Request) (mcp.Result, error) { panic("a fault") })
	_, err := next(t.Context(), "tools/call", nil)
	require.EqualError(t, err, "Something went wrong.")
	require.ErrorContains(t, logged, "a fault")
	require.ErrorContains(t, logged, "tools/call")
}
