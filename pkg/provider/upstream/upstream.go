// Package upstream says what can go wrong with a service that an organization
// connected, in a few codes that stay the same whatever the service: they are
// shown with a connection's health, and callers branch on them.
package upstream

import (
	"errors"
	"fmt"
	"time"
)

// Code is what went wrong.
type Code string

// The codes.
const (
	// Timeout: the service did not answer, or went on answering, in time.
	Timeout Code = "timeout"
	// Truncated: the answer broke off.
	Truncated Code = "truncated"
	// Refused: the service does not take the secret (401, 403).
	Refused Code = "refused"
	// RateLimited: the service was asked too often (429).
	RateLimited Code = "rate_limited"
	// Unavailable: the service cannot be reached, or failed (5xx).
	Unavailable Code = "unavailable"
	// Rejected: the service does not take the request, as a rule because its
	// address or a name in the configuration is wrong (other 4xx, a redirect).
	Rejected Code = "rejected"
	// Malformed: the answer is not what the protocol says.
	Malformed Code = "malformed"
	// AddressRefused: the address is not public.
	AddressRefused Code = "address_refused"
)

// Error is a failure of a service. Its text may be shown to the organization:
// it holds nothing that the service said.
type Error struct {
	Code Code
	// Status is the HTTP status; zero when there was none.
	Status int
	// RetryAfter is how long the service asks to be left alone, for RateLimited
	// and Unavailable; zero when it did not say.
	RetryAfter time.Duration
	// Err is the cause, for the log only.
	Err error
}

// The errors by code, for errors.Is.
var (
	ErrTimeout        = &Error{Code: Timeout}
	ErrTruncated      = &Error{Code: Truncated}
	ErrRefused        = &Error{Code: Refused}
	ErrRateLimited    = &Error{Code: RateLimited}
	ErrUnavailable    = &Error{Code: Unavailable}
	ErrRejected       = &Error{Code: Rejected}
	ErrMalformed      = &Error{Code: Malformed}
	ErrAddressRefused = &Error{Code: AddressRefused}
)

var texts = map[Code]string{
	Timeout:        "the service did not answer in time",
	Truncated:      "the answer of the service broke off",
	Refused:        "the service does not take the secret",
	RateLimited:    "the service was asked too often",
	Unavailable:    "the service cannot be reached or failed",
	Rejected:       "the service does not take the request",
	Malformed:      "the answer of the service makes no sense",
	AddressRefused: "the address of the service is not allowed",
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s (status %d)", texts[e.Code], e.Status)
	}
	return texts[e.Code]
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is holds for an error of the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// CodeOf is the code of an error; empty for nil and for what is no failure of
// the service, such as a caller who went away.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// StatusOf is the HTTP status of an error; zero when there was none.
func StatusOf(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status
	}
	return 0
}

// WithSecrets does something with the first secret that is not refused, as
// while a secret is being replaced either may be the one that works. Without
// any it is done with an empty one.
func WithSecrets(secrets []string, do func(secret string) error) error {
	if len(secrets) == 0 {
		return do("")
	}
	var err error
	for _, secret := range secrets {
		if err = do(secret); !errors.Is(err, ErrRefused) {
			return err
		}
	}
	return err
}
