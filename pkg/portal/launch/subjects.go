package launch

import (
	"context"
	"time"

	"visavis.dev/pkg/golive"
	"visavis.dev/pkg/subject"
	"visavis.dev/pkg/tenant"
)

// Plain looks for nothing in subjects, and publishes them by noting it.
var Plain = Subjects{Check: checkPlain, Publish: publishPlain}

func checkPlain(subject.Subject, subject.Content, []string, time.Time) golive.Report {
	return golive.Report{}
}

func publishPlain(ctx context.Context, tx *tenant.Tx, s *subject.Subject, who subject.Author) error {
	s.State, s.PublishedVersion, s.PublishedAt = subject.Published, &s.DraftVersion, &who.At
	tx.Touch("subject", s.ID)
	_, err := tx.Exec(ctx, `
		UPDATE subject SET state = $3, published_version = $4, published_at = $5, updated_at = $5 WHERE org_id = $1 AND id = $2`,
		tx.Org, s.ID, s.State, s.PublishedVersion, s.PublishedAt)
	return err
}
