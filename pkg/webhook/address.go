package webhook

import (
	"context"
	"errors"
	"net/url"
	"time"

	"visavis.dev/pkg/egress"
)

// lookupTimeout bounds the look-up of a new address's host.
const lookupTimeout = 2 * time.Second

// CheckURL says whether an address may be a webhook's: public, and https. One
// whose host cannot be found right now is let through, for it is checked again
// before every attempt. The error is an egress.InvalidURLError or an
// egress.RefusedError, or context.Canceled.
func CheckURL(ctx context.Context, g *egress.Guard, address string) error {
	u, err := g.CheckURL(address)
	if err != nil {
		return err
	}
	lookup, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	err = g.CheckHost(lookup, u)
	var network *egress.NetworkError
	if errors.As(err, &network) || errors.Is(err, egress.ErrTimeout) {
		return nil
	}
	return err
}

// Place is an address's scheme and host, which may be written down: what comes
// after them can hold a token.
func Place(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
