// Package record keeps what people have to show for their work: what they completed, and what
// they confirmed (spec, Results).
package record

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// The sources of completions.
const (
	FromSession = "session"
	FromAPI     = "api"
	FromImport  = "import"
)

// The states of completions.
const (
	Valid     = "valid"
	Withdrawn = "withdrawn"
	Expired   = "expired"
)

// Completion says that somebody completed a subject.
type Completion struct {
	ID     id.Completion
	Person id.Person
	// Membership is the place by which they came; zero where they have none.
	Membership id.Membership
	Subject    id.Subject
	Portal     id.Portal
	// Result is what it rests on; zero for none.
	Result   id.Result
	Source   string
	Evidence map[string]string
	// CompletedAt is when they did, and ValidUntil until when it counts; nil for ever.
	CompletedAt time.Time
	ValidUntil  *time.Time
	CreatedAt   time.Time
	WithdrawnAt *time.Time
	// Certificate was issued for it, and not revoked; zero for none.
	Certificate id.Certificate
}

const completionColumns = `id, person_id, membership_id, subject_id, portal_id, result_id, source, evidence, completed_at, valid_until,
	created_at, withdrawn_at, (
		SELECT c.id FROM certificate c
		WHERE c.org_id = completion.org_id AND c.completion_id = completion.id AND c.completion_id IS NOT NULL AND c.revoked_at IS NULL
		ORDER BY c.id DESC LIMIT 1) AS certificate_id`

func scanCompletion(row pgx.CollectableRow) (Completion, error) {
	return pgx.RowToStructByPos[Completion](row)
}

// State is where the completion stands.
func (k *Completion) State(now time.Time) string {
	switch {
	case k.WithdrawnAt != nil:
		return Withdrawn
	case k.ValidUntil != nil && !now.Before(*k.ValidUntil):
		return Expired
	}
	return Valid
}

// The nouns that errors of this package are about.
const (
	CompletionNoun  errdefs.Noun = "completion"
	AttestationNoun errdefs.Noun = "attestation"
)

