package consent

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Missing is the state of an Agreement where no consent was given, or the newest is over.
const Missing = "missing"

// Agreement is what guardians agree to of a place at a moment: all that the consents are to which
// were given and not withdrawn, and are not over.
type Agreement struct {
	// State is Given where any consent holds; else it is the newest's, Withdrawn or Missing.
	State string
	// Consent is the newest that holds, or the newest where none does; zero without any.
	Consent id.Consent
	// ExpiresAt is when that one ends by itself; nil for never.
	ExpiresAt *time.Time
	// Scopes are what is agreed to, each once and in the order of the alphabet.
	Scopes []string
	// by is the newest consent to each of them.
	by map[string]id.Consent
}

// Covers says whether guardians agree to something, one of the scopes.
func (a Agreement) Covers(scope string) bool { return !a.By(scope).IsZero() }

// By is the newest consent that holds and is to something; zero where there is none.
func (a Agreement) By(scope string) id.Consent { return a.by[scope] }

// Word is one consent that counts, as Words reads it.
type Word struct {
	ID       uuid.UUID `json:"id"`
	State    string    `json:"state"`
	Guardian *Guardian `json:"guardian"`
}

// Words is an expression for the []Word of a membership m of organization $1; null without any.
// It rides consent_of_guardian.
const Words = `(
	SELECT jsonb_agg(jsonb_build_object('id', g.id, 'state', g.state, 'guardian', g.guardian)) FROM consent g
	WHERE g.org_id = $1 AND g.membership_id = m.id AND g.kind = 'guardian' AND (g.together OR g.id = m.consent_id))`

// Agree says what consents come to at a moment.
func Agree(words []Word, now time.Time) Agreement {
	a := Agreement{State: Missing, Scopes: []string{}, by: map[string]id.Consent{}}
	// Ids are in the order in which they were made.
	words = slices.SortedFunc(slices.Values(words), func(one, other Word) int { return cmp.Compare(other.ID.String(), one.ID.String()) })
	for n, w := range words {
		holds := w.State == Given && !w.Guardian.Over(now)
		if n == 0 || holds && a.State != Given {
			a.Consent, a.ExpiresAt, a.State = id.Consent(w.ID), nil, w.State
			if w.Guardian != nil {
				a.ExpiresAt = w.Guardian.ExpiresAt
			}
			if w.State == Given && !holds {
				a.State = Missing
			}
		}
		if !holds || w.Guardian == nil {
			continue
		}
		for _, scope := range w.Guardian.Scopes {
			if !a.Covers(scope) {
				a.by[scope] = id.Consent(w.ID)
				a.Scopes = append(a.Scopes, scope)
			}
		}
	}
	slices.Sort(a.Scopes)
	return a
}

// AgreedTo is what guardians agree to of a place. It rides membership_pkey and consent_of_guardian.
func AgreedTo(ctx context.Context, tx *tenant.Tx, place id.Membership, now time.Time) (Agreement, error) {
	rows, err := tx.Query(ctx, `SELECT `+Words+` FROM membership m WHERE m.org_id = $1 AND m.id = $2`, tx.Org, place)
	if err != nil {
		return Agreement{}, err
	}
	defer rows.Close()
	var words []Word
	if rows.Next() {
		if err := rows.Scan(&words); err != nil {
			return Agreement{}, err
		}
	}
	return Agree(words, now), rows.Err()
}

// Joins has the consent that counted alone count beside those that come after it.
func Joins(ctx context.Context, tx *tenant.Tx, k id.Consent) error {
	tx.Touch("consent", k)
	_, err := tx.Exec(ctx, `UPDATE consent SET together = true WHERE org_id = $1 AND id = $2 AND NOT together`, tx.Org, k)
	return err
}
