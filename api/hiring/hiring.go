// Package hiring declares the operations on roles, the candidates who are interviewed for them,
// and what people decide (spec, Hiring).
package hiring

import (
	_ "embed"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/hiring/demographics"
	"visavis.dev/pkg/sessions/appointment"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/signin"
)

// examples are bodies of requests, by operation.
//
//go:embed examples.json
var examples []byte

// API is what the operations work with.
type API struct {
	Tenants *tenant.Tenants
	Plans   *plan.Catalogue
	// Gate mails invitations.
	Gate *signin.Gate
	// PortalURL is where the portals' pages are, without a path.
	PortalURL string
	// Calendars are those that schedules are kept in; nil for none.
	Calendars *appointment.Keeper
}

// voluntary keeps what candidates say of themselves.
func (a *API) voluntary() *demographics.Store {
	return &demographics.Store{Tenants: a.Tenants, Vault: a.Gate.Vault}
}

const group = "Hiring"

// feature is what plans must include to hire by.
const feature = "hiring"

// Register declares the operations.
func (a *API) Register(s *route.Service) {
	s.Examples(examples)
	a.registerRoles(s)
	a.registerQuestions(s)
	a.registerInvites(s)
	a.registerCandidates(s)
	a.registerCompliance(s)
	a.registerRequests(s)
	a.registerScreenings(s)
	a.registerMeetings(s)
	a.registerAudits(s)
	a.registerPublications(s)
}

// allow refuses an organization whose plan has no hiring.
func (a *API) allow(c *route.Call) error {
	if !c.Principal.Terms.Has(feature) {
		return a.Plans.FeatureMissing(c.Principal.Terms, feature)
	}
	return nil
}
