package subject

import (
	"context"
	"strconv"
	"time"
	"unicode/utf8"

	"visavis.dev/pkg/portal"
	"visavis.dev/pkg/tenant"
)

// Author is who changes a subject, and when.
type Author struct {
	// By is a key's id, or a name such as "operator".
	By string
	At time.Time
}

// FieldError says which field of a subject or of its content breaks a rule.
type FieldError struct {
	// Field names it: sections[2].title.de.
	Field   string
	Message string
}

func (e *FieldError) Error() string { return e.Field + " " + e.Message }

// maxTitle bounds a title, in characters.
const maxTitle = 200

// Insert enters a subject as the last of its portal, with its content as version
// one. Its id, portal, title, kind and definition are the caller's. The error can
// be portal.ErrUnknown, portal.ErrArchived or a FieldError.
func Insert(ctx context.Context, tx *tenant.Tx, s Subject, c Content, who Author) (Subject, error) {
	if n := utf8.RuneCountInString(s.Title); n == 0 || n > maxTitle {
		return s, &FieldError{"title", "must have 1 to 200 characters"}
	}
	// Places are given out by one at a time.
	if _, err := portal.Lock(ctx, tx, s.Portal); err != nil {
		return s, err
	}
	others, err := OfPortal(ctx, tx, s.Portal)
	if err != nil {
		return s, err
	}
	s.State, s.Edition, s.DraftVersion, s.CreatedAt, s.UpdatedAt = Draft, 1, 1, who.At, who.At
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
	tx.Touch("subject_version", s.ID, number(1))
	_, err = tx.Exec(ctx, `
		INSERT INTO subject_version (org_id, subject_id, version, base_version, content, changed_sections, saved_at, saved_by)
		VALUES ($1, $2, 1, 0, $3, '{}', $4, $5)`, tx.Org, s.ID, c, who.At, who.By)
	return s, err
}

// number is a number that is part of a row's key.
type number int64

func (n number) String() string { return strconv.FormatInt(int64(n), 10) }
