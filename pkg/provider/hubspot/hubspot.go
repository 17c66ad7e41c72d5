// Package hubspot writes contacts into a customer's HubSpot, by its CRM API of 2026-03.
package hubspot

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"visavis.dev/pkg/provider/upstream"
)

// DefaultURL is where the service is.
const DefaultURL = "https://api.hubapi.com"

// MaxBatch is how many contacts one request takes.
const MaxBatch = 100

// contacts is the path of contacts.
const contacts = "/crm/objects/2026-03/contacts"

// Client asks the service.
type Client struct {
	// HTTP is a guard's.
	HTTP    *http.Client
	BaseURL string
	// Token is a private app's, with the scopes crm.objects.contacts.read and .write.
	Token string
}

// Contact is a contact as it is written.
type Contact struct {
	Email string
	// Properties are by their names there.
	Properties map[string]string
}

// properties are all that is written of a contact.
func (c Contact) properties() map[string]string {
	all := map[string]string{"email": c.Email}
	maps.Copy(all, c.Properties)
	return all
}

type input struct {
	ID         string            `json:"id"`
	IDProperty string            `json:"idProperty,omitempty"`
	Properties map[string]string `json:"properties,omitempty"`
}

type results struct {
	Results []struct {
		ID         string             `json:"id"`
		Properties map[string]*string `json:"properties"`
	} `json:"results"`
}

// Upsert writes contacts by their addresses, each of which is named once, and answers their ids by
// these in lower case. The error is an upstream.Error or context.Canceled.
func (c Client) Upsert(ctx context.Context, all []Contact) (map[string]string, error) {
	inputs := make([]input, len(all))
	for i, each := range all {
		inputs[i] = input{each.Email, "email", each.properties()}
	}
	var answer results
	if err := c.post(ctx, contacts+"/batch/upsert", map[string]any{"inputs": inputs}, &answer); err != nil {
		return nil, err
	}
	written := map[string]string{}
	for _, r := range answer.Results {
		if email := r.Properties["email"]; email != nil && r.ID != "" {
			written[strings.ToLower(*email)] = r.ID
		}
	}
	return written, nil
}

// Deleted are those of some contacts, by their ids, that the service says are not there: deleted, also to its bin. There are MaxBatch at most, each
// named once. One that was merged with another is there. The error is as that of Upsert.
func (c Client) Deleted(ctx context.Context, ids []string) (map[string]bool, error) {
	inputs := make([]input, len(ids))
	for i, each := range ids {
		inputs[i] = input{ID: each}
	}
	var answer struct {
		Results *[]json.RawMessage `json:"results"`
		Errors  []struct {
			Category string `json:"category"`
			Context  struct {
				IDs []string `json:"ids"`
			} `json:"context"`
		} `json:"errors"`
	}
	if err := c.post(ctx, contacts+"/batch/read", map[string]any{"inputs": inputs, "properties": []string{"email"}}, &answer); err != nil {
		return nil, err
	}
	if answer.Results == nil {
		return nil, &upstream.Error{Code: upstream.Malformed}
	}
	deleted := map[string]bool{}
	for _, e := range answer.Errors {
		for _, id := range e.Context.IDs {
			deleted[id] = deleted[id] || e.Category == "OBJECT_NOT_FOUND" && slices.Contains(ids, id)
		}
	}
	return deleted, nil
}

// Check says whether contacts can be read.
func (c Client) Check(ctx context.Context) error {
	var answer struct {
		Results *[]json.RawMessage `json:"results"`
	}
	if err := c.send(ctx, http.MethodGet, contacts+"?limit=1", nil, &answer); err != nil {
		return err
	}
	if answer.Results == nil {
		return &upstream.Error{Code: upstream.Malformed}
	}
	return nil
}

func (c Client) post(ctx context.Context, path string, body, answer any) error {
	return c.send(ctx, http.MethodPost, path, body, answer)
}

func (c Client) send(ctx context.Context, method, path string, body, answer any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, c.BaseURL+path, bytes.NewReader(text))
	if err != nil {
		return &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if answer == nil {
		_, err = upstream.Exchange(c.HTTP, req)
		return err
	}
	return upstream.ExchangeJSON(c.HTTP, req, answer)
}
