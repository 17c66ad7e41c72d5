package portal

import (
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/tenant"
)

// TellUpdated tells that a portal changed; changed names what did.
func TellUpdated(tx *tenant.Tx, p Portal, changed []string, who Author) {
	event.Emit(tx, event.Draft{Type: event.PortalUpdated, At: who.At, Fields: map[string]any{
		"portalId": p.ID.String(), "name": p.Name, "state": string(p.State), "changedFields": changed, "changedBy": who.By,
		"updatedAt": who.At,
	}})
}

// TellCreated tells that a portal was built, by its older name too.
func TellCreated(tx *tenant.Tx, p Portal, subjects []id.Subject, who Author) {
	ids := make([]string, len(subjects))
	for i, s := range subjects {
		ids[i] = s.String()
	}
	event.Emit(tx,
		event.Draft{Type: event.WorkspaceCreated, At: who.At, Fields: map[string]any{
			"portalId": p.ID.String(), "name": p.Name, "templateKey": p.TemplateKey, "subjectIds": ids, "createdBy": who.By,
			"createdAt": who.At,
		}},
		event.Draft{Type: event.PortalCreated, At: who.At, Fields: map[string]any{
			"portalId": p.ID.String(), "name": p.Name, "kind": string(p.Kind), "templateKey": p.TemplateKey, "state": string(p.State),
			"subjectIds": ids, "createdBy": who.By, "createdAt": who.At,
		}},
	)
}
