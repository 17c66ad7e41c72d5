// Package ashby speaks with Ashby as its assessment partner, by the public documents of its assessments
// framework: it asks for assessments (package api/ats answers that), and is told how they go.
package ashby

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"visavis.dev/pkg/provider/upstream"
)

// DefaultURL is where the service is.
const DefaultURL = "https://api.ashbyhq.com"

// Client calls the service.
type Client struct {
	// HTTP is a guard's.
	HTTP    *http.Client
	BaseURL string
	// Key is an API key with the permission candidatesWrite.
	Key string
}

// Value is a value with what people read beside it.
type Value struct {
	Identifier  string `json:"identifier"`
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	// Type is numeric_score, numeric_duration_minutes, url, string or boolean_success.
	Type  string `json:"type"`
	Value any    `json:"value"`
}

// Update tells how an assessment goes.
type Update struct {
	Assessment string `json:"assessment_id"`
	// Timestamp is when it came to be so, in milliseconds since 1970.
	Timestamp int64 `json:"timestamp"`
	// Status must be there unless Cancelled is; Started has a meaning of its own.
	Status     *Value `json:"assessment_status,omitempty"`
	ProfileURL *Value `json:"assessment_profile_url,omitempty"`
	// Result says that the assessment is complete, and Cancelled that it was cancelled.
	Result    *Value  `json:"assessment_result,omitempty"`
	Cancelled *Value  `json:"cancelled_reason,omitempty"`
	Metadata  []Value `json:"metadata,omitempty"`
}

// Tell tells how an assessment goes. key is the same for every try to tell the same. The error is an upstream.Error or
// context.Canceled.
func (c Client) Tell(ctx context.Context, u Update, key string) error {
	body, err := json.Marshal(u)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.BaseURL, "/")+"/assessment.update", bytes.NewReader(body))
	if err != nil {
		return &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	req.SetBasicAuth(c.Key, "")
	req.Header.Set("Accept", "application/json; version=1")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	answer, err := upstream.Exchange(c.HTTP, req)
	if err != nil {
		return err
	}
	var said struct {
		Success *bool `json:"success"`
	}
	// Its documents show no body of a success here; where there is one, it says whether it is.
	if json.Unmarshal(answer, &said) == nil && said.Success != nil && !*said.Success {
		return &upstream.Error{Code: upstream.Rejected}
	}
	return nil
}

// Assessment is an assessment, as assessment.list answers it.
type Assessment struct {
	ID          string `json:"assessment_type_id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Start is what assessment.start is sent.
type Start struct {
	Assessment string `json:"assessment_type_id"`
	Candidate  struct {
		ID         string `json:"ashby_id"`
		FirstName  string `json:"first_name"`
		LastName   string `json:"last_name"`
		Email      string `json:"email"`
		ProfileURL string `json:"ashby_profile_url"`
	} `json:"candidate"`
	Application struct {
		ID string `json:"ashby_id"`
	} `json:"application"`
}

// Name is the candidate's full name.
func (s *Start) Name() string {
	return strings.Join(strings.Fields(s.Candidate.FirstName+" "+s.Candidate.LastName), " ")
}

// Cancel is what assessment.cancel is sent.
type Cancel struct {
	Assessment string `json:"assessment_id"`
}

// Started answers assessment.start and assessment.cancel.
type Started struct {
	Assessment string `json:"assessment_id"`
	// Update tells at once how it goes.
	Update *Update `json:"update_request,omitempty"`
}

// Success is an answer with results.
type Success struct {
	Success bool `json:"success"`
	Results any  `json:"results"`
}

// Failure is an answer of what could not be done.
type Failure struct {
	Success bool     `json:"success"`
	Errors  []string `json:"errors"`
	Info    struct {
		Code      string `json:"code"`
		RequestID string `json:"requestId"`
	} `json:"errorInfo"`
}

// Message is a failure of assessment.start that people read there.
type Message struct {
	Message string `json:"message"`
}
