package record

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// ByWitness is the method of an attestation that somebody else confirms. The others are click,
// spoken and signed.
const ByWitness = "witness"

// Attestation says that somebody confirmed a statement.
type Attestation struct {
	ID               id.Attestation
	Person           id.Person
	Membership       id.Membership
	Subject          id.Subject
	Portal           id.Portal
	StatementKey     string
	StatementVersion string
	Text             string
	Method           string
	// Witness confirmed it for them; zero for nobody.
	Witness    id.Person
	RecordedAt time.Time
}

const attestationColumns = `id, person_id, membership_id, subject_id, portal_id, statement_key, statement_version, text, method, witness_id,
	recorded_at`

func scanAttestation(row pgx.CollectableRow) (Attestation, error) {
	return pgx.RowToStructByPos[Attestation](row)
}

// Attest records an attestation, whose id, portal and place are left open. The error can be
// errdefs.NotFound or errdefs.Gone of the person, errdefs.NotFound of the subject, or an
// errdefs.Invalid of the witness.
func Attest(ctx context.Context, tx *tenant.Tx, a Attestation, who activity.Actor) (Attestation, error) {
	if err := a.checkWitness(ctx, tx); err != nil {
		return a, err
	}
	s, m, err := place(ctx, tx, a.Subject, a.Person)
	if err != nil {
		return a, err
	}
	a.ID, a.Portal, a.Membership, a.RecordedAt = id.NewAttestation(), s.Portal, m, who.At
	tx.Touch("attestation", a.ID)
	if _, err := tx.Exec(ctx, `
		INSERT INTO attestation (org_id, id, person_id, membership_id, subject_id, portal_id, statement_key, statement_version, text, method,
			witness_id, recorded_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		tx.Org, a.ID, a.Person, a.Membership, a.Subject, a.Portal, a.StatementKey, a.StatementVersion, a.Text, a.Method, a.Witness, a.RecordedAt); err != nil {
		return a, err
	}
	fields := map[string]any{
		"attestationId": a.ID.String(), "personId": a.Person.String(), "subjectId": a.Subject.String(), "portalId": a.Portal.String(),
		"statementKey": a.StatementKey, "statementVersion": a.StatementVersion, "method": a.Method, "recordedAt": a.RecordedAt.UTC(),
	}
	if !a.Membership.IsZero() {
		fields["membershipId"] = a.Membership.String()
	}
	if !a.Witness.IsZero() {
		fields["witnessId"] = a.Witness.String()
	}
	event.Emit(tx, event.Draft{Type: event.AttestationRecorded, At: who.At, Fields: fields, Subject: a.Subject})
	who.Log(tx, "attestation.recorded", "attestation", a.ID, map[string]any{"subjectId": a.Subject, "portalId": a.Portal, "personId": a.Person})
	return a, nil
}

// checkWitness: somebody else confirms what is witnessed, and nothing else.
func (a *Attestation) checkWitness(ctx context.Context, tx *tenant.Tx) error {
	switch {
	case a.Method == ByWitness && a.Witness.IsZero():
		return errdefs.InvalidField("witnessId", "is required where a witness confirms")
	case a.Method != ByWitness && !a.Witness.IsZero():
		return errdefs.InvalidField("witnessId", "is only for the method witness")
	case a.Witness.IsZero():
		return nil
	case a.Witness == a.Person:
		return errdefs.InvalidField("witnessId", "must be somebody else")
	}
	_, err := person.Find(ctx, tx, a.Witness)
	if errdefs.IsAbsent(err, person.Noun) {
		return errdefs.InvalidField("witnessId", "is nobody of the organization")
	}
	return err
}

// Attestations is a page of the attestations, newest first, after one of them; the zero id for
// the first page. It rides attestation_pkey, or attestation_by_person for somebody's.
func Attestations(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after id.Attestation, limit int) ([]Attestation, error) {
	sql := `
		SELECT ` + attestationColumns + ` FROM attestation
		WHERE org_id = $1 AND ($2::UUID IS NULL OR id < $2) AND ($3::UUID IS NULL OR subject_id = $3)`
	const order = ` ORDER BY id DESC LIMIT $4`
	args := []any{org, after, f.Subject, limit}
	if !f.Person.IsZero() {
		return tenant.All(ctx, t, org, scanAttestation, sql+` AND person_id = $5`+order, append(args, f.Person)...)
	}
	return tenant.All(ctx, t, org, scanAttestation, sql+order, args...)
}

// ForgetPerson deletes what a person completed and confirmed, who may be erased, and that they
// were a witness of others; it answers how many there were. It rides completion_by_person,
// attestation_by_person and attestation_by_witness.
func ForgetPerson(ctx context.Context, tx *tenant.Tx, of id.Person) (int, error) {
	completions, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Completion], `DELETE FROM completion WHERE org_id = $1 AND person_id = $2 RETURNING id`, tx.Org, of)
	if err != nil {
		return 0, err
	}
	for _, k := range completions {
		tx.Touch("completion", k)
	}
	attestations, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Attestation], `DELETE FROM attestation WHERE org_id = $1 AND person_id = $2 RETURNING id`, tx.Org, of)
	if err != nil {
		return 0, err
	}
	witnessed, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Attestation], `
		UPDATE attestation SET witness_id = NULL WHERE org_id = $1 AND witness_id = $2 RETURNING id`, tx.Org, of)
	for _, a := range append(attestations, witnessed...) {
		tx.Touch("attestation", a)
	}
	return len(completions) + len(attestations), err
}
