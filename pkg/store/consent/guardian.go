package consent

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// ByGuardian is what a guardian declares.
const ByGuardian = "parent_or_guardian"

// What a guardian's consent may be to. What is not named is not agreed to.
const (
	ToConverse = "conversation"
	ToRecord   = "recording"
	ToReport   = "report"
	// ToRemember has no effect: minors are never remembered, whoever agrees.
	ToRemember = "memory"
)

// Guardian is what is known of a guardian's consent beside who gave it and when.
type Guardian struct {
	// Relationship to the person, such as mother.
	Relationship string `json:"relationship"`
	// Method is how it was given: signed_form, email_confirmed, school_authority
	// or in_person.
	Method string `json:"method"`
	// Scopes are what it is to: ToConverse and the others.
	Scopes []string `json:"scopes"`
	// ExpiresAt is when it ends by itself; nil for never.
	ExpiresAt *time.Time `json:"expiresAt,omitempty"`
}

// Covers says whether the consent is to something, one of the scopes.
func (g *Guardian) Covers(scope string) bool { return g != nil && slices.Contains(g.Scopes, scope) }

// Over says whether the consent has ended by itself.
func (g *Guardian) Over(now time.Time) bool {
	return g != nil && g.ExpiresAt != nil && !now.Before(*g.ExpiresAt)
}

// ForgetGuardians takes who gave them from the consents about a person, and
// answers the files that proved them. That and when consent was given, how and to
// what, stays on record. It rides consent_by_person.
func ForgetGuardians(ctx context.Context, tx *tenant.Tx, about id.Person) ([]id.File, error) {
	rows, err := tx.Query(ctx, `
		SELECT id, evidence_id FROM consent WHERE org_id = $1 AND person_id = $2 ORDER BY id FOR UPDATE`, tx.Org, about)
	if err != nil {
		return nil, err
	}
	var (
		consents []id.Consent
		files    []id.File
		which    id.Consent
		evidence id.File
	)
	if _, err := pgx.ForEachRow(rows, []any{&which, &evidence}, func() error {
		tx.Touch("consent", which)
		consents = append(consents, which)
		if !evidence.IsZero() {
			files = append(files, evidence)
		}
		return nil
	}); err != nil || len(consents) == 0 {
		return nil, err
	}
	_, err = tx.Exec(ctx, `
		UPDATE consent SET person_name = '', person_email = NULL, evidence_id = NULL,
			guardian = jsonb_set(guardian, '{relationship}', '""')
		WHERE org_id = $1 AND id = ANY($2)`, tx.Org, consents)
	return files, err
}
