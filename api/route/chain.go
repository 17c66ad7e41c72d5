package route

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/telemetry"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/idempotency"
)

// requestTimeout bounds everything a request waits for.
const requestTimeout = 25 * time.Second

// ServeHTTP begins every request: it gets its id, is counted for its address,
// and is routed. Whatever happens after is answered in the API's own form.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	c := &Call{RequestID: id.NewRequest(), Contract: contract.Latest, service: s, Address: s.AddressOf(r)}
	ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
	c.connection, c.release = r.Context(), cancel
	defer func() { c.release() }()
	ctx = telemetry.WithRequest(context.WithValue(ctx, callKey{}, c), c.RequestID.String())
	recorder := &recorder{ResponseWriter: w}
	c.writer, c.request = recorder, byDecodedPath(r.WithContext(ctx))
	c.SetHeader("X-Request-Id", c.RequestID.String())
	c.SetHeader("Cache-Control", "private, no-store") // unless a file says otherwise
	c.speak(contract.Latest)
	defer s.finish(c, recorder, began)
	defer c.letGo()
	defer s.recover(c, recorder)

	if err := c.limitAddress(); err != nil && !s.identified(c.request) {
		c.openToPages(s.fromPages(r.Method, r))
		c.refuse(err)
		return
	}
	if emptySegment(c.request.URL.Path) {
		s.notFound(recorder, c.request)
		return
	}
	s.router.ServeHTTP(recorder, c.request)
}

// recover answers 500 for a fault of the program.
func (s *Service) recover(c *Call, w *recorder) {
	if err := s.caught(c, recover()); err != nil && w.status == 0 {
		c.committed, c.replayed = nil, nil
		c.refuse(err)
	}
}

// guard is the chain before an operation's handler.
func (s *Service) guard(o *Operation, next http.Handler) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c := callOf(r.Context())
		c.Op, c.request = o, r
		trace.SpanFromContext(r.Context()).SetName(o.ID)
		c.openToPages(o)
		if err := c.admit(); err != nil {
			rest := c.leavesMuch()
			if rest { // no other request comes behind it
				c.writer.Header().Set("Connection", "close")
			}
			c.refuse(err)
			if rest {
				c.linger()
			}
			return
		}
		next.ServeHTTP(c.writer, c.request)
	})
}

// admit decides whether the handler gets the request. Refusals for scope or
// input come after the limits, so they are counted.
func (c *Call) admit() error {
	if err := c.authenticate(); err != nil {
		return err
	}
	if err := c.limitKey(); err != nil {
		return err
	}
	if err := c.negotiate(); err != nil {
		return err
	}
	if err := c.authorize(); err != nil {
		return err
	}
	if err := c.checkQuery(); err != nil && !c.Op.Probe {
		return err
	}
	if err := c.checkBefore(); err != nil {
		return err
	}
	return c.readBody()
}

// checkBefore says whether the operation could have its effect at all, by the plan and by what it
// says itself, before anything is read of a body. What had its effect before is answered again.
func (c *Call) checkBefore() error {
	ctx := c.request.Context()
	var err error
	switch {
	case c.Op.Feature != "" && !c.Principal.Terms.Has(c.Op.Feature):
		err = c.service.Plans.FeatureMissing(c.Principal.Terms, c.Op.Feature)
	case c.Op.Before != nil:
		err = c.Op.Before(ctx, c)
	}
	if err == nil || !c.Op.Idempotent || c.request.Header.Get(IdempotencyHeader) == "" {
		return err
	}
	known, lookupErr := c.service.Idempotency.Answered(ctx, idempotency.Request{
		Org: c.Org(), Key: c.Principal.Key.ID, Method: c.Op.Method, Path: c.request.URL.Path, ClientKey: c.request.Header.Get(IdempotencyHeader),
	})
	if lookupErr != nil {
		return lookupErr
	}
	if known {
		return nil
	}
	return err
}

// authenticate finds out who calls (Authentication, 1 and 2).
func (c *Call) authenticate() error {
	if c.Op.Auth == Open {
		return nil
	}
	scheme, secret, _ := strings.Cut(c.request.Header.Get("Authorization"), " ")
	err := apikey.ErrUnauthorized
	if strings.EqualFold(scheme, "Bearer") {
		c.bearer = strings.TrimSpace(secret)
		c.Principal, err = c.service.Auth.Authenticate(c.request.Context(), c.bearer)
	}
	if errors.Is(err, apikey.ErrUnauthorized) {
		if c.Op.Auth == MayHaveKey {
			return nil
		}
		return c.unauthorized(scheme)
	}
	return err
}

