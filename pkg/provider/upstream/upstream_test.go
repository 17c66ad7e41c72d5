package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/provider/upstream"
)

func TestErrors(t *testing.T) {
	cause := errors.New("dial 10.0.0.1")
	err := fmt.Errorf("a call: %w", &upstream.Error{Code: upstream.Refused, Status: 401, Err: cause})
	require.ErrorIs(t, err, upstream.ErrRefused)
	require.ErrorIs(t, err, cause)
	require.NotErrorIs(t, err, upstream.ErrTimeout)
	require.Equal(t, upstream.Refused, upstream.CodeOf(err))
	require.Equal(t, 401, upstream.StatusOf(err))
	require.NotContains(t, err.Error(), "10.0.0.1", "causes are not shown")
	for _, none := range []error{nil, context.Canceled, cause} {
		require.Empty(t, upstream.CodeOf(none))
		require.Zero(t, upstream.StatusOf(none))
	}
}

func TestWhatFailuresAmountTo(t *testing.T) {
	for err, want := range map[error][2]upstream.Code{
		egress.ErrTimeout:                                 {upstream.Timeout, upstream.Timeout},
		context.DeadlineExceeded:                          {upstream.Timeout, upstream.Timeout},
		egress.ErrRedirect:                                {upstream.Rejected, upstream.Truncated},
		egress.ErrTooLarge:                                {upstream.Unavailable, upstream.Malformed},
		&egress.RefusedError{}:                            {upstream.AddressRefused, upstream.Truncated},
		&egress.InvalidURLError{}:                         {upstream.AddressRefused, upstream.Truncated},
		&egress.NetworkError{}:                            {upstream.Unavailable, upstream.Truncated},
		errors.New("something else"):                      {upstream.Unavailable, upstream.Truncated},
		fmt.Errorf("by the caller: %w", context.Canceled): {"", ""},
	} {
		require.Equal(t, want[0], upstream.CodeOf(upstream.FromRequest(err)), "%v", err)
		require.Equal(t, want[1], upstream.CodeOf(upstream.FromBody(err)), "%v", err)
	}
	require.NoError(t, upstream.FromRequest(nil))
	for status, want := range map[int]upstream.Code{200: "", 204: "", 304: upstream.Rejected, 400: upstream.Rejected, 401: upstream.Refused, 403: upstream.Refused, 404: upstream.Rejected, 408: upstream.Timeout, 429: upstream.RateLimited, 500: upstream.Unavailable, 529: upstream.Unavailable} {
		require.Equal(t, want, upstream.CodeOf(upstream.CheckStatus(&http.Response{StatusCode: status})), status)
	}
}

func TestSecretsAreTriedWhileTheyAreRefused(t *testing.T) {
	try := func(secrets []string, outcome map[string]error) (tried []string, err error) {
		err = upstream.WithSecrets(secrets, func(secret string) error {
			tried = append(tried, secret)
			return outcome[secret]
		})
		return tried, err
	}
	tried, err := try(nil, nil)
	require.NoError(t, err)
	require.Equal(t, []string{""}, tried)
	tried, err = try([]string{"a", "b", "c"}, map[string]error{"a": upstream.ErrRefused, "b": upstream.ErrTimeout})
	require.ErrorIs(t, err, upstream.ErrTimeout)
	require.Equal(t, []string{"a", "b"}, tried)
	_, err = try([]string{"a", "b"}, map[string]error{"a": upstream.ErrRefused, "b": upstream.ErrRefused})
	require.ErrorIs(t, err, upstream.ErrRefused)
}