// Complete records that somebody completed a subject. What is left open is: the id, the
// portal, the place, and until when it counts, which the subject says. The error can be
// errdefs.NotFound or errdefs.Gone of the person, or errdefs.NotFound of the subject.
func Complete(ctx context.Context, tx *tenant.Tx, k Completion, who activity.Actor) (Completion, error) {
	s, m, err := place(ctx, tx, k.Subject, k.Person)
	if err != nil {
		return k, err
	}
	k.ID, k.Portal, k.CreatedAt = id.NewCompletion(), s.Portal, who.At
	if k.Membership.IsZero() {
		k.Membership = m
	}
	if months := s.Definition.ValidMonths; k.ValidUntil == nil && months != nil {
		k.ValidUntil = new(k.CompletedAt.AddDate(0, int(*months), 0))
	}
	if k.Evidence == nil {
		k.Evidence = map[string]string{}
	}
	tx.Touch("completion", k.ID)
	if _, err := tx.Exec(ctx, `
		INSERT INTO completion (org_id, id, person_id, membership_id, subject_id, portal_id, result_id, source, evidence, completed_at,
			valid_until, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		tx.Org, k.ID, k.Person, k.Membership, k.Subject, k.Portal, k.Result, k.Source, k.Evidence, k.CompletedAt, k.ValidUntil, k.CreatedAt); err != nil {
		return k, err
	}
	fields := k.fields()
	fields["source"], fields["completedAt"], fields["validUntil"] = k.Source, k.CompletedAt.UTC(), moment(k.ValidUntil)
	if !k.Result.IsZero() {
		fields["resultId"] = k.Result.String()
	}
	// A result has one at a time: one that was issued for it by hand goes with the completion too.
	if k.Certificate, err = certificate.Attach(ctx, tx, k.Result, k.ID); err != nil {
		return k, err
	}
	certified := k.Certificate.IsZero() && k.Source == FromSession && s.Definition.CertificateTemplate != nil
	if certified {
		k.Certificate = id.NewCertificate()
	}
	if !k.Certificate.IsZero() {
		fields["certificateId"] = k.Certificate.String()
	}
	if k.Result.IsZero() {
		if err := assignment.FollowSubject(ctx, tx, k.Subject, k.Person, who.At); err != nil {
			return k, err
		}
	}
	event.Emit(tx, event.Draft{Type: event.CompletionRecorded, At: who.At, Fields: fields, Subject: k.Subject})
	who.Log(tx, "completion.recorded", "completion", k.ID, k.about())
	if certified {
		_, err = certificate.Issue(ctx, tx, k.certificate(), s, who)
	}
	return k, err
}

// certificate is what is issued for a completion.
func (k *Completion) certificate() certificate.Certificate {
	return certificate.Certificate{
		ID: k.Certificate, Person: k.Person, Membership: k.Membership, Result: k.Result, Completion: k.ID, ExpiresAt: k.ValidUntil,
	}
}

// Certify issues a certificate to somebody for a subject, of which a person, perhaps a result
// that they passed, until when it counts, and what certificate.Issue leaves open are given.
// It rests on the completion that the result is for. Without an end it counts as long as that
// does, or else as the subject says. The error can be errdefs.NotFound or errdefs.Gone of the
// person, errdefs.NotFound of the subject, or a conflict (certificate.ReasonCertified).
func Certify(ctx context.Context, tx *tenant.Tx, c certificate.Certificate, who activity.Actor) (certificate.Certificate, error) {
	s, m, err := place(ctx, tx, c.Subject, c.Person)
	if err != nil {
		return c, err
	}
	c.Membership = m
	var on []Completion
	if !c.Result.IsZero() {
		if on, err = tenant.AllIn(ctx, tx, scanCompletion, selectOfResult, tx.Org, c.Result); err != nil {
			return c, err
		}
	}
	months := s.Definition.ValidMonths
	switch {
	case len(on) > 0:
		c.Completion = on[0].ID
		if c.ExpiresAt == nil {
			c.ExpiresAt = on[0].ValidUntil
		}
	case c.ExpiresAt == nil && months != nil:
		c.ExpiresAt = new(who.At.AddDate(0, int(*months), 0))
	}
	return certificate.Issue(ctx, tx, c, s, who)
}

// selectOfResult rides completion_by_result.
const selectOfResult = `SELECT ` + completionColumns + ` FROM completion WHERE org_id = $1 AND result_id = $2 AND withdrawn_at IS NULL`

// place is the subject, and the oldest place of a person on its portal; zero where there is
// none. Neither is erased until the commit. It rides membership_by_portal.
func place(ctx context.Context, tx *tenant.Tx, of id.Subject, who id.Person) (subject.Subject, id.Membership, error) {
	var m id.Membership
	s, err := subject.Find(ctx, tx, of)
	if err != nil {
		return s, m, err
	}
	if err := person.Keep(ctx, tx, s.Portal, who); err != nil {
		return s, m, err
	}
	if _, err := person.Find(ctx, tx, who); err != nil {
		return s, m, err
	}
	places, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Membership], `
		SELECT id FROM membership WHERE org_id = $1 AND portal_id = $2 AND person_id = $3 AND removed_at IS NULL ORDER BY id LIMIT 1`,
		tx.Org, s.Portal, who)
	if len(places) > 0 {
		m = places[0]
	}
	return s, m, err
}

// RestsOn is the result that a completion rests on; zero for none. The error is
// errdefs.NotFound.
func RestsOn(ctx context.Context, tx *tenant.Tx, which id.Completion) (id.Result, error) {
	k, err := tenant.OneIn(ctx, tx, scanCompletion, CompletionNoun.NotFound(which), `
		SELECT `+completionColumns+` FROM completion WHERE org_id = $1 AND id = $2`, tx.Org, which)
	return k.Result, err
}

// FindCompletion finds a completion that nobody else changes until the commit. The error is
// errdefs.NotFound.
func FindCompletion(ctx context.Context, tx *tenant.Tx, which id.Completion) (Completion, error) {
	return tenant.OneIn(ctx, tx, scanCompletion, CompletionNoun.NotFound(which), `
		SELECT `+completionColumns+` FROM completion WHERE org_id = $1 AND id = $2 FOR UPDATE`, tx.Org, which)
}

// The reasons of withdrawals. A caller's own is ByHand.
const (
	ByHand        = "withdrawn"
	ResultVoided  = "result_voided"
	ResultChanged = "result_changed"
)

// Withdraw has a completion that FindCompletion found count no more. The error is errdefs.Gone
// where it was withdrawn before.
func Withdraw(ctx context.Context, tx *tenant.Tx, k Completion, reason string, who activity.Actor) error {
	if k.WithdrawnAt != nil {
		return errdefs.Gone{Noun: CompletionNoun, ID: k.ID.String(), How: "withdrawn"}
	}
	tx.Touch("completion", k.ID)
	done, err := tx.Exec(ctx, `UPDATE completion SET withdrawn_at = $3 WHERE org_id = $1 AND id = $2 AND withdrawn_at IS NULL`, tx.Org, k.ID, who.At)
	if err != nil {
		return err
	}
	if done.RowsAffected() == 0 {
		return errdefs.Gone{Noun: CompletionNoun, ID: k.ID.String(), How: "withdrawn"}
	}
	// Otherwise whoever changes the result does so.
	if k.Result.IsZero() || reason == ByHand {
		if err := assignment.FollowSubject(ctx, tx, k.Subject, k.Person, who.At); err != nil {
			return err
		}
	}
	fields := k.fields()
	fields["reasonCode"], fields["withdrawnBy"], fields["withdrawnAt"] = reason, who.By, who.At.UTC()
	event.Emit(tx, event.Draft{Type: event.CompletionWithdrawn, At: who.At, Fields: fields, Subject: k.Subject})
	who.Log(tx, "completion.withdrawn", "completion", k.ID, k.about())
	return certificate.RevokeOfCompletion(ctx, tx, k.ID, reason, who.Unlogged())
}

// Rest has a subject completed by a result, or not: the completion that rests on it is
// recorded or withdrawn, with its certificate, and nobody else withdraws it meanwhile. k is what
// to record. It rides completion_by_result.
func Rest(ctx context.Context, tx *tenant.Tx, k Completion, passed bool, reason string, who activity.Actor) error {
	if !passed { // also one that rests on no completion
		if err := certificate.RevokeOfResult(ctx, tx, k.Result, reason, who.Unlogged()); err != nil {
			return err
		}
	}
	found, err := tenant.AllIn(ctx, tx, scanCompletion, selectOfResult+` FOR UPDATE`, tx.Org, k.Result)
	switch {
	case err != nil, passed == (len(found) > 0):
		return err
	case passed:
		_, err = Complete(ctx, tx, k, who.Unlogged())
		return err
	}
	return Withdraw(ctx, tx, found[0], reason, who.Unlogged())
}

// OfResults are the completions that rest on results, by result. It rides completion_by_result.
func OfResults(r *tenant.Reads, org id.Org, of []id.Result, found func(id.Result, id.Completion)) {
	r.Query(func(rows pgx.Rows) error {
		var (
			result id.Result
			k      id.Completion
		)
		_, err := pgx.ForEachRow(rows, []any{&result, &k}, func() error {
			found(result, k)
			return nil
		})
		return err
	}, `SELECT result_id, id FROM completion WHERE org_id = $1 AND result_id = ANY($2) AND result_id IS NOT NULL AND withdrawn_at IS NULL`, org, of)
}

// Filter narrows a list; zero fields do not.
type Filter struct {
	Person  id.Person
	Subject id.Subject
	State   string
	Now     time.Time
}

// Completions is a page of the completions, newest first, after one of them; the zero id for
// the first page. It rides completion_pkey, or, where that is asked for, completion_by_person
// or completion_by_subject.
func Completions(ctx context.Context, t *tenant.Tenants, org id.Org, f Filter, after id.Completion, limit int) ([]Completion, error) {
	sql := `
		SELECT ` + completionColumns + ` FROM completion
		WHERE org_id = $1 AND ($2::UUID IS NULL OR id < $2) AND ($3::UUID IS NULL OR subject_id = $3)
			AND ($4 = '' OR $4 = CASE WHEN withdrawn_at IS NOT NULL THEN 'withdrawn' WHEN valid_until <= $5 THEN 'expired' ELSE 'valid' END)`
	const order = ` ORDER BY id DESC LIMIT $6`
	args := []any{org, after, f.Subject, f.State, f.Now, limit}
	switch {
	case !f.Person.IsZero():
		return tenant.All(ctx, t, org, scanCompletion, sql+` AND person_id = $7`+order, append(args, f.Person)...)
	case !f.Subject.IsZero():
		return tenant.All(ctx, t, org, scanCompletion, sql+` AND subject_id = $7`+order, append(args, f.Subject)...)
	}
	return tenant.All(ctx, t, org, scanCompletion, sql+order, args...)
}

func (k *Completion) fields() map[string]any {
	fields := map[string]any{
		"completionId": k.ID.String(), "personId": k.Person.String(), "subjectId": k.Subject.String(), "portalId": k.Portal.String(),
	}
	if !k.Membership.IsZero() {
		fields["membershipId"] = k.Membership.String()
	}
	return fields
}

func (k *Completion) about() map[string]any {
	return map[string]any{"subjectId": k.Subject, "portalId": k.Portal, "personId": k.Person}
}

// moment is a time as events tell it; nil for none.
func moment(t *time.Time) any {
	if t == nil {
		return nil
	}
	return t.UTC()
}
