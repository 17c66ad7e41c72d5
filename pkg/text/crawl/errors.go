package crawl

import (
	"context"
	"errors"
	"net/http"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/text/extract"
)

// Code says in one word why a page could not be had.
type Code string

// The codes.
const (
	CodeAddressRefused Code = "address_refused" // not public, or a URL of a form that is never asked
	CodeTimeout        Code = "timeout"
	CodeFetchFailed    Code = "fetch_failed" // a status, the network, too many redirects
	CodeBlocked        Code = "blocked"      // by robots.txt
	CodeTooLarge       Code = "too_large"
	CodeUnsupported    Code = "unsupported" // a kind of document nobody here reads
)

var (
	// ErrBlocked is the failure of a page that robots.txt forbids.
	ErrBlocked = errors.New("the site's robots.txt does not allow this page to be read")
	// ErrRedirects is the failure of a page behind more redirects than are followed.
	ErrRedirects = errors.New("the address redirects too many times")
)

// errRobotsDown is the failure of a page whose host cannot say what it forbids.
var errRobotsDown = errors.New("the site's robots.txt could not be read, which forbids all pages for now")

// Error is why a page could not be had. Its text may be shown to the customer.
type Error struct {
	Code      Code
	Retryable bool // the same request may succeed later
	Err       error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is makes every block an [ErrBlocked].
func (e *Error) Is(target error) bool { return target == ErrBlocked && e.Code == CodeBlocked }

// explain gives the failure of a fetch its code. A cancelled context stays what it is.
func explain(err error) error {
	var (
		already *Error
		refused *egress.RefusedError
		invalid *egress.InvalidURLError
		status  *egress.StatusError
	)
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.As(err, &already):
		return err
	case errors.As(err, &refused), errors.As(err, &invalid):
		return &Error{Code: CodeAddressRefused, Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: CodeTimeout, Retryable: true, Err: egress.ErrTimeout}
	case errors.Is(err, egress.ErrTooLarge):
		return &Error{Code: CodeTooLarge, Err: err}
	case errors.Is(err, extract.ErrUnsupported):
		return &Error{Code: CodeUnsupported, Err: err}
	case errors.Is(err, ErrRedirects):
		return &Error{Code: CodeFetchFailed, Err: err}
	case errors.As(err, &status):
		return &Error{Code: CodeFetchFailed, Retryable: passing(status.Code), Err: err}
	}
	return &Error{Code: CodeFetchFailed, Retryable: true, Err: err}
}

// passing says whether a status is of now and not of the page.
func passing(status int) bool {
	return status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout ||
		status == http.StatusTooEarly
}
