package certificate

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/learning/statement"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Issue issues a certificate to a person for a subject. What may be left open is: the id, the
// template, the language, and the two names. It takes the place of the person's certificates
// of the subject before it. The error can be a conflict (ReasonCertified).
func Issue(ctx context.Context, tx *tenant.Tx, c Certificate, of subject.Subject, who activity.Actor) (Certificate, error) {
	if err := uncertified(ctx, tx, c.Result); err != nil {
		return c, err
	}
	if err := c.complete(ctx, tx, of); err != nil {
		return c, err
	}
	c.Number, c.IssuedAt, c.IssuedBy, c.Subject, c.Portal = NewNumber(tx.Org), who.At, who.By, of.ID, of.Portal
	if c.ID.IsZero() {
		c.ID = id.NewCertificate()
	}
	var b pgx.Batch
	tx.QueueIncrement(&b, counter, 0, false, &c.Ordinal)
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return c, err
	}
	if err := c.insert(ctx, tx); err != nil {
		return c, err
	}
	if err := c.renew(ctx, tx); err != nil {
		return c, err
	}
	if err := c.follow(ctx, tx, who.At); err != nil {
		return c, err
	}
	fields := c.fields()
	fields["templateKey"] = c.Template
	event.Emit(tx, event.Draft{Type: event.CertificateIssued, At: who.At, Fields: fields, Subject: c.Subject})
	who.Log(tx, "certificate.issued", "certificate", c.ID, c.about())
	return c, nil
}

// follow has record stores told of it.
func (c *Certificate) follow(ctx context.Context, tx *tenant.Tx, at time.Time) error {
	return statement.Follow(ctx, tx, statement.Object{Kind: statement.Certificate, ID: uuid.UUID(c.ID), Person: c.Person}, at)
}

// counter counts the certificates of an organization.
const counter = "certificates"

// uncertified refuses a second certificate of a result. Whoever issues one has the result's
// row until the commit. It rides certificate_by_result.
func uncertified(ctx context.Context, tx *tenant.Tx, of id.Result) error {
	if of.IsZero() {
		return nil
	}
	found, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Certificate], `
		SELECT id FROM certificate WHERE org_id = $1 AND result_id = $2 AND revoked_at IS NULL`, tx.Org, of)
	if err != nil || len(found) == 0 {
		return err
	}
	return &errdefs.Conflict{
		Noun: Noun, ID: found[0].String(), Reason: ReasonCertified, Message: "The result has a certificate.",
		Details: map[string]any{"certificateId": found[0].String()},
	}
}

// Attach has the certificate that a result has rest on a completion too, and answers which it
// is; zero for none. Whoever does so has the result's row until the commit. It rides
// certificate_by_result.
func Attach(ctx context.Context, tx *tenant.Tx, of id.Result, to id.Completion) (id.Certificate, error) {
	if of.IsZero() {
		return id.Certificate{}, nil
	}
	found, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Certificate], `
		UPDATE certificate SET completion_id = $3 WHERE org_id = $1 AND result_id = $2 AND result_id IS NOT NULL AND revoked_at IS NULL
		RETURNING id`, tx.Org, of, to)
	if err != nil || len(found) == 0 {
		return id.Certificate{}, err
	}
	tx.Touch("certificate", found[0])
	return found[0], nil
}

// complete fills in what was left open: the person's own language, if the portal has it.
func (c *Certificate) complete(ctx context.Context, tx *tenant.Tx, of subject.Subject) error {
	to, err := person.Find(ctx, tx, c.Person)
	if err != nil {
		return err
	}
	on, err := portal.Find(ctx, tx, of.Portal)
	if err != nil {
		return err
	}
	if c.Language == "" && to.Language != nil && slices.Contains(on.Definition.Languages, *to.Language) {
		c.Language = *to.Language
	}
	c.Language = cmp.Or(c.Language, on.Definition.DefaultLanguage)
	c.Recipient = cmp.Or(c.Recipient, to.Name)
	if c.Template == "" && of.Definition.CertificateTemplate != nil {
		c.Template = *of.Definition.CertificateTemplate
	}
	if c.Template != Plain {
		c.Template = Classic // subjects may name any other
	}
	if c.Title == "" && of.PublishedVersion != nil {
		v, err := subject.FindVersion(ctx, tx, of.ID, *of.PublishedVersion)
		if err != nil {
			return err
		}
		c.Title = of.TitleIn(v.Content, c.Language)
	}
	c.Title = cmp.Or(c.Title, of.Title)
	return nil
}

