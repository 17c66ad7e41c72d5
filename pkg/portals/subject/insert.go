package subject

import (
	"context"
	"fmt"
	"strconv"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Author is who changes a subject, and when.
type Author = activity.Actor

// MaxPerPortal bounds the subjects of a portal that are not archived.
const MaxPerPortal = 500

// Insert enters a subject as the last of its portal, with its content as version
// one. Its id, portal, title, kind and definition are the caller's. The error can
// be errdefs.NotFound, errdefs.Archived, an errdefs.Conflict (ReasonFull), ErrTooLarge or an
// errdefs.Invalid.
func Insert(ctx context.Context, tx *tenant.Tx, s Subject, c Content, who Author) (Subject, error) {
	// Places are given out, and counted, by one at a time.
	if _, err := portal.Lock(ctx, tx, s.Portal); err != nil {
		return s, err
	}
	others, err := OfPortal(ctx, tx, s.Portal)
	if err != nil {
		return s, err
	}
	if len(others) >= MaxPerPortal {
		return s, &errdefs.Conflict{
			Noun: Noun, Reason: ReasonFull, Message: fmt.Sprintf("A portal has at most %d subjects. Archive one first.", MaxPerPortal),
		}
	}
	if err := s.prepare(ctx, tx, others); err != nil {
		return s, err
	}
	content, err := c.Normalize()
	if err != nil {
		return s, err
	}
	s.State, s.Place, s.Edition, s.DraftVersion = Draft, int64(len(others)), 1, 1
	s.PublishedVersion, s.PublishedAt, s.ArchivedAt, s.CreatedAt, s.UpdatedAt = nil, nil, nil, who.At, who.At
	if len(others) > 0 {
		s.Place = others[len(others)-1].Place + 1
	}
	tx.Touch("subject", s.ID)
	if _, err := tx.Exec(ctx, `
		INSERT INTO subject (org_id, id, portal_id, title, kind, state, place, definition, edition, draft_version, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)`,
		tx.Org, s.ID, s.Portal, s.Title, s.Kind, s.State, s.Place, s.Definition, s.Edition, s.DraftVersion, s.CreatedAt); err != nil {
		return s, err
	}
	first := Version{Version: 1, Content: content, ChangedSections: differences((&Content{}).whole(), content), SavedAt: who.At, SavedBy: who.By}
	if err := first.insert(ctx, tx, s); err != nil {
		return s, err
	}
	who.Log(tx, "subject.created", "subject", s.ID, map[string]any{"title": s.Title, "kind": s.Kind, "portalId": s.Portal})
	return s, nil
}

// insert writes a version down.
func (v *Version) insert(ctx context.Context, tx *tenant.Tx, s Subject) error {
	tx.Touch("subject_version", s.ID, number(v.Version))
	_, err := tx.Exec(ctx, `
		INSERT INTO subject_version (org_id, subject_id, version, base_version, content, changed_sections, change_note, saved_at, saved_by)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		tx.Org, s.ID, v.Version, v.BaseVersion, v.Content, v.ChangedSections, v.ChangeNote, v.SavedAt, v.SavedBy)
	return err
}

// number is a number that is part of a row's key.
type number int64

func (n number) String() string { return strconv.FormatInt(int64(n), 10) }
