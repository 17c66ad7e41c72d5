package webhook

import (
	"context"
	"net/url"

	"visavis.dev/pkg/base/egress"
)

// CheckURL says whether an address may be a webhook's: public, and https. One
// whose host cannot be found right now is let through, for it is checked again
// before every attempt. The errors are those of [egress.Guard.CheckAddress].
func CheckURL(ctx context.Context, g *egress.Guard, address string) error {
	return g.CheckAddress(ctx, address)
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
