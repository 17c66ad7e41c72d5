package egress

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A server can end its body properly when it sees the connection close, so an end
// after the time is over must not count as one.
func TestABodyThatEndsTooLateIsNotWhole(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	expired, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	for name, tc := range map[string]struct {
		caller, request context.Context
		want            error
	}{
		"in time":   {t.Context(), t.Context(), nil},
		"timeout":   {t.Context(), expired, ErrTimeout},
		"deadline":  {expired, expired, ErrTimeout},
		"cancelled": {cancelled, cancelled, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			b := &body{
				ReadCloser: io.NopCloser(strings.NewReader("part")),
				caller:     tc.caller, request: tc.request, cancel: func() {},
			}
			content, err := io.ReadAll(b)
			require.ErrorIs(t, err, tc.want)
			require.Equal(t, "part", string(content))
			require.NoError(t, b.Close())
		})
	}
}
