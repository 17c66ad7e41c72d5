// Package hubspot writes and reads contacts of a customer's HubSpot, by its CRM API of 2026-03.
package hubspot

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
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
	// Token is a private app's, with the scopes crm.objects.contacts.read and .write, and crm.objects.owners.read for Owners.
	Token string
}

// Contact is a contact as it is written or read.
type Contact struct {
	// ID is empty of one that is found by its address.
	ID    string
	Email string
	// Properties are by their names there.
	Properties map[string]string
}

// properties are all that is written of a contact by its address.
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
	Results *[]struct {
		ID         string             `json:"id"`
		Properties map[string]*string `json:"properties"`
	} `json:"results"`
	Errors []struct {
		Category string `json:"category"`
		Context  struct {
			IDs []string `json:"ids"`
		} `json:"context"`
	} `json:"errors"`
}

// number is the form of an id.
var number = regexp.MustCompile(`^[0-9]{1,40}$`)

// contacts are those that were answered; empty properties are left out.
func (r *results) contacts() (all []Contact, err error) {
	if r.Results == nil {
		return nil, &upstream.Error{Code: upstream.Malformed}
	}
	for _, each := range *r.Results {
		if !number.MatchString(each.ID) {
			continue // it is kept, and asked for again
		}
		c := Contact{ID: each.ID, Properties: map[string]string{}}
		for name, value := range each.Properties {
			if value != nil && *value != "" {
				c.Properties[name] = *value
			}
		}
		c.Email = strings.ToLower(c.Properties["email"])
		all = append(all, c)
	}
	return all, nil
}

// Upsert writes contacts by their addresses, each of which is named once, and answers them by
// these in lower case. The error is an upstream.Error or context.Canceled.
func (c Client) Upsert(ctx context.Context, all []Contact) (map[string]Contact, error) {
	inputs := make([]input, len(all))
	for i, each := range all {
		inputs[i] = input{each.Email, "email", each.properties()}
	}
	var answer results
	if err := c.post(ctx, contacts+"/batch/upsert", map[string]any{"inputs": inputs}, &answer); err != nil {
		return nil, err
	}
	found, err := answer.contacts()
	written := map[string]Contact{}
	for _, each := range found {
		if each.Email != "" && each.ID != "" {
			written[each.Email] = each
		}
	}
	return written, err
}

// Update writes properties of contacts by their ids, each of which is named once, and answers those that were written by these. Their
// addresses stay. The error is as that of Upsert.
func (c Client) Update(ctx context.Context, all []Contact) (map[string]Contact, error) {
	inputs := make([]input, len(all))
	for i, each := range all {
		inputs[i] = input{ID: each.ID, Properties: each.Properties}
	}
	var answer results
	if err := c.post(ctx, contacts+"/batch/update", map[string]any{"inputs": inputs}, &answer); err != nil {
		return nil, err
	}
	found, err := answer.contacts()
	return byID(found, inputs), err
}

// byID are those contacts by their ids that were asked for.
func byID(found []Contact, asked []input) map[string]Contact {
	all := map[string]Contact{}
	for _, each := range found {
		if slices.ContainsFunc(asked, func(i input) bool { return i.ID == each.ID }) {
			all[each.ID] = each
		}
	}
	return all
}

// Read reads properties of contacts by their ids, of which there are MaxBatch at most, each named once. missing are those that the service says are not
// there: deleted, also to its bin. One that was merged with another is neither missing nor answered. The error is as that of Upsert.
func (c Client) Read(ctx context.Context, ids, properties []string) (found map[string]Contact, missing map[string]bool, err error) {
	inputs := make([]input, len(ids))
	for i, each := range ids {
		inputs[i] = input{ID: each}
	}
	var answer results
	if err := c.read(ctx, inputs, "", properties, &answer); err != nil {
		return nil, nil, err
	}
	all, err := answer.contacts()
	missing = map[string]bool{}
	for _, e := range answer.Errors {
		for _, each := range e.Context.IDs {
			if e.Category == "OBJECT_NOT_FOUND" && slices.Contains(ids, each) {
				missing[each] = true
			}
		}
	}
	return byID(all, inputs), missing, err
}

// also has further addresses of a contact, with semicolons between.
const also = "hs_additional_emails"

// Find is Read by addresses in lower case, of which there are MaxBatch at most; a contact can have several.
func (c Client) Find(ctx context.Context, addresses, properties []string) (map[string]Contact, error) {
	inputs := make([]input, len(addresses))
	for i, each := range addresses {
		inputs[i] = input{ID: each}
	}
	var answer results
	if err := c.read(ctx, inputs, "email", append([]string{also}, properties...), &answer); err != nil {
		return nil, err
	}
	all, err := answer.contacts()
	found := map[string]Contact{}
	for _, each := range all {
		for _, address := range append([]string{each.Email}, strings.Split(strings.ToLower(each.Properties[also]), ";")...) {
			if address = strings.TrimSpace(address); each.ID != "" && slices.Contains(addresses, address) {
				found[address] = each
			}
		}
	}
	return found, err
}

func (c Client) read(ctx context.Context, inputs []input, by string, properties []string, answer *results) error {
	body := map[string]any{"inputs": inputs, "properties": append([]string{"email"}, properties...)}
	if by != "" {
		body["idProperty"] = by
	}
	return c.post(ctx, contacts+"/batch/read", body, answer)
}

// Account is the id of the account that the token is of.
func (c Client) Account(ctx context.Context) (string, error) {
	var answer struct {
		Portal int64 `json:"portalId"`
	}
	if err := c.send(ctx, http.MethodGet, "/account-info/2026-03/details", nil, &answer); err != nil {
		return "", err
	}
	if answer.Portal <= 0 {
		return "", &upstream.Error{Code: upstream.Malformed}
	}
	return strconv.FormatInt(answer.Portal, 10), nil
}

// MaxOwners is how many owners are read, ownersPage how many of them by one call, and longestMail is how long an address can be that somebody has here, in bytes.
const (
	MaxOwners   = 5000
	ownersPage  = 500
	longestMail = 254
)

// Owners are the mail addresses, in lower case, of those who can own contacts, by their ids; who has none, as a queue, is left out, and so is who comes after
// MaxOwners. The error is as that of Upsert.
func (c Client) Owners(ctx context.Context) (map[string]string, error) {
	all, after := map[string]string{}, ""
	for range MaxOwners / ownersPage {
		var answer struct {
			Results *[]struct {
				ID       string `json:"id"`
				Email    string `json:"email"`
				Archived bool   `json:"archived"`
			} `json:"results"`
			Paging struct {
				Next struct {
					After string `json:"after"`
				} `json:"next"`
			} `json:"paging"`
		}
		path := fmt.Sprintf("/crm/owners/2026-03?limit=%d", ownersPage)
		if after != "" {
			path += "&after=" + url.QueryEscape(after)
		}
		if err := c.send(ctx, http.MethodGet, path, nil, &answer); err != nil {
			return nil, err
		}
		if answer.Results == nil {
			return nil, &upstream.Error{Code: upstream.Malformed}
		}
		for _, each := range *answer.Results {
			if number.MatchString(each.ID) && each.Email != "" && len(each.Email) <= longestMail && !each.Archived {
				all[each.ID] = strings.ToLower(each.Email)
			}
			if len(all) >= MaxOwners {
				return all, nil
			}
		}
		if after = answer.Paging.Next.After; after == "" {
			break
		}
	}
	return all, nil
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
