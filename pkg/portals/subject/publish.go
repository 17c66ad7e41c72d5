package subject

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/tenant"
)

// PublishAlone publishes a subject of a portal by itself, both locked, and tells of it.
// It can go live: the caller has checked that. Publishing what is published already
// changes nothing.
func PublishAlone(ctx context.Context, tx *tenant.Tx, p portal.Portal, s *Subject, who Author, note *string) error {
	if s.State == Published && !s.Changed() {
		return nil
	}
	first := s.PublishedVersion == nil
	if err := Publish(ctx, tx, s, who, note); err != nil {
		return err
	}
	if err := portal.Refresh(ctx, tx, p.ID); err != nil {
		return err
	}
	tellPublished(tx, p, *s, who, first)
	who.Log(tx, "subject.published", "subject", s.ID, map[string]any{"version": s.DraftVersion})
	return nil
}

// tellPublished tells that a subject went live.
func tellPublished(tx *tenant.Tx, p portal.Portal, s Subject, who Author, first bool) {
	event.Emit(tx,
		// A portal that nobody sees yet has no version.
		event.Draft{Type: event.WorkspacePublished, At: who.At, Subject: s.ID, Fields: map[string]any{
			"portalId": p.ID.String(), "name": p.Name, "version": p.PublishedVersion, "subjectIds": []string{s.ID.String()},
			"publishedBy": who.By, "publishedAt": who.At, "firstPublish": first,
		}},
		event.Draft{Type: event.PortalUpdated, At: who.At, Subject: s.ID, Fields: map[string]any{
			"portalId": p.ID.String(), "name": p.Name, "state": p.State, "changedFields": []string{"subjectIds"},
			"changedBy": who.By, "updatedAt": who.At,
		}},
	)
}

// Publish makes the draft of a subject that Lock found what people are taught
// from, and has its text written into the portal's pack (see Teacher). It can go
// live: the caller has checked that, and publishes the portal with it, which refreshes
// its page, and is told and logged. Publishing what is published already changes nothing.
func Publish(ctx context.Context, tx *tenant.Tx, s *Subject, who Author, note *string) error {
	if s.State == Published && !s.Changed() {
		return nil
	}
	tx.Touch("subject_version", s.ID, number(s.DraftVersion))
	if _, err := tx.Exec(ctx, `
		UPDATE subject_version SET published_at = $4, published_by = $5, change_note = COALESCE($6, change_note)
		WHERE org_id = $1 AND subject_id = $2 AND version = $3`, tx.Org, s.ID, s.DraftVersion, who.At, who.By, note); err != nil {
		return err
	}
	s.State, s.PublishedVersion, s.PublishedAt, s.UpdatedAt = Published, new(s.DraftVersion), &who.At, who.At
	tx.Touch("subject", s.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE subject SET state = $3, published_version = $4, published_at = $5, updated_at = $5
		WHERE org_id = $1 AND id = $2`, tx.Org, s.ID, s.State, s.PublishedVersion, who.At); err != nil {
		return err
	}
	return teach(ctx, tx, s.ID, who)
}

// PublishAll publishes every subject of a portal that was locked, and answers
// those that are on its page from then on, in their order. What they say was
// checked: see LockDrafts and Check.
func PublishAll(ctx context.Context, tx *tenant.Tx, p portal.Portal, who Author) ([]id.Subject, error) {
	drafts, err := LockDrafts(ctx, tx, p.ID)
	if err != nil {
		return nil, err
	}
	ids := make([]id.Subject, len(drafts))
	for i := range drafts {
		if err := Publish(ctx, tx, &drafts[i].Subject, who, nil); err != nil {
			return nil, err
		}
		ids[i] = drafts[i].Subject.ID
	}
	return ids, nil
}

// Drafted is a subject with the content of its draft.
type Drafted struct {
	Subject Subject
	Content Content
}

// LockDrafts finds the subjects of a portal that are not archived, in their order,
// with their drafts, and holds their rows until the commit: what is checked is
// what is published. It rides subject_by_portal.
func LockDrafts(ctx context.Context, tx *tenant.Tx, p id.Portal) ([]Drafted, error) {
	rows, err := tx.Query(ctx, `
		SELECT `+columns+` FROM subject WHERE org_id = $1 AND portal_id = $2 AND archived_at IS NULL
		ORDER BY place, id FOR UPDATE`, tx.Org, p)
	if err != nil {
		return nil, err
	}
	subjects, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, err
	}
	drafts := make([]Drafted, len(subjects))
	for i, s := range subjects {
		v, err := FindVersion(ctx, tx, s.ID, s.DraftVersion)
		if err != nil {
			return nil, err
		}
		drafts[i] = Drafted{s, v.Content}
	}
	return drafts, nil
}
