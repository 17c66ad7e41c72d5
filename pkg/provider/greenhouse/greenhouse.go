// Package greenhouse speaks with Greenhouse as its assessment partner, by the public documents of its
// Assessment API: it asks for tests and their status (package api/ats answers that), and is called once a test is complete.
package greenhouse

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"visavis.dev/pkg/provider/upstream"
)

// DefaultURL is where the service is.
const DefaultURL = "https://app.greenhouse.io"

// Client calls the service.
type Client struct {
	// HTTP is a guard's.
	HTTP *http.Client
	// Key is the one that Greenhouse sends too.
	Key string
}

// Complete tells that a test is complete, at the address that came with it: the service asks for its status
// then. Telling it again changes nothing. The error is an upstream.Error or context.Canceled.
func (c Client) Complete(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPatch, address, http.NoBody)
	if err != nil {
		return &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	req.SetBasicAuth(c.Key, "")
	_, err = upstream.Exchange(c.HTTP, req)
	return err
}

// Test is a test, as list_tests answers it.
type Test struct {
	ID   string `json:"partner_test_id"`
	Name string `json:"partner_test_name"`
}

// SendTest is what send_test is sent.
type SendTest struct {
	Test      string    `json:"partner_test_id"`
	Candidate Candidate `json:"candidate"`
	// URL is where it is told that the test is complete.
	URL string `json:"url"`
}

// Candidate is who is to have a test.
type Candidate struct {
	FirstName     string `json:"first_name"`
	LastName      string `json:"last_name"`
	PreferredName string `json:"preferred_name"`
	Phone         string `json:"phone_number"`
	Email         string `json:"email"`
	// ProfileURL is the candidate's application there.
	ProfileURL string `json:"greenhouse_profile_url"`
}

// Name is the full name, by the given one: notices are personal, and preferred names are not.
func (c Candidate) Name() string {
	return strings.Join(strings.Fields(c.FirstName+" "+c.LastName), " ")
}

// Reference is the id of the application that a test is sent for: the request has it in the query of the
// profile's address alone. A profile without one stands for itself; empty for neither.
func (s SendTest) Reference() string {
	u, err := url.Parse(s.Candidate.ProfileURL)
	if err != nil || u.Host == "" {
		return ""
	}
	if application := u.Query().Get("application_id"); application != "" {
		return application
	}
	return strings.Trim(u.Path, "/")
}

// Sent answers send_test.
type Sent struct {
	Interview string `json:"partner_interview_id"`
}

// Status answers test_status.
type Status struct {
	// Status is complete, or any other word before.
	Status     string   `json:"partner_status"`
	ProfileURL *string  `json:"partner_profile_url"`
	Score      *float64 `json:"partner_score"`
	// Metadata has no values but texts, numbers and booleans.
	Metadata map[string]any `json:"metadata"`
}

// Complete is the status of a test whose results are there.
const Complete = "complete"

// ResponseError is what response_error is sent: which answer was malformed.
type ResponseError struct {
	Call      string   `json:"api_call"`
	Errors    []string `json:"errors"`
	Interview any      `json:"partner_interview_id"`
}
