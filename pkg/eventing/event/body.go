package event

import (
	"bytes"
	"encoding/json"
	"time"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
)

// envelope is an event as a webhook's body and as GET /events have it, in the
// newest contract (spec, Event).
type envelope struct {
	ID             id.Event         `json:"id"`
	Type           Type             `json:"type"`
	APIVersion     contract.Version `json:"apiVersion"`
	OrganizationID id.Org           `json:"organizationId"`
	CreatedAt      time.Time        `json:"createdAt"`
	Data           json.RawMessage  `json:"data"`
	AIGenerated    bool             `json:"aiGenerated,omitempty"`
}

// Body writes an event in a contract, as JSON.
func Body(v contract.Version, e Event, t Rendered) ([]byte, error) {
	body, err := plain(envelope{e.ID, e.Type, contract.Latest, e.Org, e.At.UTC(), t.Data, t.AIGenerated})
	if err != nil || v == contract.Latest {
		return body, err
	}
	var newest map[string]any
	if err := json.Unmarshal(body, &newest); err != nil {
		return nil, err
	}
	return plain(contract.Event(v, newest))
}

// plain writes JSON as it is read: with <, > and & as they are. Nobody shows a body in a
// page without escaping it there.
func plain(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
