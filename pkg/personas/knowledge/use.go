package knowledge

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// User is somebody who answers from packs.
type User struct {
	kind string
	id   uuid.UUID
}

// ByPersona is a persona as a user.
func ByPersona(p id.Persona) User { return User{"persona", uuid.UUID(p)} }

// ByPortal is a portal as a user.
func ByPortal(p id.Portal) User { return User{"portal", uuid.UUID(p)} }

type word string

func (w word) String() string { return string(w) }

// SetUses notes which packs somebody uses from now on instead of those before, so that
// they are not deleted meanwhile. The caller locked those that are added.
func SetUses(ctx context.Context, tx *tenant.Tx, by User, before, after []id.KnowledgeBase) error {
	for _, base := range before {
		if slices.Contains(after, base) {
			continue
		}
		tx.Touch("knowledge_use", base, word(by.kind), by.id)
		if _, err := tx.Exec(ctx, `
			DELETE FROM knowledge_use WHERE org_id = $1 AND base_id = $2 AND user_kind = $3 AND user_id = $4`,
			tx.Org, base, by.kind, by.id); err != nil {
			return err
		}
	}
	for _, base := range after {
		if slices.Contains(before, base) {
			continue
		}
		tx.Touch("knowledge_use", base, word(by.kind), by.id)
		if _, err := tx.Exec(ctx, `
			INSERT INTO knowledge_use (org_id, base_id, user_kind, user_id) VALUES ($1, $2, $3, $4)
			ON CONFLICT (org_id, base_id, user_kind, user_id) DO NOTHING`, tx.Org, base, by.kind, by.id); err != nil {
			return err
		}
	}
	return nil
}
