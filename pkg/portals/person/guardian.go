package person

import (
	"context"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/tenant"
)

// Consent records a guardian's consent to a place that LockMembership found. It
// counts beside those before it: nothing that they are to ends with it.
func Consent(ctx context.Context, tx *tenant.Tx, m Membership, k consent.Consent, who Author) (Membership, consent.Consent, error) {
	k.Kind, k.Statement, k.Membership, k.Person = consent.OfGuardian, consent.ByGuardian, m.ID, m.Person
	if err := consent.Record(ctx, tx, k); err != nil {
		return m, k, err
	}
	if !m.Consent.IsZero() {
		if err := consent.Joins(ctx, tx, m.Consent); err != nil {
			return m, k, err
		}
	}
	m.Consent, m.Edition, m.UpdatedAt = k.ID, m.Edition+1, who.At
	tx.Touch("membership", m.ID)
	_, err := tx.Exec(ctx, `
		UPDATE membership SET consent_id = $3, edition = $4, updated_at = $5 WHERE org_id = $1 AND id = $2`,
		tx.Org, m.ID, m.Consent, m.Edition, m.UpdatedAt)
	if err != nil {
		return m, k, err
	}
	event.EmitConsent(tx, k)
	who.Log(tx, "consent.recorded", "membership", m.ID, map[string]any{"consentId": k.ID, "method": k.Guardian.Method})
	return m, k, nil
}

// WithdrawConsent ends a consent, of whatever kind. Conversations that go on by a guardian's end
// where no other is to them, and what was recorded by a user's or a guardian's is deleted. One that was withdrawn is answered
// as it is; the error is errdefs.NotFound.
func WithdrawConsent(ctx context.Context, tx *tenant.Tx, which id.Consent, who Author) (consent.Consent, error) {
	withdrawn, changed, err := consent.Withdraw(ctx, tx, which, who.At)
	if err != nil || !changed {
		return withdrawn, err
	}
	event.EmitConsent(tx, withdrawn)
	who.Log(tx, "consent.withdrawn", "consent", which, nil)
	switch withdrawn.Kind {
	case consent.OfGuardian:
		if err = Disagree(ctx, tx, withdrawn, who); err == nil {
			err = session.WithdrawnGuardian(ctx, tx, which, who.At)
		}
	case consent.ToRecording:
		err = session.WithdrawnRecording(ctx, tx, withdrawn)
	}
	return withdrawn, err
}
