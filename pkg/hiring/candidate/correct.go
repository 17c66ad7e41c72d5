package candidate

import (
	"context"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/tenant"
)

// Correct writes what a candidate is called and how they are reached, of one who is locked and was
// changed from before. The record says what was corrected, and not what it says. The error is an
// errdefs.Invalid.
func Correct(ctx context.Context, tx *tenant.Tx, before, c Candidate, who activity.Actor) (Candidate, error) {
	same := func(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
	fields := []string{}
	if c.Name != before.Name {
		fields = append(fields, "name")
	}
	if !same(c.Email, before.Email) {
		fields = append(fields, "email")
		if err := c.readdress(ctx, tx); err != nil {
			return c, err
		}
	}
	if !same(c.Phone, before.Phone) {
		fields = append(fields, "phone")
	}
	if len(fields) == 0 {
		return before, nil
	}
	if err := c.Note(ctx, tx, record.Fact{At: who.At, Actor: who.By, Action: "candidate.corrected", Data: map[string]any{"fields": fields}}); err != nil {
		return c, err
	}
	who.Log(tx, "candidate.corrected", "candidate", c.ID, map[string]any{"fields": fields})
	return c, c.Save(ctx, tx, who.At)
}

// readdress takes a new address, which no other candidate of the role has. It rides
// candidate_by_email.
func (c *Candidate) readdress(ctx context.Context, tx *tenant.Tx) error {
	if c.emailKey = nil; c.Email == nil {
		return nil
	}
	address, key, ok := person.Address(*c.Email)
	if !ok {
		return errdefs.InvalidField("email", "is no e-mail address")
	}
	c.Email, c.emailKey = &address, &key
	others, err := tenant.AllIn(ctx, tx, pgx.RowTo[string], `
		SELECT email_key FROM candidate WHERE org_id = $1 AND role_id = $2 AND email_key = $3 AND id <> $4 AND state NOT IN ('withdrawn', 'erased')`,
		tx.Org, c.Role, key, c.ID)
	if err == nil && len(others) > 0 {
		err = errdefs.InvalidField("email", duplicate)
	}
	return err
}
