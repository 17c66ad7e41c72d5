package route

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/store/idempotency"
	"visavis.dev/pkg/store/tenant"
)

// retryCapacity is what a caller is asked to wait when the database is away.
const retryCapacity = time.Second

// Problem is what an error that a handler or the chain can meet is to the caller.
func (c *Call) Problem(err error) *problem.Problem {
	var p *problem.Problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, idempotency.ErrConflict):
		return problem.New(problem.IdempotencyConflict, "This Idempotency-Key was used with a different request.").
			WithParam("header.Idempotency-Key")
	case errors.Is(err, idempotency.ErrErased):
		return problem.New(problem.Gone, "This request was answered before, and the answer told of somebody who was erased since. It had its effect once.").
			WithParam("header.Idempotency-Key")
	case errors.Is(err, idempotency.ErrInProgress):
		p := problem.New(problem.IdempotencyInProgress, "A request with this Idempotency-Key is still running.").
			WithParam("header.Idempotency-Key")
		p.RetryAfter = time.Second
		return p
	case errors.Is(err, context.Canceled):
		// The caller is gone; the answer is for the log.
		return problem.Unavailable(retryCapacity, err)
	case tenant.Unavailable(err):
		return problem.Unavailable(retryCapacity, err)
	}
	if p := c.ofRules(err); p != nil {
		return p
	}
	return problem.From(err)
}

// refusal is a problem on its way through huma.
type refusal struct{ *problem.Problem }

// GetStatus implements huma.StatusError.
func (r *refusal) GetStatus() int { return r.Code.Status() }

// failure logs what the caller is not told, sets the headers of a failed
// answer, and makes the error that huma writes.
func (c *Call) failure(err error) *refusal {
	p := c.Problem(err)
	ctx := c.request.Context()
	switch {
	case errors.Is(err, context.Canceled):
		c.service.Log.DebugContext(ctx, "the caller went away", "error", p)
	case p.Code == problem.Capacity && errors.Unwrap(p) == nil:
		// More than this process takes on, which is no fault.
		c.service.Log.WarnContext(ctx, "request refused: no capacity", "error", p)
	case p.Code.Status() >= http.StatusInternalServerError:
		c.service.Log.ErrorContext(ctx, "request failed", "error", p)
	}
	if p.RetryAfter > 0 {
		c.SetHeader(retryHeader, strconv.Itoa(int(math.Ceil(p.RetryAfter.Seconds()))))
	}
	if p.Code == problem.Unauthorized {
		c.SetHeader("WWW-Authenticate", "Bearer")
	}
	return &refusal{p}
}

// refuse answers a problem from outside huma.
func (c *Call) refuse(err error) {
	r := c.failure(err)
	text := c.render(r)
	c.SetHeader("Content-Type", "application/json")
	c.SetHeader("Content-Length", strconv.Itoa(len(text)))
	c.writer.WriteHeader(r.GetStatus())
	_, _ = c.writer.Write(text)
}

// render makes the bytes of an answer in the caller's contract.
func (c *Call) render(v any) []byte {
	// A refusal comes first: what is done after the commit can still fail.
	if r, ok := v.(*refusal); ok {
		return encode(contract.Failure(c.Contract, r.Problem))
	}
	switch {
	case c.replayed != nil:
		return c.replayed.Body
	case c.committed != nil:
		return c.committed
	}
	if c.Op.Items != "" && c.Contract.Before(contract.Latest) {
		return older(c.Contract, c.Op.Items, encode(v))
	}
	return encode(v)
}

// encode writes JSON, with <, > and & as they are: answers are no HTML. What it gets
// are our own types, so a failure is a fault of the program.
func encode(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
