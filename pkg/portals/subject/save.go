package subject

import (
	"bytes"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/store/tenant"
)

// KeptVersions is how many versions of a subject that were never published are
// kept, the newest ones.
const KeptVersions = 200

// OutdatedError says that a content was made from another version than the last
// that was saved.
type OutdatedError struct{ Current int64 }

func (e *OutdatedError) Error() string {
	return fmt.Sprintf("the version there is now is %d", e.Current)
}

// Save makes a content the draft of a subject that Lock found, as a new version;
// saving nothing new makes none, and answers the version there is. base is the
// version that the content was made from, nil for whatever there is. The error can
// be an OutdatedError, an errdefs.Invalid or ErrTooLarge.
func Save(ctx context.Context, tx *tenant.Tx, s Subject, c Content, base *int64, who Author, note *string) (Version, bool, error) {
	return save(ctx, tx, s, c, base, "subject.saved", who, note)
}

// Restore makes an earlier version the draft of a subject that Lock found, as Save does.
// The error can be errdefs.NotFound or one of Save.
func Restore(ctx context.Context, tx *tenant.Tx, s Subject, version int64, who Author) (Version, bool, error) {
	v, err := FindVersion(ctx, tx, s.ID, version)
	if err != nil {
		return Version{}, false, err
	}
	return save(ctx, tx, s, v.Content, nil, "subject.restored", who, nil)
}

func save(
	ctx context.Context, tx *tenant.Tx, s Subject, c Content, base *int64, action string, who Author, note *string,
) (Version, bool, error) {
	if base != nil && *base != s.DraftVersion {
		return Version{}, false, &OutdatedError{s.DraftVersion}
	}
	content, err := c.Normalize()
	if err != nil {
		return Version{}, false, err
	}
	last, err := FindVersion(ctx, tx, s.ID, s.DraftVersion)
	if err != nil {
		return Version{}, false, err
	}
	changed := differences(last.Content.whole(), content)
	if len(changed) == 0 {
		return last, false, nil
	}
	v := Version{
		Version: last.Version + 1, BaseVersion: last.Version, Content: content, ChangedSections: changed, ChangeNote: note,
		SavedAt: who.At, SavedBy: who.By,
	}
	if err := v.insert(ctx, tx, s); err != nil {
		return v, false, err
	}
	tx.Touch("subject", s.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE subject SET draft_version = $3, updated_at = $4 WHERE org_id = $1 AND id = $2`, tx.Org, s.ID, v.Version, who.At); err != nil {
		return v, false, err
	}
	if err := forget(ctx, tx, s); err != nil {
		return v, false, err
	}
	v.tell(tx, s)
	who.Log(tx, action, "subject", s.ID, map[string]any{"version": v.Version, "changed": v.ChangedSections})
	return v, true, nil
}

// forget deletes the versions beyond those that are kept. It rides subject_version_pkey.
func forget(ctx context.Context, tx *tenant.Tx, s Subject) error {
	rows, err := tx.Query(ctx, `
		DELETE FROM subject_version WHERE org_id = $1 AND subject_id = $2 AND published_at IS NULL AND version IN (
			SELECT version FROM subject_version WHERE org_id = $1 AND subject_id = $2 AND published_at IS NULL
			ORDER BY version DESC OFFSET $3)
		RETURNING version`, tx.Org, s.ID, KeptVersions)
	if err != nil {
		return err
	}
	gone, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	for _, version := range gone {
		tx.Touch("subject_version", s.ID, number(version))
	}
	return err
}

// differences names the parts in which two contents differ, as the API does.
func differences(a, b Content) []string {
	names := []string{}
	for _, part := range []struct {
		name string
		a, b any
	}{
		{"title", a.Title, b.Title},
		{"intro", a.Intro, b.Intro},
		{"sections", a.Sections, b.Sections},
		{"questions", a.Questions, b.Questions},
		{"scenario", a.Scenario, b.Scenario},
		{"rules", a.Rules, b.Rules},
		{"ending", a.Ending, b.Ending},
	} {
		if !bytes.Equal(written(part.a), written(part.b)) {
			names = append(names, part.name)
		}
	}
	return names
}

// tell tells that a version of a subject was saved.
func (v *Version) tell(tx *tenant.Tx, s Subject) {
	event.Emit(tx, event.Draft{Type: event.SubjectDraftSaved, At: v.SavedAt, Subject: s.ID, Fields: map[string]any{
		"subjectId": s.ID.String(), "portalId": s.Portal.String(), "version": v.Version, "baseVersion": v.BaseVersion,
		"changedSections": v.ChangedSections, "languages": v.Content.Languages(), "savedBy": v.SavedBy, "savedAt": v.SavedAt,
	}})
}
