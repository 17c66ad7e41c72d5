// Package elevenlabs is what is used of the ElevenLabs API: making a voice of
// samples, finding and deleting it, and finding out whether a key is good.
package elevenlabs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"

	"visavis.dev/pkg/provider/upstream"
)

// DefaultURL is the service's own address.
const DefaultURL = "https://api.elevenlabs.io"

// Client speaks with the service. Its errors are upstream's, or
// context.Canceled.
type Client struct {
	// HTTP makes the requests; a guard's.
	HTTP *http.Client
	// BaseURL is the address up to /v1; empty for DefaultURL.
	BaseURL string
	Key     string
}

// Sample is a recording of a voice.
type Sample struct {
	// Name is that of a file, with the ending of its content type.
	Name, ContentType string
	Data              []byte
}

func (c Client) request(ctx context.Context, method, path, contentType string, body []byte) (*http.Request, error) {
	base := c.BaseURL
	if base == "" {
		base = DefaultURL
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(base, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	req.Header.Set("xi-api-key", c.Key)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return req, nil
}

// Check asks for one voice, which any good key may.
func (c Client) Check(ctx context.Context) error {
	_, err := c.voices(ctx, url.Values{"page_size": {"1"}})
	return err
}

// FindVoice finds a voice by its whole name; empty when there is none.
func (c Client) FindVoice(ctx context.Context, name string) (string, error) {
	voices, err := c.voices(ctx, url.Values{"page_size": {"100"}, "search": {name}})
	for _, v := range voices {
		if v.Name == name {
			return v.ID, err
		}
	}
	return "", err
}

type listed struct {
	ID   string `json:"voice_id"`
	Name string `json:"name"`
}

func (c Client) voices(ctx context.Context, query url.Values) ([]listed, error) {
	req, err := c.request(ctx, http.MethodGet, "/v2/voices?"+query.Encode(), "", nil)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Voices *[]listed `json:"voices"`
	}
	if err := upstream.ExchangeJSON(c.HTTP, req, &answer); err != nil {
		return nil, err
	}
	if answer.Voices == nil {
		return nil, &upstream.Error{Code: upstream.Malformed}
	}
	return *answer.Voices, nil
}

// AddVoice makes a voice of samples and answers its id there.
func (c Client) AddVoice(ctx context.Context, name, description string, samples []Sample) (string, error) {
	contentType, body, err := form(name, description, samples)
	if err != nil {
		return "", err
	}
	req, err := c.request(ctx, http.MethodPost, "/v1/voices/add", contentType, body)
	if err != nil {
		return "", err
	}
	var answer listed
	if err := upstream.ExchangeJSON(c.HTTP, req, &answer); err != nil {
		return "", err
	}
	if answer.ID == "" {
		return "", &upstream.Error{Code: upstream.Malformed}
	}
	return answer.ID, nil
}

func form(name, description string, samples []Sample) (contentType string, body []byte, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	err = errors.Join(w.WriteField("name", name), w.WriteField("description", description))
	for _, s := range samples {
		header := textproto.MIMEHeader{
			"Content-Disposition": {fmt.Sprintf(`form-data; name="files"; filename=%q`, s.Name)},
			"Content-Type":        {s.ContentType},
		}
		part, e := w.CreatePart(header)
		if e == nil {
			_, e = part.Write(s.Data)
		}
		err = errors.Join(err, e)
	}
	err = errors.Join(err, w.Close()) // which writes the end
	return w.FormDataContentType(), b.Bytes(), err
}

// DeleteVoice deletes a voice; one that is not there is deleted.
func (c Client) DeleteVoice(ctx context.Context, voice string) error {
	req, err := c.request(ctx, http.MethodDelete, "/v1/voices/"+url.PathEscape(voice), "", nil)
	if err != nil {
		return err
	}
	var answer json.RawMessage
	err = upstream.ExchangeJSON(c.HTTP, req, &answer)
	if upstream.StatusOf(err) == http.StatusNotFound {
		return nil
	}
	return err
}
