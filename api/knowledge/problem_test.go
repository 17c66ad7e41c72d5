package knowledge

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/knowledge"
)

func TestSearchesThatAreRefused(t *testing.T) {
	t.Parallel()
	busy := problem.From(asSearchProblem(fmt.Errorf("pack: %w", knowledge.ErrBusy)))
	require.Equal(t, problem.Capacity, busy.Code)
	require.Positive(t, busy.RetryAfter)
	full := problem.From(asSearchProblem(fmt.Errorf("pack: %w", knowledge.ErrTooLarge)))
	require.Equal(t, problem.Conflict, full.Code)
	require.Equal(t, []any{"pack_full", "path.id"}, []any{full.Details["reason"], full.Param})
}
