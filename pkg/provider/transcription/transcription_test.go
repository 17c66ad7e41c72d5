package transcription_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/provider/transcription"
	"visavis.dev/pkg/provider/transcription/transcriptiontest"
	"visavis.dev/pkg/provider/upstream"
)

func TestTranscribe(t *testing.T) {
	s := transcriptiontest.Serve(t)
	c := transcription.Client{HTTP: s.Client(), BaseURL: s.URL + "/v1/", Model: "whisper-1", Secrets: []string{"old", "new"}}
	s.Next(transcriptiontest.Answer{Status: http.StatusUnauthorized}, transcriptiontest.Answer{Text: " When do you open? "})
	text, err := c.Transcribe(context.Background(), []byte("RIFF"), "en")
	require.NoError(t, err)
	require.Equal(t, "When do you open?", text)
	require.Equal(t, []transcriptiontest.Recording{
		{Authorization: "Bearer old", Model: "whisper-1", Language: "en", WAV: []byte("RIFF")},
		{Authorization: "Bearer new", Model: "whisper-1", Language: "en", WAV: []byte("RIFF")},
	}, s.Got())
}

func TestFailures(t *testing.T) {
	s := transcriptiontest.Serve(t)
	c := transcription.Client{HTTP: s.Client(), BaseURL: s.URL + "/v1", Model: "m"}
	for want, a := range map[upstream.Code]transcriptiontest.Answer{
		upstream.RateLimited: {Status: http.StatusTooManyRequests, RetryAfter: "7"},
		upstream.Unavailable: {Status: http.StatusBadGateway},
		upstream.Rejected:    {Status: http.StatusNotFound},
		upstream.Malformed:   {Body: "<html>"},
		upstream.Timeout:     {After: time.Minute},
	} {
		s.Next(a)
		within := 30 * time.Second
		if a.After > 0 {
			within = 100 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(context.Background(), within)
		_, err := c.Transcribe(ctx, nil, "")
		cancel()
		require.Equal(t, want, upstream.CodeOf(err), "%v", err)
	}
	s.Next(transcriptiontest.Answer{Body: `{"words": []}`})
	_, err := c.Transcribe(context.Background(), nil, "")
	require.ErrorIs(t, err, upstream.ErrMalformed)
}
