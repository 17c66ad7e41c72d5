package connection

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// User is who uses connections: a persona, a voice, a portal, a schedule, a knowledge pack or a session.
type User struct {
	kind string
	id   uuid.UUID
}

// ByPersona is a persona as a user.
func ByPersona(p id.Persona) User { return User{"persona", uuid.UUID(p)} }

// ByVoice is a voice as a user.
func ByVoice(v id.Voice) User { return User{"voice", uuid.UUID(v)} }

// ByPortal is a portal as a user.
func ByPortal(p id.Portal) User { return User{"portal", uuid.UUID(p)} }

// BySchedule is a schedule as a user.
func BySchedule(s id.Schedule) User { return User{"schedule", uuid.UUID(s)} }

// ByKnowledgeBase is a knowledge pack as a user.
func ByKnowledgeBase(b id.KnowledgeBase) User { return User{"knowledge_base", uuid.UUID(b)} }

// BySession is a session that is not over as a user.
func BySession(s id.Session) User { return User{"session", uuid.UUID(s)} }

type word string

func (w word) String() string { return string(w) }

// SetUses notes which connections somebody uses from now on, and no others; it
// holds the rows of those that are new to them, so none is deleted meanwhile.
// The error is errdefs.NotFound or errdefs.Gone, of the connection that an UnusableError
// names.
func SetUses(ctx context.Context, tx *tenant.Tx, u User, connections ...id.Connection) error {
	had, err := usedBy(ctx, tx, u)
	if err != nil {
		return err
	}
	for _, c := range had {
		if !slices.Contains(connections, c) {
			if err := u.drop(ctx, tx, c); err != nil {
				return err
			}
		}
	}
	for _, c := range connections {
		if slices.Contains(had, c) {
			continue
		}
		if _, err := hold(ctx, tx, c); err != nil {
			return &UnusableError{c, err}
		}
		if err := u.add(ctx, tx, c); err != nil {
			return err
		}
	}
	return nil
}

// UnusableError says which connection cannot be used.
type UnusableError struct {
	Connection id.Connection
	// Err is errdefs.NotFound or errdefs.Gone.
	Err error
}

func (e *UnusableError) Error() string { return fmt.Sprintf("%s: %v", e.Connection, e.Err) }

// Unwrap gives the reason.
func (e *UnusableError) Unwrap() error { return e.Err }

// usedBy rides connection_use_by_user.
func usedBy(ctx context.Context, tx *tenant.Tx, u User) ([]id.Connection, error) {
	return tenant.AllIn(ctx, tx, pgx.RowTo[id.Connection], `
		SELECT connection_id FROM connection_use WHERE org_id = $1 AND user_kind = $2 AND user_id = $3`, tx.Org, u.kind, u.id)
}

func (u User) add(ctx context.Context, tx *tenant.Tx, c id.Connection) error {
	tx.Touch("connection_use", c, word(u.kind), u.id)
	_, err := tx.Exec(ctx, `
		INSERT INTO connection_use (org_id, connection_id, user_kind, user_id) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org_id, connection_id, user_kind, user_id) DO NOTHING`, tx.Org, c, u.kind, u.id)
	return err
}

func (u User) drop(ctx context.Context, tx *tenant.Tx, c id.Connection) error {
	tx.Touch("connection_use", c, word(u.kind), u.id)
	_, err := tx.Exec(ctx, `
		DELETE FROM connection_use WHERE org_id = $1 AND connection_id = $2 AND user_kind = $3 AND user_id = $4`,
		tx.Org, c, u.kind, u.id)
	return err
}
