// Package source gets what a field of a request gives inline, as a data: URI,
// or names by a public https address: a picture, a recording, a proof.
package source

import (
	"context"
	"errors"
	"strings"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/datauri"
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/problem"
)

// Sources gets them.
type Sources struct{ Egress *egress.Guard }

// Get is the bytes that a field gives inline or names by address, at most so
// many. The error is a problem that names the field.
func (s Sources) Get(ctx context.Context, param, source string, limit int) ([]byte, error) {
	if text, ok := route.Detached(ctx, source); ok {
		return readAll(ctx, param, text, limit)
	}
	if datauri.Is(source) {
		_, data, err := datauri.Parse(source, limit)
		switch {
		case errors.Is(err, datauri.ErrTooLarge):
			return nil, tooLarge(param, limit)
		case err != nil:
			return nil, malformed(param)
		}
		return data, nil
	}
	if !strings.HasPrefix(strings.ToLower(source), "https://") {
		return nil, problem.Invalid(param, "Give a data: URI or a public https address.")
	}
	unused, err := route.Reserve(ctx, int64(limit))
	if err != nil {
		return nil, err
	}
	r, err := s.Egress.Fetch(ctx, source, int64(limit))
	if err != nil {
		unused(int64(limit))
		return nil, asProblem(param, limit, err)
	}
	unused(int64(limit - len(r.Body)))
	return r.Body, nil
}

func malformed(param string) *problem.Problem {
	return problem.Invalid(param, "The data: URI must be base64, such as data:image/png;base64,….")
}

func tooLarge(param string, limit int) *problem.Problem {
	return problem.New(problem.TooLarge, "%s is larger than %d MB.", param, limit>>20).WithParam(param)
}

func asProblem(param string, limit int, err error) error {
	var (
		badURL  *egress.InvalidURLError
		refused *egress.RefusedError
		status  *egress.StatusError
	)
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &badURL), errors.As(err, &refused):
		return problem.Invalid(param, "The address cannot be used: %v.", err).WithCause(err)
	case errors.Is(err, egress.ErrTooLarge):
		return tooLarge(param, limit)
	case errors.Is(err, egress.ErrRedirect):
		return problem.Invalid(param, "The address redirects; redirects are not followed.")
	case errors.As(err, &status):
		return problem.Invalid(param, "The address answered status %d.", status.Code)
	case errors.Is(err, egress.ErrTimeout):
		return problem.New(problem.UpstreamTimeout, "The address did not answer within 10 seconds.").WithParam(param)
	}
	return problem.New(problem.UpstreamError, "The address could not be reached: %v.", err).WithParam(param)
}
