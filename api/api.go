// Package api puts the HTTP API together: every resource group's operations
// behind one chain (package route), and the documents that describe them.
package api

import (
	"context"

	"k8s.io/utils/clock"

	"visavis.dev/api/activity"
	"visavis.dev/api/agents"
	"visavis.dev/api/assignments"
	"visavis.dev/api/ats"
	"visavis.dev/api/avatars"
	"visavis.dev/api/connections"
	"visavis.dev/api/consents"
	"visavis.dev/api/dashboards"
	"visavis.dev/api/doors"
	"visavis.dev/api/duos"
	"visavis.dev/api/events"
	"visavis.dev/api/exports"
	"visavis.dev/api/hiring"
	"visavis.dev/api/identity"
	"visavis.dev/api/inbox"
	"visavis.dev/api/jobs"
	"visavis.dev/api/keys"
	"visavis.dev/api/knowledge"
	"visavis.dev/api/memberships"
	"visavis.dev/api/openapi"
	"visavis.dev/api/people"
	"visavis.dev/api/personas"
	"visavis.dev/api/portals"
	"visavis.dev/api/results"
	"visavis.dev/api/route"
	"visavis.dev/api/sessions"
	"visavis.dev/api/settings"
	"visavis.dev/api/setup"
	"visavis.dev/api/source"
	"visavis.dev/api/subjects"
	"visavis.dev/api/units"
	"visavis.dev/api/voices"
	"visavis.dev/api/webhooks"
	"visavis.dev/api/widgets"
	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/figures/dashboard"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/operations/health"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/dispatch"
	packs "visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/artwork"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/portals/widget"
	"visavis.dev/pkg/sessions/appointment"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/pkg/speech/speaker"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/visits/admission"
	"visavis.dev/pkg/visits/agent"
	"visavis.dev/pkg/visits/signin"
)

// Parts is what the groups work with, beyond the chain.
type Parts struct {
	// Agents answer AI assistants.
	Agents *agent.Agents
	// Catalogue lists them.
	Catalogue *agent.Catalogue
	// Addresses hands out the portals' addresses.
	Addresses *portal.Addresses
	Changes   *apikey.Changes
	// Connections opens connections, and Reporter notes what came of their calls.
	Connections *connection.Opener
	Reporter    *connection.Reporter
	Egress      *egress.Guard
	Files       *file.Store
	// Gallery is what portals are built from.
	Gallery *template.Gallery
	// Answers are the addresses that visitors answer to by mail, and InboundSecret proves who hands those mails over; nil for none.
	Answers       *mailer.Answers
	InboundSecret []byte
	// Gate lets people in to portals.
	Gate    *signin.Gate
	Health  *health.Checker
	Library *avatar.Library
	// Organization finds an organization and what it may have.
	Organization func(ctx context.Context, org id.Org) (directory.Organization, plan.Terms, error)
	// LiveURL is where clients reach the sockets of live conversations.
	LiveURL string
	// PortalURL is where the portals' pages are, without a path.
	PortalURL string
	// Minds are what personas think with, by Clock.
	Minds conversation.Minds
	Clock clock.WithDelayedExecution
	Plans *plan.Catalogue
	// Registry finds certificates by their numbers.
	Registry *certificate.Registry
	Searcher *packs.Searcher
	// Speaker says things aloud; nil where nothing does.
	Speaker speaker.Speaker
	// Connected is what speaks with a voice of an organization.
	Connected voices.Connected

	Renderer *event.Renderer
	Vault    *vault.Vault
	Version  string
	Visitors widget.Visitors
	// Recordings sign the links to recordings of sessions.
	Recordings recording.Links
	// Embeds sign the links to pages of dashboards.
	Embeds dashboard.Embeds
}

