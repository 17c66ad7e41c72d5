package portal

import (
	"context"
	"errors"

	"github.com/golang-jwt/jwt/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/provider/lti"
	"visavis.dev/pkg/visits/signin"
	"visavis.dev/web/page"
)

// platforms are the learning platforms that launch portals, as pages ask them.
type platforms struct {
	gate     *signin.Gate
	registry *certificate.Registry
}

// Begin implements page.Platforms.
func (p platforms) Begin(ctx context.Context, site *published.Site, which id.Connection, h lti.Hint, redirect string) (page.PlatformQuestion, error) {
	q, err := p.gate.AskPlatform(ctx, site.Org, site.Portal, which, h, redirect)
	return page.PlatformQuestion{URL: q.URL, State: q.State, Cookie: q.Cookie, ExpiresAt: q.ExpiresAt}, told(err)
}

// Launch implements page.Platforms.
func (p platforms) Launch(ctx context.Context, site *published.Site, which id.Connection, a page.PlatformAnswer) (page.Launched, error) {
	in, err := p.gate.ByPlatform(ctx, site.Org, site.Portal, which, signin.PlatformAnswer{
		State: a.State, Token: a.Token, Cookie: a.Cookie,
		Subject: func(s id.Subject) bool {
			_, ok := site.Subject(s)
			return ok
		},
	})
	out := page.Launched{Origins: in.Origins, Choice: in.Choice}
	if err != nil {
		return out, told(err)
	}
	if in.Choice == "" {
		out.Entered = page.Entered{Visit: visitOf(in.Guest), Secret: string(in.Secret)}
	}
	return out, nil
}

// Choose implements page.Platforms.
func (p platforms) Choose(ctx context.Context, site *published.Site, which id.Connection, choice string, item lti.Item) (page.Chosen, error) {
	chosen, err := p.gate.Choose(ctx, site.Org, site.Portal, which, choice, item, func(ctx context.Context, claims jwt.Claims) (string, error) {
		return p.registry.SignToken(ctx, site.Org, claims)
	})
	return page.Chosen{ReturnURL: chosen.ReturnURL, Token: chosen.Token, Origins: chosen.Origins}, told(err)
}

// Keys implements page.Platforms.
func (p platforms) Keys(ctx context.Context, site *published.Site, which id.Connection) ([]byte, error) {
	if _, err := p.gate.PlatformOf(ctx, site.Org, site.Portal, which); err != nil {
		return nil, told(err)
	}
	return p.registry.KeySet(ctx, site.Org)
}

// told is a refusal as pages read it.
func told(err error) error {
	if r, ok := errors.AsType[*signin.Refusal](err); ok {
		return r.Problem()
	}
	return err
}
