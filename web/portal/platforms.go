package portal

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

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

// chosenFor is how long what somebody may choose of is good.
const chosenFor = time.Hour

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
	out := page.Launched{Origins: in.Origins}
	switch {
	case err != nil:
		return out, told(err)
	case in.Linking == nil:
		out.Entered = page.Entered{Visit: visitOf(in.Guest), Secret: string(in.Secret)}
		return out, nil
	}
	out.Linking = &page.Linking{ReturnURL: in.Linking.Linking.ReturnURL, Sign: func(ctx context.Context, items []lti.Item) ([]string, error) {
		all := make([]jwt.Claims, len(items))
		for i, item := range items {
			all[i] = in.Platform.Answer(*in.Linking, item, rand.Text(), p.gate.Clock.Now(), chosenFor)
		}
		return p.registry.SignTokens(ctx, site.Org, all...)
	}}
	return out, nil
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
