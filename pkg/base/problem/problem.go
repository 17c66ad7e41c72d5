// Package problem is the one error type that reaches a caller of the API. A
// problem carries everything the wire needs (HTTP status, code, message, the
// input at fault, details, how long to wait) and the cause that only the log
// sees. How it is written in each contract is package contract's business.
package problem

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"time"
)

// Code is a machine-readable error code of the spec's table "Errors".
type Code string

// The codes of "Errors" that exist so far.
const (
	AccountPaused         Code = "account_paused"
	CandidateInterview    Code = "candidate_interview"
	Capacity              Code = "capacity"
	ConcurrencyLimit      Code = "concurrency_limit"
	Conflict              Code = "conflict"
	ConsentInvalid        Code = "consent_invalid"
	ConsentOutdated       Code = "consent_outdated"
	ConsentRequired       Code = "consent_required"
	DuoNotLive            Code = "duo_not_live"
	FaceNotReady          Code = "face_not_ready"
	FeatureNotInPlan      Code = "feature_not_in_plan"
	Forbidden             Code = "forbidden"
	GoLiveRefused         Code = "go_live_refused"
	Gone                  Code = "gone"
	IdempotencyConflict   Code = "idempotency_conflict"
	IdempotencyInProgress Code = "idempotency_in_progress"
	InsufficientMinutes   Code = "insufficient_minutes"
	InvalidRequest        Code = "invalid_request"
	LearnerConversation   Code = "learner_conversation"
	MethodNotAllowed      Code = "method_not_allowed"
	NotFound              Code = "not_found"
	OnHold                Code = "on_hold"
	RateLimited           Code = "rate_limited"
	ServerError           Code = "server_error"
	SessionEnded          Code = "session_ended"
	TooLarge              Code = "too_large"
	Unauthorized          Code = "unauthorized"
	UnsupportedMediaType  Code = "unsupported_media_type"
	UpgradeRequired       Code = "upgrade_required"
	UpstreamError         Code = "upstream_error"
	UpstreamTimeout       Code = "upstream_timeout"
	VersionConflict       Code = "version_conflict"
)

var statuses = map[Code]int{
	AccountPaused:         http.StatusForbidden,
	CandidateInterview:    http.StatusForbidden,
	Capacity:              http.StatusServiceUnavailable,
	ConcurrencyLimit:      http.StatusTooManyRequests,
	Conflict:              http.StatusConflict,
	ConsentInvalid:        http.StatusBadRequest,
	ConsentOutdated:       http.StatusBadRequest,
	ConsentRequired:       http.StatusBadRequest,
	DuoNotLive:            http.StatusConflict,
	FaceNotReady:          http.StatusConflict,
	FeatureNotInPlan:      http.StatusForbidden,
	Forbidden:             http.StatusForbidden,
	GoLiveRefused:         http.StatusUnprocessableEntity,
	Gone:                  http.StatusGone,
	IdempotencyConflict:   http.StatusConflict,
	IdempotencyInProgress: http.StatusConflict,
	InsufficientMinutes:   http.StatusPaymentRequired,
	InvalidRequest:        http.StatusBadRequest,
	LearnerConversation:   http.StatusForbidden,
	MethodNotAllowed:      http.StatusMethodNotAllowed,
	NotFound:              http.StatusNotFound,
	OnHold:                http.StatusConflict,
	RateLimited:           http.StatusTooManyRequests,
	ServerError:           http.StatusInternalServerError,
	SessionEnded:          http.StatusConflict,
	TooLarge:              http.StatusRequestEntityTooLarge,
	Unauthorized:          http.StatusUnauthorized,
	UnsupportedMediaType:  http.StatusUnsupportedMediaType,
	UpgradeRequired:       http.StatusForbidden,
	UpstreamError:         http.StatusBadGateway,
	UpstreamTimeout:       http.StatusGatewayTimeout,
	VersionConflict:       http.StatusConflict,
}

// Status is the HTTP status the code is answered with.
func (c Code) Status() int { return statuses[c] }

// Problem is a failure as the caller of the API sees it, in the newest contract.
type Problem struct {
	Code    Code
	Message string
	// Param names the input at fault: body.<field>, query.<field>,
	// path.<name> or header.<name>; empty when no single input is.
	Param string
	// Details are the structured extras of "Errors", Details.
	Details map[string]any
	// RetryAfter becomes the Retry-After header, in whole seconds, rounded up.
	RetryAfter time.Duration
	// Cause is for the log only and never leaves the server.
	Cause error
}

// New makes a problem of a code with a formatted message.
func New(code Code, format string, args ...any) *Problem {
	return &Problem{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid is a 400 invalid_request that names the input at fault.
func Invalid(param, format string, args ...any) *Problem {
	return New(InvalidRequest, format, args...).WithParam(param)
}

// Missing is the 404 for an id that names nothing this caller may see,
// whatever the reason. what is a plain noun such as "avatar".
func Missing(what string) *Problem {
	return New(NotFound, "No such %s in this organization.", what)
}

// Conflicting is a 409 conflict with details.reason.
func Conflicting(reason, format string, args ...any) *Problem {
	return New(Conflict, format, args...).WithDetail("reason", reason)
}

// Managed is a 409 conflict of a noun that a resource declares.
func Managed(noun, by string) *Problem {
	return Conflicting("managed", "The %s is managed by %s. Change it there.", noun, by).WithDetail("managedBy", by)
}

// NotReady is a 409 face_not_ready: the face can be worn in about as long as
// wait says.
func NotReady(wait time.Duration) *Problem {
	p := New(FaceNotReady, "The face is still being prepared, which takes about a minute. Please try again shortly.").
		WithDetail("etaS", int64(math.Ceil(wait.Seconds())))
	p.RetryAfter = wait
	return p
}

// Unavailable is a 503 capacity with Retry-After: something the answer needs
// (a database, as a rule) cannot be reached right now.
func Unavailable(retryAfter time.Duration, cause error) *Problem {
	p := New(Capacity, "The service cannot answer this right now. Please try again shortly.")
	p.RetryAfter, p.Cause = retryAfter, cause
	return p
}

// WithParam names the input at fault.
func (p *Problem) WithParam(param string) *Problem {
	p.Param = param
	return p
}

// WithDetail adds one structured extra.
func (p *Problem) WithDetail(key string, value any) *Problem {
	if p.Details == nil {
		p.Details = map[string]any{}
	}
	p.Details[key] = value
	return p
}

// WithCause attaches what only the log sees.
func (p *Problem) WithCause(err error) *Problem {
	p.Cause = err
	return p
}

// Error is the line for the log; it includes the cause.
func (p *Problem) Error() string {
	s := string(p.Code) + ": " + p.Message
	if p.Param != "" {
		s += " (" + p.Param + ")"
	}
	if p.Cause != nil {
		s += ": " + p.Cause.Error()
	}
	return s
}

// Unwrap gives the cause to errors.Is and errors.As.
func (p *Problem) Unwrap() error { return p.Cause }

// Is says whether err is a problem of this code.
func Is(err error, code Code) bool {
	var p *Problem
	return errors.As(err, &p) && p.Code == code
}

// From turns any error into a problem. One that is not a problem already
// becomes a 500 whose message tells the caller nothing of the cause.
func From(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	return New(ServerError, "Something went wrong on our side. Please contact support with the request id.").WithCause(err)
}

// Codes lists every code in alphabetical order.
func Codes() []Code { return slices.Sorted(maps.Keys(statuses)) }