func (c *Certificate) insert(ctx context.Context, tx *tenant.Tx) error {
	tx.Touch("certificate", c.ID)
	notice := nextNotice(c.ExpiresAt, c.IssuedAt)
	if notice == nil && c.ExpiresAt != nil {
		notice = &c.IssuedAt // it is told at once that one expired which did so before it was issued
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO certificate (org_id, id, number, ordinal, person_id, membership_id, subject_id, portal_id, result_id, completion_id,
			template, language, recipient_name, title, issued_at, issued_by, expires_at, notice_at, standing)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
		tx.Org, c.ID, string(c.Number), c.Ordinal, c.Person, c.Membership, c.Subject, c.Portal, c.Result, c.Completion,
		c.Template, c.Language, c.Recipient, c.Title, c.IssuedAt, c.IssuedBy, c.ExpiresAt, notice, c.State(c.IssuedAt))
	return err
}

// renew has the certificate take the place of those before it that would end sooner. It
// rides certificate_by_person.
func (c *Certificate) renew(ctx context.Context, tx *tenant.Tx) error {
	renewed, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Certificate], `
		UPDATE certificate SET renewed_by = $2
		WHERE org_id = $1 AND person_id = $3 AND subject_id = $4 AND id <> $2 AND revoked_at IS NULL AND expires_at > $5
			AND ($6::TIMESTAMPTZ IS NULL OR expires_at < $6)
		RETURNING id`, tx.Org, c.ID, c.Person, c.Subject, c.IssuedAt, c.ExpiresAt)
	for _, before := range renewed {
		tx.Touch("certificate", before)
	}
	return err
}

// Lock finds a certificate that nobody else changes until the commit. The error is
// errdefs.NotFound.
func Lock(ctx context.Context, tx *tenant.Tx, which id.Certificate) (Certificate, error) {
	if _, err := tx.Exec(ctx, `SELECT 1 FROM certificate WHERE org_id = $1 AND id = $2 FOR UPDATE`, tx.Org, which); err != nil {
		return Certificate{}, err
	}
	return tenant.OneIn(ctx, tx, scan, Noun.NotFound(which), `SELECT `+columns+` FROM `+tables+` WHERE c.org_id = $1 AND c.id = $2`, tx.Org, which)
}

// Revoke has a certificate that Lock found count for nothing, for good. The error is a
// conflict (ReasonRevoked).
func Revoke(ctx context.Context, tx *tenant.Tx, c Certificate, reason string, who activity.Actor) (Certificate, error) {
	if err := c.Usable(); err != nil {
		return c, err
	}
	c.RevokedAt, c.ReasonCode = &who.At, &reason
	tx.Touch("certificate", c.ID)
	tag, err := tx.Exec(ctx, `
		UPDATE certificate SET revoked_at = $3, reason_code = $4, revoked_by = $5, notice_at = NULL, standing = 'revoked'
		WHERE org_id = $1 AND id = $2 AND revoked_at IS NULL`, tx.Org, c.ID, who.At, reason, who.By)
	if err == nil && tag.RowsAffected() == 0 { // somebody else did meanwhile
		err = c.Usable()
	}
	if err != nil {
		return c, err
	}
	if err := errors.Join(c.restore(ctx, tx), c.follow(ctx, tx, who.At)); err != nil {
		return c, err
	}
	fields := c.fields()
	fields["revokedAt"], fields["reasonCode"], fields["revokedBy"] = who.At.UTC(), reason, who.By
	event.Emit(tx, event.Draft{Type: event.CertificateRevoked, At: who.At, Fields: fields, Subject: c.Subject})
	who.Log(tx, "certificate.revoked", "certificate", c.ID, c.about())
	return c, nil
}

// restore gives those that it renewed their own place again, or to the last of those between that
// stands still. It rides certificate_by_person.
func (c *Certificate) restore(ctx context.Context, tx *tenant.Tx) error {
	restored, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Certificate], `
		UPDATE certificate AS b SET renewed_by = (
			SELECT n.id FROM certificate n
			WHERE n.org_id = b.org_id AND n.person_id = b.person_id AND n.subject_id = b.subject_id AND n.id <> b.id AND n.revoked_at IS NULL
				AND n.ordinal > b.ordinal AND n.issued_at < b.expires_at AND (n.expires_at IS NULL OR n.expires_at > b.expires_at)
			ORDER BY n.ordinal DESC LIMIT 1)
		WHERE b.org_id = $1 AND b.person_id = $2 AND b.renewed_by = $3 RETURNING b.id`, tx.Org, c.Person, c.ID)
	for _, before := range restored {
		tx.Touch("certificate", before)
	}
	return err
}

