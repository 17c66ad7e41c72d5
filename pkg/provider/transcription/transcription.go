// Package transcription asks services with an OpenAI-compatible address what was said in a
// recording: POST /audio/transcriptions, a recording at a time.
package transcription

import (
	"bytes"
	"context"
	"errors"
	"mime/multipart"
	"net/http"
	"strings"

	"visavis.dev/pkg/provider/upstream"
)

// Client speaks with the service. Its errors are upstream's, or context.Canceled.
type Client struct {
	// HTTP makes the requests; a guard's.
	HTTP *http.Client
	// BaseURL is what comes before /audio/transcriptions, and Model the name there.
	BaseURL, Model string
	// Secrets are tried in turn while they are refused; none for a service that asks for
	// none.
	Secrets []string
}

// Transcribe answers the words of a WAV file. The language is of ISO 639-1; empty where
// the service is to find out.
func (c Client) Transcribe(ctx context.Context, wav []byte, language string) (string, error) {
	contentType, body, err := c.form(wav, language)
	if err != nil {
		return "", err
	}
	var answer struct {
		Text *string `json:"text"`
	}
	err = upstream.WithSecrets(c.Secrets, func(secret string) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.BaseURL, "/")+"/audio/transcriptions", bytes.NewReader(body))
		if err != nil {
			return &upstream.Error{Code: upstream.AddressRefused, Err: err}
		}
		if secret != "" {
			req.Header.Set("Authorization", "Bearer "+secret)
		}
		req.Header.Set("Content-Type", contentType)
		return upstream.ExchangeJSON(c.HTTP, req, &answer)
	})
	switch {
	case err != nil:
		return "", err
	case answer.Text == nil:
		return "", &upstream.Error{Code: upstream.Malformed}
	}
	return strings.TrimSpace(*answer.Text), nil
}

func (c Client) form(wav []byte, language string) (contentType string, body []byte, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	file, err := w.CreateFormFile("file", "speech.wav")
	if err == nil {
		_, err = file.Write(wav)
	}
	err = errors.Join(err, w.WriteField("model", c.Model), w.WriteField("response_format", "json"))
	if language != "" {
		err = errors.Join(err, w.WriteField("language", language))
	}
	err = errors.Join(err, w.Close()) // which writes the end
	return w.FormDataContentType(), b.Bytes(), err
}
