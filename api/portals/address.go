package portals

import (
	"context"
	"errors"
	"net/http"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/directory"
)

func parseSlug(text string) (string, error) {
	slug, ok := portal.ParseSlug(text)
	if !ok {
		return "", problem.Invalid("body.slug", "A slug has 3 to 63 letters a to z, digits and, between them, hyphens.")
	}
	return slug, nil
}

// parseHost reads a host of the customer's own; null is none.
func (a *API) parseHost(c *route.Call, text *string) (string, error) {
	if text == nil {
		return "", nil
	}
	host, ok := portal.ParseHost(*text)
	// A portal at the API's host would answer in its place.
	if !ok || portal.IsHostOf(host, a.PortalURL, a.LiveURL, c.URL("")) {
		return "", problem.Invalid("body.customDomain", "customDomain is the name of a host of your own, such as learn.example.com.")
	}
	return host, nil
}

// claim claims a portal's slug and host as far as they are wanted. What was claimed
// is decided with the request.
func (a *API) claim(ctx context.Context, c *route.Call, p portal.Portal, slug, host bool) ([]portal.Held, error) {
	var held []portal.Held
	for _, w := range []struct {
		wanted              bool
		kind                directory.AddressKind
		name, param, reason string
	}{
		{slug, directory.Slug, p.Slug, "body.slug", "slug_taken"},
		{host && p.Host != "", directory.Host, p.Host, "body.customDomain", "domain_taken"},
	} {
		if !w.wanted {
			continue
		}
		h, err := a.Addresses.Claim(ctx, c.Org(), p.ID, w.kind, w.name)
		if errors.Is(err, portal.ErrTaken) {
			err = a.taken(c, p, w.kind, problem.Conflicting(w.reason, "%s is another portal's.", w.name).WithParam(w.param))
		}
		if err != nil {
			return nil, a.finishClaims(ctx, err, held)
		}
		held = append(held, h)
	}
	return held, nil
}

// taken says that somebody else has an address; of a host, what proves that it is the
// caller's: an unproven claim gives way to that.
func (a *API) taken(c *route.Call, p portal.Portal, kind directory.AddressKind, refusal *problem.Problem) error {
	if kind == directory.Host && a.Addresses.Proof != nil {
		return refusal.WithDetail("record", a.Addresses.Proof.Record(c.Org(), p.ID, p.Host, p.HostRound))
	}
	return refusal
}

// finishClaims tells whoever lost a host to a request, and gives up what was claimed for one
// that was refused. Whether one that failed had its effect is not known; its claims are left
// to lapse.
func (a *API) finishClaims(ctx context.Context, failed error, held []portal.Held) error {
	if failed == nil {
		a.Addresses.Displace(ctx, held...)
	}
	var refusal *problem.Problem
	if errors.As(failed, &refusal) && refusal.Code.Status() < http.StatusInternalServerError {
		return errors.Join(failed, a.Addresses.Release(ctx, held...))
	}
	return failed
}
