package backend

import "visavis.dev/pkg/sessions/minds"

// NewMinds makes what personas think with, for processes in which they do: once, as their
// packs in memory have one budget.
func (b *Backend) NewMinds() *minds.Minds {
	o := b.Options
	return minds.New(minds.Options{
		Tenants: b.Tenants, Organizations: b.Organizations, Vault: b.Vault, Egress: b.Egress, SearchMemory: o.SearchMemory,
		Clock: o.Clock, Log: o.Log, Metrics: o.Metrics,
	})
}