// Operations declares every operation of the API.
func Operations(s *route.Service, p Parts) {
	d := s.Deps
	(&identity.API{Health: p.Health, Plans: p.Plans, Tenants: d.Tenants, Version: p.Version, PerAddress: d.PerAddress}).Register(s)
	(&keys.API{Changes: p.Changes}).Register(s)
	(&activity.API{Tenants: d.Tenants}).Register(s)
	avatars.New(d.Tenants, p.Files, p.Library, p.Egress, p.Plans).Register(s)
	tokens := connection.NewTokens(d.Tenants, p.Vault, p.Egress, d.Clock)
	calendars := appointment.New(appointment.Options{
		Tenants: d.Tenants, Opener: p.Connections, Report: p.Reporter, Egress: p.Egress, Tokens: tokens, Clock: d.Clock, Rests: dispatch.NewRests(),
	})
	(&connections.API{
		Tenants: d.Tenants, Egress: p.Egress, Plans: p.Plans, Vault: p.Vault, Clock: d.Clock, Opener: p.Connections, Reporter: p.Reporter, Tokens: tokens,
	}).Register(s)
	(&consents.API{Tenants: d.Tenants, Files: p.Files}).Register(s)
	(&voices.API{Tenants: d.Tenants, Files: p.Files, Egress: p.Egress, Plans: p.Plans, Speaker: p.Speaker, Connected: p.Connected}).Register(s)
	(&personas.API{Tenants: d.Tenants, Library: p.Library, Files: p.Files, Minds: p.Minds, Clock: p.Clock}).Register(s)
	(&duos.API{Tenants: d.Tenants, Library: p.Library}).Register(s)
	(&portals.API{
		Tenants: d.Tenants, Addresses: p.Addresses, Gallery: p.Gallery, Library: p.Library, Plans: p.Plans,
		PortalURL: p.PortalURL, LiveURL: p.LiveURL, Artwork: artwork.NewCollector(d.Tenants, p.Files, p.Egress, p.Clock),
	}).Register(s)
	(&doors.API{Tenants: d.Tenants, Gate: p.Gate, Plans: p.Plans, PortalURL: p.PortalURL}).Register(s)
	(&widgets.API{Tenants: d.Tenants, Library: p.Library, Files: p.Files}).Register(s)
	knowledge.New(d.Tenants, p.Files, p.Egress, p.Plans, p.Searcher).Register(s)
	(&sessions.API{
		Tenants: d.Tenants, Library: p.Library, LiveURL: p.LiveURL, PortalURL: p.PortalURL, Organization: p.Organization, Visitors: p.Visitors,
		Counted: admission.Visitors{Limiter: d.Limiter}, Opener: p.Connections, Recordings: p.Recordings,
	}).Register(s)
	people.New(d.Tenants, p.Files, p.Plans, p.Gate).Register(s)
	(&memberships.API{Tenants: d.Tenants, Files: p.Files, Sources: source.Sources{Egress: p.Egress}}).Register(s)
	(&units.API{Tenants: d.Tenants}).Register(s)
	(&settings.API{Tenants: d.Tenants, Plans: p.Plans}).Register(s)
	(&setup.API{Tenants: d.Tenants, Plans: p.Plans, Egress: p.Egress, Gallery: p.Gallery, Library: p.Library}).Register(s)
	(&subjects.API{Tenants: d.Tenants}).Register(s)
	(&results.API{Tenants: d.Tenants, Files: p.Files, Registry: p.Registry}).Register(s)
	(&assignments.API{Tenants: d.Tenants, Gate: p.Gate}).Register(s)
	(&hiring.API{Tenants: d.Tenants, Plans: p.Plans, Gate: p.Gate, PortalURL: p.PortalURL, Calendars: calendars}).Register(s)
	(&ats.API{Tenants: d.Tenants, Organization: p.Organization, Gate: p.Gate, Opener: p.Connections, Limiter: d.Limiter, Reporter: p.Reporter}).Register(s)
	(&inbox.API{Tenants: d.Tenants, Gate: p.Gate, Calendars: calendars, Answers: p.Answers, InboundSecret: p.InboundSecret}).Register(s)
	(&dashboards.API{Tenants: d.Tenants, Embeds: p.Embeds, PortalURL: p.PortalURL}).Register(s)
	(&exports.API{}).Register(s)
	(&webhooks.API{Tenants: d.Tenants, Egress: p.Egress, Plans: p.Plans, Vault: p.Vault}).Register(s)
	(&events.API{Tenants: d.Tenants, Renderer: p.Renderer}).Register(s)
	(&agents.API{Agents: p.Agents, Catalogue: p.Catalogue, Limiter: d.Limiter, Version: p.Version}).Register(s)
	(&jobs.API{Tenants: d.Tenants, Files: p.Files, Clock: p.Clock}).Register(s)
}

// Register is the whole API with its documents.
func Register(s *route.Service, p Parts) error {
	Operations(s, p)
	return openapi.Register(s)
}
