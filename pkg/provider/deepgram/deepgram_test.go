package deepgram_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/deepgram"
	"visavis.dev/pkg/provider/deepgram/deepgramtest"
	"visavis.dev/pkg/provider/upstream"
)

func client(s *deepgramtest.Server) deepgram.Client {
	return deepgram.Client{HTTP: s.Client(), BaseURL: s.URL, Model: "nova-3", Secrets: []string{"key"}}
}

func TestStream(t *testing.T) {
	ctx := context.Background()
	s := deepgramtest.Serve(t, "where is the garden")
	stream, err := client(s).Open(ctx, deepgram.Sound{SampleRate: 16000, Language: "en"})
	require.NoError(t, err)
	defer stream.Close()
	require.Equal(t, []string{"Token key"}, s.Keys())
	query := s.Queries()[0]
	for name, want := range map[string]string{
		"model": "nova-3", "language": "en", "encoding": "linear16", "sample_rate": "16000", "interim_results": "true", "mip_opt_out": "true",
	} {
		require.Equal(t, want, query.Get(name), name)
	}
	require.NoError(t, stream.KeepAlive(ctx))
	require.NoError(t, stream.Send(ctx, make([]byte, 16000)))
	r, err := stream.Read(ctx)
	require.NoError(t, err)
	require.Equal(t, deepgram.Result{Text: "where", Confidence: 0.98, End: 500 * time.Millisecond}, r)
	require.NoError(t, stream.Finalize(ctx))
	r, err = stream.Read(ctx)
	require.NoError(t, err)
	require.Equal(t, deepgram.Result{Text: "where is the garden", Confidence: 0.98, End: 500 * time.Millisecond, Final: true, Finalized: true}, r)
	require.Equal(t, []string{"KeepAlive", "Finalize"}, s.Controls())
	s.Break()
	_, err = stream.Read(ctx)
	require.Equal(t, upstream.Truncated, upstream.CodeOf(err), "%v", err)
}

func TestStreamsThatAreRefused(t *testing.T) {
	s := deepgramtest.Serve(t)
	for status, want := range map[int]upstream.Code{
		http.StatusUnauthorized: upstream.Refused, http.StatusTooManyRequests: upstream.RateLimited, http.StatusServiceUnavailable: upstream.Unavailable,
		http.StatusBadRequest: upstream.Rejected,
	} {
		s.Refuse(status)
		_, err := client(s).Open(context.Background(), deepgram.Sound{SampleRate: 16000})
		require.Equal(t, want, upstream.CodeOf(err), "%v", err)
	}
	s.Close()
	_, err := client(s).Open(context.Background(), deepgram.Sound{SampleRate: 16000})
	require.Equal(t, upstream.Unavailable, upstream.CodeOf(err), "%v", err)
}
