// Package ats answers applicant tracking systems in their own protocols: Greenhouse and Ashby ask an
// assessment partner for tests, send candidates, and ask how they do. They come without a key of ours:
// a connection of kind ats says who they are (design, Connections).
package ats

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/lru"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/hiring/ats"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/limits"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/signin"
)

// API is what the operations work with.
type API struct {
	Tenants *tenant.Tenants
	// Organization finds an organization and what it may have.
	Organization func(ctx context.Context, org id.Org) (directory.Organization, plan.Terms, error)
	// Gate mails invites.
	Gate    *signin.Gate
	Opener  *connection.Opener
	Limiter *limits.Limiter
	// Reporter notes that a system called.
	Reporter *connection.Reporter

	// callers are hashes of those who proved lately who they are.
	callers lru.Cache[[sha256.Size]byte, bool]
}

// mostCallers bounds those that are remembered.
const mostCallers = 20_000

// callerOf stands for who sends a request to an address.
func callerOf(r *http.Request, at string) [sha256.Size]byte {
	key, _, _ := r.BasicAuth()
	return sha256.Sum256([]byte(at + "\x00" + key))
}

// desk takes what systems send.
func (a *API) desk() *ats.Desk {
	return &ats.Desk{Tenants: a.Tenants, Organization: a.Organization, Mails: a.Gate.Mails}
}

const (
	// maxBody is more than a candidate with a whole hiring team takes.
	maxBody = 64 << 10
	// PerConnection is how many requests a minute a connection takes.
	PerConnection = 600
)

// requests is the class that they are counted in.
const requests rate.Class = "ats"

// protocol is how a system is answered.
type protocol struct {
	provider connection.Provider
	// refuse answers what could not be done, in the system's own form.
	refuse func(w http.ResponseWriter, call string, r refused)
}

// refused is what could not be done.
type refused struct {
	status int
	// code is one of the API's, and message is for people.
	code, message, request string
	// duplicate says that the candidate is in the role already, and rule that the message is of a rule of
	// hiring, which people there can do something about.
	duplicate, rule bool
}

// call is a request of a system that proved who it is.
type call struct {
	*route.Call
	by connection.Opened
	r  *http.Request
}

// who is the actor of what a system does.
func (c *call) who() activity.Actor {
	return activity.Actor{By: c.by.ID.String(), At: c.Now(), Address: c.Address.String()}
}

// read reads the request's body. What it does not name is left out: systems add to their requests.
func (c *call) read(into any) error {
	if err := json.Unmarshal(c.Body(), into); err != nil {
		return problem.Invalid("body", "The body is not of the form that this request has.").WithCause(err)
	}
	return nil
}

// Register declares the operations. They are in none of the API's documents: their forms are the
// systems' own.
func (a *API) Register(s *route.Service) {
	var err error
	if a.callers, err = lru.New[[sha256.Size]byte, bool](mostCallers); err != nil {
		panic(err) // the size is good
	}
	greenhouse := protocol{connection.Greenhouse, refuseGreenhouse}
	a.serve(s, greenhouse, http.MethodGet, "list_tests", a.listTests)
	a.serve(s, greenhouse, http.MethodPost, "send_test", a.sendTest)
	a.serve(s, greenhouse, http.MethodGet, "test_status", a.testStatus)
	a.serve(s, greenhouse, http.MethodPost, "response_error", a.responseError)
	ashby := protocol{connection.Ashby, refuseAshby}
	a.serve(s, ashby, http.MethodPost, "assessment.list", a.list)
	a.serve(s, ashby, http.MethodPost, "assessment.start", a.start)
	a.serve(s, ashby, http.MethodPost, "assessment.cancel", a.cancel)
}

// ids name the operations, for the log.
var ids = map[string]string{
	"list_tests": "listGreenhouseTests", "send_test": "sendGreenhouseTest", "test_status": "getGreenhouseTestStatus", "response_error": "receiveGreenhouseError",
	"assessment.list": "listAshbyAssessments", "assessment.start": "startAshbyAssessment", "assessment.cancel": "cancelAshbyAssessment",
}

// serve declares one request of a protocol.
func (a *API) serve(s *route.Service, p protocol, method, name string, do func(ctx context.Context, c *call) (any, error)) {
	s.Protocol(route.Operation{
		ID: ids[name], Group: "Connections", Method: method, Path: "/ats/{id}/" + name, Auth: route.Open, Since: contract.V20261001, MaxBody: maxBody,
		// Systems ask for all their customers from a few addresses.
		Identifies: func(r *http.Request, at string) bool { return a.callers.Contains(callerOf(r, at)) },
	}, func(_ context.Context, c *route.Call, at string) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer, err := a.answer(r, c, p, at, name, do)
			if err != nil {
				p.refuse(w, name, explain(r.Context(), c, w, err))
				return
			}
			write(w, http.StatusOK, answer)
		}), nil
	})
}

