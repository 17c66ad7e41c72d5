package voice

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// User is who speaks with voices: a persona or a duo.
type User struct {
	kind string
	id   uuid.UUID
}

// ByPersona is a persona as a user.
func ByPersona(p id.Persona) User { return User{"persona", uuid.UUID(p)} }

// ByDuo is a duo as a user.
func ByDuo(d id.Duo) User { return User{"duo", uuid.UUID(d)} }

type word string

func (w word) String() string { return string(w) }

// SetUses notes which voices somebody uses from now on, and no others. Those
// that are new to them were found with Find in the same transaction.
func SetUses(ctx context.Context, tx *tenant.Tx, u User, voices ...id.Voice) error {
	// Rides voice_use_by_user.
	rows, err := tx.Query(ctx, `
		SELECT voice_id FROM voice_use WHERE org_id = $1 AND user_kind = $2 AND user_id = $3`, tx.Org, u.kind, u.id)
	if err != nil {
		return err
	}
	had, err := pgx.CollectRows(rows, pgx.RowTo[id.Voice])
	if err != nil {
		return err
	}
	for _, v := range had {
		if slices.Contains(voices, v) {
			continue
		}
		tx.Touch("voice_use", v, word(u.kind), u.id)
		if _, err := tx.Exec(ctx, `
			DELETE FROM voice_use WHERE org_id = $1 AND voice_id = $2 AND user_kind = $3 AND user_id = $4`,
			tx.Org, v, u.kind, u.id); err != nil {
			return err
		}
	}
	for _, v := range voices {
		tx.Touch("voice_use", v, word(u.kind), u.id)
		if _, err := tx.Exec(ctx, `
			INSERT INTO voice_use (org_id, voice_id, user_kind, user_id) VALUES ($1, $2, $3, $4)
			ON CONFLICT (org_id, voice_id, user_kind, user_id) DO NOTHING`, tx.Org, v, u.kind, u.id); err != nil {
			return err
		}
	}
	return nil
}
