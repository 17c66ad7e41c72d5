package event

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// EraseExternalIDs empties the organization's own ids of a person and of conversations,
// which may be names or addresses; of either there may be none. Everything else of an event
// that is about a person is read where it is. It rides event_by_type and event_by_session.
func EraseExternalIDs(ctx context.Context, tx *tenant.Tx, of id.Person, sessions []id.Session) error {
	// What is staged is in the log then, and nothing of it is staged again.
	if err := LockLog(ctx, tx); err != nil {
		return err
	}
	if err := eraseExternalIDs(ctx, tx, "event", of, sessions); err != nil {
		return err
	}
	// What a newer release emitted is staged still, and what came after it.
	return eraseExternalIDs(ctx, tx, "event_staged", of, sessions)
}

func eraseExternalIDs(ctx context.Context, tx *tenant.Tx, table string, of id.Person, sessions []id.Session) error {
	blank := `UPDATE ` + table + ` SET data = jsonb_set(data, '{externalId}', 'null') WHERE org_id = $1 AND data->>'externalId' IS NOT NULL AND `
	for _, found := range []struct {
		none  bool
		where string
		which any
	}{
		{of.IsZero(), `type = 'member.added' AND data->>'personId' = $2 RETURNING id`, of.String()},
		{len(sessions) == 0, `session_id = ANY($2) RETURNING id`, sessions},
	} {
		if found.none {
			continue
		}
		rows, err := tx.Query(ctx, blank+found.where, tx.Org, found.which)
		if err != nil {
			return err
		}
		var which uuid.UUID
		if _, err := pgx.ForEachRow(rows, []any{&which}, func() error {
			tx.Touch(table, which)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}
