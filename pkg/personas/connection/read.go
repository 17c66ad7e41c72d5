package connection

import (
	"context"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/tenant"
)

// takesBack is the name of the value by which what people change in a system is taken back into the inbox.
const takesBack = "takesBack"

// TakesBack says whether what people change in a CRM or a helpdesk is taken back into the inbox.
func (c Config) TakesBack() bool { return c.On(takesBack) }

// Owners says whether a CRM has whoever deals with an item as the owner of its contact.
func (c Config) Owners() bool {
	properties, _ := c["properties"].(map[string]any)
	return properties["assignee"] != nil
}

// TakesBack says whether what people change there is taken back into the inbox now.
func (c Connection) TakesBack() bool {
	return (c.Kind == CRM || c.Kind == Helpdesk) && c.State != Disabled && c.Config.TakesBack()
}

// Syncs says whether a pass can be made through what the system has of the inbox: a helpdesk is told all that is written by other jobs.
func (c Connection) Syncs() bool { return c.Kind == CRM || c.Kind == Helpdesk && c.Config.TakesBack() }

// Reading is the input of a job that takes back what people change in a system, as long as it is connected.
type Reading struct {
	Connection id.Connection `json:"connectionId"`
}

// read has what people change there taken back from now on, unless that is so already. The row is locked.
func (c Connection) read(ctx context.Context, tx *tenant.Tx, now time.Time) error {
	if !c.TakesBack() {
		return nil // the job finds that out
	}
	if there, err := job.Concerns(ctx, tx, c.ID, job.ConnectionRead); err != nil || there {
		return err
	}
	_, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.ConnectionRead, ResourceKind: "connection", ResourceID: c.ID.String(), Connection: c.ID, Scope: scope.InboxRead,
		CreatedBy: "system", CreatedAt: now,
	}, Reading{c.ID})
	return err
}