func (a *API) answer(r *http.Request, c *route.Call, p protocol, at, name string, do func(context.Context, *call) (any, error)) (any, error) {
	by, err := a.admit(r, p, at)
	if err != nil {
		a.callers.Remove(callerOf(r, at))
		return nil, err
	}
	a.callers.Add(callerOf(r, at), true)
	c.Identified()
	reading, err := a.Limiter.Take(r.Context(), limits.Counter{Org: by.Org, Holder: by.ID.String(), Class: requests}, PerConnection)
	if err == nil && reading.Refused {
		p := problem.New(problem.RateLimited, "More than %d requests a minute for this connection.", PerConnection)
		p.RetryAfter = max(reading.Reset, time.Second)
		err = p
	}
	if err := c.Limited(reading, err); err != nil {
		return nil, err
	}
	a.Reporter.Report(by.Org, by.ID, connection.Outcome{At: c.Now(), Name: "webhook " + name, Received: true})
	return do(r.Context(), &call{Call: c, by: by, r: r})
}

// unauthorized is the one answer to whoever does not prove who they are: it does not tell which
// connections there are.
func unauthorized() error {
	return problem.New(problem.Unauthorized, "The API key is missing, or that of no connection.")
}

// admit finds the connection that a request is for. at is its id and the organization's with a full
// stop between, or the provider's name where both stand before the key, likewise: that is one address for
// everybody who is connected.
func (a *API) admit(r *http.Request, p protocol, at string) (connection.Opened, error) {
	key, _, ok := r.BasicAuth()
	if !ok {
		return connection.Opened{}, unauthorized()
	}
	if at == string(p.provider) {
		var found bool
		which, rest, _ := strings.Cut(key, ".")
		at, key, found = strings.Cut(rest, ".")
		if at = which + "." + at; !found {
			return connection.Opened{}, unauthorized()
		}
	}
	first, second, _ := strings.Cut(at, ".")
	which, err := id.ParseConnection(first)
	if err != nil {
		return connection.Opened{}, unauthorized()
	}
	org, err := id.ParseOrg(second)
	if err != nil {
		return connection.Opened{}, unauthorized()
	}
	opened, err := a.Opener.Open(r.Context(), org, which)
	switch {
	case errdefs.IsAbsent(err, connection.Noun), errors.Is(err, connection.ErrDisabled), errors.Is(err, directory.ErrUnknown):
		return opened, unauthorized()
	case err != nil:
		return opened, err
	case opened.Kind != connection.ATS || opened.Provider != p.provider || !opened.Admits(key):
		return opened, unauthorized()
	}
	return opened, nil
}

// explain says to a system what an error is. What it does not say is logged.
func explain(ctx context.Context, c *route.Call, w http.ResponseWriter, err error) refused {
	r := refused{request: c.RequestID.String()}
	if why, ok := errors.AsType[*ats.RefusalError](err); ok {
		r.message, r.duplicate, r.rule = why.Message, why.Why == ats.Duplicate, why.Why != ats.TooMany
		r.status, r.code = statuses[why.Why].status, string(statuses[why.Why].code)
		if why.Why == ats.TooMany {
			w.Header().Set("Retry-After", "3600")
		}
		return r
	}
	p := c.Problem(err)
	r.status, r.code, r.message = p.Code.Status(), string(p.Code), c.Told(ctx, err)
	if p.Code == problem.Unauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="ats"`)
	}
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64((p.RetryAfter+time.Second-1)/time.Second), 10))
	}
	return r
}

// statuses are how refusals are told where a protocol has no form of its own for them.
var statuses = map[ats.Why]struct {
	status int
	code   problem.Code
}{
	ats.Unknown:   {http.StatusNotFound, problem.NotFound},
	ats.Closed:    {http.StatusNotFound, problem.NotFound},
	ats.Duplicate: {http.StatusConflict, problem.Conflict},
	ats.Wrong:     {http.StatusBadRequest, problem.InvalidRequest},
	ats.Barred:    {http.StatusForbidden, problem.Forbidden},
	ats.Begun:     {http.StatusConflict, problem.Conflict},
	ats.TooMany:   {http.StatusTooManyRequests, problem.RateLimited},
}

func write(w http.ResponseWriter, status int, answer any) {
	body, err := json.Marshal(answer)
	if err != nil { // no answer here has what JSON cannot say
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
