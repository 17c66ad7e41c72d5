package livetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"slices"
	"time"
)

// API calls the HTTP API with a key.
type API struct {
	// Base is its address, which ends in /v1.
	Base, Key string
	// Client makes the calls and connects; nil is the default one.
	Client *http.Client
}

// Error is a failed answer.
type Error struct {
	Status        int
	Code, Message string
}

func (e *Error) Error() string { return fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Message) }

// Call makes a call with a JSON body, which may be nil, and reads the data of
// its answer. The error of a failed one is an *Error.
func (a API) Call(ctx context.Context, method, path string, body, data any) error {
	if body == nil {
		return a.send(ctx, method, path, "", nil, data)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return a.send(ctx, method, path, "application/json", bytes.NewReader(text), data)
}

func (a API) send(ctx context.Context, method, path, contentType string, content io.Reader, data any) error {
	r, err := http.NewRequestWithContext(ctx, method, a.Base+path, content)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+a.Key)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	client := a.Client
	if client == nil {
		client = http.DefaultClient
	}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var envelope struct {
		Data  json.RawMessage
		Error *Error
	}
	if err := json.NewDecoder(answer.Body).Decode(&envelope); err != nil {
		return fmt.Errorf("%s %s: %d: %w", method, path, answer.StatusCode, err)
	}
	if envelope.Error != nil {
		envelope.Error.Status = answer.StatusCode
		return fmt.Errorf("%s %s: %w", method, path, envelope.Error)
	}
	if data == nil {
		return nil
	}
	return json.Unmarshal(envelope.Data, data)
}

// Persona makes a persona that has read Markdown, given by its titles, and
// answers its id once it knows them. Its parts replace the defaults.
func (a API) Persona(ctx context.Context, name string, texts map[string]string, parts map[string]any) (string, error) {
	var pack struct{ ID string }
	if err := a.Call(ctx, http.MethodPost, "/knowledge/bases", map[string]any{"name": name}, &pack); err != nil {
		return "", err
	}
	for _, title := range slices.Sorted(maps.Keys(texts)) {
		if err := a.read(ctx, pack.ID, title, texts[title]); err != nil {
			return "", err
		}
	}
	var faces, voices []struct{ ID string }
	if err := a.Call(ctx, http.MethodGet, "/avatars?limit=1", nil, &faces); err != nil {
		return "", err
	}
	if err := a.Call(ctx, http.MethodGet, "/voices?limit=1", nil, &voices); err != nil {
		return "", err
	}
	body := map[string]any{
		"name": name, "avatarId": faces[0].ID, "voiceId": voices[0].ID, "knowledge": map[string]any{"baseIds": []string{pack.ID}},
	}
	maps.Copy(body, parts)
	var persona struct{ ID string }
	err := a.Call(ctx, http.MethodPost, "/personas", body, &persona)
	return persona.ID, err
}

// read uploads a text to a pack and waits until it was read.
func (a API) read(ctx context.Context, pack, title, text string) error {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	file, err := w.CreateFormFile("file", title+".md")
	if err == nil {
		_, err = io.WriteString(file, text)
	}
	if err := errors.Join(err, w.WriteField("title", title), w.Close()); err != nil {
		return err
	}
	var document struct{ ID, Status string }
	err = a.send(ctx, http.MethodPost, "/knowledge/bases/"+pack+"/documents", w.FormDataContentType(), &form, &document)
	for err == nil && document.Status == "processing" {
		select {
		case <-time.After(200 * time.Millisecond):
			err = a.Call(ctx, http.MethodGet, "/knowledge/documents/"+document.ID, nil, &document)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err == nil && document.Status != "ready" {
		err = fmt.Errorf("%s is %s", title, document.Status)
	}
	return err
}

// Ticket is what a client needs to connect.
type Ticket struct {
	Token     string
	Session   struct{ ID string }
	Transport struct{ URL string }
}

// Mint starts a session; more are further fields of the request.
func (a API) Mint(ctx context.Context, persona string, more map[string]any) (Ticket, error) {
	body := map[string]any{"personaId": persona, "channel": "chat"}
	maps.Copy(body, more)
	var t Ticket
	err := a.Call(ctx, http.MethodPost, "/sessions/tokens", body, &t)
	return t, err
}

// Connect mints a session, connects to it and is ready.
func (a API) Connect(ctx context.Context, persona string, more map[string]any) (Ticket, *Client, error) {
	t, err := a.Mint(ctx, persona, more)
	if err != nil {
		return t, nil, err
	}
	c, err := a.Dial(ctx, t)
	if err != nil {
		return t, nil, err
	}
	return t, c, c.Send(ctx, "client-ready", nil)
}

// Dial connects to a session, which begins once it is told that the client is ready.
func (a API) Dial(ctx context.Context, t Ticket) (*Client, error) {
	return dial(ctx, a.Client, "", t.Transport.URL, t.Token)
}
