package subject

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/store/tenant"
)

// Change makes of a subject what after says of its title, place, definition and
// state, which can only become archived. Its portal was locked before it. It
// answers the names of what changed, as the API has them; a change of nothing is
// none. The error can be an errdefs.Invalid.
func Change(ctx context.Context, tx *tenant.Tx, before, after Subject, who Author) (Subject, []string, error) {
	others, err := OfPortal(ctx, tx, before.Portal)
	if err != nil {
		return before, nil, err
	}
	if err := after.prepare(ctx, tx, others); err != nil {
		return before, nil, err
	}
	changed := changes(before, after)
	if slices.Contains(changed, "order") {
		if after.Place, err = move(ctx, tx, before.ID, after.Place, others); err != nil {
			return before, nil, err
		}
		if after.Place == before.Place { // it was the last already
			changed = slices.DeleteFunc(changed, func(name string) bool { return name == "order" })
		}
	}
	if len(changed) == 0 {
		return before, nil, nil
	}
	after.Edition, after.UpdatedAt = before.Edition+1, who.At
	if after.State == Archived {
		after.ArchivedAt = &who.At
	}
	tx.Touch("subject", after.ID)
	if _, err := tx.Exec(ctx, `
		UPDATE subject SET title = $3, state = $4, place = $5, definition = $6, edition = $7, updated_at = $8, archived_at = $9
		WHERE org_id = $1 AND id = $2`,
		tx.Org, after.ID, after.Title, after.State, after.Place, after.Definition, after.Edition, after.UpdatedAt, after.ArchivedAt); err != nil {
		return before, nil, err
	}
	who.Log(tx, "subject.updated", "subject", after.ID, map[string]any{"changed": changed})
	if before.State != Published {
		return after, changed, nil
	}
	if err := portal.Refresh(ctx, tx, after.Portal); err != nil {
		return before, nil, err
	}
	if !slices.Contains(changed, "title") && !slices.Contains(changed, "state") {
		return after, changed, nil
	}
	return after, changed, teach(ctx, tx, after.ID, who)
}

// changes names what differs between two subjects, as the API does.
func changes(a, b Subject) []string {
	x, y := a.Definition, b.Definition
	names := []string{}
	for _, part := range []struct {
		name string
		a, b any
	}{
		{"title", a.Title, b.Title},
		{"state", a.State, b.State},
		{"order", a.Place, b.Place},
		{"objectives", x.Objectives, y.Objectives},
		{"personaId", x.PersonaID, y.PersonaID},
		{"knowledgeBaseIds", x.KnowledgeBaseIDs, y.KnowledgeBaseIDs},
		{"durationS", x.DurationS, y.DurationS},
		{"assessed", x.Assessed, y.Assessed},
		{"passPercent", x.PassPercent, y.PassPercent},
		{"attemptsAllowed", x.AttemptsAllowed, y.AttemptsAllowed},
		{"certificateTemplate", x.CertificateTemplate, y.CertificateTemplate},
		{"validMonths", x.ValidMonths, y.ValidMonths},
		{"prerequisites", x.Prerequisites, y.Prerequisites},
	} {
		if !bytes.Equal(written(part.a), written(part.b)) {
			names = append(names, part.name)
		}
	}
	return names
}

// move gives a subject the n-th place among the portal's, counted from zero and at
// most the last, and the others the places around it. It answers the place.
func move(ctx context.Context, tx *tenant.Tx, s id.Subject, n int64, all []Subject) (int64, error) {
	order := slices.DeleteFunc(slices.Clone(all), func(other Subject) bool { return other.ID == s })
	n = min(n, int64(len(order)))
	for i, other := range order {
		place := int64(i)
		if place >= n {
			place++
		}
		if other.Place == place {
			continue
		}
		tx.Touch("subject", other.ID)
		if _, err := tx.Exec(ctx, `UPDATE subject SET place = $3 WHERE org_id = $1 AND id = $2`, tx.Org, other.ID, place); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// prepare normalizes the title and the definition, and checks what they name. others
// are the subjects of the portal.
func (s *Subject) prepare(ctx context.Context, tx *tenant.Tx, others []Subject) (err error) {
	if err := normalizeTitle(s.Title); err != nil {
		return err
	}
	if s.Definition, err = s.Definition.Normalize(); err != nil {
		return err
	}
	if err := s.checkPrerequisites(others); err != nil {
		return err
	}
	return s.checkReferences(ctx, tx)
}

// checkReferences refuses what the organization does not have.
func (s *Subject) checkReferences(ctx context.Context, tx *tenant.Tx) error {
	if p := s.Definition.PersonaID; p != nil {
		_, err := persona.Find(ctx, tx, *p)
		if errdefs.IsAbsent(err, persona.Noun) {
			return invalid("personaId", "is not a persona of this organization")
		}
		if err != nil {
			return err
		}
	}
	for i, base := range s.Definition.KnowledgeBaseIDs {
		tag, err := tx.Exec(ctx, `
			SELECT 1 FROM knowledge_base WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL`, tx.Org, base)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return invalid(fmt.Sprintf("knowledgeBaseIds[%d]", i), "is not a knowledge pack of this organization")
		}
	}
	return nil
}

// checkPrerequisites: what comes first is another subject of the portal, and
// following it comes to an end.
func (s *Subject) checkPrerequisites(others []Subject) error {
	before := map[id.Subject][]id.Subject{}
	for _, other := range others {
		before[other.ID] = other.Definition.Prerequisites
	}
	before[s.ID] = s.Definition.Prerequisites
	for i, first := range s.Definition.Prerequisites {
		field := fmt.Sprintf("prerequisites[%d]", i)
		if _, known := before[first]; !known || first == s.ID {
			return invalid(field, "is not another subject of this portal")
		}
		if leads(before, first, s.ID, map[id.Subject]bool{}) {
			return invalid(field, "has this subject as its own prerequisite")
		}
	}
	return nil
}

// leads says whether a subject comes after another one.
func leads(before map[id.Subject][]id.Subject, from, to id.Subject, seen map[id.Subject]bool) bool {
	if from == to {
		return true
	}
	if seen[from] {
		return false
	}
	seen[from] = true
	return slices.ContainsFunc(before[from], func(next id.Subject) bool { return leads(before, next, to, seen) })
}
