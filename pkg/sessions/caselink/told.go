package caselink

import (
	"context"
	"encoding/json"
	"time"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/tenant"
)

// Summaries read the case of case_link.opened from its row as it is now.
func Summaries(t *tenant.Tenants) event.Source {
	return func(ctx context.Context, e event.Event, words bool) (event.Detail, error) {
		which, err := named(e)
		if err != nil {
			return event.Detail{}, err
		}
		l, err := Get(ctx, t, e.Org, which)
		if errdefs.IsNotFound(err, Noun) {
			return event.Detail{Standing: event.Gone}, nil
		}
		if err != nil || !words {
			return event.Detail{}, err
		}
		return event.Detail{Fields: map[string]any{"caseSummary": l.Summary}}, nil
	}
}

// named is the link that an event is about.
func named(e event.Event) (id.CaseLink, error) {
	var names struct {
		CaseLink id.CaseLink `json:"caseLinkId"`
	}
	err := json.Unmarshal(e.Structure, &names)
	return names.CaseLink, err
}

// MarkSent notes that a link was sent.
func MarkSent(ctx context.Context, tx *tenant.Tx, which id.CaseLink, now time.Time) error {
	tx.Touch("case_link", which)
	_, err := tx.Exec(ctx, `UPDATE case_link SET sent_at = $3 WHERE org_id = $1 AND id = $2`, tx.Org, which, now)
	return err
}
