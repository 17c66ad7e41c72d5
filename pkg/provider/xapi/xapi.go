// Package xapi tells learning record stores what people learned, in statements (Experience API 1.0.3;
// 2.0.0 is IEEE 9274.1.1-2023). Which statements those are is package recordstore's.
package xapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/provider/upstream"
)

// The versions that are spoken.
const (
	V1 = "1.0.3"
	V2 = "2.0.0"
)

// The verbs. Voided is the standard's own (part 2, section 2.3.2); the others are ADL's and Open Badges'.
const (
	Passed    = "http://adlnet.gov/expapi/verbs/passed" //nolint:gosec // no password
	Failed    = "http://adlnet.gov/expapi/verbs/failed"
	Scored    = "http://adlnet.gov/expapi/verbs/scored"
	Completed = "http://adlnet.gov/expapi/verbs/completed"
	Earned    = "http://specification.openbadges.org/xapi/verbs/earned.json"
	Voided    = "http://adlnet.gov/expapi/verbs/voided"
)

// verbs are what verbs are called.
var verbs = map[string]string{Passed: "passed", Failed: "failed", Scored: "scored", Completed: "completed", Earned: "earned", Voided: "voided"}

// Texts are a text in several languages.
type Texts map[string]string

// Account is an account of somebody's (part 2, section 2.4.2.4).
type Account struct {
	HomePage string `json:"homePage"`
	Name     string `json:"name"`
}

// Agent is somebody, by one of their names: an address (mailto:…) or an account.
type Agent struct {
	Type    string   `json:"objectType"`
	Mbox    string   `json:"mbox,omitempty"`
	Account *Account `json:"account,omitempty"`
}

// AsAccount is somebody by an account.
func AsAccount(homePage, name string) Agent {
	return Agent{Type: "Agent", Account: &Account{homePage, name}}
}

// AsMailbox is somebody by their address.
func AsMailbox(address string) Agent { return Agent{Type: "Agent", Mbox: "mailto:" + address} }

// Verb is what somebody did.
type Verb struct {
	ID      string `json:"id"`
	Display Texts  `json:"display"`
}

// Did is a verb of this package.
func Did(verb string) Verb { return Verb{verb, Texts{"en": verbs[verb]}} }

// Object is what somebody did it with: an activity, or a statement.
type Object struct {
	Type       string      `json:"objectType"`
	ID         string      `json:"id"`
	Definition *Definition `json:"definition,omitempty"`
}

// Definition says what an activity is.
type Definition struct {
	Name Texts  `json:"name,omitempty"`
	Type string `json:"type,omitempty"`
}

// Activity is one with a name in a language; an empty name is left out.
func Activity(at, kind, name, language string) Object {
	d := &Definition{Type: kind}
	if name != "" {
		d.Name = Texts{language: name}
	}
	return Object{Type: "Activity", ID: at, Definition: d}
}

// Score is a result's.
type Score struct {
	// Scaled is from 0 to 1, and Raw from Min to Max.
	Scaled float64 `json:"scaled"`
	Raw    float64 `json:"raw"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// Result is what came of it.
type Result struct {
	Score      *Score `json:"score,omitempty"`
	Success    *bool  `json:"success,omitempty"`
	Completion *bool  `json:"completion,omitempty"`
}

// Context is where it was done.
type Context struct {
	// Registration is of one attempt.
	Registration *uuid.UUID  `json:"registration,omitempty"`
	Platform     string      `json:"platform,omitempty"`
	Language     string      `json:"language,omitempty"`
	Activities   *Activities `json:"contextActivities,omitempty"`
}

// Activities are those that an activity is part of.
type Activities struct {
	Parent   []Object `json:"parent,omitempty"`
	Grouping []Object `json:"grouping,omitempty"`
}

// Statement says that somebody did something.
type Statement struct {
	ID      uuid.UUID `json:"id"`
	Actor   Agent     `json:"actor"`
	Verb    Verb      `json:"verb"`
	Object  Object    `json:"object"`
	Result  *Result   `json:"result,omitempty"`
	Context *Context  `json:"context,omitempty"`
	// Timestamp is when they did; a store takes the moment that it is told for a zero one.
	Timestamp time.Time `json:"timestamp,omitzero"`
}

// Voiding is the statement that voids another: it counts for nothing from then on. by is who voids it.
func Voiding(as, which uuid.UUID, by Agent) Statement {
	return Statement{ID: as, Actor: by, Verb: Did(Voided), Object: Object{Type: "StatementRef", ID: which.String()}}
}

// ErrNoTarget says that a store has no statement to be voided.
var ErrNoTarget = errors.New("there is no statement to be voided")

// versionHeader is in every request and every answer (part 3, section 3.3).
const versionHeader = "X-Experience-API-Version"

// Store is a learning record store.
type Store struct {
	HTTP *http.Client
	// Endpoint is what comes before /statements, and Version the one that is spoken.
	Endpoint, Version string
	// Key is the key and the secret, with a colon between.
	Key string
}

func (s Store) request(ctx context.Context, method, path string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.Endpoint+path, bytes.NewReader(body))
	if err != nil {
		return nil, &upstream.Error{Code: upstream.AddressRefused, Err: err}
	}
	user, password, _ := strings.Cut(s.Key, ":")
	req.SetBasicAuth(user, password)
	req.Header.Set(versionHeader, s.Version)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// Tell stores a statement. A store that has one with its id keeps that (part 2, section 2.3.1), and says
// that there is another by a conflict, which is no error here: it is there. The error is an upstream.Error, of
// ErrNoTarget too, or context.Canceled.
func (s Store) Tell(ctx context.Context, st Statement) error {
	body, err := json.Marshal(st)
	if err != nil {
		return err
	}
	// PUT names the statement in the address, so that a proxy that repeats it does no harm.
	req, err := s.request(ctx, http.MethodPut, "/statements?"+url.Values{"statementId": {st.ID.String()}}.Encode(), body)
	if err != nil {
		return err
	}
	resp, err := s.HTTP.Do(req)
	if err != nil {
		return upstream.FromRequest(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body) // so that the connection is used again
	switch {
	case resp.StatusCode == http.StatusConflict:
		return nil
	case resp.StatusCode == http.StatusNotFound && resp.Header.Get(versionHeader) != "": // which every answer of a store has
		return &upstream.Error{Code: upstream.Rejected, Status: resp.StatusCode, Err: ErrNoTarget}
	}
	return upstream.CheckStatus(resp)
}

// Check says whether a store is there that speaks the version, and takes the key. One that may only write
// is well. The error is that of Tell.
func (s Store) Check(ctx context.Context) error {
	req, err := s.request(ctx, http.MethodGet, "/about", nil)
	if err != nil {
		return err
	}
	var about struct {
		Versions []string `json:"version"`
	}
	if err := upstream.ExchangeJSON(s.HTTP, req, &about); err != nil {
		return err
	}
	spoken := s.Version[:strings.LastIndex(s.Version, ".")+1]
	if !slices.ContainsFunc(about.Versions, func(v string) bool { return strings.HasPrefix(v+".", spoken) }) {
		return &upstream.Error{Code: upstream.Malformed, Err: errors.New("the version is not spoken")}
	}
	if req, err = s.request(ctx, http.MethodGet, "/statements?"+url.Values{"statementId": {uuid.NewString()}}.Encode(), nil); err != nil {
		return err
	}
	_, err = upstream.Exchange(s.HTTP, req)
	if status := upstream.StatusOf(err); status == http.StatusNotFound || status == http.StatusForbidden {
		return nil // there is no such statement, or none may be read
	}
	return err
}
