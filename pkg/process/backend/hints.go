package backend

import (
	"context"
	"fmt"
	"net"

	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/store/hint"
)

// openHints has workers told of what is committed for them, here and elsewhere.
func (b *Backend) openHints(ctx context.Context) error {
	o := b.Options
	b.Hints = hint.NewHub(o.Alone || o.HintAddr != "")
	b.Tenants.HintBy(b.Hints)
	if o.HintAddr == "" && len(o.HintTargets) == 0 {
		return nil
	}
	secret, err := b.Secret(ctx, "hints", vault.NewKey)
	if err != nil {
		return err
	}
	if o.HintAddr != "" {
		if b.listener, err = hint.Listen(o.HintAddr, b.Hints, secret, o.Clock, o.Metrics); err != nil {
			return fmt.Errorf("hint-addr: %w", err)
		}
		b.listener.Start()
	}
	if len(o.HintTargets) > 0 {
		if b.sender, err = hint.NewSender(hint.SenderOptions{
			Hub: b.Hints, Targets: o.HintTargets, Secret: secret, Resolver: net.DefaultResolver, Clock: o.Clock, Log: o.Log, Metrics: o.Metrics,
		}); err != nil {
			return fmt.Errorf("hint-target: %w", err)
		}
		b.sender.Start()
		b.Hints.SendBy(b.sender)
	}
	return nil
}

// closeHints sends those that wait.
func (b *Backend) closeHints() {
	if b.sender != nil {
		b.sender.Stop()
	}
	if b.listener != nil {
		b.listener.Stop()
	}
}
