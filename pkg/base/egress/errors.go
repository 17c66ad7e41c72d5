package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
)

var (
	// ErrRedirect is the failure of a request that was answered with a redirect; a
	// [RedirectError] is one.
	ErrRedirect = errors.New("the server answered with a redirect, which is not followed")
	// ErrTooLarge is the failure of a response whose body exceeds its bound.
	ErrTooLarge = errors.New("the response is too large")
	// ErrTimeout is the failure of a request that exceeded the guard's timeout or
	// the deadline of the caller's context. It is [context.DeadlineExceeded] too.
	ErrTimeout error = timeoutError{}
)

// timeoutError is the type of [ErrTimeout].
type timeoutError struct{}

func (timeoutError) Error() string { return "the request took too long" }

// Timeout makes the error a timeout for those who ask in the way of [net.Error].
func (timeoutError) Timeout() bool { return true }

// Is makes the error a [context.DeadlineExceeded] under errors.Is.
func (timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// InvalidURLError says why a URL may not be used whatever its host resolves to.
type InvalidURLError struct {
	Reason string // a clause about the URL, such as "it has no host"
}

func (e *InvalidURLError) Error() string { return e.Reason }

// RefusedError says that a host is, or resolves to, an address that is neither
// public nor allowed by the operator; or that it is public, and not allowed over http.
type RefusedError struct {
	Class Class
	// Addr is the refused address. It is for the operator's log only: it tells a
	// customer what names resolve to inside this network.
	Addr netip.Addr
}

func (e *RefusedError) Error() string {
	if e.Class == ClassPublic {
		return "the address of the host is not one that may be reached over http"
	}
	return fmt.Sprintf("the address of the host is not allowed (%s)", e.Class)
}

// StatusError says that a server answered [Guard.Fetch] with a status other than
// 2xx.
type StatusError struct {
	Code int
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("the server answered with status %d", e.Code)
}

// RedirectError is an [ErrRedirect] that knows where to. Whoever follows it asks the
// guard again, which checks the new address like any other.
type RedirectError struct {
	// Location is the header as sent: unverified, perhaps relative or empty, and not
	// for the customer's eyes.
	Location string
}

func (*RedirectError) Error() string { return ErrRedirect.Error() }

// Is makes the error an [ErrRedirect] under errors.Is.
func (*RedirectError) Is(target error) bool { return target == ErrRedirect }

// NetworkError is every other failure: the host name does not resolve, no
// connection, TLS, a broken response.
type NetworkError struct {
	Reason string // a sentence fit for the customer
	// Err is the cause, for the operator's log only: it may name addresses of the
	// host and of this network's DNS servers.
	Err error
}

func (e *NetworkError) Error() string { return e.Reason }

// Unwrap returns the cause.
func (e *NetworkError) Unwrap() error { return e.Err }

// explain turns the failure of an exchange into one of this package's errors, or
// into [context.Canceled] if the caller gave up. ctx is the caller's context, not
// one with the guard's timeout.
func explain(ctx context.Context, err error) error {
	var (
		refused  *RefusedError
		network  *NetworkError
		tooLarge *http.MaxBytesError
	)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return context.Canceled
	case errors.As(err, &refused):
		// Taken out of its chain: net.OpError would add the address to the text.
		return refused
	case errors.As(err, &tooLarge):
		return ErrTooLarge
	case isTimeout(err):
		return ErrTimeout
	case errors.As(err, &network):
		return network
	}
	return &NetworkError{Reason: networkReason(err), Err: err}
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// networkReason describes err without quoting it, since the texts of package net
// name addresses.
func networkReason(err error) string {
	var (
		certificate *tls.CertificateVerificationError
		operation   *net.OpError
	)
	switch {
	case errors.As(err, &certificate):
		return "the certificate of the server could not be verified"
	case errors.As(err, &operation) && operation.Op == "dial":
		return "the server could not be reached"
	}
	return "the exchange with the server failed"
}
