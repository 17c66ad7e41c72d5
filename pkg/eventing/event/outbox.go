package event

import (
	"context"
	"slices"

	"visavis.dev/pkg/store/tenant"
)

// Tell has events recorded in the caller's transaction, in the order of the calls, once
// all else of it is done: recording takes the organization's turn in its log until the
// commit. It may be called at any point of a rule that changes something. A field that
// the catalogue lacks is the transaction's error.
func Tell(tx *tenant.Tx, drafts ...Draft) {
	o := tx.Outbox(newOutbox).(*outbox)
	o.drafts = append(o.drafts, drafts...)
}

// Told are the events that were told in a transaction and are not recorded yet.
func Told(tx *tenant.Tx) []Draft { return slices.Clone(tx.Outbox(newOutbox).(*outbox).drafts) }

// outbox is what a transaction has yet to record.
type outbox struct{ drafts []Draft }

func newOutbox() tenant.Outbox { return &outbox{} }

func (o *outbox) Len() int { return len(o.drafts) }

func (o *outbox) Truncate(n int) { o.drafts = o.drafts[:n] }

func (o *outbox) Flush(ctx context.Context, tx *tenant.Tx) error {
	drafts := o.drafts
	o.drafts = nil
	if len(drafts) == 0 {
		return nil
	}
	_, err := record(ctx, tx, drafts)
	return err
}