// unauthorized says what to send. That a key was sent in another place than it belongs
// is told from one that opens nothing; of which key that may be, nothing is.
func (c *Call) unauthorized(scheme string) error {
	const form = "Send an API key as Authorization: Bearer <API_KEY>"
	text := form + "."
	switch {
	case strings.EqualFold(scheme, "Bearer"):
		text = "The API key is not valid: it is mistyped, unknown, expired or revoked."
	case strings.EqualFold(scheme, "Basic"):
		text = form + ", not by Basic authentication."
	case scheme != "":
		text = form + ": the scheme Bearer is missing."
	case c.request.Header.Get("X-API-Key") != "":
		text = form + ", not in X-API-Key."
	}
	return problem.New(problem.Unauthorized, "%s", text).WithParam("header.Authorization")
}

// negotiate chooses the contract of the answer (Versioning, 2 and 3).
func (c *Call) negotiate() error {
	pinned := contract.V20260708
	if c.Principal != nil {
		pinned = c.Principal.Key.Contract
		c.speak(pinned)
	}
	values := c.request.Header.Values(contract.Header)
	if len(values) == 0 {
		return nil
	}
	asked, ok := contract.Parse(values[0])
	if !ok || len(values) > 1 {
		if c.Op.Probe {
			return nil
		}
		return problem.Invalid("header."+contract.Header, "%s must be %s.", contract.Header, problem.Or(contract.Versions()))
	}
	if asked.Before(pinned) {
		return problem.Invalid("header."+contract.Header,
			"This key is on contract %s; it can ask for that or a newer one, not for %s.", pinned, asked)
	}
	c.speak(asked)
	return nil
}

// speak sets the contract the answer is written in.
func (c *Call) speak(v contract.Version) {
	c.Contract = v
	c.SetHeader(contract.Header, string(v))
}

// authorize checks where the key is used from and what it may do. Of an
// operation that is open to all, a key that may not is none.
func (c *Call) authorize() error {
	if c.Principal == nil {
		return nil
	}
	key := c.Principal.Key
	var refused *problem.Problem
	switch {
	case !key.AllowedFrom(c.Address):
		refused = problem.New(problem.Forbidden, "This key may not be used from this address.")
	case c.Op.Scope != "" && !key.Grant().Holds(c.Op.Scope):
		refused = problem.New(problem.Forbidden, "This key lacks the scope %s.", c.Op.Scope)
	case c.Op.AndScope != "" && !key.Grant().Holds(c.Op.AndScope):
		refused = problem.New(problem.Forbidden, "This key lacks the scope %s.", c.Op.AndScope)
	default:
		return nil
	}
	if c.Op.Auth == MayHaveKey {
		c.Principal = nil
		return nil
	}
	return refused
}

// notFound answers an unknown path.
func (s *Service) notFound(_ http.ResponseWriter, r *http.Request) {
	s.unrouted(r, problem.New(problem.NotFound, "There is nothing at this path."))
}

// methodNotAllowed answers a known path asked with another method.
func (s *Service) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	c := callOf(r.Context())
	if s.preflight(c, r) {
		return
	}
	methods := s.methodsAt(r.URL.Path)
	if len(methods) == 0 { // the router knows no such method anywhere
		s.notFound(w, r)
		return
	}
	c.SetHeader("Allow", strings.Join(methods, ", "))
	s.unrouted(r, problem.New(problem.MethodNotAllowed, "This path does not take %s.", r.Method))
}

// unrouted answers a request that belongs to no operation. A key is counted
// all the same, and its contract spoken.
func (s *Service) unrouted(r *http.Request, p *problem.Problem) {
	c := callOf(r.Context())
	c.Op, c.request = &unroutedOperation, r
	for _, step := range []func() error{c.authenticate, c.limitKey, c.negotiate} {
		if err := step(); err != nil {
			c.refuse(err)
			return
		}
	}
	c.refuse(p)
}

// recorder remembers the status that was written.
type recorder struct {
	http.ResponseWriter
	status int
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	switch w.status {
	case 0:
		w.status = http.StatusOK
	case http.StatusNotModified:
		return len(b), nil // such an answer has no body
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the writer below.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
