package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"visavis.dev/pkg/base/egress"
)

// Exchange makes one request, as a guard's client does, and reads the whole answer. The error is an Error,
// or context.Canceled.
func Exchange(client *http.Client, req *http.Request) ([]byte, error) {
	resp, err := client.Do(req) //nolint:gosec // the client is a guard's
	if err != nil {
		return nil, FromRequest(err)
	}
	defer resp.Body.Close()
	if err := CheckStatus(resp); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, FromBody(err)
	}
	return body, nil
}

// ExchangeJSON is Exchange with an answer in JSON, which is read into answer.
func ExchangeJSON(client *http.Client, req *http.Request, answer any) error {
	body, err := Exchange(client, req)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return &Error{Code: Malformed, Err: err}
	}
	return nil
}

// FromRequest says what the failure of a guard's client amounts to.
func FromRequest(err error) error {
	var (
		refused *egress.RefusedError
		invalid *egress.InvalidURLError
		code    = Unavailable
	)
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, egress.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		code = Timeout
	case errors.As(err, &refused), errors.As(err, &invalid):
		code = AddressRefused
	case errors.Is(err, egress.ErrRedirect):
		code = Rejected
	}
	return &Error{Code: code, Err: err}
}

// FromBody says what a failure while the answer was read amounts to.
func FromBody(err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, egress.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: Timeout, Err: err}
	case errors.Is(err, egress.ErrTooLarge):
		return &Error{Code: Malformed, Err: err}
	}
	return &Error{Code: Truncated, Err: err}
}

// CheckStatus says what a status amounts to; nil for success.
func CheckStatus(resp *http.Response) error {
	e := &Error{Status: resp.StatusCode}
	switch status := resp.StatusCode; {
	case status >= 200 && status <= 299:
		return nil
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		e.Code = Refused
	case status == http.StatusTooManyRequests:
		e.Code = RateLimited
	case status == http.StatusRequestTimeout:
		e.Code = Timeout
	case status >= 500:
		e.Code = Unavailable
	default:
		e.Code = Rejected
	}
	if e.Code == RateLimited || e.Code == Unavailable {
		e.RetryAfter = retryAfter(resp.Header.Get("Retry-After"))
	}
	return e
}

// maxRetryAfter bounds what is believed of a Retry-After.
const maxRetryAfter = time.Hour

// retryAfter reads the header's seconds. Its other form, a date, is of no use
// without a clock that both sides agree on.
func retryAfter(header string) time.Duration {
	seconds, err := strconv.ParseInt(header, 10, 32)
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxRetryAfter)
}

// Stream makes one request, as a guard's client does, and has the answer read while it
// comes. The error is an Error, context.Canceled, or what read answered.
func Stream(client *http.Client, req *http.Request, read func(*http.Response) error) error {
	resp, err := client.Do(req) //nolint:gosec // the client is a guard's
	if err != nil {
		return FromRequest(err)
	}
	defer resp.Body.Close()
	if err := CheckStatus(resp); err != nil {
		return err
	}
	return read(resp)
}
