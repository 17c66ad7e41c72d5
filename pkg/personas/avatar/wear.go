package avatar

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Wearer is who wears a face.
type Wearer struct {
	kind wearerKind
	id   uuid.UUID
	name fmt.Stringer
}

type wearerKind string

func (k wearerKind) String() string { return string(k) }

// PersonaWearer is a persona as a wearer.
func PersonaWearer(p id.Persona) Wearer { return Wearer{"persona", uuid.UUID(p), p} }

// DuoWearer is a duo as a wearer.
func DuoWearer(d id.Duo) Wearer { return Wearer{"duo", uuid.UUID(d), d} }

// Wear notes that somebody wears a face from now on, so that it is not deleted
// meanwhile. The error is errdefs.NotFound, errdefs.Gone or an
// errdefs.Conflict where its consent was withdrawn (ReasonConsent).
func Wear(ctx context.Context, tx *tenant.Tx, l *Library, avatar id.Avatar, w Wearer) (Avatar, error) {
	a, err := Find(ctx, tx, l, avatar)
	if err != nil {
		return a, err
	}
	if a.Status() == Withdrawn {
		return a, &errdefs.Conflict{
			Noun: Noun, ID: avatar.String(), Reason: ReasonConsent, Message: "The consent that the avatar rests on was withdrawn.",
		}
	}
	tx.Touch("avatar_use", avatar, w.kind, w.name)
	_, err = tx.Exec(ctx, `
		INSERT INTO avatar_use (org_id, avatar_id, wearer_kind, wearer_id) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org_id, avatar_id, wearer_kind, wearer_id) DO NOTHING`, tx.Org, avatar, w.kind, w.id)
	return a, err
}

// TakeOff notes that somebody wears a face no longer.
func TakeOff(ctx context.Context, tx *tenant.Tx, avatar id.Avatar, w Wearer) error {
	tx.Touch("avatar_use", avatar, w.kind, w.name)
	_, err := tx.Exec(ctx, `
		DELETE FROM avatar_use WHERE org_id = $1 AND avatar_id = $2 AND wearer_kind = $3 AND wearer_id = $4`,
		tx.Org, avatar, w.kind, w.id)
	return err
}

// Find finds a face in a transaction; an own one is not deleted until the
// commit. The error is errdefs.NotFound or errdefs.Gone.
func Find(ctx context.Context, tx *tenant.Tx, l *Library, avatar id.Avatar) (Avatar, error) {
	if face, ok := l.Find(avatar); ok {
		return face, nil
	}
	return lock(ctx, tx, avatar)
}
