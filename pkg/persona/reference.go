package persona

import (
	"context"
	"fmt"

	"visavis.dev/pkg/id"
	"visavis.dev/pkg/tenant"
)

// checkReferences refuses a definition that names what the organisation does
// not have. The error is a [FieldError].
func (d *Definition) checkReferences(ctx context.Context, tx *tenant.Tx) error {
	for i, base := range d.Knowledge.BaseIDs {
		if ok, err := hasBase(ctx, tx, base); err != nil || !ok {
			return missing(err, fmt.Sprintf("knowledge.baseIds[%d]", i), "is not a knowledge pack of this organisation")
		}
	}
	if c := d.Model.ConnectionID; c != nil {
		if ok, err := hasConnection(ctx, tx, *c, "model"); err != nil || !ok {
			return missing(err, "model.connectionId", "is not a connection of kind model of this organisation")
		}
	}
	for i, t := range d.Tools {
		if t.ConnectionID == nil {
			continue
		}
		kind := toolConnections[t.Kind]
		if ok, err := hasConnection(ctx, tx, *t.ConnectionID, kind); err != nil || !ok {
			return missing(err, fmt.Sprintf("tools[%d].connectionId", i), "is not a connection of kind "+kind+" of this organisation")
		}
	}
	return nil
}

func missing(err error, field, message string) error {
	if err != nil {
		return err
	}
	return &FieldError{field, message}
}

// hasBase says whether the organisation has a knowledge pack. There are none yet.
func hasBase(context.Context, *tenant.Tx, id.KnowledgeBase) (bool, error) { return false, nil }

// hasConnection says whether the organisation has a connection of a kind. There
// are none yet.
func hasConnection(context.Context, *tenant.Tx, id.Connection, string) (bool, error) {
	return false, nil
}

// useKnowledge notes which packs a persona answers from, so that they are not
// deleted meanwhile. There are none yet, and checkReferences lets none through.
func useKnowledge(context.Context, *tenant.Tx, id.Persona, []id.KnowledgeBase) error { return nil }

// liveSessions counts the live sessions with a persona. There are none yet.
func liveSessions(context.Context, *tenant.Tx, id.Persona) (int64, error) { return 0, nil }
