// Package identity declares the operations about the service and the calling
// key itself: health, me, usage and languages (spec, Identity, languages, usage).
package identity

import (
	"context"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/operations/health"
	"visavis.dev/pkg/store/tenant"
)

// API is what the operations work with.
type API struct {
	Health  *health.Checker
	Plans   *plan.Catalogue
	Tenants *tenant.Tenants
	// Version is the program's.
	Version string
	// PerAddress is the limit of one address a minute.
	PerAddress int64
}

const group = "Identity"

// Register declares the operations.
func (a *API) Register(s *route.Service) {
	route.Handle(s, route.Operation{
		ID: "getHealth", Method: "GET", Path: "/health", Group: group, Auth: route.Open, Probe: true,
		Summary: "Whether the service answers", Description: "It answers whatever headers and query a probe sends: one of an unknown contract is answered as one of none.",
	}, a.health)
	route.Handle(s, route.Operation{
		ID: "getMe", Method: "GET", Path: "/me", Group: group, Class: "read",
		Summary: "The calling key, its organization, plan and limits",
	}, a.me)
	route.Handle(s, route.Operation{
		ID: "listLanguages", Method: "GET", Path: "/languages", Group: "Languages", Class: "read",
		Summary: "The languages avatars speak",
	}, languages)
	route.Handle(s, route.Operation{
		ID: "getUsage", Method: "GET", Path: "/usage", Group: "Usage", Class: "read", Scope: "usage:read",
		Summary: "Session time of a period, and the minutes held",
	}, a.usage)
}

// Health is the liveness answer.
type Health struct {
	Status    string             `json:"status" enum:"ok,degraded" doc:"ok, or degraded while a part that requests rely on is away. Either is answered with 200."`
	Time      time.Time          `json:"time" doc:"The server's clock, in UTC."`
	Version   string             `json:"version" doc:"The version of the program that answers."`
	Contracts []contract.Version `json:"contracts" doc:"The contracts that are served, oldest first."`
	Checks    map[string]string  `json:"checks" doc:"What was looked at: ok or failing."`
}

func (a *API) health(ctx context.Context, c *route.Call, _ *struct{}) (Health, error) {
	h := Health{
		Status: "ok", Time: c.Now(), Version: a.Version, Contracts: contract.Versions(),
		Checks: map[string]string{"database": "ok"},
	}
	if !a.Health.Check(ctx).Well() {
		h.Status, h.Checks["database"] = "degraded", "failing"
	}
	return h, nil
}
