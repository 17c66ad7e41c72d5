package connection

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/provider/card"
	"visavis.dev/pkg/provider/slack"
	"visavis.dev/pkg/provider/teams"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/provider/zendesk"
)

// itemPlace stands for an item's id in itemUrl.
const itemPlace = "{itemId}"

// checkItems says whether the page of an item that a config names is one.
func (c Config) checkItems() error {
	page := c.Text("itemUrl")
	if page == "" {
		return nil
	}
	if !strings.Contains(page, itemPlace) {
		return &ConfigError{"itemUrl", "has no {itemId}, so that it is one page for all"}
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(page, "https://"), "/")
	if u, err := url.Parse(strings.ReplaceAll(page, itemPlace, "id")); err != nil || u.Host == "" || u.User != nil || strings.Contains(host, itemPlace) {
		return &ConfigError{"itemUrl", "is no https address with {itemId} in its path or query"}
	}
	return nil
}

// ItemURL is the organization's own page of an item of the inbox; empty for none.
func (c Config) ItemURL(of id.InboxItem) string {
	return strings.ReplaceAll(c.Text("itemUrl"), itemPlace, of.String())
}

// Tells says whether a chat or a helpdesk is told of items of a kind: a chat of all unless its config says
// otherwise, and a helpdesk of hand-offs.
func (c Config) Tells(k Kind, item string) bool {
	if _, given := c["tells"]; given {
		return slices.Contains(c.Texts("tells"), item)
	}
	return k == Chat || item == "handoff"
}

// UnansweredAfter is how long a helpdesk is not told of an item, so that somebody can answer it before.
func (c Config) UnansweredAfter() time.Duration {
	return time.Duration(c.Whole("unansweredAfterM", 0)) * time.Minute
}

// hook reads the address that a secret of a chat is; nil where it is none.
func (s Secret) hook(p Provider) (u *url.URL, wrong string) {
	u, err := url.Parse(string(s))
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return nil, "is no https address of a webhook"
	}
	if p == Slack {
		return u, slack.Wrong(u)
	}
	return u, teams.Wrong(u)
}

// service is where the system of a connection is, which of a chat is its secret.
func (o Opened) service() string {
	if o.Kind == Chat && len(o.Secrets) > 0 {
		return string(o.Secrets[0])
	}
	return o.Config.BaseURL(o.Provider)
}

// knows says whether a host is the provider's.
func (p Provider) knows(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	if port := u.Port(); port != "" && port != "443" {
		return false
	}
	switch p {
	case Slack:
		return slack.Known(host)
	case Teams:
		return teams.Known(host)
	case Zendesk:
		return zendesk.Known(host)
	}
	return true
}

// Reaches says whether a chat or a helpdesk may be asked under an address: only where its provider is, or
// the operator lets requests through for trials.
func (p Provider) Reaches(ctx context.Context, g *egress.Guard, address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" && (p.knows(u) || g.Listed(ctx, u.Hostname()))
}

// CheckHook says in a clause what is wrong with the secret of a chat, which is its address; empty for nothing, and of other
// kinds.
func (o Offer) CheckHook(ctx context.Context, g *egress.Guard, s Secret) string {
	if o.Kind != Chat {
		return ""
	}
	if _, wrong := s.hook(o.Provider); wrong != "" {
		return wrong
	}
	if !o.Provider.Reaches(ctx, g, string(s)) {
		return "is no address of " + o.Name
	}
	return ""
}

// maxDesk bounds the answer of a chat or a helpdesk, in bytes.
const maxDesk = 4 << 20

func (o Opened) deskClient(g *egress.Guard) *http.Client {
	return o.Kind.Guard(g).ClientWithin(o.Timeout(), maxDesk)
}

// Pace is how far apart messages to a chat are to be.
func (o Opened) Pace() time.Duration {
	switch o.Provider {
	case Slack:
		return slack.Pace
	case Teams:
		return teams.Pace
	}
	return 0
}

// Post posts a message into a chat, by the newest secret alone: an older one is another channel's. The error is an
// upstream.Error or context.Canceled.
func (o Opened) Post(ctx context.Context, g *egress.Guard, c card.Card) error {
	o.Secrets = o.Secrets[:min(len(o.Secrets), 1)]
	return o.WithSecret(func(secret string) error {
		if !o.Provider.Reaches(ctx, g, secret) {
			return &upstream.Error{Code: upstream.AddressRefused}
		}
		if o.Provider == Slack {
			return slack.Hook{HTTP: o.deskClient(g), URL: secret}.Post(ctx, c)
		}
		return teams.Hook{HTTP: o.deskClient(g), URL: secret}.Post(ctx, c)
	})
}

// WithZendesk does something in the account of a connection of that provider, by the first secret that is not
// refused. The error can be an upstream.Error.
func (o Opened) WithZendesk(ctx context.Context, g *egress.Guard, do func(zendesk.Client) error) error {
	base := o.Config.BaseURL(o.Provider)
	if !o.Provider.Reaches(ctx, g, base) {
		return &upstream.Error{Code: upstream.AddressRefused}
	}
	return o.WithSecret(func(secret string) error {
		return do(zendesk.Client{HTTP: o.deskClient(g), BaseURL: base, Email: o.Config.Text("email"), Secret: secret})
	})
}

// tryDesk is what shows whether a chat or a helpdesk is there: a message that says so, or who the secret is.
func (o Opened) tryDesk(g *egress.Guard) (name string, call func(ctx context.Context, secret string) error) {
	if o.Kind == Chat {
		return "message", func(ctx context.Context, secret string) error {
			one := o
			one.Secrets = []Secret{Secret(secret)}
			return one.Post(ctx, g, card.Card{Title: "A test of the connection", Facts: []card.Fact{{Name: "Connection", Value: card.Clean(o.Name)}}, Note: o.ID.String()})
		}
	}
	return "account", func(ctx context.Context, secret string) error {
		one := o
		one.Secrets = []Secret{Secret(secret)}
		return one.WithZendesk(ctx, g, func(c zendesk.Client) error { return c.Check(ctx) })
	}
}
