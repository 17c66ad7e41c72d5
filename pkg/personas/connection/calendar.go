package connection

import (
	"context"
	"errors"
	"strings"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/provider/caldav"
	"visavis.dev/pkg/provider/calendars"
	"visavis.dev/pkg/provider/googlecalendar"
	"visavis.dev/pkg/provider/upstream"
)

// maxCalendar bounds an answer of a calendar's server, in bytes.
const maxCalendar = 8 << 20

// tokenURL is where access tokens are given.
func (c Config) tokenURL() string {
	if address := c.Text("tokenUrl"); address != "" {
		return address
	}
	return googlecalendar.DefaultTokenURL
}

// checkCalendar says whether the config of a calendar makes sense in itself: the secret is not shown to two hosts that
// have nothing to do with each other.
func (c Config) checkCalendar(p Provider) error {
	if p != GoogleCalendar {
		return nil
	}
	token := origin(c.tokenURL())
	if token != origin(googlecalendar.DefaultTokenURL) && token != origin(c.BaseURL(p)) {
		return &ConfigError{"tokenUrl", "is neither on Google's host nor on that of baseUrl"}
	}
	return nil
}

// checkCalendarSecret says in a clause what is wrong with the form of a secret; empty for nothing.
func (o Offer) checkCalendarSecret(s Secret) string {
	first, second, two := s.parts()
	switch {
	case two && first != "" && second != "":
		return ""
	case o.Provider == GoogleCalendar:
		return "is no client secret and refresh token with a colon between"
	}
	return "is no user name and password with a colon between"
}

// Calendars do something with the account of a connection of that kind, by the first secret that is not refused.
func (o Opened) Calendars(g *egress.Guard, t *Tokens, c clock.PassiveClock, do func(calendars.Service) error) error {
	if o.Kind != Calendar {
		return &upstream.Error{Code: upstream.Rejected, Err: errors.New("the connection is no calendar's")}
	}
	return o.WithSecret(func(secret string) error { return do(o.calendars(g, secret, t, c)) })
}

func (o Opened) calendars(g *egress.Guard, secret string, t *Tokens, c clock.PassiveClock) calendars.Service {
	client := o.Kind.Guard(g).ClientWithin(o.Timeout(), maxCalendar)
	base := o.Config.BaseURL(o.Provider)
	if o.Provider == GoogleCalendar {
		return &googlecalendar.Client{HTTP: client, BaseURL: base, Token: func(ctx context.Context, stale string) (string, error) {
			return t.Access(ctx, &o, secret, stale)
		}}
	}
	return &caldav.Client{HTTP: client, BaseURL: base, Secret: secret, Now: c.Now}
}

// grant is what access tokens of an account at Google are asked for with.
func (o Opened) grant(secret string) googlecalendar.Grant {
	key, refresh, _ := strings.Cut(secret, ":")
	return googlecalendar.Grant{ClientID: o.Config.Text("clientId"), ClientSecret: key, Refresh: refresh}
}
