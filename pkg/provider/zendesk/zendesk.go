// Package zendesk makes and changes tickets in a customer's Zendesk, by its Ticketing API (v2).
package zendesk

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/provider/card"
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
	Requester  int64   `json:"requester_id"`
	UpdatedAt  string  `json:"updated_at"`
}

// Standing is how far a ticket is.
type Standing struct {
	// Ticket is its id, empty for none.
	Ticket     string
	ExternalID string
	// Status is one of new, open, pending, hold, solved and closed; empty for another.
	Status string
	// Requester is the id of the user whose ticket it is; 0 where that is not told.
	Requester int64
	// EndUser says that the requester is no agent; false where that is not asked.
	EndUser bool
	// UpdatedAt tells one time that it was changed from another.
	UpdatedAt string
}

// statuses are those of tickets, and moment the form of a time: what is of another is not told.
var (
	statuses = []string{"new", "open", "pending", "hold", "solved", "closed"}
	moment   = regexp.MustCompile(`^[0-9TZ:.+-]{1,40}$`)
)

func (f *found) standing() Standing {
	s := Standing{Ticket: strconv.FormatInt(f.ID, 10), Requester: f.Requester}
	if slices.Contains(statuses, f.Status) {
		s.Status = f.Status
	}
	if moment.MatchString(f.UpdatedAt) {
		s.UpdatedAt = f.UpdatedAt
	}
	if f.ExternalID != nil {
		s.ExternalID = *f.ExternalID
	}
	return s
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

// Find finds the ticket of an external id, the oldest where there are several. The error is an upstream.Error or context.Canceled.
func (c Client) Find(ctx context.Context, externalID string) (oldest Standing, err error) {
	var answer struct {
		Tickets *[]found `json:"tickets"`
	}
	if err := c.send(ctx, http.MethodGet, "/api/v2/tickets.json?external_id="+url.QueryEscape(externalID), "", nil, &answer); err != nil {
		return oldest, noAccount(err)
	}
	if answer.Tickets == nil {
		return oldest, &upstream.Error{Code: upstream.Malformed}
	}
	first := int64(0)
	for _, t := range *answer.Tickets {
		if t.ID > 0 && t.ExternalID != nil && *t.ExternalID == externalID && t.Status != "deleted" && (first == 0 || t.ID < first) {
			first, oldest = t.ID, t.standing()
		}
	}
	return oldest, nil
}

// MaxTickets is how many tickets one request reads.
const MaxTickets = 100

// Tickets are those of some tickets, by their ids, that are there: of MaxTickets at most, each named once. The error is as that of Find.
func (c Client) Tickets(ctx context.Context, which []string) (map[string]Standing, error) {
	var answer struct {
		Tickets *[]found `json:"tickets"`
		Users   []user   `json:"users"`
	}
	if err := c.send(ctx, http.MethodGet, "/api/v2/tickets/show_many.json?include=users&ids="+url.QueryEscape(strings.Join(which, ",")), "", nil, &answer); err != nil {
		return nil, noAccount(err)
	}
	if answer.Tickets == nil {
		return nil, &upstream.Error{Code: upstream.Malformed}
	}
	all := map[string]Standing{}
	for _, t := range *answer.Tickets {
		s := t.standing()
		s.EndUser = slices.ContainsFunc(answer.Users, func(u user) bool { return u.ID == s.Requester && u.Role == "end-user" })
		if t.Status != "deleted" && slices.Contains(which, s.Ticket) {
			all[s.Ticket] = s
		}
	}
	return all, nil
}

// Reply is something that was written in a ticket for its requester, or by them.
type Reply struct {
	ID     int64
	Author int64
	// Agent says that an agent or an admin wrote it.
	Agent bool
	// Text is at most LongestReply characters, without what changes how others read.
	Text string
	// At is when it was written; zero where that is not told.
	At time.Time
}

// LongestReply bounds what is read of a reply, in characters.
const LongestReply = 10_000

const (
	// mostReplies is how many comments of a ticket are read: older ones are left there. mostReplyPages bounds the calls for them.
	mostReplies    = 500
	mostReplyPages = 25
)

// pageSizes are how many comments are asked for at once, fewer where the answer is too large. Each is a multiple of the next.
var pageSizes = []int{100, 50, 25, 5, 1}

// comments is a page of a ticket's comments, newest first.
type comments struct {
	Comments *[]struct {
		ID      int64  `json:"id"`
		Author  int64  `json:"author_id"`
		Public  bool   `json:"public"`
		Plain   string `json:"plain_body"`
		Body    string `json:"body"`
		Created string `json:"created_at"`
	} `json:"comments"`
	Users []user  `json:"users"`
	Next  *string `json:"next_page"`
}

type user struct {
	ID   int64  `json:"id"`
	Role string `json:"role"`
}

// Replies are the public comments of a ticket after one of them, oldest first, and the last comment of all. The error is an upstream.Error,
// which wraps egress.ErrTooLarge where a single comment is too large, or context.Canceled.
func (c Client) Replies(ctx context.Context, ticket string, after int64) (all []Reply, last int64, err error) {
	last = after
	sizes := pageSizes
	for from, calls := 0, 0; from < mostReplies && calls < mostReplyPages; calls++ {
		var page comments
		path := fmt.Sprintf("/api/v2/tickets/%s/comments.json?include=users&sort_order=desc&per_page=%d&page=%d", url.PathEscape(ticket), sizes[0], from/sizes[0]+1)
		err := c.send(ctx, http.MethodGet, path, "", nil, &page)
		if errors.Is(err, egress.ErrTooLarge) && len(sizes) > 1 {
			sizes = sizes[1:]
			continue
		}
		if err != nil {
			return nil, after, err
		}
		if page.Comments == nil {
			return nil, after, &upstream.Error{Code: upstream.Malformed}
		}
		some, known := page.replies(after, &last)
		all = append(all, some...)
		if known || page.Next == nil || len(*page.Comments) == 0 {
			break
		}
		from += sizes[0]
	}
	slices.SortFunc(all, func(a, b Reply) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(all, func(a, b Reply) bool { return a.ID == b.ID }), last, nil
}

// replies are the public comments of a page after one of them, and whether that is on it or before it. last is moved on to the last comment.
func (p *comments) replies(after int64, last *int64) (all []Reply, known bool) {
	for _, each := range *p.Comments {
		if each.ID <= after {
			known = true
			continue
		}
		if *last = max(*last, each.ID); !each.Public {
			continue
		}
		r := Reply{ID: each.ID, Author: each.Author, Text: card.Cut(card.Clean(cmp.Or(each.Plain, each.Body)), LongestReply)}
		for _, u := range p.Users {
			r.Agent = r.Agent || u.ID == r.Author && (u.Role == "agent" || u.Role == "admin")
		}
		if at, err := time.Parse(time.RFC3339, each.Created); err == nil {
			r.At = at.UTC()
		}
		all = append(all, r)
	}
	return all, known
}

// LastComment is the last comment of a ticket, public or not; 0 for none. The error is as that of Replies.
func (c Client) LastComment(ctx context.Context, ticket string) (int64, error) {
	var answer struct {
		Comments *[]struct {
			ID int64 `json:"id"`
		} `json:"comments"`
	}
	if err := c.send(ctx, http.MethodGet, "/api/v2/tickets/"+url.PathEscape(ticket)+"/comments.json?sort_order=desc&per_page=1", "", nil, &answer); err != nil {
		return 0, err
	}
	if answer.Comments == nil {
		return 0, &upstream.Error{Code: upstream.Malformed}
	}
	last := int64(0)
	for _, each := range *answer.Comments {
		last = max(last, each.ID)
	}
	return last, nil
}

// Create makes a ticket, once for a key within two hours. The error is an upstream.Error, of code Unavailable where another
// ticket is being made by the key, or context.Canceled.
func (c Client) Create(ctx context.Context, t Ticket, key string) (Standing, error) {
	var answer struct {
		Ticket *found `json:"ticket"`
	}
	if err := c.send(ctx, http.MethodPost, "/api/v2/tickets.json", key, map[string]any{"ticket": t}, &answer); err != nil {
		return Standing{}, err
	}
	if answer.Ticket == nil || answer.Ticket.ID <= 0 {
		return Standing{}, &upstream.Error{Code: upstream.Malformed}
	}
	return answer.Ticket.standing(), nil
}

// Update changes a ticket, and answers how far it is then. Each comment is another one.
func (c Client) Update(ctx context.Context, ticket string, t Ticket) (Standing, error) {
	var answer struct {
		Ticket *found `json:"ticket"`
	}
	if err := c.send(ctx, http.MethodPut, "/api/v2/tickets/"+url.PathEscape(ticket)+".json", "", map[string]any{"ticket": t}, &answer); err != nil {
		return Standing{}, err
	}
	if answer.Ticket == nil {
		return Standing{}, &upstream.Error{Code: upstream.Malformed}
	}
	return answer.Ticket.standing(), nil
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
