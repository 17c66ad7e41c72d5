package connection

import (
	"context"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/readthrough"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/store/tenant"
)

// Opened is a connection with its secrets, for use. It is never written down.
type Opened struct {
	Connection
	Org id.Org
	// Secrets are the one to use, and then, while it is being replaced, the old
	// one; none for a service that asks for none.
	Secrets []Secret
}

// secrets are those to try, as texts.
func (o Opened) secrets() []string {
	texts := make([]string, len(o.Secrets))
	for i, s := range o.Secrets {
		texts[i] = string(s)
	}
	return texts
}

// WithSecret does something with the first secret that is not refused.
func (o Opened) WithSecret(do func(secret string) error) error {
	return upstream.WithSecrets(o.secrets(), do)
}

// Timeout bounds a call.
func (o Opened) Timeout() time.Duration { return time.Duration(o.TimeoutMs) * time.Millisecond }

// Open finds a connection and unseals its secrets. The error can be errdefs.NotFound
// or errdefs.Gone. One that is switched off is opened too, and says so in its State. Of the tools of its server it has
// those that its config names.
func Open(ctx context.Context, t *tenant.Tenants, v *vault.Vault, org id.Org, which id.Connection, now time.Time) (Opened, error) {
	var (
		c                Connection
		there            bool
		sealed, previous []byte
		until            *time.Time
	)
	// One statement: a secret is never read beside an address it was not given for.
	err := t.Read(ctx, org, func(r *tenant.Reads) {
		c = Connection{}
		r.QueryRow(&there, append(fields(&c), &c.Discovered, &sealed, &previous, &until), `
			SELECT `+whole+`, c.secret, c.previous_secret, c.previous_until
			FROM connection c WHERE c.org_id = $1 AND c.id = $2`, org, which)
	})
	switch {
	case err != nil:
		return Opened{}, err
	case !there:
		return Opened{}, Noun.NotFound(which)
	case c.DeletedAt != nil:
		return Opened{}, Noun.Gone(which)
	}
	c.Discovered = c.Config.named(c.Discovered)
	o := Opened{Connection: c, Org: org}
	if until == nil || !now.Before(*until) {
		previous = nil
	}
	for _, s := range [][]byte{sealed, previous} {
		if s == nil {
			continue
		}
		secret, err := v.Open(place(org, which), s)
		if err != nil {
			return Opened{}, err
		}
		o.Secrets = append(o.Secrets, Secret(secret))
	}
	return o, nil
}

const (
	// openedFor is how long an opened connection is believed: a change is seen
	// within two seconds.
	openedFor = time.Second
	// maxOpened bounds the opened connections that are remembered.
	maxOpened = 2000
)

// Opener opens connections and remembers them for a moment.
type Opener struct {
	cache *readthrough.Cache[reported, Opened]
}

// NewOpener makes an opener.
func NewOpener(t *tenant.Tenants, v *vault.Vault, c clock.PassiveClock) *Opener {
	return &Opener{readthrough.New(readthrough.Options[reported, Opened]{
		Size: maxOpened, Fresh: openedFor, Outage: func(error) bool { return false },
		Load: func(ctx context.Context, key reported) (Opened, error) {
			return Open(ctx, t, v, key.org, key.connection, c.Now())
		},
		Name: func(key reported) string { return place(key.org, key.connection) }, Clock: c,
	})}
}

// Open is a connection for use. The error can be errdefs.NotFound, errdefs.Gone or
// ErrDisabled.
func (o *Opener) Open(ctx context.Context, org id.Org, which id.Connection) (Opened, error) {
	opened, err := o.cache.Get(ctx, reported{org, which})
	if err == nil && opened.State == Disabled {
		err = ErrDisabled
	}
	return opened, err
}

// maxStream bounds all of a streamed answer with what the protocol adds, in bytes.
const maxStream = 8 << 20

// Model is the model of a connection of that kind. The name replaces the
// config's where it is not empty.
func (o Opened) Model(g *egress.Guard, name string, timeouts model.Timeouts) *model.Client {
	if name == "" {
		name = o.Config.Text("model")
	}
	// The client's own bounds come first; the guard's are for when they fail.
	whole := max(timeouts.Whole, o.Timeout()) + 5*time.Second
	return &model.Client{
		HTTP: o.Kind.Guard(g).ClientWithin(whole, maxStream), BaseURL: o.Config.BaseURL(o.Provider), Name: name, Secrets: o.secrets(),
		Protocol: model.Protocol(o.Config.Text("protocol")),
		Timeouts: timeouts, TokensParameter: o.Config.Text("tokensParameter"), OmitTemperature: o.Config.On("omitTemperature"),
	}
}