// RevokeOfCompletion revokes the certificates that rest on a completion. It rides
// certificate_by_completion.
func RevokeOfCompletion(ctx context.Context, tx *tenant.Tx, of id.Completion, reason string, who activity.Actor) error {
	return revokeAll(ctx, tx, reason, who, `
		SELECT `+columns+` FROM `+tables+`
		WHERE c.org_id = $1 AND c.completion_id = $2 AND c.completion_id IS NOT NULL AND c.revoked_at IS NULL ORDER BY c.id`, tx.Org, of)
}

// RevokeOfResult revokes the certificate that rests on a result. It rides
// certificate_by_result.
func RevokeOfResult(ctx context.Context, tx *tenant.Tx, of id.Result, reason string, who activity.Actor) error {
	return revokeAll(ctx, tx, reason, who, `
		SELECT `+columns+` FROM `+tables+`
		WHERE c.org_id = $1 AND c.result_id = $2 AND c.result_id IS NOT NULL AND c.revoked_at IS NULL ORDER BY c.id`, tx.Org, of)
}

func revokeAll(ctx context.Context, tx *tenant.Tx, reason string, who activity.Actor, sql string, args ...any) error {
	found, err := tenant.AllIn(ctx, tx, scan, sql, args...)
	if err != nil {
		return err
	}
	for _, c := range found {
		if _, err := Revoke(ctx, tx, c, reason, who); err != nil && !errdefs.IsConflict(err, Noun, ReasonRevoked) {
			return err
		}
	}
	return nil
}

// forgetBatch bounds the certificates that one transaction revokes for an erasure.
const forgetBatch = 50

// ForgetPerson takes a person who is erased out of some of their certificates, and answers how
// many there were; none once it is done. Their numbers stay, revoked: a badge of one that was
// handed out must not count again, and its place in the status list is nobody else's. It rides
// certificate_by_person.
func ForgetPerson(ctx context.Context, tx *tenant.Tx, of id.Person) (int, error) {
	var at *time.Time
	if err := tx.QueryRow(ctx, `SELECT max(erased_at) FROM person WHERE org_id = $1 AND id = $2`, tx.Org, of).Scan(&at); err != nil || at == nil {
		return 0, err
	}
	some, err := tenant.AllIn(ctx, tx, pgx.RowTo[id.Certificate], `
		SELECT id FROM certificate WHERE org_id = $1 AND person_id = $2 ORDER BY id LIMIT $3`, tx.Org, of, forgetBatch)
	if err != nil || len(some) == 0 {
		return 0, err
	}
	who := activity.Actor{By: "platform", At: *at}.Unlogged()
	if err := revokeAll(ctx, tx, Erased, who, `
		SELECT `+columns+` FROM `+tables+` WHERE c.org_id = $1 AND c.id = ANY($2) AND c.revoked_at IS NULL ORDER BY c.id`, tx.Org, some); err != nil {
		return 0, err
	}
	for _, c := range some {
		tx.Touch("certificate", c)
	}
	_, err = tx.Exec(ctx, `
		UPDATE certificate SET person_id = NULL, membership_id = NULL, subject_id = NULL, portal_id = NULL, result_id = NULL,
			completion_id = NULL, recipient_name = '', title = '', renewed_by = NULL
		WHERE org_id = $1 AND id = ANY($2)`, tx.Org, some)
	return len(some), err
}

// fields are what a certificate is for, and whose, as events tell it.
func (c *Certificate) fields() map[string]any {
	fields := map[string]any{
		"certificateId": c.ID.String(), "number": c.Number.String(), "personId": c.Person.String(), "subjectId": c.Subject.String(),
		"portalId": c.Portal.String(), "issuedAt": c.IssuedAt.UTC(),
	}
	if !c.Membership.IsZero() {
		fields["membershipId"] = c.Membership.String()
	}
	if !c.Result.IsZero() {
		fields["resultId"] = c.Result.String()
	}
	if c.ExpiresAt != nil {
		fields["expiresAt"] = c.ExpiresAt.UTC()
	}
	return fields
}

// about is what the activity log tells of a certificate: never whose name it bears.
func (c *Certificate) about() map[string]any {
	return map[string]any{"subjectId": c.Subject, "portalId": c.Portal, "personId": c.Person}
}
