// Package zendesk makes and changes tickets in a customer's Zendesk, by its Ticketing API (v2).
package zendesk

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"visavis.dev/pkg/provider/upstream"
)

// Client asks an account.
type Client struct {
	// HTTP is a guard's.
	HTTP *http.Client
	// BaseURL is where the account is, such as https://acme.zendesk.com.
	BaseURL string
	// Email is the address of the agent whose API token Secret is; empty where that is an OAuth access token.
	Email, Secret string
}

// account is a host of an account's own.
var account = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}\.zendesk\.com$`)

// Known says whether a host is an account's.
func Known(host string) bool { return account.MatchString(host) }

// TicketURL is where agents read a ticket of an account.
func TicketURL(base, ticket string) string { return base + "/agent/tickets/" + url.PathEscape(ticket) }

// Ticket is a ticket as it is made or changed; empty fields are left as they are.
type Ticket struct {
	Subject    string     `json:"subject,omitempty"`
	ExternalID string     `json:"external_id,omitempty"`
	Requester  *Requester `json:"requester,omitempty"`
	Comment    *Comment   `json:"comment,omitempty"`
	Priority   string     `json:"priority,omitempty"`
	Status     string     `json:"status,omitempty"`
	Tags       []string   `json:"tags,omitempty"`
	Group      int64      `json:"group_id,omitempty"`
}

// Requester is whose ticket it is.
type Requester struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// Comment is what is written to a ticket.
type Comment struct {
	// HTML is of this program's making: in a plain body Markdown is read, by which a stranger's words become links.
	HTML string `json:"html_body"`
	// Public says that the requester reads it too.
	Public bool `json:"public"`
}

// found is a ticket as the account has it.
type found struct {
	ID         int64   `json:"id"`
	ExternalID *string `json:"external_id"`
	Status     string  `json:"status"`
}

// Check says whether the account takes the secret, as an agent's. Who is nobody there is answered as such with status 200.
func (c Client) Check(ctx context.Context) error {
	var answer struct {
		User *struct {
			ID   *int64 `json:"id"`
			Role string `json:"role"`
		} `json:"user"`
	}
	if err := c.send(ctx, http.MethodGet, "/api/v2/users/me.json", "", nil, &answer); err != nil {
		return noAccount(err)
	}
	switch u := answer.User; {
	case u == nil:
		return &upstream.Error{Code: upstream.Malformed}
	case u.ID == nil || *u.ID == 0 || u.Role != "agent" && u.Role != "admin":
		return &upstream.Error{Code: upstream.Refused}
	}
	return nil
}

// Find finds the ticket of an external id, the oldest where there are several; empty for none. The error is an upstream.Error or context.Canceled.
func (c Client) Find(ctx context.Context, externalID string) (string, error) {
	var answer struct {
		Tickets *[]found `json:"tickets"`
	}
	if err := c.send(ctx, http.MethodGet, "/api/v2/tickets.json?external_id="+url.QueryEscape(externalID), "", nil, &answer); err != nil {
		return "", noAccount(err)
	}
	if answer.Tickets == nil {
		return "", &upstream.Error{Code: upstream.Malformed}
	}
	oldest := int64(0)
	for _, t := range *answer.Tickets {
		if t.ID > 0 && t.ExternalID != nil && *t.ExternalID == externalID && t.Status != "deleted" && (oldest == 0 || t.ID < oldest) {
			oldest = t.ID
		}
	}
	if oldest == 0 {
		return "", nil
	}
	return strconv.FormatInt(oldest, 10), nil
}

// Create makes a ticket, once for a key within two hours. The error is an upstream.Error, of code Unavailable where another
// ticket is being made by the key, or context.Canceled.
func (c Client) Create(ctx context.Context, t Ticket, key string) (string, error) {
	var answer struct {
		Ticket *found `json:"ticket"`
	}
	if err := c.send(ctx, http.MethodPost, "/api/v2/tickets.json", key, map[string]any{"ticket": t}, &answer); err != nil {
		return "", err
	}
	if answer.Ticket == nil || answer.Ticket.ID <= 0 {
		return "", &upstream.Error{Code: upstream.Malformed}
	}
	return strconv.FormatInt(answer.Ticket.ID, 10), nil
}

// Update changes a ticket. Each comment is another one.
func (c Client) Update(ctx context.Context, ticket string, t Ticket) error {
	var answer struct {
		Ticket *found `json:"ticket"`
	}
	if err := c.send(ctx, http.MethodPut, "/api/v2/tickets/"+url.PathEscape(ticket)+".json", "", map[string]any{"ticket": t}, &answer); err != nil {
		return err
	}
	if answer.Ticket == nil {
		return &upstream.Error{Code: upstream.Malformed}
	}
	return nil
}

// Comments are the last comments of a ticket, newest first.
func (c Client) Comments(ctx context.Context, ticket string) ([]string, error) {
	var answer struct {
		Comments *[]struct {
			Plain string `json:"plain_body"`
			Body  string `json:"body"`
		} `json:"comments"`
	}
	if err := c.send(ctx, http.MethodGet, "/api/v2/tickets/"+url.PathEscape(ticket)+"/comments.json?sort_order=desc&per_page=20", "", nil, &answer); err != nil {
		return nil, err
	}
	if answer.Comments == nil {
		return nil, &upstream.Error{Code: upstream.Malformed}
	}
	var bodies []string
	for _, each := range *answer.Comments {
		bodies = append(bodies, each.Plain+"\n"+each.Body)
	}
	return bodies, nil
}

// noAccount says that there is no such account, as a secret that is not taken.
func noAccount(err error) error {
	if upstream.StatusOf(err) == http.StatusNotFound {
		return &upstream.Error{Code: upstream.Refused, Status: http.StatusNotFound}
	}
	return err
}

func (c Client) send(ctx context.Context, method, path, key string, body, answer any) error {
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
	if c.Email == "" {
		req.Header.Set("Authorization", "Bearer "+c.Secret)
	} else {
		req.SetBasicAuth(c.Email+"/token", c.Secret)
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	return c.exchange(req, answer)
}

func (c Client) exchange(req *http.Request, answer any) error {
	resp, err := c.HTTP.Do(req) //nolint:gosec // the client is a guard's
	if err != nil {
		return upstream.FromRequest(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusBadRequest && repeats(resp.Body) {
		return &upstream.Error{Code: upstream.Unavailable, Status: resp.StatusCode}
	}
	if err := upstream.CheckStatus(resp); err != nil {
		return err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return upstream.FromBody(err)
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return &upstream.Error{Code: upstream.Malformed, Err: err}
	}
	return nil
}

// longestRefusal bounds what is read of why a request is refused, in bytes.
const longestRefusal = 64 << 10

// repeats says whether a request is refused since another one had its key.
func repeats(body io.Reader) bool {
	text, err := io.ReadAll(io.LimitReader(body, longestRefusal))
	var refusal struct {
		Error json.RawMessage `json:"error"`
	}
	if err != nil || json.Unmarshal(text, &refusal) != nil {
		return false
	}
	return strings.Contains(strings.ToLower(string(refusal.Error)), "idempoten")
}
