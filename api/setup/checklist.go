package setup

import (
	"context"
	"net/http"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/portals/setup"
)

func (a *API) registerChecklist(s *route.Service) {
	route.Handle(s, route.Operation{
		ID: "getSetupChecklist", Method: http.MethodGet, Path: "/setup/checklist", Group: "Setup", Since: contract.V20261001, Class: "read",
		Scope: scope.PortalsRead, Summary: "What the organization still needs to talk with people",
	}, a.checklist)
}

// Checklist is what an organization needs, in the order that it is best done in.
type Checklist struct {
	Done  int64           `json:"done" doc:"How many of the items are done."`
	Total int64           `json:"total" doc:"How many items there are."`
	Items []ChecklistItem `json:"items" doc:"What there is to do, in the order that it is best done in."`
}

// ChecklistItem is one thing to do.
type ChecklistItem struct {
	Key         string `json:"key" enum:"persona,knowledge,portal,publish,door,webhook,model" doc:"What it is about."`
	Done        bool   `json:"done" doc:"Whether it is done."`
	Optional    bool   `json:"optional" doc:"Whether people can be talked with without it."`
	Title       string `json:"title" doc:"What to do, in a few words."`
	Description string `json:"description" doc:"How to do it, and why."`
	Href        string `json:"href" doc:"The operation that does it, below the API's address."`
}

func (a *API) checklist(ctx context.Context, c *route.Call, _ *struct{}) (Checklist, error) {
	has, err := setup.Check(ctx, a.Tenants, c.Org())
	if err != nil {
		return Checklist{}, err
	}
	list := Checklist{Items: []ChecklistItem{
		{"persona", has.Persona, false, "Make a persona", "Who speaks: a face, a voice and what to say. Building a portal makes one too.", "/personas"},
		{"knowledge", has.Knowledge, false, "Add knowledge", "Documents or addresses that answers are made from. This is done once one of them was read.", "/knowledge/bases"},
		{"portal", has.Portal, false, "Build a portal", "From a template, or from a plan that is worked out from your website.", "/setup/plans"},
		{"publish", has.Published, false, "Publish a portal", "GET /portals/{id}/go-live says what keeps it from going live.", "/portals/{id}/publish"},
		{"door", has.Door, false, "Open a door", "How people come in to a portal that is published.", "/portals/{id}/doors"},
		{"webhook", has.Webhook, true, "Be told of events", "A webhook that is active and not paused.", "/webhooks"},
		{"model", has.Model, true, "Connect a model", "It answers more freely than the sources' own words, and plans and translates. This is done once its test worked.", "/connections"},
	}}
	for i := range list.Items {
		list.Items[i].Href = route.BasePath + list.Items[i].Href
		if list.Items[i].Done {
			list.Done++
		}
	}
	list.Total = int64(len(list.Items))
	return list, nil
}
