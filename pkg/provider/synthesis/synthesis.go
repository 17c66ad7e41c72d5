// Package synthesis asks services with an OpenAI-compatible address to say a text: POST
// /audio/speech, whose sound is taken while it comes.
package synthesis

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"visavis.dev/pkg/provider/upstream"
)

// Request is what a service is to say.
type Request struct {
	// Text is what is said, as a voice reads it.
	Text string
	// Language is of ISO 639-1; empty where the service is to find out.
	Language string
	// Voice is the voice's name at the service.
	Voice string
	// Speed is a factor of the voice's natural pace; 0 is 1.
	Speed float64
}

// Piece is the next piece of sound.
type Piece struct {
	// Rate is in samples a second: 8,000 to 48,000. Samples are mono.
	Rate    int
	Samples []int16
	// Characters are those of Request.Text that begin in what came so far, where the
	// service tells.
	Characters []Character
}

// Character is when one is said, from the first sample.
type Character struct {
	Text       string
	Begin, End time.Duration
}

// Client speaks with the service. Its errors are upstream's, context.Canceled, or what
// heard answered.
type Client struct {
	// HTTP makes the requests; a guard's.
	HTTP *http.Client
	// BaseURL is what comes before /audio/speech, and Model the name there.
	BaseURL, Model string
	// Secrets are tried in turn while they are refused; none for a service that asks for
	// none.
	Secrets []string
}

// Speak gives the sound of a text to heard while it comes. A WAV file is asked for, since
// that says what it holds: services' samples are of several rates.
func (c Client) Speak(ctx context.Context, r Request, heard func(Piece) error) error {
	ask := map[string]any{"model": c.Model, "voice": r.Voice, "input": r.Text, "response_format": "wav"}
	if r.Speed != 0 && r.Speed != 1 {
		ask["speed"] = r.Speed
	}
	body, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	return upstream.WithSecrets(c.Secrets, func(secret string) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.BaseURL, "/")+"/audio/speech", bytes.NewReader(body))
		if err != nil {
			return &upstream.Error{Code: upstream.AddressRefused, Err: err}
		}
		if secret != "" {
			req.Header.Set("Authorization", "Bearer "+secret)
		}
		req.Header.Set("Content-Type", "application/json")
		return upstream.Stream(c.HTTP, req, func(resp *http.Response) error { return readWAV(resp.Body, heard) })
	})
}
