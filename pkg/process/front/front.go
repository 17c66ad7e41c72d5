// Package front is what the processes open that callers and visitors reach, beside the
// backend: their limits, and the gate of the portals.
package front

import (
	"context"
	"net/netip"

	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/figures/dashboard"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/portals/widget"
	"visavis.dev/pkg/process/backend"
	"visavis.dev/pkg/provider/lti"
	"visavis.dev/pkg/sessions/minds"
	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/store/limits"
	"visavis.dev/pkg/visits/identity"
	"visavis.dev/pkg/visits/signin"
)

// Options are the settings of a process that callers or visitors reach.
type Options struct {
	// PerAddress is how many requests a minute one address may make.
	PerAddress int64
	// Pods is about how many processes share the limits.
	Pods int64
	// TrustedProxies are the ranges whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// Speaker says things aloud; nil where nothing does.
	Speaker speaker.Speaker
}

// Front is what a process opened for its callers and visitors.
type Front struct {
	// Options are what it was opened with.
	Options Options
	Limiter *limits.Limiter
	// Gate lets people in to portals.
	Gate *signin.Gate
	// Visitors mark where those who have no key come from.
	Visitors widget.Visitors
	// Recordings make and read the links to recordings of sessions.
	Recordings recording.Links
	// Embeds make and read the links to pages of dashboards.
	Embeds dashboard.Embeds
}

// Open opens a front. After an error Open can be tried again.
func Open(ctx context.Context, b *backend.Backend, m *minds.Minds, o Options) (*Front, error) {
	visitors, err := b.Secret(ctx, "visitors", widget.NewVisitorSecret)
	if err != nil {
		return nil, err
	}
	recordings, err := b.Secret(ctx, "recordings", vault.NewKey)
	if err != nil {
		return nil, err
	}
	embeds, err := b.Secret(ctx, "dashboards", vault.NewKey)
	if err != nil {
		return nil, err
	}
	c := b.Options.Clock
	f := &Front{
		Options: o, Visitors: widget.NewVisitors(visitors), Recordings: recording.Links{Secret: recordings},
		Embeds: dashboard.Embeds{Secret: embeds},
		Limiter: limits.New(&limits.Tables{Directory: b.Directory, Tenants: b.Tenants},
			limits.Options{Pods: o.Pods, Clock: c, Log: b.Options.Log, Metrics: b.Options.Metrics}),
	}
	f.Gate = &signin.Gate{
		Tenants: b.Tenants, Vault: b.Vault, Clock: c, Limiter: f.Limiter, Terms: b.Organizations.Terms,
		Asker: identity.New(b.Egress, c), Connections: m.Connections, Platforms: lti.NewKeys(b.Egress, c),
	}
	if b.Options.Mail != nil {
		f.Gate.Mails = &mailer.Outbox{Vault: b.Vault}
	}
	return f, nil
}

// Start begins to share what was counted with the other processes.
func (f *Front) Start() { f.Limiter.Start() }

// Stop ends what Start began.
func (f *Front) Stop() { f.Limiter.Stop() }
