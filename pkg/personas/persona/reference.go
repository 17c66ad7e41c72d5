package persona

import (
	"context"
	"fmt"
	"slices"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/store/tenant"
)

// checkReferences refuses a definition that names what the organization does
// not have. The error is an [errdefs.Invalid].
func (d *Definition) checkReferences(ctx context.Context, tx *tenant.Tx) error {
	for i, base := range d.Knowledge.BaseIDs {
		if ok, err := hasBase(ctx, tx, base); err != nil || !ok {
			return missing(err, fmt.Sprintf("knowledge.baseIds[%d]", i), "is not a knowledge pack of this organization")
		}
	}
	if c := d.Model.ConnectionID; c != nil {
		if ok, err := hasConnection(ctx, tx, *c, "model"); err != nil || !ok {
			return missing(err, "model.connectionId", "is not a connection of kind model of this organization")
		}
	}
	for i, t := range d.Tools {
		if t.ConnectionID == nil {
			continue
		}
		kind := toolConnections[t.Kind]
		if ok, err := hasConnection(ctx, tx, *t.ConnectionID, kind); err != nil || !ok {
			return missing(err, fmt.Sprintf("tools[%d].connectionId", i), "is not a connection of kind "+kind+" of this organization")
		}
	}
	return nil
}

func missing(err error, field, message string) error {
	if err != nil {
		return err
	}
	return errdefs.InvalidField(field, "%s", message)
}

// hasBase says whether the organization has a knowledge pack, which then is not
// deleted until the commit.
func hasBase(ctx context.Context, tx *tenant.Tx, base id.KnowledgeBase) (bool, error) {
	tag, err := tx.Exec(ctx, `
		SELECT 1 FROM knowledge_base WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL FOR SHARE`, tx.Org, base)
	return tag.RowsAffected() == 1, err
}

// hasConnection says whether the organization has a connection of a kind.
func hasConnection(ctx context.Context, tx *tenant.Tx, c id.Connection, kind string) (bool, error) {
	tag, err := tx.Exec(ctx, `
		SELECT 1 FROM connection WHERE org_id = $1 AND id = $2 AND kind = $3 AND deleted_at IS NULL`, tx.Org, c, kind)
	return tag.RowsAffected() == 1, err
}

// use notes what a persona uses from now on instead of what it did before, so
// that nothing of it is deleted meanwhile. The voices of a duo's persona are
// the duo's business.
func (p *Persona) use(ctx context.Context, tx *tenant.Tx, before []id.KnowledgeBase) error {
	if p.Kind == Standard {
		if err := voice.SetUses(ctx, tx, voice.ByPersona(p.ID), p.Voice); err != nil {
			return err
		}
	}
	if err := connection.SetUses(ctx, tx, connection.ByPersona(p.ID), p.Definition.connections()...); err != nil {
		return err
	}
	return knowledge.SetUses(ctx, tx, knowledge.ByPersona(p.ID), before, p.Definition.Knowledge.BaseIDs)
}

// release notes that a persona uses nothing any more.
func (p *Persona) release(ctx context.Context, tx *tenant.Tx) error {
	if err := voice.SetUses(ctx, tx, voice.ByPersona(p.ID)); err != nil {
		return err
	}
	if err := connection.SetUses(ctx, tx, connection.ByPersona(p.ID)); err != nil {
		return err
	}
	return knowledge.SetUses(ctx, tx, knowledge.ByPersona(p.ID), p.Definition.Knowledge.BaseIDs, nil)
}

// connections lists the connections that a definition names, each once.
func (d *Definition) connections() []id.Connection {
	var named []id.Connection
	if d.Model.ConnectionID != nil {
		named = append(named, *d.Model.ConnectionID)
	}
	for _, t := range d.Tools {
		if t.ConnectionID != nil && !slices.Contains(named, *t.ConnectionID) {
			named = append(named, *t.ConnectionID)
		}
	}
	return named
}

// liveSessions counts the sessions of a persona that are not over. It rides
// session_active.
func liveSessions(ctx context.Context, tx *tenant.Tx, p id.Persona) (n int64, err error) {
	err = tx.QueryRow(ctx, `
		SELECT count(*) FROM session WHERE org_id = $1 AND state IN ('created', 'live') AND persona_id = $2`, tx.Org, p).Scan(&n)
	return n, err
}
