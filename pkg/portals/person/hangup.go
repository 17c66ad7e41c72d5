package person

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/tenant"
)

// hangUpBatch bounds the conversations that one transaction ends.
const hangUpBatch = 50

// Whose conversations are ended, by $2.
const (
	ofPerson = `s.person_id = $2`
	ofPlace  = `s.membership_id = $2`
	// ofUnits are of those who were told that they are switched off.
	ofUnits = `m.unit_id = ANY($2::UUID[]) AND NOT m.told_on`
)

// hangUp ends conversations of people who may not go on with them, and answers how
// many; more says that others are left. Whoever could begin another holds
// what the caller has locked (Keep). It rides session_active and membership_pkey.
func hangUp(ctx context.Context, tx *tenant.Tx, which string, of any, why session.Reason, who Author) (ended int, more bool, err error) {
	rows, err := tx.Query(ctx, `
		SELECT s.id FROM session s LEFT JOIN membership m ON m.org_id = s.org_id AND m.id = s.membership_id
		WHERE s.org_id = $1 AND s.state IN ('created', 'live') AND `+which+` ORDER BY s.id LIMIT $3`, tx.Org, of, hangUpBatch)
	if err != nil {
		return 0, false, err
	}
	going, err := pgx.CollectRows(rows, pgx.RowTo[id.Session])
	if err != nil {
		return 0, false, err
	}
	return len(going), len(going) == hangUpBatch, session.EndAll(ctx, tx, going, session.Ending{Reason: why, At: who.At})
}

// hangUpAll is hangUp of one person or place, however many conversations there are.
func hangUpAll(ctx context.Context, tx *tenant.Tx, which string, of any, why session.Reason, who Author) error {
	for {
		if _, more, err := hangUp(ctx, tx, which, of, why, who); err != nil || !more {
			return err
		}
	}
}

// Disagree ends the conversations that go on by a place when a guardian takes a consent
// to it back, and no other is to them. A consent that was not to conversations ends those alone
// which need one that is.
func Disagree(ctx context.Context, tx *tenant.Tx, k consent.Consent, who Author) error {
	_, err := LockMembership(ctx, tx, k.Membership)
	if errdefs.IsAbsent(err, MembershipNoun) || errdefs.IsAbsent(err, Noun) {
		return nil
	}
	if err != nil {
		return err
	}
	stands, err := Effective(ctx, tx, k.Membership, who.At)
	if err != nil || stands.Guardian.Covers(consent.ToConverse) || !stands.Guardian.Required && !k.Guardian.Covers(consent.ToConverse) {
		return err
	}
	return hangUpAll(ctx, tx, ofPlace, k.Membership, session.ConsentWithdrawn, who)
}
